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
    """A few rows, tile after tile, without ever holding a row."""
    sums = _RunningSums(targets, ranks)
    for first in range(0, head.rows, tiling.columns):
        z = head.logits(hidden, first, min(first + tiling.columns, head.rows))
        if profile.temperature != 1.0:
            z.div_(profile.temperature)
        sums.add(z, first)
        tick()
    return sums.result()


class _RunningSums:
    """Sums over the tiles of some rows, relative to the largest logit so far.

    Args:
        targets: int64 [N], the token of each row.
        ranks: int32 [K, R].
    """

    def __init__(self, targets: torch.Tensor, ranks: torch.Tensor) -> None:
        import torch

        # Apple GPUs have no float64: their tile sums travel to the CPU, a few numbers a tile.
        self._place = torch.device("cpu") if targets.device.type == "mps" else targets.device
        n, keys = int(targets.shape[0]), int(ranks.shape[0])
        self._targets, self._ranks = targets, ranks
        self._own = ranks[:, targets, None]  # int32 [K, N, 1]
        self._top = torch.full((n,), -math.inf, device=targets.device)
        self._token = torch.zeros(n, device=targets.device)
        self._total = torch.zeros(n, dtype=torch.float64, device=self._place)
        self._moment = torch.zeros_like(self._total)
        self._below = torch.zeros((keys, n), dtype=torch.float64, device=self._place)

    def _wide(self, x: torch.Tensor) -> torch.Tensor:
        return x.to(device=self._place, dtype=self._total.dtype)

    def add(self, z: torch.Tensor, first: int) -> None:
        """Add a tile of logits, float32 [N, C], that starts at column ``first``; it is spent."""
        import torch

        last = first + int(z.shape[1])
        inside = (self._targets >= first) & (self._targets < last)
        own_column = (self._targets - first).clamp(0, last - first - 1)[:, None]
        self._token = torch.where(inside, z.gather(1, own_column)[:, 0], self._token)
        self._raise_top(z, started=first > 0)
        e = z.sub_(self._top[:, None]).exp()
        self._total += self._wide(e.sum(dim=1))
        self._moment += self._wide(torch.linalg.vecdot(e, z))
        for k, row in enumerate(self._ranks):
            mask = (row[first:last] < self._own[k]).to(e.dtype)
            self._below[k] += self._wide(torch.linalg.vecdot(e, mask))

    def _raise_top(self, z: torch.Tensor, *, started: bool) -> None:
        import torch

        higher = torch.maximum(self._top, z.amax(dim=1))
        if started:
            drop = self._wide(self._top) - self._wide(higher)
            shrink = drop.exp()
            # Σ e^(z-b)·(z-b) from Σ e^(z-a)·(z-a): both the factor and the offset move.
            self._moment = shrink * (self._moment + self._total * drop)
            self._total = self._total * shrink
            self._below = self._below * shrink
        self._top = higher

    def result(self) -> RowSums:
        """Return the sums once every tile was added."""
        own = self._wide(self._token) - self._wide(self._top)
        entropy = self._total.log() - self._moment / self._total
        return RowSums(
            entropy_bits=(entropy / math.log(2.0)).cpu(),
            probability=(own.exp() / self._total).cpu(),
            lo=(self._below / self._total).cpu(),
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
