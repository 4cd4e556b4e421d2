"""The card of the text, with legend, search and shading."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAccessible,
    QColor,
    QFontMetrics,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QStackedWidget, QTabBar, QWidget

from pura.documents.formats import FORMATS
from pura.record.audit import Audit
from pura_audit.platform.accessible import set_role
from pura_audit.platform.i18n import filled, number, translate
from pura_audit.session.pages import DocumentPages
from pura_audit.session.queue_model import Item
from pura_audit.session.selection import Selection
from pura_audit.theme import fonts
from pura_audit.theme.theme import LIGHT, PADDING, Theme
from pura_audit.widgets.card import (
    Card,
    ElidedLabel,
    IconButton,
    add_parts,
    label,
    push_button,
    row_of,
    search_field,
)
from pura_audit.widgets.text_layout import unusual
from pura_audit.workbench.page_view import PagePane
from pura_audit.workbench.text_canvas import LONG, hatching
from pura_audit.workbench.text_view import DocumentStrip, TextView, supporting

HATCHED: Final = 99
"""Shade of the legend for text that a rule left out."""
_MAX_KINDS: Final = 3  # kinds of unusual characters
LINES: Final = 52  # two of them
# What is not on screen asks for no height.
_FREE: Final = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Ignored)
WITH_LEGEND: Final = 170  # pixels of the card from which a row of the legend is shown
PAGES: Final = 100  # least height of pages


class Legend(QWidget):
    """The legend of the shades.

    Attributes:
        on_paper: Whether the shades are those of pages, which are white in every theme.
    """

    ROW: Final = 18

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme, self.on_paper = theme, False
        set_role(self, QAccessible.Role.Graphic)
        self.setFixedHeight(self.ROW)
        theme.changed.connect(self.update)
        self.show_for(None)

    def show_for(self, audit: Audit | None) -> None:
        """Show the meaning of the shades: for a payload, or for a mark without one."""
        if audit is None or audit.profile.foreign is None:
            name = translate(
                "Text",
                "Legend: blue supports the payload, orange with a dotted line speaks against it",
            )
        else:
            name = translate(
                "Text",
                "Legend: blue speaks for the mark, orange with a dotted line speaks against it",
            )
        self._parts: tuple[tuple[tuple[int, ...], str], ...] = (
            ((1, 2, 3, 4), supporting(audit)),
            ((-1, -2, -3, -4), translate("Text", "speaks against it (dotted)")),
            ((0,), translate("Text", "carries no evidence")),
        )
        if audit is not None and audit.input.excluded:
            self._parts += (((HATCHED,), translate("Text", "left out by a rule")),)
        self.setAccessibleName(name)
        self._fit()
        self.update()

    def _places(self, available: int) -> list[QPoint]:
        """Return the position of each part."""
        metrics = QFontMetrics(fonts.face(fonts.LABEL))
        x = y = 0
        points = []
        for levels, caption in self._parts:
            width = 12 * len(levels) + 8 + metrics.horizontalAdvance(caption) + 4
            if x and x + width > available:
                x, y = 0, y + self.ROW
            points.append(QPoint(x, y))
            x += width + 16
        return points

    def rows(self, width: int) -> int:
        """Return the number of rows for a width."""
        return self._places(width)[-1].y() // self.ROW + 1

    def _fit(self) -> None:
        self.setFixedHeight(self.rows(self.width()) * self.ROW)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Adjust the height to the number of rows."""
        super().resizeEvent(event)
        self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the swatches and their texts."""
        painter = QPainter(self)
        painter.setFont(fonts.face(fonts.LABEL))
        colours = LIGHT if self.on_paper else self._theme.tokens
        for point, (levels, caption) in zip(self._places(self.width()), self._parts, strict=True):
            x, y = point.x(), point.y()
            for level in levels:
                box = QRectF(x, y + 3, 12, 12)
                if level == HATCHED:
                    painter.fillRect(box, hatching(self._theme))
                else:
                    painter.fillRect(box, colours.shade(level))
                if level in (0, HATCHED):
                    painter.setPen(QPen(self._theme.colour("line"), 1))
                    painter.drawRect(box.adjusted(0, 0, -1, -1))
                if level < 0:
                    painter.setPen(QPen(QColor(colours.against), 2, Qt.PenStyle.DotLine))
                    painter.drawLine(x + 1, y + 14, x + 11, y + 14)
                x += 12
            painter.setPen(self._theme.colour("muted"))
            line = QRectF(x + 8, y, self.width(), self.ROW)
            painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, caption)


class FindBar(QWidget):
    """Search inside the text.

    Signals:
        toggled: The bar was shown or hidden.
    """

    toggled = Signal()

    def __init__(self, view: TextView, theme: Theme) -> None:
        super().__init__()
        self._view = view
        self._found, self._place = 0, 0
        self.field = search_field(translate("Find", "Find in the text"))
        self.field.setClearButtonEnabled(False)
        self._words = label("", "muted")
        buttons = (
            IconButton(theme, "up", translate("Find", "Previous"), lambda: self.go(-1)),
            IconButton(theme, "down", translate("Find", "Next"), lambda: self.go(1)),
            IconButton(theme, "close", translate("Find", "Close"), self.leave),
        )
        row_of((self.field, 1), self._words, *buttons, inside=self)
        self.field.textChanged.connect(self._search)
        self.field.returnPressed.connect(lambda: self.go(1))
        self.hide()

    def enter(self) -> None:
        """Show the bar with the focus in its field."""
        self.show()
        self.toggled.emit()
        self.field.setFocus()
        self.field.selectAll()
        self._search(self.field.text())

    def leave(self) -> None:
        """Hide the bar and the marked matches."""
        self._view.mark_matches("")
        self.hide()
        self.toggled.emit()
        self._view.setFocus()

    def go(self, step: int) -> None:
        """Go to the next or previous match."""
        if self._found:
            self._place = (self._place + step) % self._found
            self._show()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Hide the bar with Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
        else:
            super().keyPressEvent(event)

    def _search(self, search: str) -> None:
        self._found, self._place = self._view.mark_matches(search), 0
        if self._found:
            self._show()
        else:
            self._words.setText(translate("Find", "not found") if search else "")

    def _show(self) -> None:
        self._view.go_to_match(self._place)
        self._words.setText(f"{self._place + 1} / {number(self._found)}")


class TextCard(Card):
    """The card that shows the text with its evidence.

    Args:
        selection: The selection.
        theme: The colours.
        pages: Draws the pages of the document; None if they are not offered.

    Signals:
        resized: The minimum height has changed.
    """

    resized = Signal()

    def __init__(
        self, selection: Selection, theme: Theme, pages: DocumentPages | None = None
    ) -> None:
        super().__init__(translate("Text", "Text"))
        self._shaded, self._selection = False, selection
        self.view = TextView(selection, theme)
        self.view.setMinimumHeight(LINES)
        self.find_bar = FindBar(self.view, theme)
        self._legend = Legend(theme)
        # Shortened, not wrapped: the text needs the lines in a low window.
        self._note, self.unusual = ElidedLabel(role="small"), ElidedLabel(role="small")
        self._shade = push_button(translate("Text", "Show shading"), role="link")
        self._shade.setCheckable(True)
        self._shade.setAccessibleName(translate("Text", "Show shading"))
        self._shade.toggled.connect(self._toggle)
        hint = translate("Text", "Find in the text (Ctrl+F)")
        self.head.addWidget(IconButton(theme, "search", hint, self.find_bar.enter))
        foot = row_of((self._legend, 1), (self._note, 1), self._shade, spacing=-1)
        self.strip = DocumentStrip(self.view, selection, theme)
        self.middle = QStackedWidget()
        row_of((self.view, 1), self.strip, inside=(text_and_strip := QWidget()))
        self.middle.addWidget(text_and_strip)
        self.tabs = QTabBar()
        self.tabs.setAccessibleName(translate("Text", "How the document is shown"))
        self.tabs.addTab(translate("Text", "Text"))
        self.tabs.addTab(translate("Text", "Page"))
        self.tabs.currentChanged.connect(self._show_as)
        self.head.insertWidget(0, self.tabs)
        self.tabs.hide()
        self.pages: PagePane | None = None
        self._item: Item | None = None
        if pages is not None:
            self.pages = PagePane(pages, selection, theme, self.view)
            self.pages.setSizePolicy(_FREE)
            self.pages.file_found.connect(self._keep_file)
            self.middle.addWidget(self.pages)
            self.head.insertWidget(self.head.indexOf(self.side_note), self.pages.controls, 1)
            self.pages.controls.hide()
        add_parts(self.body, (self.middle, 1), self.find_bar, self.unusual, foot)

    def show_text(self, text: str, audit: Audit | None, note: str = "") -> None:
        """Show a text with or without findings.

        Args:
            text: The text.
            audit: The audit of the text, or None.
            note: Reason why nothing is shaded, if there is no audit.
        """
        is_new = text is not self.view.text  # it is looked through once, not at each step
        self.view.show_text(text, audit)
        if is_new and len(text) > LONG:
            QTimer.singleShot(0, self, self._name_unusual)
        elif is_new:
            self._name_unusual()
        self._legend.show_for(audit)
        self.side_note.setText(_facts(text, audit))
        is_marked = audit is not None and audit.verdict == "mark"
        # Shading a text without a finding misleads; whoever wants it asks for it.
        self._shade.setVisible(audit is not None and not is_marked)
        self._shade.setChecked(False)
        self._set_shading(shading=is_marked)
        self._note.setText(
            translate("Text", "Not shaded, since nothing was found.")
            if audit is not None and not is_marked
            else note
        )
        self._show_note()

    def offer_pages(self, item: Item) -> None:
        """Offer the original pages if the document has any."""
        if self.pages is None:
            return
        audit = item.shown
        self._item = item
        sources = (item.document, None if audit is None else audit.input)
        formats = {source.format: source.sha256 for source in sources if source is not None}
        sha256 = formats.get("pdf", "")
        laid_out = [
            file_format
            for file_format in formats
            if file_format in FORMATS and not FORMATS[file_format].textual
        ]
        self.tabs.setVisible(bool(laid_out))
        self.tabs.setTabEnabled(1, bool(sha256))
        hint = translate("Text", "A PDF is shown as it was printed; this file as its text.")
        self.tabs.setTabToolTip(1, "" if sha256 else hint)
        self.title.setVisible(not laid_out)
        if not sha256:
            self.tabs.setCurrentIndex(0)
        self.pages.show_document(item.original or item.path, sha256, self.view.text, audit)

    def _keep_file(self, path: Path) -> None:
        """Store the file with the pages for a report."""
        if self._item is not None and path != self._item.path:
            self._item.original = path

    def _show_as(self, index: int) -> None:
        """Show the text or the pages, at the same position."""
        first, _ = self._selection.seen
        self.middle.setCurrentIndex(index)
        if self.pages is not None:
            self.pages.controls.setVisible(bool(index))
            self.pages.setMinimumHeight(PAGES if index else 0)
            self.pages.setSizePolicy(QSizePolicy() if index else _FREE)
        self.side_note.setVisible(not index)
        self._legend.on_paper = bool(index)
        self._show_legend()
        for layout in (self.middle.layout(), self.body, self.frame_layout):
            if layout is not None:
                layout.invalidate()  # at once, and not with the next event
        self.resized.emit()
        if self._selection.audit is not None:
            self._selection.shown_from.emit(first)

    def _name_unusual(self) -> None:
        summary = _unusual(self.view.text)
        self.unusual.setText(summary)
        self.unusual.setVisible(bool(summary))

    def _toggle(self, checked: bool) -> None:
        self._shade.setText(
            translate("Text", "Hide shading") if checked else translate("Text", "Show shading")
        )
        self._set_shading(shading=checked)

    def _set_shading(self, *, shading: bool) -> None:
        self.view.set_shading(shading)
        if self.pages is not None:
            self.pages.set_shading(shading)
        self._shaded = shading
        self._show_legend()
        self._show_note()

    def _show_note(self) -> None:
        self._note.setVisible(not self._shaded and bool(self._note.text()))

    def _show_legend(self) -> None:
        rows = self._legend.rows(self.width() - 2 * PADDING)
        row_height = WITH_LEGEND + (PAGES if self._legend.on_paper else 0)
        visible = self._shaded and self.height() >= row_height * rows
        if visible is self._legend.isHidden():
            self._legend.setVisible(visible)
            QTimer.singleShot(0, self, self.resized.emit)
        self._legend.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide the legend if there is little room."""
        super().resizeEvent(event)
        self._show_legend()

    def minimumSizeHint(self) -> QSize:
        """Return the size with two lines of text and without the legend."""
        smallest = super().minimumSizeHint()
        spare = 0 if self._legend.isHidden() else self._legend.minimumHeight() + self.body.spacing()
        return QSize(smallest.width(), smallest.height() - spare)


