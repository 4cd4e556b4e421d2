"""The values of a record as plain JSON: the shape is the dataclasses' own.

NaN, which JSON does not know, stands as ``null`` in number arrays.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Final, cast

import numpy as np

from pura.base.json_text import PIECE
from pura.scheme import Profile

JSON_NAME: Final = "json"
"""Metadata of a field whose name in JSON is another one."""


def json_name(field: dataclasses.Field[Any]) -> str:
    """Return the name of a field in JSON."""
    return str(field.metadata.get(JSON_NAME, field.name))


def encode(value: Any) -> Any:
    """Return a value of the record as plain JSON."""
    if isinstance(value, Profile):
        return value.to_dict()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {json_name(f): encode(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, tuple | list):
        return [encode(v) for v in value]
    if isinstance(value, dict):
        return {str(k): encode(v) for k, v in value.items()}
    return value.item() if isinstance(value, np.generic) else value


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
