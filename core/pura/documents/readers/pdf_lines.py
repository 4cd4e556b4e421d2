"""Lines of pages to one text: without running headers, with words and paragraphs whole again."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate, pairwise
from statistics import median
from typing import Final

from pura.record.transform import Transform
from pura.words.sentence import sentence

_EDGE: Final = 2  # lines at either end of a page that may be a header or a footer
_SHARE: Final = 0.4  # of the pages; headers of left and right pages differ
_MARGIN: Final = 0.07  # of the height: 2 cm of A4, where office programs put no text
_SHORT: Final = 8  # words of a header that stands on one page only
_NUMBER: Final = re.compile(
    r"[-–— ]*(page |seite |p\. ?)?\d{1,4}( ?(/|of|von) ?\d{1,4})?[-–— ]*", re.IGNORECASE
)
_WORD_END: Final = re.compile(r"[^\W\d_]+$")
_WORD_START: Final = re.compile(r"^[^\W\d_]+")


@dataclass(frozen=True, kw_only=True)
class PdfLine:
    """One line of a page; lengths in points, from the lower left.

    Attributes:
        text: Without a hyphen that was set because the line was full.
        left: Of the first character.
        right: Of the last character.
        bottom: Of the em box.
        top: Of the em box.
        size: Font size.
        first_word: Width of the first word.
        page_height: Height of the page.
        hyphen: It ended with a hyphen.
    """

    text: str
    left: float
    right: float
    bottom: float
    top: float
    size: float
    first_word: float
    page_height: float
    hyphen: bool


def assemble(pages: list[list[PdfLine]]) -> tuple[str, list[Transform], list[int]]:
    """Return the text of all pages, what was done to it, and where each page begins in it."""
    pages, dropped = _without_running(pages)
    lines = [line for page in pages for line in page]
    joiner = _Joiner(lines)
    text, starts = joiner.join(pages)
    unsure = (sentence("changed.ambiguous", n=joiner.ambiguous),) if joiner.ambiguous else ()
    done = (
        Transform(name="headers-removed", count=dropped),
        Transform(name="line-ends-joined", count=joiner.joined),
        Transform(name="hyphens-joined", count=joiner.hyphens, note=unsure),
    )
    return text, [one for one in done if one.count], starts


def _without_running(pages: list[list[PdfLine]]) -> tuple[list[list[PdfLine]], int]:
    """Drop lines that stand at the same height of many pages with the same words."""
    seen: Counter[tuple[str, int]] = Counter()
    for page in pages:
        seen.update({_signature(line) for line in _edges(page)})
    least = max(2, _SHARE * len(pages))
    dropped = 0
    kept = []
    for page in pages:
        edges = _edges(page)
        gone = {id(line) for line in edges if seen[_signature(line)] >= least}
        gone |= {id(line) for line in edges if _is_number(line)}
        gone |= {id(line) for line in _in_margin(page)}
        dropped += len(gone)
        kept.append([line for line in page if id(line) not in gone])
    return kept, dropped


def _edges(page: list[PdfLine]) -> list[PdfLine]:
    ordered = sorted(page, key=lambda line: -line.top)
    if len(ordered) <= 2 * _EDGE:
        return ordered
    return ordered[:_EDGE] + ordered[-_EDGE:]


def _in_margin(page: list[PdfLine]) -> list[PdfLine]:
    """Return a first or last line that stands alone in the margin, also on a single page.

    Titles are larger than the text and stay.
    """
    ordered = sorted(page, key=lambda line: -line.top)
    if len(ordered) < 3:
        return []
    size = median(line.size for line in page)
    found = []
    for line, inner, outside in (
        (ordered[0], ordered[1], ordered[0].bottom > (1 - _MARGIN) * ordered[0].page_height),
        (ordered[-1], ordered[-2], ordered[-1].top < _MARGIN * ordered[-1].page_height),
    ):
        apart = abs(line.bottom - inner.bottom) > 2.2 * size
        short = len(line.text.split()) <= _SHORT and not line.hyphen
        if outside and apart and short and line.size < 1.1 * size:
            found.append(line)
    return found


def _signature(line: PdfLine) -> tuple[str, int]:
    return re.sub(r"\d+", "#", line.text), round(line.bottom / 3)


def _is_number(line: PdfLine) -> bool:
    middle = (line.bottom + line.top) / 2
    outside = middle < 0.12 * line.page_height or middle > 0.9 * line.page_height
    return outside and not line.hyphen and _NUMBER.fullmatch(line.text) is not None


class _Joiner:
    """Joins lines; counts what it did."""

    def __init__(self, lines: list[PdfLine]) -> None:
        self.joined = self.hyphens = self.ambiguous = 0
        words = re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", " ".join(x.text for x in lines))
        self._words = {word.lower() for word in words}

    def join(self, pages: list[list[PdfLine]]) -> tuple[str, list[int]]:
        """Return the text of pages, and where each begins: an empty one where the next does."""
        out: list[str] = []
        first: list[int] = []  # of each page, among the pieces
        before: PdfLine | None = None
        for page in pages:
            first.append(len(out) + (before is not None))
            step = _usual_step(page)
            right = _right_edges(page)
            for line in page:
                if before is not None:
                    gap = self._between(before, line, step, right)
                    out.append(self._hyphen(before, line) if before.hyphen else gap)
                out.append(line.text)
                before = line
        if before is not None and before.hyphen:
            out.append("-")
        ends = [0, *accumulate(map(len, out))]
        return "".join(out), [ends[min(place, len(out))] for place in first]

    def _between(self, before: PdfLine, line: PdfLine, step: float, right: dict[int, float]) -> str:
        if before.hyphen:
            return ""
        edge = right.get(_column(before), before.right)
        spare = edge - before.right
        fitted = spare > line.first_word + line.size
        distance = before.bottom - line.bottom
        if distance < 0.2 * line.size:  # a new column, a new page, or the same line
            if abs(distance) <= 0.2 * line.size:
                return " "
            ended = before.text.endswith((".", "!", "?", "”", '"', ":")) and fitted
            return "\n\n" if ended else self._soft()
        sized = abs(before.size - line.size) > 0.15 * line.size
        if distance > 1.3 * step or sized:
            return "\n\n"
        indented = line.left - before.left > 0.8 * line.size
        if indented and (fitted or before.text.endswith((".", "!", "?", "”"))):
            return "\n\n"
        return "\n" if fitted else self._soft()

    def _soft(self) -> str:
        self.joined += 1
        return " "

    def _hyphen(self, before: PdfLine, line: PdfLine) -> str:
        """Decide whether a hyphen at a line end belongs to the word.

        A form that stands elsewhere in the text decides. Without one, small letters on both sides
        are joined and counted as ambiguous; anything else keeps its hyphen.
        """
        self.joined += 1
        self.hyphens += 1
        head, tail = _WORD_END.search(before.text), _WORD_START.search(line.text)
        if head is None or tail is None:
            return "-"
        first, second = head[0].lower(), tail[0].lower()
        if first + second in self._words:
            return ""
        if f"{first}-{second}" in self._words:
            return "-"
        if not tail[0][0].islower():
            return "-"
        self.ambiguous += 1
        return ""


def _column(line: PdfLine) -> int:
    return round(line.left / 24)


def _right_edges(page: list[PdfLine]) -> dict[int, float]:
    """Return how far the lines of each column reach; columns by where lines begin."""
    edges: dict[int, float] = {}
    for line in page:
        edges[_column(line)] = max(edges.get(_column(line), 0.0), line.right)
    return edges


def _usual_step(page: list[PdfLine]) -> float:
    """Return the usual distance from line to line."""
    steps = [
        a.bottom - b.bottom
        for a, b in pairwise(page)
        if 0.5 * b.size < a.bottom - b.bottom < 3 * b.size
    ]
    # The smaller half: on pages of short paragraphs most distances are paragraph breaks.
    steps.sort()
    return median(steps[: max(1, (len(steps) + 1) // 2)]) if steps else 1e9
