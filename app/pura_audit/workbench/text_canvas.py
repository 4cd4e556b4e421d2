"""Draws a text with tokens shaded by evidence; only visible lines are shaped and drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
    QTextLayout,
    QTextLine,
)
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from pura.record.audit import Audit
from pura.record.naming import Passage
from pura_audit.platform.i18n import translate
from pura_audit.session.selection import Selection
from pura_audit.theme import fonts
from pura_audit.theme.theme import BADGE, Theme, mark_pen, mix, paint_badge
from pura_audit.widgets.card import focus_ring, ringed
from pura_audit.widgets.text_layout import PIECE, Breaker, Lines, advances, safe_text

MARGIN: Final = 20  # left of the text: room for the brackets of passages
MAX_COLUMNS: Final = 90  # average characters of the longest line
LEADING: Final = 1.75  # line height as a multiple of the text size
LONG: Final = PIECE  # characters; a longer text is broken while the window goes on
REST_MS: Final = 60  # after the last change of size, before the text is broken again
NO_LINES: Final = Lines(np.array([0, 0], dtype=np.int64))
# log10 evidence from which a token has the next darker shade
STEPS: Final = (0.02, 0.15, 0.4, 0.8)
_NO_SPANS: Final = np.zeros((0, 2), dtype=np.int64)
FRAMED: Final = 200  # characters that are underlined or framed; beside more of them stands a line
Span = tuple[int, int]


@dataclass(frozen=True, kw_only=True, eq=False)
class Differences:
    """The differences of a text from the one beside it.

    Attributes:
        spans: int64 [D, 2], characters, rising; empty where the other text has more.
        one_sided: bool [D], whether only this text has the span.
    """

    spans: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))
    one_sided: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))


@dataclass
class _Shaped:
    """A shaped line, with the positions of its characters and tokens."""

    layout: QTextLayout
    line: QTextLine
    start: int
    end: int
    units: npt.NDArray[np.int64] | None  # UTF-16 place of each character; None when they agree
    tokens: tuple[tuple[int, float, float], ...] = ()  # number, left and right edge

    def unit(self, character: int) -> int:
        inside = max(0, min(character, self.end) - self.start)
        return inside if self.units is None else int(self.units[inside])

    def x(self, character: int) -> float:
        # The stub calls the pair that Qt returns an object.
        position: Any = self.line.cursorToX(self.unit(character))
        return float(position[0] if isinstance(position, tuple) else position)


def hatching(theme: Theme) -> QBrush:
    """Return the hatching of empty lines and of pieces that were left out."""
    colour = QColor(mix(theme.tokens.card, theme.tokens.muted, 0.4))
    return QBrush(colour, Qt.BrushStyle.BDiagPattern)


def levels(audit: Audit) -> npt.NDArray[np.int8]:
    """Return the shade of every token, -4 … 4; int8 [L]."""
    evidence = audit.tokens.log10_evidence
    size = np.searchsorted(STEPS, np.abs(evidence), side="right")
    return np.where(evidence < 0, -size, size).astype(np.int8)


class TextCanvas(QAbstractScrollArea):
    """A view that lays out and draws a text, with or without an audit.

    Signals:
        zoomed: The size of the text was changed.
        broken: The text was broken into lines again, without empty lines.
        laid_out: The lines or the shades have changed.
        moved: The visible part or the marked matches have changed.
    """

    zoomed = Signal(int)
    broken = Signal()
    laid_out = Signal()
    moved = Signal()

    def __init__(self, selection: Selection, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._selection, self._theme = selection, theme
        self._text, self._safe = "", ""
        self._own = self._lines = NO_LINES  # of the text; and with those that are left empty
        self._empty = np.zeros(1, dtype=bool)  # which these are
        self._differences = Differences()
        self._shown: Span | None = None  # of the difference that is looked at
        self._shaped: dict[int, _Shaped] = {}  # lines of the last paint
        self._line_width = 0.0
        self._settled = QTimer(self, singleShot=True, interval=REST_MS)
        self._settled.timeout.connect(self._relayout)
        self._breaker: Breaker | None = None
        self._breaking: Iterator[None] = iter(())
        self._turn = QTimer(self, singleShot=True, interval=0)  # others have their turn between
        self._turn.timeout.connect(self._go_on)
        self._levels = np.empty(0, dtype=np.int8)
        self._starts = self._ends = np.empty(0, dtype=np.int64)
        self.passages: tuple[tuple[int, Passage], ...] = ()
        self._several = False
        self._excluded = _NO_SPANS  # pieces that a rule left out
        self._read = 0  # characters that were read; the others are greyed
        self._size = fonts.READING
        self._font = fonts.face(self._size)
        self.matches: tuple[int, ...] = ()
        self._needle = 0
        self.chosen = (0, 0)  # characters that a copy takes
        self.shading = True
        self.drawn = 0  # fragments of the last paint, for tests
        self.setFrameShape(QAbstractScrollArea.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self.viewport().setAutoFillBackground(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # The strip beside the text is its scroll bar.
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalScrollBar().valueChanged.connect(lambda _: self.moved.emit())
        self.setAccessibleName(translate("Text", "Text"))
        theme.changed.connect(self._forget)
        selection.mark_changed.connect(self.viewport().update)

    # What is shown

    def show_text(self, text: str, audit: Audit | None) -> None:
        """Show a text; with an audit its tokens are shaded and can be selected."""
        if text is not self._text:
            self._text, self._safe = text, safe_text(text)
            self.chosen = (0, 0)
            self._take(NO_LINES)
            self._differences, self._shown = Differences(), None
            self._measure()
            self.verticalScrollBar().setValue(0)
        if audit is not None:
            self._levels = levels(audit)
            self._starts, self._ends = audit.tokens.spans[:, 0], audit.tokens.spans[:, 1]
        else:
            self._levels = np.empty(0, dtype=np.int8)
            self._starts = self._ends = np.empty(0, dtype=np.int64)
        self.passages = audit.finding.passages if audit is not None else ()
        pieces = audit.input.excluded if audit is not None else ()
        spans = [(piece.start, piece.end) for piece in pieces if piece.end <= len(text)]
        self._excluded = np.array(spans, dtype=np.int64) if spans else _NO_SPANS
        self._several = audit is not None and len(audit.finding.marks) > 1
        early = audit is not None and audit.stopped is not None and self._ends.size
        self._read = int(self._ends[-1]) if early else len(text)
        self.matches = ()
        self._forget()
        self.laid_out.emit()

    @property
    def text(self) -> str:
        """The text on screen."""
        return self._text

    def set_shading(self, shading: bool) -> None:
        """Show or hide the shading."""
        self.shading = shading
        self.viewport().update()
        self.laid_out.emit()

    def set_text_size(self, size: int) -> None:
        """Set the size of the text in pixels."""
        size = max(fonts.SMALLEST, min(fonts.LARGEST, size))
        if size != self._size:
            self._size = size
            self._font = fonts.face(size)
            self._measure()
            self.zoomed.emit(size)

    @property
    def text_size(self) -> int:
        """Size of the text in pixels."""
        return self._size

    def mark_matches(self, search: str) -> int:
        """Mark all matches of a search, ignoring case; return their number."""
        matches: list[int] = []
        if search:
            text, needle = self._text.lower(), search.lower()
            position = (
                text.find(needle) if len(text) == len(self._text) else self._text.find(search)
            )
            haystack = text if len(text) == len(self._text) else self._text
            needle = needle if haystack is text else search
            while position >= 0 and len(matches) < 10_000:
                matches.append(position)
                position = haystack.find(needle, position + max(1, len(needle)))
        self.matches, self._needle = tuple(matches), len(search)
        self.viewport().update()
        self.moved.emit()
        return len(matches)

    # Geometry

    @property
    def line_height(self) -> int:
        """Height of a line in pixels."""
        return round(self._size * LEADING)

    def _measure(self) -> None:
        self._breaker = None
        self._line_width = 0.0
        self._relayout()

    def _relayout(self) -> None:
        """Break the text into lines; a long text in turns with the event loop."""
        column = MAX_COLUMNS * self._size * 0.52
        room = max(80.0, min(column, self.viewport().width() - MARGIN - 8))
        if room == self._line_width:
            if not self.laying:
                self._laid()
            return
        self._line_width = room
        self._breaking = self._break(room)
        if len(self._text) > LONG:
            self._turn.start()
        else:
            for _ in self._breaking:
                pass

    @property
    def laying(self) -> bool:
        """Whether the text is being broken; meanwhile the old lines stay, a new text has none."""
        return self._turn.isActive()

    def _go_on(self) -> None:
        if next(self._breaking, self) is not self:
            self._turn.start()

    def _break(self, room: float) -> Iterator[None]:
        if self._breaker is None:
            self._breaker = Breaker(self._text, advances(self._safe, self._font))
            yield
        line_starts = []
        for piece in self._breaker.pieces(room):
            line_starts.append(piece)
            yield
        self._take(Lines(np.concatenate(line_starts)))
        self._turn.stop()
        self._laid()
        self.broken.emit()

    def _take(self, lines: Lines) -> None:
        self._own = self._lines = lines
        self._empty = np.zeros(len(lines), dtype=bool)

    # Beside another text

    def own_starts(self) -> npt.NDArray[np.int64]:
        """Return :meth:`line_starts` of the text without a text beside it."""
        return self._own.starts

    def level(self, breaks: Sequence[int], empty: Sequence[int]) -> None:
        """Lay out the lines so that common parts of two texts are at the same height.

        Args:
            breaks: Characters that begin an additional line.
            empty: For each empty line, the character that begins the line after it, or
                the length of the text after the last line.
        """
        natural = self._own.starts
        starts = np.append(np.union1d(natural[:-1], np.array(breaks, dtype=np.int64)), natural[-1])
        before = np.sort(np.searchsorted(starts, np.array(empty, dtype=np.int64)))
        self._lines = Lines(np.insert(starts, before, starts[before]))
        self._empty = np.zeros(len(self._lines), dtype=bool)
        self._empty[before + np.arange(before.size)] = True
        self._laid()

    def show_differences(self, differences: Differences) -> None:
        """Mark the differences from another text."""
        self._differences, self._shown = differences, None
        self.viewport().update()
        self.moved.emit()

    @property
    def differences(self) -> Differences:
        """The differences from another text."""
        return self._differences

    def show_difference(self, span: Span | None) -> None:
        """Highlight a difference; an empty span is a position between two characters."""
        self._shown = span
        self.viewport().update()

    def _laid(self) -> None:
        bar, below = self.verticalScrollBar(), self.viewportMargins().bottom()
        rest = (self.viewport().height() + below - 4) % self.line_height
        if rest != below:
            self.setViewportMargins(0, 0, 0, rest)  # no line is cut at the foot
        height = len(self._lines) * self.line_height + 4
        bar.setPageStep(self.viewport().height())
        bar.setSingleStep(self.line_height)
        bar.setRange(0, max(0, height - self.viewport().height()))
        self._forget()
        self.laid_out.emit()
        self.moved.emit()

    def _forget(self) -> None:
        """Shape the visible lines again."""
        self._shaped.clear()
        self.viewport().update()

    def line_starts(self) -> npt.NDArray[np.int64]:
        """Return the first character of every line, and the length of the text; int64 [N + 1]."""
        return self._lines.starts

    def token_starts(self) -> npt.NDArray[np.int64]:
        """Return the first character of every token; int64 [L], empty without an audit."""
        return self._starts

    def lines_on_screen(self) -> tuple[float, float]:
        """Return the numbers of the first and the last visible line."""
        top, height = self.verticalScrollBar().value() - 4, self.viewport().height()
        return max(0.0, top / self.line_height), min(
            float(len(self._lines)), (top + height) / self.line_height
        )

    def tokens_on_screen(self) -> tuple[int, int]:
        """Return the first visible token and the one after the last; (0, 0) without an audit."""
        visible = self._visible()
        if not self._starts.size or not visible:
            return 0, 0
        start, end = (int(self._lines.starts[line]) for line in (visible.start, visible.stop))
        inside = self._tokens_in(start, end)
        return inside.start, inside.stop

    def show_middle(self, line: float) -> None:
        """Scroll a line to the middle."""
        self._scroll_whole(line - self.viewport().height() / 2 / self.line_height)

    def _scroll_whole(self, line: float) -> None:
        """Scroll so that the line nearest to a position is the first one and fully visible."""
        self.verticalScrollBar().setValue(round(line) * self.line_height)

    def _visible(self) -> range:
        top = self.verticalScrollBar().value()
        first = max(0, top // self.line_height)
        last = (top + self.viewport().height()) // self.line_height + 1
        return range(first, min(last, len(self._lines)))

    def _y(self, line: int) -> int:
        return 4 + line * self.line_height - self.verticalScrollBar().value()

    def _shape(self, number: int) -> _Shaped:
        """Return a shaped line; visible lines are cached."""
        shaped = self._shaped.get(number)
        if shaped is None:
            shaped = self._shaped[number] = self._shape_anew(number)
        return shaped

    def _shape_anew(self, number: int) -> _Shaped:
        start, end = self._lines.span(number)
        text = self._safe[start:end]
        layout = QTextLayout(text, self._font)
        layout.setFormats(self._signs(start, end))
        layout.setCacheEnabled(True)
        layout.beginLayout()
        line = layout.createLine()
        line.setLineWidth(1e6)
        layout.endLayout()
        units = None
        if max(text, default="") > "\uffff":
            wide = np.fromiter((2 if ord(c) > 0xFFFF else 1 for c in text), dtype=np.int64)
            units = np.concatenate(([0], np.cumsum(wide)))
        shaped = _Shaped(layout, line, start, end, units)
        shaped.tokens = tuple(self._places(shaped))
        return shaped

    def _places(self, shaped: _Shaped) -> Iterator[tuple[int, float, float]]:
        """Yield the tokens of a line with their left and right edges in pixels."""
        some_here = self._levels.size and shaped.start < shaped.end
        tokens = self._tokens_in(shaped.start, shaped.end) if some_here else range(0)
        token_slice = slice(tokens.start, tokens.stop)
        starts = np.maximum(self._starts[token_slice], shaped.start).tolist()
        ends = np.minimum(self._ends[token_slice], shaped.end).tolist()
        character, edge = shaped.start, shaped.x(shaped.start)
        for token, start, end in zip(tokens, starts, ends, strict=True):
            left = edge if start == character else shaped.x(start)
            character, edge = end, shaped.x(end)
            yield token, min(left, edge), max(left, edge)

    def _signs(self, start: int, end: int) -> list[QTextLayout.FormatRange]:
        """Return formats that grey out signs for hidden characters, and text that was not read."""
        original, safe = self._text[start:end], self._safe[start:end]
        ranges: list[QTextLayout.FormatRange] = []
        excluded = list(self._excluded_in(start, end))
        if original == safe and end <= self._read and not excluded:
            return ranges
        unit = 0
        for character, (true, displayed) in enumerate(zip(original, safe, strict=True), start):
            out = any(first <= character < last for first, last in excluded)
            if true != displayed or character >= self._read or out:
                sign_format = QTextLayout.FormatRange()
                sign_format.start, sign_format.length = unit, 1
                sign_format.format.setForeground(self._theme.colour("muted"))
                ranges.append(sign_format)
            unit += 2 if ord(displayed) > 0xFFFF else 1
        return ranges

    def _excluded_in(self, start: int, end: int) -> Iterator[Span]:
        """Yield the pieces of a range that a rule left out."""
        first = int(np.searchsorted(self._excluded[:, 1], start, side="right"))
        last = int(np.searchsorted(self._excluded[:, 0], end, side="left"))
        for begin, stop in self._excluded[first:last].tolist():
            yield max(begin, start), min(stop, end)

    def is_excluded(self, character: int) -> bool:
        """Return whether a rule left a character out of the examined text."""
        return any(self._excluded_in(character, character + 1))

    def _tokens_in(self, start: int, end: int) -> range:
        first = int(np.searchsorted(self._ends, start, side="right"))
        last = int(np.searchsorted(self._starts, end, side="left"))
        return range(first, max(first, last))

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the visible lines: shades, marks, text, brackets."""
        painter = QPainter(self.viewport())
        self.drawn = 0
        positions = set(self._selection.readers().tolist())
        visible, tokens = self._visible(), self._theme.tokens
        shades = {level: QColor(tokens.shade(level)) for level in range(-4, 5) if level}
        for number in visible:
            if number in self._shaped or not self.laying:  # else it is shaped anew in a moment
                self._paint_line(painter, number, positions, shades)
        for hidden in self._shaped.keys() - set(visible):
            del self._shaped[hidden]
        if self.shading:
            self._paint_passages(painter)
        if ringed(self):
            focus_ring(painter, self._theme.colour("accent"), self.viewport().rect())
        painter.end()

    def _paint_line(
        self, painter: QPainter, number: int, readers: set[int], shades: dict[int, QColor]
    ) -> None:
        y = self._y(number)
        height = self.line_height
        if self._empty[number]:
            left, right = MARGIN, min(self.viewport().width(), MARGIN + round(self._line_width))
            painter.fillRect(left, y, right - left, height, hatching(self._theme))
            return
        shaped = self._shape(number)
        box_height = self._size + 8
        box_top = y + (height - box_height) / 2
        boxes = [
            (token, QRectF(MARGIN + left, box_top, right - left, box_height))
            for token, left, right in shaped.tokens
        ]
        if self.shading:
            self._paint_shades(painter, boxes, shades)
        self._paint_excluded(painter, shaped, box_top, box_height)
        self._paint_matches(painter, shaped, box_top, box_height)
        painter.setPen(self._theme.colour("text"))
        ascent = shaped.line.ascent()
        top = y + (height - shaped.line.height()) / 2
        shaped.layout.draw(painter, QPointF(MARGIN, top), self._chosen_in(shaped))
        self.drawn += 1
        baseline = top + ascent
        self._paint_marks(painter, boxes, baseline, readers)
        if self._differences.spans.size:
            self._paint_differences(painter, shaped, QRectF(MARGIN, box_top, 0, box_height))
        if self._shown is not None:
            start, end = self._shown
            if start < shaped.end and end > shaped.start:
                self._paint_margin(painter, y, "accent")

    def _paint_differences(self, painter: QPainter, shaped: _Shaped, box: QRectF) -> None:
        """Underline changed words, frame additional ones, and point at missing ones."""
        spans, only_here = self._differences.spans, self._differences.one_sided
        first = int(np.searchsorted(spans[:, 1], shaped.start, side="left"))
        last = int(np.searchsorted(spans[:, 0], shaped.end, side="right"))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        for number in range(first, last):
            start, end = int(spans[number, 0]), int(spans[number, 1])
            is_current = self._shown == (start, end)
            painter.setPen(
                QPen(self._theme.colour("accent" if is_current else "text"), 2 if is_current else 1)
            )
            if start == end:
                at_end = start == shaped.end == len(self._text)
                if shaped.start <= start < shaped.end or at_end:
                    self._paint_wedge(painter, MARGIN + shaped.x(start), box.bottom())
                continue
            if start >= shaped.end or end <= shaped.start:
                continue
            left, right = sorted(
                (shaped.x(max(start, shaped.start)), shaped.x(min(end, shaped.end)))
            )
            piece = QRectF(MARGIN + left, box.top(), right - left, box.height())
            long = end - start > FRAMED
            if long:
                self._paint_margin(painter, round(box.center().y()) - self.line_height // 2, "text")
            if only_here[number] and not long:
                painter.drawRect(piece.adjusted(0, 0, -1, 0))
            elif not long:
                underline = QRectF(piece.left(), round(piece.bottom()) - 1, piece.width(), 2)
                painter.fillRect(underline, painter.pen().color())
            self.drawn += 1

    def _paint_margin(self, painter: QPainter, y: int, colour: str) -> None:
        painter.fillRect(MARGIN - 5, y, 3, self.line_height, self._theme.colour(colour))

    def _paint_wedge(self, painter: QPainter, x: float, foot: float) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(painter.pen().color())
        corners = (QPointF(x, foot - 7), QPointF(x + 4, foot), QPointF(x - 4, foot))
        painter.drawPolygon(QPolygonF(corners))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        self.drawn += 1

    def _chosen_in(self, shaped: _Shaped) -> list[QTextLayout.FormatRange]:
        """Return the formats of the selected part of a line."""
        start, end = max(self.chosen[0], shaped.start), min(self.chosen[1], shaped.end)
        if start >= end:
            return []
        first, last = (shaped.unit(character) for character in (start, end))
        highlight = QTextLayout.FormatRange()
        highlight.start, highlight.length = first, last - first
        highlight.format.setBackground(self._theme.colour("accent"))
        highlight.format.setForeground(self._theme.colour("on_accent"))
        return [highlight]

    def _paint_shades(
        self, painter: QPainter, boxes: list[tuple[int, QRectF]], shades: dict[int, QColor]
    ) -> None:
        for token, box in boxes:
            level = int(self._levels[token])
            if level:
                painter.fillRect(box, shades[level])
                self.drawn += 1

    def _paint_excluded(
        self, painter: QPainter, shaped: _Shaped, top: float, height: float
    ) -> None:
        """Hatch what a rule left out of the examined text."""
        for start, end in self._excluded_in(shaped.start, shaped.end):
            left, right = sorted((shaped.x(start), shaped.x(end)))
            box = QRectF(MARGIN + left, top, right - left, height)
            painter.fillRect(box, hatching(self._theme))
            self.drawn += 1

    def _paint_matches(self, painter: QPainter, shaped: _Shaped, top: float, height: float) -> None:
        if not self.matches:
            return
        painter.setPen(QPen(self._theme.colour("repaired"), 1.5))
        first = int(np.searchsorted(self.matches, shaped.start - self._needle, side="left"))
        for character in self.matches[first:]:
            if character >= shaped.end:
                break
            left = shaped.x(max(character, shaped.start))
            right = shaped.x(min(character + self._needle, shaped.end))
            painter.drawRect(QRectF(MARGIN + left, top, right - left, height))
            self.drawn += 1

    def _paint_marks(
        self,
        painter: QPainter,
        boxes: list[tuple[int, QRectF]],
        baseline: float,
        readers: set[int],
    ) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        underline = round(baseline) + 4
        dotted = QPen(self._theme.colour("against"), 2, Qt.PenStyle.DotLine)
        solid = QPen(self._theme.colour("accent"), 2)
        for token, box in boxes:
            if self.shading and self._levels[token] < 0:
                painter.setPen(dotted)
                painter.drawLine(
                    round(box.left()) + 1, underline, round(box.right()) - 1, underline
                )
                self.drawn += 1
            if token in readers:
                painter.setPen(solid)
                painter.drawRect(box.adjusted(0, 0, -1, -1))
                self.drawn += 1
            elif token == self._selection.token and self._selection.bit is None:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.setPen(solid)
                painter.drawRoundedRect(box.adjusted(-1, 0, 1, 0), 4, 4)
                painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
                self.drawn += 1

    def _paint_passages(self, painter: QPainter) -> None:
        visible = self._visible()
        if not self.passages or not visible:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        # By characters: there may be a thousand passages, and looking up the lines of each is slow.
        start, end = (int(self._lines.starts[line]) for line in (visible.start, visible.stop))
        for number, passage in self.passages:
            foot = max(passage.start, passage.end - 1)
            if foot < start or passage.start >= end:
                continue
            first = self._lines.of_character(passage.start)
            last = self._lines.of_character(foot)
            top = self._y(first) + 3
            bottom = self._y(last) + self.line_height - 3
            selected = self._several and number == self._selection.mark
            painter.setPen(mark_pen(self._theme, number, 3 if selected else 2))
            painter.drawLine(4, top, 4, bottom)
            if passage.limits is not None:
                self._paint_limits(painter, passage.limits, number)
            painter.setPen(QPen(self._theme.mark(number), 2))
            painter.drawLine(4, top, 9, top)
            painter.drawLine(4, bottom, 9, bottom)
            if self._several:
                # At the head, or where the passage goes on above: the number stays in sight.
                badge_y = max(top, 2)
                paint_badge(painter, self._theme, number, QRectF(0, badge_y, BADGE, BADGE))
            self.drawn += 1

    def _paint_limits(
        self, painter: QPainter, limits: tuple[int, int, int, int], number: int
    ) -> None:
        """Draw the lines in which a passage may begin and end as dotted ones."""
        painter.setPen(QPen(self._theme.mark(number), 2, Qt.PenStyle.DotLine))
        least_start, most_start, least_end, most_end = limits
        for first, last in ((least_start, most_start), (least_end - 1, most_end - 1)):
            top, bottom = (
                self._lines.of_character(max(0, character)) for character in (first, last)
            )
            if top < bottom:
                painter.drawLine(8, self._y(top) + 3, 8, self._y(bottom) + self.line_height - 3)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Break the text again."""
        super().resizeEvent(event)
        # A long text is broken once the window has come to rest: while it is dragged, and while
        # the columns find their widths, one resize follows the other.
        if len(self._text) > LONG:
            self._settled.start()
        else:
            self._relayout()
