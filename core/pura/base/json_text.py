"""JSON: one canonical form to hash, text of large values in pieces, and the one strict reader."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

import rfc8785


def canonical(value: object) -> bytes:
    """Return the canonical form (RFC 8785, JSON Canonicalization Scheme).

    Raises:
        ValueError: The value has none: not JSON, a whole number beyond ±(2**53 - 1), no number.
    """
    return rfc8785.dumps(value)  # type: ignore[arg-type]  # it looks at the value itself


def former(value: object, *, escaped: bool = True) -> bytes:
    r"""Return the form of version 0.1.0: sorted names, no blanks, fractions as Python writes them.

    Args:
        value: JSON.
        escaped: Write every character beyond ASCII as ``\uXXXX``; else as UTF-8.

    Raises:
        ValueError: Not JSON, or no number.
    """
    separators = (",", ":")
    text = json.dumps(
        value, sort_keys=True, separators=separators, ensure_ascii=escaped, allow_nan=False
    )
    return text.encode()


def sha256(data: bytes) -> str:
    """Return the SHA-256 of a written form, 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def is_hex(text: str, digits: int) -> bool:
    """Tell whether a text is so many small hex digits."""
    return len(text) == digits and set(text) <= set("0123456789abcdef")


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


MAX_DEPTH: Final = 100
"""Levels of nesting; records of ours have fewer than ten."""


class TwiceError(ValueError):
    """A name stands twice in one object; the error's text is that name."""


def read_json(data: bytes | str) -> Any:
    """Read JSON.

    Raises:
        ValueError: Not JSON, not UTF-8, a name twice in one object, a number that is none, or
            nested too deeply.
    """
    text = data if isinstance(data, str) else data.decode(json.detect_encoding(data))
    try:
        found = json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_float
        )
    except RecursionError:
        raise ValueError("depth") from None
    _check_depth(found)
    return found


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise TwiceError(next(name for name in names if names.count(name) > 1))
    return found


def _constant(name: str) -> Any:
    raise ValueError(name)


def _float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("a number too large")
    return value


_NESTED: Final = (dict, list)  # asked for each value of a tokenizer: a union takes thrice as long


def _check_depth(found: Any) -> None:
    level = [found]
    for _ in range(MAX_DEPTH + 1):
        level = [
            inner
            for outer in level
            if isinstance(outer, _NESTED)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, _NESTED)
        ]
        if not level:
            return
    raise ValueError("depth")
