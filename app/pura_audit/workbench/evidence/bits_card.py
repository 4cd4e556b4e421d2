"""The bits: how strongly the text speaks for each position of the codeword."""

from __future__ import annotations

import math

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QToolTip, QWidget

from pura.record.evidence import BitEvidence
from pura_audit.platform.i18n import filled, signed, translate
from pura_audit.session.selection import Selection
from pura_audit.theme import fonts
from pura_audit.theme.theme import Theme
from pura_audit.widgets.plot_card import Plot, PlotCard, Table, why_empty
from pura_audit.workbench.evidence.bars_item import FOOT, LEAST_LANE, BarsItem, Lanes, arrange

WEAK_NATS = 3.0  # where the dotted line stands when no bit is called weak


class LegendKey(QWidget):
    """A swatch and its word."""

    def __init__(self, kind: str, words: str, theme: Theme) -> None:
        super().__init__()
        self._kind, self._words, self._theme = kind, words, theme
        metrics = self.fontMetrics()
        self.setFixedHeight(16)
        self.setMinimumWidth(18 + round(metrics.horizontalAdvance(words) * 11 / 13) + 2)
        self.setAccessibleName(words)
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw swatch and word."""
        painter = QPainter(self)
        box = QRectF(1, 3, 10, 10)
        theme = self._theme
        match self._kind:
            case "data":
                painter.fillRect(box, theme.colour("support"))
            case "parity":
                painter.setPen(QPen(theme.colour("support"), 1))
                brush = painter.brush()
                brush.setColor(theme.colour("support"))
                brush.setStyle(Qt.BrushStyle.BDiagPattern)
                painter.setBrush(brush)
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


class BitsPlot(Plot):
    """The chart; hovering names a bit."""

    def __init__(self, card: BitsCard, theme: Theme) -> None:
        self._card = card
        super().__init__(theme)
        self.setMouseTracking(True)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Say what the bit under the pointer is."""
        place = (
            self.getPlotItem()
            .getViewBox()
            .mapSceneToView(self.mapToScene(event.position().toPoint()))
        )
        position = self._card.position_at(place.x(), place.y())
        words = self._card.describe(position) if position is not None else ""
        QToolTip.showText(event.globalPosition().toPoint(), words, self)


class BitsCard(PlotCard):
    """Why: what each bit rests on."""

    def __init__(self, selection: Selection, theme: Theme, parent: QWidget | None = None) -> None:
        self._selection = selection
        self._lanes = Lanes((), (), ("",), 1.0)
        self._scale = 0.0
        self._shown: tuple[BitEvidence, ...] = ()
        super().__init__(translate("Bits", "Bits"), theme, parent)
        self.plot = BitsPlot(self, theme)
        self._bars = BarsItem(theme)
        self.plot.addItem(self._bars)
        self.plot.getPlotItem().hideAxis("bottom")
        self.show_plot(self.plot)
        self._legend = QHBoxLayout()
        self._legend.setSpacing(10)
        self._keys: dict[str, LegendKey] = {}
        for kind, words in (
            ("data", translate("Bits", "data")),
            ("parity", translate("Bits", "check bit")),
            ("repaired", translate("Bits", "repaired")),
            ("weak", translate("Bits", "weak")),
            ("erased", translate("Bits", "never read")),
        ):
            self._keys[kind] = LegendKey(kind, words, theme)
            self._legend.addWidget(self._keys[kind])
        self._legend.addStretch(1)
        self.body.addLayout(self._legend)
        self._wire()
        self._rebuild()

    def _wire(self) -> None:
        selection = self._selection
        selection.audit_changed.connect(self._rebuild)
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
        self._keys["parity"].setVisible(any(b.parity for b in bits))
        self._keys["repaired"].setVisible(any(b.repaired for b in bits))
        self._keys["weak"].setVisible(any(b.weak for b in bits))
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
        self._bars.selected = self._selection.bit
        self._bars.lit = frozenset(self._selection.positions())
        self._bars.update()
        audit = self._selection.audit
        if audit is None:
            self.aside.setText("")
        elif self._selection.bit is not None:
            self.aside.setText(self.describe(self._selection.bit))
        elif self._selection.mark is not None:
            words = translate("Bits", "mark {n:text} · evidence for 1 or 0, log₁₀")
            self.aside.setText(filled(words, n=self._selection.mark + 1))
        else:
            self.aside.setText(translate("Bits", "evidence for 1 or 0, log₁₀"))
        self.redescribe()

    # Moving

    def position_at(self, x: float, y: float) -> int | None:
        """Return the codeword position at a place of the plot, or None."""
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

    def describe(self, position: int) -> str:
        """Say what one bit rests on."""
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
        """Return one row a position."""
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
        """Say what the chart shows."""
        audit = self._selection.audit
        if not self._shown:
            return why_empty(audit)
        return _summary(self._shown)

    def file_stem(self) -> str:
        """Return the name that an exported file is offered."""
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
    words = translate(
        "Bits",
        "{n:count} positions of the mark: {repaired:count} repaired, {weak:count} weak, "
        "{unread:count} never read. Readings per position: {least:count} to {most:count}.",
    )
    return filled(
        words,
        n=len(bits),
        repaired=sum(b.repaired for b in bits),
        weak=sum(b.weak for b in bits),
        unread=sum(b.readings == 0 for b in bits),
        least=min((b.readings for b in bits), default=0),
        most=max((b.readings for b in bits), default=0),
    )


def _round_up(value: float) -> float:
    """Return the next round number from a value up."""
    if not math.isfinite(value) or value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(
        float(m * power) for m in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if m * power >= value * 0.999
    )
