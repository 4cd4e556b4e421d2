"""RS-BH (Qu et al. 2024): Reed-Solomon symbols, each embedded by a segment of the vocabulary.

The token before decides which symbol a step carries: the vocabulary is cut into as many segments
as the code has symbols, of equal expected frequency. A symbol's value rolls the context's green set
around the vocabulary. Where the authors permute the vocabulary, a token here is green by its own
keyed draw, which costs a gather instead of a permutation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pura_lab.rivals.base import (
    ERASED,
    F64,
    I64,
    Decoded,
    Observed,
    Reweighting,
    add_up,
    bits_of,
    context_seed,
    context_seeds,
    largest,
    shifted,
    symbols_of,
    uniforms,
    words,
)
from pura_lab.rivals.greens import normal_tail

_PUBLIC = 426371835  # the authors' seed of the order that is cut
_WIDEST = 9  # bits of a symbol: every one costs twice the tally


def code_of(payload_bits: int) -> tuple[int, int, int]:
    """Return ``(n, k, m)`` of the shortest code that the authors' rule allows.

    At least 60 % of the symbols carry the message, and at least 15 % may be wrong.

    Raises:
        ValueError: No code fits.
    """
    found = [
        (n, payload_bits // width, width)
        for width in range(2, _WIDEST + 1)
        if payload_bits % width == 0
        for n in range(payload_bits // width + 2, 2**width, 2)
        if payload_bits // width / n >= 0.6 and (n - payload_bits // width) / 2 / n >= 0.15
    ]
    if not found:
        raise ValueError(f"no code for {payload_bits} bits")
    return min(found)


def balanced_segments(mass: F64, segments: int) -> I64:
    """Cut a row into runs so that the sum of the squares of their masses is smallest.

    Dynamic programming over the cuts; since what a run costs is a line in the mass before it, the
    best cut is found on the lower hull of the lines, each looked at once.

    Args:
        mass: float64 [V], not negative.
        segments: How many runs, none of them empty.

    Returns:
        int64 [V], the run of each place.
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
    """Tell whether the middle one of three lines of falling slope is nowhere the lowest."""
    return (right[1] - left[1]) * (left[0] - middle[0]) <= (middle[1] - left[1]) * (
        left[0] - right[0]
    )


def segment_table(vocab_size: int, payload_bits: int, frequency: F64 | None = None) -> I64:
    """Return the segment of each token, which is no secret: one table for a tokenizer and a code.

    Args:
        vocab_size: ``V``.
        payload_bits: Of the code.
        frequency: float64 [V], how often each token is expected; None: all alike.
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
        """Repair the likeliest symbols; where that fails, return those of the message as read."""
        n, k, width = self.shape
        sums = add_up(observed, observed.draws.astype(np.float64), n)
        symbols = largest(sums)
        return Decoded(
            bits=bits_of(repair(symbols, k, width), width), statistic=float(sums.max(axis=1).sum())
        )

    def printed_p(self, ids: I64) -> float:
        """Take the sum of the best values for the green tokens of one list, as the code does."""
        observed = self.observe(ids)
        count = observed.token.size
        excess = self.decode(observed).statistic - self.gamma * count
        return normal_tail(excess / np.sqrt(max(count, 1) * self.gamma * (1 - self.gamma)))


def repair(symbols: I64, k: int, width: int) -> I64:
    """Return the message's symbols of a word with errors and erasures.

    Args:
        symbols: int64 [n], :data:`ERASED` where nothing is known.
        k: Symbols of the message.
        width: Bits of a symbol.
    """
    import reedsolo

    gone = np.flatnonzero(symbols == ERASED).tolist()
    word = np.where(symbols == ERASED, 0, symbols).tolist()
    try:
        fixed = _coder(symbols.size, k, width).decode(word, erase_pos=gone)[0]
    except (reedsolo.ReedSolomonError, ZeroDivisionError):
        return symbols[:k]
    return np.array(list(fixed), dtype=np.int64)


def _coder(n: int, k: int, width: int) -> Any:
    # Made anew each time: the library keeps the arithmetic of the last one made for all.
    import reedsolo

    prime = _PRIMES[width]
    return reedsolo.RSCodec(n - k, nsize=2**width - 1, prim=prime, c_exp=width)


# Primitive polynomials over GF(2), lowest of each degree.
_PRIMES = {2: 0x7, 3: 0xB, 4: 0x13, 5: 0x25, 6: 0x43, 7: 0x83, 8: 0x11D, 9: 0x211}
