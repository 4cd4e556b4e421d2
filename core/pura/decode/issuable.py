"""Payloads that can have been issued at most: limits of the payload's fields as prior.

docs/evidence.md §3, "Limits as prior". Whoever issues payloads knows what can have been issued
without keeping a list: customers below a number, days up to today, versions that exist. Per field
that is a set of numbers; which payloads lie within is told by an automaton that reads them bit by
bit, and how many they are by a product. Nothing here looks at a text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint8]

Ranges = tuple[tuple[int, int], ...]
"""Numbers from the first to the last (inclusive) of each pair; ascending, apart from each other."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Issuable:
    """The payloads within stated limits, fixed before the text was seen. Make it with :meth:`of`.

    Attributes:
        outside: Part of the prior that all payloads share, whether within or not, in (0, 1); those
            within share the rest equally.
        count: How many are within.
        following: int64 [L_m, Q, 2], the automaton: where each state goes with a bit 0 and 1; -1
            where no payload within begins like that. It begins in state 0, and all that is within
            ends there.
    """

    outside: float
    count: int
    following: I64

    @classmethod
    def of(cls, fields: Sequence[tuple[int, Ranges]], outside: float) -> Issuable:
        """Take limits in.

        Args:
            fields: Width in bits and numbers of each field, in the order of the payload.
            outside: In (0, 1).

        Raises:
            ValueError: A field admits nothing, or the weight is none.
        """
        if not 0 < outside < 1 or any(not ranges for _, ranges in fields):
            raise ValueError("limits need a number in each field and a weight between 0 and 1")
        rows = [row for width, ranges in fields for row in _automaton(width, ranges)]
        states = max(len(row) for row in rows)
        following = np.full((len(rows), states, 2), -1, dtype=np.int64)
        for place, row in enumerate(rows):
            following[place, : len(row)] = row
        count = math.prod(sum(b - a + 1 for a, b in ranges) for _, ranges in fields)
        return cls(outside=outside, count=count, following=following)

    @property
    def payload_bits(self) -> int:
        """``L_m``."""
        return len(self.following)

    @cached_property
    def log_share(self) -> float:
        """Natural log of the share of all payloads that is within."""
        return math.log(self.count) - self.payload_bits * math.log(2)

    def holds(self, bits: Bits) -> npt.NDArray[np.bool_]:
        """Return which payloads are within; uint8 [C, L_m] to bool [C]."""
        state = np.zeros(len(bits), dtype=np.int64)
        for place, row in enumerate(self.following):
            state = np.where(state < 0, -1, row[state, bits[:, place]])
        return np.asarray(state >= 0)

    def log_prior(self, bits: Bits) -> F64:
        """Return what payloads weigh before the text is seen, natural log; [C, L_m] to [C]."""
        everywhere = math.log(self.outside) - self.payload_bits * math.log(2)
        within = np.logaddexp(everywhere, math.log1p(-self.outside) - math.log(self.count))
        return np.where(self.holds(bits), within, everywhere)


def _automaton(width: int, ranges: Ranges) -> list[list[tuple[int, int]]]:
    """Return the smallest automaton that reads the numbers of one field, highest bit first.

    Its states are what may follow: a set of numbers of the bits that are left.
    """
    rows: list[list[tuple[int, int]]] = []
    states: list[Ranges] = [ranges]
    for left in reversed(range(width)):
        numbers: dict[Ranges, int] = {}
        row = []
        for state in states:
            halves = (_part(state, 0, 1 << left), _part(state, 1 << left, 1 << left))
            row.append(tuple(numbers.setdefault(h, len(numbers)) if h else -1 for h in halves))
        rows.append([(zero, one) for zero, one in row])
        states = list(numbers)
    return rows


def _part(ranges: Ranges, first: int, size: int) -> Ranges:
    """Return the numbers from ``first`` on, ``size`` of them at most, counted from there."""
    cut = ((max(a, first) - first, min(b, first + size - 1) - first) for a, b in ranges)
    return tuple((a, b) for a, b in cut if a <= b)
