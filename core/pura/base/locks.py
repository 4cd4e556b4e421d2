"""A lock between processes: who holds it may read, change and write a file that others change too.

The lock is on a file of its own, since the file that is guarded is replaced whole when it is
written. It is advisory, and the system takes it back when its holder ends, however it ends; the
empty file that stays behind locks nobody out.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Final, Self

_STEP: Final = 0.02  # seconds between two tries; the system's own waiting knows no time limit


class FileLock:
    """Held by one holder at a time, also among the threads of one process.

    Used with ``with``, and not twice at once by the same holder.

    Args:
        path: The lock's file; it and its folder are made.
        patience: Seconds to wait for another holder.
    """

    def __init__(self, path: Path, patience: float = 0.0) -> None:
        self._path = path
        self._patience = patience
        self._handle = -1

    def acquire(self) -> None:
        """Take the lock.

        Raises:
            TimeoutError: Another holder kept it for longer than the patience.
            OSError: The file cannot be made, or its disk knows no locks.
        """
        self._path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            end = time.monotonic() + self._patience
            while not _try(handle):
                if time.monotonic() >= end:
                    raise TimeoutError(errno.ETIMEDOUT, "another program holds the lock")
                time.sleep(_STEP)
        except BaseException:
            os.close(handle)
            raise
        self._handle = handle

    def release(self) -> None:
        """Give the lock back."""
        handle, self._handle = self._handle, -1
        try:
            _free(handle)
        finally:
            os.close(handle)

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()


def _try(handle: int) -> bool:
    """Take the lock if it is free; False when it is not."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(handle, 0, os.SEEK_SET)  # the byte that is locked is the one at the position
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _free(handle: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_UN)
