"""How a mark fits: in stretches, as where a text was written under it, or token by token.

Whoever collects answers with one payload can put together texts that carry it, without the key
(evidence.md §7). Such a text fits the payload at single tokens, wherever a collected answer had the
same context; a text that was written under the mark fits everywhere, and after editing in
stretches between the edits. Two models of the same steps are compared, both fixed beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from pura.scheme import F64, U8, Schedule

MISFIT: Final = 0.16
"""Share of steps within a stretch that fit no better than without the mark: the model rounds, and
behind an edit its cache sees other contexts than the writer's did. Of 0.05 to 0.2, with the
settings below, the one that keeps most edited texts named (forgery.md)."""
_EDITS: Final = ((0.05, 0.25), (0.08, 0.2), (0.12, 0.25))
"""Chances that a stretch ends at a step, and that one begins: an edit each 8 to 20 steps, of 4 or 5
steps, which is what exchanging 5 to 15 % of the words does. The likeliest pair counts."""
_MOST_SCATTERED: Final = 0.8
"""Share of fitting steps up to which they may stand alone. Above it, a text that was put together
and one that was written look alike; collected answers do not get there (forgery.md)."""
_SHARES: Final = np.linspace(0.02, _MOST_SCATTERED, 40)


@dataclass(frozen=True, kw_only=True)
class Fit:
    """How the steps of a mark's passages fit its payload.

    Attributes:
        log10_ratio: log10 of the likelihood ratio of "in stretches" to "one by one".
        log10_per_step: log10 of the likelihood ratio of "in stretches" to "no mark", for each step.
        steps: How many steps there are.
    """

    log10_ratio: float
    log10_per_step: float
    steps: int


def fit_of(
    schedule: Schedule, llr_nats: F64, codeword: U8, ranges: Sequence[tuple[int, int]]
) -> Fit | None:
    """Compare how the steps of a mark's passages fit its payload.

    Args:
        schedule: The steps of the text; ``S`` of them.
        llr_nats: float64 [S, 3], local LLR of each bit that a step reads; NaN beyond its arity.
        codeword: uint8 [n], of the payload.
        ranges: First and last token of each passage; none stands for the whole text.

    Returns:
        None where no step stands in the passages.
    """
    inside = np.zeros(len(schedule), dtype=bool)
    for first, last in ranges:
        inside |= (schedule.token >= first) & (schedule.token <= last)
    if not ranges:
        inside[:] = True
    if not inside.any():
        return None
    gains = _gains(schedule.arity[inside], schedule.index[inside], llr_nats[inside], codeword)
    fitting = (1 - MISFIT) * np.exp(gains) + MISFIT
    stretches = max(_in_stretches(fitting, leave, back) for leave, back in _EDITS)
    alone = max(float(np.log(q * fitting + 1 - q).sum()) for q in _SHARES)
    return Fit(
        log10_ratio=(stretches - alone) / math.log(10),
        log10_per_step=stretches / fitting.size / math.log(10),
        steps=fitting.size,
    )


def _gains(arity: np.ndarray, index: np.ndarray, llr_nats: F64, codeword: U8) -> F64:
    """Return ln of how much likelier each step is under the codeword than without a mark."""
    bits = np.arange(llr_nats.shape[1])
    read = bits < arity[:, None]
    sign = np.where(codeword[(index[:, None] + bits) % codeword.size] == 1, 1.0, -1.0)
    toward = np.where(read, llr_nats, 0.0) * sign
    return np.asarray(np.where(read, math.log(2) - np.logaddexp(0.0, -toward), 0.0).sum(axis=1))


def _in_stretches(fitting: F64, leave: float, back: float) -> float:
    """Return ln of the likelihood where steps fit in stretches: a chain of two states.

    Args:
        fitting: float64 [S], likelihood of each step where it fits, against no mark.
        leave: Chance that a stretch ends after a step.
        back: Chance that one begins after a step outside.
    """
    inside, outside = back / (leave + back), leave / (leave + back)
    total = 0.0
    for value in fitting.tolist():
        inside *= value
        scale = inside + outside
        total += math.log(scale)
        inside, outside = inside / scale, outside / scale
        inside, outside = (
            inside * (1 - leave) + outside * back,
            inside * leave + outside * (1 - back),
        )
    return total
