"""The user guide in the window, and the dialog with versions, device and licences."""

from __future__ import annotations

import platform
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import QTimer, QUrl, qVersion
from PySide6.QtGui import (
    QFont,
    QGuiApplication,
    QImage,
    QResizeEvent,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextImageFormat,
    QTextTable,
    QTextTableFormat,
)
from PySide6.QtWidgets import QPlainTextEdit, QTabWidget, QTextBrowser, QWidget

from pura.base.paths import resource
from pura.model.device import Device
from pura.version import __version__
from pura.words.sentences import fill, sentence
from pura_audit.jobs.queue import Failure
from pura_audit.platform.i18n import language, translate
from pura_audit.platform.notices import notices
from pura_audit.session.session import Session
from pura_audit.theme import fonts
from pura_audit.theme.theme import GRID, PADDING
from pura_audit.widgets.card import add_parts, label, push_button, row_of, search_field
from pura_audit.widgets.form_dialog import (
    PlainDialog,
    button_row,
    close_button,
    dialog_column,
    plain_button,
)

PACKAGES = (
    "torch",
    "transformers",
    "tokenizers",
    "safetensors",
    "numpy",
    "PySide6-Essentials",
    "pyqtgraph",
    "keyring",
)


def facts(session: Session) -> str:
    """Return versions, device and keyring, one a line."""
    lines = [
        f"PURA Audit {__version__}",
        f"Python {platform.python_version()}",
        f"Qt {qVersion()}",
        f"{platform.system()} {platform.release()} {platform.machine()}",
    ]
    for name in PACKAGES:
        try:
            lines.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            lines.append(f"{name} –")
    device = session.chosen.device
    if isinstance(device, Device):
        reason = fill(sentence(device.reason), "en")
        lines.append(f"Device {device.kind}: {device.name}, {device.dtype}. {reason}")
    elif isinstance(device, Failure):
        lines.append(f"Device: {device.message}")
    if session.chosen.catalogue is not None:
        backend = session.chosen.catalogue.backend or "none"
        lines.append(f"Keyring: {backend} ({session.chosen.catalogue.keyring.value})")
    return "\n".join(lines)


def about_dialog(session: Session, parent: QWidget | None = None) -> PlainDialog:
    """Return the dialog that shows and copies the facts."""
    dialog = PlainDialog(parent)
    dialog.setWindowTitle(translate("Dialog", "About PURA Audit"))
    dialog.resize(560, 480)
    layout = dialog_column(
        dialog,
        f"PURA Audit {__version__}",
        translate(
            "Dialog",
            "Reads marks of the PURA-1 scheme. Apache License 2.0. Qt under the LGPL 3, "
            "Inter under the SIL Open Font License.",
        ),
    )
    versions, licences = (
        _pane(translate("Dialog", "Versions")),
        _pane(translate("Dialog", "Licences")),
    )
    versions.setPlainText(facts(session))
    tabs = QTabWidget()
    for pane in (versions, licences):
        tabs.addTab(pane, pane.accessibleName())

    def show_licences(tab: int) -> None:
        # They are read when they are wanted: a megabyte of small files.
        if tabs.widget(tab) is licences and licences.document().isEmpty():
            licences.setPlainText("\n".join(notices()))

    def copy_shown() -> None:
        page = versions if tabs.currentWidget() is versions else licences
        QGuiApplication.clipboard().setText(page.toPlainText())

    tabs.currentChanged.connect(show_licences)
    copy = push_button(translate("Dialog", "Copy"), copy_shown)
    copy.setObjectName("copy")
    buttons = button_row(close_button(dialog, enter=True), left=(copy,))
    add_parts(layout, (tabs, 1), buttons)
    return dialog


def _pane(name: str) -> QPlainTextEdit:
    pane = QPlainTextEdit()
    pane.setReadOnly(True)
    pane.setTabChangesFocus(True)
    pane.setFont(fonts.mono(fonts.BODY))
    pane.setProperty("face", "mono")
    pane.setAccessibleName(name)
    return pane


START: Final = "how-to/guide.md"
WIDEST: Final = 820  # pixels of a picture
REST_MS: Final = 80  # after a resize, before pictures are scaled


def translated(folder: Path) -> Path:
    """Return the folder of the pages in the language of the window, or else in English."""
    localized = folder / language()
    return localized if (localized / START).is_file() else folder


def in_language(page: Path) -> Path:
    """Return a page in the language of the window, or else in English."""
    folder = resource("docs").resolve()
    # A page of any language stands in one of the four parts, below the folder of its language.
    inside = page.relative_to(folder).parts[-2:]
    twins = (translated(folder).joinpath(*inside), folder.joinpath(*inside))
    return next((twin for twin in twins if twin.is_file()), page)


