"""Drawing the number of a payload: uniform among all numbers that were never issued.

Every number is drawn afresh from the operating system's randomness and compared with those in the
register, inside the transaction that writes its row. So no counter and no secret has to be kept:
a register that was restored from a backup goes on without giving a number again, except by a chance
that is the share of lost rows among all numbers (decision 071).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from typing import Final

from pura.base.errors import RegisterError

TRIES: Final = 64
"""Draws before the free numbers are counted: with half of all numbers issued, 1 of 2^64 fails."""


def draw_number(
    bits: int,
    taken: Callable[[int], bool],
    issued: Callable[[], Iterable[int]],
    *,
    randbelow: Callable[[int], int] = secrets.randbelow,
) -> int:
    """Return a number that was never issued, each with the same probability.

    Args:
        bits: Width of the payload.
        taken: Whether a number was issued; asked once in the usual case.
        issued: Lists all issued numbers in ascending order, each once; asked only where nearly all
            numbers were issued.
        randbelow: Source of randomness: a number below its argument, uniform.

    Raises:
        RegisterError: Every number was issued.
    """
    for _ in range(TRIES):
        number = randbelow(1 << bits)
        if not taken(number):
            return number
    free = (1 << bits) - sum(1 for _ in issued())
    if not free:
        raise RegisterError("register.used-up", bits=bits, code="register-used-up")
    # The number of a random rank among the free ones: each issued one below moves it up.
    number = randbelow(free)
    for other in issued():
        if other > number:
            break
        number += 1
    return number
