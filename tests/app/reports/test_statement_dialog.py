"""A statement of a detector in the window: the same words as on the command line, no network."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel
from tests.core.report.test_statement import ANSWER, CONTENT

from pura.report.statement import StatementKey
from pura_audit.workbench import opening
from pura_audit.workbench.opening import texts_of

TEXT = "The council met on Tuesday, and nobody came."


@pytest.fixture
def key(tmp_path) -> StatementKey:
    return StatementKey.of(tmp_path / "key")


@pytest.fixture
def answer(tmp_path, key) -> Path:
    own = {"sha256": hashlib.sha256(TEXT.encode()).hexdigest(), "manifests": [], "layers": ""}
    marks = [{"places": [{"start": 0, "end": 44}], "fields": {"user": "17"}}]
    told = ANSWER | own | {"marks": marks}
    check = CONTENT["check"] | {"answer": told}
    signed = CONTENT | {"check": check}
    path = tmp_path / "answer.json"
    path.write_text(json.dumps(check | {"answer": told | {"statement": key.sign(signed)}}))
    return path


def checked(dialog: Any, qtbot: Any) -> str:
    qtbot.waitUntil(lambda: dialog.checked is not None)
    return " ".join(one.text() for one in dialog.area.findChildren(QLabel))


def test_a_statement_that_is_dropped_is_checked_against_key_and_text(
    window, qtbot, answer, key, tmp_path
):
    window.session.texts.add_text(TEXT, "letter")
    qtbot.waitUntil(lambda: window.session.texts.current is not None)
    before = len(window.session.texts.queue.items)
    assert texts_of(window, [answer]) == []
    assert len(window.session.texts.queue.items) == before
    from pura_audit.reports.check import StatementDialog

    [dialog] = window.findChildren(StatementDialog)
    assert "Not examined: no trusted key" in checked(dialog, qtbot)
    assert "Signed, but the signer was not examined" in dialog.summary.text()
    assert "Answer: A mark was found" in dialog.statement.text()
    assert "Mark 1: user: 17; characters 1 to 44" in dialog.statement.text()
    public = tmp_path / "detector.pem"
    public.write_text(key.public_pem())
    dialog.trust(public)
    assert "Not examined: the text was not named" in checked(dialog, qtbot)
    assert dialog.checked.status == "trusted"
    dialog.on_screen.click()
    assert "byte for byte" in checked(dialog, qtbot)
    assert dialog.text.text() == "letter"
    dialog.copy_button.click()
    assert "Detector: House (0.4.0)" in QGuiApplication.clipboard().text()
    other = tmp_path / "other.txt"
    other.write_text("Another text.")
    dialog.take_text(other)
    assert "another text: the bytes differ" in checked(dialog, qtbot)
    assert dialog.summary.property("role") == "banner"


def test_a_changed_answer_is_refused_and_what_was_signed_is_shown(window, qtbot, answer):
    forged = json.loads(answer.read_text())
    forged["answer"]["marks"][0]["fields"]["user"] = "18"
    answer.write_text(json.dumps(forged))
    dialog: Any = opening.check_statement(window, answer)
    assert "differs at answer.marks[0].fields.user" in checked(dialog, qtbot)
    assert dialog.summary.property("role") == "banner"
    assert "user: 17" in dialog.statement.text()
    dialog.reject()


def test_a_changed_statement_shows_nothing_of_itself(window, qtbot, answer, tmp_path):
    whole = json.loads(answer.read_text())["answer"]["statement"]
    head, body, end = whole.split(".")
    changed = tmp_path / "changed.jws"
    changed.write_text(f"{head}.{body[:-4]}AAAA.{end}")
    dialog: Any = opening.check_statement(window, changed)
    assert "The signature does not fit" in checked(dialog, qtbot)
    assert dialog.statement.text() == ""
    empty = tmp_path / "note.txt"
    empty.write_text("hello")
    dialog.take(empty)
    qtbot.waitUntil(lambda: "statement" in dialog.summary.text())
    assert dialog.checked is None
    dialog.reject()
