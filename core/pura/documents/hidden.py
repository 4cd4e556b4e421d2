"""Characters that show nothing: which they are, what each is called, and where they belong.

Whoever wants to hide a mark puts characters between the words that nobody sees; each changes
tokens. So the restored reading (:mod:`pura.documents.restore`) leaves all of them out, and an audit
names and counts those that stand where no script and no emoji has a use for them
(docs/reading-files.md).

The ranges are Unicode's: ``Default_Ignorable_Code_Point`` and the categories ``Cf`` and ``Cc``,
line ends and the tab aside, and the Braille blank. They are written out here, since Python's own
tables lack the property and follow Python's age; a test holds them against another library's.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache
from typing import Final

UNICODE: Final = "18.0"
"""The version that the ranges are of; unassigned ignorable code points are among them."""

INVISIBLE: Final = "invisible-characters"
DIRECTIONS: Final = "direction-marks"
SELECTORS: Final = "variation-selectors"
TAGS: Final = "tag-characters"
CONTROLS: Final = "control-characters"
BLANK_LETTERS: Final = "blank-letters"
SOFT_HYPHENS: Final = "soft-hyphens"
KINDS: Final = (INVISIBLE, DIRECTIONS, SELECTORS, TAGS, CONTROLS, BLANK_LETTERS, SOFT_HYPHENS)

_RANGES: Final[dict[str, str]] = {
    CONTROLS: r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f",
    SOFT_HYPHENS: "\u00ad",
    DIRECTIONS: r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f",
    SELECTORS: r"\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef",
    TAGS: r"\U000e0000-\U000e00ff\U000e01f0-\U000e0fff",
    # They take the room of a letter or of a blank, and show none.
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
_PROVENANCE: Final = re.compile("\ufeff[\ufe00-\ufe0f\U000e0100-\U000e01ef]{8,}")
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
    page break at a line end, a byte order mark at the beginning, and provenance data
    (:mod:`pura.documents.c2pa`), which is told elsewhere. Two selectors in a row are not at home.

    Args:
        text: The text as found.

    Returns:
        Kind and count, in the order of :data:`KINDS`; kinds that are not there are left out.
    """
    places = [match.start() for match in _HIDDEN.finditer(text)]
    if not places:
        return ()
    excused = {
        place for match in _PROVENANCE.finditer(text) for place in range(match.start(), match.end())
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
