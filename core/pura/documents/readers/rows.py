"""Tables and records: CSV, JSON, JSON lines.

In CSV, every cell of sufficient length is a text, and so is every column; the short cells of its
row (numbers, names, dates) are listed as left out. In JSON, every record is a part. Its text is in
the field that the user names, or in the first known field; a generator's prompt is never taken as
the text. The words of other fields are listed as left out.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from pura.base.catalogue import quoted
from pura.base.errors import InputError
from pura.documents.encodings import DecodedText, decode
from pura.documents.extraction import ALTERNATIVE, MAIN, Extract
from pura.documents.formats import (
    MAX_CHARACTERS,
    MAX_JSON_DEPTH,
    MAX_PARTS,
    ReadOptions,
    over,
    truncated,
)
from pura.documents.readers.blocks import MIN_WORDS
from pura.documents.readers.chats import chat_extracts, is_joined, stream_extracts
from pura.documents.readers.notebook import notebook_extracts
from pura.record.left_out import LeftOut, LeftOutKind

_MAX_COLUMNS: Final = 1000  # beyond it, columns are not offered
_DELIMITERS: Final = ",;\t|"


def read_csv(file_bytes: bytes, options: ReadOptions) -> list[Extract]:
    """Return long cells as main parts (``row 2, column text``), columns as alternatives."""
    decoded = decode(file_bytes, choice=options.encoding)
    if "\x00" in decoded.text:
        raise ValueError("NUL")
    csv.field_size_limit(MAX_CHARACTERS)
    rows = list(
        csv.reader(io.StringIO(decoded.text, newline=""), delimiter=delimiter_of(decoded.text))
    )
    head, body, first = _head(rows)

    cells: list[Extract] = []
    for number, row in enumerate(body, first):
        long = [index for index, cell in enumerate(row) if len(cell.split()) >= MIN_WORDS]
        if len(cells) + len(long) > MAX_PARTS:
            raise over("limit.texts", most=MAX_PARTS)
        short = " ".join(cell for index, cell in enumerate(row) if index not in long)
        short_cells = (LeftOut.of_text(LeftOutKind.CELL, short),) if short.strip() else ()
        for index in long:
            name = f"row {number}, column {head.get(index, index + 1)}"
            cells.append(
                Extract.of(decoded, row[index], name, group=f"row {number}", left_out=short_cells)
            )
            short_cells = ()  # listed once for the row
    role = ALTERNATIVE if cells else MAIN
    columns = [
        Extract.of(decoded, text, f"column {head.get(index, index + 1)}", role=role)
        for index, text in _columns(body)
    ]
    return [*cells, *columns]


def _columns(body: list[list[str]]) -> list[tuple[int, str]]:
    """Return the columns as texts, except those that are too long for an audit."""
    columns: dict[int, list[str]] = {}
    for row in body:
        for index, cell in enumerate(row):
            if cell.strip():
                columns.setdefault(index, []).append(cell)
    if len(columns) > _MAX_COLUMNS:
        return []
    texts = [(index, "\n".join(cells)) for index, cells in sorted(columns.items())]
    return [(index, text) for index, text in texts if len(text) <= MAX_CHARACTERS]


def delimiter_of(text: str) -> str:
    """Return the delimiter that splits the first lines most often."""
    lines = text[:65536].splitlines()[:20]
    counts = {d: sum(line.count(d) for line in lines) for d in _DELIMITERS}
    return max(_DELIMITERS, key=lambda d: min(counts[d], len(lines)) * 1000 + counts[d])


def _head(rows: list[list[str]]) -> tuple[dict[int, str], list[list[str]], int]:
    """Split off the first row as column names, if its cells are short and different.

    Returns:
        The column names by index, the other rows, and the number of the first of them.
    """
    if not rows:
        return {}, rows, 1
    names = [cell.strip() for cell in rows[0]]
    plain = all(0 < len(n) <= 40 and len(n.split()) < MIN_WORDS for n in names)
    if not plain or len(set(names)) != len(names):
        return {}, rows, 1
    if any(n.replace(".", "").replace(",", "").isdigit() for n in names):
        return {}, rows, 1
    return dict(enumerate(names)), rows[1:], 2


FIELDS: Final = (
    "text",
    "content",
    "completion",
    "response",
    "output",
    "answer",
    "generated_text",
    "generation",
    "body",
    "message",
    "document",
    "article",
)
"""Known names of the field that holds the text, strongest first."""


def read_json(file_bytes: bytes, options: ReadOptions) -> list[Extract]:
    """Return the texts of one JSON value."""
    decoded = decode(file_bytes, choice=options.encoding)
    is_unfinished = _check_depth(decoded.text)
    try:
        json_value = json.loads(decoded.text.removeprefix("\ufeff"))
    except ValueError:
        if is_unfinished and "\n" not in decoded.text.strip():
            raise truncated() from None
        # Many programs write JSON lines under the name .json.
        try:
            return _lines(decoded, options)
        except InputError:
            if is_unfinished:
                raise truncated() from None
            raise
    if options.field is None and (shaped := _shaped(json_value, decoded)):
        return shaped
    return _require_texts(_record_extracts(json_value, decoded, options, ""), decoded, options)


def _shaped(json_value: Any, decoded: DecodedText) -> list[Extract] | None:
    """Return the texts of a notebook, a saved stream or an exported chat; None for other JSON."""
    if notebook := notebook_extracts(json_value, decoded):
        return notebook
    stream = stream_extracts(json_value, decoded) if isinstance(json_value, list) else None
    if stream is not None and is_joined(stream):
        return stream
    return chat_extracts(json_value, decoded)


def read_jsonl(file_bytes: bytes, options: ReadOptions) -> list[Extract]:
    """Return the texts of JSON lines."""
    return _lines(decode(file_bytes, choice=options.encoding), options)


def _lines(decoded: DecodedText, options: ReadOptions) -> list[Extract]:
    # Only line feeds end a record: U+2028 and similar characters may occur inside strings.
    lines = decoded.text.removeprefix("\ufeff").rstrip().split("\n")

    rows: list[tuple[int, Any]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        is_unfinished = _check_depth(line)
        try:
            rows.append((number, json.loads(line)))
        except ValueError:
            if is_unfinished and number == len(lines):
                raise truncated() from None
            raise InputError("json.line", number=number, code="input-damaged") from None
    if options.field is None:
        stream = stream_extracts([record for _, record in rows], decoded)
        if stream is not None and is_joined(stream):
            return stream
    extracts: list[Extract] = []
    for number, record in rows:
        chat = chat_extracts(record, decoded, f"row {number}") if options.field is None else None
        extracts += chat or _record_extracts(record, decoded, options, f"row {number}")
        if len(extracts) > MAX_PARTS:
            raise over("limit.texts", most=MAX_PARTS)
    return _require_texts(extracts, decoded, options)


def _record_extracts(
    record: Any, decoded: DecodedText, options: ReadOptions, row: str
) -> list[Extract]:
    """Return the texts of a record; the words of its other fields are listed with the first."""
    extracts: list[Extract] = []
    for part, text in _find(record, options.field, row):
        if len(extracts) >= MAX_PARTS:
            raise over("limit.texts", most=MAX_PARTS)
        extracts.append(Extract.of(decoded, text, part, group=row))
    if extracts:
        other_text = " ".join(_other_strings(record, [extract.text for extract in extracts]))
        other_fields = LeftOut.of_text(LeftOutKind.FIELD, other_text)
        if other_fields.matters:
            extracts[0] = replace(extracts[0], left_out=(other_fields,))
    return extracts


def _other_strings(record: Any, texts: list[str]) -> Iterator[str]:
    """Yield the strings in a record that are not among its texts."""
    remaining = Counter(texts)
    stack = [record]
    while stack:
        inner = stack.pop()
        if isinstance(inner, dict):
            stack += inner.values()
        elif isinstance(inner, list):
            stack += inner
        elif isinstance(inner, str):
            if remaining[inner]:
                remaining[inner] -= 1
            else:
                yield inner


def _require_texts(
    extracts: list[Extract], decoded: DecodedText, options: ReadOptions
) -> list[Extract]:
    """Return the texts of records, if there are any.

    Raises:
        InputError: There are no texts.
    """
    if not extracts and decoded.text.strip():
        looked = quoted([options.field]) if options.field else ", ".join(FIELDS)
        raise InputError("json.no-field", looked=looked, code="input-field")
    return extracts


def _find(json_value: Any, field: str | None, part: str) -> Iterator[tuple[str, str]]:
    """Yield the part and the text of a string, of records, or of records one level below."""
    if isinstance(json_value, str):
        yield part, json_value
    elif isinstance(json_value, list):
        for number, element in enumerate(json_value, 1):
            yield from _find(element, field, f"{part}, item {number}" if part else f"item {number}")
    elif isinstance(json_value, dict):
        names = (field,) if field else FIELDS
        for name in names:
            inner = json_value.get(name)
            if isinstance(inner, str):
                yield part, inner
                return
            if isinstance(inner, dict | list):
                yield from _find(inner, field, part)
                return
        for name, inner in json_value.items():
            if isinstance(inner, dict) or (
                isinstance(inner, list) and any(isinstance(element, dict) for element in inner)
            ):
                label = name[:60]
                yield from _find(inner, field, f"{part}, {label}" if part else label)


def _check_depth(text: str) -> bool:
    """Refuse deep nesting before the parser recurses into it; brackets in strings are ignored.

    Returns:
        Whether the text ends inside a string or a bracket.
    """
    depth, inside, escaped = 0, False, False
    for sign in text:
        if inside:
            if escaped:
                escaped = False
            elif sign == "\\":
                escaped = True
            elif sign == '"':
                inside = False
        elif sign == '"':
            inside = True
        elif sign in "[{":
            depth += 1
            if depth > MAX_JSON_DEPTH:
                raise over("limit.deep")
        elif sign in "]}":
            depth -= 1
    return inside or depth > 0
