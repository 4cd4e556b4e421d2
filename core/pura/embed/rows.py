"""The state of texts that are being generated: one schedule, codeword and dice a row.

Each row keeps its own history of contexts (docs/scheme.md §3), so a batch marks every text as if
it were generated alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pura.base.errors import GenerationError
from pura.embed.sampler import Ids, extend_order, lay_out, pick, stack_orders
from pura.scheme import Payload, Profile, Scheduler, SecretKey, anchor, encode
from pura.scheme.gray import sector_of

if TYPE_CHECKING:
    import torch

Seed = int | Sequence[int] | None


class Row:
    """One text on its way: decides which point of the circle picks its next token.

    Args:
        key: The secret key; None for an unmarked text.
        payload: What the text shall carry; None for an unmarked text.
        profile: The profile.
        dice: Ordinary randomness for the steps that carry nothing. Never derived from the key.

    Raises:
        PayloadError: The payload does not fit the profile.
        GenerationError: A payload without a key.
    """

    def __init__(
        self,
        key: SecretKey | None,
        payload: Payload | None,
        profile: Profile,
        dice: np.random.Generator,
    ) -> None:
        self._dice = dice
        self._schedule: Scheduler | None = None
        self._code: list[int] = []
        if payload is None:
            return
        if key is None:
            raise GenerationError("generate.payload-key")
        self._code = encode(payload, profile).tolist()
        self._schedule = Scheduler(key, profile)

    def point(self, entropy_bits: float) -> tuple[float, int]:
        """Return the point in [0, 1) that picks the next token, and the bits that it carries.

        Args:
            entropy_bits: Of the next-token distribution.
        """
        if self._schedule is not None:
            step = self._schedule.step(entropy_bits)
            if step.arity:
                length = len(self._code)
                bits = [self._code[(step.index + j) % length] for j in range(step.arity)]
                return anchor(step, sector_of(bits)), step.arity
        return float(self._dice.random()), 0

    def push(self, token_id: int) -> None:
        """Tell the row which token it got."""
        if self._schedule is not None:
            self._schedule.push(token_id)


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """The outcome of one step of a batch; entries of rows that rest are 0.

    Attributes:
        tokens: int64 [B].
        entropy_bits: float64 [B].
        arity: int64 [B], bits carried, 0 … 3.
    """

    tokens: npt.NDArray[np.int64]
    entropy_bits: npt.NDArray[np.float64]
    arity: npt.NDArray[np.int64]


class Batch:
    """Rows that step together.

    Args:
        keys: One a row; None where the row is unmarked.
        payloads: One a row; None where the row is unmarked.
        profile: The profile of all rows.
        dice: One generator a row.
    """

    def __init__(
        self,
        keys: Sequence[SecretKey | None],
        payloads: Sequence[Payload | None],
        profile: Profile,
        dice: Sequence[np.random.Generator],
    ) -> None:
        self._profile = profile
        self._keys = list(keys)
        self._rows = [
            Row(key, payload, profile, die)
            for key, payload, die in zip(keys, payloads, dice, strict=True)
        ]
        self._order: torch.Tensor | None = None

    def __len__(self) -> int:
        return len(self._rows)

    def draw(self, logits: torch.Tensor, active: Sequence[bool] | None = None) -> Drawn:
        """Choose the next token of every row.

        Args:
            logits: float [B, V] on any device.
            active: Which rows still run; None for all. The others use no randomness.

        Raises:
            GenerationError: The logits hold NaN or are all -inf.
        """
        import torch

        if logits.device.type == "mps":  # Apple's GPU knows no float64
            logits = logits.cpu()
        if self._order is None:
            self._order = self._stack(logits.shape[1]).to(logits.device)
        ordered = lay_out(logits, self._order, self._profile)
        entropy = ordered.entropy_bits.cpu().numpy()
        if not np.isfinite(entropy).all():
            raise GenerationError("generate.not-finite")
        running = [True] * len(self) if active is None else list(active)
        points = np.zeros(len(self))
        arity = np.zeros(len(self), dtype=np.int64)
        for i, row in enumerate(self._rows):
            if running[i]:
                points[i], arity[i] = row.point(float(entropy[i]))
        chosen = pick(ordered, torch.from_numpy(points).to(logits.device)).cpu().numpy()
        for i, row in enumerate(self._rows):
            if running[i]:
                row.push(int(chosen[i]))
        rest = ~np.asarray(running)
        chosen[rest] = 0
        return Drawn(tokens=chosen, entropy_bits=np.where(rest, 0.0, entropy), arity=arity)

    def _stack(self, width: int) -> torch.Tensor:
        import torch

        size = self._profile.vocab_size
        made: dict[str | None, Ids] = {}
        for key in self._keys:
            name = None if key is None else key.fingerprint
            if name not in made:
                order = np.arange(size) if key is None else key.vocabulary_order(size)
                made[name] = extend_order(order, width)
        orders = [made[None if key is None else key.fingerprint] for key in self._keys]
        return stack_orders(orders, torch.device("cpu"))


def dice_for(seed: Seed, rows: int) -> list[np.random.Generator]:
    """Return one generator a row.

    Args:
        seed: One number: row ``i`` takes its child ``i``, however the rows are cut into batches.
            A list: one number a row, and a row is the same as alone with that number. None:
            the operating system's randomness.
        rows: How many.

    Raises:
        GenerationError: The list is not of that length, or a seed is negative.
    """
    seeds = [] if seed is None else [seed] if isinstance(seed, int) else list(seed)
    if any(s < 0 for s in seeds):
        raise GenerationError("generate.seed")
    if seed is None or isinstance(seed, int):
        root = np.random.SeedSequence(seed).entropy
        children = [np.random.SeedSequence(root, spawn_key=(row,)) for row in range(rows)]
    else:
        check_count(len(seeds), rows, "seed")
        children = [np.random.SeedSequence(s, spawn_key=(0,)) for s in seeds]
    return [np.random.default_rng(child) for child in children]


def check_count(given: int, rows: int, name: str) -> None:
    """Refuse a list that has not one value a row.

    Raises:
        GenerationError: Names what there is too much or too little of.
    """
    if given != rows:
        raise GenerationError("generate.rows", rows=rows, given=given, name=name)
