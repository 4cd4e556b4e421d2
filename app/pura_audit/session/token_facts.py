"""What one token says, gathered from the record by the core's own functions."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pura.extract.local import sector_weights
from pura.record.audit import Audit
from pura.record.marks import bits_of, mark_at
from pura.scheme import Gate, anchors
from pura.scheme.gray import label_bits, sector_of

F64 = npt.NDArray[np.float64]


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


def token_facts(audit: Audit, index: int) -> TokenFacts:
    """Gather what the record and the scheme know of one token."""
    tokens, steps = audit.tokens, audit.steps
    lo, hi = float(tokens.lo[index]), float(tokens.hi[index])
    place = int(np.searchsorted(steps.token, index))
    carries = place < steps.token.size and int(steps.token[place]) == index
    arity = int(steps.arity[place]) if carries else 0
    phase = float(steps.phase[place]) if carries else 0.0
    positions: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()
    centres = weights = posterior = np.empty(0)
    expected = None
    if carries:
        first, length = int(steps.index[place]), len(audit.bits)
        positions = tuple((first + j) % length for j in range(arity))
        labels = tuple("".join(map(str, row)) for row in label_bits(arity).tolist())
        centres = anchors(np.array([phase]), arity)[0]
        weights = sector_weights(
            audit.profile.kernel, np.array([phase]), np.array([lo]), np.array([hi]), arity
        )[0]
        total = float(weights.sum())
        posterior = weights / total if total > 0 else np.zeros_like(weights)
        bits = bits_of(audit, mark_at(audit, index))
        expected = sector_of([bits[p].bit for p in positions])
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


def course(audit: Audit) -> F64:
    """Return the cumulative evidence along the text, corrected for the choice of the payload.

    The token's likelihood ratios are for the decoded payload, which was chosen after seeing the
    text among ``2**L_m``; the course therefore starts at ``-L_m log10 2``. Since the e-value is
    the mean over all payloads, its logarithm is never below the course's end for the same
    likelihood (docs/evidence.md §3), so the decision threshold can stand in the same picture.

    Returns:
        float64 [L + 1], in log₁₀; entry ``t`` is the evidence of the first ``t`` tokens.
    """
    price = audit.profile.payload_bits * math.log10(2.0)
    sums: F64 = np.concatenate(([0.0], np.cumsum(audit.tokens.log10_evidence)))
    return sums - price
