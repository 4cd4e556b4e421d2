"""Every bit of the message at every token: the binomial mark (Gloaguen et al. 2026).

A context draws a fair bit for every candidate token and every bit of the message; how many of a
token's agree with the message is its utility. The token with the largest ``utility + beta log p``
is chosen, with ``beta`` such that the expected ``log p`` of the choice is that of the model, less
``epsilon``. That keeps the perplexity and not the distribution, so it is biased. The stateful
encoder weighs each agreement by how much it raises the probability that the bit will be read right:
bits that lag count most. The reader takes the majority of each bit and needs no model and no state.

:class:`BinomialTournament` puts the same utilities into a tournament, which is unbiased: the state
depends on earlier tokens alone, and given it the utilities of a new context are independent and
alike for all tokens, so that whoever meets wins with one half.

Differences from the public code: contexts keep their order, one that comes again is plain (the
public code would choose the same token again, so that a text written with two tokens of context
runs into a loop), ties are erased and not read as zero, and a layer of the tournament compares
utilities where the public code takes their difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from pura.scheme import F64, I64, U8, Payload
from pura_lab.rivals.base import (
    ERASED,
    U64,
    Decoded,
    Observed,
    Rival,
    RivalRow,
    context_seed,
    context_seeds,
    draw,
    layer_seeds,
    words,
)

F32 = npt.NDArray[np.float32]

WIDEST: Final = 64
"""Most bits of a message: each uses one bit of a keyed word."""
HORIZONS: Final = (200, 300, 500, 1000, 2000)
"""Lengths of texts, in tokens, for which the stateful encoder is optimised, as published."""
_POOL, _TRIES, _HALVINGS, _STEEPEST = 4096, 128, 16, 10.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Binomial(Rival):
    """The scheme.

    Attributes:
        horizons: Text lengths of the stateful encoder; () weighs all bits equally.
        epsilon: Allowed loss of ``log p``, in nats a token.
        candidates: Number of likeliest tokens to choose from.
        layers: Layers of a tournament; 1 without one.
    """

    horizons: tuple[int, ...] = ()
    epsilon: float = 0.0
    candidates: int = 1024
    layers: int = 1

    def __post_init__(self) -> None:
        """Refuse a message that does not fit into a word.

        Raises:
            ValueError: The message has too many bits.
        """
        if self.payload_bits > WIDEST:
            raise ValueError(f"at most {WIDEST} bits, not {self.payload_bits}")

    def start(self, payload: Payload | None, rng: np.random.Generator) -> RivalRow:
        """Begin a text with equal leads of all bits."""
        row = super().start(payload, rng)
        row.state = np.zeros(self.payload_bits)
        return row

    def choose(self, row: RivalRow, probabilities: F64, context: I64) -> int:
        """Return the best token, and update the lead of each bit."""
        seeds = layer_seeds(context_seed(self.key, context, b"binomial"), self.layers)
        candidates = likeliest(probabilities, self.candidates)
        weights = self._weights(row.state)
        signed = (weights * (2 * row.code - 1)).astype(np.float32)
        utility = self._bits(words(seeds[:, None], candidates)) @ signed
        token = self._best(row, probabilities, candidates, utility, weights)
        agree = self._bits(words(seeds, token)) == row.code
        row.state += (2.0 * agree - 1).sum(axis=0)
        return token

    def _best(
        self, row: RivalRow, probabilities: F64, candidates: I64, utility: F32, weights: F64
    ) -> int:
        """Return the candidate [N] with the best combination of utility [1, N] and ``log p``."""
        possible = probabilities[probabilities > 0]
        target = float(possible @ np.log(possible)) - self.epsilon
        pool = self._signs @ weights.astype(np.float32)
        tried = pool[row.rng.integers(0, _POOL, (_TRIES, candidates.size), dtype=np.uint16)]
        log_p = np.log(probabilities[candidates])
        return int(candidates[(utility[0] + slope(log_p, tried, target) * log_p).argmax()])

    @cached_property
    def _signs(self) -> F32:
        """Bits as plus and minus one half, for the choice of ``beta``; not keyed."""
        drawn = np.random.default_rng(0).integers(0, 2, (_POOL, self.payload_bits))
        return (drawn - 0.5).astype(np.float32)

    def _weights(self, lead: F64) -> F64:
        """Return how much an agreement with a bit raises its chance of being read correctly."""
        if not self.horizons:
            return np.ones(self.payload_bits)
        from scipy.special import ndtr

        spread = np.sqrt(np.array(self.horizons) * self.layers)[:, None]
        lag = -np.abs(lead)  # the lower tail, which keeps its digits
        gain = (ndtr((lag + 1) / spread) - ndtr((lag - 1) / spread)).mean(axis=0)
        return np.asarray(gain / max(gain.max(), np.finfo(np.float64).tiny))

    def _bits(self, drawn: U64) -> U8:
        """Return the bits of keyed words [...]; uint8 [..., payload_bits]."""
        octets = drawn.astype("<u8")[..., None].view(np.uint8)
        return np.unpackbits(octets, axis=-1, bitorder="little", count=self.payload_bits)

    def observe(self, ids: I64) -> Observed:
        """Return the bits of each token; uint8 [N, layers, payload_bits]."""
        token, contexts = self.counted(ids)
        seeds = layer_seeds(context_seeds(self.key, contexts, b"binomial"), self.layers)
        draws = self._bits(words(seeds, ids[token][:, None]))
        return Observed(token=token, position=np.zeros_like(token), draws=draws)

    def decode(self, observed: Observed) -> Decoded:
        """Return the majority of each bit; the first layers of a tournament weigh most.

        The statistic is the deviance of all counts from fair coins.
        """
        from scipy.special import xlogy

        weights = np.linspace(10.0, 1.0, self.layers) if self.layers > 1 else np.ones(1)
        excess = np.einsum("nlb,l->b", 2.0 * observed.draws - 1, weights)
        one_counts = observed.draws.sum(axis=(0, 1), dtype=np.float64)
        total = observed.draws.shape[0] * self.layers
        zeros, half = total - one_counts, max(total, 1) / 2
        return Decoded(
            bits=np.where(excess == 0, ERASED, excess > 0).astype(np.int8),
            statistic=float(
                2 * (xlogy(one_counts, one_counts / half) + xlogy(zeros, zeros / half)).sum()
            ),
        )

    def printed_p(self, ids: I64) -> float:
        """Return the chi-square tail of the deviance, which is accurate for many tokens."""
        from scipy.stats import chi2

        return float(chi2.sf(self.decode(self.observe(ids)).statistic, self.payload_bits))


@dataclass(frozen=True, kw_only=True, eq=False)
class BinomialTournament(Binomial):
    """The same utilities in a tournament; tokens other than candidates keep their probability."""

    layers: int = 30

    def _best(
        self, row: RivalRow, probabilities: F64, candidates: I64, utility: F32, weights: F64
    ) -> int:
        """Draw from the law of the tournament's winner."""
        out = probabilities.copy()
        mass = out[candidates].sum()
        law = out[candidates] / mass
        for layer in utility:
            law = winners(law, layer)
        out[candidates] = mass * law
        return draw(out, row.rng.random())


