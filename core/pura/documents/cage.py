"""What the child takes from itself before it sees a stranger's bytes.

The kernel's limits stand first: they also bind the C code of parsers. With all descriptors taken
the process can neither open a file nor make a socket. Python's audit hook says no to the same
things, to starting programs and to loading libraries, also where the kernel cannot be asked.
"""

from __future__ import annotations

import os
import sys
from typing import Any, Final

from pura.documents import limits

_FORBIDDEN: Final = (
    "open",
    "socket.",
    "subprocess.",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.spawn",
    "os.startfile",
    "os.system",
    "os.listdir",
    "os.scandir",
    "os.remove",
    "os.rename",
    "os.link",
    "os.symlink",
    "os.mkdir",
    "os.rmdir",
    "os.chmod",
    "os.kill",
    "os.putenv",
    "shutil.",
    "tempfile.",
    "ctypes.dlopen",
    "import",
    "urllib.Request",
    "http.client.",
    "ftplib.",
    "smtplib.",
    "winreg.",
    "webbrowser.",
    "sqlite3.connect",
)


class ForbiddenError(PermissionError):
    """A parser tried to reach outside."""


def close() -> None:
    """Shut the cage around this process, for good."""
    _kernel()
    sys.addaudithook(_hook)


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "import":
        # Asked before the search; what is built in needs no file.
        if arguments and arguments[0] in sys.builtin_module_names:
            return
        raise ForbiddenError(event)
    if event.startswith(_FORBIDDEN):
        raise ForbiddenError(event)


def _kernel() -> None:
    try:
        import resource
    except ImportError:
        return  # Windows: time and output are limited by the parent, memory is not
    cpu = limits.CHILD_CPU_SECONDS
    wanted = [
        (resource.RLIMIT_CPU, cpu, cpu + 1),
        (resource.RLIMIT_NOFILE, limits.CHILD_OPEN_FILES, limits.CHILD_OPEN_FILES),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_CORE, 0, 0),  # a core file would hold the text
    ]
    if sys.platform == "linux":
        # macOS maps far more than it uses, and does not keep this limit.
        memory = limits.CHILD_MEMORY_BYTES
        wanted.append((resource.RLIMIT_AS, memory, memory))
    for kind, soft, hard in wanted:
        _, ceiling = resource.getrlimit(kind)
        if ceiling != resource.RLIM_INFINITY:
            soft, hard = min(soft, ceiling), min(hard, ceiling)
        resource.setrlimit(kind, (soft, hard))
    os.closerange(3, 256)
