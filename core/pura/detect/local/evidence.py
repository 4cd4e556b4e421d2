"""Local evidence of one token.

Kernels around an anchor, sector weights and bit LLRs (paper §4.2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from pura.scheme import F64
from pura.scheme.gray import MAX_ARITY, label_bits
from pura.scheme.profile import Profile
from pura.scheme.schedule import Schedule, anchors

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


@dataclass(frozen=True, kw_only=True)
class LocalEvidence:
    """What every step says about the bits it reads, before any of it is added up.

    Attributes:
        weights: float64 [S, 8], compatibility ``w_t(s)`` of the token's interval with each
            sector; NaN from ``2**a_t`` on.
        llr_nats: float64 [S, 3], local LLR ``Λ_t^(j)`` of each bit; positive supports 1; NaN from
            ``a_t`` on.
    """

    weights: F64
    llr_nats: F64


def sector_weights(kernel: str, phase: F64, lo: F64, hi: F64, arity: int) -> F64:
    """Return ``w_t(s)`` for steps of one arity (paper, eq. sector_weight).

    Args:
        kernel: A kernel of the profile, ``hard`` included.
        phase: float64 [S], ``U_t``.
        lo: float64 [S], start of the token's interval.
        hi: float64 [S], end of it.
        arity: ``a``, 1 … 3.

    Returns:
        float64 [S, 2**a].
    """
    centres = anchors(phase, arity)
    if kernel == "hard":
        return hard_vote(lo, hi, centres)
    radius = 0.5 ** (arity + 1)
    return kernel_overlap(kernel, lo[:, None], hi[:, None], centres, radius)


def bit_llrs(weights: F64, arity: int, clip: float) -> F64:
    """Project sector weights on the bits of the Gray labels (paper, eq. local_llr).

    Args:
        weights: float64 [S, 2**a].
        arity: ``a``.
        clip: ``ε``; the probability of a 1 is kept in ``[ε, 1 - ε]``.

    Returns:
        float64 [S, a], LLR in nats; 0 where no sector has any weight.
    """
    total = weights.sum(axis=1, keepdims=True)
    ones = weights @ label_bits(arity).astype(np.float64)
    p = np.full(ones.shape, 0.5)
    np.divide(ones, total, out=p, where=total > 0)
    p = np.clip(p, clip, 1 - clip)
    return np.asarray(np.log(p) - np.log1p(-p))


def local_evidence(
    schedule: Schedule, lo: F64, hi: F64, profile: Profile, *, kernel: str | None = None
) -> LocalEvidence:
    """Turn the intervals of a text's tokens into local bit evidence.

    Args:
        schedule: The steps that carry bits.
        lo: float64 [L], start of every token's interval in the secret order.
        hi: float64 [L], end of it.
        profile: Says kernel and clip.
        kernel: Another kernel than the profile's, for ablations.

    Returns:
        Weights and LLRs of the ``S`` steps.
    """
    kernel = profile.kernel if kernel is None else kernel
    weights = np.full((len(schedule), 1 << MAX_ARITY), np.nan)
    llr = np.full((len(schedule), MAX_ARITY), np.nan)
    for arity in range(1, MAX_ARITY + 1):
        rows = np.flatnonzero(schedule.arity == arity)
        if rows.size == 0:
            continue
        token = schedule.token[rows]
        w = sector_weights(kernel, schedule.phase[rows], lo[token], hi[token], arity)
        weights[rows, : 1 << arity] = w
        llr[rows, :arity] = bit_llrs(w, arity, profile.llr_clip)
    return LocalEvidence(weights=weights, llr_nats=llr)
