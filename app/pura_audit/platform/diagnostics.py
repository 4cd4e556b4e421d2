"""The log file, the meter of stalls, and garbage collection between two events."""

from __future__ import annotations

import faulthandler
import gc
import logging
import os
import re
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType
from typing import IO, Final

from PySide6.QtCore import (
    QCoreApplication,
    QMessageLogContext,
    QObject,
    Qt,
    QTimer,
    QtMsgType,
    Signal,
    qInstallMessageHandler,
)

from pura.base.files import make_private
from pura.base.logs import FORMAT, log_versions

LEVELS = ("debug", "info", "warning", "error")
LOG = "pura-audit.log"
CRASH = "crash.log"
_qt = logging.getLogger("qt")
_qt.addHandler(logging.NullHandler())  # where no log is kept, Qt's remarks go nowhere
_crash_files: list[IO[str]] = []
_folder: list[Path] = []


def log_folder() -> Path:
    """Return the folder of the log file."""
    return _folder[0] if _folder else Path()


def start(folder: Path, level: str) -> str:
    """Begin to log into a folder.

    Args:
        folder: Folder of the log, created if it is missing.
        level: One of ``LEVELS``.

    Returns:
        The stack of a crash of the last run; empty if it ended normally.
    """
    _folder[:] = [folder]
    root = logging.getLogger()
    root.setLevel(level.upper())
    try:
        make_private(folder)
        handler = RotatingFileHandler(
            folder / LOG, maxBytes=1 << 20, backupCount=3, encoding="utf-8"
        )
    except OSError:
        return ""
    handler.setFormatter(logging.Formatter(FORMAT))
    root.addHandler(handler)
    log_versions()
    sys.excepthook = _uncaught
    threading.excepthook = _uncaught_in_thread
    log_qt_messages()
    return _watch_crashes(folder / CRASH)


def log_qt_messages() -> None:
    """Send Qt's messages to the log instead of the terminal."""
    qInstallMessageHandler(_from_qt)


def set_level(level: str) -> None:
    """Change the level of the log."""
    logging.getLogger().setLevel(level.upper())


def _watch_crashes(path: Path) -> str:
    """Write the stack of a fatal crash to a file; return that of the last run."""
    left = ""
    try:
        if path.exists():
            left = path.read_text(encoding="utf-8", errors="replace")
            if left:
                path.replace(path.with_suffix(".last.log"))
        file = path.open("w", encoding="utf-8")
    except OSError:
        return left
    _crash_files[:] = [file]  # faulthandler writes to it as long as the program lives
    faulthandler.enable(file)
    return left


def stop() -> None:
    """Close the log."""
    faulthandler.disable()
    qInstallMessageHandler(None)
    while _crash_files:
        _crash_files.pop().close()
    root = logging.getLogger()
    for handler in list(root.handlers):
        if isinstance(handler, RotatingFileHandler):
            root.removeHandler(handler)
            handler.close()


def _uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    # Only where and what kind: an exception's words may quote the text under audit.
    logging.getLogger("pura_audit").critical(
        "uncaught %s", kind.__name__, exc_info=(kind, kind(), trace) if trace else None
    )
    sys.__excepthook__(kind, error, trace)


def _uncaught_in_thread(args: threading.ExceptHookArgs) -> None:
    name = args.exc_type.__name__ if args.exc_type else "exception"
    logging.getLogger("pura_audit").critical("uncaught %s in a thread", name)


def _from_qt(kind: QtMsgType, _context: QMessageLogContext, message: str) -> None:
    levels = {
        QtMsgType.QtDebugMsg: logging.DEBUG,
        QtMsgType.QtInfoMsg: logging.INFO,
        QtMsgType.QtWarningMsg: logging.WARNING,
    }
    _qt.log(levels.get(kind, logging.ERROR), "%s", message)


THRESHOLD: Final = 0.1  # seconds without an answer that a person notices
BEAT: Final = 0.02  # seconds between two beats
MAX_STALLS: Final = 1000  # stalls in memory; the log has them all
_DEPTH: Final = 30  # frames of a stack
_THREAD: Final = re.compile(r"(?:Current thread|Thread) 0x([0-9a-f]+)")
_FRAME: Final = re.compile(r'  File "(.*)", line (\d+) in (.*)')
_log = logging.getLogger(__name__)


def wanted() -> bool:
    """Return whether the environment enables the meter."""
    return os.environ.get("PURA_STALLS", "") not in ("", "0")


@dataclass(frozen=True, kw_only=True)
class Stall:
    """A period in which the window did not react.

    Attributes:
        step: The step that ran, as named by :meth:`StallMeter.mark`.
        seconds: Duration in seconds.
        stack: Places in the code, outermost first; names and line numbers only, never values.
            Empty when the window's thread was free again before anybody could look.
    """

    step: str
    seconds: float
    stack: tuple[str, ...]


