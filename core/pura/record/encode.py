"""The values of a record as plain JSON: the shape is the dataclasses' own.

NaN, which JSON does not know, stands as ``null`` in number arrays.
"""

from __future__ import annotations

import dataclasses
from typing import Any, cast

import numpy as np

from pura.base.catalogue import phrase
from pura.base.decoder import DecodeError, Form, json_name, left_out
from pura.base.json_text import PIECE
from pura.scheme import Profile


def encode(value: Any) -> Any:
    """Return a value of the record as plain JSON."""
    if isinstance(value, Profile):
        return value.to_dict()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = [(f, getattr(value, f.name)) for f in dataclasses.fields(value)]
        return {json_name(f): encode(part) for f, part in parts if not left_out(f, part)}
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, tuple | list):
        return [encode(v) for v in value]
    if isinstance(value, dict):
        return {str(k): encode(v) for k, v in value.items()}
    return value.item() if isinstance(value, np.generic) else value


def array_of(kind: Any, *tail: int) -> Form:
    """Return the form of an array of numbers.

    Args:
        kind: Type of its numbers.
        tail: Its shape after the first axis.
    """

    def read(value: Any) -> np.ndarray[Any, Any]:
        if not isinstance(value, list):
            raise DecodeError(phrase("what.not-list"))
        try:
            array = np.array(value, dtype=kind)
        except (TypeError, ValueError, OverflowError):
            raise DecodeError(phrase("what.not-array")) from None
        if array.size == 0:
            array = array.reshape((0, *tail))
        if array.shape[1:] != tail:
            raise DecodeError(phrase("what.shape"))
        return array

    one = {"type": ["number", "null"] if kind is np.float64 else "integer"}
    items = {"anyOf": [one, {"type": "array", "items": one}]}
    return Form(read=read, schema={"type": "array", "items": items})


def _array(array: np.ndarray[Any, Any]) -> list[Any]:
    """Return an array as lists, piece by piece: other threads have their turns between them."""
    if array.size <= PIECE or not array.ndim:
        return _plain(array)
    width = array.size // array.shape[0]
    if width > PIECE:
        return [_array(row) for row in array]
    step = PIECE // width
    return [v for start in range(0, array.shape[0], step) for v in _plain(array[start:][:step])]


def _plain(array: np.ndarray[Any, Any]) -> list[Any]:
    if array.dtype.kind != "f" or not np.isnan(array).any():
        return cast("list[Any]", array.tolist())
    boxed = array.astype(object)
    boxed[np.isnan(array)] = None
    return cast("list[Any]", boxed.tolist())
