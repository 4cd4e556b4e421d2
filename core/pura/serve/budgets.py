"""What may be asked for: buckets that hold a quarter of a day's checks and refill all the time.

A check is the cost of a text of 500 tokens; longer texts cost more, and one character next to
nothing. What comes in is paid for in three steps, each before the work: bytes before they are read
from the wire, a file before its parser starts, tokens before the model reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

CHECK_TOKENS: Final = 500
"""Tokens that cost one check."""
DAY_S: Final = 86_400.0
LOOK_UP: Final = 1.0
"""Checks that looking up a manifest costs."""
_HELD: Final = 0.25  # of a day's checks
_CHECK_BODY_BYTES: Final = 1 << 20
_CHECK_FILE_BYTES: Final = 256 << 10


@dataclass(frozen=True, kw_only=True)
class Budget:
    """One bucket.

    Attributes:
        who: Whose it is: a token, an address block under the salt, or all of the public.
        per_day: Checks that flow in, in a day.
    """

    who: bytes
    per_day: float

    @property
    def holds(self) -> float:
        """Checks that it holds when it is full."""
        return _HELD * self.per_day

    def needed(self, checks: float) -> float:
        """Return what it must hold for checks to be paid: half of it will do for any number.

        Else what costs more than it holds could never be paid, nor, with a few bytes, what costs
        as much. It is in debt then.
        """
        return min(checks, self.holds / 2)


def of_body(size: int) -> float:
    """Return the checks that the bytes of a request cost."""
    return size / _CHECK_BODY_BYTES


def of_file(size: int) -> float:
    """Return the checks that parsing a file costs: a small one can take as long as a large one."""
    return 1.0 + size / _CHECK_FILE_BYTES


def of_tokens(tokens: int) -> float:
    """Return the checks that reading a text costs."""
    return tokens / CHECK_TOKENS


def most_answered(per_day: float, least_tokens: int) -> float:
    """Return how many texts of a least length a bucket pays for at most within any 24 hours.

    Args:
        per_day: Checks that flow in.
        least_tokens: Of a text; positive.
    """
    budget = Budget(who=b"", per_day=per_day)
    return (per_day + budget.holds) / budget.needed(of_tokens(least_tokens))
