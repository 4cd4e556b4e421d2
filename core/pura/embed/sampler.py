"""Keyed inverse transform sampling in float64 (paper, "Embedding"; docs/scheme.md §4).

A next-token distribution is laid out as intervals along [0, 1) in the secret order; a point of
the circle picks the token whose interval holds it. Steps that carry bits take the anchor as their
point, the others a fresh uniform number of the caller's, so one pass serves both.

float64 is not a luxury: cumulated in float32 over 49 k tokens, about a fifth of them would get an
interval of width zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
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
    """Next-token distributions of a batch, laid out in the secret order.

    Attributes:
        probabilities: float64 [B, V], ``π`` by rank.
        cdf: float64 [B, V], its cumulative sums.
        order: int64 [V] for all rows, or [B, V]: token id by rank.
        entropy_bits: float64 [B].
    """

    probabilities: torch.Tensor
    cdf: torch.Tensor
    order: torch.Tensor
    entropy_bits: torch.Tensor


def lay_out(logits: torch.Tensor, order: torch.Tensor, profile: Profile) -> Ordered:
    """Return the distributions of a batch of logits in the secret order.

    Args:
        logits: float [B, V], on a device that knows float64.
        order: int64 [V] for all rows, or [B, V].
        profile: Names temperature, top-k and top-p.
    """
    import torch

    if is_truncated(profile.top_k, profile.top_p):
        natural = distribution_torch(
            logits, temperature=profile.temperature, top_k=profile.top_k, top_p=profile.top_p
        )
        weights = _permuted(natural, order)
        entropy = torch.special.entr(weights).sum(dim=1) / math.log(2.0)
    else:
        weights, entropy = _softmax(_permuted(logits, order), profile.temperature)
    cdf = torch.cumsum(weights, dim=1)
    return Ordered(probabilities=weights, cdf=cdf, order=order, entropy_bits=entropy)


def _permuted(rows: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
    import torch

    return rows[:, order] if order.dim() == 1 else torch.gather(rows, 1, order)


def _softmax(logits: torch.Tensor, temperature: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Return probabilities and entropies in bits with one exponential a token, no logarithm."""
    import torch

    scaled = logits.to(torch.float64, copy=True)
    if temperature != 1.0:
        scaled.div_(temperature)
    scaled.sub_(scaled.amax(dim=1, keepdim=True)).clamp_(min=_FLOOR)
    weights = scaled.exp()
    total = weights.sum(dim=1)
    mean = torch.linalg.vecdot(weights, scaled) / total  # H = log Z - E[x]
    entropy = (total.log() - mean) / math.log(2.0)
    return weights.div_(total[:, None]), entropy.clamp_(min=0.0)


def pick(ordered: Ordered, points: torch.Tensor) -> torch.Tensor:
    """Return the token of each row whose interval holds the row's point.

    Args:
        ordered: From :func:`lay_out`.
        points: float64 [B], in [0, 1).

    Returns:
        int64 [B], token ids of positive probability.
    """
    import torch

    column = points[:, None]
    rank = torch.searchsorted(ordered.cdf, column, right=True)
    width = ordered.cdf.shape[1]
    if bool((rank == width).any()):  # rounding left the end of a CDF at or below the point
        positive = ordered.probabilities > 0
        last = width - 1 - positive.flip(1).to(torch.uint8).argmax(dim=1, keepdim=True)
        rank = torch.minimum(rank, last)
    if ordered.order.dim() == 1:
        return ordered.order[rank[:, 0]]
    return torch.gather(ordered.order, 1, rank)[:, 0]


def stack_orders(orders: Sequence[Ids], device: torch.device) -> torch.Tensor:
    """Return one order for all rows when they share it, else one a row.

    Args:
        orders: int64 [V] a row.
        device: Where the logits are.

    Returns:
        int64 [V] or [B, V].
    """
    import torch

    first = orders[0]
    if all(order is first for order in orders):
        return torch.from_numpy(first).to(device)
    return torch.from_numpy(np.stack(orders)).to(device)
