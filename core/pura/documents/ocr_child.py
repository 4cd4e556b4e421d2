"""The child process that becomes Tesseract: ``python -m pura.documents.ocr_child``.

Standard input: one line of JSON (``program``, ``arguments``), then a picture to the end. Standard
output: the output of the program. The sandbox for documents cannot start programs, so this child
has a different confinement, which it enters before it turns into the program: no network, read
access to the program and its libraries only, no further processes, limits on time and memory. The
picture is never written to a file, and only text is returned.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Final

from pura.base import linux
from pura.base.process import NOT_SHUT_STATUS

if sys.platform != "win32":
    import resource

CPU_SECONDS: Final = 120
"""Processor time for one page; a dense one takes five seconds on a slow processor."""
_MEMORY_BYTES: Final = 2 << 30
"""Address space: a page of 500 dpi and the networks of three languages take a third of it."""
_OPEN_FILES: Final = 32  # for the libraries and the languages
_MAX_HEAD: Final = 1 << 16  # bytes of the first line
_SYSTEM: Final = ("/usr", "/lib", "/lib64", "/lib32", "/etc/ld.so.cache", "/nix/store")
"""Folders of programs, their libraries and the languages of Tesseract."""
_ENVIRONMENT: Final = {"OMP_THREAD_LIMIT": "1", "LC_ALL": "C", "PATH": "/usr/bin:/bin"}
_STARTING: Final = "execve"
"""The one reaching system call that is still needed, to become the program."""


def main() -> None:
    """Read the head, enter the confinement, and become the program."""
    linux.die_with_parent()
    request = json.loads(_head())
    program = str(request["program"])
    try:
        _confine(Path(program).resolve())
        os.execve(program, [program, *request["arguments"]], _ENVIRONMENT)  # noqa: S606
    except (OSError, ValueError):
        os._exit(NOT_SHUT_STATUS)


def _head() -> bytes:
    """Read the first line byte by byte, since the following bytes are for the program."""
    line = bytearray()
    while not line.endswith(b"\n") and len(line) < _MAX_HEAD:
        byte = os.read(0, 1)
        if not byte:
            break
        line += byte
    return bytes(line)


def _confine(program: Path) -> None:
    if sys.platform == "win32":
        return
    if sys.platform == "linux":
        linux.own_namespaces()
        linux.keep_no_new_privileges()
        linux.other_user()
        linux.die_with_parent()  # the kernel forgets this when the user changes
        paths = (Path(name) for name in (*_SYSTEM, str(program)))
        linux.restrict(readable=[path for path in paths if path.exists()])
    _limit()
    os.closerange(3, 256)
    if sys.platform == "linux":
        linux.refuse_reaching(but=(_STARTING,))


def _limit() -> None:
    limits = [
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, 0),
    ]
    if sys.platform == "linux":
        # macOS maps far more than it uses, and does not keep this limit.
        limits.append((resource.RLIMIT_AS, _MEMORY_BYTES))
    for kind, wanted_bound in limits:
        _, ceiling = resource.getrlimit(kind)
        bound = wanted_bound if ceiling == resource.RLIM_INFINITY else min(wanted_bound, ceiling)
        resource.setrlimit(kind, (bound, bound))


if __name__ == "__main__":
    main()
