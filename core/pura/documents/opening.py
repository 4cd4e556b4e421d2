"""From a path or pasted text to bytes and characters: opened once, checked, hashed."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Final

from pura.base.catalogue import phrase
from pura.base.errors import InputError
from pura.documents.encodings import decode
from pura.documents.values import MAX_CHARACTERS, MAX_FILE_BYTES, Document, over


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
        raise over("limit.text", count=len(text), most=MAX_CHARACTERS)
    if "\x00" in text:
        raise InputError("input.nul")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError("input.surrogates") from None


# A pipe without a writer must not stop the program, and a terminal not become ours.
_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_CHUNK: Final = 1 << 20


def read_bytes_of(path: Path, *, follow_links: bool = True) -> bytes:
    """Read a file whole.

    Size and kind are those of the open file, not of the name, which may have moved meanwhile. A
    file that changes under the reader is refused: the hash would name bytes that never were a file.

    Args:
        path: Where it is.
        follow_links: False refuses a name that is a symbolic link (as folders are read).

    Raises:
        InputError: Missing, unreadable, not a regular file, too large, or changing.
    """
    flags = _FLAGS if follow_links else _FLAGS | getattr(os, "O_NOFOLLOW", 0)
    try:
        handle = os.open(path, flags)
    except (OSError, ValueError) as error:
        if isinstance(error, IsADirectoryError) or (os.name == "nt" and path.is_dir()):
            raise _folder() from None
        number = getattr(error, "errno", None)
        why = phrase("reason.system", why=number) if number else phrase("reason.name")
        raise InputError("input.read", why=why, code="input-unreadable") from None
    try:
        _check_kind(os.fstat(handle).st_mode)
    except BaseException:
        os.close(handle)
        raise
    with os.fdopen(handle, "rb", buffering=0) as file:
        return _read(file)


def digest_of(path: Path, beat: Callable[[], None] = lambda: None) -> tuple[str, int]:
    """Return SHA-256 and size of a file that could not be made a text of; nothing is kept of it.

    Args:
        path: Where it is.
        beat: Called often; may raise.

    Returns:
        The digest, and the number of bytes; "" and 0 where they cannot be read.
    """
    digest, size = hashlib.sha256(), 0
    try:
        handle = os.open(path, _FLAGS)
        with os.fdopen(handle, "rb", buffering=0) as file:
            _check_kind(os.fstat(file.fileno()).st_mode)
            while piece := file.read(_CHUNK):
                beat()
                digest.update(piece)
                size += len(piece)
    except (OSError, ValueError, InputError):
        return "", 0
    return digest.hexdigest(), size


def read_standard_input() -> bytes:
    """Read standard input to its end, or to one byte beyond the limit."""
    data = sys.stdin.buffer.read(MAX_FILE_BYTES + 1)
    check_size(len(data))
    return data


def _read(file: BinaryIO) -> bytes:
    before = os.fstat(file.fileno())
    check_size(before.st_size)
    pieces, size = [], 0
    try:
        while piece := file.read(_CHUNK):
            pieces.append(piece)
            size += len(piece)
            if size > before.st_size:
                break  # it grows; how far does not matter
        after = os.fstat(file.fileno())
    except OSError as error:
        raise InputError(
            "input.read", why=phrase("reason.system", why=error.errno or 0), code="input-unreadable"
        ) from None
    same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    if not same or size != after.st_size:
        raise InputError("input.changed", code="input-changed")
    return b"".join(pieces)


def _check_kind(mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise _folder()
    if not stat.S_ISREG(mode):
        raise InputError("input.special", code="input-unreadable")


def _folder() -> InputError:
    return InputError("input.folder", code="input-folder")
