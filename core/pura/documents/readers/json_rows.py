"""JSON and JSON lines with a text field: one part a record.

Numbers, flags and short strings are data, not text. The field is the one that the user names, or
the first known name that the record has; a generator's prompt is never taken for its text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from pura.base.catalogue import quoted
from pura.base.errors import InputError
from pura.documents.encodings import DecodedText, decode
from pura.documents.values import MAX_JSON_DEPTH, MAX_PARTS, Extract, ReadOptions, over

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


def read(data: bytes, options: ReadOptions) -> list[Extract]:
    """Return the texts of one JSON value."""
    decoded = decode(data, chosen=options.encoding)
    _check_depth(decoded.text)
    try:
        value = json.loads(decoded.text.removeprefix("\ufeff"))
    except ValueError:
        # Many programs write JSON lines under the name .json.
        return _lines(decoded, options)
    return _extracts(_find(value, options.field, ""), decoded, options)


def read_lines(data: bytes, options: ReadOptions) -> list[Extract]:
    """Return the texts of JSON lines."""
    return _lines(decode(data, chosen=options.encoding), options)


def _lines(decoded: DecodedText, options: ReadOptions) -> list[Extract]:
    def rows() -> Iterator[tuple[str, str]]:
        # Only line feeds end a record: U+2028 and its like may stand inside strings.
        for number, line in enumerate(decoded.text.removeprefix("\ufeff").split("\n"), 1):
            if not line.strip():
                continue
            _check_depth(line)
            try:
                value = json.loads(line)
            except ValueError:
                raise InputError("json.line", number=number, code="input-damaged") from None
            yield from _find(value, options.field, f"row {number}")

    return _extracts(rows(), decoded, options)


def _extracts(
    found: Iterator[tuple[str, str]], decoded: DecodedText, options: ReadOptions
) -> list[Extract]:
    extracts: list[Extract] = []
    for part, text in found:
        if len(extracts) >= MAX_PARTS:
            raise over("limit.texts", most=MAX_PARTS)
        extracts.append(
            Extract(text=text, part=part, encoding=decoded.encoding, encoding_source=decoded.source)
        )
    if not extracts and decoded.text.strip():
        looked = quoted([options.field]) if options.field else ", ".join(FIELDS)
        raise InputError("json.no-field", looked=looked, code="input-field")
    return extracts


def _find(value: Any, field: str | None, where: str) -> Iterator[tuple[str, str]]:
    """Yield part and text: of a string, a record, a list of them, or records one level below."""
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, list):
        for number, item in enumerate(value, 1):
            yield from _find(item, field, f"{where}, item {number}" if where else f"item {number}")
    elif isinstance(value, dict):
        names = (field,) if field else FIELDS
        for name in names:
            inner = value.get(name)
            if isinstance(inner, str):
                yield where, inner
                return
            if isinstance(inner, dict | list):
                yield from _find(inner, field, where)
                return
        for name, inner in value.items():
            if isinstance(inner, dict) or (isinstance(inner, list) and _records(inner)):
                label = name[:60]
                yield from _find(inner, field, f"{where}, {label}" if where else label)


def _records(value: list[Any]) -> bool:
    return any(isinstance(item, dict) for item in value)


def _check_depth(text: str) -> None:
    """Refuse deep nesting before the parser recurses into it; brackets in strings do not count."""
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
