"""Who asks, and how much of a finding they get."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pura.serve.budgets import Budget


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
        budgets: What pays for what they ask.
    """

    token: str
    name: str
    role: Role
    budgets: tuple[Budget, ...]

    @property
    def reserved(self) -> bool:
        """Whether places are reserved for them: a token of more than a public role says so."""
        return self.role is not Role.PUBLIC


PER_DAY = {Role.PUBLIC: 50, Role.TRUSTED: 1000, Role.INTERNAL: 100_000}
"""Checks in a day that a token of a role is good for, where nobody said otherwise."""
