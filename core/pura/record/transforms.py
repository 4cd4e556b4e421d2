"""What extraction changed in the characters of a text; read by the sandbox, so without NumPy."""

from __future__ import annotations

from dataclasses import dataclass

from pura.words.sentences import Note


@dataclass(frozen=True, kw_only=True)
class Transform:
    """One thing that extraction did to the characters of the text, or found hidden among them.

    Attributes:
        name: Stable name, e.g. ``hyphens-joined``.
        count: How often.
        note: What else is known of it.
    """

    name: str
    count: int
    note: Note = ()
