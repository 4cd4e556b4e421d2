"""Every character of a report is shown, or named; none is dropped.

The fonts that ship cover Latin, Greek, Cyrillic, Arabic, Hebrew, Devanagari, Chinese,
Japanese, Korean and many symbols. ``resources/report/coverage.json`` lists what they have; what no
font has is printed by its code point, and controls by the pictures that Unicode keeps for them.
"""

from __future__ import annotations

import json
import unicodedata
from bisect import bisect_right
from functools import cache
from typing import Final

from pura.base.resources import resource

_KEPT: Final = {"\n", "\t"}
# Direction marks would reorder what stands beside them: an auditor wants to see them instead.
_ACTING: Final = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


@cache
def _ranges() -> tuple[list[int], list[int]]:
    found = json.loads(resource("report", "coverage.json").read_text(encoding="utf-8"))["ranges"]
    return [first for first, _ in found], [last for _, last in found]


def covered(char: str) -> bool:
    """Whether some font of the report has a picture of a character."""
    firsts, lasts = _ranges()
    place = bisect_right(firsts, ord(char)) - 1
    return place >= 0 and ord(char) <= lasts[place]


def printable(text: str) -> str:
    """Return a text as it is printed: what has no picture is named.

    Line breaks and tabs stay. Controls of ASCII become their pictures (U+2400 …), all else that
    acts on the display or that no font has becomes ``⟨U+XXXX⟩``.
    """
    distinct = {char: _shown(char) for char in set(text)}
    if all(char == shown for char, shown in distinct.items()):
        return text
    return "".join(distinct[char] for char in text)


def _shown(char: str) -> str:
    if char in _KEPT:
        return char
    code = ord(char)
    if code < 0x20 or code == 0x7F:
        picture = chr(0x2400 + code) if code < 0x20 else "\u2421"
        return picture if covered(picture) else f"⟨U+{code:04X}⟩"
    if unicodedata.category(char) in _ACTING:
        return f"⟨U+{code:04X}⟩"
    return char if covered(char) or char == " " else f"⟨U+{code:04X}⟩"
