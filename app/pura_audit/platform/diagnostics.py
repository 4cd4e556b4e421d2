"""The log file, what keeps the window from answering, and garbage collected between two events."""

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
_kept: list[IO[str]] = []
_folder: list[Path] = []


def log_folder() -> Path:
    """Return the folder of the log file."""
    return _folder[0] if _folder else Path()


def start(folder: Path, level: str) -> str:
    """Begin to log into a folder.

    Args:
        folder: Is made when it is missing.
        level: One of ``LEVELS``.

    Returns:
        What the last run left when it crashed; empty when it ended well.
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
    """Take Qt's remarks into the log; a terminal is for what the program has to say."""
    qInstallMessageHandler(_from_qt)


def set_level(level: str) -> None:
    """Log more or less from now on."""
    logging.getLogger().setLevel(level.upper())


def _watch_crashes(path: Path) -> str:
    """Let a fatal crash leave its stack; return what the last one left."""
    left = ""
    try:
        if path.exists():
            left = path.read_text(encoding="utf-8", errors="replace")
            if left:
                path.replace(path.with_suffix(".last.log"))
        file = path.open("w", encoding="utf-8")
    except OSError:
        return left
    _kept[:] = [file]  # faulthandler writes to it as long as the program lives
    faulthandler.enable(file)
    return left


def stop() -> None:
    """End logging in good order."""
    faulthandler.disable()
    qInstallMessageHandler(None)
    while _kept:
        _kept.pop().close()
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
KEPT: Final = 1000  # stalls in memory; the log has them all
_DEPTH: Final = 30  # frames of a stack
_THREAD: Final = re.compile(r"(?:Current thread|Thread) 0x([0-9a-f]+)")
_PLACE: Final = re.compile(r'  File "(.*)", line (\d+) in (.*)')
_log = logging.getLogger(__name__)


def wanted() -> bool:
    """Whether the environment asks for the meter."""
    return os.environ.get("PURA_STALLS", "") not in ("", "0")


@dataclass(frozen=True, kw_only=True)
class Stall:
    """The window did not answer for a while.

    Attributes:
        step: What was being done, as :meth:`StallMeter.mark` named it.
        seconds: How long.
        stack: Places in the code, outermost first; names and line numbers only, never values.
            Empty when the window's thread was free again before anybody could look.
    """

    step: str
    seconds: float
    stack: tuple[str, ...]


class StallMeter(QObject):
    """Watches the thread that it is made in.

    Args:
        threshold: Seconds from which a gap counts as a stall.
        parent: Its owner.
        clock: For tests.
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
        self.stalls: deque[Stall] = deque(maxlen=KEPT)
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
        """Whether it watches."""
        return self._thread is not None

    def start(self) -> None:
        """Begin to watch."""
        if self._thread is not None:
            return
        self._last = self._clock()
        self._end.clear()
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - the thread closes it
        self._timer.start()
        self._thread = threading.Thread(target=self._watch, name="stall-meter", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the watch; its thread is gone afterwards."""
        self._timer.stop()
        self._end.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def mark(self, step: str) -> None:
        """Name what comes now; what has passed since the last beat belongs to the step before."""
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
        """Note that the window's thread answers."""
        now, worked = self._clock(), time.thread_time()
        with self._lock:
            gap, stack = now - self._last, self._stack
            self._last, self._stack = now, ()
            self.looked.clear()
        own, self._worked = worked - self._worked, worked
        self._longest[self._step] = max(gap, self._longest.get(self._step, 0.0))
        self._busiest[self._step] = max(own, self._busiest.get(self._step, 0.0))
        if gap <= self._threshold:
            return
        stall = Stall(step=self._step, seconds=gap, stack=stack)
        self.stalls.append(stall)
        where = "\n".join(stack) or "(over before its place was found)"
        _log.warning("the window stood still for %d ms:\n%s", round(1000 * gap), where)

    def look(self) -> None:
        """See where the window's thread stands, once for each beat that is overdue."""
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
    """Return where a running thread stands, as the interpreter itself writes it down.

    It writes while it holds Python's lock, and nobody gets hold of a frame: a painter that outlives
    its paint event takes the program down with it.
    """
    file.seek(0)
    file.truncate()
    faulthandler.dump_traceback(file)
    file.seek(0)
    for part in file.read().decode("utf-8", "replace").split("\n\n"):
        heading, *lines = part.splitlines()
        named = _THREAD.match(heading)
        if named is not None and int(named[1], 16) == thread:
            places = [match.expand(r"\1:\2 \3") for line in lines if (match := _PLACE.match(line))]
            return tuple(reversed(places[:_DEPTH]))
    return ()


BEAT_MS: Final = 1000
PATIENCE: Final = 2.0  # seconds; a window that closes waits for the threads and answers nobody


class Collector(QObject):
    """Stands in for Python's own search from when it is made; one for each program.

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
        """Collect everything in the window's thread; any other waits for it, a moment at most."""
        if threading.get_ident() == self._home:
            gc.collect()
            return
        done = threading.Event()
        self._asked.emit(done)
        done.wait(PATIENCE)

    def _answer(self, done: threading.Event) -> None:
        gc.collect()
        done.set()

    def _beat(self) -> None:
        """Do what Python would have done, by its own limits: the oldest generation that is due."""
        limits = gc.get_threshold()
        due = [count > limit for count, limit in zip(gc.get_count(), limits, strict=True)]
        if limits[0] and True in due:  # at 0 it rests
            gc.collect(max(generation for generation, is_due in enumerate(due) if is_due))


def the_collector() -> Collector:
    """Return the one of the application; the first call makes it."""
    app = QCoreApplication.instance()
    assert app is not None  # it is asked for where there is a window
    found = app.findChild(Collector)
    return Collector(app) if found is None else found
