"""The queue: the one way of working off the window's thread.

Whoever wants something done hands over a function, what to call with its outcome, and who asks.
Jobs wait here, in the window's thread, and go to the queue's own thread one at a time. A job that
fails never stops the others. Cancelling wakes a waiting job up at once and a running one at its
next checkpoint; closing cancels, quits and waits.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic, TypeVar

from PySide6.QtCore import QObject, QThread, Signal, Slot
from shiboken6 import isValid

from pura.base.errors import Cancelled, PuraError
from pura_audit.jobs.context import (
    Done,
    Failure,
    JobContext,
    Outcome,
    Progress,
    Stopped,
    unexpected,
)

_log = logging.getLogger(__name__)

T = TypeVar("T")
Work = Callable[[JobContext], T]


def with_progress(act: Callable[..., T]) -> Work[T]:
    """Return the work of a use case that reports its progress and can be stopped."""
    return lambda context: act(progress=context.progress, checkpoint=context.checkpoint)


class Job(ABC):
    """A piece of work that was asked for, as whoever asked for it sees it."""

    def __init__(self, queue: JobQueue, owner: QObject, *, aside: bool) -> None:
        self._queue = queue
        self._owner: QObject | None = owner
        self._dropped = False
        self.aside = aside

    def cancel(self) -> None:
        """Stop it: at once while it waits, at its next checkpoint while it runs."""
        self._queue.cancel(self)

    def drop(self) -> None:
        """Stop it, and tell nobody what comes of it."""
        self._dropped = True
        self._queue.cancel(self)

    @property
    def heard(self) -> bool:
        """Whether there is still somebody to be told."""
        return not self._dropped and self._owner is not None and isValid(self._owner)

    @property
    @abstractmethod
    def context(self) -> JobContext:
        """What the work sees of the outside."""

    @abstractmethod
    def begin(self) -> None:
        """Say that its turn has come; in the window's thread."""

    @abstractmethod
    def run(self) -> None:
        """Do it; in the queue's thread."""

    @abstractmethod
    def deliver(self) -> None:
        """Hand over what came of it; in the window's thread."""


class _Job(Job, Generic[T]):
    def __init__(
        self,
        queue: JobQueue,
        work: Work[T],
        then: Callable[[Outcome[T]], None],
        owner: QObject,
        *,
        started: Callable[[], None] | None,
        progressed: Callable[[Progress], None] | None,
        aside: bool,
    ) -> None:
        super().__init__(queue, owner, aside=aside)
        self._calls: tuple[Work[T], Callable[[Outcome[T]], None]] | None = (work, then)
        self._started, self._progressed = started, progressed
        self._outcome: Outcome[T] = Stopped()
        self._context = JobContext(self._report, self._post)

    @property
    def context(self) -> JobContext:
        return self._context

    def begin(self) -> None:
        if self._started is not None and self.heard:
            self._started()

    def run(self) -> None:
        assert self._calls is not None  # it is delivered once, and only after it has run
        try:
            self._context.checkpoint()
            self._outcome = Done(self._calls[0](self._context))
        except Cancelled:
            self._outcome = Stopped()
        except PuraError as error:
            self._outcome = Failure.of(error)
        except Exception as error:
            self._outcome = unexpected(error)

    def deliver(self) -> None:
        calls, heard = self._calls, self.heard
        # They hold widgets, which must not see their end in the queue's thread, nor outlive it.
        self._calls = self._started = self._progressed = self._owner = None
        if calls is not None and heard:
            calls[1](self._outcome)

    def _report(self, progress: Progress) -> None:
        told = self._progressed
        if told is not None:
            self._post(lambda: told(progress))

    def _post(self, message: Callable[[], None]) -> None:
        self._queue.post(self, message)


class _Worker(QObject):
    """Lives in the queue's thread.

    Signals:
        ended: The job.
    """

    ended = Signal(object)

    @Slot(object)
    def run(self, job: Job) -> None:
        """Do one job."""
        job.run()
        self.ended.emit(job)


