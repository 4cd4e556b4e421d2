"""Keyed inverse transform sampling in float64 (paper, "Embedding"; docs/scheme.md §4).

A next-token distribution is laid out as intervals along [0, 1) in the secret order; a point of
the circle picks the token whose interval holds it. Steps that carry bits take the anchor as their
point, the others a fresh uniform number of the caller's, so one pass serves both.

float64 is not a luxury: cumulated in float32 over 49 k tokens, about a fifth of them would get an
interval of width zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from pura.model.truncation import distribution_torch, is_truncated
from pura.scheme import Profile

if TYPE_CHECKING:
    import torch

Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]

# exp(-800) is exactly 0 in float64, so cutting here changes nothing and keeps 0 · log 0 finite.
_FLOOR: Final = -800.0


def extend_order(order: Ids, width: int) -> Ids:
    """Give the padding rows of a model their place behind the secret order.

    Args:
        order: int64 [V], the secret order.
        width: Logits per row, at least ``V``.

    Returns:
        int64 [width]: ``order``, then the ids ``V … width-1`` in natural order.

    Raises:
        ValueError: The rows are shorter than the order.
    """
    if width < order.size:
        raise ValueError("the model has fewer logits than the order has tokens")
    return np.concatenate([order, np.arange(order.size, width, dtype=np.int64)])


def entropy_bits(probabilities: Floats) -> float:
    """Return the Shannon entropy in bits; 0 · log 0 counts as 0."""
    positive = probabilities[probabilities > 0]
    return float(-(positive * np.log2(positive)).sum())


def inverse_transform(probabilities: Floats, order: Ids, point: float) -> int:
    """Return the token whose interval in the secret order holds a point.

    Args:
        probabilities: float64 [V], by token id.
        order: int64 [V], token id at each rank.
        point: In [0, 1).

    Returns:
        The token id; always one of positive probability.
    """
    ordered = probabilities[order]
    cdf = np.cumsum(ordered)
    rank = int(np.searchsorted(cdf, point, side="right"))
    if rank == cdf.size:  # rounding left the last value of the CDF at or below the point
        rank = int(np.flatnonzero(ordered > 0)[-1])
    return int(order[rank])


@dataclass(frozen=True, kw_only=True, eq=False)
class Ordered:
    """Next-token distributions, laid out along the circle.

    Attributes:
        probabilities: float64 [B, V], ``π`` by rank.
        cdf: float64 [B, V], its cumulative sums.
        entropy_bits: float64 [B]; NaN where the logits hold no distribution.
    """

    probabilities: torch.Tensor
    cdf: torch.Tensor
    entropy_bits: torch.Tensor


def lay_out(logits: torch.Tensor, profile: Profile, room: torch.Tensor | None = None) -> Ordered:
    """Return the distributions of some logits.

    Args:
        logits: float [B, V] by rank, on a device that knows float64.
        profile: Names temperature, top-k and top-p.
        room: float64 [2, B, V] to work in, if it is used again and again: fresh memory of that
            size costs as much as the work. What is returned lies in it.
    """
    import torch

    if is_truncated(profile.top_k, profile.top_p):
        weights = distribution_torch(
            logits, temperature=profile.temperature, top_k=profile.top_k, top_p=profile.top_p
        )
        entropy = torch.special.entr(weights).sum(dim=1) / math.log(2.0)
        cdf = torch.cumsum(weights, dim=1)
        return Ordered(probabilities=weights, cdf=cdf, entropy_bits=entropy)
    # One exponential a token and no logarithm: H = log Z - E[x].
    first, second = (None, None) if room is None else room
    scaled = logits.to(torch.float64, copy=True) if first is None else first.copy_(logits)
    if profile.temperature != 1.0:
        scaled.div_(profile.temperature)
    scaled.sub_(scaled.amax(dim=1, keepdim=True)).clamp_(min=_FLOOR)
    weights = torch.exp(scaled, out=second)
    total = weights.sum(dim=1)
    mean = torch.linalg.vecdot(weights, scaled) / total
    entropy = (total.log() - mean).div_(math.log(2.0)).clamp_(min=0.0)
    weights.div_(total[:, None])
    cdf = torch.cumsum(weights, dim=1, out=scaled)
    return Ordered(probabilities=weights, cdf=cdf, entropy_bits=entropy)


def pick(ordered: Ordered, points: torch.Tensor) -> torch.Tensor:
    """Return the rank of each row whose interval holds the row's point.

    Args:
        ordered: From :func:`lay_out`.
        points: float64 [B], in [0, 1).

    Returns:
        int64 [B], ranks of positive probability.
    """
    import torch

    rank = torch.searchsorted(ordered.cdf, points[:, None], right=True)
    width = ordered.cdf.shape[1]
    if bool((rank == width).any()):  # rounding left the end of a CDF at or below the point
        positive = ordered.probabilities > 0
        last = width - 1 - positive.flip(1).to(torch.uint8).argmax(dim=1, keepdim=True)
        rank = torch.minimum(rank, last)
    return rank[:, 0]
