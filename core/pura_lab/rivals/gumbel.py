"""Marks by draws from a key: Gumbel-max and its cycle shift, CTWL, EXP.

CTWL, balance marking (Wang et al. 2024): favoured halves by the mass of a proxy model.

A context and a message together choose one of ``orders`` keyed orders of the vocabulary; tokens in
the second half of the proxy's mass in that order are favoured. The proxy sees only the last tokens,
so a verifier without the prompt can compute its law. The law is cut to its likeliest tokens by both
sides, which makes reading a hundred times cheaper. All messages are tried, so a message has at most
20 bits.

The Gumbel-max mark (Aaronson 2022).

CycleShift (Fernandez et al. 2023) carries bits by shifting the random numbers.

EXP and ITS (Kuditipudi et al. 2024): a key as long as the text, read at a shift.

Token ``i`` uses row ``shift + i`` of a table of ``rows`` random numbers; the shift is drawn once
for each text. No context is hashed, so nothing is repeated within the first ``rows`` tokens. A
longer text uses rows again, as published, and is then biased as a whole. The detector tries all
shifts and compares with redrawn keys, ``(1 + count) / (1 + draws)``; dividing by ``draws`` alone,
like a public routine, gives no valid p-value. Only unedited blocks are aligned here; the published
variant that also aligns insertions and deletions is not implemented.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pura.detect.decode import bets
from pura.embed.engine import inverse_transform
from pura.scheme import F64, I64, Payload, SecretKey
from pura.scheme.keys import KEY_BYTES, ranks
from pura_lab.rivals.base import (
    ERASED,
    I8,
    U64,
    Decoded,
    Observed,
    Rival,
    RivalRow,
    below,
    bits_of,
    context_seed,
    context_seeds,
    draw,
    layer_seeds,
    redraw_p,
    shifted,
    uniforms,
    words,
)

Proxy = Callable[[I64], F64]
MOST_BITS = 20


@dataclass(frozen=True, kw_only=True, eq=False)
class Ctwl(Rival):
    """The scheme.

    Attributes:
        proxy: Returns probabilities [N, V] for windows of token ids [N, prefix].
        delta: Amount subtracted from the logits of the other half.
        prefix: Tokens that the proxy sees; as many first tokens of a text are plain.
        orders: Number of orders of a context.
        law_size: Number of likeliest tokens of the proxy's law that are used.
    """

    proxy: Proxy
    delta: float = 2.0
    prefix: int = 10
    orders: int = 100
    law_size: int = 1000
    marks_repeats: bool = True

    def __post_init__(self) -> None:
        if self.payload_bits > MOST_BITS:
            raise ValueError(f"at most {MOST_BITS} bits: every message is tried")

    @property
    def first(self) -> int:
        """First marked token; the proxy needs its prefix."""
        return max(self.window, self.prefix)

    def encode(self, bits: I64) -> I64:
        """Return the message as one number; int64 [1]."""
        return np.array([int("".join(map(str, bits.tolist())), 2)])

    def choose(self, row: RivalRow, probabilities: F64, context: I64) -> int:
        """Draw a token from the law with the favoured half made likelier."""
        window = np.array(row.tokens[-self.prefix :])
        top, mass = self._likely(self.proxy(window[None])[0])
        seed = np.uint64(context_seed(self.key, context, b"ctwl"))
        number = int(self._order(np.array([seed]), row.code)[0, 0])
        order = layer_seeds(seed, self.orders)[number]
        draws = words(order, top)
        sort = draws.argsort()
        upto = np.concatenate([[0.0], np.cumsum(mass[sort])])
        all_places = words(order, np.arange(self.vocab_size))
        before = upto[np.searchsorted(draws[sort], all_places, side="right")]
        law = shifted(probabilities, before >= 0.5, self.delta)
        return draw(law, row.rng.random())

    def observe(self, ids: I64) -> Observed:
        """Return for each token and order whether it is in the favoured half; bool [N, orders]."""
        token, contexts = self.counted(ids)
        keep = token >= self.prefix
        token, contexts = token[keep], contexts[keep]
        seeds = context_seeds(self.key, contexts, b"ctwl")
        favoured = np.zeros((token.size, self.orders), dtype=bool)
        if token.size:
            windows = np.stack([ids[t - self.prefix : t] for t in token.tolist()])
            laws = self.proxy(windows)
            for row, (t, seed) in enumerate(zip(token.tolist(), seeds, strict=True)):
                top, mass = self._likely(laws[row])
                orders = layer_seeds(seed, self.orders)[:, None]
                before = words(orders, top) <= words(orders, ids[t])
                favoured[row] = before @ mass >= 0.5
        return Observed(token=token, position=np.zeros_like(token), draws=favoured, seeds=seeds)

    def decode(self, observed: Observed) -> Decoded:
        """Return the message with the most favoured tokens."""
        messages = np.arange(1 << self.payload_bits)
        score = np.zeros(messages.size, dtype=np.int64)
        for row, seed in zip(observed.draws, observed.seeds, strict=True):
            score += row[self._order(np.array([seed]), messages)[0]]
        return Decoded(bits=one_best(score, self.payload_bits), statistic=float(score.max()))

    def _order(self, seeds: U64, messages: I64) -> I64:
        return below(words(seeds[:, None], (1 << 41) + messages), self.orders)

    def _likely(self, law: F64) -> tuple[I64, F64]:
        count = min(self.law_size, law.size)
        top = np.argpartition(-law, count - 1)[:count]
        return top, law[top] / law[top].sum()


def one_best(score: npt.NDArray[np.number], payload_bits: int) -> I8:
    """Return the message with the largest score; erase it if several share that score."""
    best = int(score.argmax())
    unique = int((score == score[best]).sum()) == 1
    return bits_of(np.array([best if unique else ERASED]), payload_bits)


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
        """Return the p-value over all tokens, including repeated contexts."""
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
        """Number of random numbers of a context."""
        return max(self.vocab_size, 1 << self.payload_bits)

    def encode(self, bits: I64) -> I64:
        """Return the message as one number; int64 [1]."""
        return np.array([int("".join(map(str, bits.tolist())), 2)])

    def choose(self, row: RivalRow, probabilities: F64, context: I64) -> int:
        """Return the token that the rolled numbers choose."""
        shifted_ids = (np.arange(self.vocab_size) + row.code[0]) % self.ring
        seed = context_seed(self.key, context, b"cycle")
        return arg_gumbel(probabilities, uniforms(words(seed, shifted_ids)))

    def observe(self, ids: I64) -> Observed:
        """Return the tokens [N] with the seeds of their contexts."""
        token, contexts = self.counted(ids)
        seeds = context_seeds(self.key, contexts, b"cycle")
        return Observed(token=token, position=np.zeros_like(token), draws=ids[token], seeds=seeds)

    def decode(self, observed: Observed) -> Decoded:
        """Return the message with the largest numbers."""
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


@dataclass(frozen=True, kw_only=True, eq=False)
class _Shifted(Rival):
    """Common base of EXP and ITS.

    Attributes:
        rows: ``n``, rows of the key.
    """

    window: int = 0
    rows: int = 256

    def start(self, payload: Payload | None, rng: np.random.Generator) -> RivalRow:
        """Begin a text at a random row."""
        row = super().start(payload, rng)
        row.state = int(rng.integers(self.rows))
        return row

    def embed(self, row: RivalRow, probabilities: F64) -> int:
        """Choose the next token by the next row of the key."""
        self.check_width(probabilities)
        number = (row.state + len(row.tokens)) % self.rows
        token = self.by_row(probabilities, number)
        row.tokens.append(token)
        return token

    def choose(self, row: RivalRow, probabilities: F64, context: I64) -> int:
        """Not used: no step depends on a context."""
        raise NotImplementedError

    @abstractmethod
    def by_row(self, probabilities: F64, number: int) -> int:
        """Return the token that a row of the key chooses."""

    @cached_property
    def seeds(self) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
        """Seed of each row; uint64 [n]."""
        return layer_seeds(context_seed(self.key, [], b"rows"), self.rows)

    def decode(self, observed: Observed) -> Decoded:
        """Return the fit of the best shift; the draws are costs [n, L], row by token."""
        count = observed.draws.shape[1]
        if not count:
            return Decoded(bits=np.zeros(0, dtype=np.int8), statistic=0.0)
        number = (np.arange(self.rows)[:, None] + np.arange(count)) % self.rows
        cost = observed.draws[number, np.arange(count)].sum(axis=1)
        return Decoded(bits=np.zeros(0, dtype=np.int8), statistic=-float(cost.min()))

    def printed_p(self, ids: I64) -> float:
        """Return the p-value from redrawing the key 99 times, as published."""
        return redraw_p(self, ids, np.random.default_rng(ids.tolist()))

    def _observed(self, costs: F64) -> Observed:
        token = np.arange(costs.shape[1])
        return Observed(token=token, position=np.zeros_like(token), draws=costs)


@dataclass(frozen=True, kw_only=True, eq=False)
class Exp(_Shifted):
    """The Gumbel-max choice by the numbers of a row."""

    def by_row(self, probabilities: F64, number: int) -> int:
        """Return ``argmax u ** (1/p)`` with the row's numbers."""
        u = uniforms(words(self.seeds[number], np.arange(self.vocab_size)))
        return arg_gumbel(probabilities, u)

    def observe(self, ids: I64) -> Observed:
        """Return ``log(1 - u)`` of every token in every row; float64 [n, L]."""
        kinds, inverse = np.unique(ids, return_inverse=True)
        return self._observed(np.log1p(-uniforms(words(self.seeds[:, None], kinds)))[:, inverse])


