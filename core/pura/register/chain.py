"""The hash chain of the register: which columns are hashed, and in which form.

The register is append-only. Each row carries the SHA-256 of the previous hash and of itself, so the
newest hash, the *head*, represents the complete register. Anyone who knows an earlier head can
detect whether a row up to it was changed, removed, added or moved (``pura register verify``).
"""

from __future__ import annotations

import hashlib
import secrets
import sqlite3
from enum import StrEnum
from typing import Final

from pura.base.json_text import former

START: Final = bytes(32)
"""The hash before the first row."""


class Act(StrEnum):
    """The action that a row records."""

    ISSUE = "issue"  # a payload is issued to a recipient; creates an entry
    REVOCATION = "revocation"  # an entry is revoked
    ASSIGNMENT = "assignment"  # entries of unknown key are assigned a key and a profile
    MANIFEST = "manifest"  # a manifest names an entry
    REMARK = "remark"  # a note about an entry, which remains valid
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
"""The columns that are hashed, in the order of :data:`SELECT`."""
_NAMES: Final = {"issued": "when"}  # "when" is reserved in SQL; the hashed form uses it
SELECT: Final = (
    "SELECT sequence, act, written, entry, key, epoch, profile, bits, payload, who, issued, model,"
    " manifest, note, drawn, entries, salt, hash"
    " FROM chain LEFT JOIN series ON series.number = chain.series"
)
"""Query for rows of the chain in the form of :func:`row_hash`, with their hash; unordered."""

Value = str | int | bytes | None

_SALT_BYTES: Final = 16


def new_salt() -> bytes:
    """Return random bytes that keep a row's hash from revealing its content.

    Records and reports contain hashes of rows; without the salt, a name could be guessed until its
    hash fits.
    """
    return secrets.token_bytes(_SALT_BYTES)


def row_hash(previous: bytes, row: tuple[Value, ...]) -> bytes:
    """Return the hash of a row.

    It is the SHA-256 of the hash before it, 32 bytes, followed by the row as JSON: sorted names, no
    blanks, UTF-8 (for rows, which hold texts and integers, the form of RFC 8785). Columns that an
    act does not use are omitted. The payload is written as its bits, the salt in hex.

    Args:
        previous: Hash of the row before; :data:`START` for the first.
        row: One value for each of :data:`COLUMNS`.

    Raises:
        sqlite3.DatabaseError: The row was not written by this program.
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
    except (TypeError, ValueError):  # bytes instead of text, or half of a surrogate pair
        raise sqlite3.DatabaseError("a row is not one of this program") from None


def payload_blob(text: str) -> bytes:
    """Return a payload in the stored form: packed bits, padded with zeros at the end.

    Args:
        text: Characters 0 and 1.
    """
    width = -(-len(text) // 8)
    return (int(text, 2) << 8 * width - len(text)).to_bytes(width)


def payload_text(blob: Value, bits: Value) -> str:
    """Return a stored payload as characters 0 and 1.

    Raises:
        sqlite3.DatabaseError: The blob is not a payload of this length.
    """
    if not isinstance(blob, bytes) or not isinstance(bits, int):
        raise sqlite3.DatabaseError("a row is not one of this program")
    spare = 8 * len(blob) - bits
    number = int.from_bytes(blob)
    if bits < 1 or not 0 <= spare < 8 or number & ((1 << spare) - 1):
        raise sqlite3.DatabaseError("a row holds a payload of a wrong width")
    return format(number >> spare, f"0{bits}b")
