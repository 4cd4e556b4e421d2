"""Making, drawing and writing reports: works for the queue of the reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from PySide6.QtGui import QImage

from pura.keys import Secret
from pura.report import render_pages
from pura.usecases.reports import (
    BuildReport,
    Built,
    FilesTakenError,
    WriteReport,
    WrittenReport,
    build_report,
    with_logo,
    write_report,
)
from pura_audit.jobs.context import JobContext


@dataclass(frozen=True, kw_only=True)
class SaveReport:
    """A report to be made and written.

    Attributes:
        build: The report.
        path: The PDF; the other files stand beside it.
        record: Also the embedded record.
        tables: Also bits and tokens.
        html: Also one HTML file.
        annex: Also the sealed annex, if there is one.
        passphrase: Encrypts the annex; None leaves it readable.
        replace: The person has agreed that files are replaced.
    """

    build: BuildReport
    path: Path
    record: bool = False
    tables: bool = False
    html: bool = False
    annex: bool = True
    passphrase: Secret | None = field(default=None, repr=False)
    replace: bool = False

    def files(self, built: Built) -> WriteReport:
        """Return where each file goes."""
        path = self.path
        return WriteReport(
            built=built,
            pdf=path,
            record=path.with_name(f"{path.stem}.json") if self.record else None,
            html=path.with_name(f"{path.stem}.html") if self.html else None,
            tables=path.parent if self.tables else None,
            tables_prefix=f"{path.stem}-",
            annex=path.with_name(f"{path.stem}-sealed.pdf") if self.annex else None,
            annex_passphrase=self.passphrase,
            replace=self.replace,
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
        caselog: The case log, which says what was reviewed.
    """

    def __init__(self, caselog: Path) -> None:
        self._caselog = caselog
        self._last: tuple[BuildReport, Built] | None = None

    def build(self, request: BuildReport, context: JobContext) -> Built:
        """Make a report, unless it is the one that was made last."""
        request = replace(with_logo(request), caselog=self._caselog)
        if self._last is not None and _same(self._last[0], request):
            return self._last[1]
        built = build_report(
            request, apart=True, progress=context.progress, checkpoint=context.checkpoint
        )
        self._last = (request, built)
        return built

    def save(self, request: SaveReport, context: JobContext) -> Saved | InTheWay:
        """Make a report, and write it with what goes beside it."""
        built = self.build(request.build, context)
        try:
            written = write_report(
                request.files(built), progress=context.progress, checkpoint=context.checkpoint
            )
        except FilesTakenError as taken:
            return InTheWay(request=request, paths=taken.paths)
        if request.passphrase is not None:
            request.passphrase.wipe()
        return Saved(path=request.path, built=built, written=written)


def _same(before: BuildReport, now: BuildReport) -> bool:
    """Whether two requests, their logos read, give the same report."""
    return before.request == now.request and (
        # The same objects: to compare what they hold would take long.
        [id(audit) for audit in before.audits] == [id(audit) for audit in now.audits]
    )


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
