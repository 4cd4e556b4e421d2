r"""One way to write an entry, and what is computed of it.

An entry is JSON of a narrow kind: objects with ASCII names, strings, whole numbers, truth values
and lists. Its canonical form has sorted names, no blanks and every character beyond ASCII as
``\uXXXX``, so that any language of programming writes the same bytes (docs/caselog.md).
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any, Final

SALT_BYTES: Final = 32
START: Final = "0" * 64
"""What stands before the first entry."""


def canonical(value: Mapping[str, Any]) -> bytes:
    """Return the canonical form.

    Raises:
        ValueError: A value of another kind, e.g. a fraction: its digits would depend on the writer.
    """
    _check(value)
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def entry_hash(body: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the canonical form, 64 hex digits."""
    return hashlib.sha256(canonical(body)).hexdigest()


def commitment(salt: bytes, value: bytes) -> str:
    """Return what the chain holds of a kept value: SHA-256 of salt and value, 64 hex digits.

    The salt keeps anyone from guessing a name or a short text until the digest fits.
    """
    return hashlib.sha256(salt + value).hexdigest()


def new_salt() -> bytes:
    """Return a fresh salt."""
    return os.urandom(SALT_BYTES)


def pack(value: object) -> bytes:
    """Return a kept value as bytes: JSON, UTF-8."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def unpack(value: bytes) -> Any:
    """Return a kept value.

    Raises:
        ValueError: Not JSON.
    """
    return json.loads(value)


def _check(value: object) -> None:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if not isinstance(name, str) or not name.isascii():
                raise ValueError("names are ASCII")
            _check(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            _check(inner)
    elif not isinstance(value, str | int):  # truth values are whole numbers here
        raise ValueError(f"{type(value).__name__} has no canonical form")
