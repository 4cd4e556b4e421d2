"""What stands before a token in the secret orders of many keys.

For one token and one key the mass below is a sum over up to the whole vocabulary. It is taken in
two steps: sums over runs of :data:`RUN` neighbours in the key's order, for all rows at once, which
reads the masses once a key in whole lines of memory; then the runs before the token's own, and
inside that the tokens before it. No mask and no permuted copy is ever made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from pura.model.head import Head
from pura.model.naive import full_order
from pura.scheme import SecretKey, ranks

if TYPE_CHECKING:
    import torch

RUN: Final = 128
_KEYS: Final = 8  # keys worked out together
_FEW: Final = 4  # keys up to which the rows stay side by side as they are …
_ROWS: Final = 32  # … and rows that lie together beyond, so that a line of memory holds one token


@dataclass(frozen=True, kw_only=True, eq=False)
class Orders:
    """The secret orders of ``K`` keys over ``R`` logits.

    Attributes:
        order: int32 [K, R], the logit at each rank.
        rank: int32 [K, R], the rank of each logit.
    """

    order: torch.Tensor
    rank: torch.Tensor

    @classmethod
    def of(cls, keys: Sequence[SecretKey], vocab_size: int, head: Head) -> Orders:
        """Work out the orders of some keys for a head, on its device."""
        import torch

        orders = np.zeros((len(keys), head.rows), dtype=np.int32)
        inverse = np.zeros_like(orders)
        for number, key in enumerate(keys):
            full = full_order(key, vocab_size, head.rows)
            orders[number], inverse[number] = full, ranks(full)
        device = head.weight.device
        return cls(
            order=torch.from_numpy(orders).to(device), rank=torch.from_numpy(inverse).to(device)
        )

    def __len__(self) -> int:
        return int(self.order.shape[0])

    def below(self, masses: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Return the mass before each row's token in each order.

        Args:
            masses: float32 [R, N], contiguous, not negative.
            targets: int64 [N], the token of each row.

        Returns:
            float64 [K, N]; on the CPU where the device has no float64.
        """
        import torch

        keys, rows = len(self), int(targets.shape[0])
        place = torch.device("cpu") if masses.device.type == "mps" else masses.device
        order, rank = self.order.to(place), self.rank.to(place)
        masses, targets = masses.to(place), targets.to(place)
        out = torch.zeros((keys, rows), dtype=torch.float64, device=place)
        step = rows if keys <= _FEW else _ROWS
        for begin in range(0, rows if keys else 0, step):
            at = slice(begin, begin + step)
            some = masses[:, at].contiguous()
            for key in range(0, keys, _KEYS):
                of = slice(key, key + _KEYS)
                out[of, at] = _below(some, order[of], rank[of, targets[at]])
        return out


def _below(masses: torch.Tensor, order: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
    """Return the mass before the rank ``own`` of each row, [k, N], in orders [k, R]."""
    import torch

    keys, size, rows = len(order), int(order.shape[1]), int(own.shape[1])
    device, own = masses.device, own.to(torch.int64)
    starts = torch.arange(0, size, RUN, dtype=torch.int32, device=device)
    places = torch.arange(keys, dtype=torch.int32, device=device)[:, None] * size + starts
    runs = torch.nn.functional.embedding_bag(
        order.reshape(-1), masses, places.reshape(-1), mode="sum"
    ).view(keys, -1, rows)
    upto = runs.to(torch.float64).cumsum(dim=1)
    run = own // RUN
    before = upto.gather(1, (run - 1).clamp(min=0)[:, None])[:, 0]
    before = torch.where(run > 0, before, 0.0)
    inside = run[..., None] * RUN + torch.arange(RUN, device=device)  # ranks, [k, N, RUN]
    tokens = order.gather(1, inside.clamp(max=size - 1).reshape(keys, -1)).to(torch.int64)
    columns = torch.arange(rows, device=device)[None, :, None]
    near = masses[tokens.view(keys, rows, RUN), columns]
    return before + torch.where(inside < own[..., None], near, 0.0).sum(dim=2, dtype=torch.float64)
