"""The one selection that all views share, and what one token says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal

from pura.detect.local.evidence import sector_weights
from pura.record.audit import Audit
from pura.record.evidence import BitEvidence
from pura.record.marks import bits_of, mark_at
from pura.record.naming import Passage
from pura.scheme import F64, I64, Gate, anchors
from pura.scheme.gray import label_bits, sector_of

FRAME_MS: Final = 16  # about as long as a screen shows one picture


class Selection(QObject):
    """What is selected in the audit on screen.

    Signals:
        audit_changed: Another audit (or none) is shown.
        audit_settled: The same, a frame later: the answer and the text come
            first, pictures of the evidence after them.
        changed: Another token or bit is selected.
        mark_changed: Another mark of a text with several is selected.
        shown_from: The text is wanted on screen from this token on.
        seen_changed: Other tokens of the text are on screen.
    """

    audit_changed = Signal()
    audit_settled = Signal()
    changed = Signal()
    mark_changed = Signal()
    shown_from = Signal(int)
    seen_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.audit: Audit | None = None
        self.token: int | None = None
        self.bit: int | None = None
        self.mark: int | None = None
        self._strongest: Passage | None = None
        self.seen = (0, 0)
        self._settle = QTimer(self, singleShot=True, interval=FRAME_MS)
        self._settle.timeout.connect(self.audit_settled)

    def show(self, audit: Audit | None) -> None:
        """Show an audit, with the strongest token of its strongest passage selected."""
        if audit is self.audit:
            return
        self.audit = audit
        self.bit = None
        self.token = None
        self._strongest = passage = strongest_passage(audit) if audit is not None else None
        if audit is not None and audit.steps.token.size:
            tokens = audit.steps.token
            if passage is not None:
                inside = (tokens >= passage.first_token) & (tokens <= passage.last_token)
                tokens = tokens[inside] if inside.any() else tokens
            self.token = int(tokens[int(np.argmax(audit.tokens.log10_evidence[tokens]))])
        elif audit is not None and audit.tokens.ids.size:
            self.token = 0
        self.mark = None
        if audit is not None and len(audit.finding.marks) > 1:
            self.mark = (mark_at(audit, self.token) if self.token is not None else None) or 0
        self._settle.start()
        self.audit_changed.emit()
        self.changed.emit()

    def show_strongest(self) -> None:
        """Bring the passage with the most evidence on screen."""
        if self._strongest is not None:
            self.shown_from.emit(self._strongest.first_token)

    def select_token(self, token: int) -> None:
        """Select a token; the bit is given up."""
        if self.audit is None or self.audit.tokens.ids.size == 0:
            return
        token = max(0, min(token, self.audit.tokens.ids.size - 1))
        if token != self.token or self.bit is not None:
            self.token, self.bit = token, None
            self.changed.emit()
            if self.mark is not None and (mark := mark_at(self.audit, token)) is not None:
                self._take_mark(mark)

    @property
    def settled(self) -> bool:
        """Whether the pictures know of the audit."""
        return not self._settle.isActive()

    def select_mark(self, mark: int) -> None:
        """Select a mark of several: its bits are shown, and the text from where it begins."""
        if self.audit is None or self.mark is None:
            return
        passages = self.audit.finding.marks[mark].passages
        if passages:
            self.select_token(passages[0].first_token)
            self.shown_from.emit(passages[0].first_token)
        self._take_mark(mark)

    def tell_all(self) -> None:
        """Tell views that were made later what is selected."""
        for signal in (self.audit_changed, self.audit_settled, self.changed, self.mark_changed):
            signal.emit()

    def next_passage(self, direction: int) -> None:
        """Go to where the next or the previous passage of a mark begins; at the end, around."""
        if self.audit is None:
            return
        places = sorted({(p.first_token, mark) for mark, p in self.audit.finding.passages})
        if not places:
            return
        here = self.token if self.token is not None else -1
        later = [place for place in places if place[0] > here]
        earlier = [place for place in places if place[0] < here]
        if direction > 0:
            token, mark = (later or places)[0]
        else:
            token, mark = (earlier or places)[-1]
        self.select_token(token)
        self.shown_from.emit(token)
        if self.mark is not None:
            self._take_mark(mark)

    def _take_mark(self, mark: int) -> None:
        if mark != self.mark:
            self.mark = mark
            self.mark_changed.emit()

    def bits(self) -> tuple[BitEvidence, ...]:
        """Return the bits of the selected mark, or of the text as a whole."""
        return () if self.audit is None else bits_of(self.audit, self.mark)

    def see(self, first: int, end: int) -> None:
        """Note which tokens are on screen, from the first to the one after the last."""
        if (first, end) != self.seen:
            self.seen = (first, end)
            self.seen_changed.emit()

    def select_bit(self, position: int | None) -> None:
        """Select a position of the codeword; the tokens that read it light up."""
        if self.audit is None or not self.audit.bits:
            return
        if position is not None:
            position = max(0, min(position, len(self.audit.bits) - 1))
        if position != self.bit:
            self.bit = position
            self.changed.emit()

    def next_carrier(self, direction: int) -> None:
        """Go to the next or the previous token that carries bits."""
        if self.audit is None or self.audit.steps.token.size == 0:
            return
        carriers = self.audit.steps.token
        here = self.token if self.token is not None else -1
        if direction > 0:
            place = int(np.searchsorted(carriers, here, side="right"))
        else:
            place = int(np.searchsorted(carriers, here, side="left")) - 1
        self.select_token(int(carriers[max(0, min(place, carriers.size - 1))]))

    def readers(self) -> I64:
        """Return the tokens that read the selected bit; int64, empty without one."""
        if self.audit is None or self.bit is None:
            return np.empty(0, dtype=np.int64)
        steps, length = self.audit.steps, len(self.audit.bits)
        offset = (self.bit - steps.index) % length
        return steps.token[offset < steps.arity]

    def positions(self) -> tuple[int, ...]:
        """Return the codeword positions that the selected token read."""
        return () if self.audit is None or self.token is None else _read(self.audit, self.token)


def strongest_passage(audit: Audit) -> Passage | None:
    """Return the passage with the most evidence, or None where no mark was found."""
    passages = [passage for _, passage in audit.finding.passages] if audit.verdict == "mark" else []
    sums = np.concatenate(([0.0], np.cumsum(audit.tokens.log10_evidence)))
    return max(passages, key=lambda p: sums[p.last_token + 1] - sums[p.first_token], default=None)


@dataclass(frozen=True, kw_only=True)
class TokenFacts:
    """One token of an audit.

    Attributes:
        index: Its place in the text.
        text: Its characters.
        gate: Why it carries bits or not.
        entropy_bits: Of the distribution that predicted it.
        lo: Start of its interval.
        hi: End of it.
        log10_evidence: Its log10 likelihood ratio for the decoded payload.
        arity: Bits read; 0 when it carries none.
        phase: ``U_t``.
        positions: Codeword positions read.
        labels: Gray label of every sector.
        anchors: float64 [K], centre of every sector.
        weights: float64 [K], kernel weight of every sector.
        posterior: float64 [K], the weights as shares; zeros when there is none.
        expected: Sector that the decoded payload asks for, or None.
        kernel: How the weight falls off around an anchor.
    """

    index: int
    text: str
    gate: Gate
    entropy_bits: float
    lo: float
    hi: float
    log10_evidence: float
    arity: int
    phase: float
    positions: tuple[int, ...]
    labels: tuple[str, ...]
    anchors: F64
    weights: F64
    posterior: F64
    expected: int | None
    kernel: str

    @property
    def radius(self) -> float:
        """How far the kernel reaches around an anchor, as a part of the circle."""
        return float(0.5 ** (self.arity + 1))

    def sector_at(self, turn: float) -> int | None:
        """Return the sector that holds a place on the circle."""
        if not self.anchors.size:
            return None
        away = np.abs(self.anchors - turn)
        return int(np.argmin(np.minimum(away % 1.0, 1.0 - away % 1.0)))

    @property
    def strongest(self) -> int | None:
        """The sector with the largest weight, or None."""
        return (
            int(np.argmax(self.weights)) if self.weights.size and self.weights.max() > 0 else None
        )


def token_text(audit: Audit, index: int) -> str:
    """Return the characters of a token; empty when the record leaves the text out."""
    start, end = (int(x) for x in audit.tokens.spans[index])
    return audit.text[start:end] if audit.text is not None else ""


def _read(audit: Audit, token: int) -> tuple[int, ...]:
    """Return the codeword positions that a token read; none where it carries nothing."""
    steps = audit.steps
    place = int(np.searchsorted(steps.token, token))
    if place >= steps.token.size or steps.token[place] != token:
        return ()
    # Not the record's bits, which it does not hold where a payload is withheld.
    first, length = int(steps.index[place]), audit.profile.codeword_length
    return tuple((first + j) % length for j in range(int(steps.arity[place])))


def token_facts(audit: Audit, index: int) -> TokenFacts:
    """Gather what the record and the scheme know of one token."""
    tokens, steps = audit.tokens, audit.steps
    lo, hi = float(tokens.lo[index]), float(tokens.hi[index])
    positions = _read(audit, index)
    arity, phase = len(positions), 0.0
    labels: tuple[str, ...] = ()
    centres = weights = posterior = np.empty(0)
    expected = None
    if positions:
        phase = float(steps.phase[int(np.searchsorted(steps.token, index))])
        labels = tuple("".join(map(str, row)) for row in label_bits(arity).tolist())
        centres = anchors(np.array([phase]), arity)[0]
        weights = sector_weights(
            audit.profile.kernel, np.array([phase]), np.array([lo]), np.array([hi]), arity
        )[0]
        total = float(weights.sum())
        posterior = weights / total if total > 0 else np.zeros_like(weights)
        bits = bits_of(audit, mark_at(audit, index))
        expected = sector_of([bits[p].bit for p in positions]) if bits else None
    return TokenFacts(
        index=index,
        text=token_text(audit, index),
        gate=Gate(int(tokens.gate[index])),
        entropy_bits=float(tokens.entropy_bits[index]),
        lo=lo,
        hi=hi,
        log10_evidence=float(tokens.log10_evidence[index]),
        arity=arity,
        phase=phase,
        positions=positions,
        labels=labels,
        anchors=centres,
        weights=weights,
        posterior=posterior,
        expected=expected,
        kernel=audit.profile.kernel,
    )
