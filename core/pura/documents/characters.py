"""Invisible characters, manifests made of them, and text edits that keep track of positions."""

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

# Code points of Unicode 18.0, including the unassigned ones that are ignorable by default.
_RANGES: Final[dict[str, str]] = {
    CONTROLS: r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f",
    SOFT_HYPHENS: "\u00ad",
    DIRECTIONS: r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f",
    SELECTORS: r"\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef",
    TAGS: r"\U000e0000-\U000e00ff\U000e01f0-\U000e0fff",
    # They take up the space of a letter or a blank but show nothing.
    BLANK_LETTERS: r"\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0",
    INVISIBLE: (
        r"\u034f\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200d\u2060-\u2065\ufeff"
        r"\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
        r"\U0001d173-\U0001d17a"
    ),
}
HIDDEN: Final = "".join(_RANGES.values())
"""All invisible characters, as the inside of a character class of :mod:`re`."""
_SETS: Final = {name: re.compile(f"[{ranges}]") for name, ranges in _RANGES.items()}
_HIDDEN: Final = re.compile(f"[{HIDDEN}]")
_JOINERS: Final = "\u200c\u200d"
_PAGE_BREAKS: Final = "\x0b\x0c"
_FLAG: Final = "\U0001f3f4"
_FIRST_SCRIPT: Final = "\u0590"
"""First code point of the scripts that need joiners, direction marks and similar characters."""


@cache
def kind_of_hidden(char: str) -> str:
    """Return the kind of an invisible character, one of :data:`KINDS`; ``""`` for any other."""
    return next((name for name, pattern in _SETS.items() if pattern.match(char)), "")


def hidden_characters(text: str) -> tuple[tuple[str, int], ...]:
    """Count the invisible characters that have no purpose where they stand.

    Characters with a purpose are not counted: a selector after an emoji or an ideograph, a joiner
    between two emoji, the tags of a flag, joiners and signs within the scripts that need them,
    direction marks in a text with right-to-left letters, fillers next to Korean letters, a blank
    among Braille, a page break at a line end, a byte order mark at the beginning, and C2PA
    manifests, which are reported separately. The second of two selectors in a row is counted.

    Args:
        text: The text as found.

    Returns:
        Kind and count, in the order of :data:`KINDS`; kinds that do not occur are omitted.
    """
    positions = [match.start() for match in _HIDDEN.finditer(text)]
    if not positions:
        return ()
    excused = {
        position
        for match in WRAPPER.finditer(text)
        if match[0].startswith("\ufeff")
        for position in range(match.start(), match.end())
    }
    from_right = any(
        unicodedata.bidirectional(char) in ("R", "AL") for char in set(text) if char.isalpha()
    )
    counts = Counter(
        kind_of_hidden(text[position])
        for position in positions
        if position not in excused and not _has_purpose(text, position, from_right=from_right)
    )
    return tuple((kind, counts[kind]) for kind in KINDS if counts[kind])


def _has_purpose(text: str, position: int, *, from_right: bool) -> bool:
    char, before, following = (
        text[position],
        text[position - 1 : position],
        text[position + 1 : position + 2],
    )
    match kind_of_hidden(char):
        case "variation-selectors":
            keycap = before in set("0123456789#*") and following == "\u20e3"
            return keycap or _picture(before) or _of_script(before)
        case "tag-characters":
            flag_start = text.rfind(_FLAG, max(0, position - 8), position)
            return flag_start >= 0 and all(
                kind_of_hidden(char) == TAGS for char in text[flag_start + 1 : position]
            )
        case "direction-marks":
            return from_right
        case "control-characters":
            return char in _PAGE_BREAKS and (before in ("", "\n", "\r") or following in ("", "\n"))
        case "blank-letters":
            family = "BRAILLE" if char == "\u2800" else "HANGUL"
            return any(_has_name(neighbour, family) for neighbour in (before, following))
        case "soft-hyphens":
            return False
    if char == "\ufeff":
        return position == 0
    if char == "\u200d" and _picture(following):
        return _picture(before) or kind_of_hidden(before) == SELECTORS
    if char in _JOINERS or char == "\u200b":
        return _of_script(before) and _of_script(following)
    return _of_script(following) or (char > "\u2100" and _of_script(before))


def _picture(char: str) -> bool:
    """Return whether a character is an emoji or another sign that a selector may follow."""
    return bool(char) and (unicodedata.category(char)[0] == "S" or char in "‼⁉〰〽")


def _of_script(char: str) -> bool:
    """Return whether a character belongs to none of Latin, Greek, Cyrillic and Armenian."""
    return (
        char >= _FIRST_SCRIPT
        and unicodedata.category(char)[0] in "LMN"
        and not kind_of_hidden(char)
    )


def _has_name(char: str, family: str) -> bool:
    return (
        bool(char)
        and not kind_of_hidden(char)
        and unicodedata.name(char, "").startswith((family, f"HALFWIDTH {family}"))
    )


