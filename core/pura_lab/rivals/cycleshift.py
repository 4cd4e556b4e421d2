"""CycleShift (Fernandez et al. 2023, "Three Bricks"), with the Gumbel-max choice.

A message rolls the context's random numbers around a ring. The ring has a place for every message
and every token, so that more messages than tokens stay apart. All messages are tried.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pura_lab.rivals.base import Decoded, Observed, Rival, RivalRow, Seeded
from pura_lab.rivals.ctwl import MOST_BITS, one_best
from pura_lab.rivals.gumbel import arg_gumbel, gamma_tail
from pura_lab.rivals.keyed import F64, I64, context_seed, context_seeds, uniforms, words


@dataclass(frozen=True, kw_only=True, eq=False)
class CycleShift(Rival):
    """The scheme."""

    def __post_init__(self) -> None:
        if self.payload_bits > MOST_BITS:
            raise ValueError(f"at most {MOST_BITS} bits: every message is tried")

    @property
    def ring(self) -> int:
        """Numbers of a context."""
        return max(self.vocab_size, 1 << self.payload_bits)

    def encode(self, bits: I64) -> I64:
        """Return the message as one number; int64 [1]."""
        return np.array([int("".join(map(str, bits.tolist())), 2)])

    def choose(self, row: RivalRow, probabilities: F64, context: I64) -> int:
        """Return the token that the rolled numbers choose."""
        places = (np.arange(self.vocab_size) + row.code[0]) % self.ring
        seed = context_seed(self.key, context, b"cycle")
        return arg_gumbel(probabilities, uniforms(words(seed, places)))

    def observe(self, ids: I64) -> Seeded:
        """Return the tokens [N] with the seeds of their contexts."""
        token, contexts = self.counted(ids)
        seeds = context_seeds(self.key, contexts, b"cycle")
        return Seeded(token=token, position=np.zeros_like(token), draws=ids[token], seeds=seeds)

    def decode(self, observed: Observed) -> Decoded:
        """Return the message whose numbers are largest."""
        assert isinstance(observed, Seeded)
        messages = np.arange(1 << self.payload_bits)
        score = np.zeros(messages.size)
        for token, seed in zip(observed.draws.tolist(), observed.seeds, strict=True):
            score -= np.log1p(-uniforms(words(seed, (token + messages) % self.ring)))
        return Decoded(bits=one_best(score, self.payload_bits), statistic=float(score.max()))

    def printed_p(self, ids: I64) -> float:
        """Return the Gamma tail of the best message, corrected for all of them."""
        observed = self.observe(ids)
        p = gamma_tail(observed.token.size, self.decode(observed).statistic)
        return float(-np.expm1(2.0**self.payload_bits * np.log1p(-min(p, 1 - 1e-16))))
