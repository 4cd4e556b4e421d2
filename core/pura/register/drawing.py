"""Drawing the number of a payload, uniformly among all numbers that were never issued.

Every number is drawn from the operating system's randomness and compared with those in the
register, inside the transaction that writes its row. Hence no counter and no secret is stored. A
register restored from a backup can repeat a number only with a probability equal to the share of
lost rows among all numbers (decision 071).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from typing import Final

from pura.base.errors import RegisterError

TRIES: Final = 64
"""Draws before the free numbers are counted; with half of them issued, 1 case in 2^64 fails."""


def draw_number(
    bits: int,
    is_issued: Callable[[int], bool],
    issued: Callable[[], Iterable[int]],
    *,
    randbelow: Callable[[int], int] = secrets.randbelow,
) -> int:
    """Return a number that was never issued, each with the same probability.

    Args:
        bits: Width of the payload.
        is_issued: Returns whether a number was issued; usually called once.
        issued: Lists all issued numbers once, in ascending order; called only if nearly all
            numbers were issued.
        randbelow: Source of randomness: a number below its argument, uniform.

    Raises:
        RegisterError: Every number was issued.
    """
    for _ in range(TRIES):
        number = randbelow(1 << bits)
        if not is_issued(number):
            return number
    free = (1 << bits) - sum(1 for _ in issued())
    if not free:
        raise RegisterError("register.used-up", bits=bits, code="register-used-up")
    # The number of a random rank among the free ones: each issued one below moves it up.
    number = randbelow(free)
    for issued_number in issued():
        if issued_number > number:
            break
        number += 1
    return number
