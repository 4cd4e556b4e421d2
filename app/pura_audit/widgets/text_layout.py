"""Where the lines of a text break, found for a million characters in a fraction of a second.

Each character's advance is measured once per distinct character; lines are then found by search
in the running sum. Only lines that are on screen are ever shaped and drawn, so nothing here
grows with the text but a few arrays of numbers.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QFont, QFontMetricsF

from pura.scheme import F64, I64

PIECE: Final = 100_000  # characters that are broken into lines at once

_HIDDEN: Final = "◌"  # stands for a character that has no picture of its own
_INVISIBLE: Final = {"Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_PLAIN: Final = {"\n", "\r", "\t"}
_SPECIAL: Final = {"\n": "⏎", "\t": "⇥", "\r": "␍", "\u00a0": "⍽", "\u202f": "⍽", "\u2007": "⍽"}


@lru_cache(maxsize=4096)
def shown(char: str) -> str:
    """Return the single character that is displayed for a character.

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
    """Return the name of a hidden character, or None for an ordinary one."""
    if shown(char) == char or char == "\n":
        return None
    return f"U+{ord(char):04X} {unicodedata.name(char, 'control character')}"


def safe_text(text: str) -> str:
    """Return the displayed form of a text, which has the same length."""
    # One pass a sign is far quicker than a table: a text holds few of them, and what stands for
    # one is itself shown as it is.
    for char in set(text):
        if (sign := shown(char)) != char:
            text = text.replace(char, sign)
    return text


def unusual(text: str, font: QFont) -> tuple[dict[str, int], dict[str, int]]:
    """Count the characters that a reader would not see: without a font, or hidden.

    Args:
        text: The original text.
        font: It is drawn with this one, and what that lacks with the system's others.

    Returns:
        How many characters of each script have no font, and how many of each hidden character
        there are, by its name; the most frequent first.
    """
    metrics = QFontMetricsF(font)
    counts = np.bincount(_codes(text)) if text else np.zeros(0, dtype=np.int64)
    scripts: dict[str, int] = {}
    hidden: dict[str, int] = {}
    for code in np.flatnonzero(counts).tolist():
        char, count = chr(code), int(counts[code])
        if char in _PLAIN:
            continue
        if name := hidden_name(char):
            hidden[name] = count
        elif not metrics.inFontUcs4(code):
            script = _script(char)
            scripts[script] = scripts.get(script, 0) + count

    def most_first(counted: dict[str, int]) -> dict[str, int]:
        return dict(sorted(counted.items(), key=lambda pair: -pair[1]))

    return most_first(scripts), most_first(hidden)


def _script(char: str) -> str:
    """Return the script of a character: the first word of its Unicode name."""
    word = unicodedata.name(char, f"U+{ord(char):04X}").split()[0]
    return word if len(word) <= 3 or "+" in word else word.capitalize()  # CJK stays


@dataclass(frozen=True)
class Lines:
    """The line breaks of a text.

    Attributes:
        starts: int64 [N + 1], first character of every line, and the length of the text.
    """

    starts: I64

    def __len__(self) -> int:
        return self.starts.size - 1

    def span(self, line: int) -> tuple[int, int]:
        """Return the first character of a line and the one after its last."""
        return int(self.starts[line]), int(self.starts[line + 1])

    def of_character(self, character: int) -> int:
        """Return the number of the line that holds a character."""
        line = int(np.searchsorted(self.starts, character, side="right")) - 1
        return max(0, min(line, len(self) - 1))


def advances(text: str, font: QFont) -> F64:
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


