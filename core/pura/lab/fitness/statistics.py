"""Shares and means with intervals, and the word that follows from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

Word = Literal["good", "usable", "poor", "undecided"]
THRESHOLD: Final = 6.0  # log10 e from which the usual policy speaks of a mark
LEAST: Final = 8  # texts below which no word is given
RULE: Final = (
    "good: at least 90 % of the texts reach log10 e = 6, and at least 80 % give their whole "
    "payload; usable: at least 50 % reach log10 e = 6; poor: fewer. Below 8 texts: undecided."
)
_Z95: Final = 1.959963984540054
# Student's t, two-sided 95 %, for 1 … 10 degrees of freedom; the expansion is good above.
_T95: Final = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)


@dataclass(frozen=True, kw_only=True)
class Share:
    """A share, or a mean, with its 95 % interval.

    Attributes:
        value: The estimate.
        low: Lower end; None where one text alone tells nothing about the spread.
        high: Upper end, likewise.
    """

    value: float
    low: float | None
    high: float | None


def share(successes: int, trials: int) -> Share:
    """Return a share with its interval (Wilson 1927)."""
    p = successes / trials
    middle = p + _Z95**2 / (2 * trials)
    half = _Z95 * math.sqrt(p * (1 - p) / trials + _Z95**2 / (4 * trials**2))
    scale = 1 + _Z95**2 / trials
    return Share(
        value=p, low=max(0.0, (middle - half) / scale), high=min(1.0, (middle + half) / scale)
    )


def mean(values: Sequence[float], low: float = -math.inf, high: float = math.inf) -> Share:
    """Return a mean with its interval (Student's t), cut to what is possible."""
    middle = float(np.mean(values))
    if len(values) < 2:
        return Share(value=middle, low=None, high=None)
    error = float(np.std(values, ddof=1)) / math.sqrt(len(values))
    half = _quantile(len(values) - 1) * error
    return Share(value=middle, low=max(low, middle - half), high=min(high, middle + half))


def _quantile(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's t (Cornish-Fisher above ten degrees)."""
    if freedom <= len(_T95):
        return _T95[freedom - 1]
    z = _Z95
    first = (z**3 + z) / (4 * freedom)
    return z + first + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)


def word_for(found: float, matched: float, texts: int) -> Word:
    """Return the word of :data:`RULE`.

    Args:
        found: Share of texts that reach the threshold.
        matched: Share of texts that give their whole payload.
        texts: How many there were.
    """
    if texts < LEAST:
        return "undecided"
    if found >= 0.9 and matched >= 0.8:
        return "good"
    return "usable" if found >= 0.5 else "poor"
