"""Characters that show nothing, manifests among them, and a text written anew with the way back."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np

from pura.provenance.reading import WRAPPER, cuts, wrappers
from pura.record.transforms import Transform
from pura.scheme import I64
from pura.words.sentences import sentence

INVISIBLE: Final = "invisible-characters"
DIRECTIONS: Final = "direction-marks"
SELECTORS: Final = "variation-selectors"
TAGS: Final = "tag-characters"
CONTROLS: Final = "control-characters"
BLANK_LETTERS: Final = "blank-letters"
SOFT_HYPHENS: Final = "soft-hyphens"
KINDS: Final = (INVISIBLE, DIRECTIONS, SELECTORS, TAGS, CONTROLS, BLANK_LETTERS, SOFT_HYPHENS)

# Of Unicode 18.0; unassigned ignorable code points are among them.
_RANGES: Final[dict[str, str]] = {
    CONTROLS: r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f",
    SOFT_HYPHENS: "\u00ad",
    DIRECTIONS: r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f",
    SELECTORS: r"\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef",
    TAGS: r"\U000e0000-\U000e00ff\U000e01f0-\U000e0fff",
    # They take the space of a letter or of a blank, and show none.
    BLANK_LETTERS: r"\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0",
    INVISIBLE: (
        r"\u034f\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200d\u2060-\u2065\ufeff"
        r"\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
        r"\U0001d173-\U0001d17a"
    ),
}
HIDDEN: Final = "".join(_RANGES.values())
"""All of them, as the inside of a set of the module ``re``."""
_SETS: Final = {name: re.compile(f"[{ranges}]") for name, ranges in _RANGES.items()}
_HIDDEN: Final = re.compile(f"[{HIDDEN}]")
_JOINERS: Final = "\u200c\u200d"
_PAGE_BREAKS: Final = "\x0b\x0c"
_FLAG: Final = "\U0001f3f4"
_FIRST_SCRIPT: Final = "\u0590"
"""From here on stand the scripts that have a use for joiners, marks of direction and the like."""


@cache
def kind_of_hidden(char: str) -> str:
    """Return what a character that shows nothing is called, one of :data:`KINDS`; else ``""``."""
    return next((name for name, found in _SETS.items() if found.match(char)), "")


def hidden_characters(text: str) -> tuple[tuple[str, int], ...]:
    """Count the characters that show nothing and stand where nothing has a use for them.

    At home are: the selector behind an emoji or an ideograph and the joiner between two emoji, a
    flag's tags, joiners and signs within the scripts that need them, marks of direction in a text
    that holds letters from right to left, fillers beside Korean letters, a blank among Braille, a
    page break at a line end, a byte order mark at the beginning, and C2PA manifests, which are
    named apart. Two selectors in a row are not at home.

    Args:
        text: The text as found.

    Returns:
        Kind and count, in the order of :data:`KINDS`; kinds that are not there are left out.
    """
    places = [match.start() for match in _HIDDEN.finditer(text)]
    if not places:
        return ()
    excused = {
        place
        for match in WRAPPER.finditer(text)
        if match[0].startswith("\ufeff")
        for place in range(match.start(), match.end())
    }
    from_right = any(
        unicodedata.bidirectional(char) in ("R", "AL") for char in set(text) if char.isalpha()
    )
    found = Counter(
        kind_of_hidden(text[place])
        for place in places
        if place not in excused and not _at_home(text, place, from_right=from_right)
    )
    return tuple((kind, found[kind]) for kind in KINDS if found[kind])


def _at_home(text: str, place: int, *, from_right: bool) -> bool:
    char, before, behind = text[place], text[place - 1 : place], text[place + 1 : place + 2]
    match kind_of_hidden(char):
        case "variation-selectors":
            keycap = before in set("0123456789#*") and behind == "\u20e3"
            return keycap or _picture(before) or _of_script(before)
        case "tag-characters":
            begun = text.rfind(_FLAG, max(0, place - 8), place)
            return begun >= 0 and all(
                kind_of_hidden(char) == TAGS for char in text[begun + 1 : place]
            )
        case "direction-marks":
            return from_right
        case "control-characters":
            return char in _PAGE_BREAKS and (before in ("", "\n", "\r") or behind in ("", "\n"))
        case "blank-letters":
            family = "BRAILLE" if char == "\u2800" else "HANGUL"
            return any(_named(other, family) for other in (before, behind))
        case "soft-hyphens":
            return False
    if char == "\ufeff":
        return place == 0
    if char == "\u200d" and _picture(behind):
        return _picture(before) or kind_of_hidden(before) == SELECTORS
    if char in _JOINERS or char == "\u200b":
        return _of_script(before) and _of_script(behind)
    return _of_script(behind) or (char > "\u2100" and _of_script(before))


def _picture(char: str) -> bool:
    """Whether a character is an emoji or another sign that a selector may follow."""
    return bool(char) and (unicodedata.category(char)[0] == "S" or char in "‼⁉〰〽")


def _of_script(char: str) -> bool:
    """Whether a character is one of the scripts beyond Latin, Greek, Cyrillic and Armenian."""
    return (
        char >= _FIRST_SCRIPT
        and unicodedata.category(char)[0] in "LMN"
        and not kind_of_hidden(char)
    )


def _named(char: str, family: str) -> bool:
    return (
        bool(char)
        and not kind_of_hidden(char)
        and unicodedata.name(char, "").startswith((family, f"HALFWIDTH {family}"))
    )


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
        # What was cut off at the end, a manifest above all, belongs to no token.
        ends = np.where(end < len(self.text), self.origin[end], last)
        mapped = np.stack([self.origin[start], np.maximum(ends, last)], axis=1)
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


WHOLE: Final = "c2pa-manifest"
INCOMPLETE: Final = "c2pa-incomplete"
CUT: Final = "provenance-characters"


def cut(text: str) -> Restored:
    """Return a text without manifests, with the way back to its characters."""
    return rewrite(text, (Change(start, end, "", CUT) for start, end in cuts(text)), (CUT,))


def facts(text: str) -> tuple[Transform, ...]:
    """Return what the record says of the manifests in a text: one line for those that are whole."""
    manifests = wrappers(text)
    rows = []
    for name, mine in (
        (WHOLE, [one for one in manifests if one.whole]),
        (INCOMPLETE, [one for one in manifests if not one.whole]),
    ):
        if mine:
            places = tuple(
                sentence("changed.c2pa", bytes=one.size, start=one.first)
                for one in mine[:MAX_PLACES]
            )
            rows.append(Transform(name=name, count=len(mine), note=places))
    return tuple(rows)
