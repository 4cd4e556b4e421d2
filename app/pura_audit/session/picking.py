"""Which key, model and profile are in use after the window looked around again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from pura_audit.session.choices import KeyChoice

T = TypeVar("T")


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
