"""Try to get out of the cage, as a parser that was taken over would: ``python -m`` this module.

Standard input: one line of JSON with a folder that may suffer; in it lies a file ``mine``. Each
call is made of the C library, past everything that Python could forbid. Standard output: one JSON
object; ``open`` names the calls that were not refused, ``bars`` says what holds. ``pura selftest``
runs this on the user's own machine (:func:`pura.usecases.doctor.check_cage`), and so do tests.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Final

from pura.base.linux import kernel
from pura.documents import cage

_REFUSED: Final = (errno.EPERM, errno.EACCES)
_SIGNAL_0: Final = 0
_ATTACH: Final = 16
_WRITE: Final = os.O_WRONLY | os.O_CREAT
_NEW_USER: Final = 0x1000_0000
_HERE: Final = -100  # AT_FDCWD


class _Piece(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


def main() -> None:
    """Shut the cage, then try every way out."""
    kernel.die_with_parent()
    folder = os.fsencode(json.loads(sys.stdin.buffer.readline(65536))["folder"])
    attempts = _attempts(folder, os.getppid())
    bars = cage.close()
    found = {name: _refused(attempt) for name, attempt in attempts.items()}
    ways = [name for name, refused in found.items() if not refused]
    answer = {"bars": asdict(bars), "tried": len(found), "open": ways}
    sys.stdout.buffer.write(json.dumps(answer).encode("ascii"))
    sys.stdout.buffer.flush()
    os._exit(0)


def _attempts(folder: bytes, parent: int) -> dict[str, Callable[[], int | None]]:
    """Return each call with what it is called with; all is looked up while that is possible."""
    libc = kernel.libc()
    mine, other = folder + b"/mine", folder + b"/other"
    buffer = ctypes.create_string_buffer(64)
    piece = _Piece(ctypes.addressof(buffer), 64)
    address = b"\x02\x00\x00\x50\x7f\x00\x00\x01" + bytes(8)  # 127.0.0.1, port 80
    arguments = (ctypes.c_char_p * 2)(b"true", None)
    page = libc.sysconf(30)
    more = (ctypes.c_uint64 * 2)(64, 64)
    calls: dict[str, tuple[object, ...]] = {
        "open": (mine, os.O_RDONLY),
        "openat": (_HERE, b"/etc/passwd", os.O_RDONLY),
        "creat": (other, 0o600),
        "opendir": (folder,),
        "truncate": (mine, 0),
        "unlink": (mine,),
        "rename": (mine, other),
        "link": (mine, other),
        "symlink": (mine, other),
        "mkdir": (other, 0o700),
        "mkfifo": (other, 0o600),
        "chmod": (mine, 0o777),
        "chown": (mine, 1, 1),
        "setxattr": (mine, b"user.pura", b"x", 1, 0),
        "utimes": (mine, None),
        "chdir": (b"/",),
        "socket": (2, 1, 0),
        "socketpair": (1, 1, 0, buffer),
        "connect": (0, address, 16),
        "bind": (0, address, 16),
        "fork": (),
        "execv": (b"/bin/true", arguments),
        "kill": (parent, _SIGNAL_0),
        "ptrace": (_ATTACH, parent, None, None),
        "process_vm_readv": (parent, ctypes.byref(piece), 1, ctypes.byref(piece), 1, 0),
        "process_vm_writev": (parent, ctypes.byref(piece), 1, ctypes.byref(piece), 1, 0),
        "prlimit": (0, 7, ctypes.byref(more), None),
        "setuid": (0,),
        "unshare": (_NEW_USER,),
        "mount": (b"none", folder, b"tmpfs", 0, None),
        "memfd_create": (b"x", 0),
        "shmget": (0, page, 0o1600),
        "pipe": (buffer,),
        "dup": (0,),
        "mmap": (None, page, 7, 0x22, -1, 0),
    }
    libc.opendir.restype = ctypes.c_void_p
    libc.mmap.restype = ctypes.c_ssize_t
    return {name: partial(getattr(libc, name), *values) for name, values in calls.items()}


def _refused(attempt: Callable[[], int | None]) -> bool:
    """Tell whether a call failed because it is not permitted, and not by chance."""
    me = os.getpid()
    ctypes.set_errno(0)
    result = attempt()
    if os.getpid() != me:
        os._exit(0)  # it forked
    return result in (-1, None) and ctypes.get_errno() in _REFUSED


if __name__ == "__main__":
    main()