class Pages(QTextBrowser):
    """Shows pages of the documentation folder and refuses all other addresses.

    Args:
        folder: Folder of the pages.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder.resolve()
        self.setOpenLinks(False)
        self.setOpenExternalLinks(False)
        self.setSearchPaths([str(self._folder)])
        self.setAccessibleName(translate("Guide", "User guide"))
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(self.fit_pictures)
        self.anchorClicked.connect(self.follow)

    def follow(self, link: QUrl) -> bool:
        """Follow a link to a page or a heading; return False for any other address."""
        if link.isRelative() or link.isLocalFile():
            target = self.source().resolved(link)
            path = Path(target.toLocalFile()).resolve()
            inside = path.is_relative_to(self._folder) and path.suffix == ".md"
            if inside and path.is_file():
                if path != self.page:
                    self.open_page(path)
                if target.fragment():
                    self._to_heading(target.fragment())
                return True
        return False

    @property
    def page(self) -> Path:
        """The page on screen."""
        return Path(self.source().toLocalFile()).resolve()

    def open_page(self, path: Path) -> None:
        """Show a page from its beginning."""
        self.setSource(QUrl.fromLocalFile(str(path)), QTextDocument.ResourceType.MarkdownResource)
        self.redress()

    def redress(self) -> None:
        """Style the page, also after a step back, which loads it again."""
        dress(self.document())
        self.fit_pictures()

    def _to_heading(self, anchor: str) -> None:
        """Scroll to the heading of an anchor in the usual Markdown style."""
        block = self.document().begin()
        while block.isValid():
            if block.blockFormat().headingLevel() and _slug(block.text()) == anchor:
                cursor = self.textCursor()
                cursor.setPosition(block.position())
                self.setTextCursor(cursor)
                heading_y = self.cursorRect().top() + self.verticalScrollBar().value()
                self.verticalScrollBar().setValue(heading_y - GRID)
                return
            block = block.next()

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """Load pages and pictures of the folder, and nothing from the network."""
        target = QUrl(name)
        if target.isRelative():
            target = self.source().resolved(target)
        path = Path(target.toLocalFile()).resolve()
        if not target.isLocalFile() or not path.is_relative_to(self._folder):
            return None
        if kind == QTextDocument.ResourceType.ImageResource.value:
            return QImage(str(path))
        return super().loadResource(kind, target)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep pictures as wide as the page."""
        super().resizeEvent(event)
        self._rest.start()

    def fit_pictures(self) -> None:
        """Shrink pictures to the width of the page."""
        room = min(WIDEST, self.viewport().width() - 2 * PADDING - GRID)
        document = self.document()
        block = document.begin()
        cursor = self.textCursor()
        while block.isValid():
            for first, end, char_format in pieces(block):
                if not char_format.isImageFormat():
                    continue
                picture = QTextImageFormat(char_format.toImageFormat())
                image = self.loadResource(
                    QTextDocument.ResourceType.ImageResource.value, QUrl(picture.name())
                )
                if image is None or image.isNull():
                    continue
                width = min(room, image.width())
                if picture.width() == width:
                    continue
                picture.setWidth(width)
                picture.setHeight(image.height() * width / image.width())
                cursor.setPosition(first)
                cursor.setPosition(end, cursor.MoveMode.KeepAnchor)
                cursor.setCharFormat(picture)
            block = block.next()


def guide_pages() -> list[tuple[str, Path]]:
    """Return titles and paths of the pages, in the reader's language where they are translated."""
    folder, pages = resource("docs"), {}
    for directory in (folder, translated(folder)):
        for path in sorted(directory.glob("*/*.md")):
            with path.open(encoding="utf-8") as lines:
                title = lines.readline()
            if title.startswith("# "):
                pages[path.name] = (title.removeprefix("# ").strip(), path)
    return list(pages.values())


