"""The stall meter: finds what keeps the window from answering, and says where it stood.

A timer beats in the window's thread. Each beat that comes late is a stall, as long as the gap
between two beats. A thread of its own listens to the beats; when one is overdue it looks where the
window's thread stands just then, while the culprit is still at work. On with ``--debug-stalls`` or
``PURA_STALLS=1``, and in ``bench/window.py``.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Final

from PySide6.QtCore import QObject, Qt, QTimer

THRESHOLD: Final = 0.1  # seconds without an answer that a person notices
BEAT: Final = 0.02  # seconds between two beats
KEPT: Final = 1000  # stalls in memory; the log has them all
_DEPTH: Final = 30  # frames of a stack
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
        self._last = clock()
        self._stack: tuple[str, ...] = ()
        self._step = ""
        self._longest: dict[str, float] = {}
        self.stalls: deque[Stall] = deque(maxlen=KEPT)
        self.looked = threading.Event()
        self._end = threading.Event()
        self._thread: threading.Thread | None = None
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(round(1000 * BEAT))
        self._timer.timeout.connect(self.beat)

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
        self.beat()
        self._step = step
        self._longest.setdefault(step, 0.0)

    def longest(self, step: str) -> float:
        """Return the longest gap between two beats in a step, in seconds."""
        return self._longest.get(step, 0.0)

    def beat(self) -> None:
        """Note that the window's thread answers."""
        now = self._clock()
        with self._lock:
            gap, stack = now - self._last, self._stack
            self._last, self._stack = now, ()
            self.looked.clear()
        self._longest[self._step] = max(gap, self._longest.get(self._step, 0.0))
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
            frame = sys._current_frames().get(self._watched)  # noqa: SLF001  there is no other way
            self._stack = _places(frame)
        self.looked.set()

    def _watch(self) -> None:
        while not self._end.wait(BEAT):
            self.look()


def _places(frame: FrameType | None) -> tuple[str, ...]:
    found = traceback.extract_stack(frame, _DEPTH) if frame is not None else []
    return tuple(f"{p.filename}:{p.lineno} {p.name}" for p in found)
