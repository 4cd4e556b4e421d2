"""Making reports on behalf of the window, in a thread of its own.

A preview must not wait until an audit is over, so the model thread is not the place for it. What
is wanted no more is dropped before it begins; what runs already ends, and is told to nobody.
"""

from __future__ import annotations

import itertools
import logging
from dataclasses import dataclass, field, replace
from pathlib import Path

from PySide6.QtCore import QObject, QThread, Signal, Slot
from PySide6.QtGui import QImage

from pura.base.errors import Cancelled, InputError, PuraError
from pura.base.files import write_atomic
from pura.keys import Secret
from pura.record.audit import Audit
from pura.report import (
    Report,
    ReportRequest,
    build_report,
    html_page,
    page_count,
    render_pages,
    table_files,
)
from pura.report.lock import lock_pdf
from pura.report.request import MAX_LOGO
from pura.scheme.keys import wipe_buffer
from pura_audit.jobs.context import JobContext
from pura_audit.jobs.messages import Failure, Progress

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class BuildJob:
    """A report to be made.

    Attributes:
        audits: What it is made of.
        request: What it is told beside them.
        logo: File of the logo; None leaves the one in the request.
    """

    audits: tuple[Audit, ...]
    request: ReportRequest
    logo: Path | None = None


@dataclass(frozen=True, kw_only=True)
class DrawJob:
    """Pages to be drawn: of which PDF, which (from 0), how fine."""

    pdf: bytes
    pages: tuple[int, ...]
    dpi: int


@dataclass(frozen=True, kw_only=True)
class SaveJob:
    """A report to be made and written.

    Attributes:
        build: The report.
        path: The PDF.
        record: Also the embedded record.
        tables: Also bits and tokens.
        html: Also one HTML file.
        annex: Also the sealed annex, if there is one.
        secret: Encrypts the annex; None leaves it readable.
        force: The person has agreed that files are replaced.
    """

    build: BuildJob
    path: Path
    record: bool = False
    tables: bool = False
    html: bool = False
    annex: bool = True
    secret: Secret | None = field(default=None, repr=False)
    force: bool = False


@dataclass(frozen=True, kw_only=True)
class Built:
    """A report that is made: with the request as it was, the logo read."""

    report: Report
    request: ReportRequest
    pages: int


@dataclass(frozen=True, kw_only=True)
class Saved:
    """A report that is written, its PDF first; the annex stands apart."""

    job: SaveJob
    built: Built
    files: tuple[Path, ...]
    annex: Path | None = None


@dataclass(frozen=True, kw_only=True)
class InTheWay:
    """Files that would be replaced; nothing was written."""

    job: SaveJob
    paths: tuple[Path, ...]


Job = BuildJob | DrawJob | SaveJob


class ReportWorker(QObject):
    """Makes, draws and writes.

    Signals:
        done: Number of the job, and what came of it: Built, Saved, InTheWay or a Failure; None
            when it was stopped, or when all its pages are drawn.
        drawn: Number of the job, page, QImage.
    """

    done = Signal(int, object)
    drawn = Signal(int, int, object)

    def __init__(self) -> None:
        super().__init__()
        self._last: tuple[tuple[Audit, ...], Built] | None = None

    @Slot(int, object, object)
    def work(self, number: int, job: Job, context: JobContext) -> None:
        """Do one job."""
        from pura_audit.jobs.workers import unexpected

        result: object = None
        try:
            context.checkpoint()
            match job:
                case BuildJob():
                    result = self._build(job)
                case SaveJob():
                    result = self._save(job, context)
                case DrawJob():
                    for page in job.pages:
                        context.checkpoint()
                        self.drawn.emit(number, page, _image(job, page))
        except Cancelled:
            result = None
        except PuraError as error:
            result = Failure.of(error)
        except Exception as error:
            result = unexpected(error)
        self.done.emit(number, result)

    def _build(self, job: BuildJob) -> Built:
        """Make a report, unless it is the one that was made last."""
        request = job.request
        if job.logo is not None:
            request = replace(request, logo=read_logo(job.logo))
        if self._last is not None:
            audits, built = self._last
            same = [a is b for a, b in zip(audits, job.audits, strict=False)]
            if built.request == request and len(audits) == len(job.audits) and all(same):
                return built
        report = build_report(job.audits, request)
        built = Built(report=report, request=request, pages=page_count(report.pdf))
        self._last = (job.audits, built)
        return built

    def _save(self, job: SaveJob, context: JobContext) -> Saved | InTheWay:
        context.progress(Progress(step=1, name="report"))
        built = self._build(job.build)
        files = planned_files(job, built)
        found = tuple(path for path, _, _ in files if path.exists())
        if found and not job.force:
            return InTheWay(job=job, paths=found)
        written: list[Path] = []
        annex = annex_path(job.path) if job.annex and built.report.annex is not None else None
        for place, (path, data, private) in enumerate(files):
            # From here on all of them are written: half a set of files helps nobody.
            if not place:
                context.checkpoint()
            context.progress(Progress(step=2, name="files", done=place, total=len(files)))
            _write(path, data, private, written)
            written.append(path)
        kept = tuple(path for path in written if path != annex)
        return Saved(job=job, built=built, files=kept, annex=annex)


