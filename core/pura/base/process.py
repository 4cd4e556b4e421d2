"""Protection of this process and its secrets, and child processes.

Other programs cannot read the memory of this process, and secrets stay in locked memory. A packaged
program starts itself as its child.

Children receive bytes and answer with bytes. A child is killed at its time limit, if its answer is
too long, and if the caller cancels. The result reports how it ended; the caller decides what that
means.
"""

from __future__ import annotations

import ctypes
import logging
import mmap
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import IO, Final, NoReturn

from pura.base import linux
from pura.base.linux import PARENT
from pura.base.progress import Checkpoint, never_cancelled

_log = logging.getLogger(__name__)

_ENDING: Final = ("SIGTERM", "SIGHUP")
NOT_SHUT_STATUS: Final = 77
"""Exit status of a child that could not enter its sandbox; it has read nothing."""


class EndedError(KeyboardInterrupt):
    """The system asked this program to end; it ends as when a person interrupts it.

    Attributes:
        status: Exit status, as shells expect it: 128 plus the number of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.status = 128 + number


class Signals:
    """Signal handlers that end a run: terminate and hang up act like an interruption.

    Attributes:
        ended: The exception that a signal raised; None before.
    """

    def __init__(self) -> None:
        self.ended: EndedError | None = None

    def catch(self) -> None:
        """Install the handlers; a signal that is ignored, as under ``nohup``, stays ignored."""
        for name in _ENDING:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._end)

    def _end(self, number: int, _: FrameType | None) -> NoReturn:
        # A second signal ends the program at once, without cleaning up.
        signal.signal(number, signal.SIG_DFL)
        self.ended = EndedError(number)
        raise self.ended


def close_to_others() -> None:
    """Protect the memory of this process from other programs of the user; disable core files.

    On Linux debuggers and readers of memory are refused; on other systems only core files are
    disabled.

    Raises:
        OSError: The system refused something that it should support.
    """
    if sys.platform == "linux":
        linux.hide()
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


SLOT: Final = 32
"""Bytes of one secret."""
_lock: Final = threading.Lock()
_free: Final[list[memoryview]] = []
_locked: Final[list[bool]] = []


class LockedBytes:
    """A secret of :data:`SLOT` bytes in locked memory, which is overwritten after use.

    Args:
        secret: The secret, which is copied.
    """

    __slots__ = ("_slot",)

    def __init__(self, secret: bytes | bytearray) -> None:
        self._slot: memoryview | None = _take()
        self._slot[:] = secret

    @property
    def view(self) -> memoryview | None:
        """The bytes; None after they were wiped."""
        return self._slot

    def wipe(self) -> None:
        """Overwrite the secret and release its slot."""
        self._wipe()

    # Bound as defaults: when the program ends, a secret may outlive the globals of this module.
    def _wipe(self, zeros: bytes = bytes(SLOT), free: list[memoryview] = _free) -> None:
        slot, self._slot = self._slot, None
        if slot is not None:
            slot[:] = zeros
            free.append(slot)  # in one step, also where the collector runs amid _take()

    def __del__(self) -> None:
        if getattr(self, "_slot", None) is not None:
            self._wipe()


def stays_out_of_swap() -> bool:
    """Return whether the system locks the memory of secrets for this program."""
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
    page_view = memoryview(page)
    _free.extend(page_view[start : start + SLOT] for start in range(0, mmap.PAGESIZE, SLOT))


def _lock_page(page: mmap.mmap) -> bool:
    if sys.platform == "win32":
        return False
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return bool(linux.libc().mlock(ctypes.c_void_p(address), ctypes.c_size_t(mmap.PAGESIZE)) == 0)


CHILDREN: Final = ("pura.", "pura_audit.")
"""Prefixes of the modules that a packaged program may run as a child."""


def run_as_child(arguments: Sequence[str]) -> None:
    """Run the module that the arguments name, and exit; return if they name none.

    Args:
        arguments: As in :data:`sys.argv`: the program, ``-m``, a module, its arguments.
    """
    # Children of multiprocessing have other arguments, which freeze_support handles.
    multiprocessing.freeze_support()
    rest = list(arguments[1:])
    # Flags of the interpreter are skipped: a packaged program is always isolated.
    while rest and rest[0] in ("-I", "-E", "-s", "-P", "-B"):
        rest.pop(0)
    if len(rest) < 2 or rest[0] != "-m":
        return
    module = rest[1]
    if not module.startswith(CHILDREN):
        sys.exit(f"“{module}” is no module of this program.")
    sys.argv[:] = [arguments[0], *rest[2:]]
    runpy.run_module(module, run_name="__main__")
    sys.exit(0)


_BEAT_S: Final = 0.05  # seconds between two heartbeats
_CHUNK: Final = 1 << 16  # bytes that are read or written at a time
# Variables by which Python and the loader find their files; no secrets of the user's shell.
_PASSED: Final = (
    "PATH",
    "PYTHONPATH",
    "PYTHONHOME",
    "LD_LIBRARY_PATH",
    "SYSTEMROOT",
    "SystemRoot",
    "TEMP",
    "TMP",
    "HOME",
    "LANG",
    "VIRTUAL_ENV",
)


@dataclass(frozen=True, kw_only=True)
class ChildResult:
    """Result of a child process.

    Attributes:
        status: Exit status, negative for a signal.
        answer: Its output; longer than allowed if it was stopped for that.
        late: It was stopped at its time limit.
    """

    status: int
    answer: bytes
    late: bool


unconfined: Final[list[Callable[[], None]]] = []
"""Functions that are called before a child reads an untrusted file without being confined. User
interfaces add a function that shows a warning."""


def confines_children() -> bool:
    """Return whether this system confines children that read untrusted files."""
    return sys.platform == "linux"


NO_WINDOW: Final[int] = getattr(subprocess, "CREATE_NO_WINDOW", 0)
"""Flag for children on Windows: they open no window and do not receive Ctrl-C."""


def start_child(module: str, *, own: bool = False) -> subprocess.Popen[bytes]:
    """Start a module of this program as a child, without the user's environment.

    Args:
        module: Name of the module.
        own: The child reads no untrusted input.

    Raises:
        OSError: The system cannot start another process.
    """
    if not (own or confines_children()):
        for warn in tuple(unconfined):
            warn()
    environment = {name: os.environ[name] for name in _PASSED if name in os.environ}
    environment |= {"PYTHONIOENCODING": "utf-8", "OMP_NUM_THREADS": "1"}
    # In a sandbox the files of GPU drivers are missing, and torch fails if it sees a GPU.
    environment |= {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""}
    if sys.platform == "linux":
        environment[PARENT] = str(os.getpid())
    _log.debug("a child starts: %s", module)
    return subprocess.Popen(  # noqa: S603  (a module of this program)
        [sys.executable, "-P", "-B", "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        close_fds=True,
        bufsize=0,
        start_new_session=True,
        creationflags=NO_WINDOW,
    )


def converse(
    child: subprocess.Popen[bytes],
    request: bytes,
    *,
    seconds: float,
    most: int,
    heartbeat: Checkpoint = never_cancelled,
) -> ChildResult:
    """Send a request to a child, read its answer, and wait for its end.

    Args:
        child: A child from :func:`start_child`.
        request: All bytes for its standard input.
        seconds: Time limit.
        most: Maximum number of bytes of the answer.
        heartbeat: Called twenty times a second; an exception that it raises kills the child first.
    """
    assert child.stdin is not None  # both were asked for
    assert child.stdout is not None
    answer = bytearray()
    threads = [
        threading.Thread(target=_feed, args=(child.stdin, request), daemon=True),
        threading.Thread(target=_collect, args=(child, child.stdout, answer, most), daemon=True),
    ]
    for thread in threads:
        thread.start()
    try:
        late = _wait(child, seconds, heartbeat)
    finally:
        if child.poll() is None:
            child.kill()
        child.wait()
        for thread in threads:
            thread.join()
        child.stdin.close()
        child.stdout.close()
    _log.debug(
        "a child ended with status %d, %d bytes; late: %s", child.returncode, len(answer), late
    )
    return ChildResult(status=child.returncode, answer=bytes(answer), late=late)


def _feed(pipe: IO[bytes], request: bytes) -> None:
    view = memoryview(request)
    try:
        while view:
            view = view[pipe.write(view[:_CHUNK]) :]
        pipe.close()
    except (OSError, ValueError):
        return  # the child has ended; its exit status tells the reason


def _collect(
    child: subprocess.Popen[bytes], pipe: IO[bytes], answer: bytearray, max_bytes: int
) -> None:
    while piece := pipe.read(_CHUNK):
        answer += piece
        if len(answer) > max_bytes:
            child.kill()
            return


def _wait(child: subprocess.Popen[bytes], seconds: float, heartbeat: Checkpoint) -> bool:
    """Wait for the end of a child; return whether it exceeded its time limit."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            child.wait(timeout=_BEAT_S)
        except subprocess.TimeoutExpired:
            heartbeat()
        else:
            return False
    return True
