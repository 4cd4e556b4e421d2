"""The marking engine: rows that come, go and take one token a step.

Nothing here knows batches: a step takes the logits of whatever rows run just now, in any order.
:func:`pura.embed.generate`, the logits processor and the adapters of :mod:`pura.embed.serving` all
stand on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from pura.embed.rows import MarkedRow
from pura.embed.sampler import extend_order, lay_out, pick
from pura.scheme import Payload, Profile, SecretKey

if TYPE_CHECKING:
    import torch

_ORDERS_KEPT: Final = 8  # secret orders that are not in use any more; each is 8 bytes a token
_CACHED: Final = 1 << 16  # probabilities, 8 bytes each


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """The outcome of one step, an entry for every row of the logits.

    Attributes:
        tokens: int64 [B]; 0 where no row stood, -1 where the logits hold NaN or are all -inf:
            such a row has not moved.
        entropy_bits: float64 [B]; 0 where no row stood.
        arity: int64 [B], bits carried, 0 … 3.
    """

    tokens: npt.NDArray[np.int64]
    entropy_bits: npt.NDArray[np.float64]
    arity: npt.NDArray[np.int64]


class MarkingEngine:
    """Chooses the next token of every row that runs.

    Each row has its own key, payload, profile, history and dice, so a text is marked as if it were
    generated alone. Not for several threads at once.
    """

    def __init__(self) -> None:
        self._rows: dict[int, MarkedRow] = {}
        self._next = 0
        self._orders: dict[tuple[str | None, int, int, torch.device], torch.Tensor] = {}
        self._room: torch.Tensor | None = None

    def __len__(self) -> int:
        return len(self._rows)

    def add(
        self,
        key: SecretKey | None,
        payload: Payload | None,
        profile: Profile,
        dice: np.random.Generator | None = None,
        *,
        tokens: Sequence[int] = (),
    ) -> int:
        """Begin a text.

        Args:
            key: The secret key; None for an unmarked text. Hazard: held until the row is removed.
            payload: What the text shall carry; None for an unmarked text.
            profile: The profile that the verifier will use.
            dice: Ordinary randomness for the steps that carry nothing, never derived from the key;
                None takes the operating system's.
            tokens: What there is of the text already; see :meth:`resume`.

        Returns:
            The row's number, never given twice.

        Raises:
            PayloadError: The payload does not fit the profile.
            GenerationError: A payload without a key.
        """
        row = MarkedRow(key, payload, profile, dice or np.random.default_rng())
        if len(tokens):
            row.resume(tokens)
        self._rows[self._next] = row
        self._next += 1
        return self._next - 1

    def remove(self, row: int) -> None:
        """End a text."""
        del self._rows[row]
        while len(self._orders) > len(self._rows) + _ORDERS_KEPT:
            del self._orders[next(iter(self._orders))]  # the one unused for the longest time

    def tokens(self, row: int) -> Sequence[int]:
        """Return the tokens of a row, first to last; to be read only."""
        return self._rows[row].tokens

    def resume(
        self, row: int, tokens: Sequence[int], dice: np.random.Generator | None = None
    ) -> None:
        """Set what a text consists of, where somebody else has decided about its tokens.

        Every context in it counts as used, so that no phase is taken twice; what was drawn with
        this row and is not in ``tokens`` is forgotten.

        Args:
            row: The text.
            tokens: All of its tokens.
            dice: Others from here on; None goes on with those that it has.
        """
        self._rows[row].resume(tokens, dice)

    def step(self, logits: torch.Tensor, rows: Sequence[int | None]) -> Drawn:
        """Choose the next token of every row.

        Args:
            logits: float [B, V] on any device.
            rows: Which row each line of the logits belongs to, all different; None: to none.
        """
        if logits.device.type == "mps":  # Apple's GPU knows no float64
            logits = logits.cpu()
        drawn = Drawn(
            tokens=np.zeros(len(rows), dtype=np.int64),
            entropy_bits=np.zeros(len(rows)),
            arity=np.zeros(len(rows), dtype=np.int64),
        )
        alike: dict[int, list[tuple[int, MarkedRow]]] = {}  # by profile
        for line, number in enumerate(rows):
            if number is not None:
                row = self._rows[number]
                alike.setdefault(id(row.profile), []).append((line, row))
        # On a processor as many lines at once as stay in its cache.
        on_cpu = logits.device.type == "cpu"
        most = max(1, _CACHED // logits.shape[1]) if on_cpu else max(1, len(rows))
        for together in alike.values():
            for at in range(0, len(together), most):
                self._draw(logits, together[at : at + most], drawn)
        return drawn

    def _draw(self, logits: torch.Tensor, some: list[tuple[int, MarkedRow]], drawn: Drawn) -> None:
        """Draw for rows of one profile."""
        import torch

        lines = [line for line, _ in some]
        orders = [self._order(row, logits.shape[1], logits.device) for _, row in some]
        by_rank = _permuted(logits, lines, orders)
        ordered = lay_out(by_rank, some[0][1].profile, self._room_for(by_rank))
        entropy = ordered.entropy_bits.cpu().numpy()
        points = np.zeros(len(some))
        for at, (line, row) in enumerate(some):
            if np.isfinite(entropy[at]):
                drawn.entropy_bits[line] = entropy[at]
                points[at], drawn.arity[line] = row.point(float(entropy[at]))
        ranks = pick(ordered, torch.from_numpy(points).to(logits.device))
        if _shared(orders):
            tokens = orders[0][ranks].tolist()
        else:
            tokens = [int(order[rank]) for order, rank in zip(orders, ranks.tolist(), strict=True)]
        for at, (line, row) in enumerate(some):
            if np.isfinite(entropy[at]):
                drawn.tokens[line] = tokens[at]
                row.push(tokens[at])
            else:
                drawn.tokens[line] = -1

    def _room_for(self, logits: torch.Tensor) -> torch.Tensor | None:
        """Return memory to work in on a processor; elsewhere torch keeps what was freed."""
        import torch

        if logits.device.type != "cpu":
            return None
        if self._room is None or self._room.numel() < 2 * logits.numel():
            self._room = torch.empty(2 * logits.numel(), dtype=torch.float64)
        return self._room[: 2 * logits.numel()].view(2, *logits.shape)

    def _order(self, row: MarkedRow, width: int, device: torch.device) -> torch.Tensor:
        """Return the secret order of a row, and where it is not known yet, work it out."""
        import torch

        size = row.profile.vocab_size
        name = (None if row.key is None else row.key.fingerprint, size, width, device)
        order = self._orders.pop(name, None)
        if order is None:
            natural = np.arange(size) if row.key is None else row.key.vocabulary_order(size)
            order = torch.from_numpy(extend_order(natural, width)).to(device)
        self._orders[name] = order  # the latest is at the end
        return order


def _permuted(logits: torch.Tensor, lines: list[int], orders: list[torch.Tensor]) -> torch.Tensor:
    """Return some lines of the logits, each in its secret order; float [B, V]."""
    import torch

    if len(lines) > 1 and _shared(orders):
        whole = lines == list(range(logits.shape[0]))
        return torch.index_select(logits if whole else logits[lines], 1, orders[0])
    out = torch.empty((len(lines), logits.shape[1]), dtype=logits.dtype, device=logits.device)
    for at, (line, order) in enumerate(zip(lines, orders, strict=True)):
        torch.index_select(logits[line], 0, order, out=out[at])
    return out


def _shared(orders: list[torch.Tensor]) -> bool:
    return all(order is orders[0] for order in orders)
