"""The rights that the child gives up before it reads untrusted bytes.

The kernel comes first, since it also confines the C code of parsers: limits on time, memory and
descriptors on every system; on Linux also seccomp, which leaves a few calls that reach nothing
outside, Landlock, another user, namespaces and a closed memory. Python's audit hook forbids the
same things where the kernel offers nothing. If the kernel supports a barrier but refuses to set it
up, this is an error.

``python -m pura.documents.sandbox`` tries to break out, as a parser under attack would. Standard
input: one line of JSON with a folder that may be damaged; it contains a file ``mine``. Each attempt
calls the C library directly, past everything that Python could forbid. Standard output: one JSON
object; ``open`` names the calls that were not refused, ``bars`` the barriers that hold.
``pura selftest`` runs this on the user's machine (:func:`pura.usecases.doctor.check_sandbox`), and
so do tests.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from pura.base import linux
from pura.base.process import NOT_SHUT_STATUS
from pura.documents import formats

if sys.platform != "win32":
    import resource

_FORBIDDEN: Final = (
    "open",
    "socket.",
    "subprocess.",
    "os.",
    "pty.",
    "fcntl.",
    "shutil.",
    "tempfile.",
    "ctypes.dlopen",
    "import",
    "urllib.Request",
    "http.client.",
    "ftplib.",
    "smtplib.",
    "winreg.",
    "_winapi.",
    "webbrowser.",
    "sqlite3.connect",
    "syslog.",
    "mmap.",
    "signal.pthread_kill",
)
_PROT_EXEC: Final = 4


class ForbiddenError(PermissionError):
    """A parser tried to reach outside the sandbox."""


def close() -> dict[str, Any]:
    """Put this process into the sandbox permanently.

    Returns:
        The barriers that hold: ``seccomp``, whether the kernel refuses all but a few calls;
        ``landlock``, the version in force, or 0; ``namespaces``, whether the process has its own.

    Raises:
        SystemExit: The system refused something that it should support, so nothing may be read.
            If it is not caught, it ends the child.
    """
    try:
        bars = _confine() if sys.platform == "linux" else _limit()
    except (OSError, ValueError) as error:
        raise SystemExit(NOT_SHUT_STATUS) from error
    sys.addaudithook(_hook)
    return bars


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "import":
        # The event precedes the search. Built-in modules need no file.
        if arguments and arguments[0] in sys.builtin_module_names:
            return
        raise ForbiddenError(event)
    if event.startswith(_FORBIDDEN):
        raise ForbiddenError(event)


def _confine() -> dict[str, Any]:
    namespaces = linux.own_namespaces()
    linux.keep_no_new_privileges()
    linux.other_user()
    # The kernel forgets this setting when the user changes, so it is set again.
    linux.die_with_parent()
    linux.hide()
    landlock_version = linux.restrict()
    _limit()
    linux.allow_only_own(
        {
            "mmap": linux.ConditionalCall(argument=2, bits=_PROT_EXEC),
            "mprotect": linux.ConditionalCall(argument=2, bits=_PROT_EXEC),
            "tgkill": linux.ConditionalCall(argument=0, other_than=os.getpid()),
        }
    )
    return {"seccomp": True, "landlock": landlock_version, "namespaces": namespaces}


def _limit() -> dict[str, Any]:
    bars = {"seccomp": False, "landlock": 0, "namespaces": False}
    if sys.platform == "win32":
        return bars  # time and output are limited by the parent, memory is not
    cpu = formats.CHILD_CPU_SECONDS
    limits = [
        (resource.RLIMIT_CPU, cpu, cpu + 1),
        (resource.RLIMIT_NOFILE, formats.CHILD_OPEN_FILES, formats.CHILD_OPEN_FILES),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_CORE, 0, 0),  # a core file would hold the text
        (resource.RLIMIT_NPROC, 0, 0),
    ]
    if sys.platform == "linux":
        # macOS maps far more than it uses, and does not keep this limit.
        memory = formats.CHILD_MEMORY_BYTES
        limits.append((resource.RLIMIT_AS, memory, memory))
    for kind, soft, hard in limits:
        _, ceiling = resource.getrlimit(kind)
        if ceiling != resource.RLIM_INFINITY:
            soft, hard = min(soft, ceiling), min(hard, ceiling)
        resource.setrlimit(kind, (soft, hard))
    os.closerange(3, 256)
    return bars


_REFUSED: Final = (errno.EPERM, errno.EACCES)
_SIGNAL_0: Final = 0
_ATTACH: Final = 16
_NEW_USER: Final = 0x1000_0000
_HERE: Final = -100  # AT_FDCWD


class _IoVector(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


def main() -> None:
    """Enter the sandbox, then try every way to break out."""
    linux.die_with_parent()
    folder = os.fsencode(json.loads(sys.stdin.buffer.readline(65536))["folder"])
    attempts = _attempts(folder, os.getppid())
    bars = close()
    refusals = {name: _refused(attempt) for name, attempt in attempts.items()}
    open_calls = [name for name, refused in refusals.items() if not refused]
    answer = {"bars": bars, "tried": len(refusals), "open": open_calls}
    sys.stdout.buffer.write(json.dumps(answer).encode("ascii"))
    sys.stdout.buffer.flush()
    os._exit(0)


def _attempts(folder: bytes, parent: int) -> dict[str, Callable[[], int | None]]:
    """Return the calls that try to break out; they are looked up while this is still possible."""
    libc = linux.libc()
    own_file, new_file = folder + b"/mine", folder + b"/other"
    buffer = ctypes.create_string_buffer(64)
    piece = _IoVector(ctypes.addressof(buffer), 64)
    address = b"\x02\x00\x00\x50\x7f\x00\x00\x01" + bytes(8)  # 127.0.0.1, port 80
    arguments = (ctypes.c_char_p * 2)(b"true", None)
    page = libc.sysconf(30)
    new_limits = (ctypes.c_uint64 * 2)(64, 64)
    calls: dict[str, tuple[object, ...]] = {
        "open": (own_file, os.O_RDONLY),
        "openat": (_HERE, b"/etc/passwd", os.O_RDONLY),
        "creat": (new_file, 0o600),
        "opendir": (folder,),
        "truncate": (own_file, 0),
        "unlink": (own_file,),
        "rename": (own_file, new_file),
        "link": (own_file, new_file),
        "symlink": (own_file, new_file),
        "mkdir": (new_file, 0o700),
        "mkfifo": (new_file, 0o600),
        "chmod": (own_file, 0o777),
        "chown": (own_file, 1, 1),
        "setxattr": (own_file, b"user.pura", b"x", 1, 0),
        "utimes": (own_file, None),
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
        "prlimit": (0, 7, ctypes.byref(new_limits), None),
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
    return {name: partial(getattr(libc, name), *parameters) for name, parameters in calls.items()}


def _refused(attempt: Callable[[], int | None]) -> bool:
    """Return whether a call failed because it is not permitted."""
    me = os.getpid()
    ctypes.set_errno(0)
    status = attempt()
    if os.getpid() != me:
        os._exit(0)  # it forked
    return status in (-1, None) and ctypes.get_errno() in _REFUSED


if __name__ == "__main__":
    main()
