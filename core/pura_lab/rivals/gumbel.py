"""The Gumbel-max mark (Aaronson 2022).

CycleShift (Fernandez et al. 2023) carries bits by shifting it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pura.decode import bets
from pura_lab.rivals.base import (
    F64,
    I64,
    Decoded,
    Observed,
    Rival,
    RivalRow,
    Seeded,
    context_seed,
    context_seeds,
    uniforms,
    words,
)
from pura_lab.rivals.ctwl import MOST_BITS, one_best


def arg_gumbel(probabilities: F64, u: F64) -> int:
    """Return ``argmax u ** (1/p)`` over the tokens of positive probability."""
    with np.errstate(divide="ignore"):
        return int(np.argmin(np.where(probabilities > 0, -np.log(u) / probabilities, np.inf)))


def gamma_tail(count: int, score: float) -> float:
    """Return the probability that the sum of ``count`` unit exponentials is ``score`` or more."""
    from scipy.special import gammaincc

    return float(gammaincc(count, score)) if count else 1.0


@dataclass(frozen=True, kw_only=True, eq=False)
class GumbelMax(Rival):
    """The mark without a message."""

    def choose(self, row: RivalRow, probabilities: F64, context: I64) -> int:
        """Return the token that the context's numbers choose."""
        seed = context_seed(self.key, context, b"gumbel")
        return arg_gumbel(probabilities, uniforms(words(seed, np.arange(self.vocab_size))))

    def observe(self, ids: I64) -> Observed:
        """Return the number of each token that follows a new context; float64 [N]."""
        token, contexts = self.counted(ids)
        seeds = context_seeds(self.key, contexts, b"gumbel")
        drawn = uniforms(words(seeds, ids[token]))
        return Observed(token=token, position=np.zeros_like(token), draws=drawn)

    def decode(self, observed: Observed) -> Decoded:
        """Return ``-log p`` of the sum of ``-log(1 - u)``, a Gamma number without the mark."""
        score = float(-np.log1p(-observed.draws).sum())
        p = gamma_tail(observed.draws.size, score)
        return Decoded(bits=np.zeros(0, dtype=np.int8), statistic=-np.log(max(p, 1e-300)))

    def log_e(self, observed: Observed) -> float:
        """Return the evidence, in nats; mean one for a text without the key."""
        return float(bets.high_uniforms(observed.draws).sum())

    def printed_p(self, ids: I64) -> float:
        """Count every token, repeated contexts too."""
        if ids.size <= self.window:
            return 1.0
        contexts = np.lib.stride_tricks.sliding_window_view(ids[:-1], self.window)
        seeds = context_seeds(self.key, contexts, b"gumbel")
        u = uniforms(words(seeds, ids[self.window :]))
        return gamma_tail(u.size, float(-np.log1p(-u).sum()))


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
