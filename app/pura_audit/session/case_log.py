"""The case log behind the queue of the cases: opened for each piece of work, and let go again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from pura.base.paths import Paths
from pura.caselog import CaseLog, workstation
from pura_audit.jobs.context import JobContext
from pura_audit.jobs.outcome import Outcome
from pura_audit.jobs.queue import Job, JobQueue

T = TypeVar("T")
Act = Callable[[CaseLog, JobContext], T]


class Cases(QObject):
    """Works on the case log, never in the window's thread.

    Args:
        queue: Where the work is done.
        paths: Where the log is.

    Signals:
        changed: Something was written.
    """

    changed = Signal()

    def __init__(self, queue: JobQueue, paths: Paths, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._queue, self._paths = queue, paths

    @property
    def path(self) -> Path:
        """Where the log is."""
        return self._paths.caselog

    @property
    def there(self) -> bool:
        """Whether there is a log at all."""
        return self.path.exists()

    def read(self, act: Act[T], then: Callable[[Outcome[T]], None], owner: QObject) -> Job:
        """Queue something that leaves the log as it is; see :meth:`JobQueue.do`."""
        return self._queue.do(lambda context: self._opened(act, context), then, owner)

    def write(self, act: Act[T], then: Callable[[Outcome[T]], None], owner: QObject) -> Job:
        """Queue something that changes the log."""

        def work(context: JobContext) -> T:
            result = self._opened(act, context)
            self.changed.emit()  # from this thread: whoever listens lives in the window's
            return result

        return self._queue.do(work, then, owner)

    def _opened(self, act: Act[T], context: JobContext) -> T:
        station = workstation(self._paths.workstation)
        with CaseLog(self._paths.caselog, create=True, station=station) as log:
            return act(log, context)