class GuideDialog(PlainDialog):
    """The dialog of the guide, with history and search.

    Args:
        page: Page that opens first. Default: the start page.
    """

    def __init__(self, parent: QWidget | None = None, page: Path | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("Guide", "User guide"))
        self.setModal(False)
        self.resize(920, 720)
        layout = dialog_column(self)
        folder = resource("docs")
        start = translated(folder) / START
        self.pages = Pages(folder)
        self.pages.setFont(fonts.face(fonts.READING))
        self.search = search_field(translate("Guide", "Find in this page"))
        self.search.setMinimumWidth(240)
        self.found = label("", "muted")
        self.back = plain_button(translate("Guide", "Back"), self.pages.backward)
        self.home = plain_button(
            translate("Guide", "Beginning"), partial(self.pages.open_page, start)
        )
        top = row_of(self.back, self.home, None, self.found, self.search)
        add_parts(layout, top, (self.pages, 1), button_row(close_button(self)))
        self.pages.backwardAvailable.connect(self.back.setEnabled)
        self.pages.sourceChanged.connect(lambda _url: QTimer.singleShot(0, self.pages.redress))
        self.search.textChanged.connect(lambda _text: self._find(further=False))
        self.search.returnPressed.connect(lambda: self._find(further=True))
        self.back.setEnabled(False)
        self.pages.open_page(page or start)
        self.search.setFocus()

    def _find(self, *, further: bool) -> None:
        """Go to the next match, wrapping at the end."""
        text = self.search.text()
        cursor = self.pages.textCursor()
        if not further:
            cursor.setPosition(cursor.selectionStart())
            self.pages.setTextCursor(cursor)
        has_match = bool(text) and self.pages.find(text)
        if text and not has_match:
            cursor.movePosition(cursor.MoveOperation.Start)
            self.pages.setTextCursor(cursor)
            has_match = self.pages.find(text)
        self.found.setText("" if has_match or not text else translate("Guide", "not found"))


def dress(document: QTextDocument) -> None:
    """Apply the window's fonts and spacing to a page."""
    document.setDocumentMargin(PADDING)
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    block = document.begin()
    while block.isValid():
        shape = QTextBlockFormat(block.blockFormat())
        level = shape.headingLevel()
        inside = QTextCursor(block).currentTable() is not None
        # Of an indented block Qt says so at the block only, not at its words.
        code = shape.hasProperty(QTextFormat.Property.BlockCodeLanguage.value)
        tight = inside or code or block.textList() is not None
        above = {0: 0, 1: 0, 2: 3 * GRID}.get(level, 2 * GRID)
        shape.setTopMargin(0 if inside else above)
        shape.setBottomMargin(2 if tight else GRID)
        shape.setLeftMargin(GRID if code else shape.leftMargin())
        height = QTextBlockFormat.LineHeightTypes.ProportionalHeight
        runs = pieces(block)
        picture = any(look.isImageFormat() for _, _, look in runs)
        shape.setLineHeight(100 if picture else 125 if level else 135, height.value)
        cursor.setPosition(block.position())
        cursor.setBlockFormat(shape)
        for first, end, char_format in runs:
            if char_format.isImageFormat():
                continue
            char_format.setFontFixedPitch(code or char_format.fontFixedPitch())
            _dress_piece(char_format, level)
            cursor.setPosition(first)
            cursor.setPosition(end, cursor.MoveMode.KeepAnchor)
            cursor.setCharFormat(char_format)
        block = block.next()
    cursor.endEditBlock()
    for frame in document.rootFrame().childFrames():
        if isinstance(frame, QTextTable):
            _dress_table(frame)


def pieces(block: QTextBlock) -> list[tuple[int, int, QTextCharFormat]]:
    """Return the runs of equal format as (first position, end, format).

    They are copies, made before any format is changed: neighbours of one format are merged into
    one run, and then Qt's iterators and fragments point into memory that is gone.
    """
    runs = []
    iterator = block.begin()
    while not iterator.atEnd():
        piece = iterator.fragment()
        first = piece.position()
        runs.append((first, first + piece.length(), QTextCharFormat(piece.charFormat())))
        iterator += 1
    return runs


def _dress_piece(char_format: QTextCharFormat, level: int) -> None:
    """Set the font: headings by their level, code slightly smaller than the text."""
    if level:
        size = {1: fonts.ANSWER, 2: 17}.get(level, fonts.READING)
        font = fonts.face(size, strong=True)
    elif char_format.fontFixedPitch():
        font = fonts.mono(fonts.BODY)
    else:
        font = fonts.face(
            fonts.READING, strong=char_format.fontWeight() > QFont.Weight.Medium.value
        )
        font.setItalic(char_format.fontItalic())
    char_format.setFont(font, QTextCharFormat.FontPropertiesInheritanceBehavior.FontPropertiesAll)
    # Markdown makes words of a heading larger than their font, but not those it sets apart.
    char_format.clearProperty(QTextFormat.Property.FontSizeAdjustment.value)


def _dress_table(table: QTextTable) -> None:
    """Style the borders and the padding of a table."""
    table_format = QTextTableFormat(table.format())
    table_format.setBorderCollapse(True)
    table_format.setBorder(1)
    table_format.setBorderStyle(QTextTableFormat.BorderStyle.BorderStyle_Solid)
    table_format.setBorderBrush(QGuiApplication.palette().mid())
    table_format.setCellPadding(GRID)
    table_format.setTopMargin(GRID)
    table_format.setBottomMargin(2 * GRID)
    table.setFormat(table_format)


def _slug(heading: str) -> str:
    slug = "".join(c for c in heading.lower() if c.isalnum() or c in " -_")
    return slug.replace(" ", "-")
