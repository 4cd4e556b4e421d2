"""Work on the case log on behalf of the window, in a thread of its own.

Another program may hold the log for seconds, and a disk may be slow, so the window never touches
it. What is to be done comes as a function of the open log; it holds frozen values of the core only.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QThread, Signal, Slot
from shiboken6 import isValid

from pura.base.errors import Cancelled, PuraError
from pura.base.paths import Paths
from pura.caselog import CaseLog, workstation
from pura_audit.jobs.context import JobContext
from pura_audit.jobs.messages import Failure

Act = Callable[[CaseLog, Callable[[], None]], object]
"""Takes the open log, and what to ask whether to stop; returns a frozen value."""


class CaseWorker(QObject):
    """Opens the log for each piece of work, and lets go of it again.

    Signals:
        done: Number of the work, and what came of it, or a Failure; None when it was stopped.
    """

    done = Signal(int, object)

    def __init__(self, paths: Paths) -> None:
        super().__init__()
        self._paths = paths

    @Slot(int, object, object)
    def work(self, number: int, act: Act, context: JobContext) -> None:
        """Do one thing."""
        from pura_audit.jobs.workers import unexpected

        result: object = None
        try:
            context.checkpoint()
            station = workstation(self._paths.workstation)
            with CaseLog(self._paths.caselog, create=True, station=station) as log:
                result = act(log, context.checkpoint)
        except Cancelled:
            result = None
        except PuraError as error:
            result = Failure.of(error)
        except Exception as error:
            result = unexpected(error)
        self.done.emit(number, result)


@dataclass(kw_only=True)
class _Work:
    context: JobContext
    then: Callable[[object], None]
    owner: QObject
    writes: bool
    dropped: bool = False


class CaseDesk(QObject):
    """The window's side of it.

    Args:
        thread: Where the work is done; it belongs to the job queue.
        paths: Where the log is.

    Signals:
        done: Number of the work, and what came of it.
        changed: Something was written.
    """

    done = Signal(int, object)
    changed = Signal()
    _work = Signal(int, object, object)

    def __init__(self, thread: QThread, paths: Paths, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._paths = paths
        self._numbers = itertools.count(1)
        self._open: dict[int, _Work] = {}
        self._worker = CaseWorker(paths)
        self._worker.moveToThread(thread)
        self._work.connect(self._worker.work)
        self._worker.done.connect(self._done)

    @property
    def path(self) -> Path:
        """Where the log is."""
        return self._paths.caselog

    @property
    def there(self) -> bool:
        """Whether there is a log at all."""
        return self.path.exists()

    @property
    def busy(self) -> bool:
        """Whether anything is being done."""
        return bool(self._open)

    def do(
        self, act: Act, then: Callable[[object], None], owner: QObject, *, writes: bool = False
    ) -> int:
        """Queue a piece of work.

        Args:
            act: What is to be done.
            then: Gets what came of it, in the window's thread.
            owner: Whoever asks; once it is gone nobody is told.
            writes: It changes the log.
        """
        number = next(self._numbers)
        context = JobContext(lambda progress: None)
        self._open[number] = _Work(context=context, then=then, owner=owner, writes=writes)
        self._work.emit(number, act, context)
        return number

    def drop(self, number: int) -> None:
        """Stop a piece of work, and tell nobody what comes of it."""
        if (work := self._open.get(number)) is not None:
            work.context.cancel()
            work.dropped = True

    def close(self) -> None:
        """Stop everything."""
        for work in self._open.values():
            work.context.cancel()

    def _done(self, number: int, result: object) -> None:
        work = self._open.pop(number)
        if not work.dropped and isValid(work.owner):
            work.then(result)
        if work.writes and not isinstance(result, Failure):
            self.changed.emit()
        self.done.emit(number, result)
