"""Columns that a page was written across, row by row: one after the other again.

Most writers finish a column before they begin the next; then there is nothing to do. Others place
the pieces of one height together, which reads as alternating halves of two texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pura.documents.readers.pdf_lines import PdfLine

_ROWS: Final = 3  # fewer rows side by side are a heading or a form
_WORDS: Final = 3.0  # a piece, on average; tables of figures and labels have less

Row = Sequence[PdfLine]


def in_order(rows: Sequence[Row]) -> tuple[list[PdfLine], int]:
    """Return the lines of a page in reading order.

    Args:
        rows: Pieces of the same height, from left to right.

    Returns:
        The lines, and how many rows were taken apart.
    """
    out: list[PdfLine] = []
    moved = at = 0
    while at < len(rows):
        end = _run(rows, at)
        block = rows[at:end]
        split = [row for row in block if len(row) > 1]
        if len(split) >= _ROWS and _wordy(split):
            lefts = [line.left for line in split[0]]
            columns: list[list[PdfLine]] = [[] for _ in lefts]
            for row in block:
                for line in row:
                    columns[_nearest(lefts, line.left)].append(line)
            out += [line for column in columns for line in column]
            moved += len(split)
        else:
            out += [_merged(row) for row in block]
        at = end
    return out, moved


def _run(rows: Sequence[Row], start: int) -> int:
    """Return the end of the rows that share the columns of the row at ``start``."""
    lefts = [line.left for line in rows[start]]
    end = start + 1
    if len(lefts) < 2:
        return end
    while end < len(rows) and _fits(rows[end], lefts):
        end += 1
    return end


def _fits(row: Row, lefts: list[float]) -> bool:
    for line in row:
        column = _nearest(lefts, line.left)
        if abs(line.left - lefts[column]) > 2 * line.size:
            return False
        if column + 1 < len(lefts) and line.right > lefts[column + 1]:
            return False
    return len(row) <= len(lefts)


def _nearest(lefts: list[float], left: float) -> int:
    return min(range(len(lefts)), key=lambda k: abs(lefts[k] - left))


def _wordy(rows: Sequence[Row]) -> bool:
    pieces = [len(line.text.split()) for row in rows for line in row]
    return sum(pieces) / len(pieces) >= _WORDS


def _merged(row: Row) -> PdfLine:
    """Return a row as one line, as it stands on the page."""
    if len(row) == 1:
        return row[0]
    texts = [line.text + ("-" if line.hyphen else "") for line in row[:-1]]
    return replace(
        row[0],
        text=" ".join([*texts, row[-1].text]),
        right=row[-1].right,
        bottom=min(line.bottom for line in row),
        top=max(line.top for line in row),
        hyphen=row[-1].hyphen,
    )
