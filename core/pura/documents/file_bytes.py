"""The bytes of files: opened once, checked, read whole."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Final

from pura.base.catalogue import NOT_REGULAR, phrase
from pura.base.errors import InputError
from pura.base.files import open_regular
from pura.documents.formats import MAX_FILE_BYTES, over

CHUNK: Final = 1 << 20
"""Bytes that are read at once."""


def check_size(size: int) -> None:
    """Refuse a file that is too large.

    Raises:
        InputError: More than MAX_FILE_BYTES.
    """
    if size > MAX_FILE_BYTES:
        raise over("limit.file", mebibytes=MAX_FILE_BYTES >> 20)


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
    try:
        file = open_regular(path, follow_links=follow_links)
    except (OSError, ValueError) as error:
        if isinstance(error, IsADirectoryError) or (os.name == "nt" and path.is_dir()):
            raise InputError("input.folder", code="input-folder") from None
        raise unreadable(error) from None
    with file:
        return _read(file)


def unreadable(error: Exception) -> InputError:
    """Return what is said of a file that the system does not open or read."""
    number = getattr(error, "errno", None)
    if number == NOT_REGULAR:
        why = phrase("reason.special")
    else:
        why = phrase("reason.system", why=number) if number else phrase("reason.name")
    return InputError("input.read", why=why, code="input-unreadable")


def digest_of(path: Path, heartbeat: Callable[[], None] = lambda: None) -> tuple[str, int]:
    """Return SHA-256 and size of a file that could not be made a text of; nothing is kept of it.

    Args:
        path: Where it is.
        heartbeat: Called often; may raise.

    Returns:
        The digest, and the number of bytes; "" and 0 where they cannot be read.
    """
    digest, size = hashlib.sha256(), 0
    try:
        with open_regular(path) as file:
            while piece := file.read(CHUNK):
                heartbeat()
                digest.update(piece)
                size += len(piece)
    except (OSError, ValueError):
        return "", 0
    return digest.hexdigest(), size


def _read(file: BinaryIO) -> bytes:
    before = os.fstat(file.fileno())
    check_size(before.st_size)
    pieces, size = [], 0
    try:
        while piece := file.read(CHUNK):
            pieces.append(piece)
            size += len(piece)
            if size > before.st_size:
                break  # it grows; how far does not matter
        after = os.fstat(file.fileno())
    except OSError as error:
        raise unreadable(error) from None
    same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    if not same or size != after.st_size:
        raise InputError("input.changed", code="input-changed")
    return b"".join(pieces)
