"""Shares and means with intervals, and the word that follows from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from pura.measure.intervals import student, wilson

Word = Literal["good", "usable", "poor", "undecided"]
THRESHOLD: Final = 6.0  # log10 e from which the usual policy speaks of a mark
LEAST: Final = 8  # texts below which no word is given
RULE: Final = (
    "good: at least 90 % of the texts reach log10 e = 6, and at least 80 % give their whole "
    "payload; usable: at least 50 % reach log10 e = 6; poor: fewer. Below 8 texts: undecided."
)


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A share, or a mean, with its 95 % interval.

    Attributes:
        value: The estimate.
        low: Lower end; None where one text alone tells nothing about the spread.
        high: Upper end, likewise.
    """

    value: float
    low: float | None
    high: float | None


def share(successes: int, trials: int) -> Estimate:
    """Return a share with its interval (Wilson 1927)."""
    low, high = wilson(successes, trials)
    return Estimate(value=successes / trials, low=low, high=high)


def mean(values: Sequence[float], low: float = -math.inf, high: float = math.inf) -> Estimate:
    """Return a mean with its interval (Student's t), cut to what is possible."""
    middle = float(np.mean(values))
    if len(values) < 2:
        return Estimate(value=middle, low=None, high=None)
    ends = student(values)
    return Estimate(value=middle, low=max(low, ends[0]), high=min(high, ends[1]))


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
