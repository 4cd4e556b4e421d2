"""Marks by lists of green tokens: KGW, MPAC, BiMark, RSBH, StealthInk.

Green tokens: KGW (Kirchenbauer et al. 2023) and Unigram (Zhao et al. 2024).

Both add ``delta`` to the logits of a keyed share ``gamma`` of the vocabulary. KGW draws a new share
for each context, Unigram uses the same share for all. Each token is green by its own keyed draw, so
the draws are independent.

MPAC (Yoo et al. 2024): a context chooses a digit of the message, and each value has a colour list.

BiMark (Feng et al. 2025): layers of halves, boosted or not by a masked bit of the message.

A context chooses a bit of the message and a fair coin for each layer; the layer boosts one half of
the vocabulary if bit and coin differ, else the other. The coins make every layer unbiased.

RS-BH (Qu et al. 2024): Reed-Solomon symbols, each embedded by a segment of the vocabulary.

The previous token decides which symbol a step carries: the vocabulary is cut into as many segments
as the code has symbols, with equal expected frequency. A symbol's value rolls the context's green
set around the vocabulary. Where the authors permute the vocabulary, a token here is green by its
own keyed draw, which costs a gather instead of a permutation.

StealthInk (Jiang et al. 2025): part of the distribution is silenced, and its mirror image doubled.

A context chooses a part of the message and an order of the vocabulary, cut into chunks of equal
length; the chunk with the part's value is silenced as far as its mirror image does not meet it. The
reader looks for the chunk with the fewest tokens.

As published the law is unbiased for a fixed message with two chunks of equal length only; with
more, or with an odd vocabulary, only the mean over messages is. ``padded`` adds a keyed pad to the
value of every step, which makes that mean a mean over keys: unbiased for every message.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from pura.detect.decode import bets
from pura.scheme import F64, I64, SecretKey
from pura.scheme.keys import KEY_BYTES
from pura_lab.rivals.base import (
    ERASED,
    I8,
    Decoded,
    Observed,
    Reweighting,
    add_up,
    below,
    bits_of,
    context_seed,
    context_seeds,
    largest,
    layer_seeds,
    normal_tail,
    shifted,
    spare,
    symbols_of,
    uniforms,
    words,
)

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Greens(Reweighting):
    """Common base of KGW and Unigram.

    Attributes:
        gamma: Share of green tokens.
        delta: Amount added to their logits.
    """

    gamma: float = 0.5
    delta: float = 2.0
    marks_repeats: bool = True

    def law(self, code: I64, probabilities: F64, context: I64) -> F64:
        """Return the distribution with green tokens made likelier."""
        return shifted(probabilities, self.green_list(context), self.delta)

    @abstractmethod
    def green_list(self, context: I64) -> Flags:
        """Return which tokens are green after a context; bool [V]."""

    def decode(self, observed: Observed) -> Decoded:
        """Return the excess of green tokens over the expected share ``gamma``, in sigmas."""
        z = z_score(int(observed.draws.sum()), observed.draws.size, self.gamma)
        return Decoded(bits=np.zeros(0, dtype=np.int8), statistic=z)

    def log_e(self, observed: Observed) -> float:
        """Return the evidence, in nats; mean one at most for a text without the key."""
        return float(bets.coins(observed.draws.astype(bool), self.gamma).sum())


@dataclass(frozen=True, kw_only=True, eq=False)
class Kgw(_Greens):
    """KGW with a keyed draw for every context and token."""

    def green_list(self, context: I64) -> Flags:
        """Return which tokens are green after a context; bool [V]."""
        seed = context_seed(self.key, context, b"kgw")
        return np.asarray(uniforms(words(seed, np.arange(self.vocab_size))) < self.gamma)

    def observe(self, ids: I64) -> Observed:
        """Return whether each token that follows a new context is green."""
        token, contexts = self.counted(ids)
        return Observed(
            token=token,
            position=np.zeros_like(token),
            draws=self.greens(ids[token], contexts),
        )

    def greens(self, ids: I64, contexts: I64) -> Flags:
        """Return whether tokens [N] are green after contexts [N, W]."""
        seeds = context_seeds(self.key, contexts, b"kgw")
        return np.asarray(uniforms(words(seeds, ids)) < self.gamma)

    def printed_p(self, ids: I64) -> float:
        """Return the p-value over all tokens, with repeated contexts, like common detectors."""
        if ids.size <= self.window:
            return 1.0
        contexts = np.lib.stride_tricks.sliding_window_view(ids[:-1], self.window)
        greens = self.greens(ids[self.window :], contexts)
        return normal_tail(z_score(int(greens.sum()), greens.size, self.gamma))


@dataclass(frozen=True, kw_only=True, eq=False)
class Unigram(_Greens):
    """Unigram: the same green half for every context; each kind of token is counted once."""

    window: int = 0

    @cached_property
    def _greens(self) -> Flags:
        seed = context_seed(self.key, [], b"unigram")
        return np.asarray(uniforms(words(seed, np.arange(self.vocab_size))) < self.gamma)

    def green_list(self, context: I64) -> Flags:
        """Return which tokens are green; bool [V]."""
        return self._greens

    def observe(self, ids: I64) -> Observed:
        """Return whether each token is green, at its first occurrence."""
        token = np.sort(np.unique(ids, return_index=True)[1]).astype(np.int64)
        return Observed(token=token, position=np.zeros_like(token), draws=self._greens[ids[token]])

    def printed_p(self, ids: I64) -> float:
        """Return the p-value over all tokens, like common detectors."""
        return normal_tail(z_score(int(self._greens[ids].sum()), ids.size, self.gamma))


def z_score(count: int, total: int, chance: float) -> float:
    """Return by how many sigmas a binomial count exceeds its expectation."""
    if not total:
        return 0.0
    return float((count - chance * total) / np.sqrt(total * chance * (1 - chance)))


_FLIPPED = 4  # digits that vary in the list of candidates: 16 candidates


@dataclass(frozen=True, kw_only=True, eq=False)
class Mpac(Reweighting):
    """The scheme.

    Attributes:
        delta: Added to the logits of the digit's colour.
        width: Bits of a digit; 2 are four colours.
    """

    delta: float = 3.0
    width: int = 2
    marks_repeats: bool = True

    @property
    def digits(self) -> int:
        """Number of digits of the payload."""
        return -(-self.payload_bits // self.width)

    def encode(self, bits: I64) -> I64:
        """Return the digits; int64 [digits]."""
        return symbols_of(bits, self.width)

    def law(self, code: I64, probabilities: F64, context: I64) -> F64:
        """Return the distribution with the colour of the context's digit made likelier."""
        seed = context_seed(self.key, context, b"mpac")
        digit = int(code[below(spare(seed), self.digits)])
        colours = below(words(seed, np.arange(self.vocab_size)), 1 << self.width)
        return shifted(probabilities, colours == digit, self.delta)

    def observe(self, ids: I64) -> Observed:
        """Return the colour of each token; int64 [N]."""
        token, contexts = self.counted(ids)
        seeds = context_seeds(self.key, contexts, b"mpac")
        return Observed(
            token=token,
            position=below(spare(seeds), self.digits),
            draws=below(words(seeds, ids[token]), 1 << self.width),
        )

    def decode(self, observed: Observed) -> Decoded:
        """Return the commonest colour of each digit, and alternatives for uncertain digits."""
        sums = add_up(observed, np.eye(1 << self.width)[observed.draws], self.digits)
        return Decoded(
            bits=bits_of(largest(sums), self.width)[: self.payload_bits],
            statistic=float(sums.max(axis=1).sum()),
            others=self._others(sums),
        )

    def _others(self, sums: F64) -> tuple[I8, ...]:
        """Return payloads of best colours, also with second-best ones for uncertain digits."""
        ranked = np.argsort(-sums, axis=1, kind="stable")
        best = np.take_along_axis(sums, ranked, axis=1)
        weak = np.argsort(best[:, 0] - best[:, 1], kind="stable")[:_FLIPPED]
        out = []
        for choice in product((0, 1), repeat=weak.size):
            digits = ranked[:, 0].copy()
            digits[weak] = ranked[weak, choice]
            out.append(bits_of(digits, self.width)[: self.payload_bits])
        return tuple(out)

    def printed_p(self, ids: I64) -> float:
        """Return the p-value that ignores that the colours were chosen afterwards."""
        chance = 0.5**self.width
        return self.p_of_excess(ids, chance, chance * (1 - chance))


