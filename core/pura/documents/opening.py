"""From a path to bytes: opened once, checked on the open file, hashed as it is read.

The child never sees a path, so that nothing inside a file can make it open another one.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import BinaryIO, Final

from pura.base.errors import InputError
from pura.documents.limits import MAX_FILE_BYTES
from pura.documents.plain import check_size

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
        reason = getattr(error, "strerror", None) or "the name is not usable"
        raise InputError(
            f"The file cannot be read: {reason}.",
            "Check the path and the permissions.",
            code="input-unreadable",
        ) from None
    try:
        _check_kind(os.fstat(handle).st_mode)
    except BaseException:
        os.close(handle)
        raise
    with os.fdopen(handle, "rb", buffering=0) as file:
        return _read(file)


def read_standard_input() -> bytes:
    """Read standard input to its end, or to one byte beyond the limit.

    Raises:
        InputError: Too large.
    """
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
            f"The file cannot be read to its end: {error.strerror or 'unknown reason'}.",
            "Copy it to this computer, and try again.",
            code="input-unreadable",
        ) from None
    same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    if not same or size != after.st_size:
        raise InputError(
            "The file changed while it was read.",
            "Wait until the other program has finished with it, or audit a copy.",
            code="input-changed",
        )
    return b"".join(pieces)


def _check_kind(mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise _folder()
    if not stat.S_ISREG(mode):
        raise InputError(
            "This is not an ordinary file (a pipe, a device or a socket).",
            "Save the text to a file, or pass it on standard input as “-”.",
            code="input-unreadable",
        )


def _folder() -> InputError:
    return InputError(
        "This is a folder, not a file.", "Give the files inside it.", code="input-folder"
    )
