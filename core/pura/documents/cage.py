"""What the child takes from itself before it sees a stranger's bytes.

The kernel stands first, since it also binds the C code of parsers: limits on time, memory and
descriptors everywhere; on Linux also seccomp, which leaves a few calls that reach nothing outside,
Landlock, another user, namespaces and a closed memory. Python's audit hook says no to the same
things where the kernel cannot be asked. What the kernel can do and does not do here is an error.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any, Final

from pura.base import linux
from pura.base.process import NOT_SHUT_STATUS
from pura.documents import values

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
# All that is left of Linux: memory, time, random bytes, the open pipes, signals to itself, the end.
_CALLS: Final = (
    "brk",
    "clock_getres",
    "clock_gettime",
    "clock_nanosleep",
    "close",
    "exit",
    "exit_group",
    "fstat",
    "futex",
    "getpid",
    "getrandom",
    "getrusage",
    "gettid",
    "gettimeofday",
    "lseek",
    "madvise",
    "mremap",
    "munmap",
    "nanosleep",
    "read",
    "readv",
    "restart_syscall",
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "sched_getaffinity",
    "sched_yield",
    "sigaltstack",
    "time",
    "times",
    "write",
    "writev",
)
_PROT_EXEC: Final = 4


class ForbiddenError(PermissionError):
    """A parser tried to reach outside."""


class NotShutError(SystemExit):
    """The cage could not be shut, so nothing may be read in it; left alone, it ends the child.

    Args:
        why: What the system said.
    """

    def __init__(self, why: str) -> None:
        super().__init__(NOT_SHUT_STATUS)
        self.why = why


@dataclass(frozen=True, kw_only=True)
class Bars:
    """What holds a child that shut its cage.

    Attributes:
        seccomp: The kernel refuses every call but a few.
        landlock: The version of Landlock that holds; 0 is none.
        namespaces: It stands in namespaces of its own.
    """

    seccomp: bool
    landlock: int
    namespaces: bool


def close() -> Bars:
    """Shut the cage around this process, for good.

    Raises:
        NotShutError: The system refused something that it should be able to do.
    """
    try:
        bars = _confine() if sys.platform == "linux" else _limit()
    except (OSError, ValueError) as error:
        raise NotShutError(str(error)) from None
    sys.addaudithook(_hook)
    return bars


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "import":
        # Asked before the search; what is built in needs no file.
        if arguments and arguments[0] in sys.builtin_module_names:
            return
        raise ForbiddenError(event)
    if event.startswith(_FORBIDDEN):
        raise ForbiddenError(event)


def _confine() -> Bars:
    namespaces = linux.own_namespaces()
    linux.keep_no_new_privileges()
    linux.other_user()
    # Another user is another standing: what was said of it before has to be said again.
    linux.die_with_parent()
    linux.hide()
    known = linux.restrict()
    _limit()
    linux.allow_only(
        _CALLS,
        {
            "mmap": linux.Unless(argument=2, bits=_PROT_EXEC),
            "mprotect": linux.Unless(argument=2, bits=_PROT_EXEC),
            "tgkill": linux.Unless(argument=0, other_than=os.getpid()),
        },
    )
    return Bars(seccomp=True, landlock=known, namespaces=namespaces)


def _limit() -> Bars:
    bars = Bars(seccomp=False, landlock=0, namespaces=False)
    if sys.platform == "win32":
        return bars  # time and output are limited by the parent, memory is not
    cpu = values.CHILD_CPU_SECONDS
    wanted = [
        (resource.RLIMIT_CPU, cpu, cpu + 1),
        (resource.RLIMIT_NOFILE, values.CHILD_OPEN_FILES, values.CHILD_OPEN_FILES),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_CORE, 0, 0),  # a core file would hold the text
        (resource.RLIMIT_NPROC, 0, 0),
    ]
    if sys.platform == "linux":
        # macOS maps far more than it uses, and does not keep this limit.
        memory = values.CHILD_MEMORY_BYTES
        wanted.append((resource.RLIMIT_AS, memory, memory))
    for kind, soft, hard in wanted:
        _, ceiling = resource.getrlimit(kind)
        if ceiling != resource.RLIM_INFINITY:
            soft, hard = min(soft, ceiling), min(hard, ceiling)
        resource.setrlimit(kind, (soft, hard))
    os.closerange(3, 256)
    return bars
