"""CSV: every cell that is long enough to be a text, and every column as one.

Short cells (numbers, names, dates) carry no text; how many were left out is said.
"""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from typing import Final

from pura.documents.encodings import decode
from pura.documents.values import (
    ALTERNATIVE,
    MAIN,
    MAX_CHARACTERS,
    MAX_PARTS,
    Extract,
    ReadOptions,
    over,
)
from pura.words.sentences import sentence

MIN_WORDS: Final = 8
"""Words from which on a cell is a text of its own."""
_MAX_COLUMNS: Final = 1000  # beyond it, columns are not offered
_DELIMITERS: Final = ",;\t|"


def read(data: bytes, options: ReadOptions) -> list[Extract]:
    """Return long cells as main parts (``row 2, column text``), columns as alternatives."""
    decoded = decode(data, chosen=options.encoding)
    if "\x00" in decoded.text:
        raise ValueError("NUL")
    csv.field_size_limit(MAX_CHARACTERS)
    rows = list(csv.reader(io.StringIO(decoded.text, newline=""), dialect=dialect_of(decoded.text)))
    head, body, first = _head(rows)

    def part(text: str, name: str, role: str = MAIN) -> Extract:
        return Extract(
            text=text,
            part=name,
            role=role,
            encoding=decoded.encoding,
            encoding_source=decoded.source,
        )

    cells: list[Extract] = []
    short = 0
    for number, row in enumerate(body, first):
        for index, cell in enumerate(row):
            if len(cell.split()) < MIN_WORDS:
                short += bool(cell.strip())
                continue
            if len(cells) >= MAX_PARTS:
                raise over("limit.texts", most=MAX_PARTS)
            cells.append(part(cell, f"row {number}, column {head.get(index, index + 1)}"))
    role = ALTERNATIVE if cells else MAIN
    whole = [
        part(text, f"column {head.get(index, index + 1)}", role) for index, text in _columns(body)
    ]
    extracts = [*cells, *whole]
    if short and extracts:
        note = sentence("left-out.cells", n=short, least=MIN_WORDS)
        extracts[0] = replace(extracts[0], notes=(note,))
    return extracts


def _columns(body: list[list[str]]) -> list[tuple[int, str]]:
    """Return the columns as texts, the ones that are not too long to be audited."""
    columns: dict[int, list[str]] = {}
    for row in body:
        for index, cell in enumerate(row):
            if cell.strip():
                columns.setdefault(index, []).append(cell)
    if len(columns) > _MAX_COLUMNS:
        return []
    texts = [(index, "\n".join(found)) for index, found in sorted(columns.items())]
    return [(index, text) for index, text in texts if len(text) <= MAX_CHARACTERS]


def dialect_of(text: str) -> type[csv.Dialect]:
    """Choose the delimiter that splits the first lines most often; quotes are double quotes."""
    lines = text[:65536].splitlines()[:20]
    counts = {d: sum(line.count(d) for line in lines) for d in _DELIMITERS}
    chosen = max(_DELIMITERS, key=lambda d: min(counts[d], len(lines)) * 1000 + counts[d])

    class ChosenCells(csv.excel):
        delimiter = chosen

    return ChosenCells


def _head(rows: list[list[str]]) -> tuple[dict[int, str], list[list[str]], int]:
    """Take the first row as names when it looks like it: several short, different words."""
    if not rows:
        return {}, rows, 1
    names = [cell.strip() for cell in rows[0]]
    plain = all(0 < len(n) <= 40 and len(n.split()) < MIN_WORDS for n in names)
    if not plain or len(set(names)) != len(names):
        return {}, rows, 1
    if any(n.replace(".", "").replace(",", "").isdigit() for n in names):
        return {}, rows, 1
    return dict(enumerate(names)), rows[1:], 2
