"""Protect this process: other programs cannot look into it, secrets stay in locked memory.

A packaged program starts itself as its child here.

Children get bytes and answer with bytes. One is killed when its time is up, when it answers too
much, and when whoever waits wants to stop; how it ended is told, and judged by the caller.
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
        status: Its exit status, as shells expect it: 128 and the number of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.status = 128 + number


class Signals:
    """What ends a run beside its own end: terminate and hang up act like an interruption.

    Attributes:
        ended: What asked for the end; None while nothing did.
    """

    def __init__(self) -> None:
        self.ended: EndedError | None = None

    def catch(self) -> None:
        """Take the signals over; one that is ignored, as under ``nohup``, stays ignored."""
        for name in _ENDING:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._end)

    def _end(self, number: int, _: FrameType | None) -> NoReturn:
        # Whoever asks twice does not want to wait until all is tidy.
        signal.signal(number, signal.SIG_DFL)
        self.ended = EndedError(number)
        raise self.ended


def close_to_others() -> None:
    """Let no other program of this user look into this one's memory, and no core file be written.

    Linux refuses debuggers and readers of memory; elsewhere only core files are switched off.

    Raises:
        OSError: The system refused what it can do.
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
    return bool(linux.libc().mlock(ctypes.c_void_p(address), ctypes.c_size_t(mmap.PAGESIZE)) == 0)


CHILDREN: Final = ("pura.", "pura_audit.")
"""Prefixes of the modules that a packaged program may be told to run."""


def run_as_child(arguments: Sequence[str]) -> None:
    """Run the module that the arguments name, and leave; return when they name none.

    Args:
        arguments: As in :data:`sys.argv`: the program, ``-m``, a module, its own arguments.
    """
    # Children that multiprocessing starts carry arguments of its own.
    multiprocessing.freeze_support()
    rest = list(arguments[1:])
    # Flags of the interpreter mean nothing here: a packaged program is always isolated.
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


_BEAT_S: Final = 0.05
_CHUNK: Final = 1 << 16
# Enough for Python and the loader to find their own files; no secrets of the user's shell.
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
    """How a child ended.

    Attributes:
        status: Its exit status, negative for a signal.
        answer: What it wrote; one byte more than allowed, or more, when it was stopped for that.
        late: It was stopped because its time was up.
    """

    status: int
    answer: bytes
    late: bool


unconfined: Final[list[Callable[[], None]]] = []
"""Called before a child reads a stranger's file and the system does not confine it; who shows words
to a person puts in what says so."""


def confines_children() -> bool:
    """Tell whether a child that reads a stranger's file is confined, or else reads nothing."""
    return sys.platform == "linux"


NO_WINDOW: Final[int] = getattr(subprocess, "CREATE_NO_WINDOW", 0)
"""How a child starts on Windows: it opens no window, and Ctrl-C is not for it."""


def start_child(module: str, *, own: bool = False) -> subprocess.Popen[bytes]:
    """Start a module of ours as a child, without the user's environment.

    Args:
        module: Its name.
        own: It reads nothing that a stranger made.

    Raises:
        OSError: The system starts no more programs.
    """
    if not (own or confines_children()):
        for say in tuple(unconfined):
            say()
    environment = {name: os.environ[name] for name in _PASSED if name in os.environ}
    environment |= {"PYTHONIOENCODING": "utf-8", "OMP_NUM_THREADS": "1"}
    # A sandbox keeps the driver's files away, and a torch that sees a device without them fails.
    environment |= {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""}
    if sys.platform == "linux":
        environment[PARENT] = str(os.getpid())
    _log.debug("a child starts: %s", module)
    return subprocess.Popen(  # noqa: S603  (a module of ours, named by our own code)
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
    data: bytes,
    *,
    seconds: float,
    most: int,
    heartbeat: Checkpoint = never_cancelled,
) -> ChildResult:
    """Feed a child, take its answer, and wait for its end.

    Args:
        child: From :func:`start_child`.
        data: All that it gets.
        seconds: How long it may take.
        most: Bytes that it may answer.
        heartbeat: Called twenty times a second; whatever it raises kills the child first.
    """
    assert child.stdin is not None  # both were asked for
    assert child.stdout is not None
    answer = bytearray()
    threads = [
        threading.Thread(target=_feed, args=(child.stdin, data), daemon=True),
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


def _feed(pipe: IO[bytes], data: bytes) -> None:
    view = memoryview(data)
    try:
        while view:
            view = view[pipe.write(view[:_CHUNK]) :]
        pipe.close()
    except (OSError, ValueError):
        return  # the child is gone; its end of the story is told by its exit


def _collect(child: subprocess.Popen[bytes], pipe: IO[bytes], answer: bytearray, most: int) -> None:
    while piece := pipe.read(_CHUNK):
        answer += piece
        if len(answer) > most:
            child.kill()
            return


def _wait(child: subprocess.Popen[bytes], seconds: float, heartbeat: Checkpoint) -> bool:
    """Wait for the end; True when the time was up first."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            child.wait(timeout=_BEAT_S)
        except subprocess.TimeoutExpired:
            heartbeat()
        else:
            return False
    return True