def winners(law: F64, utility: F32) -> F64:
    """Return the law of the better of two tokens drawn from a law; a coin decides between equals.

    Args:
        law: float64 [N], sums to 1.
        utility: float32 [N].
    """
    order = np.argsort(utility)
    mass = np.concatenate([[0.0], np.cumsum(law[order])])
    ranked = utility[order]
    below = mass[np.searchsorted(ranked, utility, side="left")]
    upto = mass[np.searchsorted(ranked, utility, side="right")]
    return np.asarray(law * (below + upto))


def likeliest(probabilities: F64, count: int) -> I64:
    """Return the ids of the likeliest possible tokens."""
    possible = np.flatnonzero(probabilities)
    if possible.size > count:
        largest = np.argpartition(probabilities[possible], -count)[-count:]
        possible = possible[largest]
    return possible.astype(np.int64)


def slope(log_p: F64, tried: F32, target: float) -> float:
    """Return the ``beta`` for which the mean ``log_p`` of the winners reaches a target.

    Args:
        log_p: float64 [N].
        tried: float32 [M, N], samples of utilities.
        target: Target of the mean, in nats.
    """
    lines = log_p.astype(np.float32)
    unit = float(tried.std()) or 1.0
    low, high = -_STEEPEST, _STEEPEST
    for _ in range(_HALVINGS):  # the mean rises with beta
        middle = (low + high) / 2
        best = (tried + np.float32(unit * 2.0**middle) * lines).argmax(axis=1)
        if log_p[best].mean() < target:
            low = middle
        else:
            high = middle
    return float(unit * 2.0 ** ((low + high) / 2))