MAX_PLACES: Final = 20
"""Positions of one kind of change that are listed; a record stays readable with so many."""
_MAX_EXAMPLES: Final = 8  # different examples of one kind of change that are listed


@dataclass(frozen=True)
class Change:
    """A stretch of a text and its replacement.

    Attributes:
        start: First character.
        end: Character after the last.
        replacement: The text written instead.
        name: Stable name of the kind of change, e.g. ``curly-quotes``.
    """

    start: int
    end: int
    replacement: str
    name: str


@dataclass(frozen=True, kw_only=True)
class Substitution:
    """All changes of one kind in a text.

    Attributes:
        name: Stable name, e.g. ``curly-quotes``.
        count: Number of changes.
        places: Positions of the first few, in characters of the text as found.
        examples: Old and new characters, each pair once; invisible ones as code points.
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
        origin: int64 [C + 1], for each character its position in the text as found; the last
            entry is the length of that text.
        substitutions: The substitutions that were undone, by kind.
    """

    text: str
    origin: I64
    substitutions: tuple[Substitution, ...]

    @property
    def changed(self) -> bool:
        """Whether the text differs from the text as found."""
        return bool(self.substitutions)

    def then(self, later: Restored) -> Restored:
        """Combine this restoration with a later one of its text.

        Args:
            later: A restoration of the text of this one.

        Returns:
            Both as one restoration, with positions in the text that this one began with.
        """
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
        """Convert stretches of the restored text to stretches of the text as found.

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
    """Return a restoration that changes nothing."""
    return Restored(text=text, origin=np.arange(len(text) + 1, dtype=np.int64), substitutions=())


def rewrite(text: str, changes: Iterable[Change], kinds: Iterable[str]) -> Restored:
    """Apply changes to a text; of two overlapping changes only the first is applied.

    Args:
        text: The text as found.
        changes: The changes, in any order.
        kinds: Names of the kinds of change, in the order in which they are listed.
    """
    pieces: list[str] = []
    origins: list[I64] = []
    applied: list[Change] = []
    position = 0
    for change in sorted(changes, key=lambda c: c.start):
        if change.start < position:
            continue
        pieces += [text[position : change.start], change.replacement]
        origins += [
            np.arange(position, change.start, dtype=np.int64),
            # One by one while both last; further new characters come from the last old one.
            change.start
            + np.minimum(np.arange(len(change.replacement)), max(change.end - change.start - 1, 0)),
        ]
        applied.append(change)
        position = change.end
    pieces.append(text[position:])
    origins.append(np.arange(position, len(text) + 1, dtype=np.int64))
    return Restored(
        text="".join(pieces),
        origin=np.concatenate(origins),
        substitutions=_substitutions_of(applied, text, kinds),
    )


def _substitutions_of(
    changes: list[Change], text: str, kinds: Iterable[str]
) -> tuple[Substitution, ...]:
    listed = []
    for name in kinds:
        changes_of_kind = [c for c in changes if c.name == name]
        if not changes_of_kind:
            continue
        pairs = dict.fromkeys(
            (_visible(text[c.start : c.end]), _visible(c.replacement)) for c in changes_of_kind
        )
        listed.append(
            Substitution(
                name=name,
                count=len(changes_of_kind),
                places=tuple(c.start for c in changes_of_kind[:MAX_PLACES]),
                examples=tuple(pairs)[:_MAX_EXAMPLES],
            )
        )
    return tuple(listed)


def _visible(piece: str) -> str:
    """Write invisible characters as code points, and shorten long runs."""
    signs = [
        char
        if char.isprintable()
        and not char.isspace()
        and not unicodedata.combining(char)
        and not kind_of_hidden(char)
        else f"U+{ord(char):04X}"
        for char in piece[:6]
    ]
    return " ".join(signs) + (" …" if len(piece) > 6 else "")


WHOLE: Final = "c2pa-manifest"
INCOMPLETE: Final = "c2pa-incomplete"
CUT: Final = "provenance-characters"


def cut(text: str) -> Restored:
    """Return a text without manifests, with the way back to its characters."""
    return rewrite(text, (Change(start, end, "", CUT) for start, end in cuts(text)), (CUT,))


def facts(text: str) -> tuple[Transform, ...]:
    """Return the record's lines on the manifests in a text: complete ones, then incomplete ones."""
    manifests = wrappers(text)
    rows = []
    for name, manifests_of_kind in (
        (WHOLE, [manifest for manifest in manifests if manifest.whole]),
        (INCOMPLETE, [manifest for manifest in manifests if not manifest.whole]),
    ):
        if manifests_of_kind:
            notes = tuple(
                sentence("changed.c2pa", bytes=manifest.size, start=manifest.first)
                for manifest in manifests_of_kind[:MAX_PLACES]
            )
            rows.append(Transform(name=name, count=len(manifests_of_kind), note=notes))
    return tuple(rows)
