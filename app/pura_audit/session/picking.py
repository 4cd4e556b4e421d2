"""Which key, model and profile are in use after the window looked around again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar

from pura_audit.session.choices import KeyChoice, ProfileChoice

T = TypeVar("T")
SEPARATOR: Final = "/"
"""Between names of profiles in the settings: no name holds one."""


def pick_keys(
    choices: Sequence[KeyChoice], current: Sequence[KeyChoice], wanted: str
) -> tuple[KeyChoice, ...]:
    """Return the keys in use that are still there, else the remembered ones, else the first."""
    for fingerprints in ([key.fingerprint for key in current], wanted.split(",")):
        found = tuple(key for key in choices if key.fingerprint in fingerprints)
        if found:
            return found
    return tuple(choices[:1])


def pick(choices: Sequence[T], name: str, current: T | None, wanted: str) -> T | None:
    """Return the choice in use when it is still there, else the remembered one, else the first."""
    if current is not None and current in choices:
        return current
    return next((c for c in choices if getattr(c, name) == wanted), choices[0] if choices else None)


def pick_profiles(
    choices: Sequence[ProfileChoice], current: Sequence[ProfileChoice], wanted: str
) -> tuple[ProfileChoice, ...]:
    """Return the profiles in use that are still there, else the remembered ones, else the first."""
    for names in ([choice.name for choice in current], wanted.split(SEPARATOR)):
        found = tuple(choice for choice in choices if choice.name in names)
        if found:
            return in_order(found)
    return tuple(choices[:1])


def in_order(
    chosen: Sequence[ProfileChoice], before: Sequence[ProfileChoice] = ()
) -> tuple[ProfileChoice, ...]:
    """Return what an audit can take: one profile of PURA's first, then marks by others.

    Args:
        chosen: What is ticked.
        before: What was; of several of PURA's profiles the one that is new is meant.
    """
    own = [choice for choice in chosen if choice.profile.foreign is None]
    new = [choice for choice in own if choice not in before] or own
    return (*new[:1], *(choice for choice in chosen if choice.profile.foreign is not None))
