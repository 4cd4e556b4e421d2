"""The form in which all outputs name a key, a profile or a model: name and fingerprint.

A name alone may be used twice, and a fingerprint alone means nothing to people. With a single form,
a reader can compare two outputs character by character.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

MOST_TITLES: Final = 8
"""Titles that are written out in a sentence: a range of epochs has hundreds of keys."""


def titled(name: str | None, fingerprint: str) -> str:
    """Return ``name (fingerprint)``, or the fingerprint alone if there is no name."""
    return f"{name} ({fingerprint})" if name else fingerprint


def joined_titles(titles: Iterable[str]) -> str:
    """Return titles joined with commas; if there are very many, the first ones and their number."""
    unique = list(dict.fromkeys(titles))
    if len(unique) <= MOST_TITLES:
        return ", ".join(unique)
    return f"{', '.join(unique[:MOST_TITLES])}, … ({len(unique)})"
