"""The original pages with their evidence, and a strip of small pages beside them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QImage, QKeyEvent, QMouseEvent, QPainter, QPen, QShowEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from pura.documents.places import columns, page_of, token_boxes
from pura.record.audit import Audit
from pura_audit.jobs.queue import Failure
from pura_audit.platform.i18n import translate
from pura_audit.session.pages import DocumentPages
from pura_audit.session.selection import Selection
from pura_audit.theme import fonts
from pura_audit.theme.theme import BADGE, GRID, LIGHT, Mode, Theme, mark_pen, paint_badge
from pura_audit.widgets.card import ElidedLabel, IconButton, column_of, label, push_button, row_of
from pura_audit.widgets.form_dialog import ask_file
from pura_audit.widgets.pages_view import ACTUAL, PAGE, WIDTH, PagesView, zoom_box
from pura_audit.workbench.text_canvas import levels

LARGER: Final = ("150", "200", "300")  # per cent of the real size
STRIP: Final = 124  # width of the pages in small
MAX_PAGES: Final = 40  # pages of which is kept what stands on them
REST_MS: Final = 400  # on a document, before its pages are made ready to be looked at


class _Evidence(NamedTuple):
    """The evidence on one page, in fractions of the page.

    Attributes:
        tokens: int64 [R], the token of each box.
        boxes: R boxes; a token across a line end has several.
        shaded: The boxes by shade.
        against: Lines below the tokens that speak against the payload.
        brackets: Mark, and box that a passage of it fills in a column.
    """

    tokens: npt.NDArray[np.int64]
    boxes: list[QRectF]
    shaded: dict[int, list[QRectF]]
    against: list[QLineF]
    brackets: list[tuple[int, QRectF]]

    def of_token(self, token: int) -> list[QRectF]:
        """Return the boxes of a token on the page."""
        return [self.boxes[index] for index in np.flatnonzero(self.tokens == token)]


class EvidenceOnPages:
    """Locates the evidence on the pages, and caches the last pages.

    Args:
        pages: The pages with the positions of their text.
        audit: The audit of the text.
    """

    def __init__(self, pages: DocumentPages, audit: Audit) -> None:
        assert pages.places is not None  # whoever asks knows them
        self._places, self._sizes, self._audit = pages.places, pages.sizes, audit
        self._levels = levels(audit)
        self._found: dict[int, _Evidence] = {}

    def page_of(self, token: int) -> int:
        """Return the page on which a token ends; its blank may be on the page before."""
        return page_of(self._places, int(self._audit.tokens.spans[token, 1]) - 1)

    def first_token(self, page: int) -> int:
        """Return the first token that begins on a page or after it."""
        edges = np.append(self._places.starts, len(self._places.boxes))
        return int(np.searchsorted(self._audit.tokens.spans[:, 0], edges[page]))

    def on(self, page: int) -> _Evidence:
        """Return the evidence on a page."""
        evidence = self._found.get(page)
        if evidence is None:
            evidence = self._found[page] = self._find(page)
            if len(self._found) > MAX_PAGES:
                del self._found[next(iter(self._found))]
        return evidence

    def _find(self, page: int) -> _Evidence:
        spans, size = self._audit.tokens.spans, self._sizes[page]
        boxes, tokens = token_boxes(self._places, spans, page, (size.width(), size.height()))
        rects = [_rect(box) for box in boxes.tolist()]
        shaded: dict[int, list[QRectF]] = {}
        for level, rect in zip(self._levels[tokens].tolist(), rects, strict=True):
            if level:
                shaded.setdefault(level, []).append(rect)
        against = [
            QLineF(rect.bottomLeft(), rect.bottomRight())
            for level, rects in shaded.items()
            if level < 0
            for rect in rects
        ]
        brackets = [
            (mark, _rect(column))
            for mark, passage in self._audit.finding.passages
            for column in columns(
                boxes[(tokens >= passage.first_token) & (tokens <= passage.last_token)]
            ).tolist()
        ]
        return _Evidence(tokens, rects, shaded, against, brackets)


def _rect(box: Sequence[float]) -> QRectF:
    return QRectF(QPointF(*box[:2]), QPointF(*box[2:]))


def _pen(colour: str, width: int, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> QPen:
    """Return a pen of the same width on pages of any size."""
    pen = QPen(QColor(colour), width, style)
    pen.setCosmetic(True)
    return pen


class EvidencePages(PagesView):
    """Pages with evidence, in the colours of the light theme, since paper is white.

    Args:
        name: Accessible name of the view.
        pages: Draws the pages.
        selection: The selection.

    Attributes:
        evidence: The evidence on the pages; None until it is known.
        shading: Whether the evidence is visible.
    """

    away = 8  # pixels from a bracket to the text

    def __init__(self, name: str, pages: DocumentPages, selection: Selection) -> None:
        super().__init__(name)
        self._drawer, self._selection, self._paper = pages, selection, Theme(Mode.LIGHT)
        self._asked: tuple[int, int] | None = None
        self._broken: set[int] = set()
        self.evidence: EvidenceOnPages | None = None
        self.shading = True
        self.wanted.connect(self._ask)
        for signal in (selection.changed, selection.mark_changed):
            signal.connect(self.viewport().update)

    def begin(self) -> None:
        """Show another document from its first page."""
        self._asked = None
        self._broken.clear()
        self._pictures.clear()
        self.show_evidence(None)
        self.verticalScrollBar().setValue(0)
        self.show_pages(self._drawer.sizes)

    def show_evidence(self, evidence: EvidenceOnPages | None) -> None:
        """Set the evidence."""
        self.evidence = evidence
        self.viewport().update()

    def set_shading(self, shading: bool) -> None:
        """Show or hide the evidence."""
        self.shading = shading
        self.viewport().update()

    def _ask(self) -> None:
        """Request the next page to draw; one at a time, since the visible pages may change."""
        missing = [page for page in self.missing() if page not in self._broken]
        if self._asked is None and missing and self.isVisible():
            self._asked = missing[0], self.dpi(missing[0])
            self._drawer.draw(*self._asked, self._take)

    def _take(self, page: int, dpi: int, picture: QImage) -> None:
        if self._asked != (page, dpi):
            return
        self._asked = None
        if picture.isNull():
            self._broken.add(page)
            self.viewport().update()
        else:
            self.put(page, dpi, picture)
        self._ask()

    def showEvent(self, event: QShowEvent) -> None:
        """Draw the pages that were not needed while the view was hidden."""
        super().showEvent(event)
        self._ask()

    def paint_over(self, painter: QPainter, page: int, rect: QRectF) -> None:
        """Draw shades, lines, frames and brackets."""
        if page in self._broken:
            painter.setPen(QColor(LIGHT.text))
            painter.setFont(fonts.face(fonts.LABEL))
            message = translate("Pages", "This page is broken and cannot be shown.")
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(rect.adjusted(GRID, GRID, -GRID, -GRID), flags, message)
        if self.evidence is None:
            return
        evidence = self.evidence.on(page)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.translate(rect.topLeft())
        painter.scale(rect.width(), rect.height())
        if self.shading:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Multiply)
            for level, boxes in evidence.shaded.items():
                painter.setBrush(QColor(LIGHT.shade(level)))
                painter.drawRects(boxes)
            painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOver)
        self.paint_fine(painter, evidence)
        painter.restore()
        if self.shading:
            self._paint_brackets(painter, evidence, rect)

    def paint_fine(self, painter: QPainter, evidence: _Evidence) -> None:
        """Draw the details that are visible on pages of a readable size only."""
        if self.shading:
            painter.setPen(_pen(LIGHT.against, 2, Qt.PenStyle.DotLine))
            painter.drawLines(evidence.against)
        selection = self._selection
        tokens = selection.readers().tolist() if selection.bit is not None else [selection.token]
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(_pen(LIGHT.accent, 2))
        for token in tokens:
            if token is not None:
                painter.drawRects(evidence.of_token(token))

    def _paint_brackets(self, painter: QPainter, evidence: _Evidence, rect: QRectF) -> None:
        several = self._selection.mark is not None
        for mark, box in evidence.brackets:
            x = round(rect.left() + box.left() * rect.width()) - self.away
            top, end = (round(rect.top() + y * rect.height()) for y in (box.top(), box.bottom()))
            bold = several and mark == self._selection.mark
            painter.setPen(mark_pen(self._paper, mark, 3 if bold else 2))
            painter.drawLine(x, top, x, end)
            if several and self.away > 4:
                badge_rect = QRectF(x - BADGE - 2, max(top, rect.top()), BADGE, BADGE)
                paint_badge(painter, self._paper, mark, badge_rect)


class PageView(EvidencePages):
    """The pages in a readable size, with tokens that can be selected.

    Args:
        pages: Draws the pages.
        selection: The selection.
    """

    def __init__(self, pages: DocumentPages, selection: Selection) -> None:
        super().__init__(translate("Pages", "Pages of the document"), pages, selection)
        self.ahead = 1
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        selection.changed.connect(self._follow)
        selection.shown_from.connect(self.show_from)
        self.verticalScrollBar().valueChanged.connect(self._see)

    def fits(self) -> Sequence[str]:
        """Return all page sizes."""
        return (PAGE, WIDTH, ACTUAL, *LARGER)

    def token_at(self, point: QPointF) -> int | None:
        """Return the token under a point of the viewport, or None."""
        page = self.page_at(point)
        if page is None or self.evidence is None:
            return None
        rect, evidence = self.place_of(page), self.evidence.on(page)
        x = (point.x() - rect.left()) / rect.width()
        y = (point.y() - rect.top()) / rect.height()
        boxes = (n for n, box in enumerate(evidence.boxes) if box.contains(x, y))
        number = next(boxes, None)
        return None if number is None else int(evidence.tokens[number])

    def show_from(self, token: int) -> None:
        """Scroll a token to the upper third of the view."""
        if self.evidence is None or not self.pages:
            return
        page = self.evidence.page_of(token)
        boxes = self.evidence.on(page).of_token(token)
        rect = self.place_of(page)
        top = rect.top() + (boxes[0].top() * rect.height() if boxes else 0)
        bar = self.verticalScrollBar()
        bar.setValue(round(bar.value() + top - self.viewport().height() / 3))

    def _follow(self) -> None:
        token = self._selection.token
        if self.evidence is None or token is None or self._selection.bit is not None:
            return
        page = self.evidence.page_of(token)
        for box in self.evidence.on(page).of_token(token)[:1]:
            self.show_box(page, box)

    def _see(self) -> None:
        """Report the visible tokens to the other views."""
        if self.evidence is not None and self.isVisible():
            visible = self.in_view()
            self._selection.see(*map(self.evidence.first_token, (visible.start, visible.stop)))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Select the token under the pointer."""
        token = self.token_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and token is not None:
            self._selection.select_token(token)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move between tokens, change the size, or move between pages."""
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        sizes = {Qt.Key.Key_Minus: -1, Qt.Key.Key_Plus: 1, Qt.Key.Key_Equal: 1}
        token = self._selection.token
        if event.key() in steps and token is not None:
            self._selection.select_token(token + steps[Qt.Key(event.key())])
        elif event.key() in sizes:
            self.zoom(sizes[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)


class PageStrip(EvidencePages):
    """A strip of all pages in small, with evidence; a press goes to a page.

    Args:
        pages: Draws the pages.
        selection: The selection.

    Attributes:
        current: The framed page, which the large view shows.

    Signals:
        chosen: The user chose a page; carries its number.
    """

    away = 4
    chosen = Signal(int)

    def __init__(self, pages: DocumentPages, selection: Selection) -> None:
        super().__init__(translate("Pages", "All pages, in small"), pages, selection)
        self.between = 22  # with the number below the page
        self.current = 0
        self.setFixedWidth(STRIP)
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor)

    def show_current(self, page: int) -> None:
        """Frame the current page, and scroll it into view."""
        self.current = page
        if page < self.pages:
            self.show_box(page, QRectF(0, 0, 1, 1))
        self.viewport().update()

    def paint_fine(self, painter: QPainter, evidence: _Evidence) -> None:
        """Draw no details, since the pages are too small."""

    def paint_over(self, painter: QPainter, page: int, rect: QRectF) -> None:
        """Draw the evidence, the page number, and the frame of the current page."""
        super().paint_over(painter, page, rect)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if page == self.current:
            painter.setPen(QPen(self.palette().highlight(), 2))
            painter.drawRect(rect.adjusted(-3, -3, 3, 3))
        painter.setPen(self.palette().windowText().color())
        painter.setFont(fonts.face(fonts.LABEL))
        below = QRectF(rect.left(), rect.bottom() + 3, rect.width(), self.between - 6)
        painter.drawText(below, Qt.AlignmentFlag.AlignCenter, str(page + 1))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go to the page under the pointer."""
        page = self.page_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and page is not None:
            self.chosen.emit(page)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move to the previous, next, first or last page."""
        target = {
            Qt.Key.Key_Up: self.current - 1,
            Qt.Key.Key_Down: self.current + 1,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: self.pages - 1,
        }.get(Qt.Key(event.key()))
        if target is None:
            super().keyPressEvent(event)
        elif 0 <= target < self.pages:
            self.chosen.emit(target)


class PagePane(QWidget):
    """The pages of the document on screen, or the reason why there are none.

    Args:
        pages: Opens and draws the pages.
        selection: The selection.
        theme: The colours.
        text: The view of the same text, which describes the selected token.

    Attributes:
        controls: Position and size of the pages, for the head of the card.

    Signals:
        file_found: A file that somebody chose is the one that was examined.
    """

    file_found = Signal(Path)

    def __init__(
        self, pages: DocumentPages, selection: Selection, theme: Theme, text: QWidget
    ) -> None:
        super().__init__()
        self._drawer, self._selection, self._text = pages, selection, text
        self._shown: tuple[Path | None, str, str] | None = None
        self._audit: Audit | None = None
        self.view, self.strip = PageView(pages, selection), PageStrip(pages, selection)
        self.where, self.note = label("", "muted"), ElidedLabel(role="small")
        self.zoom = zoom_box(LARGER)
        up, down = translate("Report", "Previous page"), translate("Report", "Next page")
        self.previous = IconButton(theme, "up", up, partial(self._turn, -1))
        self.next = IconButton(theme, "down", down, partial(self._turn, 1))
        self.controls = QWidget()
        head = (self.where, (self.note, 1), self.previous, self.next, self.zoom)
        row_of(*head, inside=self.controls)
        pages_view = QWidget()
        row_of(self.strip, (self.view, 1), inside=pages_view)
        self.problem = label("", "attention", wrap=True)
        self.choose = push_button(translate("Pages", "Choose the &file …"), self._ask_file)
        problem_view = QWidget()
        column_of(self.problem, row_of(self.choose, None), None, inside=problem_view)
        self._stack = QStackedWidget()
        for part in (pages_view, problem_view):
            self._stack.addWidget(part)
        column_of((self._stack, 1), inside=self)
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(self._open)
        self._wire()

    def _wire(self) -> None:
        self._drawer.opened.connect(self._opened)
        self._drawer.placed.connect(self._placed)
        self.view.page_changed.connect(self._tell)
        self.strip.chosen.connect(self.view.go)
        self.zoom.activated.connect(lambda _: self.view.set_fit(self.zoom.currentData()))
        self._selection.changed.connect(self._tell)

    def _turn(self, steps: int) -> None:
        self.view.go(self.view.page + steps)

    # What is shown

    def show_document(self, path: Path | None, sha256: str, text: str, audit: Audit | None) -> None:
        """Show the pages of a document.

        Args:
            path: Path of the file; None if unknown.
            sha256: SHA-256 of the bytes when it was read, in hexadecimal; empty without pages.
            text: Text of the document.
            audit: The audit of the text.
        """
        new, another = (path, sha256, text), audit is not self._audit
        self._audit = audit
        if new == self._shown:
            if another and self._drawer.places is not None:
                self._placed()
            return
        self._shown = new
        self._drawer.close()
        self.view.begin()
        self.strip.begin()
        self._tell()
        self._rest.stop()
        if sha256 and path is not None and self.isVisible():
            self._open()
        elif sha256 and path is not None:
            self._rest.start()  # made ready, so that the first page is there at once
        elif sha256:
            self._say(translate("Pages", "The file of this finding is not known here."))

    def set_shading(self, shading: bool) -> None:
        """Show or hide the evidence."""
        for view in (self.view, self.strip):
            view.set_shading(shading)

    def _open(self) -> None:
        path, sha256, text = self._shown or (None, "", "")
        if path is not None and not self._drawer.sizes:
            self._drawer.open(path, sha256, text)

    def _opened(self) -> None:
        failure = self._drawer.failure
        if failure is not None:
            self._say(failure)
            return
        self._stack.setCurrentIndex(0)
        if self._shown is not None and self._shown[0] is not None:
            self.file_found.emit(self._shown[0])
        self.view.begin()
        self.strip.begin()
        if self.isVisible():
            self._drawer.measure()
        self._tell()

    def _placed(self) -> None:
        boxes, audit = self._drawer.places, self._audit
        is_placed = boxes is not None and audit is not None and bool(audit.tokens.ids.size)
        evidence = EvidenceOnPages(self._drawer, audit) if is_placed and audit is not None else None
        for view in (self.view, self.strip):
            view.show_evidence(evidence)
        if self._selection.token is not None:
            self.view.show_from(self._selection.token)
        self._tell()

    def showEvent(self, event: QShowEvent) -> None:
        """Open the document if it is not open yet."""
        super().showEvent(event)
        if self._rest.isActive():
            self._rest.stop()
            self._open()
        elif self._drawer.sizes:
            self._drawer.measure()

    # Words

    def _say(self, message: Failure | str) -> None:
        self.problem.setText(message.words if isinstance(message, Failure) else message)
        is_elsewhere = not isinstance(message, Failure) or message.code == "pages-elsewhere"
        self.choose.setVisible(is_elsewhere)
        self._stack.setCurrentIndex(1)

    def _ask_file(self) -> None:
        ask_file(
            self, translate("Pages", "The file that was examined"), self.use_file, "PDF (*.pdf)"
        )

    def use_file(self, path: Path) -> None:
        """Show the pages of a chosen file if it is the examined one."""
        if self._shown is not None:
            _, sha256, text = self._shown
            self._shown = (path, sha256, text)
            self._drawer.open(path, sha256, text)

    def _tell(self) -> None:
        view = self.view
        self.where.setText(view.summary())
        self.previous.setEnabled(view.page > 0)
        self.next.setEnabled(view.page + 1 < view.pages)
        self.zoom.setCurrentIndex(self.zoom.findData(view.fit))
        self.strip.show_current(view.page)
        view.setAccessibleDescription(self._text.accessibleDescription())
        self.note.setText(self._note())

    def _note(self) -> str:
        """Return why nothing is shaded; empty if something is."""
        if self._audit is None or not self._drawer.sizes or self.view.evidence is not None:
            return ""
        if self._drawer.measured:
            return translate("Pages", "Where the words stand is not known: nothing is shaded.")
        return translate("Pages", "Finding where the words stand …")
