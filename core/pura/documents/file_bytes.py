"""Reading the bytes of a file: opened once, checked, and read completely."""

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
"""Bytes that are read at a time."""


def check_size(size: int) -> None:
    """Refuse a file that is too large.

    Raises:
        InputError: More than MAX_FILE_BYTES.
    """
    if size > MAX_FILE_BYTES:
        raise over("limit.file", mebibytes=MAX_FILE_BYTES >> 20)


def read_bytes_of(path: Path, *, follow_links: bool = True) -> bytes:
    """Read a file completely.

    Size and kind are checked on the open file, since the name may lead elsewhere by then. A file
    that changes while it is read is refused: its hash would belong to no state of the file.

    Args:
        path: Path of the file.
        follow_links: False refuses symbolic links, as when folders are read.

    Raises:
        InputError: The file is missing, unreadable, not a regular file, too large, or changing.
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
    """Return the error for a file that the system cannot open or read."""
    number = getattr(error, "errno", None)
    if number == NOT_REGULAR:
        reason = phrase("reason.special")
    else:
        reason = phrase("reason.system", why=number) if number else phrase("reason.name")
    return InputError("input.read", why=reason, code="input-unreadable")


def digest_of(path: Path, heartbeat: Callable[[], None] = lambda: None) -> tuple[str, int]:
    """Return SHA-256 and size of a file that has no readable text.

    Args:
        path: Path of the file.
        heartbeat: Called after each chunk; may raise to stop.

    Returns:
        The digest in hexadecimal and the number of bytes; "" and 0 if the file cannot be read.
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
