"""Marks with a message spread over the complete vocabulary: ArcMark and MC²Mark.

ArcMark (Gilani et al. 2026): code symbols as angles, tokens drawn towards them by transport.

A step shows a random linear symbol of the message as an angle, turned by a keyed side value; tokens
lie on the circle in a keyed order, and the nearest ones are drawn by an optimal coupling of the
distribution with the side values. Here that coupling is the exact one of the circle (monotone, best
turn); the public code's iterations stop short of it, which biases tokens a little.

Every message is tried, so a payload is cut into blocks, one of which a context chooses.

MC²Mark (Cui et al. 2026): channels of tokens, boosted by a masked segment of the message.

A layer cuts the vocabulary at random into as many channels as the segment has bits, and boosts
those whose masked bit is one; what is left over is spread so that the mean over all masked segments
of the same weight is the distribution itself. The released code leaves a layer out where the
boosted channels are empty, which biases small supports; here the rest is spread there too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import gcd

import numpy as np

from pura.scheme import F64, I64
from pura_lab.rivals.base import (
    ERASED,
    U64,
    Decoded,
    Observed,
    Reweighting,
    Rival,
    RivalRow,
    below,
    bits_of,
    context_seed,
    context_seeds,
    layer_seeds,
    spare,
    words,
)

_SIDES = 256


def distance(angle: F64) -> F64:
    """Return the distance of angles, in turns, from zero on the circle; 0 … 1/2."""
    away = np.abs(angle) % 1.0
    return np.minimum(away, 1.0 - away)


def best_turn(angles: F64, start: float) -> int:
    """Return by how many positions the side values are rotated against the quantiles.

    Args:
        angles: float64 [r], angles of the tokens at the middles of ``r`` equal parts of the mass,
            rising.
        start: Angle of side value 0.
    """
    offsets = np.arange(angles.size) / angles.size
    return int(distance((angles - start - offsets) - offsets[:, None]).sum(axis=1).argmin())


@dataclass(frozen=True, kw_only=True, eq=False)
class ArcMark(Rival):
    """The scheme.

    Attributes:
        sides: Number of side values of a step.
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
        """Number of blocks of the payload."""
        return self.payload_bits // self.width

    def choose(self, row: RivalRow, probabilities: F64, context: I64) -> int:
        """Draw a token from the part of the mass that is coupled with the side value."""
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
        point = (part + row.rng.random()) / self.sides * mass[-1]
        rank = int(np.searchsorted(mass, point, side="right"))
        if rank == mass.size:  # rounding left the end of the sum at or below the point
            rank = int(np.flatnonzero(probabilities[order])[-1])
        return int(order[rank])

    def observe(self, ids: I64) -> Observed:
        """Return the angle of each token minus its side value; float64 [N]."""
        token, contexts = self.counted(ids)
        seeds = context_seeds(self.key, contexts, b"arc")
        side = below(spare(seeds, 1), self.sides)
        turned = [
            (self._step(int(seed)) * token_id + self._start(int(seed))) % self.vocab_size
            for seed, token_id in zip(seeds, ids[token].tolist(), strict=True)
        ]
        angle = np.array(turned, dtype=np.float64) / self.vocab_size - side / self.sides
        return Observed(
            token=token, position=below(spare(seeds), self.blocks), draws=angle % 1.0, seeds=seeds
        )

    def decode(self, observed: Observed) -> Decoded:
        """Return for each block the message with the nearest angles."""
        values = np.arange(1 << self.width)
        messages = (values[:, None] >> np.arange(self.width - 1, -1, -1)) & 1
        symbols = np.full(self.blocks, ERASED)
        closeness = 0.0
        for block in range(self.blocks):
            in_block = observed.position == block
            if not in_block.any():
                continue
            angles = self._symbols(observed.seeds[in_block], messages) / values.size
            loss = distance(angles - observed.draws[in_block][:, None]).sum(axis=0)
            closeness += float(in_block.sum() / 4 - loss.min())
            if int((loss == loss.min()).sum()) == 1:
                symbols[block] = loss.argmin()
        return Decoded(bits=bits_of(symbols, self.width), statistic=closeness)

    def _symbols(self, seeds: U64, messages: I64) -> I64:
        """Return the linear symbols of messages [M, width] under seeds [N]; int64 [N, M]."""
        column = below(layer_seeds(seeds, self.width), 1 << self.width)
        exact = column.astype(np.float64) @ messages.T.astype(np.float64)
        return exact.astype(np.int64) % (1 << self.width)

    def _step(self, seed: int) -> int:
        """Return the factor of a token's position, which is coprime to the vocabulary size."""
        factor = int(below(spare(np.uint64(seed), 2), self.vocab_size))
        while gcd(factor, self.vocab_size) != 1:
            factor += 1
        return factor

    def _start(self, seed: int) -> int:
        return int(below(spare(np.uint64(seed), 3), self.vocab_size))

    def _order(self, seed: int) -> I64:
        """Return the token at each position of the circle; int64 [V]."""
        inverse = pow(self._step(seed), -1, self.vocab_size)
        offset = np.arange(self.vocab_size) - self._start(seed)
        return offset * inverse % self.vocab_size


