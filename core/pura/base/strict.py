"""The one reader of JSON that others may have written: what is ambiguous is refused, not guessed.

The standard library takes the last of two equal names, reads ``NaN`` and ``Infinity`` and numbers
beyond every double, and goes as deep as the stack. A program that takes the first of two equal
names would see another record than this one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, Final

MAX_DEPTH: Final = 100
"""Levels of nesting; records of ours have fewer than ten."""


class AmbiguousError(ValueError):
    """JSON that two readers could understand differently, or not at all."""


class TwiceError(AmbiguousError):
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
        raise AmbiguousError("depth") from None
    _check_depth(found)
    return found


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise TwiceError(next(name for name in names if names.count(name) > 1))
    return found


def _constant(name: str) -> Any:
    raise AmbiguousError(name)


def _float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise AmbiguousError("a number too large")
    return value


def _check_depth(found: Any) -> None:
    level = [found]
    for _ in range(MAX_DEPTH + 1):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return
    raise AmbiguousError("depth")
