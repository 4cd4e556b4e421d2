"""Crash-safe files: written whole or not at all, read with a bound.

Locks between processes keep two from changing one file.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shlex
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO, Final

import filelock

from pura.base.catalogue import NOT_REGULAR
from pura.base.errors import InputError, PuraError, os_error_as

# A pipe without a writer must not stop the program, and a terminal not become ours.
_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


_PAUSES_S: Final = (0.02, 0.05, 0.1, 0.2, 0.4)
"""Between attempts to replace a file that is being read, by another window or a virus scanner."""


def make_private(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for this user only.

    ``Path.mkdir`` gives its mode to the last folder alone. A folder that is there keeps its own.

    Raises:
        OSError: A folder cannot be made, or the name is taken by a file.
    """
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))


def write_atomic(path: Path, data: bytes, *, private: bool = False) -> None:
    """Write a file in one step.

    Args:
        path: Where to; folders on the way are made, for this user only.
        data: The bytes.
        private: Readable by this user only.

    Raises:
        OSError: The folder cannot be written.
    """
    make_private(path.parent)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:80]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if not private:
            umask = os.umask(0)
            os.umask(umask)
            Path(temporary).chmod(0o666 & ~umask)
        _replace(Path(temporary), path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise


def _replace(new: Path, path: Path) -> None:
    """Put a file in the place of another; Windows refuses as long as somebody has that open."""
    for pause in _PAUSES_S if sys.platform == "win32" else ():
        with contextlib.suppress(PermissionError):
            new.replace(path)
            return
        time.sleep(pause)
    new.replace(path)


def open_regular(path: Path, *, follow_links: bool = True) -> BinaryIO:
    """Open an ordinary file for reading; pipes, devices and folders are refused at once.

    What counts is the file that is open, not its name, which may have moved meanwhile. Opening a
    pipe never waits for its writer.

    Args:
        path: Where it is.
        follow_links: False refuses a name that is a symbolic link (as folders are read).

    Raises:
        OSError: It cannot be opened, or is none; then its number is
            :data:`~pura.base.catalogue.NOT_REGULAR`.
    """
    flags = _FLAGS if follow_links else _FLAGS | getattr(os, "O_NOFOLLOW", 0)
    handle = os.open(path, flags)
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(handle, "rb")
    os.close(handle)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    raise OSError(NOT_REGULAR, "not an ordinary file")


def exposed(path: Path) -> str:
    """Return the command that closes a file or folder to others; empty when it is closed.

    A folder is exposed when others can write to it or list it. Windows keeps its own rights.
    """
    if os.name == "nt":
        return ""
    try:
        mode = path.stat().st_mode
    except OSError:
        return ""
    if not mode & 0o077:
        return ""
    return f"chmod {'700' if stat.S_ISDIR(mode) else '600'} {shlex.quote(str(path))}"


def read_start(path: Path, limit: int, error: type[PuraError], *, code: str | None = None) -> bytes:
    """Read what a file begins with, and one byte more where it is larger.

    Args:
        path: The file.
        limit: Size in bytes.
        error: What is raised.
        code: As of any error.

    Raises:
        PuraError: It cannot be read.
    """
    with os_error_as(error, "file.read", name=path.name, code=code), open_regular(path) as file:
        return file.read(limit + 1)


def read_bounded(path: Path, limit: int, error: type[PuraError] = InputError) -> bytes:
    """Read a file whole, unless it is larger than such a file can be.

    Args:
        path: The file.
        limit: Largest size in bytes.
        error: What is raised.

    Raises:
        PuraError: It cannot be read, or is too large.
    """
    data = read_start(path, limit, error, code="file-unreadable")
    if len(data) > limit:
        raise error("file.large", name=path.name, mebibytes=limit >> 20, code="file-large")
    return data


def write_or_refuse(
    path: Path,
    data: bytes,
    error: type[PuraError] = InputError,
    *,
    private: bool = False,
    own: bool = False,
) -> None:
    """Write a file in one step, or say in words why not.

    Args:
        path: Where to.
        data: The bytes.
        error: What is raised.
        private: Readable by this user only.
        own: It is the program's own, whose folder is made; else somebody named it, and none is.

    Raises:
        PuraError: It cannot be written; what was there before is untouched.
    """
    if not own:
        refuse_no_folder(path, error)
    with os_error_as(error, "file.write", name=path.name, code="file-write"):
        write_atomic(path, data, private=private)


def refuse_no_folder(path: Path, error: type[PuraError] = InputError) -> None:
    """Refuse to make the folder that a file shall be written into.

    Raises:
        PuraError: There is none.
    """
    if not path.parent.is_dir():
        raise error(
            "file.no-folder", name=path.name, folder=str(path.parent), code="file-no-folder"
        )


_replacing: ContextVar[bool] = ContextVar("replacing", default=False)


@contextlib.contextmanager
def replacing(enabled: bool = True) -> Iterator[None]:
    """Have files that are there be replaced, as ``--force`` of a command asks."""
    token = _replacing.set(enabled)
    try:
        yield
    finally:
        _replacing.reset(token)


def refuse_taken(path: Path, error: type[PuraError] = InputError, *, replace: bool = False) -> None:
    """Refuse to replace a file unless that was asked for, and to make its folder; before the work.

    Args:
        path: Where it shall be.
        error: What is raised.
        replace: It was asked for; :func:`replacing` asks for all files.

    Raises:
        PuraError: It is there already, or its folder is not.
    """
    refuse_no_folder(path, error)
    if path.exists() and not (replace or _replacing.get()):
        raise error("file.there", name=path.name, code="file-exists")


def file_lock(path: Path, patience: float = 0.0) -> filelock.BaseFileLock:
    """Return a lock that one holder has at a time, also among the threads of one process.

    Its ``acquire`` raises :class:`TimeoutError` when another holder keeps it for longer than the
    patience, and :class:`OSError` when the file cannot be made or its disk knows no locks.

    Args:
        path: The lock's file; it and its folder are made.
        patience: Seconds to wait for another holder.

    Raises:
        OSError: The folder cannot be made.
    """
    make_private(path.parent)
    # A marker file instead of a lock would outlive a holder that is killed: rather no lock.
    return filelock.FileLock(path, timeout=patience, mode=0o600, fallback_to_soft=False)
