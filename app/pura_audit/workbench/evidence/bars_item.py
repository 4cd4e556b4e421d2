"""All bars of the bit chart in one graphics item, in lanes, drawn on whole pixels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QTransform

from pura.record.evidence import BitEvidence
from pura.scheme import Profile
from pura_audit.platform.i18n import filled, translate
from pura_audit.theme import fonts
from pura_audit.theme.theme import Theme

if TYPE_CHECKING:
    from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget


GAP: Final = 0.9  # columns between two blocks
MOST: Final = 48  # columns of a lane with parity blocks, before the next lane is begun


@dataclass(frozen=True)
class Lanes:
    """The arrangement.

    Attributes:
        column: Of every position.
        lane: Of every position, 0 at the top.
        names: Of the lanes.
        width: In columns.
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
    a_lane = max(1, min(blocks, MOST // size))
    columns: list[float] = []
    lanes: list[int] = []
    for block in range(blocks):
        place = block % a_lane
        columns += [place * (size + GAP) + i for i in range(size)]
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
LEAST_LANE: Final = 14  # pixels of the largest bar from which there is room for the bits
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
        """Draw other bits."""
        self.prepareGeometryChange()
        self._bits, self._lanes, self._scale, self._threshold = bits, lanes, scale, threshold
        self.update()

    def boundingRect(self) -> QRectF:
        """Return the room of all lanes, in data coordinates."""
        height = self.pitch * max(1, len(self._lanes.names))
        return QRectF(-0.5, -height, self._lanes.width + 0.5, height + 0.5)

    def zero(self, lane: int) -> float:
        """Return where the zero line of a lane stands."""
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
        room = min(0.38, max(0.25, 0.5 - 1 / max(column, 1)))
        top = world.map(QPointF(x - room, zero + max(height, 0)))
        bottom = world.map(QPointF(x + room, zero + min(height, 0)))
        box = QRectF(
            round(top.x()),
            round(top.y()),
            max(1, round(bottom.x()) - round(top.x())),
            max(1, round(bottom.y()) - round(top.y())),
        )
        if position == self.selected or position in self.lit:
            self._ground(painter, world, x, zero, chosen=position == self.selected)
        tone = self._tone(bit)
        painter.setPen(Qt.PenStyle.NoPen)
        if bit.readings == 0:
            self._hollow(painter, box)
        elif bit.parity:
            painter.fillRect(box, self._theme.colour("card"))
            painter.setPen(QPen(tone, 1))
            painter.setBrush(pg.mkBrush(tone))
            brush = painter.brush()
            brush.setStyle(Qt.BrushStyle.BDiagPattern)
            painter.setBrush(brush)
            painter.drawRect(box.adjusted(0, 0, -1, -1))
        else:
            painter.fillRect(box, tone)
        self._signs(painter, world, bit, box, x, zero, column)

    def _tone(self, bit: BitEvidence) -> QColor:
        if bit.repaired:
            return self._theme.colour("repaired")
        return self._theme.colour("support")

    def _hollow(self, painter: QPainter, box: QRectF) -> None:
        middle = box.center().y()
        painter.setPen(QPen(self._theme.colour("muted"), 1))
        painter.setBrush(self._theme.colour("card"))
        painter.drawRect(QRectF(box.left(), middle - 3, max(2, box.width() - 1), 6))

    def _ground(
        self, painter: QPainter, world: QTransform, x: float, zero: float, *, chosen: bool
    ) -> None:
        top = world.map(QPointF(x - 0.5, zero + 1.04))
        bottom = world.map(QPointF(x + 0.5, zero - 1.04))
        size = bottom - top
        box = QRectF(round(top.x()), round(top.y()), round(size.x()), round(size.y()))
        painter.fillRect(box, self._theme.colour("accent_soft"))
        if chosen:
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
            place = QRectF(box.center().x() - 8, foot, 16, 12)
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, str(bit.bit))
