"""CTWL, balance marking (Wang et al. 2024): favoured halves by the mass of a proxy model.

A context and a message together choose one of ``orders`` keyed orders of the vocabulary; tokens
behind the middle of the proxy's mass in that order are favoured. The proxy sees the last tokens
only, so that a verifier without the prompt knows what it said. Its law is cut to its likeliest
tokens, on both sides alike, which makes reading a hundred times cheaper. All messages are tried, so
20 bits are the most.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pura_lab.rivals.base import (
    ERASED,
    F64,
    I8,
    I64,
    U64,
    Decoded,
    Observed,
    Rival,
    RivalRow,
    Seeded,
    below,
    bits_of,
    context_seed,
    context_seeds,
    draw,
    layer_seeds,
    shifted,
    words,
)

Proxy = Callable[[I64], F64]
MOST_BITS = 20


@dataclass(frozen=True, kw_only=True, eq=False)
class Ctwl(Rival):
    """The scheme.

    Attributes:
        proxy: Takes windows of token ids [N, prefix], gives probabilities [N, V].
        delta: Taken from the logits of the other half.
        prefix: Tokens that the proxy sees; the first of a text are plain.
        orders: How many orders a context has.
        kept: Tokens of the proxy's law that are kept.
    """

    proxy: Proxy
    delta: float = 2.0
    prefix: int = 10
    orders: int = 100
    kept: int = 1000
    marks_repeats: bool = True

    def __post_init__(self) -> None:
        if self.payload_bits > MOST_BITS:
            raise ValueError(f"at most {MOST_BITS} bits: every message is tried")

    @property
    def first(self) -> int:
        """The proxy needs its prefix."""
        return max(self.window, self.prefix)

    def encode(self, bits: I64) -> I64:
        """Return the message as one number; int64 [1]."""
        return np.array([int("".join(map(str, bits.tolist())), 2)])

    def choose(self, row: RivalRow, probabilities: F64, context: I64) -> int:
        """Draw with the favoured half made likelier."""
        window = np.array(row.tokens[-self.prefix :])
        top, mass = self._likely(self.proxy(window[None])[0])
        seed = np.uint64(context_seed(self.key, context, b"ctwl"))
        number = int(self._order(np.array([seed]), row.code)[0, 0])
        order = layer_seeds(seed, self.orders)[number]
        places = words(order, top)
        sort = places.argsort()
        upto = np.concatenate([[0.0], np.cumsum(mass[sort])])
        all_places = words(order, np.arange(self.vocab_size))
        before = upto[np.searchsorted(places[sort], all_places, side="right")]
        law = shifted(probabilities, before >= 0.5, self.delta)
        return draw(law, row.dice.random())

    def observe(self, ids: I64) -> Seeded:
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
        return Seeded(token=token, position=np.zeros_like(token), draws=favoured, seeds=seeds)

    def decode(self, observed: Observed) -> Decoded:
        """Return the message under which most tokens are favoured."""
        assert isinstance(observed, Seeded)
        messages = np.arange(1 << self.payload_bits)
        score = np.zeros(messages.size, dtype=np.int64)
        for row, seed in zip(observed.draws, observed.seeds, strict=True):
            score += row[self._order(np.array([seed]), messages)[0]]
        return Decoded(bits=one_best(score, self.payload_bits), statistic=float(score.max()))

    def _order(self, seeds: U64, messages: I64) -> I64:
        return below(words(seeds[:, None], (1 << 41) + messages), self.orders)

    def _likely(self, law: F64) -> tuple[I64, npt.NDArray[np.float64]]:
        kept = min(self.kept, law.size)
        top = np.argpartition(-law, kept - 1)[:kept]
        return top, law[top] / law[top].sum()


def one_best(score: npt.NDArray[np.number], payload_bits: int) -> I8:
    """Return the message with the largest score, all of it erased where two share that."""
    best = int(score.argmax())
    alone = int((score == score[best]).sum()) == 1
    return bits_of(np.array([best if alone else ERASED]), payload_bits)
