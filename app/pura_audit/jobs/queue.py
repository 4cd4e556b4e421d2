"""The job queue: the one owner of all threads.

Jobs wait here, in the window's thread, and go to the model thread one at a time. A failed job
never stops the others. Cancelling wakes a waiting job up at once and a running one at its next
checkpoint; closing cancels, quits and waits.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QThread, Signal

from pura.documents import ReadOptions
from pura.documents.folders import WalkOptions
from pura_audit.jobs.case_desk import CaseDesk
from pura_audit.jobs.context import JobContext
from pura_audit.jobs.engine import Engine
from pura_audit.jobs.file_worker import FileWorker
from pura_audit.jobs.messages import Chore, Request
from pura_audit.jobs.report_desk import ReportDesk
from pura_audit.jobs.workers import ModelWorker

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Job:
    number: int
    request: Request | Chore


class JobQueue(QObject):
    """Runs audits one after the other.

    Attributes:
        reports: Makes reports, beside the audits.
        cases: Works on the case log.

    Signals:
        catalogued: Keys, models and profiles were found.
        placed: The device is known (or a Failure).
        loaded: A file was read: number, Document.
        parts: A file holds more texts: number, Documents.
        refused: A file was refused: number, Failure.
        found: Files of a folder, a list of paths.
        report_found: A file that was read is a report: its path.
        walked: A folder is done: its Summary.
        started: An audit began.
        seen: A file was looked into: path, Extraction or Failure, previews.
        progressed: An audit went on: number, Progress.
        finished: An audit is done: number, Audit.
        failed: An audit failed: number, Failure.
        cancelled: An audit was stopped, waiting or running.
        busy_changed: Whether an audit runs or waits.
    """

    catalogued = Signal(object)
    placed = Signal(object)
    loaded = Signal(int, object)
    parts = Signal(int, object)
    refused = Signal(int, object)
    found = Signal(object)
    report_found = Signal(object)
    walked = Signal(object)
    started = Signal(int)
    seen = Signal(object, object, object)
    progressed = Signal(int, object)
    finished = Signal(int, object)
    failed = Signal(int, object)
    cancelled = Signal(int)
    busy_changed = Signal(bool)

    _look = Signal()
    _find = Signal()
    _run = Signal(int, object, object)
    _load = Signal(int, object, object)
    _walk = Signal(object, object)
    _into = Signal(object, object)

    def __init__(self, engine: Engine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: list[_Job] = []
        self._running: int | None = None
        self._context: JobContext | None = None
        self._paused = False
        self._closed = False
        self._model_thread, self._file_thread = QThread(self), QThread(self)
        self._model_thread.setObjectName("model")
        self._file_thread.setObjectName("files")
        self._report_thread = QThread(self)
        self._report_thread.setObjectName("reports")
        self._model_worker, self._file_worker = ModelWorker(engine), FileWorker()
        self._model_worker.moveToThread(self._model_thread)
        self._file_worker.moveToThread(self._file_thread)
        self.reports = ReportDesk(self._report_thread, self)
        self._case_thread = QThread(self)
        self._case_thread.setObjectName("cases")
        self.cases = CaseDesk(self._case_thread, engine.paths, self)
        self._wire()
        self._model_thread.start()
        self._file_thread.start()
        self._report_thread.start()
        self._case_thread.start()

    def _wire(self) -> None:
        model, files = self._model_worker, self._file_worker
        self._look.connect(model.look_around)
        self._find.connect(model.find)
        self._run.connect(model.run)
        self._load.connect(files.load)
        self._walk.connect(files.walk)
        self._into.connect(files.look_into)
        files.seen.connect(self.seen)
        files.parts.connect(self.parts)
        files.found.connect(self.found)
        files.report_found.connect(self.report_found)
        files.walked.connect(self.walked)
        model.catalogued.connect(self.catalogued)
        model.placed.connect(self.placed)
        model.finished.connect(self._on_finished)
        model.failed.connect(self._on_failed)
        model.cancelled.connect(self._on_cancelled)
        files.loaded.connect(self.loaded)
        files.refused.connect(self.refused)

    @property
    def busy(self) -> bool:
        """Whether an audit runs or waits."""
        return self._running is not None or bool(self._waiting)

    @property
    def running(self) -> int | None:
        """Number of the audit that runs."""
        return self._running

    @property
    def paused(self) -> bool:
        """Whether the queue is paused."""
        return self._paused

    def look_around(self) -> None:
        """Find keys, models, profiles and the device, off the window's thread."""
        self._look.emit()

    def refresh(self) -> None:
        """Find keys, models and profiles again."""
        self._find.emit()

    def load(self, number: int, path: Path, options: ReadOptions | None = None) -> None:
        """Read a file, as the user says that it is to be read."""
        self._load.emit(number, path, options or ReadOptions())

    def look_into(self, path: Path, options: ReadOptions) -> None:
        """Read a file for somebody who wants to choose how it is read; see ``seen``."""
        self._into.emit(path, options)

    def walk(self, folder: Path, options: WalkOptions) -> None:
        """Go through a folder off the window's thread."""
        self._walk.emit(folder, options)

    def add(self, number: int, request: Request | Chore) -> None:
        """Queue an audit or a chore."""
        was_busy = self.busy
        self._waiting.append(_Job(number, request))
        if not was_busy:
            self.busy_changed.emit(True)
        self._next()

    def order(self) -> tuple[int, ...]:
        """Return the numbers of the audits that wait, next first."""
        return tuple(job.number for job in self._waiting)

    def move(self, number: int, by: int) -> None:
        """Move a waiting audit up (negative) or down."""
        for place, job in enumerate(self._waiting):
            if job.number == number:
                self._waiting.insert(max(0, place + by), self._waiting.pop(place))
                return

    def cancel(self, number: int) -> None:
        """Stop one audit, waiting or running."""
        if number == self._running and self._context is not None:
            self._context.cancel()
            return
        kept = [job for job in self._waiting if job.number != number]
        if len(kept) < len(self._waiting):
            self._waiting = kept
            self.cancelled.emit(number)
            self._tell_idle()

    def cancel_all(self) -> None:
        """Stop everything."""
        for job in tuple(self._waiting):
            self.cancel(job.number)
        if self._running is not None:
            self.cancel(self._running)

    def set_paused(self, paused: bool) -> None:
        """Pause or go on; a running audit waits at its next checkpoint."""
        self._paused = paused
        if self._context is not None:
            (self._context.pause if paused else self._context.resume)()
        if not paused:
            self._next()

    def close(self, timeout_ms: int = 10_000) -> bool:
        """Cancel everything, end all threads and wait for them.

        Returns:
            False when a thread did not end in time.
        """
        if self._closed:
            return True
        self._closed = True
        self._waiting.clear()
        self._file_worker.stop()
        self.reports.close()
        self.cases.close()
        if self._context is not None:
            self._context.cancel()
        ended = True
        threads = (
            self._file_thread,
            self._model_thread,
            self._report_thread,
            self._case_thread,
        )
        for thread in threads:
            thread.quit()
        for thread in threads:
            ended = thread.wait(timeout_ms) and ended
        if not ended:
            _log.error("a thread did not end within %d ms", timeout_ms)
        return ended

    def _next(self) -> None:
        if self._running is not None or self._paused or self._closed or not self._waiting:
            return
        job = self._waiting.pop(0)
        self._running = job.number
        number = job.number
        # Emitting from the model thread is safe: the receivers live in this one.
        self._context = JobContext(lambda progress: self.progressed.emit(number, progress))
        self.started.emit(number)
        self._run.emit(number, job.request, self._context)

    def _on_finished(self, number: int, audit: object) -> None:
        self._done()
        self.finished.emit(number, audit)
        self._after()

    def _on_failed(self, number: int, failure: object) -> None:
        self._done()
        self.failed.emit(number, failure)
        self._after()

    def _on_cancelled(self, number: int) -> None:
        self._done()
        self.cancelled.emit(number)
        self._after()

    def _done(self) -> None:
        self._running, self._context = None, None

    def _after(self) -> None:
        self._next()
        self._tell_idle()

    def _tell_idle(self) -> None:
        if not self.busy:
            self.busy_changed.emit(False)
