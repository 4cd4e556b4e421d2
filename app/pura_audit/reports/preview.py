"""The preview of a report: its pages, made in a worker thread, kept on screen while renewed."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Final

from PySide6.QtCore import QEvent, QRectF, QSizeF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAccessible,
    QColor,
    QImage,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QFrame,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from pura.report.blocks import render_pages
from pura.usecases.reports import Built
from pura_audit.jobs.queue import Done, Failure, Job, JobContext, JobQueue, Outcome, Stopped, Work
from pura_audit.platform.accessible import set_role
from pura_audit.platform.i18n import filled, translate
from pura_audit.theme.fonts import icon
from pura_audit.theme.theme import GAP, GRID
from pura_audit.widgets.card import ElidedLabel, add_parts, label, progress_bar, row_of
from pura_audit.widgets.form_dialog import combo, plain_button

WIDTH: Final = "width"
PAGE: Final = "page"
ACTUAL: Final = "actual"
_ACTUAL: Final = 96 / 72  # pixels a point at the size of the paper
_KEPT: Final = 12  # pictures that are held at once
_FINEST: Final = 300  # dpi


class PagesView(QAbstractScrollArea):
    """Shows pages, and keeps the old ones until the new ones are drawn.

    Attributes:
        page: Which one is in view, from 0.
        pages: How many there are.

    Signals:
        page_changed: Another page is in view.
        wanted: Some pages on screen are to be drawn; see :meth:`missing`.
    """

    page_changed = Signal()
    wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.page = self.pages = 0
        self._size = QSizeF(595, 842)
        self._fit = WIDTH
        self._edition = 0
        self._stale = False
        self._pictures: dict[int, tuple[int, int, QImage]] = {}  # edition, dpi, picture
        self.setFrameShape(QFrame.Shape.NoFrame)
        set_role(self, QAccessible.Role.Document)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.verticalScrollBar().setSingleStep(4 * GRID)
        self.horizontalScrollBar().setSingleStep(4 * GRID)
        self.verticalScrollBar().valueChanged.connect(self._moved)
        self.horizontalScrollBar().valueChanged.connect(lambda _: self.viewport().update())
        self._name()

    # What is shown

    def show_pages(self, count: int, size: QSizeF) -> None:
        """Show another edition; the place stays."""
        place = self._place()
        self.pages, self._size = count, size
        self._edition += 1
        self._pictures = {p: v for p, v in self._pictures.items() if p < count}
        self._stale = False
        self._measure(place)
        self._name()
        self.page_changed.emit()

    def set_stale(self, stale: bool) -> None:
        """Mark what is shown as being renewed, or as being up to date."""
        self._stale = stale
        self.viewport().update()

    def put(self, page: int, dpi: int, picture: QImage) -> None:
        """Take a page that was drawn."""
        self._pictures[page] = (self._edition, dpi, picture)
        for far in sorted(self._pictures, key=lambda p: -abs(p - self.page))[:-_KEPT]:
            del self._pictures[far]
        self.viewport().update()

    @property
    def dpi(self) -> int:
        """How fine pages must be drawn now."""
        return min(_FINEST, max(24, round(72 * self.scale * self.devicePixelRatioF())))

    def missing(self) -> tuple[int, ...]:
        """Return the pages in view that are not drawn as they should be, the first one first."""
        top = self.verticalScrollBar().value()
        bottom = top + self.viewport().height()
        dpi, pitch = self.dpi, self._high + GAP
        first = max(0, math.ceil((top - pitch) / pitch + 1e-9))
        last = min(self.pages, math.ceil((bottom - GAP) / pitch - 1e-9))
        return tuple(
            page
            for page in range(first, last)
            if self._pictures.get(page, (0, 0))[:2] != (self._edition, dpi)
        )

    # Zoom and place

    @property
    def fit(self) -> str:
        """``width``, ``page`` or ``actual``."""
        return self._fit

    def set_fit(self, fit: str) -> None:
        """Choose how large pages are."""
        place = self._place()
        self._fit = fit
        self._measure(place)

    @property
    def scale(self) -> float:
        """Pixels a point."""
        wide = (self.viewport().width() - 2 * GAP) / self._size.width()
        high = (self.viewport().height() - 2 * GAP - 2) / self._size.height()
        if self._fit == ACTUAL:
            return _ACTUAL
        wanted = min(wide, high) if self._fit == PAGE else min(wide, 2 * _ACTUAL)
        # Whole dots an inch, so that pictures are drawn dot by dot and stay sharp.
        ratio = self.devicePixelRatioF()
        return max(24, math.floor(72 * wanted * ratio)) / 72 / ratio

    def go(self, page: int) -> None:
        """Bring a page to the top."""
        page = max(0, min(page, self.pages - 1))
        self.verticalScrollBar().setValue(round(self._top(page)) - GAP)

    @property
    def _high(self) -> float:
        return self._size.height() * self.scale

    def _top(self, page: int) -> float:
        return GAP + page * (self._high + GAP)

    def _place(self) -> float:
        """Return what is at the top, in pages."""
        return self.verticalScrollBar().value() / max(1.0, self._high + GAP)

    def _measure(self, place: float) -> None:
        view, bar = self.viewport(), self.verticalScrollBar()
        whole = GAP + self.pages * (self._high + GAP)
        bar.setPageStep(max(1, view.height() - 4 * GRID))
        bar.setRange(0, max(0, round(whole - view.height())))
        across = self.horizontalScrollBar()
        across.setPageStep(view.width())
        over = round(self._size.width() * self.scale + 2 * GAP - view.width())
        across.setRange(0, max(0, over) if self._fit == ACTUAL else 0)
        bar.setValue(round(place * (self._high + GAP)))
        self._moved()

    def _moved(self, _value: int = 0) -> None:
        middle = self.verticalScrollBar().value() + self.viewport().height() / 2
        at_end = self.verticalScrollBar().value() >= self.verticalScrollBar().maximum() > 0
        page = self.pages - 1 if at_end else int(middle // max(1.0, self._high + GAP))
        page = max(0, min(page, self.pages - 1))
        if page != self.page:
            self.page = page
            self._name()
            self.page_changed.emit()
        self.viewport().update()
        if self.pages and self.missing():
            self.wanted.emit()

    def summary(self) -> str:
        """Say where one is."""
        if not self.pages:
            return translate("Report", "No pages yet")
        words = translate("Report", "Page {page:count} of {pages:count}")
        return filled(words, page=self.page + 1, pages=self.pages)

    def _name(self) -> None:
        preview = translate("Report", "Preview of the report")
        self.setAccessibleName(f"{preview}. {self.summary()}")

    # Qt

    def event(self, event: QEvent) -> bool:
        """Draw anew on a screen with finer or coarser pixels."""
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self._moved()
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the pages again."""
        place = self._place()
        super().resizeEvent(event)
        self._measure(place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go from page to page, to the first and to the last; the rest scrolls."""
        bar = self.verticalScrollBar()
        match event.key():
            case Qt.Key.Key_Right:
                self.go(self.page + 1)
            case Qt.Key.Key_Left:
                self.go(self.page - 1)
            case Qt.Key.Key_Home:
                bar.setValue(0)
            case Qt.Key.Key_End:
                bar.setValue(bar.maximum())
            case Qt.Key.Key_PageDown | Qt.Key.Key_Space:
                bar.setValue(bar.value() + bar.pageStep())
            case Qt.Key.Key_PageUp:
                bar.setValue(bar.value() - bar.pageStep())
            case _:
                super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll; with Ctrl go between whole pages and their real size."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            order = (PAGE, WIDTH, ACTUAL) if self._wide_is_small() else (PAGE, ACTUAL, WIDTH)
            place = order.index(self._fit) + (1 if event.angleDelta().y() > 0 else -1)
            self.set_fit(order[max(0, min(place, 2))])
            event.accept()
            self.page_changed.emit()
            return
        super().wheelEvent(event)

    def _wide_is_small(self) -> bool:
        return (self.viewport().width() - 2 * GAP) / self._size.width() < _ACTUAL

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the pages in view."""
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        colours, view = self.palette(), self.viewport()
        line = colours.color(QPalette.ColorRole.Mid)
        painter.fillRect(view.rect(), colours.color(QPalette.ColorRole.AlternateBase))
        top, left = self.verticalScrollBar().value(), self.horizontalScrollBar().value()
        wide = self._size.width() * self.scale
        x = max(GAP, (view.width() - wide) / 2) - left
        for page in range(self.pages):
            y = self._top(page) - top
            if y > view.height() or y + self._high < 0:
                continue
            ratio = self.devicePixelRatioF()  # whole pixels, or the picture is blurred
            place = QRectF(*(round(v * ratio) / ratio for v in (x, y, wide, self._high)))
            painter.fillRect(place, QColor("white"))
            found = self._pictures.get(page)
            if found is not None:
                painter.setOpacity(0.45 if self._stale else 1.0)
                spot = place
                if found[1] == self.dpi:
                    spot = QRectF(place.topLeft(), QSizeF(found[2].size()) / ratio)
                painter.drawImage(spot, found[2])
                painter.setOpacity(1.0)
            painter.setPen(QPen(line, 1))
            painter.drawRect(place.adjusted(-0.5, -0.5, 0.5, 0.5))
        if self.hasFocus():
            pen = QPen(colours.color(QPalette.ColorRole.Highlight), 2)
            pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
            painter.setPen(pen)
            painter.drawRect(QRectF(view.rect()).adjusted(1, 1, -1, -1))
        painter.end()


WAIT_MS: Final = 600  # after the last change
POINTS: Final = {"a4": QSizeF(595.28, 841.89), "us-letter": QSizeF(612, 792)}


class ReportPreview(QWidget):
    """Pages, where one is, how large they are, and whether they are up to date.

    Args:
        queue: Where they are made.

    Attributes:
        built: The report on screen, or None.
        failure: Why the last one could not be made, or None.

    Signals:
        made: There is another report, or a failure.
    """

    made = Signal()

    def __init__(self, queue: JobQueue, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._queue = queue
        self._wanted: Work[Built] | None = None
        self._making: Job | None = None
        self._drawing: Job | None = None
        self._drawn_dpi = 0
        self.built: Built | None = None
        self.failure: Failure | None = None
        self.view = PagesView()
        self.view.wanted.connect(self._draw)
        self.view.page_changed.connect(self._tell)
        self.where = label("", "muted")
        self.state = ElidedLabel()
        self.state.setProperty("role", "muted")
        self.previous = self._tool(translate("Report", "Previous page"), -1)
        self.next = self._tool(translate("Report", "Next page"), 1)
        self.zoom = combo(
            (
                (PAGE, translate("Report", "Whole page")),
                (WIDTH, translate("Report", "Page width")),
                (ACTUAL, translate("Report", "Actual size")),
            ),
            WIDTH,
        )
        self.zoom.setAccessibleName(translate("Report", "Size of the pages"))
        self.zoom.activated.connect(lambda _: self.view.set_fit(self.zoom.currentData()))
        self.bar = progress_bar(translate("Report", "Making the preview"), endless=True)
        policy = self.bar.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # nothing jumps when it comes and goes
        self.bar.setSizePolicy(policy)
        self.problem = label("", "attention", wrap=True)
        self.again = plain_button(translate("Report", "Try again"), self.renew)
        self._timer = QTimer(self, singleShot=True, interval=WAIT_MS)
        self._timer.timeout.connect(self.renew)
        self._lay_out()
        self._say(None)
        self._tell()

    def _lay_out(self) -> None:
        title = label(translate("Report", "Preview"), "title")
        right = (self.where, self.previous, self.next, self.zoom)
        head = row_of(title, self.state, None, *right)
        wrong = row_of((self.problem, 1))
        wrong.addWidget(self.again, 0, Qt.AlignmentFlag.AlignTop)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID // 2)
        add_parts(layout, head, wrong, self.bar, (self.view, 1))

    def _tool(self, name: str, by: int) -> QToolButton:
        button = QToolButton()
        button.setProperty("role", "quiet")
        button.setAccessibleName(name)
        button.setToolTip(name)
        button.clicked.connect(lambda: self.view.go(self.view.page + by))
        return button

    # Making

    @property
    def renewing(self) -> bool:
        """Whether what is on screen is about to be replaced."""
        return self._timer.isActive() or self._making is not None

    def want(self, job: Work[Built] | None, *, now: bool = False) -> None:
        """Renew the preview a moment from now; None when there is nothing to be made."""
        self._stop()
        self._wanted = job
        if job is None:
            self._timer.stop()
            self._say(None)
            self.state.setText(translate("Report", "waits for the form") if self.built else "")
            return
        self._timer.start(0 if now else WAIT_MS)
        self._say(None)

    def renew(self) -> None:
        """Make it now."""
        self._timer.stop()
        self._stop()
        wanted = self._wanted
        if wanted is not None:
            self._making = self._queue.do(wanted, self._made_one, self)
        self._say(None)

    def _stop(self) -> None:
        if self._making is not None:
            self._making.drop()
            self._making = None

    def _stop_drawing(self) -> None:
        if self._drawing is not None:
            self._drawing.drop()
            self._drawing = None

    def close_down(self) -> None:
        """Want nothing any more."""
        self._timer.stop()
        self._stop()
        self._stop_drawing()
        self._wanted = None

    def _made_one(self, outcome: Outcome[Built]) -> None:
        self._making = None
        match outcome:
            case Done(built):
                self.built = built
                self._say(None)
                self._stop_drawing()
                self.view.show_pages(built.pages, POINTS[built.request.paper])
                self._draw()
            case Failure():
                self._say(outcome)
            case Stopped():
                return
        self.made.emit()

    def _draw(self) -> None:
        missing = self.view.missing()
        if self.built is None or not missing or self.renewing:
            return
        if self._drawing is not None:
            if self._drawn_dpi == self.view.dpi:
                return
            self._stop_drawing()
        pdf, dpi = self.built.report.pdf, self.view.dpi
        self._drawn_dpi = dpi
        self._drawing = self._queue.do(
            lambda context: draw_pages(pdf, missing, dpi, self._put, context), self._drawn, self
        )

    def _put(self, page: int, picture: QImage) -> None:
        self.view.put(page, self._drawn_dpi, picture)

    def _drawn(self, outcome: Outcome[None]) -> None:
        self._drawing = None
        if isinstance(outcome, Failure):
            self._say(outcome)
        else:
            self._draw()

    # Words

    def _say(self, failure: Failure | None) -> None:
        self.failure = failure
        words = failure.words if failure is not None else ""
        self.problem.setText(words)
        self.problem.setVisible(bool(words))
        self.again.setVisible(bool(words))
        old = self.renewing or failure is not None
        self.view.set_stale(old and self.built is not None)
        if failure is not None:
            state = translate("Report", "from before the last change") if self.built else ""
        elif self.renewing and self.built is None:
            state = translate("Report", "being made …")
        else:
            state = translate("Report", "being renewed …") if self.renewing else ""
        self.state.setText(state)
        self.bar.setVisible(self._making is not None)

    def point_to_form(self) -> None:
        """Leave the words of the failure to the form, which has said them in their place."""
        self.problem.setText(translate("Report", "The form says what is to be mended."))
        self.again.hide()

    def _tell(self) -> None:
        view = self.view
        self.where.setText(view.summary())
        self.previous.setEnabled(view.page > 0)
        self.next.setEnabled(view.page + 1 < view.pages)
        self.zoom.setCurrentIndex(self.zoom.findData(view.fit))
        self._apply_style()

    def _apply_style(self) -> None:
        colour = self.palette().color(QPalette.ColorRole.Text).name()
        self.previous.setIcon(icon("up", colour))
        self.next.setIcon(icon("down", colour))

    def changeEvent(self, event: QEvent) -> None:
        """Follow the colours."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "next"):
            self._apply_style()


def draw_pages(
    pdf: bytes,
    pages: tuple[int, ...],
    dpi: int,
    show: Callable[[int, QImage], None],
    context: JobContext,
) -> None:
    """Draw pages (from 0), and show each of them as soon as it is there."""
    for page in pages:
        context.checkpoint()
        png = render_pages(pdf, dpi=dpi, pages=range(page, page + 1))[0]
        context.post(partial(show, page, QImage.fromData(png)))
