"""Job queues, the only way to work outside the window's thread, and the context of a job."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from PySide6.QtCore import QObject, QThread, Signal, Slot
from shiboken6 import isValid

from pura.base.errors import Cancelled, PuraError
from pura.base.progress import Stage
from pura_audit.platform.i18n import filled, language, translate

# Progress of an audit: the step that reads the text, and the share of the time that it takes.
READING: Final = 5
READ: Final = 0.85
_log = logging.getLogger(__name__)

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, kw_only=True)
class Progress:
    """The progress of a job.

    Attributes:
        step: Step of the audit, 1 … 12; 0 while the model is loaded.
        name: Name of the step.
        done: Finished pieces of the step.
        total: Number of pieces of the step; 0 if they are not counted.
        seconds_left: Estimated time left in seconds, or None.
        log10_e: Evidence of the part read so far, if this is an interim look; else None.
        texts: Number of texts that are read together; the pieces are those of all.
    """

    step: int
    name: str
    done: int = 0
    total: int = 0
    seconds_left: float | None = None
    log10_e: float | None = None
    texts: int = 1

    @property
    def share(self) -> float | None:
        """Finished share of an audit, 0 … 1; None while the model is loaded.

        It never decreases. Every view of an audit shows this share.
        """
        if self.step == 0:
            return None
        if self.step == READING:
            return READ * self.done / self.total if self.total else 0.0
        if self.step < READING:
            return 0.0
        return min(1.0, READ + (1 - READ) * max(0, self.step - 7) / 5)


@dataclass(frozen=True)
class Done(Generic[T_co]):
    """The job succeeded, with this result."""

    result: T_co


@dataclass(frozen=True, kw_only=True)
class Failure:
    """The job failed, for a reason in words.

    Attributes:
        code: Code of the error.
        message: What happened and what it means.
        hint: What the user can do.
        error: The error itself, from which the words can be made in another language.
    """

    code: str
    message: str
    hint: str
    error: PuraError | None = field(default=None, compare=False, repr=False)

    @property
    def words(self) -> str:
        """The message and the hint."""
        return f"{self.message} {self.hint}".strip()

    @classmethod
    def of(cls, error: PuraError) -> Failure:
        """Return the failure with the words of an error."""
        message, hint = error.words(language())
        # A copy has no traceback, which would hold on to the values of the frames.
        copy = type(error)(error.key, code=error.code, **error.values)
        return cls(code=error.code, message=message, hint=hint, error=copy)


@dataclass(frozen=True)
class Stopped:
    """The job was stopped."""


Outcome = Done[T_co] | Failure | Stopped


def by_outcome(
    on_result: Callable[[T], object], on_failure: Callable[[Failure], object]
) -> Callable[[Outcome[T]], None]:
    """Return a callback that passes results to one function and failures to another."""

    def ended(outcome: Outcome[T]) -> None:
        if isinstance(outcome, Done):
            on_result(outcome.result)
        elif isinstance(outcome, Failure):
            on_failure(outcome)

    return ended


def unexpected(error: Exception) -> Failure:
    """Return the failure for a bug of the program; the log gets the traceback, never the text."""
    # The traceback names places in the code; the exception's own words may quote the text.
    _log.error("a job failed: %s", type(error).__name__, exc_info=error)
    message = translate("Error", "The program made a mistake ({kind:text}).")
    hint = translate(
        "Error", "Try once more. If it happens again, send the log file (Help) to your support."
    )
    return Failure(code="internal", message=filled(message, kind=type(error).__name__), hint=hint)


INTERVAL: float = 0.1  # seconds between two reports of the same step
_TIMED = (0, 5)  # long work that counts its pieces, and the reading of an audit


class JobContext:
    """The context of a job: cancelling, pausing and throttled progress.

    Args:
        report: Called with the progress, at most every ``INTERVAL`` seconds within a step.
        post: Calls a function in the window's thread.
        clock: Clock in seconds; tests replace it.
    """

    def __init__(
        self,
        report: Callable[[Progress], None],
        post: Callable[[Callable[[], None]], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._report, self.post = report, post
        self._clock = clock
        self._cancel = threading.Event()
        self._go = threading.Event()
        self._go.set()
        self._step = (-1, "")
        self._told = 0.0
        self._started = 0.0
        self._first = 0
        self._counted = False
        self._end: float | None = None
        self._left: float | None = None

    def cancel(self) -> None:
        """Request the job to stop at its next checkpoint, also while it is paused."""
        self._cancel.set()
        self._go.set()

    def pause(self) -> None:
        """Let the job pause at its next checkpoint."""
        self._go.clear()

    def resume(self) -> None:
        """Resume the job."""
        self._go.set()

    def checkpoint(self) -> None:
        """Wait while paused.

        Raises:
            Cancelled: The job was cancelled.
        """
        if not self._go.is_set():
            before = self._clock()
            self._go.wait()
            pause = self._clock() - before
            self._started += pause  # it is no part of the speed
            self._end = None if self._end is None else self._end + pause
        if self._cancel.is_set():
            raise Cancelled

    def _told_before(self, left: float) -> float | None:
        """Return the time left to show, which never increases.

        An estimate that was slightly too short stays until it is true again. If it was far off,
        nothing is shown until then.
        """
        if self._left is None or left <= self._left:
            self._left = left
            return left
        return self._left if left <= 1.5 * self._left + 2 else None

    def progress(self, stage: Stage) -> None:
        """Report the progress, unless the last report is recent; estimate the time left."""
        now, step = self._clock(), (stage.number, stage.name)
        if step != self._step:
            if stage.number < self._step[0]:  # other texts begin
                self._end = None
            self._step, self._started, self._first = step, now, stage.done
            self._left, self._counted = None, stage.total > 0
        elif not self._counted and stage.total:
            # What an audit that was interrupted has read is no part of the speed.
            self._started, self._first, self._counted = now, stage.done, True
        elif (
            now - self._told < INTERVAL
            and stage.done < stage.total
            and stage.log10_e is None  # looks are rare, and none may be lost
        ):
            return
        self._told = now
        steps, spent = stage.done - self._first, now - self._started
        left = None
        # The first pieces tell little of the speed; a wild guess is worse than none.
        if stage.number in _TIMED and spent >= 1.0 and steps >= max(1, 0.02 * stage.total):
            left = (stage.total - stage.done) * spent / steps
            if stage.number == READING:  # of the audit as a whole
                left += stage.total * spent / steps * (1 - READ) / READ
            self._end = now + left
            left = self._told_before(left)
        elif stage.number > READING and self._end is not None:
            left = max(1.0, self._end - now)
        self._report(
            Progress(
                step=stage.number,
                name=stage.name,
                done=stage.done,
                total=stage.total,
                seconds_left=left,
                log10_e=stage.log10_e,
            )
        )


T = TypeVar("T")
Work = Callable[[JobContext], T]


def with_progress(use_case: Callable[..., T]) -> Work[T]:
    """Return the work of a use case that reports its progress and can be stopped."""
    return lambda context: use_case(progress=context.progress, checkpoint=context.checkpoint)


class Job:
    """A queued piece of work, as the object that asked for it sees it.

    Attributes:
        context: The context of the work.
        urgent: Whether it runs before waiting jobs and does not count as busy.
    """

    def __init__(
        self,
        queue: JobQueue,
        work: Work[Any],
        on_outcome: Callable[[Outcome[Any]], None],
        owner: QObject,
        *,
        started: Callable[[], None] | None,
        progressed: Callable[[Progress], None] | None,
        urgent: bool,
    ) -> None:
        self._queue, self.urgent = queue, urgent
        self._owner: QObject | None = owner
        self._calls: tuple[Work[Any], Callable[[Outcome[Any]], None]] | None = (work, on_outcome)
        self._started, self._progressed = started, progressed
        self._outcome: Outcome[Any] = Stopped()
        self.context = JobContext(self._report, self._post)

    def cancel(self) -> None:
        """Stop the job: at once if it waits, at its next checkpoint if it runs."""
        self._queue.cancel(self)

    def drop(self) -> None:
        """Stop the job, and do not deliver its outcome."""
        self._owner = None
        self._queue.cancel(self)

    @property
    def heard(self) -> bool:
        """Whether the object that asked for the job still exists."""
        return self._owner is not None and isValid(self._owner)

    def begin(self) -> None:
        """Report that the job begins; in the window's thread."""
        if self._started is not None and self.heard:
            self._started()

    def run(self) -> None:
        """Run the work; in the queue's thread."""
        assert self._calls is not None  # it is delivered once, and only after it has run
        try:
            self.context.checkpoint()
            self._outcome = Done(self._calls[0](self.context))
        except Cancelled:
            self._outcome = Stopped()
        except PuraError as error:
            self._outcome = Failure.of(error)
        except Exception as error:
            self._outcome = unexpected(error)

    def deliver(self) -> None:
        """Deliver the outcome; in the window's thread."""
        calls, is_wanted = self._calls, self.heard
        # They hold widgets, which must not see their end in the queue's thread, nor outlive it.
        self._calls = self._started = self._progressed = self._owner = None
        if calls is not None and is_wanted:
            calls[1](self._outcome)

    def _report(self, progress: Progress) -> None:
        progressed = self._progressed
        if progressed is not None:
            self._post(lambda: progressed(progress))

    def _post(self, message: Callable[[], None]) -> None:
        self._queue.post(self, message)


