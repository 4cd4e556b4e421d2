"""The metadata at the beginning of a GGUF file, read within bounds and without a library.

A stranger's file is inspected here before any library opens it, to recognise one piece of several,
the vision part of a model, or an adapter. Only scalars and strings are kept; lists, such as the
vocabulary, are skipped.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import BinaryIO, Final

from pura.base.errors import ModelError
from pura.base.files import open_regular

MAGIC: Final = b"GGUF"
_HEAD: Final = struct.Struct("<4sIQQ")
_LENGTH: Final = struct.Struct("<Q")
_KIND: Final = struct.Struct("<I")
# Formats of GGUF's scalar types, by their number in the file.
_SCALARS: Final = {
    number: struct.Struct(f"<{code}")
    for number, code in {
        0: "B",
        1: "b",
        2: "H",
        3: "h",
        4: "I",
        5: "i",
        6: "f",
        7: "?",
        10: "Q",
        11: "q",
        12: "d",
    }.items()
}
_STRING: Final = 8
_ARRAY: Final = 9
_MAX_KEY: Final = 1 << 16
"""Longest key in bytes, by the description of the format."""
_MAX_KEPT: Final = 4096
"""Longest string that is kept, in bytes; a chat template is longer and not needed here."""

Metadata = dict[str, str | int | float | bool]


def read_metadata(path: Path) -> Metadata:
    """Return the scalars and short strings at the beginning of a GGUF file, by their keys.

    Raises:
        ModelError: The file is not GGUF, or its counts and lengths are impossible.
    """
    damaged = ModelError("model.file-damaged", name=path.name, code="model-damaged")
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            magic, version, tensors, entries = _HEAD.unpack(file.read(_HEAD.size))
            # Every tensor and every entry takes tens of bytes of the file itself.
            possible = tensors and 16 * (tensors + entries) <= size
            if magic != MAGIC or version not in (2, 3) or not possible:
                raise damaged
            return _Reader(file, size).entries(entries)
    except (OSError, ValueError, struct.error):
        raise damaged from None


class _Reader:
    """Reads values one after the other, never beyond the end of the file."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self._size = file, size

    def entries(self, count: int) -> Metadata:
        """Read ``count`` keys with their values."""
        metadata: Metadata = {}
        for _ in range(count):
            key = self._string(_MAX_KEY)
            value = self._value(self._number(_KIND))
            if value is not None and key:
                metadata[key] = value
        return metadata

    def _value(self, kind: int) -> str | int | float | bool | None:
        """Read a value; skip lists, and return None for them."""
        if kind == _STRING:
            return self._string(_MAX_KEPT)
        if kind == _ARRAY:
            self._pass_array()
            return None
        if kind not in _SCALARS:
            raise ValueError("kind")
        return self._scalar(_SCALARS[kind])

    def _pass_array(self) -> None:
        kind, count = self._number(_KIND), self._number(_LENGTH)
        if kind == _STRING:
            for _ in range(count):  # the file ends before an impossible count does
                self._pass(self._number(_LENGTH))
        elif kind in _SCALARS:
            self._pass(count * _SCALARS[kind].size)
        else:  # the format allows lists of lists, and no model has any
            raise ValueError("kind")

    def _string(self, limit: int) -> str:
        length = self._number(_LENGTH)
        if length > limit:
            self._pass(length)
            return ""
        return self._take(length).decode("utf-8", "replace")

    def _number(self, form: struct.Struct) -> int:
        return int(self._scalar(form))

    def _scalar(self, form: struct.Struct) -> int | float | bool:
        (value,) = form.unpack(self._take(form.size))
        return value  # type: ignore[no-any-return]

    def _take(self, length: int) -> bytes:
        block = self._file.read(length)
        if len(block) != length:
            raise ValueError("end")
        return block

    def _pass(self, length: int) -> None:
        if length > self._size - self._file.tell():
            raise ValueError("end")
        self._file.seek(length, os.SEEK_CUR)
