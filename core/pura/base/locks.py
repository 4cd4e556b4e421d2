"""A lock between processes: who holds it may read, change and write a file that others change too.

The lock is on a file of its own, since the file that is guarded is replaced whole when it is
written. It is advisory, and the system takes it back when its holder ends, however it ends; the
empty file that stays behind locks nobody out.
"""

from __future__ import annotations

from pathlib import Path

import filelock

from pura.base.files import make_private


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
