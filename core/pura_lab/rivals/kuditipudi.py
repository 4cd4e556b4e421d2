"""EXP and ITS (Kuditipudi et al. 2024): a key as long as the text, read at a shift.

Token ``i`` uses row ``shift + i`` of a table of ``rows`` random numbers, the shift drawn once a
text. No context is hashed, so nothing is repeated inside the first ``rows`` tokens; a longer text
uses rows again, as published, and is no longer unbiased as a whole. The detector tries all shifts
and compares with redrawn keys, ``(1 + count) / (1 + draws)``; dividing by ``draws`` alone, as a
public routine does, is no p-value. The alignment here is that of an unedited block; the published
variant that also aligns insertions and deletions is left out.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pura.embed.engine import inverse_transform
from pura.scheme import Payload, SecretKey
from pura.scheme.keys import KEY_BYTES, ranks
from pura_lab.rivals.base import (
    F64,
    I64,
    Decoded,
    Observed,
    Rival,
    RivalRow,
    context_seed,
    layer_seeds,
    redraw_p,
    uniforms,
    words,
)
from pura_lab.rivals.gumbel import arg_gumbel


@dataclass(frozen=True, kw_only=True, eq=False)
class _Shifted(Rival):
    """What both have in common.

    Attributes:
        rows: ``n``, rows of the key.
    """

    window: int = 0
    rows: int = 256

    def start(self, payload: Payload | None, dice: np.random.Generator) -> RivalRow:
        """Begin a text at a random row."""
        row = super().start(payload, dice)
        row.state = int(dice.integers(self.rows))
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
        """One seed a row; uint64 [n]."""
        return layer_seeds(context_seed(self.key, [], b"rows"), self.rows)

    def decode(self, observed: Observed) -> Decoded:
        """Return how well the best shift fits; the draws are costs [n, L], row by token."""
        count = observed.draws.shape[1]
        if not count:
            return Decoded(bits=np.zeros(0, dtype=np.int8), statistic=0.0)
        number = (np.arange(self.rows)[:, None] + np.arange(count)) % self.rows
        cost = observed.draws[number, np.arange(count)].sum(axis=1)
        return Decoded(bits=np.zeros(0, dtype=np.int8), statistic=-float(cost.min()))

    def printed_p(self, ids: I64) -> float:
        """Redraw the key 99 times, as published."""
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
        kinds, where = np.unique(ids, return_inverse=True)
        return self._observed(np.log1p(-uniforms(words(self.seeds[:, None], kinds)))[:, where])


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
        """Return the token whose interval holds the row's number."""
        return inverse_transform(probabilities, self.order, float(self._points[number]))

    def observe(self, ids: I64) -> Observed:
        """Return ``|rank/V - u|`` of every token in every row; float64 [n, L]."""
        place = ranks(self.order)[ids] / self.vocab_size
        return self._observed(np.abs(place - self._points[:, None]))

    def null_draw(self, ids: I64, rng: np.random.Generator) -> Observed:
        """Draw numbers and the ranks of the tokens that occur, which is all that enters."""
        kinds, where = np.unique(ids, return_inverse=True)
        place = rng.choice(self.vocab_size, kinds.size, replace=False)[where] / self.vocab_size
        other = replace(self, key=SecretKey(rng.bytes(KEY_BYTES)))
        return self._observed(np.abs(place - uniforms(other.seeds)[:, None]))
