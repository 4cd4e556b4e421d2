"""How a key, a profile or a model is written wherever one is named: name and fingerprint.

A name alone can be given twice, and a fingerprint alone tells nobody anything. All outputs use this
one form, so that a reader can compare two of them sign by sign.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

MOST_TITLES: Final = 8
"""Titles that are written out in a sentence: a range of epochs has hundreds of keys."""


def titled(name: str | None, fingerprint: str) -> str:
    """Return ``name (fingerprint)``, or the fingerprint alone of what has no name."""
    return f"{name} ({fingerprint})" if name else fingerprint


def joined_titles(titles: Iterable[str]) -> str:
    """Return titles one after another; of very many the first ones and how many there are."""
    unique = list(dict.fromkeys(titles))
    if len(unique) <= MOST_TITLES:
        return ", ".join(unique)
    return f"{', '.join(unique[:MOST_TITLES])}, … ({len(unique)})"
