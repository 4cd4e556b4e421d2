"""95 % intervals of shares and means."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Return the interval of a share (Wilson 1927).

    Args:
        successes: 0 … trials.
        trials: At least 1.

    Examples:
        >>> [round(end, 2) for end in wilson(16, 16)]
        [0.81, 1.0]
    """
    from scipy.stats import binomtest  # late: it takes a second

    interval = binomtest(successes, trials).proportion_ci(0.95, method="wilson")
    return float(interval.low), float(interval.high)


def student(values: Sequence[float]) -> tuple[float, float]:
    """Return the interval of a mean (Student 1908); at least two values."""
    from scipy.stats import sem, t

    half = float(t.ppf(0.975, len(values) - 1) * sem(values))
    middle = float(np.mean(values))
    return middle - half, middle + half
