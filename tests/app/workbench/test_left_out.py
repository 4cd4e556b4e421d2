"""One line under the answer says what of the file was not examined, and a button examines it."""

from dataclasses import replace
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt

from pura.record.left_out import LeftOut, LeftOutKind, summary_line
from pura.usecases.setups import StoredSetup
from pura_audit.platform.i18n import language
from pura_audit.session.queue_model import ItemState

OWN = "The council met on Tuesday evening to talk about the harbour and its old cranes. " * 5
QUOTED = "Whoever wrote the letter wanted an answer before the end of the week. " * 4


@pytest.fixture
def reply(tmp_path: Path) -> Path:
    """A mail whose quoted original has words of its own."""
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "a@example.org", "b@example.org", "Re: c"
    message.set_content(f"{OWN}\n\nOn Monday, Bob <b@c.example> wrote:\n> {QUOTED}\n")
    path = tmp_path / "reply.eml"
    path.write_bytes(bytes(message))
    return path


@pytest.fixture
def audited(window: Any, qtbot: Any, reply: Path) -> Any:
    """The window with the finding of the mail's body."""
    window.session.texts.add_paths([reply])
    qtbot.waitUntil(lambda: window.session.texts.current.document is not None)
    window.audit_current()
    item = window.session.texts.current
    qtbot.waitUntil(lambda: item.state is ItemState.DONE and item.audit is not None)
    qtbot.waitUntil(lambda: window.work.answer.audit is item.audit)
    return window


def test_the_line_says_what_was_left_out(audited: Any) -> None:
    answer = audited.work.answer
    source = audited.session.texts.current.audit.input
    assert [one.kind for one in source.left_out] == [
        LeftOutKind.HEADER,  # the line that announces the original
        LeftOutKind.QUOTED_ORIGINAL,
    ]
    assert answer.left_out.isVisible()
    said = summary_line(source.left_out, source.examined_words, language())
    assert answer.left_out.text() == said
    assert said not in answer.more.text()  # once is enough


def test_the_button_examines_the_parts(audited: Any, qtbot: Any, engine: Any) -> None:
    texts = audited.session.texts
    qtbot.mouseClick(audited.work.answer.examine_parts, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(texts.queue.items) == 2)
    second = texts.queue.items[1]
    assert texts.current is second
    assert second.part == "quoted 1"
    qtbot.waitUntil(lambda: second.state is ItemState.DONE and second.audit is not None)
    # The body was examined before: only the line that announces the original is left out.
    assert [one.kind for one in second.audit.input.left_out] == [LeftOutKind.HEADER]
    assert not audited.work.answer.examine_parts.isVisible()


def test_a_row_that_is_one_part_is_read_again_as_that_part(
    audited: Any, qtbot: Any, reply: Path
) -> None:
    texts = audited.session.texts
    row = texts.new_row("x", state=ItemState.LOADING, path=reply, part="quoted 1")
    texts.queue.insert([row])
    texts.load(row)
    qtbot.waitUntil(lambda: row.document is not None)
    assert row.document.part == "quoted 1"
    assert [one.kind for one in row.document.left_out] == [LeftOutKind.HEADER]


def test_a_record_alone_has_no_button(window: Any, audit: Any) -> None:
    left_out = (LeftOut(kind=LeftOutKind.COMMENT, words=50, part="comments"),)
    record = replace(audit, input=replace(audit.input, left_out=left_out, examined_words=100))
    window.session.texts.add_audit(record)
    assert window.work.answer.left_out.isVisible()
    assert not window.work.answer.examine_parts.isVisible()


def test_nothing_is_said_where_nothing_was_left_out(window: Any, audit: Any) -> None:
    window.session.texts.add_audit(audit)
    assert not window.work.answer.left_out.isVisible()


QUOTATION = " ".join(["Nobody who had seen the harbour that morning would have believed it."] * 3)


def under(window: Any, *rule: str) -> None:
    """Choose a set-up that leaves something out."""
    chosen = window.session.chosen
    profile = chosen.profile.name
    setup = StoredSetup(
        name="essays",
        profile=profile,
        keys=tuple(key.fingerprint for key in chosen.keys),
        leave_out=rule,
    )
    chosen.setup = setup


@pytest.mark.parametrize("pasted", [True, False])
def test_a_quotation_that_a_rule_leaves_out_is_hatched_and_examined_by_the_button(
    window: Any, qtbot: Any, tmp_path: Path, pasted: bool
) -> None:
    texts = window.session.texts
    text = f"{OWN}\n\n“{QUOTATION}”\n\n{OWN}"
    under(window, "quotations")
    if pasted:
        texts.add_text(text)
    else:
        path = tmp_path / "essay.txt"
        path.write_text(text, encoding="utf-8")
        texts.add_paths([path])
    qtbot.waitUntil(lambda: texts.current is not None and texts.current.document is not None)
    window.audit_current()
    item = texts.current
    qtbot.waitUntil(lambda: item.state is ItemState.DONE and item.audit is not None)
    qtbot.waitUntil(lambda: window.work.answer.audit is item.audit)
    (piece,) = item.audit.input.excluded
    view = window.work.text.view
    assert view.text == text
    assert view.is_excluded(text.index("Nobody"))
    assert not view.is_excluded(0)
    assert view.is_excluded(piece.end - 1)
    assert not view.is_excluded(piece.end)
    assert "1 piece left out (hatched)" in window.work.text.side_note.text()
    assert window.work.answer.left_out.isVisible()
    qtbot.mouseClick(window.work.answer.examine_parts, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(texts.queue.items) == 2)
    second = texts.queue.items[1]
    qtbot.waitUntil(lambda: second.state is ItemState.DONE and second.audit is not None)
    assert second.document.text == QUOTATION
    assert second.audit.input.excluded == ()
