"""Entropy and intervals from hidden states, for some rows and one tile of the vocabulary at a time.

A tile is a few hundred rows (tokens of the text) by a few thousand logits: it stays in the
processor's cache and serves all sums at once. Logits and exponentials are float32, the sums across
tiles float64. The exponentials, one column for each row, are held while the keys need them: each
key adds up the probability before the token in its secret order (:mod:`pura.model.head`), so that
many keys share one product.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pura.model.head import Head, Orders
from pura.model.reading import distribution_torch, is_truncated
from pura.scheme import Profile

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, kw_only=True)
class Tiling:
    """Sizes of the parts that are held in memory.

    Attributes:
        chunk: Tokens that go through the network together.
        rows: Rows of a tile.
        columns: Columns of a tile.
        block: Numbers in a block of complete rows, if a profile truncates the distribution; if it
            does not, four times as many exponentials are held.
    """

    chunk: int
    rows: int
    columns: int
    block: int

    def halved(self) -> Tiling | None:
        """Return a tiling of half the sizes, or None if these are the smallest."""
        if self.rows <= 8 and self.chunk <= 64:
            return None
        return replace(
            self,
            chunk=max(self.chunk // 2, 64),
            rows=max(self.rows // 2, 8),
            columns=max(self.columns // 2, 512),
            block=max(self.block // 2, 1),
        )


# Chunks save memory for activations but need the keys and values of every layer; up to some
# thousand tokens a single chunk is both smaller and faster.
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


def tile_count(head: Head, rows: int, keys: int, profile: Profile, tiling: Tiling) -> int:
    """Return how often :func:`row_sums` calls ``tick`` for a number of rows."""
    if is_truncated(profile.top_k, profile.top_p):
        return -(-rows // _at_once(head, tiling, complete_rows=True))
    return -(-rows // _at_once(head, tiling, complete_rows=False)) * -(-head.rows // tiling.columns)


def _at_once(head: Head, tiling: Tiling, *, complete_rows: bool) -> int:
    if complete_rows:
        return max(1, tiling.block // head.rows)
    return max(1, min(tiling.rows, 4 * tiling.block // head.rows))


def row_sums(
    head: Head,
    hidden: torch.Tensor,
    targets: torch.Tensor,
    orders: Orders,
    profile: Profile,
    tiling: Tiling,
    tick: Callable[[], None],
) -> RowSums:
    """Return entropy, probability and mass below the token, for each row.

    Args:
        head: The output head, ``R`` rows.
        hidden: [N, D], last hidden states.
        targets: int64 [N], the token that follows each.
        orders: Secret orders of ``K`` keys.
        profile: Temperature, top-k, top-p.
        tiling: Sizes of the parts held in memory.
        tick: Called after every tile; may raise to stop.
    """
    import torch

    step, sums_of = _at_once(head, tiling, complete_rows=False), _streamed_rows
    if is_truncated(profile.top_k, profile.top_p):
        step, sums_of = _at_once(head, tiling, complete_rows=True), _truncated_rows
    parts = [
        sums_of(head, hidden[i : i + step], targets[i : i + step], orders, profile, tiling, tick)
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
    orders: Orders,
    profile: Profile,
    tiling: Tiling,
    tick: Callable[[], None],
) -> RowSums:
    """Return the sums of a few rows, tile after tile."""

    def tiles() -> Iterator[tuple[int, torch.Tensor]]:
        for first in range(0, head.rows, tiling.columns):
            z = head.columns(hidden, first, min(first + tiling.columns, head.rows))
            if profile.temperature != 1.0:
                z.div_(profile.temperature)
            yield first, z
            tick()

    sums = _sweep(tiles(), targets, head.rows, None)
    if not bool((sums[2] < math.inf).all()):
        # The exponential overflowed: a logit lies more than 88 above all of the first tile.
        import torch

        tops = [z.amax(dim=0) for _, z in tiles()]
        sums = _sweep(tiles(), targets, head.rows, torch.stack(tops).amax(dim=0))
    return _swept(sums, orders, targets)


_Sums = tuple["torch.Tensor", "torch.Tensor", "torch.Tensor", "torch.Tensor"]


def _swept(sums: _Sums, orders: Orders, targets: torch.Tensor) -> RowSums:
    """Return entropy, probability and mass for the sums of :func:`_sweep`."""
    masses, token, total, moment = sums
    token = token.to(device=total.device, dtype=total.dtype)
    entropy = (total.log() - moment / total) / math.log(2.0)
    return RowSums(
        entropy_bits=entropy.cpu(),
        probability=(token.exp() / total).cpu(),
        lo=(orders.below(masses, targets) / total).cpu(),
    )


def _sweep(
    tiles: Iterator[tuple[int, torch.Tensor]],
    targets: torch.Tensor,
    rows: int,
    reference: torch.Tensor | None,
) -> _Sums:
    """Add up all tiles of logits, float32 [C, N] each, which are overwritten.

    Any reference gives the same sums unless something overflows; with the largest logit of the
    first tile, one sweep is enough.

    Returns:
        float32 [R, N], ``e^(z - reference)``; float32 [N], ``z - reference`` of the token; and
        float64 [N] each, ``Σ e`` and ``Σ e·(z - reference)``.
    """
    import torch

    # Apple GPUs have no float64: their tile sums travel to the CPU, a few numbers a tile.
    device = torch.device("cpu") if targets.device.type == "mps" else targets.device
    n = int(targets.shape[0])
    masses = torch.empty((rows, n), device=targets.device)
    token = torch.zeros(n, device=targets.device)
    total = torch.zeros(n, dtype=torch.float64, device=device)
    moment = torch.zeros_like(total)
    for first, z in tiles:
        if reference is None:
            reference = z.amax(dim=0)
        last = first + int(z.shape[0])
        z.sub_(reference)
        inside = (targets >= first) & (targets < last)
        token_logits = z.gather(0, (targets - first).clamp(0, last - first - 1)[None])[0]
        token = torch.where(inside, token_logits, token)
        e = torch.exp(z, out=masses[first:last])
        total += e.sum(dim=0).to(device, torch.float64)
        moment += z.mul_(e).sum(dim=0).to(device, torch.float64)
    return masses, token, total, moment


def _truncated_rows(
    head: Head,
    hidden: torch.Tensor,
    targets: torch.Tensor,
    orders: Orders,
    profile: Profile,
    tiling: Tiling,
    tick: Callable[[], None],
) -> RowSums:
    """Return the sums of complete rows: truncation needs the whole distribution of a row."""
    import torch

    p = distribution_torch(
        head.logits(hidden),
        temperature=profile.temperature,
        top_k=profile.top_k,
        top_p=profile.top_p,
    )
    aim = targets.to(p.device)
    entropy = torch.special.entr(p).sum(dim=1) / math.log(2.0)
    lo = orders.below(p.T.to(hidden.device, torch.float32).contiguous(), targets)
    tick()
    return RowSums(
        entropy_bits=entropy.cpu(),
        probability=p.gather(1, aim[:, None])[:, 0].cpu(),
        lo=lo.cpu(),
    )
