"""JSON: a canonical form for hashing, incremental encoding of large values, a strict reader."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

import rfc8785


def canonical(value: object) -> bytes:
    """Return the canonical form of a value (RFC 8785, JSON Canonicalization Scheme).

    Raises:
        ValueError: The value has no canonical form: it is not JSON, or contains an integer beyond
            ±(2**53 - 1), an infinity or NaN.
    """
    return rfc8785.dumps(value)  # type: ignore[arg-type]  # it checks the type at run time


def former(value: object, *, escaped: bool = True) -> bytes:
    r"""Return the form of version 0.1.0: sorted names, no blanks, fractions as Python writes them.

    Args:
        value: JSON.
        escaped: Write every character beyond ASCII as ``\uXXXX``; otherwise as UTF-8.

    Raises:
        ValueError: The value is not JSON, or contains an infinity or NaN.
    """
    separators = (",", ":")
    text = json.dumps(
        value, sort_keys=True, separators=separators, ensure_ascii=escaped, allow_nan=False
    )
    return text.encode()


def sha256(form_bytes: bytes) -> str:
    """Return the SHA-256 of a serialised value, 64 hex digits."""
    return hashlib.sha256(form_bytes).hexdigest()


def is_hex(text: str, digits: int) -> bool:
    """Return whether a text consists of exactly ``digits`` lower-case hex digits."""
    return len(text) == digits and set(text) <= set("0123456789abcdef")


PIECE: Final = 16_384
"""Values, or characters, that are encoded at a time; this takes a few milliseconds."""


def json_text(value: Any) -> str:
    """Encode a value like ``json.dumps``, in pieces, with non-ASCII characters unescaped.

    The encoder of ``json`` does not release the interpreter before it has finished. For the record
    of a long text this takes seconds, during which the window would freeze.

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
    """Estimate the values in an element of a list from the first one; objects count as large."""
    if isinstance(first, dict):
        return PIECE + 1
    return max(1, len(first)) if isinstance(first, list | tuple) else 1


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


MAX_DEPTH: Final = 100
"""Levels of nesting; records of this program have fewer than ten."""


class TwiceError(ValueError):
    """An object has the same name twice; the text of the error is that name."""


def read_json(source: bytes | str) -> Any:
    """Parse JSON strictly.

    Raises:
        ValueError: The text is not JSON or not in a Unicode encoding, has a name twice in one
            object, a number that is not finite, or is nested too deeply.
    """
    text = source if isinstance(source, str) else source.decode(json.detect_encoding(source))
    try:
        parsed = json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_float
        )
    except RecursionError:
        raise ValueError("depth") from None
    _check_depth(parsed)
    return parsed


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        raise TwiceError(next(name for name in names if names.count(name) > 1))
    return members


def _constant(name: str) -> Any:
    raise ValueError(name)


def _float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number too large")
    return number


_NESTED: Final = (dict, list)  # a tuple, since checks against a union take three times as long


def _check_depth(parsed: Any) -> None:
    level = [parsed]
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
