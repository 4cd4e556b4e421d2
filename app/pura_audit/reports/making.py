"""Making, drawing and writing reports: works for the queue of the reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from PySide6.QtGui import QImage

from pura.keys import Secret
from pura.record.audit import Audit
from pura.report import ReportRequest, render_pages
from pura.usecases.environment import Environment
from pura.usecases.reports import (
    Built,
    FilesTakenError,
    WrittenReport,
    build_report,
    with_logo,
    write_report,
)
from pura_audit.jobs.context import JobContext
from pura_audit.jobs.queue import Work


@dataclass(frozen=True, kw_only=True)
class SaveReport:
    """A report to be made and written.

    Attributes:
        build: Makes the report.
        path: The PDF; the other files stand beside it.
        record: Also the embedded record.
        tables: Also bits and tokens.
        html: Also one HTML file.
        annex: Also the sealed annex, if there is one.
        passphrase: Encrypts the annex; None leaves it readable.
        replace: The person has agreed that files are replaced.
    """

    build: Work[Built]
    path: Path
    record: bool = False
    tables: bool = False
    html: bool = False
    annex: bool = True
    passphrase: Secret | None = field(default=None, repr=False)
    replace: bool = False

    def write(self, built: Built, context: JobContext) -> WrittenReport:
        """Write each file where it goes."""
        path = self.path
        return write_report(
            built,
            pdf=path,
            record=path.with_name(f"{path.stem}.json") if self.record else None,
            html=path.with_name(f"{path.stem}.html") if self.html else None,
            tables=path.parent if self.tables else None,
            tables_prefix=f"{path.stem}-",
            annex=path.with_name(f"{path.stem}-sealed.pdf") if self.annex else None,
            annex_passphrase=self.passphrase,
            replace=self.replace,
            progress=context.progress,
            checkpoint=context.checkpoint,
        )


@dataclass(frozen=True, kw_only=True)
class Saved:
    """A report that is written."""

    path: Path
    built: Built
    written: WrittenReport


@dataclass(frozen=True, kw_only=True)
class InTheWay:
    """Files that would be replaced; nothing was written."""

    request: SaveReport
    paths: tuple[Path, ...]


class ReportMaker:
    """Makes the reports of one dialog, in the queue's thread; keeps the last one.

    Args:
        environment: Its case log says what was reviewed.
    """

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._last: Built | None = None

    def build(
        self,
        audits: Sequence[Audit],
        request: ReportRequest,
        logo: Path | None,
        context: JobContext,
    ) -> Built:
        """Make a report, unless it is the one that was made last."""
        request, last = with_logo(request, logo), self._last
        # The same objects: to compare what they hold would take long.
        if (
            last is not None
            and last.request == request
            and [*map(id, last.audits)] == [*map(id, audits)]
        ):
            return last
        self._last = build_report(
            self._environment,
            audits,
            request=request,
            apart=True,
            progress=context.progress,
            checkpoint=context.checkpoint,
        )
        return self._last


def save(request: SaveReport, context: JobContext) -> Saved | InTheWay:
    """Make a report, and write it with what goes beside it."""
    built = request.build(context)
    try:
        written = request.write(built, context)
    except FilesTakenError as taken:
        return InTheWay(request=request, paths=taken.paths)
    if request.passphrase is not None:
        request.passphrase.wipe()
    return Saved(path=request.path, built=built, written=written)


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
