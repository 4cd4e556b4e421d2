"""A text written anew, with the way back to the characters that it came from."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from pura.documents.hidden import kind_of_hidden

I64 = npt.NDArray[np.int64]
MAX_PLACES: Final = 20  # places that are listed of one kind of change
_MAX_EXAMPLES: Final = 8


@dataclass(frozen=True)
class Change:
    """One stretch of a text and what is put there.

    Attributes:
        start: First character.
        end: Character after the last.
        put: What is written instead.
        name: Stable name of the kind of change, e.g. ``curly-quotes``.
    """

    start: int
    end: int
    put: str
    name: str


@dataclass(frozen=True, kw_only=True)
class Substitution:
    """One kind of change that was found.

    Attributes:
        name: Stable name, e.g. ``curly-quotes``.
        count: How often.
        places: The first few places, characters of the text as found.
        examples: What stands there and what it became, each pair once, written visibly.
    """

    name: str
    count: int
    places: tuple[int, ...]
    examples: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Restored:
    """A text with its substitutions undone.

    Attributes:
        text: The restored text, ``C`` characters.
        origin: int64 [C + 1], for each character the place in the text as found that it came
            from; the last entry is the length of that text.
        substitutions: What was undone, kind by kind.
    """

    text: str
    origin: I64
    substitutions: tuple[Substitution, ...]

    @property
    def changed(self) -> bool:
        """Whether anything was undone."""
        return bool(self.substitutions)

    def then(self, later: Restored) -> Restored:
        """Return this and a restoring of *its* text as one, by the characters of the first text."""
        moved = (
            replace(s, places=tuple(int(self.origin[p]) for p in s.places))
            for s in later.substitutions
        )
        return Restored(
            text=later.text,
            origin=self.origin[later.origin],
            substitutions=(*self.substitutions, *moved),
        )

    def spans_in_found(self, spans: I64) -> I64:
        """Return stretches of the restored text as stretches of the text as found.

        Args:
            spans: int64 [L, 2], characters of the restored text, end excluded.

        Returns:
            int64 [L, 2]. Stretches that came from one character share its span.
        """
        if not self.text or not spans.size:
            return np.zeros_like(spans)
        start, end = spans[:, 0], spans[:, 1]
        last = self.origin[np.maximum(end - 1, 0)] + 1
        mapped = np.stack([self.origin[start], np.maximum(self.origin[end], last)], axis=1)
        mapped[start == end, 1] = mapped[start == end, 0]
        return mapped.astype(np.int64)


def unchanged(text: str) -> Restored:
    """Return a text as its own restoring."""
    return Restored(text=text, origin=np.arange(len(text) + 1, dtype=np.int64), substitutions=())


def rewrite(text: str, changes: Iterable[Change], kinds: Iterable[str]) -> Restored:
    """Make changes to a text; of two that overlap the first counts.

    Args:
        text: The text as found.
        changes: In any order.
        kinds: Their names, in the order in which they are listed.
    """
    pieces: list[str] = []
    origins: list[I64] = []
    made: list[Change] = []
    place = 0
    for change in sorted(changes, key=lambda c: c.start):
        if change.start < place:
            continue
        pieces += [text[place : change.start], change.put]
        origins += [
            np.arange(place, change.start, dtype=np.int64),
            # Character by character as far as they go; what is longer comes from the last one.
            change.start
            + np.minimum(np.arange(len(change.put)), max(change.end - change.start - 1, 0)),
        ]
        made.append(change)
        place = change.end
    pieces.append(text[place:])
    origins.append(np.arange(place, len(text) + 1, dtype=np.int64))
    return Restored(
        text="".join(pieces),
        origin=np.concatenate(origins),
        substitutions=_summed(made, text, kinds),
    )


def _summed(changes: list[Change], text: str, kinds: Iterable[str]) -> tuple[Substitution, ...]:
    listed = []
    for name in kinds:
        mine = [c for c in changes if c.name == name]
        if not mine:
            continue
        pairs = dict.fromkeys((_visible(text[c.start : c.end]), _visible(c.put)) for c in mine)
        listed.append(
            Substitution(
                name=name,
                count=len(mine),
                places=tuple(c.start for c in mine[:MAX_PLACES]),
                examples=tuple(pairs)[:_MAX_EXAMPLES],
            )
        )
    return tuple(listed)


def _visible(piece: str) -> str:
    """Write characters without a picture by their code points; long runs are cut."""
    shown = [
        char
        if char.isprintable()
        and not char.isspace()
        and not unicodedata.combining(char)
        and not kind_of_hidden(char)
        else f"U+{ord(char):04X}"
        for char in piece[:6]
    ]
    return " ".join(shown) + (" …" if len(piece) > 6 else "")