def _unusual(text: str) -> str:
    """Return which characters a reader would not see, or see as empty boxes."""
    scripts, hidden = unusual(text, fonts.face(fonts.READING))
    lines = []
    if scripts:
        part_template = translate(
            "Text", "{script:text}, {n:count} {n:plural(character|characters)}"
        )
        template = translate("Text", "No font of this computer has: {scripts:text}.")
        lines.append(filled(template, scripts=_some(part_template, "script", scripts)))
    if hidden:
        part_template = translate("Text", "{name:text} ({n:count})")
        template = translate("Text", "Hidden characters, shown as signs: {names:text}.")
        lines.append(filled(template, names=_some(part_template, "name", hidden)))
    return " ".join(lines)


def _some(part_template: str, blank: str, counts: dict[str, int]) -> str:
    """Return the most frequent names with their counts, and the number of further ones."""
    first = list(counts.items())[:_MAX_KINDS]
    parts = [filled(part_template, n=count, **{blank: name}) for name, count in first]
    if further := len(counts) - len(first):
        template = translate("Text", "{n:count} {n:plural(more kind|more kinds)}")
        parts.append(filled(template, n=further))
    return "; ".join(parts)


def _facts(text: str, audit: Audit | None) -> str:
    if audit is None:
        return filled(translate("Text", "{n:count} {n:plural(character|characters)}"), n=len(text))
    tokens = filled(translate("Text", "{n:count} {n:plural(token|tokens)}"), n=audit.input.tokens)
    if audit.stopped is not None:
        template = translate("Text", "{read:count} of {n:count} tokens read, the rest is grey")
        tokens = filled(template, read=audit.stopped.read, n=audit.stopped.tokens)
    parts = [
        tokens,
        filled(
            translate("Text", "{n:count} carry bits")
            if audit.profile.foreign is None
            else translate("Text", "{n:count} {n:plural(counts|count)}"),
            n=audit.evidence.usable,
        ),
    ]
    if len(audit.finding.marks) > 1:
        marks = translate("Text", "{n:count} {n:plural(mark|marks)}")
        parts.append(filled(marks, n=len(audit.finding.marks)))
    if passages := len(audit.finding.passages):
        template = translate("Text", "{n:count} {n:plural(passage|passages)}")
        parts.append(filled(template, n=passages))
    if pieces := len(audit.input.excluded):
        template = translate("Text", "{n:count} {n:plural(piece|pieces)} left out (hatched)")
        parts.append(filled(template, n=pieces))
    return " · ".join(parts)
