"""Collects garbage in the window's thread, and only between two events.

Python looks for objects that refer to each other whenever enough have been made, in whichever
thread made the last one, and wherever that thread stands. A closed window is such a circle. Freed
by the thread of the model it is half gone while the window's thread lists all windows; freed
amid a call of Qt, Qt goes on with what is not there any more. Both end the program. So Python's
own search is off, and a timer of the event loop does it.
"""

from __future__ import annotations

import gc
import threading
from typing import Final

from PySide6.QtCore import QCoreApplication, QObject, QTimer, Signal

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
        due = [
            count > limit for count, limit in zip(gc.get_count(), gc.get_threshold(), strict=True)
        ]
        if True in due:
            gc.collect(max(generation for generation, is_due in enumerate(due) if is_due))


def the_collector() -> Collector:
    """Return the one of the application; the first call makes it."""
    app = QCoreApplication.instance()
    assert app is not None  # it is asked for where there is a window
    found = app.findChild(Collector)
    return Collector(app) if found is None else found
