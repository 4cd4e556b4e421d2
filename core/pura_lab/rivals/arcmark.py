"""ArcMark (Gilani et al. 2026): code symbols as angles, tokens drawn towards them by transport.

A step shows a random linear symbol of the message as an angle, turned by a keyed side value; tokens
lie on the circle in a keyed order, and the nearest ones are drawn by an optimal coupling of the
distribution with the side values. Here that coupling is the exact one of the circle (monotone, best
turn); the public code's iterations stop short of it, which biases tokens a little.

Every message is tried, so a payload is cut into blocks, one of which a context chooses.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import gcd

import numpy as np

from pura_lab.rivals.base import (
    ERASED,
    F64,
    I64,
    U64,
    Decoded,
    Observed,
    Rival,
    RivalRow,
    Seeded,
    below,
    bits_of,
    context_seed,
    context_seeds,
    layer_seeds,
    spare,
)

_SIDES = 256


def distance(angle: F64) -> F64:
    """Return how far angles, in turns, are from zero around the circle; 0 … 1/2."""
    away = np.abs(angle) % 1.0
    return np.minimum(away, 1.0 - away)


def best_turn(angles: F64, start: float) -> int:
    """Return how many places the side values are turned against the quantiles.

    Args:
        angles: float64 [r], of the tokens at the middles of ``r`` equal parts of the mass, rising.
        start: Angle of side value 0.
    """
    place = np.arange(angles.size) / angles.size
    return int(distance((angles - start - place) - place[:, None]).sum(axis=1).argmin())


@dataclass(frozen=True, kw_only=True, eq=False)
class ArcMark(Rival):
    """The scheme.

    Attributes:
        sides: Side values of a step.
        widest: Most bits of a block.
    """

    sides: int = _SIDES
    widest: int = 12

    @cached_property
    def width(self) -> int:
        """Bits of a block: the largest number that divides the payload."""
        return max(n for n in range(1, self.widest + 1) if self.payload_bits % n == 0)

    @property
    def blocks(self) -> int:
        """How many blocks the payload has."""
        return self.payload_bits // self.width

    def choose(self, row: RivalRow, probabilities: F64, context: I64) -> int:
        """Draw a token of the part of the mass that the side value is coupled with."""
        seed = np.array([context_seed(self.key, context, b"arc")], dtype=np.uint64)
        block = int(below(spare(seed), self.blocks)[0])
        bits = row.code[block * self.width : (block + 1) * self.width]
        start = int(self._symbols(seed, bits[None])[0, 0]) / (1 << self.width)
        side = int(below(spare(seed, 1), self.sides)[0])
        order = self._order(int(seed[0]))
        mass = np.cumsum(probabilities[order])
        middles = (np.arange(self.sides) + 0.5) / self.sides * mass[-1]
        angles = np.searchsorted(mass, middles, side="right") / self.vocab_size
        part = (side - best_turn(angles, start)) % self.sides
        point = (part + row.dice.random()) / self.sides * mass[-1]
        rank = int(np.searchsorted(mass, point, side="right"))
        if rank == mass.size:  # rounding left the end of the sum at or below the point
            rank = int(np.flatnonzero(probabilities[order])[-1])
        return int(order[rank])

    def observe(self, ids: I64) -> Seeded:
        """Return the angle that each token shows, its side value taken off; float64 [N]."""
        token, contexts = self.counted(ids)
        seeds = context_seeds(self.key, contexts, b"arc")
        side = below(spare(seeds, 1), self.sides)
        shown = [
            (self._step(int(seed)) * mine + self._start(int(seed))) % self.vocab_size
            for seed, mine in zip(seeds, ids[token].tolist(), strict=True)
        ]
        angle = np.array(shown, dtype=np.float64) / self.vocab_size - side / self.sides
        return Seeded(
            token=token, position=below(spare(seeds), self.blocks), draws=angle % 1.0, seeds=seeds
        )

    def decode(self, observed: Observed) -> Decoded:
        """Return for each block the message whose angles are nearest."""
        assert isinstance(observed, Seeded)
        values = np.arange(1 << self.width)
        messages = (values[:, None] >> np.arange(self.width - 1, -1, -1)) & 1
        symbols = np.full(self.blocks, ERASED)
        near = 0.0
        for block in range(self.blocks):
            mine = observed.position == block
            if not mine.any():
                continue
            shown = self._symbols(observed.seeds[mine], messages) / values.size
            loss = distance(shown - observed.draws[mine][:, None]).sum(axis=0)
            near += float(mine.sum() / 4 - loss.min())
            if int((loss == loss.min()).sum()) == 1:
                symbols[block] = loss.argmin()
        return Decoded(bits=bits_of(symbols, self.width), statistic=near)

    def _symbols(self, seeds: U64, messages: I64) -> I64:
        """Return the linear symbols of messages [M, width] under seeds [N]; int64 [N, M]."""
        column = below(layer_seeds(seeds, self.width), 1 << self.width)
        exact = column.astype(np.float64) @ messages.T.astype(np.float64)
        return exact.astype(np.int64) % (1 << self.width)

    def _step(self, seed: int) -> int:
        """Return what a token's place is multiplied by: no common divisor with the vocabulary."""
        found = int(below(spare(np.uint64(seed), 2), self.vocab_size))
        while gcd(found, self.vocab_size) != 1:
            found += 1
        return found

    def _start(self, seed: int) -> int:
        return int(below(spare(np.uint64(seed), 3), self.vocab_size))

    def _order(self, seed: int) -> I64:
        """Return the token at each place of the circle; int64 [V]."""
        inverse = pow(self._step(seed), -1, self.vocab_size)
        place = np.arange(self.vocab_size) - self._start(seed)
        return place * inverse % self.vocab_size
