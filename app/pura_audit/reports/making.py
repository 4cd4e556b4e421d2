"""Making, drawing and writing reports: works for the queue of the reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from PySide6.QtGui import QImage

from pura.base.errors import InputError
from pura.base.files import write_atomic
from pura.base.progress import Stage
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


class ReportMaker:
    """Makes the reports of one dialog, in the queue's thread; keeps the last one."""

    def __init__(self) -> None:
        self._last: tuple[tuple[Audit, ...], Built] | None = None

    def build(self, job: BuildJob) -> Built:
        """Make a report, unless it is the one that was made last.

        Raises:
            PuraError: It cannot be made of what it is told.
        """
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

    def save(self, job: SaveJob, context: JobContext) -> Saved | InTheWay:
        """Make a report, and write it with what goes beside it.

        Raises:
            PuraError: It cannot be made, or a file cannot be written.
            Cancelled: The person stopped it before writing began.
        """
        context.progress(Stage(name="report"))
        built = self.build(job.build)
        files = planned_files(job, built)
        taken = tuple(path for path, _, _ in files if path.exists())
        if taken and not job.force:
            return InTheWay(job=job, paths=taken)
        written: list[Path] = []
        annex = annex_path(job.path) if job.annex and built.report.annex is not None else None
        for place, (path, data, private) in enumerate(files):
            # From here on all of them are written: half a set of files helps nobody.
            if not place:
                context.checkpoint()
            context.progress(Stage(name="files", done=place, total=len(files)))
            _write(path, data, private, written)
            written.append(path)
        kept = tuple(path for path in written if path != annex)
        return Saved(job=job, built=built, files=kept, annex=annex)


def draw_pages(
    pdf: bytes,
    pages: tuple[int, ...],
    dpi: int,
    show: Callable[[int, QImage], None],
    context: JobContext,
) -> None:
    """Draw pages (from 0), and show each of them as soon as it is there."""
    for page in pages:
        context.checkpoint()
        _draw(pdf, page, dpi, show, context)


def _draw(
    pdf: bytes, page: int, dpi: int, show: Callable[[int, QImage], None], context: JobContext
) -> None:
    png = render_pages(pdf, dpi=dpi, pages=range(page, page + 1))[0]
    picture = QImage.fromData(png)
    context.post(lambda: show(page, picture))


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
