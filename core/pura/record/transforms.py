"""Changes that extraction made to a text's characters; imported in the sandbox, without NumPy."""

from __future__ import annotations

from dataclasses import dataclass

from pura.words.sentences import Note


@dataclass(frozen=True, kw_only=True)
class Transform:
    """A change that extraction made to the characters of a text, or a hidden part that it found.

    Attributes:
        name: Stable name, e.g. ``hyphens-joined``.
        count: Number of occurrences.
        note: Further details.
    """

    name: str
    count: int
    note: Note = ()
