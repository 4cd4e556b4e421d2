"""JSON text of large values, written so that other threads have their turns meanwhile."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

PIECE: Final = 16_384  # values, or characters, that are encoded at once


def json_text(value: Any) -> str:
    """Return what ``json.dumps`` returns, non-ASCII characters as they are.

    Its encoder holds the interpreter until all is written, which for the record of a long text is
    seconds in which a window beside it stands still.

    Raises:
        ValueError: A number is not finite.
    """
    return "".join(_pieces(value))


def _pieces(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield "{"
        for number, (name, part) in enumerate(value.items()):
            yield f"{', ' if number else ''}{_dumps(name)}: "
            yield from _pieces(part)
        yield "}"
    elif isinstance(value, list | tuple):
        yield "["
        width = _width(value[0]) if value else 1
        if width > PIECE:
            for number, part in enumerate(value):
                yield ", " if number else ""
                yield from _pieces(part)
        else:
            step = PIECE // width
            for start in range(0, len(value), step):
                yield (", " if start else "") + _dumps(value[start : start + step])[1:-1]
        yield "]"
    elif isinstance(value, str) and len(value) > PIECE:
        yield '"'
        for start in range(0, len(value), PIECE):
            yield _dumps(value[start : start + PIECE])[1:-1]
        yield '"'
    else:
        yield _dumps(value)


def _width(first: Any) -> int:
    """Return how many values the first of a list stands for; objects are always taken apart."""
    if isinstance(first, dict):
        return PIECE + 1
    return max(1, len(first)) if isinstance(first, list | tuple) else 1


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
