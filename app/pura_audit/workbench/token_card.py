"""The card of the selected token: its ring, its numbers, and a sentence about it."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QBrush,
    QHelpEvent,
    QKeyEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QToolTip, QWidget

from pura.detect.local.evidence import kernel_value
from pura.record.audit import Audit
from pura.scheme import Gate
from pura_audit.platform.accessible import set_role
from pura_audit.platform.i18n import decimal, filled, power, signed, translate
from pura_audit.session.selection import Selection, TokenFacts, token_facts
from pura_audit.theme import fonts
from pura_audit.theme.theme import GAP, Theme
from pura_audit.widgets.card import add_parts, focus_ring, label, ringed, row_of, set_tip
from pura_audit.widgets.plot_card import PlotCard, Table, why_empty
from pura_audit.widgets.text_layout import safe_text

CURVE_POINTS: Final = 25  # of the kernel around one anchor
KERNEL_SHARE: Final = 0.24  # of the ring's width
LEAST_ARC: Final = 0.006  # of the circle; a smaller interval is drawn as a diamond


class Ring(QWidget):
    """Draws one token; the circle begins at the top and runs clockwise.

    Signals:
        moved: An arrow key asks for the next (+1) or previous (-1) token that carries bits.
    """

    moved = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._facts: TokenFacts | None = None
        set_role(self, QAccessible.Role.Chart)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(100, 132)  # leaves longer captions beside it their room
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """Return the size at which labels have room."""
        return QSize(208, 208)

    def show_facts(self, facts: TokenFacts | None) -> None:
        """Show another token."""
        self._facts = facts
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move between the tokens that carry bits."""
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
        if ringed(self):
            focus_ring(painter, self._theme.colour("accent"), self.rect())

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
        expected = sector == facts.expected
        is_known = facts.expected is not None  # not so where the payload is withheld
        painter.setPen(QPen(self._theme.colour("line"), 1))
        painter.setBrush(self._theme.colour("background"))
        painter.drawPath(_wedge(centre, inner, outer, start, 1 / count))
        if share > 0.005:
            tone = self._theme.colour(
                ("support" if expected else "against") if is_known else "muted"
            )
            tone.setAlphaF(0.45)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(tone)
            reach = math.sqrt(inner**2 + share * (outer**2 - inner**2))  # area tells the share
            painter.drawPath(_wedge(centre, inner, reach, start, 1 / count))
            if is_known and not expected:
                painter.setBrush(Qt.BrushStyle.BDiagPattern)
                painter.setBrush(_hatch(self._theme))
                painter.drawPath(_wedge(centre, inner, reach, start, 1 / count))
        if expected:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self._theme.colour("support"), 2))
            painter.drawPath(_wedge(centre, inner, outer, start, 1 / count))
        middle = _point(centre, inner + 0.56 * (outer - inner), start + 0.5 / count)
        painter.setFont(fonts.mono(fonts.LABEL if outer > 64 else 9, strong=expected))
        painter.setPen(self._theme.colour("text" if expected else "muted"))
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
            expected = sector == facts.expected
            tone = self._theme.colour("support" if expected else "muted")
            painter.setPen(QPen(tone, 1.5 if expected else 1))
            points = [
                _point(centre, inner + up, float(anchor) + side)
                for side, up in zip(away.tolist(), height.tolist(), strict=True)
            ]
            painter.drawPolyline(QPolygonF(points))

    def event(self, event: QEvent) -> bool:
        """Show the numbers of the sector under the pointer."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self.words_at(QPointF(event.pos())), self)
            return True
        return super().event(event)

    def words_at(self, point: QPointF) -> str:
        """Return the numbers of the sector at a point; empty beside the ring."""
        facts = self._facts
        side = min(self.width(), self.height()) - 2
        away = point - QPointF(self.width() / 2, self.height() / 2)
        outer = side / 2 - 14
        distance = math.hypot(away.x(), away.y())
        if facts is None or not outer * 0.52 <= distance <= outer + 12:
            return ""
        sector = facts.sector_at(math.atan2(away.x(), -away.y()) / (2 * math.pi) % 1.0)
        if sector is None:
            return ""
        template = translate(
            "Ring",
            "Sector {name:text}\nAnchor {anchor:text}\nKernel weight {weight:text}\n"
            "Share {share:text}",
        )
        weight = power(float(facts.weights[sector]), 2)
        return filled(
            template,
            name=facts.labels[sector],
            anchor=decimal(float(facts.anchors[sector]), 3),
            weight=weight,
            share=decimal(float(facts.posterior[sector]), 3),
        )

    def _anchors(self, painter: QPainter, centre: QPointF, outer: float, facts: TokenFacts) -> None:
        for sector, anchor in enumerate(facts.anchors):
            expected = sector == facts.expected
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.colour("support" if expected else "muted"))
            painter.drawEllipse(
                _point(centre, outer, float(anchor)), *((4, 4) if expected else (2.5, 2.5))
            )

    def _interval(
        self, painter: QPainter, centre: QPointF, outer: float, facts: TokenFacts
    ) -> None:
        tone = self._theme.colour("text")
        radius = outer + 8
        width = facts.hi - facts.lo
        if width < LEAST_ARC:
            centre_point = _point(centre, radius, (facts.lo + facts.hi) / 2)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(tone)
            painter.save()
            painter.translate(centre_point)
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
        caption = (
            f"{decimal(share, 1)}\N{NO-BREAK SPACE}%"
            if share >= 0.05
            else f"< {decimal(0.1, 1)}\N{NO-BREAK SPACE}%"
        )
        painter.setPen(self._theme.colour("text"))
        painter.setFont(fonts.face(fonts.READING, strong=True))
        painter.drawText(
            QRectF(centre.x() - inner, centre.y() - (20 if inner >= 40 else 11), 2 * inner, 22),
            Qt.AlignmentFlag.AlignCenter,
            caption,
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


def explain(facts: TokenFacts, threshold: float, *, is_marked: bool) -> str:
    """Return a sentence about the evidence of a token.

    Args:
        facts: The token.
        threshold: Entropy in bits from which a token carries bits.
        is_marked: Whether a mark was found; without one there is no payload.
    """
    if math.isnan(facts.lo):
        return _explain_foreign(facts.gate)
    match facts.gate:
        case Gate.NO_CONTEXT:
            return translate("Ring", "Carries no bits: it is at the very start of the text.")
        case Gate.REPEATED_CONTEXT:
            return translate(
                "Ring", "Carries no bits: the words before it occurred earlier in the text already."
            )
        case Gate.LOW_ENTROPY:
            return filled(
                translate(
                    "Ring",
                    "Carries no bits: the model was too sure of it, {bits:text} bits of entropy "
                    "where {least:text} are needed.",
                ),
                bits=decimal(facts.entropy_bits, 1),
                least=decimal(threshold, 1),
            )
    return _explain_carrier(facts, is_marked=is_marked)


def _explain_foreign(gate: Gate) -> str:
    """Return whether a token counts for a third-party watermark."""
    match gate:
        case Gate.CARRIES:
            return translate("Ring", "Counts: the tokens before it occur here for the first time.")
        case Gate.NO_CONTEXT:
            return translate("Ring", "Does not count: it is at the very start of the text.")
    return translate(
        "Ring", "Does not count: the tokens before it occurred earlier in the text already."
    )


def _explain_carrier(facts: TokenFacts, *, is_marked: bool) -> str:
    if facts.expected is None:
        return ""
    expected = facts.labels[facts.expected]
    if not is_marked:
        template = translate(
            "Ring",
            "The best fitting bits ask for sector {sector:text} here; they are not a finding.",
        )
    elif facts.log10_evidence > 0.02:
        template = translate("Ring", "Supports the payload, which asks for sector {sector:text}.")
    elif facts.log10_evidence < -0.02:
        template = translate(
            "Ring", "Speaks against the payload, which asks for sector {sector:text}."
        )
    else:
        template = translate(
            "Ring", "Says next to nothing: the payload asks for sector {sector:text}."
        )
    return filled(template, sector=expected)


def _positions(facts: TokenFacts) -> str:
    if math.isnan(facts.lo):
        return ""
    if not facts.arity:
        return translate("Ring", "no bits")
    bits = filled(translate("Ring", "{n:count} {n:plural(bit|bits)}"), n=facts.arity)
    first, last = facts.positions[0] + 1, facts.positions[-1] + 1
    if first == last:
        positions = filled(translate("Ring", "position {n:text}"), n=first)
    else:
        positions = filled(translate("Ring", "positions {range:text}"), range=f"{first}–{last}")
    return f"{bits} · {positions}"


class TokenCard(PlotCard):
    """The card with the evidence of one token."""

    def __init__(self, selection: Selection, theme: Theme) -> None:
        super().__init__(translate("Ring", "Token"), theme)
        self._selection = selection
        self._facts: TokenFacts | None = None
        self.ring = Ring(theme)
        self._words = label("", "muted", wrap=True)
        self._values: dict[str, QLabel] = {}
        self._of_ring: list[QWidget] = [self.ring]
        row = row_of((self.ring, 1), self._numbers(), spacing=GAP)
        add_parts(self.body, (row, 1), self._words)
        self.ring.moved.connect(selection.next_carrier)
        selection.changed.connect(self.refresh)
        self.refresh()

    def _numbers(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(GAP)
        grid.setVerticalSpacing(0)
        grid.setColumnStretch(0, 1)
        names = (
            (
                "interval",
                translate("Ring", "Place"),
                translate(
                    "Ring",
                    "Where on the circle the model has the token: the more probable, the wider.",
                ),
            ),
            (
                "phase",
                translate("Ring", "Turned by"),
                translate(
                    "Ring", "How far the key turns the sectors here, as a part of the circle."
                ),
            ),
            (
                "sector",
                translate("Ring", "Points to"),
                translate("Ring", "The bits that the token fits best."),
            ),
            (
                "share",
                translate("Ring", "Fit"),
                translate(
                    "Ring", "How well it fits the bits of the payload: 0 not at all, 1 them alone."
                ),
            ),
            (
                "evidence",
                translate("Ring", "Evidence"),
                translate(
                    "Ring",
                    "What the token adds to the evidence: +1 is ten times for the mark, −1 ten "
                    "times against it.",
                ),
            ),
        )
        grid.setRowStretch(0, 1)
        for row, (key, caption_text, means) in enumerate(names, start=1):
            caption = label(caption_text, "muted")
            value = label("–", "value")
            value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self._values[key] = value
            grid.addWidget(caption, row, 0)
            if key != "evidence":
                self._of_ring += [caption, value]
            value.setMinimumWidth(90)  # an interval's width, so that the ring keeps its place
            grid.addWidget(value, row, 1)
            caption.setMinimumHeight(24)
            for part in (caption, value):
                set_tip(part, means)
        grid.setRowStretch(len(names) + 1, 1)
        return grid

    def canvas(self) -> QWidget:
        """Return the ring."""
        return self.ring

    def refresh(self) -> None:
        """Show the selected token."""
        audit, token = self._selection.audit, self._selection.token
        if audit is None or token is None:
            self._facts = None
            self.title.setText(translate("Ring", "Token"))
            self.side_note.setText("")
            waiting = audit is not None and audit.tokens.ids.size > 0
            self._words.setText(
                translate("Ring", "Appears here for the token that is selected.")
                if waiting
                else why_empty(audit)
            )
            for value in self._values.values():
                value.setText("–")
        else:
            self._facts = token_facts(audit, token)
            self._show(self._facts, audit)
        foreign = audit is not None and audit.profile.foreign is not None
        for part in self._of_ring:
            part.setVisible(not foreign)
        self.set_exportable(not foreign)
        self.ring.show_facts(None if foreign else self._facts)
        self._keep_height()
        self.redescribe()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the height of the sentence constant."""
        super().resizeEvent(event)
        self._keep_height()

    def _keep_height(self) -> None:
        self.setMinimumHeight(self.frame_layout.totalMinimumHeightForWidth(self.width()))

    def _show(self, facts: TokenFacts, audit: Audit) -> None:
        text = safe_text(facts.text).strip() or safe_text(facts.text)
        if len(text) > 14:
            text = f"{text[:13]}…"
        title = translate("Ring", "Token {n:text}  “{words:text}”")
        self.title.setText(filled(title, n=facts.index + 1, words=text))
        self.side_note.setText(_positions(facts))
        threshold = audit.profile.entropy_thresholds_bits[0]
        self._words.setText(explain(facts, threshold, is_marked=audit.verdict == "mark"))
        carries = bool(facts.arity)
        counts = facts.gate is Gate.CARRIES
        strongest = facts.strongest
        texts = {
            "interval": _interval(facts.lo, facts.hi),
            "phase": decimal(facts.phase, 3) if carries else "–",
            "sector": facts.labels[strongest] if strongest is not None else "–",
            "share": self._share(facts),
            "evidence": f"{signed(facts.log10_evidence)} log₁₀" if counts else "–",
        }
        for key, value in texts.items():
            self._values[key].setText(value)

    @staticmethod
    def _share(facts: TokenFacts) -> str:
        if facts.expected is None or not facts.posterior.any():
            return "–"
        return decimal(float(facts.posterior[facts.expected]), 2)

    def table(self) -> Table:
        """Return the headers, and one row for each sector."""
        headers = (
            translate("Ring", "Sector"),
            translate("Ring", "Label"),
            translate("Ring", "Anchor"),
            translate("Ring", "Kernel weight"),
            translate("Ring", "Share"),
            translate("Ring", "Asked for by the payload"),
        )
        facts = self._facts
        if facts is None:
            return headers, []
        return headers, [
            (
                str(sector),
                facts.labels[sector],
                decimal(float(facts.anchors[sector]), 6),
                power(float(facts.weights[sector]), 3),
                decimal(float(facts.posterior[sector]), 4),
                translate("Ring", "yes") if sector == facts.expected else "",
            )
            for sector in range(len(facts.labels))
        ]

    def summary(self) -> str:
        """Return a description of the ring."""
        if self._facts is None:
            return self._words.text()
        parts = [self.title.text(), self.side_note.text(), self._words.text()]
        return ". ".join(p.rstrip(".") for p in parts if p) + "."

    def file_stem(self) -> str:
        """Return the suggested name of an exported file, without its suffix."""
        return f"token-{self._facts.index + 1}" if self._facts else "token"


def _interval(lo: float, hi: float) -> str:
    """Return an interval whose ends have enough digits to differ, at most six."""
    if math.isnan(lo):
        return "–"
    for digits in range(3, 6):
        if decimal(lo, digits) != decimal(hi, digits):
            return f"{decimal(lo, digits)}–{decimal(hi, digits)}"
    return f"{decimal(lo, 6)}–{decimal(hi, 6)}"
