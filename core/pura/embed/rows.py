"""One text that is being generated: its schedule, codeword and dice.

Each row keeps its own history of contexts (docs/scheme.md §3), so texts that step together are
marked as if each were generated alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pura.base.errors import GenerationError
from pura.scheme import Payload, Profile, Scheduler, SecretKey, anchor, encode
from pura.scheme.gray import sector_of

Seed = int | Sequence[int] | None


class MarkedRow:
    """One text on its way: decides which point of the circle picks its next token.

    Args:
        key: The secret key; None for an unmarked text.
        payload: What the text shall carry; None for an unmarked text.
        profile: The profile.
        dice: Ordinary randomness for the steps that carry nothing. Never derived from the key.

    Attributes:
        key: As given. Hazard: a secret.
        profile: As given.
        tokens: What the text consists of so far.

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
        self.key = key
        self.profile = profile
        self.tokens: list[int] = []
        self._dice = dice
        self._schedule: Scheduler | None = None
        self._code: list[int] = []
        if payload is None:
            return
        if key is None:
            raise GenerationError("audit.no-key")
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
        self.tokens.append(token_id)
        if self._schedule is not None:
            self._schedule.push(token_id)

    def resume(self, tokens: Sequence[int], dice: np.random.Generator | None = None) -> None:
        """Go on from these tokens; every context in them counts as used."""
        self.tokens = []
        self._dice = dice or self._dice
        if self._schedule is not None:
            assert self.key is not None  # a row without a key has no schedule
            self._schedule = Scheduler(self.key, self.profile)
        for token_id in tokens:
            if self._schedule is not None:
                self._schedule.step(math.inf)
            self.push(int(token_id))


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
        raise GenerationError("number.least", name="seed", least=0)
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
