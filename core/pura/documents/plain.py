"""Text that needs no reader: pasted, or the bytes of a plain-text file."""

from __future__ import annotations

import hashlib

from pura.base.errors import InputError
from pura.documents.encodings import decode
from pura.documents.limits import MAX_CHARACTERS, MAX_FILE_BYTES, over
from pura.documents.values import Document


def from_text(text: str, *, name: str = "pasted text") -> Document:
    """Make a document of text that never was a file.

    Raises:
        InputError: Empty, too long, or not encodable (see :func:`check_text`).
    """
    check_text(text)
    data = text.encode()
    return Document(
        name=name,
        text=text,
        sha256=hashlib.sha256(data).hexdigest(),
        size_bytes=len(data),
        encoding="text",
    )


def from_bytes(data: bytes, *, name: str, encoding: str | None = None) -> Document:
    """Decode the bytes of a plain-text file (:mod:`.encodings` says how)."""
    check_size(len(data))
    decoded = decode(data, chosen=encoding)
    check_text(decoded.text)
    return Document(
        name=name,
        text=decoded.text,
        sha256=hashlib.sha256(data).hexdigest(),
        size_bytes=len(data),
        encoding=decoded.encoding,
        encoding_source=decoded.source,
    )


def check_size(size: int) -> None:
    """Refuse a file that is too large.

    Raises:
        InputError: More than MAX_FILE_BYTES.
    """
    if size > MAX_FILE_BYTES:
        raise over("limit.file", mebibytes=MAX_FILE_BYTES >> 20)


def check_text(text: str) -> None:
    """Refuse what cannot be audited, before any work is done.

    Raises:
        InputError: Empty, only white space, too long, NUL characters or lone surrogates.
    """
    if not text.strip():
        raise InputError("input.empty", code="input-empty")
    if len(text) > MAX_CHARACTERS:
        raise over("limit.characters", most=MAX_CHARACTERS)
    if "\x00" in text:
        raise InputError("input.nul")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError("input.surrogates") from None
