"""Marks by tournaments of tokens: SynthID-Text and MirrorMark.

SynthID-Text (Dathathri et al. 2024), the non-distortionary tournament.

There are thirty layers, each with a keyed coin ``g`` for every context and token. A layer moves
probability from tokens with tails to tokens with heads, and the mean over the coins is the
distribution itself. Tokens after a repeated context are plain. With ``window`` 4 a layer sees
n-grams of 5.

MirrorMark (Jiang et al. 2026): the message reflects the random numbers of an unbiased sampler.

``u`` becomes ``(symbol / 2^m - u) mod 1``, which keeps it uniform, so the sampler under it stays
unbiased for every message: here Gumbel-max, or a tournament of thirty layers with uniform numbers.
Positions are handed out in frames, so that each is met about equally often; an edit disturbs them
until the frame ends, which the text itself decides.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from pura.detect.decode import bets
from pura.scheme import F64, I64, U8, Payload, SecretKey
from pura_lab.rivals.base import (
    Decoded,
    Observed,
    Reweighting,
    Rival,
    RivalRow,
    add_up,
    below,
    bits_of,
    context_seed,
    context_seeds,
    draw,
    largest,
    layer_seeds,
    spare,
    symbols_of,
    uniforms,
    words,
)
from pura_lab.rivals.gumbel import arg_gumbel

DEPTH: Final = 30


def tournament(probabilities: F64, g: npt.NDArray[np.number]) -> F64:
    """Return the law of the tournament's winner, with two entrants in each match.

    Args:
        probabilities: float64 [V].
        g: [layers, V], in [0, 1].
    """
    out = probabilities.copy()
    for layer in g:
        values = layer.astype(np.float64)
        out *= 1.0 + values - out @ values
    return out


@dataclass(frozen=True, kw_only=True, eq=False)
class SynthId(Reweighting):
    """The tournament with coins from the secret key.

    Attributes:
        depth: Number of layers, at most 64.
    """

    window: int = 4
    depth: int = DEPTH

    def law(self, code: I64, probabilities: F64, context: I64) -> F64:
        """Return the distribution of the winner."""
        return tournament(probabilities, self.coins(np.arange(self.vocab_size), context[None]))

    def coins(self, ids: I64, contexts: I64) -> U8:
        """Return the coins of tokens [N] after contexts [N, W] or [1, W]; uint8 [layers, N]."""
        if contexts.shape[0] == 1:
            drawn = words(context_seed(self.key, contexts[0], b"synthid"), ids)
        else:
            drawn = words(context_seeds(self.key, contexts, b"synthid"), ids)
        layers = np.arange(self.depth, dtype=np.uint64)
        return ((drawn >> layers[:, None]) & np.uint64(1)).astype(np.uint8)

    def observe(self, ids: I64) -> Observed:
        """Return the coins of each token that follows a new context; uint8 [N, layers]."""
        token, contexts = self.counted(ids)
        g = self.coins(ids[token], contexts) if token.size else np.zeros((self.depth, 0), np.uint8)
        return Observed(token=token, position=np.zeros_like(token), draws=g.T)

    def decode(self, observed: Observed) -> Decoded:
        """Return the weighted mean of the coins, weights falling from 10 to 1 over the layers."""
        weights = np.linspace(10.0, 1.0, self.depth)
        means = observed.draws.mean(axis=0) if observed.draws.size else np.full(self.depth, 0.5)
        score = float(means @ weights / weights.sum())
        return Decoded(bits=np.zeros(0, dtype=np.int8), statistic=score)

    def log_e(self, observed: Observed) -> float:
        """Return the evidence, in nats; mean one for a text without the key."""
        return float(bets.layered_coins(observed.draws).sum())

    def printed_p(self, ids: I64) -> float:
        """Return the binomial tail of all coins, which is exact: repeated contexts are masked."""
        draws = self.observe(ids).draws
        return binomial_tail(int(draws.sum()), draws.size)


def binomial_tail(count: int, total: int) -> float:
    """Return the probability of ``count`` heads or more among ``total`` fair coins."""
    from scipy.stats import binom

    return float(binom.sf(count - 1, total, 0.5))


_PER_WORD = 4  # numbers of 16 bits
_QUEUE = 4
_ENDS = 8  # once all positions could have been used, one token in 8 ends a frame


def mirrored(u: F64, symbol: int | I64, width: int) -> F64:
    """Return ``(symbol / 2^width - u) mod 1``."""
    return np.asarray((np.asarray(symbol) / (1 << width) - u) % 1.0)


class Frames:
    """Assigns positions to contexts about equally often, in the same way for writing and reading.

    Args:
        key: The secret key.
        positions: Number of positions.
    """

    def __init__(self, key: SecretKey, positions: int) -> None:
        self._key = key
        self._count = np.zeros(positions, dtype=np.int64)
        self._queue: deque[int] = deque(maxlen=_QUEUE)

    def next(self, seed: np.uint64, last: int) -> int:
        """Return the position of a new context.

        Args:
            seed: Seed of the context.
            last: Last token of the context.
        """
        rarest = np.flatnonzero(self._count == self._count.min())
        position = int(rarest[below(spare(seed), rarest.size)])
        self._count[position] += 1
        self._queue.append(last)
        length, n = int(self._count.sum()), self._count.size
        ends = context_seed(self._key, list(self._queue), b"frame") % _ENDS == 0
        if (length >= n and ends) or 2 * length >= 3 * n:
            self._count[:] = 0
            self._queue.clear()
        return position


@dataclass(frozen=True, kw_only=True, eq=False)
class MirrorMark(Rival):
    """The scheme.

    Attributes:
        width: Bits of a symbol.
        layers: Layers of the tournament; 0 for Gumbel-max.
    """

    width: int = 2
    layers: int = 0

    @property
    def positions(self) -> int:
        """Number of symbols of the payload."""
        return -(-self.payload_bits // self.width)

    def start(self, payload: Payload | None, rng: np.random.Generator) -> RivalRow:
        """Begin a text with a new frame."""
        row = super().start(payload, rng)
        row.state = Frames(self.key, self.positions)
        return row

    def encode(self, bits: I64) -> I64:
        """Return the symbols; int64 [positions]."""
        return symbols_of(bits, self.width)

    def choose(self, row: RivalRow, probabilities: F64, context: I64) -> int:
        """Return the token that the reflected numbers choose."""
        seed = np.uint64(context_seed(self.key, context, b"mirror"))
        symbol = int(row.code[row.state.next(seed, int(context[-1]))])
        u = mirrored(self._numbers(seed, np.arange(self.vocab_size)), symbol, self.width)
        if not self.layers:
            return arg_gumbel(probabilities, u[0])
        return draw(tournament(probabilities, u), row.rng.random())

    def _numbers(
        self, seeds: np.uint64 | np.ndarray[tuple[int], np.dtype[np.uint64]], ids: I64
    ) -> F64:
        """Return the numbers of tokens; float64 [layers, N]."""
        if not self.layers:
            return uniforms(words(seeds, ids))[None]
        several = layer_seeds(seeds, -(-self.layers // _PER_WORD)).T
        drawn = words(several[..., None] if several.ndim == 1 else several, ids)
        parts = [(drawn >> np.uint64(16 * k)) & np.uint64(0xFFFF) for k in range(_PER_WORD)]
        numbers = (np.concatenate(parts).astype(np.float64) + 0.5) / 65536
        return numbers[: self.layers]

    def observe(self, ids: I64) -> Observed:
        """Return the numbers of each token; float64 [N, layers]."""
        token, contexts = self.counted(ids)
        seeds = context_seeds(self.key, contexts, b"mirror")
        frames = Frames(self.key, self.positions)
        last = contexts[:, -1].tolist()
        position = [frames.next(seed, end) for seed, end in zip(seeds, last, strict=True)]
        return Observed(
            token=token,
            position=np.array(position, dtype=np.int64),
            draws=self._numbers(seeds, ids[token]).T,
        )

    def decode(self, observed: Observed) -> Decoded:
        """Return for each position the symbol with the largest numbers."""
        sums = add_up(observed, self._scores(observed), self.positions)
        return Decoded(
            bits=bits_of(largest(sums), self.width)[: self.payload_bits],
            statistic=float(sums.max(axis=1).sum()),
        )

    def _scores(self, observed: Observed) -> F64:
        """Return the score of each token and symbol from its numbers; float64 [N, 2^m]."""
        u = mirrored(observed.draws[..., None], np.arange(1 << self.width), self.width)
        if not self.layers:
            return np.asarray(-np.log1p(-u[:, 0]))
        weights = np.linspace(10.0, 1.0, self.layers)
        return np.asarray(np.einsum("nls,l->ns", u, weights / weights.sum()))

    def printed_p(self, ids: I64) -> float:
        """Return the p-value that ignores that the symbols were chosen afterwards."""
        if not self.layers:
            return self.p_of_excess(ids, 1.0, 1.0)
        weights = np.linspace(10.0, 1.0, self.layers)
        return self.p_of_excess(ids, 0.5, float((weights**2).sum() / weights.sum() ** 2 / 12))
