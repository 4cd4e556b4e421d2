"""The linked views: selection, text, ring, bits, course; what they draw and what they say."""

import csv
import dataclasses
import io
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QLabel
from tests.app.records import make_audit

from pura.caselog.reports import CaseStatus
from pura.record.audit import Audit
from pura.record.course import course
from pura.record.evidence import StopFacts
from pura.record.finding import rendered
from pura.record.naming import Passage, whom_words
from pura.record.surroundings import KeyFacts
from pura.scheme import Payload, SecretKey, encode
from pura_audit.platform.i18n import set_language
from pura_audit.session.selection import token_facts
from pura_audit.theme import fonts
from pura_audit.theme.theme import Mode, mark_pen
from pura_audit.widgets import text_layout
from pura_audit.widgets.card import Fold
from pura_audit.widgets.text_layout import Breaker, Lines, advances, hidden_name, safe_text, shown
from pura_audit.workbench import opening
from pura_audit.workbench.answer import grouped, show_steps
from pura_audit.workbench.bits_card import arrange
from pura_audit.workbench.text_canvas import MARGIN, levels


@pytest.fixture
def shown_window(window, audit):
    window.resize(1440, 900)
    window.session.texts.add_audit(audit)
    QApplication.processEvents()
    return window


def press(widget: Any, key: Qt.Key) -> None:
    kind = QKeyEvent.Type.KeyPress
    QApplication.sendEvent(widget, QKeyEvent(kind, key, Qt.KeyboardModifier.NoModifier))


def test_selecting_a_token_moves_every_view(shown_window, audit):
    window = shown_window
    token = int(audit.steps.token[5])
    window.selection.select_token(token)
    facts = token_facts(audit, token)
    cards = window.evidence
    assert cards.token._facts.index == token
    assert cards.bits._bars.lit == frozenset(facts.positions)
    assert cards.course._cursor.value() == token + 1
    assert f"Token {token + 1} of" in window.work.text.view.accessibleDescription()


def test_selecting_a_bit_lights_the_tokens_that_read_it(shown_window, audit):
    window, n = shown_window, len(audit.bits)
    window.selection.select_bit(3)
    expected = {
        int(t)
        for t, i, a in zip(audit.steps.token, audit.steps.index, audit.steps.arity, strict=True)
        if 3 in {(int(i) + j) % n for j in range(int(a))}
    }
    assert set(window.selection.readers().tolist()) == expected
    assert expected
    assert "Position 4" in window.evidence.bits.side_note.text()


def test_arrow_keys_move_the_token_and_the_bit(shown_window, audit):
    window = shown_window
    view = window.work.text.view
    window.selection.select_token(10)
    press(view, Qt.Key.Key_Right)
    assert window.selection.token == 11
    press(view, Qt.Key.Key_Down)
    below = window.selection.token
    assert below > 11
    press(view, Qt.Key.Key_Up)
    assert window.selection.token < below
    press(view, Qt.Key.Key_Home)
    assert window.selection.token == 0
    press(view, Qt.Key.Key_End)
    assert window.selection.token == audit.tokens.ids.size - 1
    press(window.evidence.token.ring, Qt.Key.Key_Left)
    assert window.selection.token in audit.steps.token
    window.selection.select_bit(0)
    press(window.evidence.bits.plot, Qt.Key.Key_Right)
    assert window.selection.bit == 1
    press(window.evidence.bits.plot, Qt.Key.Key_Down)
    assert window.selection.bit == audit.profile.payload_bits + 1