_PER_WORD = 4  # layers that share a keyed word


def boosted(mass: F64, active: I64, codes: F64) -> F64:
    """Return the channels' masses after a layer.

    Args:
        mass: float64 [L], sums to 1.
        active: int64 [L], 0 or 1, of weight ``k`` between 1 and ``L - 1``.
        codes: float64 [C, L], all vectors of that weight.
    """
    target = mass.size / int(active.sum())
    heavy = codes @ mass
    factor = np.minimum(
        target, np.divide(1.0, heavy, where=heavy > 0, out=np.full_like(heavy, np.inf))
    )
    spread = mass * ((target - factor) @ codes)
    active_mass = float(active @ mass)
    reached = min(target, 1.0 / active_mass) if active_mass > 0 else target
    out = reached * mass * active
    left = 1.0 - reached * active_mass
    return out + left * spread / spread.sum() if left > 0 and spread.sum() > 0 else out


@dataclass(frozen=True, kw_only=True, eq=False)
class Mc2Mark(Reweighting):
    """The scheme.

    Attributes:
        layers: Number of layers.
        widest: Most bits of a segment.
    """

    layers: int = 10
    widest: int = 8

    @cached_property
    def width(self) -> int:
        """Bits of a segment: the largest number that divides the payload."""
        return max(n for n in range(1, self.widest + 1) if self.payload_bits % n == 0)

    @cached_property
    def _codes(self) -> list[F64]:
        width = self.width
        out = []
        for weight in range(width + 1):
            subsets = list(combinations(range(width), weight))
            rows = np.zeros((len(subsets), width))
            for row, subset in zip(rows, subsets, strict=True):
                row[list(subset)] = 1.0
            out.append(rows)
        return out

    def law(self, code: I64, probabilities: F64, context: I64) -> F64:
        """Return the distribution after all layers."""
        segments = code.reshape(-1, self.width)
        seeds = layer_seeds(context_seed(self.key, context, b"mc2"), self.layers)
        numbers, masks = self._drawn(seeds)
        out = probabilities
        everyone = np.arange(self.vocab_size)
        for layer, (number, mask) in enumerate(zip(numbers, masks, strict=True)):
            active = segments[number] ^ mask
            if layer % _PER_WORD == 0:
                drawn = words(seeds[layer], everyone)
            if not 0 < active.sum() < self.width:
                continue
            channel = self._channel(drawn, layer)
            mass = np.bincount(channel, weights=out, minlength=self.width)
            after = boosted(mass / mass.sum(), active, self._codes[int(active.sum())])
            out = out * np.divide(after, mass, where=mass > 0, out=np.zeros_like(mass))[channel]
        return out

    def _drawn(self, seeds: U64) -> tuple[I64, I64]:
        """Return segments [...] and masks [..., width]."""
        number = below(spare(seeds), self.payload_bits // self.width)
        return number, (
            (spare(seeds, 1)[..., None] >> np.arange(self.width, dtype=np.uint64)) & np.uint64(1)
        ).astype(np.int64)

    def _channel(self, drawn: U64, layer: int | I64) -> I64:
        """Return channels from words, 16 bits of which are a layer's."""
        part = drawn >> (np.asarray(layer) % _PER_WORD * 16).astype(np.uint64) & np.uint64(0xFFFF)
        return (part.astype(np.int64) * self.width) >> 16

    def observe(self, ids: I64) -> Observed:
        """Return segment, token's channel and mask of each layer; int64 [N, layers, 2 + L]."""
        token, contexts = self.counted(ids)
        seeds = layer_seeds(context_seeds(self.key, contexts, b"mc2"), self.layers)
        number, mask = self._drawn(seeds)
        layers = np.arange(self.layers)
        first = seeds[:, layers // _PER_WORD * _PER_WORD]
        channel = self._channel(words(first, ids[token][:, None]), layers)
        draws = np.concatenate([number[..., None], channel[..., None], mask], axis=-1)
        return Observed(token=token, position=np.zeros_like(token), draws=draws)

    def decode(self, observed: Observed) -> Decoded:
        """Return for each bit which of its values has the higher rate of active channels."""
        draws = observed.draws.reshape(-1, 2 + self.width)
        number, channel, mask = draws[:, 0], draws[:, 1], draws[:, 2:]
        shape = (self.payload_bits // self.width, self.width)
        hits, totals = np.zeros((2, *shape)), np.zeros((2, *shape))
        active = mask[np.arange(mask.shape[0]), channel]
        # A masked bit that is one speaks for a bit that is zero.
        np.add.at(hits, (1 - active, number, channel), 1.0)
        for value in (0, 1):
            np.add.at(totals[value], number, mask if value == 0 else 1 - mask)
        rate = np.divide(hits, totals, where=totals > 0, out=np.full_like(hits, 1 / self.width))
        bits = np.where(rate[0] == rate[1], ERASED, rate[1] > rate[0]).astype(np.int8)
        return Decoded(bits=bits.ravel(), statistic=float(np.abs(rate[1] - rate[0]).sum()))
