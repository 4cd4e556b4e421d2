"""The user guide: shown from what ships, searched, and never a way out of its folder."""

from pathlib import Path

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QFont, QImage, QTextCharFormat, QTextDocument

from pura.base.paths import resource
from pura_audit.theme import fonts
from pura_audit.workbench import guide, opening
from pura_audit.workbench.guide import Pages, pieces


def test_the_guide_opens_from_the_menu_and_can_be_searched(window, qtbot):
    dialog = opening.show_guide(window)
    qtbot.addWidget(dialog)
    assert not dialog.isModal()
    assert "User guide" in dialog.pages.toPlainText()
    dialog.search.setText("fingerprint")
    assert dialog.pages.textCursor().selectedText().lower() == "fingerprint"
    first = dialog.pages.textCursor().position()
    dialog.search.returnPressed.emit()
    assert dialog.pages.textCursor().position() > first
    dialog.search.setText("no such words anywhere")
    assert dialog.found.text() == "not found"


def test_a_link_leads_to_another_page_and_back(window, qtbot):
    dialog = opening.show_guide(window)
    qtbot.addWidget(dialog)
    assert dialog.pages.follow(QUrl("reports.md"))
    assert Path(dialog.pages.source().toLocalFile()).name == "reports.md"
    assert dialog.back.isEnabled()
    dialog.back.click()
    assert Path(dialog.pages.source().toLocalFile()).name == "guide.md"


def test_in_german_the_guide_is_german_and_its_pictures_are_there(window, qtbot, monkeypatch):
    monkeypatch.setattr(guide, "language", lambda: "de")
    dialog = opening.show_guide(window)
    qtbot.addWidget(dialog)
    assert "Benutzerhandbuch" in dialog.pages.toPlainText()
    kind = QTextDocument.ResourceType.ImageResource.value
    picture = dialog.pages.loadResource(kind, QUrl("../../images/cases-german.png"))
    assert not picture.isNull()
    dialog.search.setText("Fingerabdruck")
    assert dialog.pages.textCursor().selectedText() == "Fingerabdruck"
    assert dialog.pages.follow(QUrl("../../how-to/custody.md"))
    dialog.home.click()
    assert dialog.pages.source().toLocalFile().endswith("docs/de/how-to/guide.md")


def test_neighbours_that_come_to_look_alike_are_dressed(qtbot, tmp_path):
    # All words of a heading get one look: its pieces become one, under whoever walks over them.
    title = "Title {n} **strong** more *slanted* words and some `code` behind"
    lines = [f"# {title}\n\n{title}, **strong** *slanted*.\n\n    code\n" for _ in range(40)]
    page = tmp_path / "page.md"
    page.write_text("\n".join(line.format(n=n) for n, line in enumerate(lines)), "utf-8")
    pages = Pages(tmp_path)
    qtbot.addWidget(pages)
    pages.open_page(page)
    pages.redress()  # as after a step back
    block = pages.document().begin()
    seen: dict[int, list[tuple[str, QTextCharFormat]]] = {0: [], 1: []}
    while block.isValid():
        level = block.blockFormat().headingLevel()
        whole, first = block.text(), block.position()
        seen[level] += [(whole[a - first : b - first], look) for a, b, look in pieces(block)]
        block = block.next()
    sizes = {look.font().pixelSize() for _, look in seen[1]}
    weights = {look.fontWeight() for _, look in seen[1]}
    assert (sizes, weights) == ({fonts.ANSWER}, {QFont.Weight.DemiBold.value})
    fixed = {words for words, look in seen[0] if look.fontFixedPitch()}
    assert fixed == {"code"}
    strong = {words for words, look in seen[0] if look.fontWeight() > QFont.Weight.Medium.value}
    slanted = {words for words, look in seen[0] if look.fontItalic()}
    assert (strong, slanted) == ({"strong"}, {"slanted"})


@pytest.mark.parametrize(
    "link",
    [
        "https://example.org/",
        "file:///etc/passwd",
        "../../README.md",
        "/etc/hostname",
        "nowhere.md",
        "javascript:alert(1)",
    ],
)
def test_no_link_leads_out_of_the_folder(qtbot, link):
    pages = Pages(resource("docs"))
    qtbot.addWidget(pages)
    pages.open_page(resource("docs", "how-to", "guide.md"))
    before = pages.source()
    assert not pages.follow(QUrl(link))
    assert pages.source() == before
    kind = QTextDocument.ResourceType.ImageResource.value
    assert pages.loadResource(kind, QUrl(link)) is None or not link.startswith(("h", "f", "/"))


def test_pictures_are_no_wider_than_the_page(qtbot, tmp_path):
    QImage(1600, 900, QImage.Format.Format_RGB32).save(str(tmp_path / "wide.png"))
    (tmp_path / "page.md").write_text("# Title\n\n![A picture](wide.png)\n", encoding="utf-8")
    pages = Pages(tmp_path)
    qtbot.addWidget(pages)
    pages.resize(500, 400)
    pages.show()
    pages.open_page(tmp_path / "page.md")
    assert pages.document().idealWidth() <= 500
    assert pages.horizontalScrollBar().maximum() == 0
