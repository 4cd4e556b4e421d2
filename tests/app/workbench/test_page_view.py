"""Evidence on the pages of a real PDF, in the real window, drawn by the real child."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pikepdf
import pytest
import typst
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor
from tests.app.records import make_audit

from pura.documents import read_document
from pura_audit.theme.theme import LIGHT
from pura_audit.workbench.page_view import PagePane, PageView
from pura_audit.workbench.text_canvas import levels

PAGE = '#set page(paper: "a5", header: [Running head])\n#set par(justify: true)\n'
WORDS = (
    "The officer read the efficient text of the letter, and found a well-considered passage "
    "in it whose internationalisation had not been foreseen by anybody at all. " * 22
)


@pytest.fixture
def letter(tmp_path: Path) -> Path:
    path = tmp_path / "letter.pdf"
    path.write_bytes(typst.compile(f"{PAGE}{WORDS}\n\n{WORDS}".encode()))
    return path


@pytest.fixture
def shown(window, letter, tbcc, sample_key, qtbot) -> Any:
    """The window with a letter that was examined, its pages on screen."""
    window.resize(1440, 900)
    window.session.texts.add_paths([letter])
    item = window.session.texts.queue.items[-1]
    qtbot.waitUntil(lambda: item.document is not None)
    window.session.texts.show(item)
    window.session.audits.audit([item])
    qtbot.waitUntil(lambda: item.audit is not None, timeout=30_000)
    window.work.text.tabs.setCurrentIndex(1)
    pane = window.work.text.pages
    qtbot.waitUntil(lambda: drawn(pane), timeout=30_000)
    return window


def drawn(pane: PagePane) -> bool:
    seen = pane.view.pages and pane.view.evidence is not None
    return bool(seen) and not pane.view.missing() and not pane.strip.missing()


def colour_at(view: PageView, page: int, x: float, y: float) -> QColor:
    """Return the colour of a point of a page, in shares of it, as it is on screen."""
    place, seen = view.place_of(page), view.viewport().grab().toImage()
    ratio = seen.devicePixelRatio()
    point = place.topLeft() + QPointF(x * place.width(), y * place.height())
    return seen.pixelColor((point * ratio).toPoint())


def test_tokens_are_shaded_where_they_stand(shown):
    view, audit = shown.work.text.pages.view, shown.session.texts.current.audit
    shades = levels(audit)
    view.go(0)
    found, place = view.evidence.on(0), view.place_of(0)
    checked = 0
    for token, box in zip(found.tokens.tolist(), found.boxes, strict=True):
        if token == shown.selection.token or box.height() * place.height() < 8:
            continue
        y = place.top() + box.top() * place.height()
        if not 0 < y < view.viewport().height() - 20:
            continue
        # A corner of the box holds no ink of a letter.
        colour = colour_at(view, 0, box.right() - 1.5 / place.width(), box.top() + 0.002)
        light = QColor(LIGHT.shade(int(shades[token])) if shades[token] else "white")
        far = max(abs(a - b) for a, b in zip(colour.getRgb()[:3], light.getRgb()[:3], strict=True))
        checked += far <= 12
    assert checked > 40
    view.set_shading(False)
    box = found.shaded[4][0]
    assert colour_at(view, 0, box.right() - 0.002, box.top() + 0.002).lightness() > 240


def test_every_token_of_the_finding_has_its_place(shown):
    view, audit = shown.work.text.pages.view, shown.session.texts.current.audit
    places = [view.evidence.on(page) for page in range(view.pages)]
    assert set(np.concatenate([one.tokens for one in places]).tolist()) == set(
        range(audit.tokens.ids.size)
    )
    on = [page for page, one in enumerate(places) if one.brackets]
    assert on == list(range(view.pages))  # the passage of this record is the whole text
    running = [box.top() for one in places for box in one.boxes]
    assert min(running) > 0.06  # the running head is no part of the text


def test_text_and_pages_share_one_selection(shown, qtbot):
    view, text = shown.work.text.pages.view, shown.work.text.view
    last = shown.session.texts.current.audit.tokens.ids.size - 1
    shown.selection.select_token(last)
    assert view.page == view.pages - 1
    (box,) = view.evidence.on(view.page).of_token(last)
    place = view.place_of(view.page)
    middle = place.topLeft() + QPointF(
        box.center().x() * place.width(), box.center().y() * place.height()
    )
    assert view.viewport().rect().contains(middle.toPoint())
    shown.selection.select_token(3)
    assert view.page == 0
    (box,) = view.evidence.on(0).of_token(5)
    place = view.place_of(0)
    point = place.topLeft() + QPointF(
        box.center().x() * place.width(), box.center().y() * place.height()
    )
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=point.toPoint())
    assert shown.selection.token == 5
    qtbot.keyClick(view, Qt.Key.Key_Right)
    assert shown.selection.token == 6
    assert "Token 7 of" in text.accessibleDescription()
    assert view.accessibleDescription() == text.accessibleDescription()
    shown.selection.next_carrier(1)
    shown.work.text.tabs.setCurrentIndex(0)
    assert text.isVisible()
    assert not view.isVisible()


def test_what_was_on_screen_stays_on_screen(shown, qtbot):
    card = shown.work.text
    view = card.pages.view
    view.go(2)
    first, _ = shown.selection.seen
    assert first > 0
    card.tabs.setCurrentIndex(0)
    qtbot.waitUntil(lambda: card.view.tokens_on_screen()[1] > 0)
    seen = card.view.tokens_on_screen()
    assert seen[0] <= first < seen[1]
    card.tabs.setCurrentIndex(1)
    assert view.page >= 1


def test_the_strip_goes_from_page_to_page(shown, qtbot):
    pane = shown.work.text.pages
    view, strip = pane.view, pane.strip
    view.go(0)
    assert pane.where.text() == "Page 1 of 3"
    assert not pane.previous.isEnabled()
    strip.go(1)
    point = strip.place_of(1).center().toPoint()
    qtbot.mouseClick(strip.viewport(), Qt.MouseButton.LeftButton, pos=point)
    assert view.page == strip.current == 1
    for key, page in (
        (Qt.Key.Key_Down, 2),
        (Qt.Key.Key_Down, 2),
        (Qt.Key.Key_Up, 1),
        (Qt.Key.Key_Home, 0),
        (Qt.Key.Key_End, 2),
    ):
        qtbot.keyClick(strip, key)
        assert view.page == strip.current == page
    pane.previous.click()
    assert view.page == 1
    assert strip.accessibleName().startswith("All pages, in small. Page")


def test_pages_are_as_large_as_one_likes(shown, qtbot):
    pane = shown.work.text.pages
    scales = []
    for fit in sorted(pane.view.fits(), key=lambda fit: pane.view._scaled(0, fit)):
        pane.zoom.setCurrentIndex(pane.zoom.findData(fit))
        pane.zoom.activated.emit(pane.zoom.currentIndex())
        scales.append(pane.view.scale(0))
        qtbot.waitUntil(lambda: drawn(pane))
    assert scales == sorted(scales)
    assert pane.zoom.currentData() == "300"
    qtbot.keyClick(pane.view, Qt.Key.Key_Minus)
    assert pane.zoom.currentData() == "200"
    shown.zoom(1)
    assert pane.zoom.currentData() == "300"


def test_other_formats_have_no_pages_and_leave_the_card_as_it_was(window, tmp_path, letter, qtbot):
    other = tmp_path / "other.txt"
    other.write_text(WORDS, encoding="utf-8")
    window.session.texts.add_paths([letter, other])
    items = window.session.texts.queue.items
    qtbot.waitUntil(lambda: all(item.document is not None for item in items))
    card = window.work.text
    window.session.texts.show(items[0])
    assert card.tabs.isVisible()
    card.tabs.setCurrentIndex(1)
    qtbot.waitUntil(lambda: card.pages.view.pages > 0 and not card.pages.view.missing())
    assert card.pages.view.evidence is None  # not examined: nothing to shade
    assert card.pages.note.text() == ""
    window.session.texts.show(items[1])
    assert not card.tabs.isVisible()
    assert card.view.isVisible()
    assert window.session.pages.sizes == ()
    window.session.texts.show(items[0])
    assert card.tabs.isVisible()


def test_a_document_that_was_moved_or_changed_says_so(shown, letter, tmp_path, qtbot):
    pane, item = shown.work.text.pages, shown.session.texts.current
    moved = tmp_path / "elsewhere.pdf"
    letter.rename(moved)
    other = shown.session.texts
    other.add_text("Another text.", "other")
    other.show(item)
    shown.work.text.tabs.setCurrentIndex(1)
    qtbot.waitUntil(pane.problem.isVisible)
    assert "letter.pdf is no longer where it was" in pane.problem.text()
    wrong = tmp_path / "wrong.pdf"
    wrong.write_bytes(typst.compile(b"Something else"))
    pane.use_file(wrong)
    qtbot.waitUntil(lambda: "wrong.pdf is another file now" in pane.problem.text())
    assert pane.choose.isVisible()
    pane.use_file(moved)
    qtbot.waitUntil(lambda: drawn(pane), timeout=30_000)
    assert not pane.problem.isVisible()


def test_a_finding_without_its_file_asks_for_it(window, letter, tbcc, sample_key, qtbot):
    text = read_document(letter).chosen[0]
    made = make_audit(text.text, tbcc, sample_key)
    facts = replace(made.input, format="pdf", sha256=text.sha256, name="letter.pdf")
    window.session.texts.add_audit(replace(made, input=facts))
    card = window.work.text
    card.tabs.setCurrentIndex(1)
    assert card.pages.problem.isVisible()
    assert "is not known here" in card.pages.problem.text()
    card.pages.use_file(letter)
    qtbot.waitUntil(lambda: drawn(card.pages), timeout=30_000)
    assert window.session.texts.current.original == letter  # a report has the pages too
    assert card.tabs.isTabEnabled(1)


def test_a_format_without_pages_says_so_at_the_switch(window, tbcc, sample_key):
    made = make_audit(WORDS, tbcc, sample_key)
    card = window.work.text
    for place, (name, seen) in enumerate({"docx": True, "pptx": True, "text": False}.items()):
        facts = replace(made.input, format=name, sha256=f"{place:064}", name=f"letter.{name}")
        window.session.texts.add_audit(replace(made, id=f"{place:032}", input=facts))
        assert card.tabs.isVisibleTo(card) is seen, name
        assert not card.tabs.isTabEnabled(1)
        assert "this file as its text" in card.tabs.tabToolTip(1)
        assert card.middle.currentIndex() == 0


def test_a_text_that_the_file_does_not_hold_is_not_shaded(window, letter, tbcc, sample_key, qtbot):
    document = read_document(letter).chosen[0]
    made = make_audit(document.text + " And more.", tbcc, sample_key)
    facts = replace(made.input, format="pdf", sha256=document.sha256, name="letter.pdf")
    window.session.texts.add_audit(replace(made, input=facts))
    pane = window.work.text.pages
    window.work.text.tabs.setCurrentIndex(1)
    pane.use_file(letter)
    qtbot.waitUntil(lambda: "nothing is shaded" in pane.note.text(), timeout=30_000)
    assert pane.view.evidence is None


def test_broken_and_huge_pages_are_one_clear_message(window, tmp_path, qtbot):
    path = tmp_path / "odd.pdf"
    file = io.BytesIO(
        typst.compile(
            b"First page of the text\n#page[Second]\n#page(width: 508cm, height: 508cm)[Wide]"
        )
    )
    with pikepdf.open(file) as document:
        document.pages[1]["/Type"] = pikepdf.Name.Catalog
        document.save(path)
    window.session.texts.add_paths([path])
    item = window.session.texts.queue.items[-1]
    qtbot.waitUntil(lambda: item.document is not None)
    window.session.texts.show(item)
    window.work.text.tabs.setCurrentIndex(1)
    pane = window.work.text.pages
    qtbot.waitUntil(lambda: pane.view.pages == 3)
    for fit in ("width", "actual"):
        pane.view.set_fit(fit)
        for page in (0, 1, 2):
            pane.view.go(page)
            qtbot.waitUntil(lambda: set(pane.view.missing()) <= {1}, timeout=60_000)
    qtbot.waitUntil(lambda: pane.view._broken == {1}, timeout=60_000)
    assert {page for page in pane.view._pictures if page != 1} == {0, 2}
    sizes = [picture.sizeInBytes() for _, _, picture in pane.view._pictures.values()]
    assert max(sizes) <= 4 * 16_000_000


def test_nothing_of_a_document_stays_when_another_is_shown(shown, qtbot):
    held = shown.session.pages._held
    child = held[0]._child
    assert child is not None
    shown.session.texts.add_text("Another text.", "other")
    assert child.returncode is not None
    assert shown.session.pages.places is None
    assert shown.work.text.pages.view.pages == 0


def test_pages_are_shown_in_another_language(shown, qtbot):
    shown.set_language("de")
    card = shown.work.text
    card.tabs.setCurrentIndex(1)
    qtbot.waitUntil(lambda: drawn(card.pages), timeout=30_000)
    assert card.tabs.tabText(1) == "Seite"
    assert card.pages.where.text().startswith("Seite ")