class ReportDesk(QObject):
    """The window's side of it: numbers the jobs, and drops those that are wanted no more.

    Args:
        thread: Where the work is done; it belongs to the job queue.

    Signals:
        done: See :class:`ReportWorker`.
        drawn: See :class:`ReportWorker`.
        progressed: Number of the job, Progress.
    """

    done = Signal(int, object)
    drawn = Signal(int, int, object)
    progressed = Signal(int, object)
    _work = Signal(int, object, object)

    def __init__(self, thread: QThread, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._numbers = itertools.count(1)
        self._contexts: dict[int, JobContext] = {}
        self._worker = ReportWorker()
        self._worker.moveToThread(thread)
        self._work.connect(self._worker.work)
        self._worker.done.connect(self._done)
        self._worker.drawn.connect(self.drawn)

    def do(self, job: Job) -> int:
        """Queue a job; return its number."""
        number = next(self._numbers)
        context = JobContext(lambda progress: self.progressed.emit(number, progress))
        self._contexts[number] = context
        self._work.emit(number, job, context)
        return number

    def drop(self, number: int) -> None:
        """Stop a job at its next checkpoint; one that waits never begins."""
        if (context := self._contexts.get(number)) is not None:
            context.cancel()

    def close(self) -> None:
        """Stop everything."""
        for context in self._contexts.values():
            context.cancel()

    def _done(self, number: int, result: object) -> None:
        self._contexts.pop(number, None)
        self.done.emit(number, result)


def read_logo(path: Path) -> bytes:
    """Read a logo, up to what a report takes and one byte more.

    Raises:
        InputError: It cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(MAX_LOGO + 1)
    except OSError as error:
        raise InputError(
            "report.logo-read", name=path.name, why=error.errno or 0, code="report-logo"
        ) from None


def annex_path(pdf: Path) -> Path:
    """Return where the sealed annex of a report goes."""
    return pdf.with_name(f"{pdf.stem}-sealed.pdf")


def planned_files(job: SaveJob, built: Built) -> list[tuple[Path, bytes, bool]]:
    """Return path, content and whether it is for this user only, the PDF first."""
    report, path = built.report, job.path
    files = [(path, report.pdf, False)]
    if job.record:
        files.append((path.with_name(f"{path.stem}.json"), report.json, False))
    if job.html:
        page = html_page(report.content).encode()
        files.append((path.with_name(f"{path.stem}.html"), page, False))
    if job.tables:
        for name, data in table_files(job.build.audits, built.request):
            files.append((path.with_name(f"{path.stem}-{name}"), data, False))
    if job.annex and report.annex is not None:
        files.append((annex_path(path), _annex(report.annex, job.secret), True))
    return files


def _annex(pdf: bytes, secret: Secret | None) -> bytes:
    """Encrypt the annex, where that is wanted."""
    if secret is None:
        return pdf
    words = secret.copy()
    try:
        return lock_pdf(pdf, words)
    finally:
        wipe_buffer(words)


def _write(path: Path, data: bytes, private: bool, before: list[Path]) -> None:
    try:
        write_atomic(path, data, private=private)
    except OSError as error:
        raise InputError(
            "file.write-after" if before else "file.write",
            name=path.name,
            why=error.errno or 0,
            there=", ".join(f"“{one.name}”" for one in before),
            code="file-write",
        ) from None


def _image(job: DrawJob, page: int) -> QImage:
    png = render_pages(job.pdf, dpi=job.dpi, pages=range(page, page + 1))[0]
    return QImage.fromData(png)
