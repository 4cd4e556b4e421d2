"""Overlap of a token's interval with a kernel around an anchor, in closed form on the circle.

Paper §4.3, eq. sector_weight, and its appendix "Kernels for Sector Evidence"; docs/scheme.md §5.
Every kernel is symmetric and vanishes from the distance ``h`` on, ``h <= 1/2``, so an interval of
[0, 1] meets at most the three copies of the kernel at ``A - 1``, ``A`` and ``A + 1``. The integrals
are written with the midpoint and the width of the overlap instead of as a difference of two
antiderivatives: that keeps all digits when a token's probability is tiny.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]

_SHIFTS: Final = (-1.0, 0.0, 1.0)


def _box(middle: F64, width: F64) -> F64:
    del middle
    return width


def _cosine(middle: F64, width: F64) -> F64:
    return width / 2 + np.cos(np.pi * middle) * np.sin(np.pi * width / 2) / np.pi


def _triangular(middle: F64, width: F64) -> F64:
    # Linear on either side of the anchor: width times the value in the middle of each part.
    start, end = middle - width / 2, middle + width / 2
    left = np.minimum(end, 0.0) - np.minimum(start, 0.0)
    right = np.maximum(end, 0.0) - np.maximum(start, 0.0)
    left_middle = (np.minimum(end, 0.0) + np.minimum(start, 0.0)) / 2
    right_middle = (np.maximum(end, 0.0) + np.maximum(start, 0.0)) / 2
    return left * (1 + left_middle) + right * (1 - right_middle)


def _epanechnikov(middle: F64, width: F64) -> F64:
    return width * (1 - middle**2 - width**2 / 12)


def _biweight(middle: F64, width: F64) -> F64:
    q2 = width**2 / 4
    m2 = middle**2
    return width * ((1 - m2) ** 2 - q2 * (2 / 3 - 2 * m2 - q2 / 5))


class Kernel(NamedTuple):
    """A kernel of half-width 1.

    Attributes:
        value: Its value at a distance in [0, 1); 1 at 0, and it does not rise.
        integral: Over an interval inside [-1, 1], by the interval's middle and width.
    """

    value: Callable[[F64], F64]
    integral: Callable[[F64, F64], F64]


FORMS: Final[dict[str, Kernel]] = {
    "box": Kernel(np.ones_like, _box),
    "cosine": Kernel(lambda y: (1 + np.cos(np.pi * y)) / 2, _cosine),
    "triangular": Kernel(lambda y: 1 - y, _triangular),
    "epanechnikov": Kernel(lambda y: 1 - y**2, _epanechnikov),
    "biweight": Kernel(lambda y: (1 - y**2) ** 2, _biweight),
}
"""All kernels but ``hard``, which is none: :func:`hard_vote`."""


def kernel_overlap(kernel: str, lo: F64, hi: F64, anchor: F64, radius: F64 | float) -> F64:
    """Return ``∫ K(d(u, A)) du`` over ``[lo, hi)`` with the circular distance ``d``.

    Args:
        kernel: One of :data:`FORMS`.
        lo: Start of the intervals, in [0, 1].
        hi: End of the intervals, in [lo, 1].
        anchor: Centre ``A`` of the kernel, in [0, 1).
        radius: ``h``, in (0, 1/2]; the kernel is 0 from this distance on.

    Returns:
        float64 in the broadcast shape of the arguments, >= 0; exactly 0 where they do not meet.
    """
    integral = FORMS[kernel].integral
    total = np.zeros(np.broadcast_shapes(*(np.shape(x) for x in (lo, hi, anchor, radius))))
    for shift in _SHIFTS:
        raw_start = (lo - anchor + shift) / radius
        raw_end = (hi - anchor + shift) / radius
        start = np.clip(raw_start, -1.0, 1.0)
        end = np.clip(raw_end, -1.0, 1.0)
        # An interval that lies wholly under the kernel keeps its own width, digit for digit.
        whole = (start == raw_start) & (end == raw_end)
        width = np.where(whole, (hi - lo) / radius, end - start)
        total += np.maximum(integral((start + end) / 2, width), 0.0)
    return total * radius


def kernel_value(kernel: str, distance: F64, radius: F64 | float) -> F64:
    """Return ``K`` at a circular distance (paper, appendix on kernels).

    Args:
        kernel: As in :func:`kernel_overlap`.
        distance: Circular distance, in [0, 1/2].
        radius: ``h``.

    Returns:
        float64, in [0, 1].
    """
    y = np.minimum(distance / radius, 1.0)
    return np.where(y < 1.0, FORMS[kernel].value(y), 0.0)


def circular_distance(a: F64, b: F64) -> F64:
    """Return ``min(|a - b|, 1 - |a - b|)`` of points on the circle; float64 in [0, 1/2]."""
    gap = np.abs(a - b) % 1.0
    return np.minimum(gap, 1.0 - gap)


def hard_vote(lo: F64, hi: F64, anchor: F64) -> F64:
    """Give all weight to the anchor that lies nearest to the interval's midpoint.

    Args:
        lo: float64 [S].
        hi: float64 [S].
        anchor: float64 [S, K].

    Returns:
        float64 [S, K], one 1 in each row; the lower sector wins a tie.
    """
    nearest = np.argmin(circular_distance(((lo + hi) / 2)[:, None], anchor), axis=1)
    weights = np.zeros(anchor.shape)
    weights[np.arange(nearest.size), nearest] = 1.0
    return weights
