"""The window “Two texts side by side”."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from tests.app.records import make_audit
from tests.app.room import faults

from pura.record.audit import Audit
from pura.record.naming import Passage
from pura_audit.platform import i18n
from pura_audit.session.queue_model import ItemState
from pura_audit.workbench import opening


@pytest.fixture
def long_audit(samples, tbcc, sample_key) -> Audit:
    texts = [str(one["text"]) for one in samples["marked"]["texts"][:4]]
    return make_audit("\n\n".join(texts), tbcc, sample_key)


@pytest.fixture
def beside(window, qtbot):
    def show(*audits: Audit, size: tuple[int, int] = (1180, 760)) -> Any:
        dialog = opening.show_side_by_side(window, audits)
        assert dialog is not None
        dialog.resize(*size)
        with qtbot.waitActive(dialog):
            dialog.activateWindow()
        aligned(dialog, qtbot)
        return dialog

    return show


def aligned(dialog: Any, qtbot: Any) -> None:
    def done() -> bool:
        views = (dialog.first.view, dialog.second.view)
        same = len({view.line_starts().size for view in views}) == 1
        return same and not dialog.words.text().endswith("…")

    qtbot.waitUntil(done)


def level(dialog: Any, words: str) -> tuple[int, int]:
    """The rows in which words begin in both texts."""
    views = dialog.first.view, dialog.second.view
    first, second = (
        int(np.searchsorted(v.line_starts(), v.text.index(words), side="right")) for v in views
    )
    return first, second


def test_a_text_and_the_passage_that_it_was_copied_from(window, long_audit, beside, qtbot):
    audit = long_audit
    words = str(audit.text).split(" ")
    at = len(words) // 2
    copied = words[at:-20]
    copied[50] = "otherwise"
    passage = " ".join(["A", "sentence", "of", "his", "own.", *copied])
    window.session.texts.add_text(passage, "passage")
    window.session.texts.add_audit(audit)
    dialog = beside(size=(760, 460))
    first, second = dialog.first, dialog.second
    assert (first.view.text, second.view.text) == (audit.text, passage)
    assert first.view.shading
    assert not second.view.token_starts().size
    assert "in the second" in dialog.words.text()
    # What both have stands at one height, and scrolls together.
    here, there = level(dialog, " ".join(words[at + 30 : at + 40]))
    assert abs(here - there) <= 1
    bars = [pane.view.verticalScrollBar() for pane in (first, second)]
    bars[0].setValue(bars[0].maximum() // 2)
    assert bars[1].value() == bars[0].value() > 0

    # F3 goes from one difference to the next, and around.
    def press(*modifiers: Qt.KeyboardModifier) -> str:
        qtbot.keyClick(dialog, Qt.Key.Key_F3, *modifiers)
        return str(dialog.here.text())

    stops = [press()]
    while (stop := press()) != stops[0]:
        stops.append(stop)
    assert f"1 of {len(stops)}: " in stops[0]
    assert any("otherwise" in stop for stop in stops)
    assert press(Qt.KeyboardModifier.ShiftModifier) == stops[-1]
    assert first.grab().toImage() != second.grab().toImage()


def test_two_readings_of_one_text(audit, beside, qtbot):
    half = len(audit.tokens.ids) // 2
    end = int(audit.tokens.spans[half - 1, 1])
    short = Passage(first_token=0, last_token=half - 1, start=0, end=end)
    dialog = beside(audit, replace(audit, id="1" * 32, passages=(short,)))
    assert dialog.words.text() == ("No word differs. One stretch is marked in one of them only.")
    qtbot.mouseClick(dialog.next, Qt.MouseButton.LeftButton)
    assert "marked in the first text only" in dialog.here.text()
    # What is selected in one is selected in the other.
    dialog.second.selection.select_token(7)
    assert dialog.first.selection.token == 7
    dialog.second.choice.setCurrentIndex(0)
    aligned(dialog, qtbot)
    assert dialog.words.text() == "No word differs."
    assert not dialog.next.isEnabled()


def test_a_text_that_was_not_kept_is_that_of_its_file_or_missing(audit, window):
    window.session.texts.add_text("Some other text.", "letter")
    without_text = replace(audit, text=None)
    dialog = opening.show_side_by_side(window, [without_text])
    assert dialog.words.text() == "A text is missing."
    assert "was not kept" in dialog.first._note.text()
    assert "Not audited" in dialog.second._note.text()
    window.session.texts.add_text(audit.text, "memo")
    document = window.session.texts.current.document
    facts = replace(audit.input, sha256=document.sha256)
    dialog = opening.show_side_by_side(window, [replace(without_text, input=facts)])
    assert dialog.first.view.text == audit.text
    assert dialog.first.view.shading


def test_a_record_that_only_the_case_log_has_is_fetched(window, text, qtbot):
    window.session.texts.add_text(text, "memo")
    window.session.audits.audit()
    item = window.session.texts.current
    qtbot.waitUntil(lambda: item.state is ItemState.DONE)
    window.session.texts.add_text(text, "copy")
    item.audit = None
    dialog = opening.show_side_by_side(window, first=1, second=0)
    assert "being opened" in dialog.first._note.text()
    qtbot.waitUntil(lambda: dialog.first.view.token_starts().size > 0)
    assert dialog.first.view.text == text
    qtbot.waitUntil(lambda: dialog.words.text() == "No word differs.")
    assert dialog.chosen[0].words.startswith("memo, 22 November 2026")
    assert dialog.chosen[1].words == "copy, not audited"


def test_with_one_text_the_window_says_what_is_needed(window, audit):
    window.session.texts.add_audit(audit)
    assert opening.show_side_by_side(window) is None
    assert "Two texts are needed" in window.status.words.text()


def test_compare_leads_to_the_texts(window, audit, qtbot):
    window.session.texts.add_audit(audit)
    window.session.texts.add_audit(replace(audit, id="1" * 32))
    compare = opening.compare_audits(window)
    with qtbot.waitSignal(compare.texts_wanted):
        compare.side_by_side.click()
    titles = [w.windowTitle() for w in QApplication.topLevelWidgets() if w.isVisible()]
    assert "Two texts side by side" in titles


def test_in_a_narrow_window_one_stands_below_the_other(audit, beside):
    other = replace(audit, id="1" * 32)
    dialog = beside(audit, other, size=(600, 460))
    first, second = (pane.geometry() for pane in (dialog.first, dialog.second))
    assert first.bottom() < second.top()
    dialog.resize(760, 460)
    QApplication.processEvents()
    assert dialog.first.geometry().right() < dialog.second.geometry().left()


def test_what_both_have_stands_level_below_what_one_has_more(window, beside):
    same = [f"Sentence {n} stands in both of the texts, word for word." for n in range(40)]
    more = " ".join(f"Here he says {n} more." for n in range(60))
    window.session.texts.add_text(" ".join([*same[:20], more, *same[20:]]), "long")
    window.session.texts.add_text(" ".join(["Dear Sir,", *same]), "short")
    dialog = beside()
    for one in same[1:]:
        here, there = level(dialog, one)
        assert abs(here - there) <= 1, one
    here, there = level(dialog, same[20])
    assert here == there


def test_nothing_is_cut_at_any_size_in_german(german, audit, qtbot):
    german.session.texts.add_text(f"Wie jemand schrieb: {audit.text}", "Brief an die Redaktion")
    german.session.texts.add_audit(audit)
    dialog = opening.show_side_by_side(german)
    qtbot.waitUntil(dialog.next.isEnabled)
    dialog.go_on()
    found = []
    for size in ((600, 460), (760, 460), (800, 500), (1280, 720)):
        dialog.resize(*size)
        for _ in range(3):
            QApplication.processEvents()
        found += [f"{size}: {fault}" for fault in faults(dialog)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", "no passage of several words"), ("de", "keine Passage von mehreren Wörtern")],
)
def test_texts_that_share_single_words_are_not_said_to_share_none(window, beside, language, words):
    i18n.set_language(language)
    window.session.texts.add_text("The council met on Tuesday and the harbour stayed open.", "one")
    window.session.texts.add_text(
        "Bees carry pollen, so the orchard lives and the honey runs.", "two"
    )
    try:
        said = beside().words.text()
    finally:
        i18n.set_language("en")
    assert words in said
    assert "no words" not in said.lower()
