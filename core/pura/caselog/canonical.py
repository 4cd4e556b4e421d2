"""How an entry of the log is written, and what is computed of it (docs/caselog-chain.md).

An entry says in ``v`` which form its hash is of: 2 is RFC 8785; 1, of version 0.1.0, differs from
it in characters beyond ASCII.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import Any, Final

from pura.base.canonical import canonical, former, sha256
from pura.base.strict import read_json

FORM: Final = 2
FORMS: Final = (1, FORM)
SALT_BYTES: Final = 32
START: Final = "0" * 64
"""What stands before the first entry."""


def written(body: Mapping[str, Any]) -> bytes:
    """Return an entry as its own form writes it.

    Raises:
        ValueError: It has no canonical form.
    """
    return former(body) if body["v"] == 1 else canonical(body)


def entry_hash(body: Mapping[str, Any]) -> str:
    """Return the SHA-256 of an entry as its own form writes it, 64 hex digits."""
    return sha256(written(body))


def commitment(salt: bytes, value: bytes) -> str:
    """Return what the chain holds of a kept value: SHA-256 of salt and value, 64 hex digits.

    The salt keeps anyone from guessing a name or a short text until the digest fits.
    """
    return hashlib.sha256(salt + value).hexdigest()


def new_salt() -> bytes:
    """Return a fresh salt."""
    return os.urandom(SALT_BYTES)


def pack(value: object) -> bytes:
    """Return a kept value as bytes: canonical JSON."""
    return canonical(value)


def unpack(value: bytes) -> Any:
    """Return a kept value.

    Raises:
        ValueError: Not JSON.
    """
    return read_json(value)
