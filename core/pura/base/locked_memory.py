"""Memory for secrets: the system keeps it out of swap and out of dumps, where it lets this program.

All secrets share a few pages of their own, so that locking a page never depends on what else lies
on it. What Python copies on the way (a text, a number, a hash) is not here.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
import threading
from typing import Final

from pura.base.linux import kernel

SLOT: Final = 32
"""Bytes of one secret."""
_lock: Final = threading.Lock()
_free: Final[list[memoryview]] = []
_locked: Final[list[bool]] = []


class LockedBytes:
    """A secret of :data:`SLOT` bytes in locked memory, overwritten when it goes.

    Args:
        data: The secret; it is copied.
    """

    __slots__ = ("_slot",)

    def __init__(self, data: bytes | bytearray) -> None:
        self._slot: memoryview | None = _take()
        self._slot[:] = data

    @property
    def view(self) -> memoryview | None:
        """The bytes themselves; None once they were wiped."""
        return self._slot

    def wipe(self) -> None:
        """Overwrite the secret and give its place back."""
        self._wipe()

    # Bound here: a secret that outlives its module at the end of the program finds no names in it.
    def _wipe(self, zeros: bytes = bytes(SLOT), free: list[memoryview] = _free) -> None:
        slot, self._slot = self._slot, None
        if slot is not None:
            slot[:] = zeros
            free.append(slot)  # in one step, also where the collector runs amid _take()

    def __del__(self) -> None:
        if getattr(self, "_slot", None) is not None:
            self._wipe()


def stays_out_of_swap() -> bool:
    """Tell whether the system locks the memory of secrets for this program."""
    if not _locked:
        LockedBytes(bytes(SLOT)).wipe()
    return all(_locked)


def _take() -> memoryview:
    with _lock:
        if not _free:
            _add_page()
        return _free.pop()


def _add_page() -> None:
    page = mmap.mmap(-1, mmap.PAGESIZE)
    if sys.platform == "linux":
        page.madvise(mmap.MADV_DONTDUMP)
    _locked.append(_lock_page(page))
    whole = memoryview(page)
    _free.extend(whole[start : start + SLOT] for start in range(0, mmap.PAGESIZE, SLOT))


def _lock_page(page: mmap.mmap) -> bool:
    if sys.platform == "win32":
        return False
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return bool(kernel.libc().mlock(ctypes.c_void_p(address), ctypes.c_size_t(mmap.PAGESIZE)) == 0)
