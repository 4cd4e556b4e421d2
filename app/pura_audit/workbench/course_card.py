"""The evidence along the text, and the column in which token, bits and course stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
from PySide6.QtCore import QLine, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QSplitter, QWidget

from pura.record.course import course
from pura.record.naming import Passage
from pura_audit.platform.i18n import decimal, filled, signed, translate
from pura_audit.session.selection import Selection, token_text
from pura_audit.theme import fonts
from pura_audit.theme.theme import BADGE, GAP, GRID, Theme, mark_pen
from pura_audit.widgets.card import IconButton
from pura_audit.widgets.plot_card import Plot, PlotCard, Table, why_empty
from pura_audit.widgets.text_layout import safe_text
from pura_audit.workbench.bits_card import BitsCard
from pura_audit.workbench.token_card import TokenCard

STRETCHES: Final = 400  # about one a pixel of the card's width


class PassageStrip(pg.GraphicsObject):
    """Passages as brackets along the foot of the plot; one item for all."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._ranges = np.empty((0, 2))
        self._marks = np.empty(0, dtype=np.int64)
        self._floor = 0.0

    def show_passages(self, passages: tuple[tuple[int, Passage], ...], floor: float) -> None:
        """Draw other passages, each with the number of its mark."""
        self.prepareGeometryChange()
        ranges = [(p.first_token, p.last_token + 1) for _, p in passages]
        self._ranges = np.array(ranges, dtype=np.float64).reshape(-1, 2)
        self._marks = np.array([number for number, _ in passages], dtype=np.int64)
        self._floor = floor
        self.update()

    def boundingRect(self) -> QRectF:
        """Return the size in data coordinates."""
        if not self._ranges.size:
            return QRectF()
        first, last = float(self._ranges[0, 0]), float(self._ranges[-1, 1])
        return QRectF(first, self._floor, max(1, last - first), 0.01)

    def paint(self, painter: QPainter, *_: object) -> None:
        """Draw on whole pixels."""
        world = painter.worldTransform()
        painter.save()
        painter.resetTransform()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        # A long text has a thousand passages on a few hundred pixels: each place is drawn once.
        origin, one = (world.map(QPointF(x, self._floor)) for x in (0.0, 1.0))
        pixels = np.rint(origin.x() + self._ranges * (one.x() - origin.x())).astype(np.int64)
        y = round(origin.y()) - 2
        several = self._marks.size and self._marks.max() > 0
        for number in np.unique(self._marks).tolist():
            own = pixels[self._marks == number]
            stretches = set(map(tuple, own.tolist()))
            painter.setPen(mark_pen(self._theme, number))
            painter.drawLines([QLine(left, y, right, y) for left, right in stretches])
            painter.setPen(QPen(self._theme.mark(number), 2))
            painter.drawLines([QLine(x, y, x, y - 5) for x in set(own.ravel().tolist())])
            if several:
                painter.setFont(fonts.face(fonts.LABEL, strong=True))
                for left, right in sorted(stretches):
                    if right - left >= BADGE:
                        painter.drawText(left + 4, y - 4, str(number + 1))
        painter.restore()


