"""The case log behind the queue of the cases: opened for each piece of work, then let go of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from pura.caselog import CaseLog
from pura.usecases.cases import open_log
from pura.usecases.environment import Environment
from pura_audit.jobs.context import JobContext
from pura_audit.jobs.outcome import Outcome
from pura_audit.jobs.queue import Job, JobQueue, Work
from pura_audit.session.drafts import Drafts

T = TypeVar("T")
Act = Callable[[CaseLog, JobContext], T]


class Cases(QObject):
    """Works on the case log, never in the window's thread.

    Args:
        queue: Where the work is done.
        environment: Whose log it is; of that, only its folders are used here.
        drafts: What is filled in and not yet written.

    Signals:
        changed: Something was written.
    """

    changed = Signal()

    def __init__(
        self,
        queue: JobQueue,
        environment: Environment,
        drafts: Drafts,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._queue, self.environment, self.drafts = queue, environment, drafts

    @property
    def path(self) -> Path:
        """Where the log is."""
        return self.environment.paths.caselog

    @property
    def there(self) -> bool:
        """Whether there is a log at all."""
        return self.path.exists()

    def read(self, act: Act[T], then: Callable[[Outcome[T]], None], owner: QObject) -> Job:
        """Queue something that leaves the log as it is; see :meth:`JobQueue.do`."""
        return self.ask(lambda context: self._opened(act, context), then, owner)

    def write(self, act: Act[T], then: Callable[[Outcome[T]], None], owner: QObject) -> Job:
        """Queue something that changes the log."""
        return self.change(lambda context: self._opened(act, context), then, owner)

    def ask(self, work: Work[T], then: Callable[[Outcome[T]], None], owner: QObject) -> Job:
        """Queue a use case that opens the log by itself, and leaves it as it is."""
        return self._queue.do(work, then, owner)

    def change(self, work: Work[T], then: Callable[[Outcome[T]], None], owner: QObject) -> Job:
        """Queue a use case that opens the log by itself, and changes it."""

        def told(context: JobContext) -> T:
            result = work(context)
            self.changed.emit()  # from this thread: whoever listens lives in the window's
            return result

        return self._queue.do(told, then, owner)

    def _opened(self, act: Act[T], context: JobContext) -> T:
        with open_log(self.environment, create=True) as log:
            return act(log, context)
