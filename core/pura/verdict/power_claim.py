"""What power tables allow to be said of a text, and of texts of a profile."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from pura.base.paths import resource
from pura.scheme import Profile
from pura.verdict.power import Asked, PowerTable
from pura.verdict.power_file import load_power

if TYPE_CHECKING:
    from pura.decode.likelihood import LikelihoodModel


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What may be said of how often marked texts like the one at hand are found.

    Attributes:
        power: Share of them, as a lower limit; None where nothing was measured.
        needed: Usable positions in a row that it speaks of; see :meth:`PowerTable.run`.
        table: The table behind it; None where there is none.
        own: It is one that the policy names, none of those that ship.
    """

    power: float | None = None
    needed: int | None = None
    table: PowerTable | None = None
    own: bool = False


def claim(own: Sequence[PowerTable], asked: Asked, power: float) -> Claim:
    """Return what the tables allow to be said of a text.

    Tables of the organisation go before those that ship, since they were measured under its own
    conditions. Where several speak of the text, the weakest counts: the text does not say which of
    their conditions it was written under (a chat or a plain prompt, say).

    Args:
        own: The tables that the policy names.
        asked: The text and the conditions of its audit.
        power: How often marked texts must be found to say so.
    """

    def strength(made: Claim) -> tuple[float, float]:
        needed = math.inf if made.needed is None else made.needed
        return -needed, made.power or 0.0

    for tables, are_own in ((own, True), (shipped_power(), False)):
        claims = [_claim(table, asked, power, own=are_own) for table in tables]
        claims = [made for made in claims if made.power is not None]
        if claims:
            return min(claims, key=strength)
    return Claim()


def _claim(table: PowerTable, asked: Asked, power: float, *, own: bool) -> Claim:
    reached, needed = table.run(asked, power)
    if reached is None:
        return Claim()
    return Claim(power=reached, needed=needed, table=table, own=own)


def length_found(
    tables: Sequence[PowerTable], profile: Profile, threshold: float, power: float
) -> int | None:
    """Return how many usable positions in a row a power takes, the prompt being unknown.

    Of several tables that were measured under a profile's settings the weakest counts.

    Args:
        tables: Where to look.
        profile: Code, payload, sampling, gate, context rules, template.
        threshold: log10 of the evidence that counts as found.
        power: Share of marked texts that must be found.

    Returns:
        None when it was not measured, or not reached.
    """
    found = [
        table.needed(profile, threshold, power, prompt_known=False)
        for table in tables
        if table.suits(profile, "")
        and table.power(0, profile, threshold, prompt_known=False) is not None
    ]
    reached = [usable for usable in found if usable is not None]
    return max(reached) if found and len(reached) == len(found) else None


def likelihood_of(
    tables: Sequence[PowerTable], profile: Profile, reader: str
) -> LikelihoodModel | None:
    """Return the likelihood table that weighs texts of a profile, where one was learnt for them.

    It follows from policy, profile and model, never from a text (docs/evidence.md §3).

    Args:
        tables: The power tables that the policy names, in its order; the first that fits counts.
        profile: What the texts may be marked with.
        reader: Fingerprint of the model that reads.

    Returns:
        None for the shipped one.
    """
    for table in tables:
        if (
            table.likelihood is not None
            and reader in table.models
            and profile.model in table.conditions.get("generators", [reader])
            and table.suits(profile, "")
            and any(
                (entry.sampling, entry.entropy_thresholds_bits)
                == (
                    (profile.temperature, profile.top_k, profile.top_p),
                    profile.entropy_thresholds_bits,
                )
                for entry in table.entries
            )
        ):
            return table.likelihood
    return None


@cache
def shipped_power() -> tuple[PowerTable, ...]:
    """Return the tables that ship with the program, the study's first.

    Raises:
        PolicyError: One cannot be read or is damaged.
    """
    tables = [load_power(path) for path in sorted(resource("power").glob("*.json"))]
    return tuple(sorted(tables, key=lambda table: table.name))