class Breaker:
    """Breaks one text into lines, again and again as its room changes.

    A line starts at the text's beginning, after a blank, or, where a word is too long for a line,
    inside a word. A line's end depends on what follows its start only, so a text is broken piece
    by piece: the last line of a piece is where the next one begins.

    Args:
        text: The original text; its line breaks end lines.
        sums: From :func:`advances` of the text as shown.
    """

    def __init__(self, text: str, sums: F64) -> None:
        self._codes, self._sums = _codes(text), sums

    def lines(self, width: float) -> Lines:
        """Return the line breaks of the whole text.

        Args:
            width: Room of a line in pixels.
        """
        return Lines(np.concatenate(list(self.pieces(width))))

    def pieces(self, width: float) -> Iterator[I64]:
        """Yield the line starts piece by piece; joined, they are :attr:`Lines.starts`."""
        begin, room, size = 0, PIECE, self._codes.size
        while begin + room < size:
            piece = slice(begin, begin + room)
            starts = _Piece(self._codes[piece], self._sums[begin : begin + room + 1]).starts(width)
            complete = starts[:-2]  # the last line may go on
            if complete.size:
                yield complete + begin
                begin, room = begin + int(starts[-2]), PIECE
            else:
                room *= 2
        last = _Piece(self._codes[begin:], self._sums[begin:]).starts(width) + begin
        opened = size == 0 or self._codes[-1] == ord("\n")
        yield np.append(last, size) if opened else last


class _Piece:
    """A part of a text that starts with a line.

    Where a line ends that starts after a blank is found for all of them at once; then the lines
    are a walk from one to the next. The few that start inside a word are found one by one.
    """

    def __init__(self, codes: npt.NDArray[np.uint32], sums: F64) -> None:
        self._sums, self._size = sums, codes.size
        blank = (codes == ord(" ")) | (codes == ord("\n")) | (codes == ord("\t"))
        self._blanks = np.flatnonzero(blank)
        self._blank_sums = sums[self._blanks]
        # Where lines may start, the end for the last.
        self._starts = np.concatenate(([0], self._blanks + 1))
        if self._starts[-1] != codes.size:
            self._starts = np.append(self._starts, codes.size)
        # For each start the number of the one where its paragraph is over at the latest.
        over = np.flatnonzero(codes[self._blanks] == ord("\n")) + 1
        if over.size == 0 or over[-1] != self._starts.size - 1:
            over = np.append(over, self._starts.size - 1)
        self._over = over[np.searchsorted(over, np.arange(self._starts.size - 1), side="right")]

    def starts(self, width: float) -> I64:
        """Return the first character of every line, and the end; int64 [N + 1]."""
        # Looked up one by one: turning all into lists takes longer than finding them.
        ends, starts_in_text = self._ends(width).data, self._starts.data
        starts, start = [0], 0  # characters where lines start; number of the start in use
        while start < len(ends):
            end = ends[start]
            if end <= start:
                end = self._through_word(starts, width)
            start = end
            starts.append(starts_in_text[start])
        return np.array(starts, dtype=np.int64)

    def _ends(self, width: float) -> I64:
        """Return the index of the next line's start for each start; its own where a word is cut."""
        first = self._starts[:-1]
        starts = np.arange(first.size)
        limits = self._sums[first] + width
        soft = np.searchsorted(self._blank_sums, limits, side="right")  # after the last blank
        cut = soft <= starts
        # A blank that begins a line is no place to end it.
        cut[~cut] = self._blanks[soft[~cut] - 1] == first[~cut]
        fits = self._sums[self._starts[self._over]] <= limits
        return np.where(fits, self._over, np.where(cut, starts, soft))

    def _through_word(self, starts: list[int], width: float) -> int:
        """Add the lines that end inside a word; return the number of the start after them."""
        character, sums = starts[-1], self._sums
        over = int(self._over[np.searchsorted(self._starts, character, side="right") - 1])
        end = sums[self._starts[over]]
        following = int(np.searchsorted(self._blanks, character, side="right"))
        blank = int(self._blanks[following]) if following < self._blanks.size else self._size
        while (limit := sums[character] + width) < end:
            fit = max(int(sums.searchsorted(limit, "right")) - 1, character + 1)
            if fit >= blank:
                return int(np.searchsorted(self._blanks, fit, side="right"))
            character = fit
            starts.append(character)
        return over


def _codes(text: str) -> npt.NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
