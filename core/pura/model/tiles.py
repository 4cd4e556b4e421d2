"""From hidden states to entropy and intervals, one tile of the vocabulary at a time.

A tile is a few hundred rows (tokens of the text) by a few thousand columns (vocabulary): it stays
in the processor's cache, is used for all sums at once and is forgotten. Logits and exponentials
are float32, the sums across tiles float64, rescaled whenever a larger logit turns up.

The secret order enters as a mask: an element counts towards ``lo`` when its rank is below that
of the token. Measured against a copy of the head with permuted rows, the mask costs a percent of
the pass where the copy costs the size of the head per key and the time to make it; and all keys
share one product.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pura.model.head import Head
from pura.model.truncation import distribution_torch, is_truncated
from pura.scheme import Profile

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, kw_only=True)
class Tiling:
    """How much is held at once.

    Attributes:
        chunk: Tokens that go through the network together.
        rows: Rows of a tile.
        columns: Columns of a tile.
        block: Numbers of a block of whole rows, where a profile cuts the distribution.
    """

    chunk: int
    rows: int
    columns: int
    block: int

    def halved(self) -> Tiling | None:
        """Return half of everything, or None when there is nothing left to halve."""
        if self.rows <= 8 and self.chunk <= 64:
            return None
        return replace(
            self,
            chunk=max(self.chunk // 2, 64),
            rows=max(self.rows // 2, 8),
            columns=max(self.columns // 2, 512),
            block=max(self.block // 2, 1),
        )


# A chunk saves the activations' memory but needs the keys and values of every layer; up to some
# thousand tokens one chunk is both the smaller and the faster way.
CPU_TILING = Tiling(chunk=4096, rows=256, columns=2048, block=1 << 22)
GPU_TILING = Tiling(chunk=4096, rows=4096, columns=16384, block=1 << 26)


@dataclass(frozen=True, kw_only=True, eq=False)
class RowSums:
    """Results for ``N`` rows, on the CPU.

    Attributes:
        entropy_bits: float64 [N].
        probability: float64 [N].
        lo: float64 [K, N].
    """

    entropy_bits: torch.Tensor
    probability: torch.Tensor
    lo: torch.Tensor


def tile_count(head: Head, rows: int, profile: Profile, tiling: Tiling) -> int:
    """How often :func:`row_sums` ticks for so many rows."""
    if is_truncated(profile.top_k, profile.top_p):
        return -(-rows // max(1, tiling.block // head.rows))
    return -(-rows // tiling.rows) * -(-head.rows // tiling.columns)


def row_sums(
    head: Head,
    hidden: torch.Tensor,
    targets: torch.Tensor,
    ranks: torch.Tensor,
    profile: Profile,
    tiling: Tiling,
    tick: Callable[[], None],
) -> RowSums:
    """Return entropy, probability and mass below the token, for each row.

    Args:
        head: The output head, ``R`` rows.
        hidden: [N, D], last hidden states.
        targets: int64 [N], the token that follows each.
        ranks: int32 [K, R], rank of every logit in each key's order.
        profile: Temperature, top-k, top-p.
        tiling: How much is held at once.
        tick: Called after every tile; may raise to stop.
    """
    import torch

    if is_truncated(profile.top_k, profile.top_p):
        step = max(1, tiling.block // head.rows)
        one = _truncated_rows
    else:
        step, one = tiling.rows, _streamed_rows
    parts = [
        one(head, hidden[i : i + step], targets[i : i + step], ranks, profile, tiling, tick)
        for i in range(0, int(hidden.shape[0]), step)
    ]
    return RowSums(
        entropy_bits=torch.cat([p.entropy_bits for p in parts]),
        probability=torch.cat([p.probability for p in parts]),
        lo=torch.cat([p.lo for p in parts], dim=1),
    )


def _streamed_rows(
    head: Head,
    hidden: torch.Tensor,
    targets: torch.Tensor,
    ranks: torch.Tensor,
    profile: Profile,
    tiling: Tiling,
    tick: Callable[[], None],
) -> RowSums:
    import torch

    # Apple GPUs have no float64: their tile sums travel to the CPU, a few numbers a tile.
    place = torch.device("cpu") if hidden.device.type == "mps" else hidden.device

    def wide(x: torch.Tensor) -> torch.Tensor:
        return x.to(device=place, dtype=torch.float64)

    n, keys = int(hidden.shape[0]), int(ranks.shape[0])
    own = ranks[:, targets, None]  # int32 [K, N, 1]
    top = torch.full((n,), -math.inf, device=hidden.device)
    token = torch.zeros(n, device=hidden.device)
    total = torch.zeros(n, dtype=torch.float64, device=place)  # Σ exp(z - top)
    moment = torch.zeros_like(total)  # Σ exp(z - top) · (z - top)
    below = torch.zeros((keys, n), dtype=torch.float64, device=place)
    for first in range(0, head.rows, tiling.columns):
        last = min(first + tiling.columns, head.rows)
        z = head.logits(hidden, first, last)
        if profile.temperature != 1.0:
            z.div_(profile.temperature)
        place_in_tile = (targets - first).clamp(0, last - first - 1)
        inside = (targets >= first) & (targets < last)
        token = torch.where(inside, z.gather(1, place_in_tile[:, None])[:, 0], token)
        higher = torch.maximum(top, z.amax(dim=1))
        if first:
            drop = wide(top) - wide(higher)
            shrink = drop.exp()
            moment = shrink * (moment + total * drop)
            total = total * shrink
            below = below * shrink
        top = higher
        e = z.sub_(top[:, None]).exp()
        total += wide(e.sum(dim=1))
        moment += wide(torch.linalg.vecdot(e, z))
        for k in range(keys):
            mask = (ranks[k, first:last] < own[k]).to(e.dtype)
            below[k] += wide(torch.linalg.vecdot(e, mask))
        tick()
    return RowSums(
        entropy_bits=((total.log() - moment / total) / math.log(2.0)).cpu(),
        probability=((wide(token) - wide(top)).exp() / total).cpu(),
        lo=(below / total).cpu(),
    )


def _truncated_rows(
    head: Head,
    hidden: torch.Tensor,
    targets: torch.Tensor,
    ranks: torch.Tensor,
    profile: Profile,
    tiling: Tiling,
    tick: Callable[[], None],
) -> RowSums:
    """Whole rows at once, few of them: what is cut is known only when a row is complete."""
    import torch

    p = distribution_torch(
        head.logits(hidden),
        temperature=profile.temperature,
        top_k=profile.top_k,
        top_p=profile.top_p,
    )
    aim, order = targets.to(p.device), ranks.to(p.device)
    entropy = torch.special.entr(p).sum(dim=1) / math.log(2.0)
    lo = [torch.where(r < r[aim, None], p, 0.0).sum(dim=1) for r in order]
    tick()
    return RowSums(
        entropy_bits=entropy.cpu(),
        probability=p.gather(1, aim[:, None])[:, 0].cpu(),
        lo=torch.stack(lo).cpu() if lo else p.new_zeros((0, int(aim.shape[0]))).cpu(),
    )