class CourseCard(PlotCard):
    """Why: where in the text the evidence comes from."""

    def __init__(self, selection: Selection, theme: Theme) -> None:
        self._selection = selection
        self._values = np.empty(0)
        self._looks: tuple[tuple[int, float], ...] = ()
        self._tokens = 0
        self._level: float | None = None
        super().__init__(translate("Course", "Evidence along the text"), theme)
        words = translate("Course", "Only what is on screen of the text")
        self.zoom = IconButton(theme, "zoom", words)
        self.zoom.setCheckable(True)
        self.zoom.toggled.connect(self._look)
        self.head.insertWidget(self.head.count() - 1, self.zoom)
        self.head.setSpacing(GRID // 2)
        self.plot = Plot(theme)
        self._curve = self.plot.plot(skipFiniteCheck=True)
        self._threshold = pg.InfiniteLine(angle=0, movable=False)
        self._zero = pg.InfiniteLine(angle=0, movable=False)
        self._cursor = pg.InfiniteLine(angle=90, movable=False)
        self._caption = pg.TextItem(anchor=(1, 1))
        self._strip = PassageStrip(theme)
        self._seen = pg.LinearRegionItem(movable=False)
        self._seen.setZValue(-10)  # a ground, under the curve
        for edge in self._seen.lines:
            edge.setPen(pg.mkPen(None))
        lines = (self._zero, self._threshold, self._strip, self._caption, self._cursor)
        for item in (self._seen, *lines):
            self.plot.addItem(item, ignoreBounds=True)
        self.show_plot(self.plot)
        selection.audit_settled.connect(self._rebuild)
        selection.changed.connect(self._mark)
        selection.seen_changed.connect(self._look)
        theme.changed.connect(self._rebuild)
        self.plot.stepped.connect(self._step)
        self.plot.jumped.connect(lambda d: selection.select_token(0 if d < 0 else 10**9))
        self.plot.raised.connect(selection.next_carrier)
        self.plot.zoomed.connect(lambda way: self.zoom.setChecked(way > 0))
        self.plot.pressed.connect(lambda x, _y: selection.select_token(int(x)))
        self._rebuild()

    def canvas(self) -> QWidget:
        """Return the plot."""
        return self.plot

    def follow(
        self, looks: Sequence[tuple[int, float]], tokens: int, threshold: float | None
    ) -> None:
        """Show the evidence of a text that is being read.

        Args:
            looks: Tokens read and log10 of the evidence at each look; none shows nothing.
            tokens: Of the whole text.
            threshold: Of the decision rule in use, log10.
        """
        now = tuple(looks)
        if now == self._looks and self._tokens == tokens:
            return
        self._looks, self._tokens, self._level = now, tokens, threshold
        if self._selection.audit is None:
            self._rebuild()

    @property
    def following(self) -> bool:
        """Whether the curve is that of a text that is being read."""
        return self._selection.audit is None and bool(self._looks)

    def threshold(self) -> float | None:
        """Return the decision threshold in log10, from the policy in the record."""
        audit = self._selection.audit
        if audit is None:
            return self._level
        value = audit.policy.get("t_found")
        return float(value) if isinstance(value, int | float) else None

    def _rebuild(self) -> None:
        theme, audit = self.theme, self._selection.audit
        self._curve.setPen(pg.mkPen(theme.colour("support"), width=2))
        self._zero.setPen(pg.mkPen(theme.colour("line"), width=1))
        self._cursor.setPen(pg.mkPen(theme.colour("accent"), width=1))
        self._seen.setBrush(pg.mkBrush(theme.colour("accent_soft")))
        dash = pg.mkPen(theme.colour("against"), width=1, style=Qt.PenStyle.DashLine)
        self._threshold.setPen(dash)
        self._caption.setColor(theme.colour("against"))
        self._caption.setFont(fonts.face(fonts.LABEL))
        self._values = course(audit) if audit is not None else np.empty(0)
        if self.following:
            self._draw_looks()
            return
        shown = self._values.size > 1
        for item in (self._threshold, self._cursor, self._caption, self._zero, self._strip):
            item.setVisible(shown)
        self._look()
        self.set_filled(shown, audit)
        self._mark()

    def _draw_looks(self) -> None:
        places = np.array([0, *(tokens for tokens, _ in self._looks)], dtype=float)
        values = np.array([0.0, *(value for _, value in self._looks)])
        self._curve.setData(places, values)
        for item in (self._cursor, self._strip, self._seen, self.zoom):
            item.setVisible(False)
        self._zero.setVisible(True)
        self._set_range(values, 0, self._tokens)
        self.set_filled(True, None)
        self._mark()

    def _look(self) -> None:
        """Show the whole text and what of it is on screen, or that part alone."""
        audit = self._selection.audit
        if self.following or not self._selection.settled:
            return
        if audit is None or self._values.size < 2:
            self._curve.setData([], [])
            for item in (self._seen, self.zoom):
                item.setVisible(False)
            return
        first, end = self._selection.seen
        part = 0 < end - first < self._values.size - 1 and end < self._values.size
        zoomed = part and self.zoom.isChecked()
        self.zoom.setVisible(part)
        self._seen.setVisible(part and not zoomed)
        self._seen.setRegion((first, end))
        if not zoomed:
            first, end = 0, self._values.size - 1
        values = self._values[first : end + 1]
        places, heights = thinned(values)
        self._curve.setData(places + first, heights)
        self._strip.show_passages(audit.finding.passages, self._set_range(values, first, end))

    def _set_range(self, values: npt.NDArray[np.float64], first: int, end: int) -> float:
        """Make room for values from one token to another; return where the plot ends below."""
        threshold = self.threshold()
        low, high = float(values.min()), float(values.max())
        if not first:
            high = max(high, (threshold or 0.0) + 1, 1.0)
        margin = (high - low) * 0.12 + 0.5
        floor = low - margin
        self.plot.setRange(xRange=(first, end), yRange=(floor, high + margin), padding=0)
        self._zero.setValue(0)
        self._threshold.setVisible(threshold is not None)
        self._caption.setVisible(threshold is not None)
        if threshold is not None:
            self._threshold.setValue(threshold)
            self._caption.setText(translate("Course", "decision threshold"))
            # Below a line that is high up: above it there is no room, and the curve begins low.
            low_down = threshold < floor + 0.6 * (high + margin - floor)
            self._caption.setAnchor((1, 1) if low_down else (0, 0))
            self._caption.setPos(end if low_down else first, threshold)
        axis = self.plot.getPlotItem().getAxis("left")
        look = {"font-size": f"{fonts.LABEL}px", "color": self.theme.tokens.muted}
        axis.setLabel("log₁₀", **look)
        axis.setWidth(48)
        axis.setTicks(
            [[(v, signed(v, 0) if v else "0") for v in _ticks(floor, high + 0.4 * margin)], []]
        )
        return floor

    def _mark(self) -> None:
        if not self._selection.settled:
            return
        token = self._selection.token
        self._cursor.setVisible(token is not None and self._values.size > 1)
        if token is not None and self._values.size > 1:
            self._cursor.setValue(token + 1)
            here: tuple[int, float] | None = (token + 1, float(self._values[token + 1]))
        else:
            here = self._looks[-1] if self.following else None
        words = translate("Course", "{value:text} at token {n:text}")
        self.side_note.setText(filled(words, n=here[0], value=signed(here[1], 1)) if here else "")
        self.redescribe()

    def _step(self, direction: int) -> None:
        if self._selection.token is not None:
            self._selection.select_token(self._selection.token + direction)

    def table(self) -> Table:
        """Return one row a token."""
        headers = (
            translate("Course", "Token"),
            translate("Course", "Text"),
            translate("Course", "Entropy (bits)"),
            translate("Course", "Evidence (log₁₀)"),
            translate("Course", "Sum (log₁₀)"),
            translate("Course", "In a marked passage"),
        )
        audit = self._selection.audit
        if audit is None:
            return (headers[0], headers[4]), [
                (str(tokens), signed(value, 2)) for tokens, value in self._looks
            ]
        tokens, sums = audit.tokens, course(audit)
        return headers, [
            (
                str(t + 1),
                safe_text(token_text(audit, t)),
                decimal(float(tokens.entropy_bits[t]), 2),
                signed(float(tokens.log10_evidence[t]), 3),
                signed(float(sums[t + 1]), 2),
                decimal(float(tokens.marked[t]), 2),
            )
            for t in range(tokens.ids.size)
        ]

    def summary(self) -> str:
        """Say what the curve shows."""
        audit = self._selection.audit
        if self.following:
            words = translate(
                "Course", "Evidence of the text as far as it has been read, in log₁₀: {value:text}."
            )
            return filled(words, value=self.side_note.text())
        if audit is None or self._values.size < 2:
            return why_empty(audit)
        words = translate(
            "Course",
            "Evidence for the decoded payload over {n:count} tokens, in log₁₀. It starts at "
            "{start:text}, since the payload was chosen after seeing the text, and ends at "
            "{end:text}.",
        )
        words = filled(
            words,
            n=self._values.size - 1,
            start=signed(float(self._values[0]), 1),
            end=signed(float(self._values[-1]), 1),
        )
        count = len(audit.finding.passages)
        if count:
            words += " " + filled(
                translate("Course", "{n:plural(One passage is|{n:count} passages are)} marked."),
                n=count,
            )
        return words

    def file_stem(self) -> str:
        """Return the name that an exported file is offered."""
        return "evidence"


def thinned(
    values: npt.NDArray[np.float64], stretches: int = STRETCHES
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return a curve of few points that looks the same: the ends and extremes of each stretch.

    Qt takes a tenth of a second to stroke 200 000 points, each time the cursor moves.

    Args:
        values: float64 [N].
        stretches: How many stretches keep their first, lowest, highest and last point.

    Returns:
        Places and values, float64 [min(N, 4 · stretches)] at most, in order.
    """
    size = values.size
    if size <= 4 * stretches:
        return np.arange(size, dtype=float), values
    width = -(-size // stretches)
    first = np.arange(0, size, width)
    last = np.minimum(first + width, size) - 1
    # The last stretch is filled up with its last value, which changes none of its extremes.
    table = np.pad(values, (0, first.size * width - size), mode="edge").reshape(-1, width)
    kept = (first, last, first + table.argmin(axis=1), first + table.argmax(axis=1))
    places = np.unique(np.concatenate(kept))
    return places.astype(float), values[places]


def _ticks(low: float, high: float) -> list[float]:
    """Return a handful of round numbers between two ends, zero among them."""
    span = max(high - low, 1e-9)
    power = 10.0 ** np.floor(np.log10(span / 4))
    step = next(m * power for m in (1, 2, 5, 10) if span / (m * power) <= 5)
    first = np.ceil(low / step)
    return [float(round(i * step, 6)) for i in range(int(first), int(np.floor(high / step)) + 1)]


NARROW = 360
_TOKEN_BARE = 136  # height of the card without its ring


class EvidenceColumn(QSplitter):
    """Why: three linked cards, each on screen while it has something to show.

    Signals:
        filled_changed: The first card has something to show, or the last has no more.
    """

    filled_changed = Signal()

    def __init__(self, selection: Selection, theme: Theme) -> None:
        super().__init__(Qt.Orientation.Vertical)
        self.token = TokenCard(selection, theme)
        self.bits = BitsCard(selection, theme)
        self.course = CourseCard(selection, theme)
        self.setHandleWidth(GAP)
        self.setChildrenCollapsible(False)
        self.setMinimumWidth(NARROW)
        self.bits.setMinimumHeight(188)
        self.course.setMinimumHeight(140)
        for card, share in ((self.token, 28), (self.bits, 42), (self.course, 24)):
            self.addWidget(card)
            self.setStretchFactor(self.count() - 1, share)
        self.setSizes([260, 330, 190])
        for place in (1, 2):
            self.handle(place).setAccessibleName("")
        self._selection = selection
        self.filled = False
        selection.audit_changed.connect(self._fit)
        self.course.filled_changed.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        """Show what has something to show: a mark by others has no bits, a running audit no token.

        The course gets the space of the others.
        """
        audit = self._selection.audit
        foreign = audit is not None and audit.profile.foreign is not None
        read = audit is not None and audit.tokens.ids.size > 0
        bits = bool(self._selection.bits()) and not foreign
        shown = read, bits, read or self.course.following
        if shown != tuple(not card.isHidden() for card in self.cards):
            for card, here in zip(self.cards, shown, strict=True):
                card.setVisible(here)
            self.setSizes([260, 330, 190] if all(shown) else [_TOKEN_BARE, 330, 640])
        if self.filled != any(shown):
            self.filled = any(shown)
            self.filled_changed.emit()

    @property
    def cards(self) -> tuple[TokenCard, BitsCard, CourseCard]:
        """The three cards."""
        return self.token, self.bits, self.course
