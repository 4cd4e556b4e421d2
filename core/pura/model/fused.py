"""The output head in one sweep on a CUDA device: logits never leave the chip.

Plain torch (:mod:`pura.model.tiles`) writes every tile of logits to memory and reads it back for
each sum. Here a program takes some rows and a stretch of the vocabulary, multiplies, and keeps only
the sums of its stretch: the largest logit, ``Σe``, ``Σz·e`` and, for each key, ``Σe`` of what
stands before the row's token in the key's order. Every program writes its own places, so nothing
depends on which one ends first; the stretches are put together in float64.

Needs Triton, which CUDA builds of torch bring along. Its interpreter runs the same program on a
processor, which is how it is tested where there is no device (decision 010).
"""

from __future__ import annotations

from typing import Final

import torch
import triton
import triton.language as tl

from pura.model.head import Head, Orders

_STRETCH: Final = 2048  # columns that one program sums up in float32
_ROWS: Final = 64
_COLUMNS: Final = 128
_DEPTH: Final = 32
_NEVER: Final = tl.constexpr(-1.0e30)  # below every logit, and finite: its differences are no NaN


@triton.jit  # type: ignore[untyped-decorator]
def _sweep(  # type: ignore[no-untyped-def]
    hidden,
    weight,
    bias,
    rank,
    own,
    targets,
    out_top,
    out_token,
    out_total,
    out_moment,
    out_below,
    n,
    size,
    depth,
    keys,
    scale,
    cap,
    temperature,
    HAS_BIAS: tl.constexpr,
    HAS_CAP: tl.constexpr,
    KEYS: tl.constexpr,
    STRETCH: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    DEPTH: tl.constexpr,
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    stretch = tl.program_id(1)
    there = row < n
    row_at = row.to(tl.int64)
    aim = tl.load(targets + row_at, mask=there, other=-1)
    number = tl.arange(0, KEYS)
    top = tl.full((ROWS,), _NEVER, tl.float32)
    token = tl.zeros((ROWS,), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    moment = tl.zeros((ROWS,), tl.float32)
    below = tl.zeros((ROWS, KEYS), tl.float32)
    for first in range(0, tl.minimum(STRETCH, size - stretch * STRETCH), COLUMNS):
        column = stretch * STRETCH + first + tl.arange(0, COLUMNS)
        inside = column < size
        column_at = column.to(tl.int64)
        z = tl.zeros((ROWS, COLUMNS), tl.float32)
        for begin in range(0, depth, DEPTH):
            d = begin + tl.arange(0, DEPTH)
            h = tl.load(
                hidden + row_at[:, None] * depth + d[None, :],
                mask=there[:, None] & (d < depth)[None, :],
                other=0.0,
            )
            w = tl.load(
                weight + column_at[None, :] * depth + d[:, None],
                mask=inside[None, :] & (d < depth)[:, None],
                other=0.0,
            )
            z += tl.dot(h, w, input_precision="ieee")
        # As in the network itself: 16-bit weights give 16-bit logits.
        z = z.to(weight.dtype.element_ty)
        if HAS_BIAS:
            z += tl.load(bias + column_at, mask=inside, other=0.0)[None, :]
        z = z.to(tl.float32) * scale
        if HAS_CAP:
            # tanh by what the device's plain instructions have; both ends are reached, no NaN.
            z = cap * (1.0 - 2.0 / (tl.exp(2.0 * z / cap) + 1.0))
        z = z / temperature
        z = tl.where(inside[None, :], z, _NEVER)
        token += tl.sum(tl.where(column[None, :] == aim[:, None], z, 0.0), axis=1)
        higher = tl.maximum(top, tl.max(z, axis=1))
        shift = top - higher
        less = tl.exp(shift)
        z = z - higher[:, None]
        e = tl.where(inside[None, :], tl.exp(z), 0.0)
        moment = (moment + total * shift) * less + tl.sum(z * e, axis=1)
        total = total * less + tl.sum(e, axis=1)
        below = below * less[:, None]
        for key in range(keys):
            mine = tl.load(own + key * n + row_at, mask=there, other=0)
            place = tl.load(rank + key * size + column_at, mask=inside, other=0)
            mass = tl.sum(tl.where(place[None, :] < mine[:, None], e, 0.0), axis=1)
            below += tl.where(number[None, :] == key, mass[:, None], 0.0)
        top = higher
    at = stretch.to(tl.int64) * n + row_at
    tl.store(out_top + at, top, mask=there)
    tl.store(out_token + at, token, mask=there)
    tl.store(out_total + at, total, mask=there)
    tl.store(out_moment + at, moment, mask=there)
    tl.store(
        out_below + (stretch.to(tl.int64) * keys + number[None, :]) * n + row_at[:, None],
        below,
        mask=there[:, None] & (number < keys)[None, :],
    )


def head_sums(
    head: Head, hidden: torch.Tensor, targets: torch.Tensor, orders: Orders, temperature: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Sum up some rows over all logits, relative to each row's largest one, on the device.

    Args:
        head: ``R`` rows of the vocabulary.
        hidden: [N, D], in the dtype of the weights.
        targets: int64 [N], the token that follows each.
        orders: Of a few keys (:data:`pura.model.tiles.MOST_KEYS_FUSED`).
        temperature: By which the logits are divided.

    Returns:
        float64 [N], the token's logit less the largest; [N], ``Σ e``; [N], ``Σ z·e``; and [K, N],
        ``Σ e`` of what stands before the token in each order.
    """
    n, depth = (int(v) for v in hidden.shape)
    keys, stretches = len(orders), triton.cdiv(head.rows, _STRETCH)
    device = hidden.device
    top = torch.empty((stretches, n), device=device)
    token, total, moment = (torch.empty_like(top) for _ in range(3))
    below = torch.empty((stretches, keys, n), device=device)
    own = orders.rank[:, targets].contiguous()
    weight, hidden = head.weight.contiguous(), hidden.contiguous()
    _sweep[(triton.cdiv(n, _ROWS), stretches)](
        hidden,
        weight,
        weight if head.bias is None else head.bias,
        orders.rank,
        own,
        targets,
        top,
        token,
        total,
        moment,
        below,
        n,
        head.rows,
        depth,
        keys,
        head.scale,
        head.cap or 1.0,
        temperature,
        HAS_BIAS=head.bias is not None,
        HAS_CAP=head.cap is not None,
        KEYS=triton.next_power_of_2(max(keys, 1)),
        STRETCH=_STRETCH,
        ROWS=_ROWS,
        COLUMNS=_COLUMNS,
        DEPTH=_DEPTH,
    )
    highest = top.amax(dim=0)
    shift = (top - highest).to(torch.float64)
    less, sums = shift.exp(), total.to(torch.float64)
    return (
        (token.sum(dim=0) - highest).to(torch.float64),
        (sums * less).sum(dim=0),
        ((moment.to(torch.float64) + sums * shift) * less).sum(dim=0),
        (below.to(torch.float64) * less[:, None]).sum(dim=0),
    )
