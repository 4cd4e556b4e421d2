"""The chain of the register: what a row's hash is of, and the form in which it is hashed.

Rows are only ever added. Each carries the SHA-256 of the hash before it and of itself, so that the
newest hash, the *head*, stands for the register as a whole: whoever knows a head of before can tell
whether a row up to there was exchanged, edited, removed, added or moved (``pura register verify``).
"""

from __future__ import annotations

import hashlib
import secrets
import sqlite3
from enum import StrEnum
from typing import Final

from pura.base.json_text import former

START: Final = bytes(32)
"""What stands before the first row."""


class Act(StrEnum):
    """What a row does."""

    ISSUE = "issue"  # a payload goes to a recipient; makes an entry
    REVOCATION = "revocation"  # an entry no longer stands
    ASSIGNMENT = "assignment"  # entries of unknown key get a key and a profile
    MANIFEST = "manifest"  # an entry is named by a manifest
    REMARK = "remark"  # something is noted about an entry, which stands as before
    UPGRADE = "upgrade"  # entries of an earlier version of the file follow


COLUMNS: Final = (
    "sequence",
    "act",
    "written",
    "entry",
    "key",
    "epoch",
    "profile",
    "bits",
    "payload",
    "who",
    "issued",
    "model",
    "manifest",
    "note",
    "drawn",
    "entries",
    "salt",
)
"""The columns that a row's hash is of, in the order of :data:`SELECT`."""
_NAMES: Final = {"issued": "when"}  # a word of SQL's own; the hashed form has the usual name
SELECT: Final = (
    "SELECT sequence, act, written, entry, key, epoch, profile, bits, payload, who, issued, model,"
    " manifest, note, drawn, entries, salt, hash"
    " FROM chain LEFT JOIN series ON series.number = chain.series"
)
"""Rows of the chain as :func:`row_hash` takes them, and their stored hash; without an order."""

Value = str | int | bytes | None

_SALT_BYTES: Final = 16


def new_salt() -> bytes:
    """Return what makes a row's hash tell nothing of the row.

    Hashes of rows and heads stand in records and reports; without the salt, names could be tried
    until one fits.
    """
    return secrets.token_bytes(_SALT_BYTES)


def row_hash(previous: bytes, row: tuple[Value, ...]) -> bytes:
    """Return the hash of a row.

    It is the SHA-256 of the hash before it, 32 bytes, followed by the row as JSON: sorted names, no
    blanks, UTF-8 (for rows, which hold texts and whole numbers, the form of RFC 8785). A column
    that an act does not use is left out. The payload is written as its bits, the salt in hex.

    Args:
        previous: Hash of the row before; :data:`START` for the first.
        row: One value for each of :data:`COLUMNS`.

    Raises:
        sqlite3.DatabaseError: The row is none that this program wrote.
    """
    values = {
        _NAMES.get(name, name): value
        for name, value in zip(COLUMNS, row, strict=True)
        if value is not None
    }
    payload, salt = values.get("payload"), values.get("salt")
    if payload is not None:
        values["payload"] = payload_text(payload, values.get("bits"))
    if isinstance(salt, bytes):
        values["salt"] = salt.hex()
    try:
        return hashlib.sha256(previous + former(values, escaped=False)).digest()
    except (TypeError, ValueError):  # bytes where a text stands, or half of a surrogate
        raise sqlite3.DatabaseError("a row is not one of this program") from None


def payload_blob(text: str) -> bytes:
    """Return a payload as it is stored: packed bits, padded with zeros at the end.

    Args:
        text: Characters 0 and 1.
    """
    width = -(-len(text) // 8)
    return (int(text, 2) << 8 * width - len(text)).to_bytes(width)


def payload_text(blob: Value, bits: Value) -> str:
    """Return a stored payload as characters 0 and 1.

    Raises:
        sqlite3.DatabaseError: It is none, or of another length.
    """
    if not isinstance(blob, bytes) or not isinstance(bits, int):
        raise sqlite3.DatabaseError("a row is not one of this program")
    spare = 8 * len(blob) - bits
    number = int.from_bytes(blob)
    if bits < 1 or not 0 <= spare < 8 or number & ((1 << spare) - 1):
        raise sqlite3.DatabaseError("a row holds a payload of a wrong width")
    return format(number >> spare, f"0{bits}b")
