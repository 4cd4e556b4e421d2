"""The ring: one token's interval on the circle, the sectors, their anchors and weights."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QHelpEvent,
    QKeyEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from pura.extract.local import kernel_value
from pura_audit.platform.i18n import decimal, filled, power, translate
from pura_audit.session.selection import TokenFacts
from pura_audit.theme import fonts
from pura_audit.theme.theme import Theme

CURVE_POINTS: Final = 25  # of the kernel around one anchor
KERNEL_SHARE: Final = 0.24  # of the ring's width
LEAST_ARC: Final = 0.006  # of the circle; a smaller interval is drawn as a diamond


class Ring(QWidget):
    """Draws one token; the circle begins at the top and runs clockwise.

    Signals:
        moved: An arrow key asks for the next (+1) or previous (-1) token that carries bits.
    """

    moved = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._facts: TokenFacts | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(100, 132)  # leaves longer captions beside it their room
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """Return the size at which labels have room."""
        return QSize(208, 208)

    def show_facts(self, facts: TokenFacts | None) -> None:
        """Draw another token."""
        self._facts = facts
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Step through the tokens that carry bits."""
        steps = {Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1, Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1}
        step = steps.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
        else:
            self.moved.emit(step)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw sectors, anchors and the interval."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        side = min(self.width(), self.height()) - 2
        centre = QPointF(self.width() / 2, self.height() / 2)
        outer = side / 2 - 14
        inner = outer * 0.52
        facts = self._facts
        if facts is None or not facts.arity:
            self._empty_ring(painter, centre, inner, outer)
        else:
            for sector in range(len(facts.labels)):
                self._sector(painter, centre, inner, outer, sector, facts)
            self._kernel(painter, centre, inner, outer, facts)
            self._anchors(painter, centre, outer, facts)
        if facts is not None:
            self._interval(painter, centre, outer, facts)
            self._middle(painter, centre, inner, facts)
        if self.hasFocus():
            painter.setPen(QPen(self._theme.colour("accent"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 6, 6)

    def _empty_ring(self, painter: QPainter, centre: QPointF, inner: float, outer: float) -> None:
        painter.setPen(QPen(self._theme.colour("line"), 1))
        painter.setBrush(self._theme.colour("background"))
        path = QPainterPath()
        path.addEllipse(centre, outer, outer)
        path.addEllipse(centre, inner, inner)
        painter.drawPath(path)

    def _sector(
        self,
        painter: QPainter,
        centre: QPointF,
        inner: float,
        outer: float,
        sector: int,
        facts: TokenFacts,
    ) -> None:
        count = len(facts.labels)
        start = float(facts.anchors[sector]) - 0.5 / count
        share = float(facts.posterior[sector])
        asked = sector == facts.expected
        painter.setPen(QPen(self._theme.colour("line"), 1))
        painter.setBrush(self._theme.colour("background"))
        painter.drawPath(_wedge(centre, inner, outer, start, 1 / count))
        if share > 0.005:
            tone = self._theme.colour("support" if asked else "against")
            tone.setAlphaF(0.45)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(tone)
            reach = math.sqrt(inner**2 + share * (outer**2 - inner**2))  # area tells the share
            painter.drawPath(_wedge(centre, inner, reach, start, 1 / count))
            if not asked:
                painter.setBrush(Qt.BrushStyle.BDiagPattern)
                painter.setBrush(_hatch(self._theme))
                painter.drawPath(_wedge(centre, inner, reach, start, 1 / count))
        if asked:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self._theme.colour("support"), 2))
            painter.drawPath(_wedge(centre, inner, outer, start, 1 / count))
        middle = _point(centre, inner + 0.56 * (outer - inner), start + 0.5 / count)
        painter.setFont(fonts.mono(fonts.LABEL if outer > 64 else 9, strong=asked))
        painter.setPen(self._theme.colour("text" if asked else "muted"))
        painter.drawText(
            QRectF(middle.x() - 20, middle.y() - 9, 40, 18),
            Qt.AlignmentFlag.AlignCenter,
            facts.labels[sector],
        )

    def _kernel(
        self, painter: QPainter, centre: QPointF, inner: float, outer: float, facts: TokenFacts
    ) -> None:
        """Draw how the weight falls off around each anchor, along the inner edge."""
        if facts.kernel == "hard":
            return
        away = np.linspace(-facts.radius, facts.radius, CURVE_POINTS)
        height = kernel_value(facts.kernel, np.abs(away), facts.radius)
        height = height / height.max() * KERNEL_SHARE * (outer - inner)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for sector, anchor in enumerate(facts.anchors):
            asked = sector == facts.expected
            tone = self._theme.colour("support" if asked else "muted")
            painter.setPen(QPen(tone, 1.5 if asked else 1))
            places = [
                _point(centre, inner + up, float(anchor) + side)
                for side, up in zip(away.tolist(), height.tolist(), strict=True)
            ]
            painter.drawPolyline(QPolygonF(places))

    def event(self, event: QEvent) -> bool:
        """Tell the numbers of the sector under the mouse."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self.words_at(QPointF(event.pos())), self)
            return True
        return super().event(event)

    def words_at(self, place: QPointF) -> str:
        """Return what is known of the sector at a place; empty beside the ring."""
        facts = self._facts
        side = min(self.width(), self.height()) - 2
        away = place - QPointF(self.width() / 2, self.height() / 2)
        outer = side / 2 - 14
        distance = math.hypot(away.x(), away.y())
        if facts is None or not outer * 0.52 <= distance <= outer + 12:
            return ""
        sector = facts.sector_at(math.atan2(away.x(), -away.y()) / (2 * math.pi) % 1.0)
        if sector is None:
            return ""
        words = translate(
            "Ring",
            "Sector {name:text}\nAnchor {anchor:text}\nKernel weight {weight:text}\n"
            "Share {share:text}",
        )
        weight = power(float(facts.weights[sector]), 2)
        return filled(
            words,
            name=facts.labels[sector],
            anchor=decimal(float(facts.anchors[sector]), 3),
            weight=weight,
            share=decimal(float(facts.posterior[sector]), 3),
        )

    def _anchors(self, painter: QPainter, centre: QPointF, outer: float, facts: TokenFacts) -> None:
        for sector, anchor in enumerate(facts.anchors):
            asked = sector == facts.expected
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.colour("support" if asked else "muted"))
            painter.drawEllipse(
                _point(centre, outer, float(anchor)), *((4, 4) if asked else (2.5, 2.5))
            )

    def _interval(
        self, painter: QPainter, centre: QPointF, outer: float, facts: TokenFacts
    ) -> None:
        tone = self._theme.colour("text")
        radius = outer + 8
        width = facts.hi - facts.lo
        if width < LEAST_ARC:
            place = _point(centre, radius, (facts.lo + facts.hi) / 2)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(tone)
            painter.save()
            painter.translate(place)
            painter.rotate(45)
            painter.drawRect(QRectF(-3.5, -3.5, 7, 7))
            painter.restore()
            return
        pen = QPen(tone, 4)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        box = QRectF(centre.x() - radius, centre.y() - radius, 2 * radius, 2 * radius)
        painter.drawArc(box, round((90 - 360 * facts.lo) * 16), round(-360 * width * 16))

    def _middle(self, painter: QPainter, centre: QPointF, inner: float, facts: TokenFacts) -> None:
        if inner < 30:
            return
        share = 100 * (facts.hi - facts.lo)
        words = (
            f"{decimal(share, 1)}\N{NO-BREAK SPACE}%"
            if share >= 0.05
            else f"< {decimal(0.1, 1)}\N{NO-BREAK SPACE}%"
        )
        painter.setPen(self._theme.colour("text"))
        painter.setFont(fonts.face(fonts.READING, strong=True))
        painter.drawText(
            QRectF(centre.x() - inner, centre.y() - (20 if inner >= 40 else 11), 2 * inner, 22),
            Qt.AlignmentFlag.AlignCenter,
            words,
        )
        if inner < 40:
            return
        painter.setPen(self._theme.colour("muted"))
        painter.setFont(fonts.face(fonts.LABEL))
        painter.drawText(
            QRectF(centre.x() - inner, centre.y() + 1, 2 * inner, 16),
            Qt.AlignmentFlag.AlignCenter,
            translate("Ring", "of the circle"),
        )


def _hatch(theme: Theme) -> QBrush:
    tone = theme.colour("against")
    return QBrush(tone, Qt.BrushStyle.BDiagPattern)


def _point(centre: QPointF, radius: float, turn: float) -> QPointF:
    angle = 2 * math.pi * turn
    return QPointF(centre.x() + radius * math.sin(angle), centre.y() - radius * math.cos(angle))


def _wedge(centre: QPointF, inner: float, outer: float, start: float, width: float) -> QPainterPath:
    """Return a piece of a ring, from ``start`` over ``width`` turns, clockwise from the top."""
    path = QPainterPath()
    first, sweep = 90 - 360 * start, -360 * width
    big = QRectF(centre.x() - outer, centre.y() - outer, 2 * outer, 2 * outer)
    small = QRectF(centre.x() - inner, centre.y() - inner, 2 * inner, 2 * inner)
    path.arcMoveTo(big, first)
    path.arcTo(big, first, sweep)
    path.arcTo(small, first + sweep, -sweep)
    path.closeSubpath()
    return path