def test_a_click_on_a_word_selects_its_token(shown_window, qtbot, audit):
    view = shown_window.work.text.view
    view.verticalScrollBar().setValue(0)
    token = 4
    shaped = view._shape(0)
    start, end = (int(x) for x in audit.tokens.spans[token])
    x = MARGIN + (shaped.x(start + 1) + shaped.x(end)) / 2
    qtbot.mouseClick(
        view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(round(x), view.line_height // 2)
    )
    assert shown_window.selection.token == token


def test_find_marks_every_place_and_selects(shown_window, audit):
    view = shown_window.work.text.view
    count = audit.text.lower().count("the")
    assert view.mark_matches("THE") == count
    view.go_to_match(1)
    start, end = audit.tokens.spans[shown_window.selection.token]
    assert "the" in audit.text[start : end + 3].lower()
    assert view.mark_matches("no such words here") == 0


def test_a_text_of_200_000_tokens_draws_what_is_visible_only(window, qtbot, tbcc, sample_key):
    window.resize(1440, 900)
    audit = make_audit("word and thing " * 66_667, tbcc, sample_key)
    assert audit.tokens.ids.size > 200_000
    view = window.work.text.view
    window.session.texts.add_audit(audit)
    qtbot.waitUntil(lambda: not view.laying)
    for place in (0, view.verticalScrollBar().maximum() // 2, view.verticalScrollBar().maximum()):
        view.verticalScrollBar().setValue(place)
        view.viewport().grab()
        assert 0 < view.drawn < 3000
    visible = len(view._visible())
    assert visible < 100 < len(view._lines)
    items = window.evidence.course.plot.getPlotItem().items
    assert len(items) < 12


def test_lines_never_lose_a_character(app):
    rng = np.random.default_rng(3)
    letters = [*"ab c\n\tdéß漢字🙂 \u200b", "longword" * 40]
    for _ in range(50):
        text = "".join(rng.choice(letters, size=int(rng.integers(0, 60))))
        lines = Breaker(text, advances(safe_text(text), fonts.face(15))).lines(200)
        joined = "".join(text[slice(*lines.span(i))] for i in range(len(lines)))
        assert joined == text
        for i in range(len(lines)):
            start, end = lines.span(i)
            assert "\n" not in text[start : max(start, end - 1)]


def slow_lines(text: str, sums: npt.NDArray[np.float64], width: float) -> Lines:
    """One line after the other, one character after the other."""
    starts, place = [0], 0
    while place < len(text):
        fit = place
        while fit < len(text) and sums[fit + 1] <= sums[place] + width:
            fit += 1
        newline = text.find("\n", place)
        end = len(text) if newline < 0 else newline + 1
        if fit < end:
            fit = max(fit, place + 1)
            blank = max(text.rfind(sign, place, fit + 1) for sign in " \n\t")
            end = blank + 1 if blank > place else fit
        starts.append(end)
        place = end
    if not text or text.endswith("\n"):
        starts.append(len(text))
    return Lines(np.array(starts))


def test_lines_break_where_a_slow_search_breaks_them(monkeypatch):
    rng = np.random.default_rng(4)
    letters = [*"ab c\n\t\u200b漢🙂", "longword" * 6, "  ", "\n\n"]
    for _ in range(100):
        text = "".join(rng.choice(letters, size=int(rng.integers(0, 40))))
        widths = [0.0 if c == "\u200b" else float(rng.choice([5.0, 7.25, 9.5])) for c in text]
        sums = np.concatenate(([0.0], np.cumsum(widths)))
        breaker = Breaker(text, sums)
        for width in (12, 40, 80, 200):
            wanted = slow_lines(text, sums, width).starts
            for piece in (text_layout.PIECE, 11):  # in one go, and piece by piece
                with monkeypatch.context() as patch:
                    patch.setattr(text_layout, "PIECE", piece)
                    lines = breaker.lines(width).starts
                assert lines.tolist() == wanted.tolist(), (text, width)


def test_unseen_characters_are_shown_as_signs_and_named():
    hostile = "a\u202eb\u200bc\x07d\x1b[31m\u2028e\ufefff\tg\r\n"
    safe = safe_text(hostile)
    assert len(safe) == len(hostile)
    for char in "\u202e\u200b\x07\x1b\u2028\ufeff\t\r\n":
        assert char not in safe
        assert len(shown(char)) == 1
    assert hidden_name("\u202e") == "U+202E RIGHT-TO-LEFT OVERRIDE"
    assert hidden_name("a") is None


def test_scripts_without_a_font_and_hidden_characters_are_named(window):
    card = window.work.text
    # A desktop has fonts for most scripts, and hardly one for all of these.
    rare = {"Cuneiform": 0x12000, "Cypro": 0x12F90, "Vithkuqi": 0x10570, "Toto": 0x1E290}
    name, char = next(
        (name, chr(code))
        for name, code in rare.items()
        if text_layout.unusual(chr(code), fonts.face(fonts.READING))[0]
    )
    card.show_text(char * 214 + " and\u200b words\r\n", None)
    words = card.unusual.text()
    assert name in words
    assert ", 214 characters" in words
    assert "U+200B ZERO WIDTH SPACE (1)" in words
    assert "U+000D" not in words
    assert not card.unusual.isHidden()
    card.show_text("Plain words, naïve and Ελληνικά.", None)
    assert card.unusual.isHidden()


def test_shades_follow_the_evidence(audit):
    found = levels(audit)
    evidence = audit.tokens.log10_evidence
    assert set(found.tolist()) <= set(range(-4, 5))
    assert np.all(found[evidence == 0] == 0)
    assert np.all(
        np.sign(found[np.abs(evidence) > 0.02]) == np.sign(evidence[np.abs(evidence) > 0.02])
    )


def test_without_a_mark_nothing_is_shaded_or_read_out_as_a_payload(window, text, tbcc, sample_key):
    window.session.texts.add_audit(make_audit(text, tbcc, sample_key, verdict="insufficient"))
    assert window.work.answer.payload.findChild(QLabel, "payload") is None
    assert window.work.text.view.shading is False
    assert window.work.answer.heading.text() == "No conclusion: not measured"
    assert not window.work.answer.candidates.isVisible()


def test_course_pays_for_the_choice_of_the_payload(audit):
    values = course(audit)
    assert values[0] == pytest.approx(-36 * np.log10(2))
    assert values[-1] - values[0] == pytest.approx(audit.tokens.log10_evidence.sum())


def test_lanes_of_both_codes(tbcc, spc):
    lanes = arrange(tbcc)
    assert len(lanes.names) == 3
    assert lanes.column[5] == lanes.column[41] == lanes.column[77]
    blocks = arrange(spc)
    assert len(blocks.column) == 40
    steps = np.diff(blocks.column)
    assert sorted(set(np.round(steps, 3))) == [1.0, 1.9]
    assert (steps > 1.5).sum() == 3


def test_every_plot_has_a_table_words_and_exports(shown_window, audit, tmp_path):
    shown_window.selection.select_token(int(audit.steps.token[2]))
    sizes = {"token": 2 ** int(audit.steps.arity[2]), "bits": len(audit.bits)}
    sizes["course"] = audit.tokens.ids.size
    for name in ("token", "bits", "course"):
        card = getattr(shown_window.evidence, name)
        headers, rows = card.table()
        assert len(rows) == sizes[name]
        assert all(len(row) == len(headers) for row in rows)
        assert card.summary()
        assert card.canvas().accessibleName()
        assert card.canvas().accessibleDescription() == card.summary()
        parsed = list(csv.reader(io.StringIO(card.csv_text())))
        assert len(parsed) == len(rows) + 1
        for ending in ("png", "svg", "csv"):
            path = tmp_path / f"{name}.{ending}"
            card.export(path)
            assert path.stat().st_size > 200
    assert b"<svg" in (tmp_path / "bits.svg").read_bytes()


@pytest.mark.parametrize("ending", ["png", "svg", "csv"])
def test_an_export_that_cannot_be_written_is_said(shown_window, tmp_path, ending):
    (tmp_path / "file").write_text("in the way")
    said: list[str] = []
    card = shown_window.evidence.course
    card.noticed.connect(said.append)
    card._export_and_tell(tmp_path / "file" / f"course.{ending}")
    assert len(said) == 1
    assert f"course.{ending}" in said[0]
    assert "cannot be written" in said[0]


def test_csv_never_holds_a_formula(window, tbcc, sample_key):
    window.session.texts.add_audit(make_audit("=cmd() @x +y -z done", tbcc, sample_key))
    rows = list(csv.reader(io.StringIO(window.evidence.course.csv_text())))
    for row in rows[1:]:
        assert not row[1].strip().startswith(("=", "@", "+", "-"))


def test_a_long_curve_is_drawn_with_few_points_and_loses_no_extreme():
    from pura_audit.workbench.course_card import STRETCHES, thinned

    rng = np.random.default_rng(5)
    values = np.cumsum(rng.normal(size=200_001))
    places, kept = thinned(values)
    assert kept.size <= 4 * STRETCHES
    assert (places[0], places[-1]) == (0, values.size - 1)
    assert (kept.min(), kept.max()) == (values.min(), values.max())
    assert np.all(np.diff(places) > 0)
    assert np.array_equal(values[places.astype(int)], kept)
    short = values[:300]
    assert np.array_equal(thinned(short)[1], short)


def test_an_audit_that_was_opened_shows_its_own_key_model_and_profile(window, audit):
    session = window.session
    session.chosen.keys, session.chosen.model, session.chosen.profiles = (), None, ()
    session.chosen.changed.emit()
    assert window.header.key.title().endswith("none")
    session.texts.add_audit(audit)
    assert audit.key.label in window.header.key.title()
    assert audit.model.name in window.header.model.title()
    shown = window.header.setup.accessibleName()
    assert "36 bits" in shown or (audit.profile.name and audit.profile.name in shown)


def test_the_ring_tells_the_numbers_of_the_sector_under_the_mouse(window, audit):
    window.session.texts.add_audit(audit)
    window.selection.next_carrier(1)
    ring = window.evidence.token.ring
    ring.resize(200, 200)
    facts = token_facts(audit, window.selection.token)
    assert facts.arity
    middle = QPointF(ring.width() / 2, ring.height() / 2)
    assert ring.words_at(middle) == ""
    assert ring.words_at(QPointF(0, 0)) == ""
    radius = (min(ring.width(), ring.height()) - 2) / 2 - 20
    for sector, anchor in enumerate(facts.anchors):
        angle = 2 * np.pi * anchor
        place = middle + QPointF(radius * np.sin(angle), -radius * np.cos(angle))
        words = ring.words_at(place)
        assert facts.labels[sector] in words
        assert facts.sector_at(float(anchor)) == sector


def test_the_kernel_is_drawn_between_the_borders_of_a_sector(window, audit):
    from pura.detect.local.evidence import kernel_value

    window.session.texts.add_audit(audit)
    window.selection.next_carrier(1)
    facts = token_facts(audit, window.selection.token)
    assert facts.radius == pytest.approx(0.5 / len(facts.labels))
    edge = kernel_value(facts.kernel, np.array([0.0, facts.radius]), facts.radius)
    assert edge[0] == 1
    assert edge[1] == pytest.approx(0)
    before = window.evidence.token.ring.grab().toImage()
    facts_without = dataclasses.replace(facts, kernel="hard")
    window.evidence.token.ring.show_facts(facts_without)
    assert window.evidence.token.ring.grab().toImage() != before


def test_selecting_a_mark_shows_its_bits_and_its_place(window, several):
    window.resize(1440, 900)
    window.session.texts.add_audit(several)
    QApplication.processEvents()
    assert window.work.answer.heading.text() == "3 marks were found"
    rows = window.work.answer.marks.rows
    assert [row.isVisible() for row in rows] == [True] * 3
    rows[0].click()
    assert [row.isChecked() for row in rows] == [True, False, False]
    assert "Archive" in rows[2].accessibleName()
    # Each mark has a payload of its own: none is that of the text, and one is in question.
    assert window.work.answer.payload.findChild(QLabel, "payload") is None
    assert rows[0].payload.text() == grouped(several.marks[0].bits)
    assert rows[1].payload.text() == "Payload in question (at least 1 possible)"
    assert "L at least 1,000,000" in rows[0].accessibleName()
    bits = window.evidence.bits
    shown = bits.table()[1]
    assert bits.side_note.text().startswith("mark 1")
    rows[1].click()
    assert window.selection.token == several.marks[1].passages[0].first_token
    assert bits.table()[1] != shown
    assert [int(row[1]) for row in bits.table()[1]] == encode(
        Payload(text=several.marks[1].bits), several.profile
    ).tolist()
    assert rows[1].isChecked()
    # A token inside another mark's passage takes the selection there.
    window.selection.select_token(several.marks[0].passages[0].first_token + 1)
    assert [row.isChecked() for row in rows] == [True, False, False]
    rows[2].click()
    view = window.work.text.view
    line = view._lines.of_character(several.marks[2].passages[0].start)
    assert line in view._visible()
    # The steps are not of that mark's key: the bits shown are those of the whole text.
    assert [int(row[1]) for row in bits.table()[1]] == [bit.bit for bit in several.bits]


def test_marks_are_gone_through_by_key(window, several, qtbot):
    window.session.texts.add_audit(several)
    selection = window.selection
    begins = sorted((p.first_token, n) for n, p in several.finding.passages)
    selection.select_token(0)
    seen = []
    for _ in begins:
        window.actions_by_name["next-passage"].trigger()
        seen.append((selection.token, selection.mark))
    assert sorted(seen) == begins
    window.actions_by_name["next-passage"].trigger()
    assert (selection.token, selection.mark) == seen[0]
    window.actions_by_name["previous-passage"].trigger()
    assert (selection.token, selection.mark) == seen[-1]


def test_marks_differ_without_their_colours(window, several):
    theme = window.theme
    pens = [mark_pen(theme, number) for number in range(12)]
    for one, other in pairwise(pens):
        assert one.style() != other.style()
        assert one.color() != other.color()
    assert len({(pen.style(), pen.color().name()) for pen in pens}) == 12


def test_an_undecided_payload_is_never_named_alone(window, audit):
    first, second = audit.candidates
    shaky = (replace(first, posterior=0.7), replace(second, posterior=0.3))
    window.session.texts.add_audit(replace(audit, candidates=shaky))
    answer = window.work.answer
    lines = [label.text() for label in answer.payload.findChildren(QLabel)]
    assert lines[0] == "Payload in question (2 possible)"
    assert "share 0.7" in lines[1]
    assert answer.payload.findChild(QLabel, "payload") is None
    assert [m.payload.bits for m in window.session.texts.current.finding.marks] == [None]


def test_the_answer_names_key_and_profile_and_its_actions_stay_in_sight(window, audit):
    window.resize(1100, 640)
    for number in range(2):
        window.session.texts.add_audit(replace(audit, id=f"{number:032x}"))
        QApplication.processEvents()
    answer = window.work.answer
    words = [label.text() for label in answer.findChildren(QLabel) if label.isVisible()]
    assert any("key Test" in line and audit.profile.fingerprint in line for line in words)
    assert not any("H1" in line or "H2" in line for line in words)
    assert "H1" in answer.compared.toolTip()
    assert "H2" in answer.compared.toolTip()
    for button in (answer.report, answer.details, *answer.steps.values()):
        place = button.mapTo(answer, button.rect().bottomRight())
        assert answer.rect().contains(place), button.text()


def test_one_mark_looks_as_ever(shown_window):
    assert not shown_window.work.answer.marks.isVisible()
    assert shown_window.selection.mark is None
    assert "mark" not in shown_window.evidence.bits.side_note.text()


def test_the_curve_grows_while_a_long_text_is_read(window, qtbot, engine, text):
    course = window.evidence.course
    engine.gate.clear()
    engine.looks = ((4_000, -1.5), (8_000, 2.25))
    window.session.texts.add_text(text, "long")
    window.audit()
    item = window.session.texts.current
    qtbot.waitUntil(lambda: len(item.looks) == 2)
    assert course.following
    assert course.side_note.text() == "+2.2 at token 8000"
    assert course._curve.getData()[0].tolist() == [0, 4_000, 8_000]
    assert course.threshold() == window.session.chosen.catalogue.policy.t_found
    assert course.table()[1] == [("4000", "−1.50"), ("8000", "+2.25")]
    assert "as far as it has been read" in course.summary()
    engine.gate.set()
    qtbot.waitUntil(lambda: item.audit is not None)
    assert not course.following
    assert len(course.table()[1]) == item.audit.tokens.ids.size


def test_what_was_not_read_is_grey_and_said(window, audit):
    window.resize(1440, 900)
    size = audit.tokens.ids.size
    early = dataclasses.replace(
        audit, stopped=StopFacts(read=size, tokens=3 * size, log10_e=6.0, unread=0)
    )
    rest = " and what comes after it" * 9
    window.session.texts.add_audit(dataclasses.replace(early, text=audit.text + rest))
    QApplication.processEvents()
    view = window.work.text.view
    assert f"{size} of {3 * size} tokens read" in window.work.text.side_note.text()
    end = len(audit.text)
    assert view._signs(end - 5, end) == []
    muted = window.theme.colour("muted")
    greyed = view._signs(end, end + 5)
    assert [found.format.foreground().color() for found in greyed] == [muted] * 5


def test_details_have_the_structure_of_a_first_page(shown_window, audit, qtbot):
    dialog = opening.show_details(shown_window)
    page = [line.text() for line in dialog.findChildren(QLabel) if line.isVisible()]
    found = audit.finding
    [answer] = rendered(found.answer, "en")
    [limit] = rendered(found.cautions, "en")
    [payload] = audit.finding.marks
    whom = whom_words(audit.profile, payload.payload, grouped(payload.payload.best), "en")
    order = [
        audit.title("en"),
        answer,
        "For whom, when",
        whom,
        "What it rests on",
        "What weakens or limits this",
        f"–  {limit}",
        "What to do next",
        "Save it to a case",
    ]
    places = [page.index(words) for words in order]
    assert places == sorted(places)
    rests = page[page.index("What it rests on") + 1].splitlines()
    assert rests[0] == f"Text: {audit.input.name}, SHA-256 {audit.input.sha256}"
    assert rests[1] == f"Keys tried: Test ({audit.key.fingerprint})"
    folds = dialog.findChildren(Fold)
    titles = [fold.head.text() for fold in folds]
    assert titles[-2:] == ["Measured with", "Steps"]
    for fold in folds:  # the facts stand behind headings
        lines = [line for line in fold.findChildren(QLabel) if line.text()]
        assert not any(line.isVisible() for line in lines)
        fold.head.click()
        assert any(line.isVisible() for line in lines)
    dialog.reject()


def test_the_limits_are_one_line_that_opens(shown_window, audit):
    work, answer = shown_window.work, shown_window.work.answer
    limits = answer.limits
    assert limits.head.text() == "One limit of this finding"
    assert not answer.limit_lines.isVisible()
    before = work.stack.height()
    limits.head.click()
    QApplication.processEvents()
    assert answer.limit_lines.isVisible()
    [told] = rendered(audit.finding.cautions, "en")
    assert answer.limit_lines.text() == f"–  {told}"
    assert work.stack.height() > before
    assert answer.scroll_area.verticalScrollBar().value() == 0  # the answer stays where it was
    assert not answer.heading.visibleRegion().isEmpty()
    many = replace(audit, id="2" * 32, cautions=audit.cautions * 9)
    shown_window.session.texts.add_audit(many)
    limits.head.click()
    QApplication.processEvents()
    QApplication.processEvents()
    assert answer.limit_lines.isVisible()
    assert not answer.heading.visibleRegion().isEmpty()
    shown_window.session.texts.add_audit(replace(audit, id="1" * 32, cautions=()))
    assert limits.isHidden()


def test_cards_without_anything_to_show_are_not_on_screen(
    window, qtbot, engine, audit, text, tmp_path
):
    def on_screen() -> list[bool]:
        cards = window.evidence.cards
        return [card.isVisible() for card in cards] if window.evidence.isVisible() else []

    window.session.texts.add_text(text)
    QApplication.processEvents()
    wide = window.work.width()
    assert on_screen() == []
    assert not window.actions_by_name["evidence"].isEnabled()
    engine.gate.clear()
    engine.looks = ((100, 0.4), (200, 1.1))
    window.session.audits.audit()
    qtbot.waitUntil(lambda: on_screen() == [False, False, True])  # the evidence so far
    engine.gate.set()
    qtbot.waitUntil(lambda: on_screen() == [True, True, True])
    assert window.work.width() < wide
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7")
    window.session.texts.add_paths([broken])
    item = window.session.texts.current
    qtbot.waitUntil(lambda: item.failure is not None)
    assert on_screen() == []
    assert window.work.width() == wide
    window.session.texts.show(window.session.texts.queue.items[0])
    qtbot.keyClick(window, Qt.Key.Key_F8)
    assert on_screen() == []
    qtbot.keyClick(window, Qt.Key.Key_F8)
    assert on_screen() == [True, True, True]


def test_the_bar_of_the_answer_does_not_break_lines_that_would_fit_without_it(shown_window, audit):
    answer = shown_window.work.answer
    bar = answer.scroll_area.verticalScrollBar()
    for width in range(420, 700, 7):
        whole = answer.natural_height(width)
        shown_window.work.stack.setFixedHeight(whole // 2)
        answer.resize(width, whole // 2)
        QApplication.processEvents()
        wanted = answer.natural_height(width)
        assert wanted == whole, width
        answer.resize(width, whole)
        QApplication.processEvents()
        assert bar.maximum() == 0, width


@pytest.mark.parametrize("tongue", ["en", "de"])
def test_outcome_sentence_and_payload_are_whole_in_a_low_window(shown_window, audit, tongue):
    set_language(tongue)
    try:
        shown_window.session.texts.add_audit(replace(audit, id="2" * 32))
    finally:
        set_language("en")
    answer = shown_window.work.answer
    answer.more.setText("What stands below the payload. " * 30)
    answer.more.show()
    for size in ((800, 500), (1280, 720), (760, 460)):
        shown_window.resize(*size)
        for _ in range(3):  # the legend gives way, and its line goes to the answer
            QApplication.processEvents()
        room = answer.scroll_area.viewport()
        parts = [answer.heading, answer.sentence, answer.payload]
        for part in parts[: 2 if size[1] < 500 else 3]:
            place = part.rect().translated(part.mapTo(room, QPoint()))
            assert room.rect().contains(place), (size, place, room.rect())


def ink(area: QAbstractScrollArea, edge: int) -> int:
    """How many pixels of the last row are neither ground nor the edge of a box."""
    picture = area.viewport().grab().toImage()
    row = [picture.pixel(x, picture.height() - 1) for x in range(picture.width())]
    return sum(colour not in (row[0], edge) for colour in row)


@pytest.mark.parametrize("tongue", ["en", "de"])
def test_no_line_is_cut_at_the_foot_of_the_answer(start, audit, several, tongue):
    window = start(language=tongue)
    first, second = audit.candidates
    doubt = (replace(first, posterior=0.7), replace(second, posterior=0.3))
    none = replace(audit, verdict="insufficient", passages=(), sentences=())
    edge, found = window.theme.colour("line").rgb(), []
    for number, one in enumerate((audit, several, replace(audit, candidates=doubt), none)):
        window.session.texts.add_audit(replace(one, id=f"{number:032x}"))
        answer = window.work.answer
        for more in ("", "What stands below the payload. " * 30):
            answer.more.setText(more)
            answer.more.setVisible(bool(more))
            for size in ((1024, 700), (1280, 800), (1440, 900), (800, 500), (1100, 655)):
                window.resize(*size)
                for _ in range(3):
                    QApplication.processEvents()
                cut = ink(answer.scroll_area, edge)
                found += [(number, bool(more), size, cut)] if cut > 12 else []  # corners of a box
    assert not found


def test_no_line_of_the_text_is_cut_at_its_foot(shown_window, audit):
    view, found = shown_window.work.text.view, []
    for size in ((1024, 700), (1280, 800), (800, 500), (1100, 655)):
        shown_window.resize(*size)
        for larger in (0, 3):
            view.set_text_size(16 + larger)
            for place in (0, len(audit.text) // 2, len(audit.text)):
                QApplication.processEvents()
                view.show_character(place)
                cut = ink(view, 0)
                found += [(size, larger, place, cut)] if cut > 24 else []  # lines along the margin
    assert not found


def test_the_name_of_the_threshold_is_whole(shown_window, audit, qtbot):
    course = shown_window.evidence.course
    strong = replace(audit.tokens, log10_evidence=8 * audit.tokens.log10_evidence)

    def whole() -> bool:
        course.plot.grab()  # lays out what has moved
        room = course.plot.getViewBox().sceneBoundingRect()
        return room.contains(course._caption.sceneBoundingRect())

    for one in (audit, replace(audit, id="9" * 32, tokens=strong)):  # ends near it, and far above
        shown_window.session.texts.add_audit(one)
        for size in ((1280, 800), (1440, 900), (1100, 655)):
            shown_window.resize(*size)
            qtbot.waitUntil(whole)


def two_passages(audit: Audit) -> Audit:
    """Return the record with two passages; the second holds the evidence."""
    size = audit.tokens.ids.size
    ranges = ((size // 8, size // 4), (size // 2, 3 * size // 4))
    evidence = np.full(size, -0.1)
    evidence[ranges[1][0] : ranges[1][1]] = 0.5
    passages = tuple(
        Passage(
            first_token=a,
            last_token=b - 1,
            start=int(audit.tokens.spans[a, 0]),
            end=int(audit.tokens.spans[b - 1, 1]),
        )
        for a, b in ranges
    )
    tokens = replace(audit.tokens, log10_evidence=evidence)
    return replace(audit, tokens=tokens, passages=passages)


def test_the_strip_shades_passages_only_and_a_press_goes_there(window, qtbot, audit):
    made = two_passages(audit)
    window.resize(1200, 640)
    window.session.texts.add_audit(made)
    QApplication.processEvents()
    view, strip = window.work.text.view, window.work.text.strip
    levels = strip.levels()
    starts, height = view.line_starts(), levels.size
    first, second = (
        slice(*(int(line / (starts.size - 1) * height) for line in (a + 1, b)))
        for a, b in (
            np.searchsorted(starts, (p.start, p.end - 1), side="right") - 1 for p in made.passages
        )
    )
    assert (levels[first] < 0).all()  # speaks against, inside a passage
    assert (levels[second] > 0).all()
    # Quiet elsewhere; how many lines stand above the first passage depends on the fonts.
    above = max(0, first.start - 2 * height // (starts.size - 1))
    assert not levels[:above].any()
    # It opens where most of the evidence is, not at the first passage.
    begin, end = window.selection.seen
    assert made.passages[0].last_token < window.selection.token
    assert begin <= made.passages[1].first_token < end
    qtbot.mouseClick(strip, Qt.MouseButton.LeftButton, pos=strip.rect().topLeft() + QPoint(2, 1))
    assert view.verticalScrollBar().value() == 0
    on_top = np.searchsorted(starts, made.passages[0].start, side="right") == 1
    assert ("mark" in strip.words_at(1)) == on_top
    assert strip.words_at(strip.height() * 0.6).endswith("mark 1")


def test_a_picture_of_the_evidence_follows_whatever_changes(shown_window, qtbot, audit):
    window = shown_window
    select = window.selection
    changes = (
        lambda: select.select_bit(3),
        lambda: select.select_token(int(audit.steps.token[9])),
        lambda: window.resize(1700, 1000),
        lambda: window.set_theme(Mode.DARK),
        lambda: select.show(replace(audit, bits=audit.bits[::-1])),
    )
    plots = window.evidence.bits.plot, window.evidence.course.plot

    def pictures(*, anew: bool = False) -> list[Any]:
        for plot in plots:
            plot._drawing = anew  # what is shown stays as it is
        found = [plot.viewport().grab().toImage() for plot in plots]
        for plot in plots:
            plot._drawing = False
        return found

    for change in changes:
        qtbot.waitUntil(lambda: pictures() == pictures(anew=True))
        before = pictures()
        change()
        qtbot.waitUntil(lambda before=before: pictures()[0] != before[0])  # type: ignore[misc]
    qtbot.waitUntil(lambda: pictures() == pictures(anew=True))


def test_the_course_shows_the_whole_or_what_is_on_screen(window, audit):
    window.resize(1200, 640)
    window.session.texts.add_audit(two_passages(audit))
    QApplication.processEvents()
    course_card = window.evidence.course
    box = course_card.plot.getPlotItem().getViewBox()
    assert box.viewRange()[0] == [0, audit.tokens.ids.size]
    assert course_card._seen.getRegion() == window.selection.seen
    press(course_card.plot, Qt.Key.Key_Plus)
    assert box.viewRange()[0] == list(window.selection.seen)
    before = window.selection.seen
    window.work.text.view.show_middle(0)
    assert box.viewRange()[0] == list(window.selection.seen) != list(before)
    press(course_card.plot, Qt.Key.Key_Minus)
    assert box.viewRange()[0] == [0, audit.tokens.ids.size]


def test_text_is_chosen_and_copied_as_it_is(window, qtbot):
    window.session.texts.add_text("one two\u200b three\nfour", "copied")
    QApplication.processEvents()
    view = window.work.text.view
    shaped = view._shape(0)
    ends = [QPointF(MARGIN + shaped.x(p), view.line_height / 2).toPoint() for p in (4, 14)]
    qtbot.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=ends[0])
    qtbot.mouseMove(view.viewport(), ends[1])
    move = QMouseEvent(
        QMouseEvent.Type.MouseMove,
        QPointF(ends[1]),
        view.viewport().mapToGlobal(QPointF(ends[1])),
        Qt.MouseButton.NoButton,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(view.viewport(), move)
    qtbot.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.clipboard().text() == "two\u200b three"  # no sign in place of anything
    qtbot.keyClick(view, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.clipboard().text() == "two\u200b three\n"


def test_the_scale_says_how_strong_a_finding_is_and_nothing_where_nothing_follows(window, audit):
    answer = window.work.answer
    window.session.texts.add_audit(audit)
    scale = answer.strength
    assert scale.isVisible()
    assert scale.word() == "Support for a mark: extremely strong"
    assert scale.accessibleName().endswith("Decision threshold: 1,000,000")
    assert (scale.place, answer.document.text()) == (6, audit.input.name)
    assert window.windowTitle() == f"{audit.input.name} – PURA Audit"
    evidence = replace(audit.evidence, log10_e=-40.0)
    answer.show_audit(replace(audit, verdict="no-mark", evidence=evidence))
    assert scale.word() == "Support against a mark: moderate", "more is never said"
    answer.show_audit(replace(audit, verdict="insufficient"))
    assert not scale.isVisible()


def test_a_finding_with_a_public_key_says_above_the_answer_that_it_is_a_draft(shown_window, audit):
    answer = shown_window.work.answer
    assert "Draft" not in answer.note.text()
    key = KeyFacts(fingerprint=SecretKey(bytes(range(32))).fingerprint, label="Sample")
    answer.show_audit(replace(audit, key=key, keys=(key,)))
    assert answer.note.property("role") == "attention"
    assert answer.note.text().startswith("Draft: ")
    assert key.title in answer.note.text()
    assert answer.note.text() not in answer.more.text()


def test_each_step_says_who_did_it_and_when_and_what_has_to_come_before(window, audit):
    window.session.texts.add_audit(audit)
    item, steps = window.session.texts.current, window.work.answer.steps

    def tips(status: CaseStatus | None) -> list[str]:
        item.status = status
        show_steps(steps, item)
        return [button.toolTip() for button in steps.values()]

    assert all("saved first" in tip for tip in tips(None)[1:])
    day = "2026-11-26T09:00:00+00:00"
    at = CaseStatus(case="c", name="Case A", mode="keep").then("save", ("Anna", day))
    saved, review, report, sign = tips(at)
    assert saved.startswith("In the case “Case A”; by Anna on 26 November 2026")
    assert "second person" in review
    assert "draft until a second person" in report
    assert "none yet" in sign
    at = at.then("review", ("Béla", day), review="confirmed")
    at = at.then("report", ("Anna", day), report="issued").then("sign", (None, day), signed=True)
    assert tips(at)[1:] == [
        "Confirmed by Béla on 26 November 2026",
        "Final report by Anna on 26 November 2026",
        "Signed by – on 26 November 2026",
    ]
    at = replace(at.then("sign", ("Contoso Compliance Desk", day)), examiner="Anna")
    assert tips(at)[3] == (
        "Signed by Contoso Compliance Desk on 26 November 2026 (examined by Anna)"
    )
    assert "examined" not in tips(replace(at, examiner="contoso compliance desk"))[3]
    assert [button.text() for button in steps.values()][2:] == ["✓ Final", "✓ Signed"]
