"""A scrolling view of a document's pages; its owner draws the pages."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from PySide6.QtCore import QEvent, QPointF, QRectF, QSizeF, Qt, Signal
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
from PySide6.QtWidgets import QAbstractScrollArea, QComboBox, QFrame

from pura_audit.platform.accessible import set_role
from pura_audit.platform.i18n import filled, translate
from pura_audit.theme.theme import GAP, GRID
from pura_audit.widgets.card import focus_ring
from pura_audit.widgets.form_dialog import combo

WIDTH: Final = "width"
PAGE: Final = "page"
ACTUAL: Final = "actual"
_ACTUAL: Final = 96 / 72  # pixels a point at the size of the paper
# Of the drawn pages, those nearest to the page in view are kept, up to a number and a size.
_MAX_PICTURES, _MAX_PICTURE_BYTES = 12, 160 << 20
_FINEST: Final = 300  # dpi
_MOST_PIXELS: Final = 16_000_000  # of one picture; what is larger is drawn coarser


def zoom_box(larger: Sequence[str] = ()) -> QComboBox:
    """Return a choice of page sizes.

    Args:
        larger: Further sizes in per cent of the paper size.
    """
    box = combo(
        (
            (PAGE, translate("Report", "Whole page")),
            (WIDTH, translate("Report", "Page width")),
            (ACTUAL, translate("Report", "Actual size")),
            *((percent, f"{percent} %") for percent in larger),
        ),
        WIDTH,
    )
    box.setAccessibleName(translate("Report", "Size of the pages"))
    return box


class PagesView(QAbstractScrollArea):
    """A view of pages that keeps old pictures until new ones are drawn.

    Args:
        name: Accessible name of the view.

    Attributes:
        page: Number of the page in view, from 0.
        ahead: Number of pages before and after the visible ones that are also drawn.
        between: Pixels below each page.

    Signals:
        page_changed: The view shows another page.
        wanted: Pages have to be drawn; see :meth:`missing`.
    """

    page_changed = Signal()
    wanted = Signal()

    def __init__(self, name: str) -> None:
        super().__init__()
        self._called = name
        self.page = self.ahead = 0
        self.between = GAP
        self._sizes: tuple[QSizeF, ...] = ()
        self._tops = [float(GAP)]
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

    @property
    def pages(self) -> int:
        """Number of pages."""
        return len(self._sizes)

    def show_pages(self, sizes: Sequence[QSizeF]) -> None:
        """Show another edition of the document at the same position.

        Args:
            sizes: Size of every page in points.
        """
        scroll = self._place()
        self._sizes = tuple(sizes)
        self._edition += 1
        self._pictures = {p: v for p, v in self._pictures.items() if p < self.pages}
        self._stale = False
        self._measure(scroll)
        self._name()
        self.page_changed.emit()

    def set_stale(self, stale: bool) -> None:
        """Mark the pages as outdated or as up to date."""
        self._stale = stale
        self.viewport().update()

    def put(self, page: int, dpi: int, picture: QImage) -> None:
        """Store the picture of a page."""
        self._pictures[page] = (self._edition, dpi, picture)
        total_bytes = 0
        for number, nearest in enumerate(sorted(self._pictures, key=lambda p: abs(p - self.page))):
            total_bytes += self._pictures[nearest][2].sizeInBytes()
            if number >= _MAX_PICTURES or (number and total_bytes > _MAX_PICTURE_BYTES):
                del self._pictures[nearest]
        self.viewport().update()

    def dpi(self, page: int) -> int:
        """Return the resolution, in dots per inch, at which a page must be drawn."""
        size = self._sizes[page]
        largest = 72 * math.sqrt(_MOST_PIXELS / (size.width() * size.height()))
        exact = round(72 * self.scale(page) * self.devicePixelRatioF())
        return max(1, min(_FINEST, math.floor(largest), exact))

    def in_view(self) -> range:
        """Return the numbers of the visible pages."""
        top = self.verticalScrollBar().value()
        first = bisect_right(self._tops, top) - 1
        if first >= 0 and first < self.pages and self._bottom(first) <= top:
            first += 1
        last = bisect_right(self._tops, top + self.viewport().height() - 1)
        return range(max(0, first), min(self.pages, last))

    def missing(self) -> tuple[int, ...]:
        """Return the pages without an up-to-date picture, visible pages first."""
        visible = self.in_view()
        around = [
            page
            for distance in range(1, self.ahead + 1)
            for page in (visible.stop - 1 + distance, visible.start - distance)
            if 0 <= page < self.pages
        ]
        return tuple(
            page
            for page in (*visible, *around)
            if self._pictures.get(page, (0, 0))[:2] != (self._edition, self.dpi(page))
        )

    # Zoom and place

    @property
    def fit(self) -> str:
        """:data:`WIDTH`, :data:`PAGE`, :data:`ACTUAL`, or a number of per cent."""
        return self._fit

    def set_fit(self, fit: str) -> None:
        """Set the size of the pages."""
        scroll = self._place()
        self._fit = fit
        self._measure(scroll)

    def fits(self) -> Sequence[str]:
        """Return all page sizes."""
        return (PAGE, WIDTH, ACTUAL)

    def zoom(self, step: int) -> None:
        """Change to a larger (1) or smaller (-1) size; 0 fits the width of the view."""
        page = min(self.page, self.pages - 1)
        if page < 0:
            return
        if not step:
            self.set_fit(WIDTH)
        order = sorted(self.fits(), key=lambda fit: self._scaled(page, fit))
        index = order.index(self._fit) + step
        self.set_fit(order[max(0, min(index, len(order) - 1))])
        self.page_changed.emit()

    def scale(self, page: int) -> float:
        """Return the scale of a page in pixels a point."""
        return self._scaled(page, self._fit)

    def _scaled(self, page: int, fit: str) -> float:
        if fit not in (WIDTH, PAGE):
            return _ACTUAL if fit == ACTUAL else _ACTUAL * int(fit) / 100
        size = self._sizes[page]
        wide = (self.viewport().width() - 2 * GAP) / size.width()
        high = (self.viewport().height() - 2 * GAP - 2) / size.height()
        scale = min(wide, high) if fit == PAGE else min(wide, 2 * _ACTUAL)
        # Whole dots an inch, so that pictures are drawn dot by dot and stay sharp.
        ratio = self.devicePixelRatioF()
        return max(1, math.floor(72 * scale * ratio)) / 72 / ratio

    def go(self, page: int) -> None:
        """Scroll to the top of a page."""
        page = max(0, min(page, self.pages - 1))
        self.verticalScrollBar().setValue(round(self._tops[page]) - GAP)

    def place_of(self, page: int) -> QRectF:
        """Return the rectangle of a page in the viewport."""
        wide = self._sizes[page].width() * self.scale(page)
        x = max(GAP, (self.viewport().width() - wide) / 2) - self.horizontalScrollBar().value()
        y = self._tops[page] - self.verticalScrollBar().value()
        ratio = self.devicePixelRatioF()  # whole pixels, or the picture is blurred
        high = self._bottom(page) - self._tops[page]
        return QRectF(*(round(v * ratio) / ratio for v in (x, y, wide, high)))

    def page_at(self, point: QPointF) -> int | None:
        """Return the page under a point of the viewport."""
        return next((p for p in self.in_view() if self.place_of(p).contains(point)), None)

    def show_box(self, page: int, box: QRectF) -> None:
        """Scroll a part of a page into view.

        Args:
            page: Number of the page.
            box: The part, in fractions of the page.
        """
        rect = self.place_of(page)
        for bar, low, high, room in (
            (
                self.verticalScrollBar(),
                rect.top() + box.top() * rect.height(),
                rect.top() + box.bottom() * rect.height(),
                self.viewport().height(),
            ),
            (
                self.horizontalScrollBar(),
                rect.left() + box.left() * rect.width(),
                rect.left() + box.right() * rect.width(),
                self.viewport().width(),
            ),
        ):
            if low < 0 or high > room:  # to the upper, or the left, third
                bar.setValue(round(bar.value() + low - room / 3))

    def _bottom(self, page: int) -> float:
        return self._tops[page + 1] - self.between

    def _place(self) -> float:
        """Return the scroll position in pages."""
        top = self.verticalScrollBar().value()
        page = max(0, min(bisect_right(self._tops, top + GAP) - 1, self.pages - 1))
        if not self.pages:
            return 0.0
        return page + (top + GAP - self._tops[page]) / (self._tops[page + 1] - self._tops[page])

    def _measure(self, scroll: float) -> None:
        view, bar = self.viewport(), self.verticalScrollBar()
        highs = (size.height() * self.scale(p) for p, size in enumerate(self._sizes))
        self._tops = [*accumulate((high + self.between for high in highs), initial=float(GAP))]
        bar.setPageStep(max(1, view.height() - 4 * GRID))
        bar.setRange(0, max(0, round(self._tops[-1] - self.between + GAP - view.height())))
        across = self.horizontalScrollBar()
        across.setPageStep(view.width())
        widest = max(
            (size.width() * self.scale(p) for p, size in enumerate(self._sizes)), default=0.0
        )
        over = round(widest + 2 * GAP - view.width())
        across.setRange(0, 0 if self._fit in (WIDTH, PAGE) else max(0, over))
        page = max(0, min(int(scroll), self.pages - 1))
        if self.pages:
            pitch = self._tops[page + 1] - self._tops[page]
            bar.setValue(round(self._tops[page] - GAP + (scroll - page) * pitch))
        self._moved()

    def _moved(self, _value: int = 0) -> None:
        middle = self.verticalScrollBar().value() + self.viewport().height() / 2
        at_end = self.verticalScrollBar().value() >= self.verticalScrollBar().maximum() > 0
        page = self.pages - 1 if at_end else bisect_right(self._tops, middle) - 1
        page = max(0, min(page, self.pages - 1))
        if page != self.page:
            self.page = page
            self._name()
            self.page_changed.emit()
        self.viewport().update()
        if self.pages and self.missing():
            self.wanted.emit()

    def summary(self) -> str:
        """Return the position in words."""
        if not self.pages:
            return translate("Pages", "No pages yet")
        text = translate("Pages", "Page {page:count} of {pages:count}")
        return filled(text, page=self.page + 1, pages=self.pages)

    def _name(self) -> None:
        self.setAccessibleName(f"{self._called}. {self.summary()}")

    # Qt

    def event(self, event: QEvent) -> bool:
        """Draw the pages again on a screen of another resolution."""
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self._moved()
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the pages again."""
        scroll = self._place()
        super().resizeEvent(event)
        self._measure(scroll)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move to another page, or scroll."""
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
        """Scroll, or zoom with Ctrl."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom(1 if event.angleDelta().y() > 0 else -1)
            event.accept()
            return
        super().wheelEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the visible pages."""
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        colours, view = self.palette(), self.viewport()
        line = colours.color(QPalette.ColorRole.Mid)
        painter.fillRect(view.rect(), colours.color(QPalette.ColorRole.AlternateBase))
        for page in self.in_view():
            rect = self.place_of(page)
            painter.fillRect(rect, QColor("white"))
            picture = self._pictures.get(page)
            if picture is not None:
                painter.setOpacity(0.45 if self._stale else 1.0)
                size = QSizeF(picture[2].size()) / self.devicePixelRatioF()
                off = max(abs(size.width() - rect.width()), abs(size.height() - rect.height()))
                painter.drawImage(QRectF(rect.topLeft(), size) if off < 1 else rect, picture[2])
                painter.setOpacity(1.0)
            self.paint_over(painter, page, rect)
            painter.setPen(QPen(line, 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(rect.adjusted(-0.5, -0.5, 0.5, 0.5))
        if self.hasFocus():
            focus_ring(painter, colours.color(QPalette.ColorRole.Highlight), view.rect())
        painter.end()

    def paint_over(self, painter: QPainter, page: int, rect: QRectF) -> None:
        """Draw an overlay on a page."""