class StallMeter(QObject):
    """Measures stalls of the thread that creates it.

    Args:
        threshold: Seconds from which a gap counts as a stall.
        parent: Its owner.
        clock: Clock in seconds; tests replace it.
    """

    def __init__(
        self,
        *,
        threshold: float = THRESHOLD,
        parent: QObject | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(parent)
        self._threshold, self._clock = threshold, clock
        self._watched = threading.get_ident()
        self._lock = threading.Lock()
        self._last, self._worked = clock(), time.thread_time()
        self._stack: tuple[str, ...] = ()
        self._step = ""
        self._longest: dict[str, float] = {}
        self._busiest: dict[str, float] = {}
        self.stalls: deque[Stall] = deque(maxlen=MAX_STALLS)
        self.looked = threading.Event()
        self._end = threading.Event()
        self._thread: threading.Thread | None = None
        self._file: IO[bytes]
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(round(1000 * BEAT))
        self._timer.timeout.connect(self.heartbeat)

    @property
    def running(self) -> bool:
        """Whether the meter runs."""
        return self._thread is not None

    def start(self) -> None:
        """Start the meter."""
        if self._thread is not None:
            return
        self._last = self._clock()
        self._end.clear()
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - the thread closes it
        self._timer.start()
        self._thread = threading.Thread(target=self._watch, name="stall-meter", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the meter and its thread."""
        self._timer.stop()
        self._end.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def mark(self, step: str) -> None:
        """Name the next step; the time since the last heartbeat belongs to the previous one."""
        self.heartbeat()
        self._step = step
        self._longest.setdefault(step, 0.0)

    def longest(self, step: str) -> float:
        """Return the longest gap between two beats in a step, in seconds."""
        return self._longest.get(step, 0.0)

    def busiest(self, step: str) -> float:
        """Return the most that the window's thread itself worked between two beats, in seconds.

        On a machine that does other things too, this is the part of a stall that is its own.
        """
        return self._busiest.get(step, 0.0)

    def heartbeat(self) -> None:
        """Record that the window's thread reacts."""
        now, worked = self._clock(), time.thread_time()
        with self._lock:
            gap, stack = now - self._last, self._stack
            self._last, self._stack = now, ()
            self.looked.clear()
        busy, self._worked = worked - self._worked, worked
        self._longest[self._step] = max(gap, self._longest.get(self._step, 0.0))
        self._busiest[self._step] = max(busy, self._busiest.get(self._step, 0.0))
        if gap <= self._threshold:
            return
        stall = Stall(step=self._step, seconds=gap, stack=stack)
        self.stalls.append(stall)
        location = "\n".join(stack) or "(over before its place was found)"
        _log.warning("the window stood still for %d ms:\n%s", round(1000 * gap), location)

    def look(self) -> None:
        """Record the stack of the window's thread, once for each overdue heartbeat."""
        with self._lock:
            if self._stack or self._clock() - self._last <= self._threshold:
                return
            self._stack = _where(self._watched, self._file)
        self.looked.set()

    def _watch(self) -> None:
        with self._file:
            while not self._end.wait(BEAT):
                self.look()


def _where(thread: int, file: IO[bytes]) -> tuple[str, ...]:
    """Return the stack of a running thread, as the interpreter's faulthandler writes it.

    It writes while it holds Python's lock, and nobody gets hold of a frame: a painter that outlives
    its paint event takes the program down with it.
    """
    file.seek(0)
    file.truncate()
    faulthandler.dump_traceback(file)
    file.seek(0)
    for part in file.read().decode("utf-8", "replace").split("\n\n"):
        heading, *lines = part.splitlines()
        thread_match = _THREAD.match(heading)
        if thread_match is not None and int(thread_match[1], 16) == thread:
            frames = [match.expand(r"\1:\2 \3") for line in lines if (match := _FRAME.match(line))]
            return tuple(reversed(frames[:_DEPTH]))
    return ()


BEAT_MS: Final = 1000  # between two garbage collections in the window's thread
PATIENCE: Final = 2.0  # seconds; a window that closes waits for the threads and answers nobody


class Collector(QObject):
    """Replaces Python's automatic garbage collection; one for each program.

    Args:
        parent: Its owner: the application.
    """

    _asked = Signal(object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        gc.disable()
        self._home = threading.get_ident()
        self._asked.connect(self._answer)
        timer = QTimer(self, interval=BEAT_MS)
        timer.timeout.connect(self._beat)
        timer.start()

    def collect(self) -> None:
        """Collect all garbage in the window's thread; other threads wait a moment for it."""
        if threading.get_ident() == self._home:
            gc.collect()
            return
        collected = threading.Event()
        self._asked.emit(collected)
        collected.wait(PATIENCE)

    def _answer(self, collected: threading.Event) -> None:
        gc.collect()
        collected.set()

    def _beat(self) -> None:
        """Collect the oldest generation that is due by Python's limits."""
        limits = gc.get_threshold()
        due = [count > limit for count, limit in zip(gc.get_count(), limits, strict=True)]
        if limits[0] and True in due:  # at 0 it rests
            gc.collect(max(generation for generation, is_due in enumerate(due) if is_due))


def the_collector() -> Collector:
    """Return the collector of the application; the first call creates it."""
    app = QCoreApplication.instance()
    assert app is not None  # it is asked for where there is a window
    collector = app.findChild(Collector)
    return Collector(app) if collector is None else collector
