"""StealthInk (Jiang et al. 2025): a stretch of the distribution is silenced, its mirror doubled.

A context chooses a part of the message and an order of the vocabulary, cut into chunks of equal
length; the chunk with the part's value is silenced as far as its mirror image does not meet it. The
reader looks for the chunk with the fewest tokens.

As published the law is unbiased for a fixed message with two chunks of equal length only; with
more, or with an odd vocabulary, only the mean over messages is. ``padded`` adds a keyed pad to the
value of every step, which makes that mean a mean over keys: unbiased for every message.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pura_lab.rivals.base import (
    F64,
    I64,
    Decoded,
    Observed,
    Reweighting,
    add_up,
    below,
    bits_of,
    context_seed,
    context_seeds,
    largest,
    spare,
    symbols_of,
    words,
)
from pura_lab.rivals.greens import normal_tail


def overlap(lo: F64, hi: F64, first: float, after: float) -> F64:
    """Return how much of each interval lies in ``[first, after)``; float64 like them."""
    return np.asarray(np.maximum(np.minimum(hi, after) - np.maximum(lo, first), 0.0))


def silenced(probabilities: F64, red: slice) -> F64:
    """Return a law with a stretch silenced and its mirror doubled, where they do not meet.

    Args:
        probabilities: float64 [V], in the order of the step.
        red: Places of the stretch.
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
        width: Bits of a part of the message; two to its power are the chunks.
        padded: Add a keyed pad to each value.
    """

    width: int = 1
    padded: bool = False

    @property
    def parts(self) -> int:
        """How many parts the payload has."""
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
        """Return the value of the part that each token speaks against; int64 [N]."""
        token, contexts = self.counted(ids)
        seeds = context_seeds(self.key, contexts, b"stealth")
        everyone = np.arange(self.vocab_size)
        rank = np.array(
            [
                int((words(seed, everyone) < words(seed, mine)).sum())
                for seed, mine in zip(seeds, ids[token].tolist(), strict=True)
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
        place = rng.integers(0, self.vocab_size, token.size)
        ends = [self._chunk(value).stop for value in range(1 << self.width)]
        against = np.searchsorted(ends, place, side="right")
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
        """Take the minima, chosen afterwards, for counts of given chunks."""
        observed = self.observe(ids)
        count, chance = observed.token.size, 0.5**self.width
        missing = chance * count + self.decode(observed).statistic
        return normal_tail(missing / np.sqrt(max(count, 1) * chance * (1 - chance)))