class JobQueue(QObject):
    """Does one thing after the other, in a thread of its own.

    Args:
        name: Of the thread.

    Signals:
        busy_changed: Whether anything runs or waits; also when it pauses or goes on.
    """

    busy_changed = Signal(bool)
    _begin = Signal(object)
    _posted = Signal(object, object)

    def __init__(self, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: list[Job] = []
        self._aside: list[Job] = []
        self._running: Job | None = None
        self._paused = False
        self._closed = False
        self._thread = QThread(self)
        self._thread.setObjectName(name)
        self._worker = _Worker()
        self._worker.moveToThread(self._thread)
        self._begin.connect(self._worker.run)
        self._worker.ended.connect(self._ended)
        self._posted.connect(self._tell)
        self._thread.start()

    def do(
        self,
        work: Work[T],
        then: Callable[[Outcome[T]], None],
        owner: QObject,
        *,
        started: Callable[[], None] | None = None,
        progressed: Callable[[Progress], None] | None = None,
        aside: bool = False,
    ) -> Job:
        """Queue a piece of work.

        Args:
            work: What is to be done, in the queue's thread.
            then: Gets what came of it, once, in the window's thread.
            owner: Whoever asks; once it is gone nobody is told.
            started: Called when its turn comes.
            progressed: Told how far it is.
            aside: It goes before what waits, also while the queue is paused, and does not count
                as busy: looking around.
        """
        job = _Job(self, work, then, owner, started=started, progressed=progressed, aside=aside)
        if self._closed:
            return job
        was_busy = self.busy
        (self._aside if aside else self._waiting).append(job)
        if self.busy and not was_busy:
            self.busy_changed.emit(True)
        self._next()
        return job

    @property
    def busy(self) -> bool:
        """Whether anything runs or waits."""
        running = self._running is not None and not self._running.aside
        return running or bool(self._waiting)

    @property
    def paused(self) -> bool:
        """Whether the queue is paused."""
        return self._paused

    @property
    def alive(self) -> bool:
        """Whether its thread runs."""
        return self._thread.isRunning()

    def order(self) -> tuple[Job, ...]:
        """Return the jobs that wait, next first."""
        return tuple(self._waiting)

    def move(self, job: Job, by: int) -> None:
        """Move a waiting job up (negative) or down."""
        if job in self._waiting:
            place = self._waiting.index(job)
            self._waiting.insert(max(0, place + by), self._waiting.pop(place))

    def cancel(self, job: Job) -> None:
        """Stop a job, waiting or running; one that is over stays as it is."""
        if job is self._running:
            job.context.cancel()
            return
        for jobs in (self._waiting, self._aside):
            if job in jobs:
                was_busy = self.busy
                jobs.remove(job)
                job.deliver()
                self._tell_idle(was_busy=was_busy)

    def cancel_all(self) -> None:
        """Stop everything that counts as busy."""
        for job in tuple(self._waiting):
            self.cancel(job)
        if self._running is not None and not self._running.aside:
            self.cancel(self._running)

    def set_paused(self, paused: bool) -> None:
        """Pause or go on; a running job waits at its next checkpoint."""
        self._paused = paused
        if self._running is not None and not self._running.aside:
            (self._running.context.pause if paused else self._running.context.resume)()
        if not paused:
            self._next()
        self.busy_changed.emit(self.busy)

    def post(self, job: Job, message: Callable[[], None]) -> None:
        """Call something in the window's thread, unless nobody hears the job; from any thread."""
        self._posted.emit(job, message)

    def stop(self) -> None:
        """Cancel everything and let the thread end; begin nothing any more."""
        self._closed = True
        self._waiting.clear()
        self._aside.clear()
        if self._running is not None:
            self._running.context.cancel()
        self._thread.quit()

    def wait(self, timeout_ms: int) -> bool:
        """Wait for the thread to end; return whether it did."""
        return self._thread.wait(timeout_ms)

    def _next(self) -> None:
        if self._running is not None or self._closed:
            return
        if self._aside:
            job = self._aside.pop(0)
        elif self._waiting and not self._paused:
            job = self._waiting.pop(0)
        else:
            return
        self._running = job
        job.begin()
        self._begin.emit(job)

    def _ended(self, job: Job) -> None:
        was_busy = self.busy
        self._running = None
        try:
            job.deliver()
        finally:
            self._next()
            self._tell_idle(was_busy=was_busy)

    def _tell(self, job: Job, message: Callable[[], None]) -> None:
        if job.heard:
            message()

    def _tell_idle(self, *, was_busy: bool) -> None:
        if was_busy and not self.busy:
            self.busy_changed.emit(False)


class Jobs(QObject):
    """The window's queues, a thread each: a preview must not wait until an audit is over.

    Attributes:
        model: Whatever reads with the model: audits and measurements.
        stores: Keys, models, profiles, bundles, signatures; none of it waits for an audit.
        files: Walks folders and reads files: a disk may be slow.
        cases: Works on the case log: another program may hold it for seconds.
        reports: Makes and draws reports.
        installs: Fetches and converts models, which takes minutes.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.model = JobQueue("model", self)
        self.stores = JobQueue("stores", self)
        self.files = JobQueue("files", self)
        self.cases = JobQueue("cases", self)
        self.reports = JobQueue("reports", self)
        self.installs = JobQueue("installs", self)
        self._closed = False

    def close(self, timeout_ms: int = 10_000) -> bool:
        """Cancel everything, end all threads and wait for them.

        Returns:
            False when a thread did not end in time.
        """
        if self._closed:
            return True
        self._closed = True
        queues = (self.files, self.model, self.stores, self.installs, self.reports, self.cases)
        for queue in queues:
            queue.stop()
        ended = [queue.wait(timeout_ms) for queue in queues]
        if not all(ended):
            _log.error("a thread did not end within %d ms", timeout_ms)
        return all(ended)
