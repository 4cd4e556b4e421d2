"""MPAC (Yoo et al. 2024): digits, one of which a context chooses, in lists of a colour each."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from pura_lab.rivals.base import (
    F64,
    I8,
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
    shifted,
    spare,
    symbols_of,
    words,
)
from pura_lab.rivals.greens import normal_tail

_FLIPPED = 4  # digits that the list of candidates changes: 16 candidates


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
        """How many digits carry the payload."""
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
        """Return the commonest colour of each digit, and what the least sure could also be."""
        sums = add_up(observed, np.eye(1 << self.width)[observed.draws], self.digits)
        return Decoded(
            bits=bits_of(largest(sums), self.width)[: self.payload_bits],
            statistic=float(sums.max(axis=1).sum()),
            others=self._others(sums),
        )

    def _others(self, sums: F64) -> tuple[I8, ...]:
        """Return the string of best colours, and with second best ones where it is least sure."""
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
        """Take the colours that were chosen afterwards for those that were asked for."""
        observed = self.observe(ids)
        count, chance = observed.token.size, 0.5**self.width
        excess = self.decode(observed).statistic - chance * count
        return normal_tail(excess / np.sqrt(max(count, 1) * chance * (1 - chance)))
