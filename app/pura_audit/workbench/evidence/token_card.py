"""The selected token: ring, numbers, and a sentence that says what it means."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QWidget

from pura.record.audit import Audit
from pura.scheme import Gate
from pura_audit.platform.i18n import decimal, filled, power, signed, translate
from pura_audit.session.selection import Selection, TokenFacts, token_facts
from pura_audit.theme.theme import GAP, Theme
from pura_audit.widgets.card import label, set_tip
from pura_audit.widgets.plot_card import PlotCard, Table, why_empty
from pura_audit.widgets.text_layout import safe_text
from pura_audit.workbench.evidence.ring_view import Ring


def explain(facts: TokenFacts, threshold: float, *, found: bool) -> str:
    """Say in a sentence what a token says.

    Args:
        facts: The token.
        threshold: Entropy in bits from which a token carries bits.
        found: A mark was found; without one there is no payload to speak of.
    """
    if math.isnan(facts.lo):
        return _explain_foreign(facts.gate)
    match facts.gate:
        case Gate.NO_CONTEXT:
            return translate("Ring", "Carries no bits: it stands at the very start of the text.")
        case Gate.REPEATED_CONTEXT:
            return translate(
                "Ring", "Carries no bits: the words before it stood earlier in the text already."
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
    return _explain_carrier(facts, found=found)


def _explain_foreign(gate: Gate) -> str:
    """Say whether a token counts for a mark by others."""
    match gate:
        case Gate.CARRIES:
            return translate("Ring", "Counts: the tokens before it stand here for the first time.")
        case Gate.NO_CONTEXT:
            return translate("Ring", "Does not count: it stands at the very start of the text.")
    return translate(
        "Ring", "Does not count: the tokens before it stood earlier in the text already."
    )


def _explain_carrier(facts: TokenFacts, *, found: bool) -> str:
    if facts.expected is None:
        return ""
    asked = facts.labels[facts.expected]
    if not found:
        words = translate(
            "Ring",
            "The best fitting bits ask for sector {sector:text} here; they are not a finding.",
        )
    elif facts.log10_evidence > 0.02:
        words = translate("Ring", "Supports the payload, which asks for sector {sector:text}.")
    elif facts.log10_evidence < -0.02:
        words = translate(
            "Ring", "Speaks against the payload, which asks for sector {sector:text}."
        )
    else:
        words = translate(
            "Ring", "Says next to nothing: the payload asks for sector {sector:text}."
        )
    return filled(words, sector=asked)


def _positions(facts: TokenFacts) -> str:
    if math.isnan(facts.lo):
        return ""
    if not facts.arity:
        return translate("Ring", "no bits")
    bits = filled(translate("Ring", "{n:count} {n:plural(bit|bits)}"), n=facts.arity)
    first, last = facts.positions[0] + 1, facts.positions[-1] + 1
    if first == last:
        where = filled(translate("Ring", "position {n:text}"), n=first)
    else:
        where = filled(translate("Ring", "positions {range:text}"), range=f"{first}–{last}")
    return f"{bits} · {where}"


class TokenCard(PlotCard):
    """Why: what one token says."""

    def __init__(self, selection: Selection, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(translate("Ring", "Token"), theme, parent)
        self._selection = selection
        self._facts: TokenFacts | None = None
        self.ring = Ring(theme)
        self._words = label("", "muted", wrap=True)
        self._values: dict[str, QLabel] = {}
        self._of_ring: list[QWidget] = [self.ring]
        row = QHBoxLayout()
        row.setSpacing(GAP)
        row.addWidget(self.ring, 1)
        row.addLayout(self._numbers())
        self.body.addLayout(row, 1)
        self.body.addWidget(self._words)
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
        for row, (key, words, means) in enumerate(names, start=1):
            caption = label(words, "muted")
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
            self.aside.setText("")
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
        self._keep_room()
        self.redescribe()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the room of its sentence, however many lines that takes."""
        super().resizeEvent(event)
        self._keep_room()

    def _keep_room(self) -> None:
        self.setMinimumHeight(self.frame_layout.totalMinimumHeightForWidth(self.width()))

    def _show(self, facts: TokenFacts, audit: Audit) -> None:
        words = safe_text(facts.text).strip() or safe_text(facts.text)
        if len(words) > 14:
            words = f"{words[:13]}…"
        title = translate("Ring", "Token {n:text}  “{words:text}”")
        self.title.setText(filled(title, n=facts.index + 1, words=words))
        self.aside.setText(_positions(facts))
        threshold = audit.profile.entropy_thresholds_bits[0]
        self._words.setText(explain(facts, threshold, found=audit.verdict == "mark"))
        carries = bool(facts.arity)
        counts = facts.gate is Gate.CARRIES
        strongest = facts.strongest
        shown = {
            "interval": _interval(facts.lo, facts.hi),
            "phase": decimal(facts.phase, 3) if carries else "–",
            "sector": facts.labels[strongest] if strongest is not None else "–",
            "share": self._share(facts),
            "evidence": f"{signed(facts.log10_evidence)} log₁₀" if counts else "–",
        }
        for key, value in shown.items():
            self._values[key].setText(value)

    @staticmethod
    def _share(facts: TokenFacts) -> str:
        if facts.expected is None or not facts.posterior.any():
            return "–"
        return decimal(float(facts.posterior[facts.expected]), 2)

    def table(self) -> Table:
        """Return one row a sector."""
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
        """Say what the ring shows."""
        if self._facts is None:
            return self._words.text()
        parts = [self.title.text(), self.aside.text(), self._words.text()]
        return ". ".join(p.rstrip(".") for p in parts if p) + "."

    def file_stem(self) -> str:
        """Return the name that an exported file is offered."""
        return f"token-{self._facts.index + 1}" if self._facts else "token"


def _interval(lo: float, hi: float) -> str:
    """Write both ends with as many digits as tell them apart, six at most."""
    if math.isnan(lo):
        return "–"
    for digits in range(3, 6):
        if decimal(lo, digits) != decimal(hi, digits):
            return f"{decimal(lo, digits)}–{decimal(hi, digits)}"
    return f"{decimal(lo, 6)}–{decimal(hi, 6)}"
