"""The card of the bits: the evidence for each position of the codeword, in lanes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QAccessible, QBrush, QCursor, QPainter, QPaintEvent, QPen, QTransform
from PySide6.QtWidgets import QToolTip, QWidget

from pura.record.evidence import BitEvidence
from pura.scheme import Profile
from pura_audit.platform.accessible import set_role
from pura_audit.platform.i18n import filled, signed, translate
from pura_audit.session.selection import Selection
from pura_audit.theme import fonts
from pura_audit.theme.theme import Theme
from pura_audit.widgets.card import row_of
from pura_audit.widgets.plot_card import Plot, PlotCard, Table, why_empty

if TYPE_CHECKING:
    from PySide6.QtWidgets import QStyleOptionGraphicsItem


GAP: Final = 0.9  # columns between two blocks
MAX_COLUMNS: Final = 48  # columns of a lane with parity blocks, before the next lane is begun


@dataclass(frozen=True)
class Lanes:
    """The arrangement of the positions in lanes.

    Attributes:
        column: Column of every position.
        lane: Lane of every position; 0 is at the top.
        names: Names of the lanes.
        width: Width in columns.
    """

    column: tuple[float, ...]
    lane: tuple[int, ...]
    names: tuple[str, ...]
    width: float


def arrange(profile: Profile) -> Lanes:
    """Arrange the codeword of a profile.

    ``tbcc``: one lane a generator, so that the three bits of one payload bit stand under each
    other. ``spc``: blocks beside each other, with air between them, as many lanes as needed.
    """
    if profile.code == "tbcc":
        size = profile.payload_bits
        names = tuple(filled(translate("Bits", "Generator {n:text}"), n=i + 1) for i in range(3))
        return Lanes(
            tuple(float(i % size) for i in range(3 * size)),
            tuple(i // size for i in range(3 * size)),
            names,
            float(size),
        )
    blocks = profile.block_count
    size = profile.payload_bits // blocks + 1
    a_lane = max(1, min(blocks, MAX_COLUMNS // size))
    columns: list[float] = []
    lanes: list[int] = []
    for block in range(blocks):
        column = block % a_lane
        columns += [column * (size + GAP) + i for i in range(size)]
        lanes += [block // a_lane] * size
    count = (blocks + a_lane - 1) // a_lane
    names = tuple(
        filled(
            translate("Bits", "Blocks {range:text}"),
            range=f"{i * a_lane + 1}–{min(blocks, (i + 1) * a_lane)}",
        )
        for i in range(count)
    )
    return Lanes(tuple(columns), tuple(lanes), names if count > 1 else ("",), max(columns) + 1)


FOOT: Final = 15  # pixels below a lane: the bits, and air
LEAST_LANE: Final = 14  # pixels of the largest bar from which there is space for the bits
LETTER: Final = 7  # pixels of a column from which its bit is written below


class BarsItem(pg.GraphicsObject):
    """Bars: up for 1, down for 0. Filled data, hatched parity, hollow erasures, violet repairs."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._bits: tuple[BitEvidence, ...] = ()
        self._lanes = Lanes((), (), (), 1.0)
        self._scale = 1.0
        self._threshold = 0.0
        self._face = fonts.mono(10)
        self.letters = True
        self.pitch = 2.5  # height of a lane, in units of the largest bar
        self.selected: int | None = None
        self.lit: frozenset[int] = frozenset()

    def show_bits(
        self, bits: tuple[BitEvidence, ...], lanes: Lanes, scale: float, threshold: float
    ) -> None:
        """Show other bits."""
        self.prepareGeometryChange()
        self._bits, self._lanes, self._scale, self._threshold = bits, lanes, scale, threshold
        self.update()

    def boundingRect(self) -> QRectF:
        """Return the size of all lanes, in data coordinates."""
        height = self.pitch * max(1, len(self._lanes.names))
        return QRectF(-0.5, -height, self._lanes.width + 0.5, height + 0.5)

    def zero(self, lane: int) -> float:
        """Return the vertical position of a lane's zero line."""
        return -self.pitch * lane - 1.06

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        """Draw lane by lane, in device pixels so that edges are sharp and hatching even."""
        world: QTransform = painter.worldTransform()
        painter.save()
        painter.resetTransform()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        column = world.map(QPointF(1, 0)).x() - world.map(QPointF(0, 0)).x()
        for lane in range(len(self._lanes.names)):
            self._rules(painter, world, lane)
        self._face = fonts.mono(9 if column < 10 else 10)
        for position, bit in enumerate(self._bits):
            self._bar(painter, world, position, bit, column)
        painter.restore()

    def _rules(self, painter: QPainter, world: QTransform, lane: int) -> None:
        zero = self.zero(lane)
        left = round(world.map(QPointF(-0.5, 0)).x())
        right = round(world.map(QPointF(self._lanes.width - 0.5 + 0.5, 0)).x())
        y = round(world.map(QPointF(0, zero)).y())
        painter.setPen(QPen(self._theme.colour("muted"), 1))
        painter.drawLine(left, y, right, y)
        painter.setPen(QPen(self._theme.colour("against"), 1, Qt.PenStyle.DotLine))
        reach = self._threshold / self._scale
        unit = abs(world.map(QPointF(0, 1)).y() - world.map(QPointF(0, 0)).y())
        if reach * unit >= 4 and reach < 1:  # closer, it would only blur the zero line
            for side in (reach, -reach):
                y = round(world.map(QPointF(0, zero + side)).y())
                painter.drawLine(left, y, right, y)

    def _bar(
        self, painter: QPainter, world: QTransform, position: int, bit: BitEvidence, column: float
    ) -> None:
        zero = self.zero(self._lanes.lane[position])
        x = self._lanes.column[position]
        height = max(-1.0, min(1.0, bit.llr_log10 / self._scale))
        half = min(0.38, max(0.25, 0.5 - 1 / max(column, 1)))
        top = world.map(QPointF(x - half, zero + max(height, 0)))
        bottom = world.map(QPointF(x + half, zero + min(height, 0)))
        box = QRectF(
            round(top.x()),
            round(top.y()),
            max(1, round(bottom.x()) - round(top.x())),
            max(1, round(bottom.y()) - round(top.y())),
        )
        if position == self.selected or position in self.lit:
            self._ground(painter, world, x, zero, selected=position == self.selected)
        tone = self._theme.colour("repaired" if bit.repaired else "support")
        painter.setPen(Qt.PenStyle.NoPen)
        if bit.readings == 0:
            self._hollow(painter, box)
        elif bit.parity:
            painter.fillRect(box, self._theme.colour("card"))
            painter.setPen(QPen(tone, 1))
            painter.setBrush(QBrush(tone, Qt.BrushStyle.BDiagPattern))
            painter.drawRect(box.adjusted(0, 0, -1, -1))
        else:
            painter.fillRect(box, tone)
        self._signs(painter, world, bit, box, x, zero, column)

    def _hollow(self, painter: QPainter, box: QRectF) -> None:
        middle = box.center().y()
        painter.setPen(QPen(self._theme.colour("muted"), 1))
        painter.setBrush(self._theme.colour("card"))
        painter.drawRect(QRectF(box.left(), middle - 3, max(2, box.width() - 1), 6))

    def _ground(
        self, painter: QPainter, world: QTransform, x: float, zero: float, *, selected: bool
    ) -> None:
        top = world.map(QPointF(x - 0.5, zero + 1.04))
        bottom = world.map(QPointF(x + 0.5, zero - 1.04))
        size = bottom - top
        box = QRectF(round(top.x()), round(top.y()), round(size.x()), round(size.y()))
        painter.fillRect(box, self._theme.colour("accent_soft"))
        if selected:
            painter.setPen(QPen(self._theme.colour("accent"), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(box.adjusted(0, 0, -1, -1))

    def _signs(
        self,
        painter: QPainter,
        world: QTransform,
        bit: BitEvidence,
        box: QRectF,
        x: float,
        zero: float,
        column: float,
    ) -> None:
        foot = world.map(QPointF(x, zero - 1.04)).y()
        if bit.readings and (bit.repaired or bit.weak):
            # Repaired: an open ring; weak: a short stroke; at the end of the bar.
            y = box.top() - 5 if bit.llr_log10 >= 0 else box.bottom() + 4
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            size = 2.5 if column >= 6 else 1.5
            if bit.repaired:
                painter.setPen(QPen(self._theme.colour("repaired"), 1.5))
                painter.drawEllipse(QPointF(box.center().x(), y), size, size)
            else:
                painter.setPen(QPen(self._theme.colour("against"), 1.5))
                middle = box.center().x()
                painter.drawLine(QPointF(middle - size, y), QPointF(middle + size, y))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        if column >= LETTER and self.letters:
            painter.setFont(self._face)
            quiet = bit.parity or bit.readings == 0
            tone = "repaired" if bit.repaired else "muted" if quiet else "text"
            painter.setPen(self._theme.colour(tone))
            rect = QRectF(box.center().x() - 8, foot, 16, 12)
            painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, str(bit.bit))


WEAK_NATS = 3.0  # where the dotted line stands when no bit is called weak


class LegendKey(QWidget):
    """An entry of the legend: a swatch and its text."""

    def __init__(self, kind: str, text: str, theme: Theme) -> None:
        super().__init__()
        self._kind, self._words, self._theme = kind, text, theme
        metrics = self.fontMetrics()
        self.setFixedHeight(16)
        self.setMinimumWidth(18 + round(metrics.horizontalAdvance(text) * 11 / 13) + 2)
        set_role(self, QAccessible.Role.Graphic)
        self.setAccessibleName(text)
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the swatch and its text."""
        painter = QPainter(self)
        box = QRectF(1, 3, 10, 10)
        theme = self._theme
        match self._kind:
            case "data":
                painter.fillRect(box, theme.colour("support"))
            case "parity":
                painter.setPen(QPen(theme.colour("support"), 1))
                painter.setBrush(QBrush(theme.colour("support"), Qt.BrushStyle.BDiagPattern))
                painter.drawRect(box.adjusted(0, 0, -1, -1))
            case "repaired":
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.fillRect(QRectF(3, 8, 6, 6), theme.colour("repaired"))
                painter.setPen(QPen(theme.colour("repaired"), 1.5))
                painter.drawEllipse(QRectF(3.5, 1, 5, 5))
            case "weak":
                painter.fillRect(QRectF(3, 8, 6, 6), theme.colour("support"))
                painter.fillRect(QRectF(3, 4, 6, 2), theme.colour("against"))
            case _:
                painter.setPen(QPen(theme.colour("muted"), 1))
                painter.drawRect(QRectF(2, 5, 8, 6))
        painter.setFont(fonts.face(fonts.LABEL))
        painter.setPen(theme.colour("muted"))
        room = self.rect().adjusted(18, 0, 0, 0)
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, self._words)


class BitsCard(PlotCard):
    """The card with the evidence for each bit."""

    def __init__(self, selection: Selection, theme: Theme) -> None:
        self._selection = selection
        self._lanes = Lanes((), (), ("",), 1.0)
        self._scale = 0.0
        self._shown: tuple[BitEvidence, ...] = ()
        super().__init__(translate("Bits", "Bits"), theme)
        self.plot = Plot(theme)
        self.plot.setMouseTracking(True)
        self.plot.hovered.connect(self._tell_bit)
        self._bars = BarsItem(theme)
        self.plot.addItem(self._bars)
        self.plot.getPlotItem().hideAxis("bottom")
        self.show_plot(self.plot)
        names = {
            "data": translate("Bits", "data"),
            "parity": translate("Bits", "check bit"),
            "repaired": translate("Bits", "repaired"),
            "weak": translate("Bits", "weak"),
            "erased": translate("Bits", "never read"),
        }
        self._keys = {kind: LegendKey(kind, text, theme) for kind, text in names.items()}
        self.body.addLayout(row_of(*self._keys.values(), None, spacing=10))
        self._wire()
        self._rebuild()

    def _wire(self) -> None:
        selection = self._selection
        selection.audit_settled.connect(self._rebuild)
        selection.changed.connect(self._mark)
        selection.mark_changed.connect(self._rebuild)
        self.theme.changed.connect(self._rebuild)
        self.plot.stepped.connect(self._step)
        self.plot.getPlotItem().getViewBox().sigResized.connect(lambda *_: self.fit())
        self.plot.jumped.connect(lambda d: selection.select_bit(0 if d < 0 else 10**9))
        self.plot.raised.connect(self._change_lane)
        self.plot.pressed.connect(lambda x, y: selection.select_bit(self.position_at(x, y)))

    def canvas(self) -> QWidget:
        """Return the plot."""
        return self.plot

    # Drawing

    def _rebuild(self) -> None:
        audit = self._selection.audit
        bits = self._shown = self._selection.bits()
        self._lanes = arrange(audit.profile) if audit is not None else Lanes((), (), ("",), 1.0)
        scale = _round_up(max((abs(b.llr_log10) for b in bits), default=1.0))
        weak = [abs(b.llr_log10) for b in bits if b.weak]
        self._bars.show_bits(bits, self._lanes, scale, max(weak) if weak else 0.0)
        self._scale = scale if bits else 0.0
        self.fit()
        for kind in ("parity", "repaired", "weak"):
            self._keys[kind].setVisible(any(getattr(b, kind) for b in bits))
        self._keys["erased"].setVisible(any(b.readings == 0 for b in bits))
        self._keys["data"].setVisible(bool(bits))
        self.set_filled(bool(bits), audit)
        self._mark()

    def fit(self) -> None:
        """Give every lane the same height, with room in pixels for the bits below it."""
        lanes = len(self._lanes.names)
        room = max(60, self.plot.getPlotItem().getViewBox().height())
        unit = (room / lanes - FOOT) / 2.12
        self._bars.letters = unit >= LEAST_LANE
        foot = FOOT if self._bars.letters else 4
        unit = max(6.0, (room / lanes - foot) / 2.12)
        self._bars.prepareGeometryChange()
        self._bars.pitch = 2.12 + foot / unit
        self.plot.setRange(
            xRange=(-1.0, self._lanes.width + 0.2),
            yRange=(-self._bars.pitch * lanes, 5 / unit),
            padding=0,
        )
        self._ticks(self._scale, tall=unit > 24)

    def _ticks(self, scale: float, *, tall: bool) -> None:
        ticks = []
        lanes = range(len(self._lanes.names)) if scale else ()
        for lane in lanes:
            zero = self._bars.zero(lane)
            ticks.append((zero, "0"))
            if tall or lane == 0:
                ticks.append((zero + 0.92, signed(scale, 0)))
            if tall:
                ticks.append((zero - 0.92, signed(-scale, 0)))
        axis = self.plot.getPlotItem().getAxis("left")
        axis.setTicks([ticks, []])
        axis.setStyle(tickLength=0)
        axis.setWidth(34)

    def _mark(self) -> None:
        if not self._selection.settled:
            return
        self._bars.selected = self._selection.bit
        self._bars.lit = frozenset(self._selection.positions())
        self._bars.update()
        audit = self._selection.audit
        if audit is None:
            self.side_note.setText("")
        elif self._selection.bit is not None:
            self.side_note.setText(self.describe(self._selection.bit))
        elif self._selection.mark is not None:
            template = translate("Bits", "mark {n:text} · evidence for 1 or 0, log₁₀")
            self.side_note.setText(filled(template, n=self._selection.mark + 1))
        else:
            self.side_note.setText(translate("Bits", "evidence for 1 or 0, log₁₀"))
        self.redescribe()

    # Moving

    def position_at(self, x: float, y: float) -> int | None:
        """Return the codeword position at a point of the plot, or None."""
        lane = int(-y // self._bars.pitch)
        for position, (column, row) in enumerate(
            zip(self._lanes.column, self._lanes.lane, strict=True)
        ):
            if row == lane and abs(column - x) <= 0.5:
                return position
        return None

    def _step(self, direction: int) -> None:
        now = self._selection.bit
        lit = self._selection.positions()
        start = now if now is not None else (lit[0] - direction if lit else -1)
        self._selection.select_bit(start + direction)

    def _change_lane(self, direction: int) -> None:
        now = self._selection.bit
        if now is None:
            return
        lane, column = self._lanes.lane[now] + direction, self._lanes.column[now]
        for position, (c, r) in enumerate(zip(self._lanes.column, self._lanes.lane, strict=True)):
            if r == lane and c == column:
                self._selection.select_bit(position)
                return

    # Words

    def _tell_bit(self, x: float, y: float) -> None:
        position = self.position_at(x, y)
        description = self.describe(position) if position is not None else ""
        QToolTip.showText(QCursor.pos(), description, self.plot)

    def describe(self, position: int) -> str:
        """Return a description of the evidence for a bit."""
        if not self._shown:
            return ""
        bit = self._shown[position]
        parts = [
            filled(
                translate("Bits", "Position {n:text}: {bit:text}"), n=position + 1, bit=str(bit.bit)
            ),
            signed(bit.llr_log10, 1),
            filled(translate("Bits", "{n:count} {n:plural(reading|readings)}"), n=bit.readings),
            _kind(bit),
        ]
        return " · ".join(p for p in parts if p)

    def table(self) -> Table:
        """Return the headers, and one row for each position."""
        headers = (
            translate("Bits", "Position"),
            translate("Bits", "Bit"),
            translate("Bits", "Evidence (log₁₀)"),
            translate("Bits", "Readings"),
            translate("Bits", "Kind"),
        )
        return headers, [
            (
                str(b.position + 1),
                str(b.bit),
                signed(b.llr_log10, 2),
                str(b.readings),
                _kind(b) or translate("Bits", "data"),
            )
            for b in self._shown
        ]

    def summary(self) -> str:
        """Return a description of the chart."""
        audit = self._selection.audit
        if not self._shown:
            return why_empty(audit)
        return _summary(self._shown)

    def file_stem(self) -> str:
        """Return the suggested name of an exported file, without its suffix."""
        return "bits"


def _kind(bit: BitEvidence) -> str:
    if bit.readings == 0:
        return translate("Bits", "never read")
    names = []
    if bit.parity:
        names.append(translate("Bits", "check bit"))
    if bit.repaired:
        names.append(translate("Bits", "repaired"))
    if bit.weak:
        names.append(translate("Bits", "weak"))
    return ", ".join(names)


def _summary(bits: tuple[BitEvidence, ...]) -> str:
    template = translate(
        "Bits",
        "{n:count} positions of the mark: {repaired:count} repaired, {weak:count} weak, "
        "{unread:count} never read. Readings per position: {least:count} to {most:count}.",
    )
    return filled(
        template,
        n=len(bits),
        repaired=sum(b.repaired for b in bits),
        weak=sum(b.weak for b in bits),
        unread=sum(b.readings == 0 for b in bits),
        least=min((b.readings for b in bits), default=0),
        most=max((b.readings for b in bits), default=0),
    )


def _round_up(number: float) -> float:
    """Return the smallest round number that is not below a number."""
    if not math.isfinite(number) or number <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(number))
    return next(
        float(m * power) for m in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if m * power >= number * 0.999
    )