@dataclass(frozen=True, kw_only=True, eq=False)
class Its(_Shifted):
    """Inverse transform sampling in one secret order, with the number of a row as its point."""

    @cached_property
    def order(self) -> I64:
        """Token id at each rank; int64 [V]."""
        return self.key.vocabulary_order(self.vocab_size)

    @cached_property
    def _points(self) -> F64:
        return uniforms(self.seeds)

    def by_row(self, probabilities: F64, number: int) -> int:
        """Return the token with the interval that contains the row's number."""
        return inverse_transform(probabilities, self.order, float(self._points[number]))

    def observe(self, ids: I64) -> Observed:
        """Return ``|rank/V - u|`` of every token in every row; float64 [n, L]."""
        quantile = ranks(self.order)[ids] / self.vocab_size
        return self._observed(np.abs(quantile - self._points[:, None]))

    def null_draw(self, ids: I64, rng: np.random.Generator) -> Observed:
        """Redraw the numbers and the ranks of the occurring tokens; nothing else has an effect."""
        kinds, inverse = np.unique(ids, return_inverse=True)
        quantile = rng.choice(self.vocab_size, kinds.size, replace=False)[inverse] / self.vocab_size
        redrawn = replace(self, key=SecretKey(rng.bytes(KEY_BYTES)))
        return self._observed(np.abs(quantile - uniforms(redrawn.seeds)[:, None]))
