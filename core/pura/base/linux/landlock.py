"""Landlock: no file is opened, made or changed from here on, but below what is named.

It binds this process and all that it starts, needs no privilege, and cannot be undone. Kernels from
5.13 have it where their builder switched it on; each later version of it knows more.
https://docs.kernel.org/userspace-api/landlock.html
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pura.base.linux.kernel import checked, libc

# The same numbers on every machine.
_CREATE_RULESET: Final = 444
_ADD_RULE: Final = 445
_RESTRICT_SELF: Final = 446
_ASK_VERSION: Final = 1
_PATH_BENEATH: Final = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
_OF_FILES: Final = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
# All rights on files that a version of Landlock knows: it adds one or two at a time.
_RIGHTS: Final = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF, 5: 0xFFFF}
_NET: Final = 0b11  # binding and connecting, TCP; from version 4
_SCOPES: Final = 0b11  # abstract sockets and signals to processes outside; from version 6


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    """Return the version of Landlock that this kernel has; 0 is none."""
    return max(0, int(libc().syscall(_CREATE_RULESET, None, 0, _ASK_VERSION)))


def restrict(*, readable: Sequence[Path] = (), writable: Sequence[Path] = ()) -> int:
    """Give up all files and TCP, but for what lies below the named folders.

    Args:
        readable: Files and folders that may still be read, and run.
        writable: Folders in which everything may still be done, but running programs.

    Returns:
        The version of Landlock that holds now; 0 where the kernel has none and nothing was done.

    Raises:
        NotConfinedError: The kernel has Landlock and refused.
    """
    known = version()
    if not known:
        return 0
    rights = _RIGHTS[min(known, max(_RIGHTS))]
    wanted = _Ruleset(rights, _NET if known >= 4 else 0, _SCOPES if known >= 6 else 0)
    size = 8 if known < 4 else 16 if known < 6 else 24
    rules = checked(
        libc().syscall(_CREATE_RULESET, ctypes.byref(wanted), ctypes.c_size_t(size), 0), "landlock"
    )
    try:
        for path in readable:
            _allow(rules, path, rights & (_EXECUTE | _READ_FILE | _READ_DIR))
        for path in writable:
            _allow(rules, path, rights & ~_EXECUTE)
        checked(libc().syscall(_RESTRICT_SELF, rules, 0), "landlock")
    finally:
        os.close(rules)
    return known


def _allow(rules: int, path: Path, rights: int) -> None:
    handle = os.open(path, getattr(os, "O_PATH", 0) | getattr(os, "O_CLOEXEC", 0))
    try:
        below = _PathBeneath(rights if path.is_dir() else rights & _OF_FILES, handle)
        checked(libc().syscall(_ADD_RULE, rules, _PATH_BENEATH, ctypes.byref(below), 0), "landlock")
    finally:
        os.close(handle)
