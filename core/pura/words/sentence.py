"""A sentence before it is in any language."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A sentence of the catalogue with what fills it.

    Attributes:
        key: Name in the catalogue, e.g. ``outcome.mark``.
        values: What its blanks are filled with, ready for every language.
    """

    key: str
    values: dict[str, str | int | float] = field(default_factory=dict)
