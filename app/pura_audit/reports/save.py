"""Making, drawing and saving reports.

Which files, where, what is in the way, and what was written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from PySide6.QtCore import QStandardPaths, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QImage
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QHBoxLayout,
    QMessageBox,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from pura.keys import Secret
from pura.record.audit import Audit
from pura.report import ReportRequest, render_pages
from pura.report.hiding import names
from pura.usecases.environment import Environment
from pura.usecases.reports import (
    Built,
    FilesTakenError,
    WrittenReport,
    build_report,
    with_logo,
    write_report,
)
from pura_audit.jobs.queue import Done, Failure, Job, JobContext, JobQueue, Outcome, Progress, Work
from pura_audit.platform.i18n import filled, quoted, translate
from pura_audit.theme.theme import GRID
from pura_audit.widgets.card import Fold, label
from pura_audit.widgets.form_dialog import Remark, ask_first, ask_target


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


class FilesGroup(Fold):
    """What is saved beside the PDF."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__(translate("Report", "Files beside the PDF"))
        self.record = QCheckBox(translate("Report", "Record (JSON)"))
        self.tables = QCheckBox(translate("Report", "Bits and tokens (CSV)"))
        self.html = QCheckBox(translate("Report", "The report as a page (HTML)"))
        self.annex = QCheckBox(translate("Report", "Sealed annex with the names (PDF)"))
        self.annex.setChecked(True)
        words = translate(
            "Report",
            "Names to whom payloads were issued never stand in the report. The annex holds them; "
            "the report prints its SHA-256.",
        )
        self._about = label(words, "muted", wrap=True)
        self.lock = QCheckBox(translate("Report", "Encrypt the annex under a passphrase"))
        self.lock.setChecked(True)
        for box in (self.record, self.tables, self.html, self.annex, self.lock):
            box.toggled.connect(lambda _: self._count())
            self.body.addWidget(box)
        self.body.addWidget(self._about)
        self.follow(())

    def follow(self, audits: tuple[Audit, ...]) -> None:
        """Offer the annex where there are names."""
        there = any(row[2].strip() for row in names(audits))
        self.annex.setVisible(there)
        self.lock.setVisible(there)
        self._about.setVisible(there)
        self._there = there
        self._count()

    def _count(self) -> None:
        shown = [(self.record, "JSON"), (self.tables, "CSV"), (self.html, "HTML")]
        if self._there:
            shown.append((self.annex, translate("Report", "annex")))
        words = ", ".join(name for box, name in shown if box.isChecked())
        self.tell(words or translate("Report", "none"))
        self.lock.setEnabled(self.annex.isChecked())

    @property
    def locks(self) -> bool:
        """Whether there is an annex to be encrypted."""
        return self._there and self.annex.isChecked() and self.lock.isChecked()

    def request(
        self, build: Work[Built], path: Path, passphrase: Secret | None = None
    ) -> SaveReport:
        """Return what is to be written."""
        return SaveReport(
            build=build,
            path=path,
            record=self.record.isChecked(),
            tables=self.tables.isChecked(),
            html=self.html.isChecked(),
            annex=self.annex.isChecked(),
            passphrase=passphrase,
        )


class SaveLine(QWidget):
    """How saving goes: words, a bar, and a way to stop.

    Args:
        queue: Where it is done.

    Signals:
        saved: The report is written.
        failed: It is not; a Failure.
        busy_changed: Saving began or ended.
    """

    saved = Signal(object)
    failed = Signal(object)
    busy_changed = Signal()

    def __init__(self, queue: JobQueue, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._queue = queue
        self._saving: Job | None = None
        self.question: QMessageBox | None = None
        self.words = Remark()
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setMaximumWidth(240)
        self.bar.setAccessibleName(translate("Report", "Progress of saving"))
        self.stop = QPushButton(translate("Report", "Cancel"))
        self.stop.setAutoDefault(False)
        self.stop.clicked.connect(self.cancel)
        row = QHBoxLayout()
        row.setSpacing(GRID)
        row.addWidget(self.bar, 1)
        row.addWidget(self.stop)
        row.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID // 2)
        layout.addWidget(self.words)
        layout.addLayout(row)
        self._show()

    @property
    def busy(self) -> bool:
        """Whether a report is being saved."""
        return self._saving is not None

    def save(self, request: SaveReport) -> None:
        """Write the files of a report."""
        if self.busy:
            return
        self.say(translate("Report", "Saving the report …"))
        self.bar.setRange(0, 0)
        self._saving = self._queue.do(
            lambda context: save(request, context),
            self._ended,
            self,
            progressed=self._progressed,
        )
        self._show()

    def cancel(self) -> None:
        """Stop; nothing is written if writing has not begun."""
        if self._saving is not None:
            self._saving.cancel()

    def say(self, what: Failure | str, *, role: str = "muted") -> None:
        """Say how it went."""
        self.words.say(what, role=role)

    def _show(self) -> None:
        self.bar.setVisible(self.busy)
        self.stop.setVisible(self.busy)
        self.words.setVisible(bool(self.words.text()))
        self.busy_changed.emit()

    def _progressed(self, progress: Progress) -> None:
        if progress.total:
            self.bar.setRange(0, progress.total)
            self.bar.setValue(progress.done)

    def _ended(self, outcome: Outcome[Saved | InTheWay]) -> None:
        self._saving = None
        match outcome:
            case Done(Saved() as saved):
                self.say(saved_words(saved), role="done")
                self.saved.emit(saved)
            case Done(InTheWay() as taken):
                self.say("")
                self._ask(taken)
            case Failure():
                self.say(outcome)
                self.failed.emit(outcome)
            case _:
                self.say(translate("Report", "Stopped; nothing was written."))
        self._show()

    def _ask(self, taken: InTheWay) -> None:
        listed = ", ".join(quoted(path.name) for path in taken.paths[:4])
        if len(taken.paths) > 4:
            listed += ", …"
        question = filled(
            translate(
                "Report",
                "There already {n:plural(is {names:text}. Replace it?|are {n:count} of these "
                "files: {names:text}. Replace them?)}",
            ),
            n=len(taken.paths),
            names=listed,
        )
        self.question = ask_first(
            self,
            translate("Report", "Save the report"),
            question,
            translate("Report", "What stands in them now is lost."),
            (
                translate("Report", "Replace"),
                lambda: self.save(replace(taken.request, replace=True)),
            ),
        )


def saved_words(saved: Saved) -> str:
    """Say what was written, and where."""
    words = filled(translate("Report", "“{file:text}” is saved."), file=saved.path.name)
    annex = saved.written.annex
    beside = sum(file.path not in (saved.path, annex) for file in saved.written.files)
    if beside:
        more = filled(
            translate("Report", "{n:count} more {n:plural(file stands|files stand)} beside it."),
            n=beside,
        )
        words = f"{words} {more}"
    if annex is not None:
        apart = filled(
            translate(
                "Report",
                "The names are in “{file:text}”, beside it, readable by you only; keep it apart.",
            ),
            file=annex.name,
        )
        words = f"{words} {apart}"
    return words


def ask_where(
    parent: QWidget, folder: Path | None, name: str, take: Callable[[Path], object]
) -> QFileDialog:
    """Ask for the PDF; files in the way are asked about afterwards, at once."""
    documents = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
    return ask_target(
        parent,
        translate("Report", "Save the report"),
        take,
        translate("Report", "Reports (*.pdf)"),
        name=name,
        suffix="pdf",
        folder=folder or Path(documents),
        confirm=False,
    )


def show_folder(path: Path) -> None:
    """Open the folder of a file."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path.parent)))
