"""The strip: the whole document in the height of the card, and what of it is on screen."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QHelpEvent,
    QImage,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QSizePolicy, QToolTip, QWidget

from pura_audit.platform.i18n import filled, translate
from pura_audit.session.selection import Selection
from pura_audit.theme.colours import mix
from pura_audit.theme.theme import BADGE, Theme, mark_pen, paint_badge
from pura_audit.workbench.text.text_canvas import STEPS
from pura_audit.workbench.text.text_view import TextView

BAR: Final = 28
BRACKET: Final = 6  # room of the brackets left of the bar
FULL: Final = 60  # characters from which a line is as grey as any


class _Sums(NamedTuple):
    """What the lines of a text hold, each float64 [N]."""

    filled: npt.NDArray[np.float64]
    evidence: npt.NDArray[np.float64]
    carriers: npt.NDArray[np.float64]
    marked: npt.NDArray[np.float64]


class DocumentStrip(QWidget):
    """Every line of a text as a row of colour; a press goes there.

    Rows stand for lines, not for tokens, so that the frame of what is on screen is where the text
    is. Evidence is shaded inside the passages of marks only: the rest of a text says nothing, and a
    strip that is orange from end to end would say something.
    """

    def __init__(self, view: TextView, selection: Selection, theme: Theme) -> None:
        super().__init__()
        self._view, self._selection, self._theme = view, selection, theme
        self._rows: npt.NDArray[np.int8] | None = None
        self._sums: _Sums | None = None
        self._grey = np.empty(0)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(translate("Text", "The whole text"))
        view.laid_out.connect(self._forget)
        for signal in (view.moved, selection.changed, selection.mark_changed, theme.changed):
            signal.connect(self.update)

    def sizeHint(self) -> QSize:
        """Return the width of bar, brackets and numbers."""
        return QSize(BADGE + BRACKET + BAR + 2, 120)

    def _forget(self) -> None:
        self._rows = self._sums = None
        self.setAccessibleDescription(self._words())
        self.update()

    # What a row says

    def levels(self) -> npt.NDArray[np.int8]:
        """Return the shade of every row: -4 … 4 inside passages, 0 elsewhere; int8 [H]."""
        if self._rows is None or self._rows.size != self._height():
            self._rows = self._shades(self._height())
        return self._rows

    def _shades(self, height: int) -> npt.NDArray[np.int8]:
        if self._sums is None:
            self._sums = self._sum_lines()
        sums, lines = self._sums, self._sums.filled.size
        edges = np.linspace(0, lines, height + 1)
        first = np.minimum(np.floor(edges[:-1]).astype(np.int64), lines - 1)
        last = np.maximum(np.ceil(edges[1:] - 1e-9).astype(np.int64), first + 1)
        self._grey = _means(sums.filled, np.ones(lines), first, last)
        mean = _means(sums.evidence, sums.carriers, first, last)
        size = np.maximum(np.searchsorted(STEPS, np.abs(mean), side="right"), 1)
        level = np.where(mean < 0, -size, size)
        here = _means(sums.marked, np.ones(lines), first, last) > 0
        return np.where(here, level, 0).astype(np.int8)

    def _sum_lines(self) -> _Sums:
        """Sum up what the tokens of each line say; a change of height needs no more than that."""
        starts = self._view.line_starts()
        lines = starts.size - 1
        full = np.minimum(np.diff(starts), FULL) / FULL
        audit, places = self._selection.audit, self._view.token_starts()
        if audit is None or not self._view.shading or not places.size or not starts[-1]:
            return _Sums(full, *np.zeros((3, lines)))
        # Tokens stand in the order of the text: those of each line are a stretch.
        edges = np.searchsorted(places, starts[:-1])
        line = np.repeat(np.arange(lines), np.diff(np.append(edges, places.size)))
        inside = np.zeros(places.size + 1, dtype=np.int64)
        for _, passage in self._view.passages:
            inside[passage.first_token] += 1
            inside[passage.last_token + 1] -= 1
        marked = np.cumsum(inside[:-1]) > 0
        carries = np.zeros(places.size, dtype=bool)
        carries[audit.steps.token] = True
        evidence = np.where(marked, audit.tokens.log10_evidence, 0.0)
        values = (evidence, marked & carries, marked)
        return _Sums(full, *(np.bincount(line, v, lines).astype(np.float64) for v in values))

    def _words(self) -> str:
        count = len(self._view.passages)
        if not count:
            return translate("Text", "No passage is marked.")
        words = translate(
            "Text",
            "{n:plural(One passage is|{n:count} passages are)} marked; the first begins at "
            "{share:text} % of the text.",
        )
        begin = self._view.passages[0][1].start / max(1, int(self._view.line_starts()[-1]))
        return filled(words, n=count, share=round(100 * begin))

    # Painting

    def _bar(self) -> QRectF:
        return QRectF(BADGE + BRACKET, 0, BAR, self.height())

    def _height(self) -> int:
        return max(1, round(self.height() * self.devicePixelRatioF()))

    def _y(self, line: float) -> float:
        return line / max(1, self._view.line_starts().size - 1) * self.height()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw rows, brackets, search hits, the selected token and the frame."""
        bar, image = self._bar(), self._image()  # a fault in it must not leave a painter open
        painter = QPainter(self)
        painter.drawImage(bar, image)
        painter.setPen(QPen(self._theme.colour("line"), 1))
        painter.drawRect(bar.adjusted(0.5, 0.5, -0.5, -0.5))
        self._paint_brackets(painter)
        self._paint_places(painter)
        top, bottom = self._view.lines_on_screen()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._theme.colour("text"), 2))
        upper = self._y(top)
        frame = QRectF(bar.left() - 2, upper, BAR + 4, max(8.0, self._y(bottom) - upper))
        frame.moveBottom(min(frame.bottom(), self.height() - 1))
        frame.setTop(max(1.0, frame.top()))
        painter.drawRoundedRect(frame, 3, 3)
        painter.end()

    def _image(self) -> QImage:
        levels, tokens = self.levels(), self._theme.tokens
        quiet = [mix(tokens.card, tokens.muted, 0.04 * step) for step in range(6)]
        colours = np.array([QColor(tokens.shade(level)).rgb() for level in range(-4, 5)])
        greys = np.array([QColor(colour).rgb() for colour in quiet])
        shade = np.rint(self._grey * 5).astype(np.int64)
        row = np.where(levels == 0, greys[shade], colours[levels.astype(np.int64) + 4])
        pixels = row.astype(np.uint32)
        image = QImage(pixels.tobytes(), 1, pixels.size, 4, QImage.Format.Format_RGB32)
        return image.copy()  # the bytes belong to this call

    def _paint_brackets(self, painter: QPainter) -> None:
        passages = self._view.passages if self._view.shading else ()
        starts = self._view.line_starts()
        if not passages or not starts[-1]:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        x = BADGE + BRACKET - 4
        several = max(number for number, _ in passages) > 0
        ends = np.array([(p.start, max(p.start, p.end - 1)) for _, p in passages])
        lines = np.searchsorted(starts, ends, side="right") - 1
        numbers = np.array([number for number, _ in passages])
        # A long text has a thousand passages on a few hundred pixels: what touches is one line.
        found = sorted(
            (top, bottom, number)
            for number in np.unique(numbers).tolist()
            for top, bottom in self._stretches(lines[numbers == number])
        )
        free = -1.0
        for top, bottom, number in found:
            bold = several and number == self._selection.mark
            painter.setPen(mark_pen(self._theme, number, 3 if bold else 2))
            painter.drawLine(x, top, x, bottom)
            if several and (top + bottom) / 2 - BADGE / 2 > free:
                at = min(max(0.0, (top + bottom) / 2 - BADGE / 2), self.height() - BADGE)
                paint_badge(painter, self._theme, number, QRectF(0, at, BADGE, BADGE))
                free = at + BADGE

    def _stretches(self, lines: npt.NDArray[np.int64]) -> list[tuple[int, int]]:
        """Return from where to where passages lie, in pixels; 3 at least, what touches is one.

        Args:
            lines: int64 [P, 2], first and last line of every passage.
        """
        scale = self.height() / max(1, self._view.line_starts().size - 1)
        tops = np.rint(lines[:, 0] * scale).astype(np.int64)
        bottoms = np.maximum(np.rint((lines[:, 1] + 1) * scale).astype(np.int64), tops + 3)
        steps = np.zeros(int(bottoms.max()) + 2, dtype=np.int64)
        np.add.at(steps, tops, 1)
        np.add.at(steps, bottoms + 1, -1)
        edges = np.diff(np.concatenate(([0], np.cumsum(steps) > 0, [0])).astype(np.int64))
        starts, ends = np.flatnonzero(edges > 0), np.flatnonzero(edges < 0) - 1
        return list(zip(starts.tolist(), ends.tolist(), strict=True))

    def _paint_places(self, painter: QPainter) -> None:
        bar = self._bar()
        starts = self._view.line_starts()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        if self._view.matches:
            hits = np.searchsorted(starts, self._view.matches, side="right") - 0.5
            painter.setPen(QPen(self._theme.colour("repaired"), 2))
            for y in {round(self._y(line)) for line in hits.tolist()}:
                painter.drawLine(round(bar.right()) - 9, y, round(bar.right()) - 1, y)
        if (spans := self._view.differences.spans).size:
            found = np.searchsorted(starts, spans[:, 0], side="right") - 0.5
            painter.setPen(QPen(self._theme.colour("text"), 2))
            for y in {round(self._y(line)) for line in found.tolist()}:
                painter.drawLine(round(bar.left()) + 1, y, round(bar.left()) + 6, y)
        token, places = self._selection.token, self._view.token_starts()
        if token is not None and token < places.size:
            line = np.searchsorted(starts, places[token], side="right") - 0.5
            painter.setPen(QPen(self._theme.colour("accent"), 2))
            y = round(self._y(float(line)))
            painter.drawLine(round(bar.left()) + 1, y, round(bar.right()) - 1, y)

    # Going there

    def _line_at(self, y: float) -> float:
        return y / max(1, self.height()) * (self._view.line_starts().size - 1)

    def _go(self, point: QPointF) -> None:
        self._view.show_middle(self._line_at(point.y()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Bring that part of the text on screen."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._go(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Follow the pointer."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._go(event.position())

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll the text."""
        QApplication.sendEvent(self._view.verticalScrollBar(), event)

    def event(self, event: QEvent) -> bool:
        """Say what stands under the pointer."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self.words_at(event.pos().y()), self)
            return True
        return super().event(event)

    def words_at(self, y: float) -> str:
        """Say which part of the text a height of the strip stands for."""
        starts = self._view.line_starts()
        place = int(starts[min(int(self._line_at(y)), starts.size - 2)])
        words = translate("Text", "{share:text} % of the text")
        words = filled(words, share=round(100 * place / max(1, int(starts[-1]))))
        end = int(starts[min(int(self._line_at(y)) + 1, starts.size - 1)])
        here = (n for n, p in self._view.passages if p.start < end and place < p.end)
        number = next(here, None)
        if number is None:
            return words
        return words + " · " + filled(translate("Text", "mark {n:text}"), n=number + 1)


def _means(
    values: npt.NDArray[Any],
    weights: npt.NDArray[Any],
    first: npt.NDArray[np.int64],
    last: npt.NDArray[np.int64],
) -> npt.NDArray[np.float64]:
    """Return the sum of values over the sum of weights of each range of lines; 0 for none."""
    sums = np.concatenate(([0.0], np.cumsum(values)))
    counts = np.concatenate(([0.0], np.cumsum(weights)))
    total, count = sums[last] - sums[first], counts[last] - counts[first]
    means: npt.NDArray[np.float64] = total / np.maximum(count, 1e-12)
    return means