class _Worker(QObject):
    """Runs jobs in the queue's thread.

    Signals:
        ended: A job ended; carries the job.
    """

    ended = Signal(object)

    @Slot(object)
    def run(self, job: Job) -> None:
        """Do one job."""
        job.run()
        self.ended.emit(job)


class JobQueue(QObject):
    """Runs one job after the other in a separate thread.

    Args:
        name: Name of the thread.

    Signals:
        busy_changed: Jobs began or ended, or the queue was paused or resumed; carries ``busy``.
    """

    busy_changed = Signal(bool)
    _begin = Signal(object)
    _posted = Signal(object, object)

    def __init__(self, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: list[Job] = []
        self._urgent: list[Job] = []
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
        on_outcome: Callable[[Outcome[T]], None],
        owner: QObject,
        *,
        started: Callable[[], None] | None = None,
        progressed: Callable[[Progress], None] | None = None,
        urgent: bool = False,
    ) -> Job:
        """Queue a piece of work.

        Args:
            work: The work, run in the queue's thread.
            on_outcome: Called once with the outcome, in the window's thread.
            owner: The object that asks; if it is deleted, the outcome is not delivered.
            started: Called when the work begins.
            progressed: Called with the progress.
            urgent: Whether it runs before waiting jobs, even in a paused queue, and does not count
                as busy, as for a refresh of the inventory.
        """
        job = Job(
            self, work, on_outcome, owner, started=started, progressed=progressed, urgent=urgent
        )
        if self._closed:
            return job
        was_busy = self.busy
        (self._urgent if urgent else self._waiting).append(job)
        if self.busy and not was_busy:
            self.busy_changed.emit(True)
        self._next()
        return job

    @property
    def busy(self) -> bool:
        """Whether jobs run or wait."""
        running = self._running is not None and not self._running.urgent
        return running or bool(self._waiting)

    @property
    def paused(self) -> bool:
        """Whether the queue is paused."""
        return self._paused

    @property
    def alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.isRunning()

    def order(self) -> tuple[Job, ...]:
        """Return the waiting jobs, the next one first."""
        return tuple(self._waiting)

    def move(self, job: Job, steps: int) -> None:
        """Move a waiting job up (negative) or down."""
        if job in self._waiting:
            index = self._waiting.index(job)
            self._waiting.insert(max(0, index + steps), self._waiting.pop(index))

    def cancel(self, job: Job) -> None:
        """Stop a waiting or running job; a finished one stays as it is."""
        if job is self._running:
            job.context.cancel()
            return
        for jobs in (self._waiting, self._urgent):
            if job in jobs:
                was_busy = self.busy
                jobs.remove(job)
                job.deliver()
                self._tell_idle(was_busy=was_busy)

    def cancel_all(self) -> None:
        """Stop all jobs that count as busy."""
        for job in tuple(self._waiting):
            self.cancel(job)
        if self._running is not None and not self._running.urgent:
            self.cancel(self._running)

    def set_paused(self, paused: bool) -> None:
        """Pause or resume the queue; a running job waits at its next checkpoint."""
        self._paused = paused
        if self._running is not None and not self._running.urgent:
            (self._running.context.pause if paused else self._running.context.resume)()
        if not paused:
            self._next()
        self.busy_changed.emit(self.busy)

    def post(self, job: Job, message: Callable[[], None]) -> None:
        """Call a function in the window's thread, unless the job has no owner; from any thread."""
        self._posted.emit(job, message)

    def stop(self) -> None:
        """Cancel all jobs, accept no new ones, and let the thread end."""
        self._closed = True
        self._waiting.clear()
        self._urgent.clear()
        if self._running is not None:
            self._running.context.cancel()
        self._thread.quit()

    def wait(self, timeout_ms: int) -> bool:
        """Wait for the thread to end; return whether it did."""
        return self._thread.wait(timeout_ms)

    def _next(self) -> None:
        if self._running is not None or self._closed:
            return
        if self._urgent:
            job = self._urgent.pop(0)
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
    """The window's queues, each with its thread, so that a preview need not wait for an audit.

    Attributes:
        model: Work that uses the model: audits and measurements.
        stores: Work on keys, models, profiles, bundles and signatures; it never waits for audits.
        files: Reads folders and files, since a disk may be slow.
        cases: Work on the case log, which another program may lock for seconds.
        reports: Makes and draws reports.
        pages: Draws the pages of the document on screen.
        installs: Fetches and converts models, which takes minutes.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.model = JobQueue("model", self)
        self.stores = JobQueue("stores", self)
        self.files = JobQueue("files", self)
        self.cases = JobQueue("cases", self)
        self.reports = JobQueue("reports", self)
        self.pages = JobQueue("pages", self)
        self.installs = JobQueue("installs", self)
        self._closed = False

    def close(self, timeout_ms: int = 10_000) -> bool:
        """Cancel all jobs, end all threads and wait for them.

        Returns:
            False if a thread did not end in time.
        """
        if self._closed:
            return True
        self._closed = True
        queues = (
            *(self.files, self.model, self.stores, self.installs),
            *(self.reports, self.pages, self.cases),
        )
        for queue in queues:
            queue.stop()
        ended = [queue.wait(timeout_ms) for queue in queues]
        if not all(ended):
            _log.error("a thread did not end within %d ms", timeout_ms)
        return all(ended)
