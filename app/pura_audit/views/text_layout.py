"""Where the lines of a text break, found for a million characters in a fraction of a second.

Each character's advance is measured once per distinct character; lines are then found by search
in the running sum. Only lines that are on screen are ever shaped and drawn, so nothing here
grows with the text but a few arrays of numbers.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QFont, QFontMetricsF

I64 = npt.NDArray[np.int64]

_HIDDEN: Final = "◌"  # stands for a character that has no picture of its own
_INVISIBLE: Final = {"Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_SPECIAL: Final = {"\n": "⏎", "\t": "⇥", "\r": "␍", "\u00a0": "⍽", "\u202f": "⍽", "\u2007": "⍽"}


@lru_cache(maxsize=4096)
def shown(char: str) -> str:
    """Return what stands on screen for a character; always exactly one character.

    Controls, line separators, zero-width and direction characters are shown as signs: none of
    them may act on the display, and an auditor wants to see them.
    """
    if char in _SPECIAL:
        return _SPECIAL[char]
    category = unicodedata.category(char)
    if category == "Cc":
        code = ord(char)
        return chr(0x2400 + code) if code < 0x20 else "␡" if code == 0x7F else _HIDDEN
    return _HIDDEN if category in _INVISIBLE else char


def hidden_name(char: str) -> str | None:
    """Return the name of a character that is shown as a sign, or None for an ordinary one."""
    if shown(char) == char or char == "\n":
        return None
    return f"U+{ord(char):04X} {unicodedata.name(char, 'control character')}"


def safe_text(text: str) -> str:
    """Return a text as it is shown; of the same length."""
    # One pass a sign is far quicker than a table: a text holds few of them, and what stands for
    # one is itself shown as it is.
    for char in set(text):
        if (sign := shown(char)) != char:
            text = text.replace(char, sign)
    return text


@dataclass(frozen=True)
class Lines:
    """The lines of a text.

    Attributes:
        starts: int64 [N + 1], first character of every line, and the text's end.
    """

    starts: I64

    def __len__(self) -> int:
        return self.starts.size - 1

    def span(self, line: int) -> tuple[int, int]:
        """Return the character range of a line."""
        return int(self.starts[line]), int(self.starts[line + 1])

    def of_character(self, place: int) -> int:
        """Return the line of a character."""
        found = int(np.searchsorted(self.starts, place, side="right")) - 1
        return max(0, min(found, len(self) - 1))


def advances(text: str, font: QFont) -> npt.NDArray[np.float64]:
    """Return the running sum of the characters' widths; float64 [C + 1]."""
    metrics = QFontMetricsF(font)
    codes = _codes(text)
    sums = np.zeros(codes.size + 1)
    if codes.size:
        # A table over all codes up to the largest: no sorting of a million characters.
        widths = np.zeros(int(codes.max()) + 1)
        widths[codes] = 1.0
        for code in np.flatnonzero(widths):
            widths[code] = metrics.horizontalAdvance(chr(int(code)))
        np.cumsum(widths[codes], out=sums[1:])
    return sums


def break_lines(text: str, sums: npt.NDArray[np.float64], width: float) -> Lines:
    """Break a text into lines.

    Args:
        text: The original text; its line breaks end lines.
        sums: From :func:`advances` of the text as shown.
        width: Room of a line in pixels.
    """
    codes = _codes(text)
    breaks: list[int] = np.flatnonzero(codes == ord("\n")).tolist()
    blank = (codes == ord(" ")) | (codes == ord("\n")) | (codes == ord("\t"))
    # The last blank at or before each character; -1 where there is none.
    blanks = np.maximum.accumulate(np.where(blank, np.arange(codes.size), -1))
    starts = [0]
    place, size = 0, len(text)
    while place < size:
        following = bisect_right(breaks, place - 1)
        end = breaks[following] + 1 if following < len(breaks) else size
        fit = int(sums.searchsorted(sums[place] + width, "right")) - 1
        if fit < end:
            end = _soft_break(blanks, place, max(fit, place + 1))
        starts.append(end)
        place = end
    if size == 0 or text.endswith("\n"):
        starts.append(size)
    return Lines(np.array(starts, dtype=np.int64))


def _soft_break(blanks: I64, start: int, fit: int) -> int:
    """Return where a line ends that cannot hold all: after its last blank, else anywhere."""
    last = int(blanks[min(fit, blanks.size - 1)])
    return last + 1 if last > start else fit


def _codes(text: str) -> npt.NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
