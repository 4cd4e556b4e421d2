"""A sentence before it is in any language."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A sentence of the catalogue with what fills it.

    Attributes:
        key: Name in the catalogue, e.g. ``outcome.mark``.
        values: What its blanks are filled with, ready for every language.
    """

    key: str
    values: dict[str, str | int | float] = field(default_factory=dict)


def sentence(key: str, /, **values: str | float) -> Sentence:
    """Return a sentence by its key and the values of its blanks."""
    return Sentence(key=key, values=values)


Note: TypeAlias = str | tuple[Sentence, ...]
"""A remark in a record; in records up to version 0.2.0 it is an English text, shown as it is."""