_EDGE = 1e-12


def flip(probabilities: F64, zero: F64, boost: bool, alpha: float, delta: float) -> F64:
    """Return a distribution after one layer.

    Args:
        probabilities: float64 [V].
        zero: float64 [V], 1 in the half that ``boost`` makes likelier, else 0.
        boost: Whether to boost that half or the other one.
        alpha: Largest share of the half after the layer.
        delta: Largest relative growth of the half.
    """
    mass = float(probabilities @ zero)
    if not _EDGE < mass < 1 - _EDGE:
        return probabilities
    up = max(min(alpha / mass, 1 + delta), 1.0) - 1.0
    down = min(up * mass / (1 - mass), 1.0)
    inside, outside = (1 + up, 1 - down) if boost else (1 - up, 1 + down)
    return probabilities * (outside + (inside - outside) * zero)


@dataclass(frozen=True, kw_only=True, eq=False)
class BiMark(Reweighting):
    """The scheme.

    Attributes:
        layers: Number of layers.
        alpha: As published.
        delta: As published.
    """

    layers: int = 10
    alpha: float = 1.0
    delta: float = 1.0

    @cached_property
    def halves(self) -> npt.NDArray[np.bool_]:
        """Which tokens are in the first half of each layer; bool [layers, V]."""
        seeds = layer_seeds(context_seed(self.key, [], b"bimark"), self.layers)
        order = words(seeds[:, None], np.arange(self.vocab_size)).argsort(axis=1)
        out = np.zeros((self.layers, self.vocab_size), dtype=bool)
        np.put_along_axis(out, order[:, : self.vocab_size // 2], values=True, axis=1)
        return out

    @cached_property
    def _weights(self) -> F64:
        return self.halves.astype(np.float64)

    def law(self, code: I64, probabilities: F64, context: I64) -> F64:
        """Return the distribution after all layers."""
        seed = np.array([context_seed(self.key, context, b"bimark")], dtype=np.uint64)
        bit = int(code[below(spare(seed), self.payload_bits)[0]])
        out = probabilities
        for half, coin in zip(self._weights, self._coins(seed)[0].tolist(), strict=True):
            out = flip(out, half, bool(bit ^ coin), self.alpha, self.delta)
        return out

    def _coins(self, seeds: npt.NDArray[np.uint64]) -> I64:
        return below(layer_seeds(seeds, self.layers), 2)

    def observe(self, ids: I64) -> Observed:
        """Return each layer's vote for the bit of a token; int64 [N, layers]."""
        token, contexts = self.counted(ids)
        seeds = context_seeds(self.key, contexts, b"bimark")
        return Observed(
            token=token,
            position=below(spare(seeds), self.payload_bits),
            draws=self.halves[:, ids[token]].T ^ self._coins(seeds),
        )

    def null_draw(self, ids: I64, rng: np.random.Generator) -> Observed:
        """Redraw contexts and keep the halves: the votes are fair coins for any halves."""
        redrawn = replace(self, key=SecretKey(rng.bytes(KEY_BYTES)))
        redrawn.__dict__["halves"] = self.halves
        return redrawn.observe(ids)

    def decode(self, observed: Observed) -> Decoded:
        """Return the majority of all votes for each bit."""
        one_votes = observed.draws.sum(axis=1)
        votes = np.stack([self.layers - one_votes, one_votes], axis=1).astype(np.float64)
        sums = add_up(observed, votes, self.payload_bits)
        return Decoded(bits=bits_of(largest(sums), 1), statistic=float(sums.max(axis=1).sum()))

    def printed_p(self, ids: I64) -> float:
        """Return the p-value that ignores that the majorities were chosen afterwards."""
        observed = self.observe(ids)
        count = observed.draws.size
        excess = self.decode(observed).statistic - count / 2
        return normal_tail(excess / np.sqrt(max(count, 1) / 4))


_PUBLIC = 426371835  # the authors' seed of the vocabulary order that is cut
_WIDEST = 9  # most bits of a symbol: each further bit doubles the tally


def code_of(payload_bits: int) -> tuple[int, int, int]:
    """Return ``(n, k, m)`` of the shortest code that the authors' rule allows.

    At least 60 % of the symbols carry the message, and at least 15 % may be wrong.

    Raises:
        ValueError: No code fits.
    """
    codes = [
        (n, payload_bits // width, width)
        for width in range(2, _WIDEST + 1)
        if payload_bits % width == 0
        for n in range(payload_bits // width + 2, 2**width, 2)
        if payload_bits // width / n >= 0.6 and (n - payload_bits // width) / 2 / n >= 0.15
    ]
    if not codes:
        raise ValueError(f"no code for {payload_bits} bits")
    return min(codes)


def balanced_segments(mass: F64, segments: int) -> I64:
    """Cut a row into runs with the smallest sum of squared masses.

    This is dynamic programming over the cuts. The cost of a run is linear in the mass before it, so
    the best cut is found on the lower hull of these lines.

    Args:
        mass: float64 [V], not negative.
        segments: Number of runs, none of them empty.

    Returns:
        int64 [V], the run of each position.
    """
    total = np.concatenate([[0.0], np.cumsum(mass)])
    before = total.tolist()
    best = (total**2).tolist()
    cuts = []
    for run in range(1, segments):
        hull: list[tuple[float, float, int]] = []  # slope, height at zero, cut
        first, cut, cost = 0, [0] * len(before), [np.inf] * len(before)
        for end in range(run + 1, len(before)):
            start = end - 1
            line = (-2.0 * before[start], best[start] + before[start] ** 2, start)
            while len(hull) > first + 1 and _hidden(hull[-2], hull[-1], line):
                hull.pop()
            hull.append(line)
            x = before[end]
            while len(hull) > first + 1 and _at(hull[first + 1], x) <= _at(hull[first], x):
                first += 1
            cut[end] = hull[first][2]
            cost[end] = _at(hull[first], x) + x * x
        cuts.append(cut)
        best = cost
    ends = [mass.size]
    for cut in reversed(cuts):
        ends.append(cut[ends[-1]])
    return np.repeat(np.arange(segments), np.diff([0, *reversed(ends)]))


def _at(line: tuple[float, float, int], x: float) -> float:
    return line[0] * x + line[1]


def _hidden(
    left: tuple[float, float, int],
    middle: tuple[float, float, int],
    right: tuple[float, float, int],
) -> bool:
    """Return whether the middle one of three lines with falling slopes is nowhere the lowest."""
    return (right[1] - left[1]) * (left[0] - middle[0]) <= (middle[1] - left[1]) * (
        left[0] - right[0]
    )


def segment_table(vocab_size: int, payload_bits: int, frequency: F64 | None = None) -> I64:
    """Return the segment of each token, a public table for a tokenizer and a code.

    Args:
        vocab_size: ``V``.
        payload_bits: Payload length of the code.
        frequency: float64 [V], expected frequency of each token; None for uniform.
    """
    mass = np.ones(vocab_size) if frequency is None else frequency
    order = words(_PUBLIC, np.arange(vocab_size)).argsort()
    out = np.empty(vocab_size, dtype=np.int64)
    out[order] = balanced_segments(mass[order], code_of(payload_bits)[0])
    return out


@dataclass(frozen=True, kw_only=True, eq=False)
class RsBh(Reweighting):
    """The scheme.

    Attributes:
        gamma: Share of green tokens.
        delta: Added to their logits.
        segment: int64 [V], of :func:`segment_table`.
    """

    segment: I64
    gamma: float = 0.5
    delta: float = 3.0
    marks_repeats: bool = True

    @cached_property
    def shape(self) -> tuple[int, int, int]:
        """``(n, k, m)``."""
        return code_of(self.payload_bits)

    def encode(self, bits: I64) -> I64:
        """Return the code's symbols; int64 [n]."""
        n, k, width = self.shape
        return np.array(list(_coder(n, k, width).encode(symbols_of(bits, width).tolist())))

    def law(self, code: I64, probabilities: F64, context: I64) -> F64:
        """Return the distribution with the rolled green set made likelier."""
        value = int(code[self.segment[context[-1]]])
        rolled = (np.arange(self.vocab_size) + value) % self.vocab_size
        seed = context_seed(self.key, context, b"rsbh")
        return shifted(probabilities, uniforms(words(seed, rolled)) < self.gamma, self.delta)

    def observe(self, ids: I64) -> Observed:
        """Return for each token and value of its symbol whether it is green; bool [N, 2^m]."""
        token, contexts = self.counted(ids)
        seeds = context_seeds(self.key, contexts, b"rsbh")[:, None]
        rolled = (ids[token][:, None] + np.arange(1 << self.shape[2])) % self.vocab_size
        return Observed(
            token=token,
            position=self.segment[contexts[:, -1]],
            draws=uniforms(words(seeds, rolled)) < self.gamma,
        )

    def decode(self, observed: Observed) -> Decoded:
        """Return the corrected likeliest symbols, or those of the message as read if that fails."""
        n, k, width = self.shape
        sums = add_up(observed, observed.draws.astype(np.float64), n)
        symbols = largest(sums)
        return Decoded(
            bits=bits_of(repair(symbols, k, width), width), statistic=float(sums.max(axis=1).sum())
        )

    def printed_p(self, ids: I64) -> float:
        """Return the p-value that treats the best values as one green list, as published."""
        return self.p_of_excess(ids, self.gamma, self.gamma * (1 - self.gamma))


def repair(symbols: I64, k: int, width: int) -> I64:
    """Return the message's symbols of a word with errors and erasures.

    Args:
        symbols: int64 [n], :data:`ERASED` for unknown ones.
        k: Symbols of the message.
        width: Bits of a symbol.
    """
    import reedsolo

    erased = np.flatnonzero(symbols == ERASED).tolist()
    word = np.where(symbols == ERASED, 0, symbols).tolist()
    try:
        fixed = _coder(symbols.size, k, width).decode(word, erase_pos=erased)[0]
    except (reedsolo.ReedSolomonError, ZeroDivisionError):
        return symbols[:k]
    return np.array(list(fixed), dtype=np.int64)


def _coder(n: int, k: int, width: int) -> Any:
    # Made again each time: the library keeps global arithmetic of the last one made.
    import reedsolo

    prime = _PRIMES[width]
    return reedsolo.RSCodec(n - k, nsize=2**width - 1, prim=prime, c_exp=width)


# Primitive polynomials over GF(2), lowest of each degree.
_PRIMES = {2: 0x7, 3: 0xB, 4: 0x13, 5: 0x25, 6: 0x43, 7: 0x83, 8: 0x11D, 9: 0x211}


def overlap(lo: F64, hi: F64, first: float, after: float) -> F64:
    """Return the length of each interval inside ``[first, after)``, float64."""
    return np.asarray(np.maximum(np.minimum(hi, after) - np.maximum(lo, first), 0.0))


def silenced(probabilities: F64, red: slice) -> F64:
    """Return a law with a stretch silenced and its mirror image doubled, unless they overlap.

    Args:
        probabilities: float64 [V], in the order of the step.
        red: Positions of the stretch.
    """
    hi = np.cumsum(probabilities)
    hi /= hi[-1]
    lo = np.concatenate([[0.0], hi[:-1]])
    if red.start >= red.stop:
        return probabilities
    first, after = float(lo[red.start]), float(hi[red.stop - 1])
    change = overlap(lo, hi, 1 - after, 1 - first) - overlap(lo, hi, first, after)
    return np.asarray(np.maximum(hi - lo + change, 0.0))


@dataclass(frozen=True, kw_only=True, eq=False)
class StealthInk(Reweighting):
    """The scheme.

    Attributes:
        width: Bits of a part of the message; there are ``2**width`` chunks.
        padded: Whether to add a keyed pad to each value.
    """

    width: int = 1
    padded: bool = False

    @property
    def parts(self) -> int:
        """Number of parts of the payload."""
        return -(-self.payload_bits // self.width)

    def encode(self, bits: I64) -> I64:
        """Return the parts; int64 [parts]."""
        return symbols_of(bits, self.width)

    def law(self, code: I64, probabilities: F64, context: I64) -> F64:
        """Return the distribution with the chunk of the part silenced."""
        seed = context_seed(self.key, context, b"stealth")
        value = int(code[below(spare(seed), self.parts)])
        if self.padded:
            value ^= int(below(spare(seed, 1), 1 << self.width))
        order = words(seed, np.arange(self.vocab_size)).argsort()
        out = np.empty_like(probabilities)
        out[order] = silenced(probabilities[order], self._chunk(value))
        return out

    def _chunk(self, value: int) -> slice:
        return slice(*(((value + k) * self.vocab_size) >> self.width for k in (0, 1)))

    def observe(self, ids: I64) -> Observed:
        """Return the value of the part against which each token is evidence; int64 [N]."""
        token, contexts = self.counted(ids)
        seeds = context_seeds(self.key, contexts, b"stealth")
        everyone = np.arange(self.vocab_size)
        rank = np.array(
            [
                int((words(seed, everyone) < words(seed, token_id)).sum())
                for seed, token_id in zip(seeds, ids[token].tolist(), strict=True)
            ],
            dtype=np.int64,
        )
        ends = [self._chunk(value).stop for value in range(1 << self.width)]
        against = np.searchsorted(ends, rank, side="right")
        if self.padded:
            against ^= below(spare(seeds, 1), 1 << self.width)
        return Observed(token=token, position=below(spare(seeds), self.parts), draws=against)

    def null_draw(self, ids: I64, rng: np.random.Generator) -> Observed:
        """Draw parts and chunks: uniform by the order, up to one token of the vocabulary."""
        token, _ = self.counted(ids)
        rank = rng.integers(0, self.vocab_size, token.size)
        ends = [self._chunk(value).stop for value in range(1 << self.width)]
        against = np.searchsorted(ends, rank, side="right")
        if self.padded:
            against ^= rng.integers(0, 1 << self.width, token.size)
        return Observed(
            token=token, position=rng.integers(0, self.parts, token.size), draws=against
        )

    def decode(self, observed: Observed) -> Decoded:
        """Return the value with the fewest tokens for each part."""
        sums = add_up(observed, np.eye(1 << self.width)[observed.draws], self.parts)
        fewest = -float(sums.min(axis=1).sum())
        return Decoded(
            bits=bits_of(largest(-sums), self.width)[: self.payload_bits], statistic=fewest
        )

    def printed_p(self, ids: I64) -> float:
        """Return the p-value that ignores that the minima were chosen afterwards."""
        chance = 0.5**self.width
        return self.p_of_excess(ids, -chance, chance * (1 - chance))
