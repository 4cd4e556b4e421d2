"""Who asks, and how much of a finding they get."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """How much of a finding is answered."""

    PUBLIC = "public"
    TRUSTED = "trusted"
    INTERNAL = "internal"


@dataclass(frozen=True, kw_only=True)
class Asker:
    """Who asks.

    Attributes:
        token: Identifier of the token; for whoever has none, the address block under the salt.
        name: As logs and the case log name them.
        role: How much of a finding they get.
        per_day: Checks that they may ask for in a day.
    """

    token: str
    name: str
    role: Role
    per_day: int


PER_DAY = {Role.PUBLIC: 50, Role.TRUSTED: 1000, Role.INTERNAL: 100_000}
"""Checks of a day that a token of a role is good for, where nobody said otherwise."""
