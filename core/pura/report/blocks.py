"""What a report is built of: plain values, their words, and every character shown or named."""

from __future__ import annotations

import json
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any, Final

from pura.base.catalogue import catalogue, check_language
from pura.base.paths import resource


@dataclass(frozen=True, kw_only=True)
class Block:
    """One piece of a section.

    Attributes:
        kind: ``p`` paragraph, ``lead`` the answer, ``note`` small print, ``h`` heading of a part,
            ``facts`` name and value, ``table``, ``list``, ``figure``, ``text`` the examined text,
            ``box`` a framed remark, ``mono`` a long number.
        text: Its words.
        head: Column heads of a table.
        rows: Rows of ``facts``, ``table``, ``list``.
        align: Of each column: ``left`` or ``right``.
        widths: Shares of the columns; empty lets them find their own.
        svg: Of a figure.
        alt: What a figure shows, for those who do not see it.
        runs: Of the examined text: characters and shade, -4 … 4; 9 marks a hidden stretch.
        tone: Colour of a lead: ``found``, ``attention`` or ``plain``.
    """

    kind: str
    text: str = ""
    head: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    align: tuple[str, ...] = ()
    widths: tuple[float, ...] = ()
    svg: str = ""
    alt: str = ""
    runs: tuple[tuple[str, int], ...] = ()
    tone: str = "plain"


@dataclass(frozen=True, kw_only=True)
class Section:
    """A numbered section.

    Attributes:
        number: 1 … 14.
        title: Its heading.
        blocks: What stands in it.
    """

    number: int
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, kw_only=True)
class Content:
    """A whole report.

    Attributes:
        title: Of the document.
        language: ``en`` or ``de``.
        paper: As typst names it.
        head: Line at the top of every page.
        foot: Line at the foot of every page, before the page number.
        page: How a page number is written, with ``{n}`` and ``{of}``.
        draft: Word across the head of a draft; empty once it is final.
        date: ``(year, month, day)`` of issue; the document's own date.
        sections: In order.
        end: The last line.
        summary: What stands before the first section: page one, or the overview of several items.
        alone: The sections begin on a new page.
    """

    title: str
    language: str
    paper: str
    head: str
    foot: str
    page: str
    draft: str
    date: tuple[int, int, int]
    sections: tuple[Section, ...]
    end: str
    organisation: str = ""
    author: str = ""
    summary: tuple[Block, ...] = field(default=())
    alone: bool = False

    def plain(self) -> dict[str, Any]:
        """Return plain values for the template."""
        return asdict(self)


def paragraph(text: str) -> Block:
    """Return a paragraph."""
    return Block(kind="p", text=text)


def note(text: str) -> Block:
    """Return small print."""
    return Block(kind="note", text=text)


def heading(text: str) -> Block:
    """Return the heading of a part."""
    return Block(kind="h", text=text)


def facts(rows: Sequence[tuple[str, str]]) -> Block:
    """Return names and values."""
    return Block(kind="facts", rows=tuple(rows))


def bullets(items: Sequence[str]) -> Block:
    """Return a list."""
    return Block(kind="list", rows=tuple((item,) for item in items))


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    align: Sequence[str],
    widths: Sequence[float] = (),
) -> Block:
    """Return a table with a head."""
    return Block(
        kind="table",
        head=tuple(head),
        rows=tuple(tuple(row) for row in rows),
        align=tuple(align),
        widths=tuple(widths),
    )


class Labels:
    """The words of one language.

    Args:
        language: ``en`` or ``de``.
    """

    def __init__(self, language: str) -> None:
        check_language(language)
        self.language = language

    def __call__(self, key: str, **values: str | int) -> str:
        """Return a text with its blanks filled.

        Raises:
            KeyError: There is no such text.
        """
        return catalogue("report").fill(key, self.language, values)

    def given(self, text: str) -> str:
        """Return a field, or that it was not given."""
        return text.strip() or self("not-given")

    def yes(self, found: bool) -> str:
        """Return yes or no."""
        return self("yes" if found else "no")


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
