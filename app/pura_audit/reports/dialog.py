"""The dialog that makes a report: the form, a preview of all pages, and saving."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import QStandardPaths, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QKeySequence
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QMessageBox,
    QSplitter,
    QWidget,
)

from pura.keys import Secret
from pura.record.audit import Audit
from pura.report.annexes import names, safe_name
from pura.report.request import FULL, PagePicture, ReportRequest
from pura.usecases.environment import Environment
from pura.usecases.reports import (
    Built,
    FilesTakenError,
    WrittenReport,
    build_report,
    files_examined,
    original_pages,
    with_logo,
    write_report,
)
from pura_audit.jobs.queue import Done, Failure, Job, JobContext, JobQueue, Outcome, Progress, Work
from pura_audit.platform.i18n import filled, quoted, translate
from pura_audit.reports.form import ReportForm
from pura_audit.reports.preview import ReportPreview
from pura_audit.session.keeper import PAUSE_MS, ReportDraft
from pura_audit.session.session import Session
from pura_audit.stores.key_forms import PassphraseDialog
from pura_audit.theme.theme import GAP, GRID, PADDING
from pura_audit.widgets.card import (
    Fold,
    add_parts,
    column_of,
    label,
    progress_bar,
    row_of,
    run_endless,
)
from pura_audit.widgets.form_dialog import (
    MainButton,
    PlainDialog,
    Remark,
    ask_files,
    ask_first,
    ask_target,
    opened,
    plain_button,
)


def report_builder(
    environment: Environment, files: Mapping[str, Path]
) -> Callable[[Sequence[Audit], ReportRequest, Path | None, JobContext], Built]:
    """Return the function that builds the reports of a dialog and caches the last one.

    It runs in the queue's thread.

    Args:
        environment: The environment with the case log.
        files: Paths of the examined files by SHA-256.
    """
    last: Built | None = None
    drawn: dict[tuple[str, Path | None], tuple[PagePicture, ...]] = {}

    def build(
        audits: Sequence[Audit], request: ReportRequest, logo: Path | None, context: JobContext
    ) -> Built:
        nonlocal last
        request = with_logo(request, logo)
        if request.text == FULL:
            keys = [(audit.id, files.get(audit.input.sha256)) for audit in audits]
            for audit, key in zip(audits, keys, strict=True):
                if key not in drawn:
                    drawn[key] = original_pages(audit, key[1], context.checkpoint)
            if any(pages := tuple(drawn[key] for key in keys)):
                request = replace(request, pages=pages)
        # The same objects: to compare what they hold would take long.
        same = last is not None and [*map(id, last.audits)] == [*map(id, audits)]
        if last is None or not same or last.request != request:
            last = build_report(
                environment,
                audits,
                request=request,
                apart=True,
                progress=context.progress,
                checkpoint=context.checkpoint,
            )
        return last

    return build


def saving(
    build: Work[Built],
    path: Path,
    files: Mapping[str, Any],
    secret: Secret | None,
    *,
    replace: bool,
) -> Work[tuple[Built, WrittenReport] | FilesTakenError]:
    """Return the work that builds a report and writes it with its accompanying files.

    Args:
        build: Builds the report.
        path: Path of the PDF.
        files: The accompanying files, as arguments of :func:`write_report`.
        secret: Passphrase that encrypts the annex, wiped after use; None for no encryption.
        replace: Whether the user agreed to replace existing files.
    """

    def work(context: JobContext) -> tuple[Built, WrittenReport] | FilesTakenError:
        built = build(context)
        try:
            written = write_report(
                built,
                pdf=path,
                **files,
                annex_passphrase=secret,
                replace=replace,
                progress=context.progress,
                checkpoint=context.checkpoint,
            )
        except FilesTakenError as error:
            return error
        if secret is not None:
            secret.wipe()
        return built, written

    return work


class FilesGroup(Fold):
    """The group of the files that are saved with the PDF."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__(translate("Report", "Files next to the PDF"))
        self.record = QCheckBox(translate("Report", "Record (JSON)"))
        self.tables = QCheckBox(translate("Report", "Bits and tokens (CSV)"))
        self.html = QCheckBox(translate("Report", "The report as a page (HTML)"))
        self.annex = QCheckBox(translate("Report", "Sealed annex with the names (PDF)"))
        self.annex.setChecked(True)
        explanation = translate(
            "Report",
            "The names of those to whom payloads were issued never appear in the report. "
            "They are in the annex; the report prints the annex's SHA-256.",
        )
        self._about = label(explanation, "muted", wrap=True)
        self.lock = QCheckBox(translate("Report", "Encrypt the annex under a passphrase"))
        self.lock.setChecked(True)
        notice = translate("Report", "Saving asks for this passphrase, twice: choose it before.")
        self._asked = label(notice, "muted", wrap=True)
        for box in (self.record, self.tables, self.html, self.annex, self.lock):
            box.toggled.connect(lambda _: self._count())
            self.body.addWidget(box)
        add_parts(self.body, self._asked, self._about)
        self.follow(())

    def follow(self, audits: tuple[Audit, ...]) -> None:
        """Offer the annex if the audits have names of recipients."""
        has_names = any(row[2].strip() for row in names(audits))
        self.annex.setVisible(has_names)
        self.lock.setVisible(has_names)
        self._about.setVisible(has_names)
        self._there = has_names
        self._count()

    def _count(self) -> None:
        boxes = [(self.record, "JSON"), (self.tables, "CSV"), (self.html, "HTML")]
        if self._there:
            boxes.append((self.annex, translate("Report", "annex")))
        kinds = ", ".join(name for box, name in boxes if box.isChecked())
        self.tell(kinds or translate("Report", "none"))
        self.lock.setEnabled(self.annex.isChecked())
        self._asked.setVisible(self.locks)
        self.changed.emit()

    @property
    def locks(self) -> bool:
        """Whether an annex will be encrypted."""
        return self._there and self.annex.isChecked() and self.lock.isChecked()

    def further(self, pdf: Path) -> dict[str, Any]:
        """Return the accompanying files as arguments of :func:`write_report`."""
        names = {"record": ".json", "html": ".html", "annex": "-sealed.pdf"}
        boxes = {"record": self.record, "html": self.html, "annex": self.annex}
        files: dict[str, Any] = {
            kind: pdf.with_name(f"{pdf.stem}{names[kind]}")
            for kind, box in boxes.items()
            if box.isChecked()
        }
        if self.tables.isChecked():
            files |= {"tables": pdf.parent, "tables_prefix": f"{pdf.stem}-"}
        return files


class SaveProgress(QWidget):
    """Shows the progress of saving, with a button to stop.

    Args:
        queue: The queue that saves.

    Signals:
        saved: The report was written; carries the built report and the path of the PDF.
        failed: Saving failed; carries a Failure.
        busy_changed: Saving began or ended.
    """

    saved = Signal(object, object)
    failed = Signal(object)
    busy_changed = Signal()

    def __init__(self, queue: JobQueue) -> None:
        super().__init__()
        self._queue = queue
        self._saving: Job | None = None
        self.question: QMessageBox | None = None
        self.words = Remark()
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.bar = progress_bar(translate("Report", "Progress of saving"))
        self.bar.setMaximumWidth(240)
        self.stop = plain_button(translate("Report", "Cancel"), self.cancel)
        row = row_of((self.bar, 1), self.stop, None)
        column_of(self.words, row, spacing=GRID // 2, inside=self)
        self._show()

    @property
    def busy(self) -> bool:
        """Whether a report is being saved."""
        return self._saving is not None

    def save(
        self,
        build: Work[Built],
        path: Path,
        files: Mapping[str, Any],
        secret: Secret | None,
        *,
        replace: bool = False,
    ) -> None:
        """Write the files of a report; see :func:`saving`."""
        if self.busy:
            return
        retry = partial(self.save, build, path, files, secret, replace=True)
        self.words.say(translate("Report", "Saving the report …"))
        run_endless(self.bar)
        self._saving = self._queue.do(
            saving(build, path, files, secret, replace=replace),
            lambda outcome: self._ended(outcome, path, retry),
            self,
            progressed=self._progressed,
        )
        self._show()

    def cancel(self) -> None:
        """Stop saving; no file is written unless writing has begun."""
        if self._saving is not None:
            self._saving.cancel()

    def _show(self) -> None:
        self.bar.setVisible(self.busy)
        self.stop.setVisible(self.busy)
        self.words.setVisible(bool(self.words.text()))
        self.busy_changed.emit()

    def _progressed(self, progress: Progress) -> None:
        if progress.total:
            self.bar.setRange(0, progress.total)
            self.bar.setValue(progress.done)

    def _ended(
        self,
        outcome: Outcome[tuple[Built, WrittenReport] | FilesTakenError],
        path: Path,
        retry: Callable[[], None],
    ) -> None:
        self._saving = None
        match outcome:
            case Done(FilesTakenError() as error):
                self.words.say("")
                self._ask(error.paths, retry)
            case Done((built, written)):
                self.words.say(saved_words(path, written), role="done")
                self.saved.emit(built, path)
            case Failure():
                self.words.say(outcome)
                self.failed.emit(outcome)
            case _:
                self.words.say(translate("Report", "Stopped; nothing was written."))
        self._show()

    def _ask(self, paths: Sequence[Path], retry: Callable[[], None]) -> None:
        listed = ", ".join(quoted(path.name) for path in paths[:4])
        if len(paths) > 4:
            listed += ", …"
        question = filled(
            translate(
                "Report",
                "There already {n:plural(is {names:text}. Replace it?|are {n:count} of these "
                "files: {names:text}. Replace them?)}",
            ),
            n=len(paths),
            names=listed,
        )
        self.question = ask_first(
            self,
            translate("Report", "Save the report"),
            question,
            translate("Report", "Their present content is lost."),
            (translate("Report", "Replace"), retry),
        )


def saved_words(path: Path, written: WrittenReport) -> str:
    """Return which files were written."""
    sentences = filled(translate("Report", "“{file:text}” is saved."), file=path.name)
    annex = written.annex
    more_files = sum(file not in (path, annex) for file in written.files)
    if more_files:
        further = filled(
            translate("Report", "{n:count} more {n:plural(file is|files are)} next to it."),
            n=more_files,
        )
        sentences = f"{sentences} {further}"
    if annex is not None:
        annex_sentence = filled(
            translate(
                "Report",
                "The names are next to it in “{file:text}”, which only you can read; store that"
                " file separately.",
            ),
            file=annex.name,
        )
        sentences = f"{sentences} {annex_sentence}"
    return sentences


FORM: Final = 380  # pixels of the form beside the preview


class ReportDialog(PlainDialog):
    """Makes one report of one or several audits.

    Args:
        session: The session with its settings and jobs.
        audits: Names and audits to choose from; the first one is ticked.
        base: Initial content: case, item and parties.
        tick_all: Whether all audits are ticked.

    Signals:
        saved: A report was written; carries the built report and the path of the PDF.
        sign_wanted: A written report is to be signed; carries its path.
    """

    saved = Signal(object, object)
    sign_wanted = Signal(object)

    def __init__(
        self,
        session: Session,
        audits: Sequence[tuple[str, Audit]],
        base: ReportRequest | None = None,
        parent: QWidget | None = None,
        *,
        tick_all: bool = False,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._dirty = False
        self._path: Path | None = None
        self._where: Path | None = None
        self._question: QMessageBox | None = None
        self._noting = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._noting.timeout.connect(self._note)
        base = base or ReportRequest()
        first = audits if tick_all else audits[:1]
        self._draft = ReportDraft(session.drafts, [audit.id for _, audit in first])
        draft = self._draft.found
        self.setWindowTitle(translate("Report", "Report"))
        self.setWindowFlag(Qt.WindowType.WindowMaximizeButtonHint)
        self._files = {
            row.audit.input.sha256: path
            for row in session.texts.queue.items
            if row.audit is not None and (path := row.original or row.path) is not None
        }
        self._offered = [audit for _, audit in audits]
        queue = session.jobs.reports
        self._build = report_builder(session.cases.environment, self._files)
        # Parents first: a widget that moves into another takes all that is in it along, and each
        # of them is dressed anew.
        self.parts = QSplitter(Qt.Orientation.Horizontal, self)
        self.parts.setHandleWidth(GAP)
        self.left = QFrame(self.parts)
        self.preview = ReportPreview(queue, self.parts)
        self.parts.setSizes([FORM, 10_000])  # while there is little to lay out
        self.form = ReportForm(
            audits,
            # What the case log says of them is not older than the log.
            base if draft is None else replace(draft, log=base.log, reviewed=base.reviewed),
            session.settings.current,
            self.left,
            tick_all=tick_all,
        )
        self.files = FilesGroup()
        self.form.extra.addWidget(self.files)
        self.line = SaveProgress(queue)
        caption = translate("Report", "Save report …")
        self.save_button = MainButton(caption, self.ask_where, enter=False)
        self.save_button.setShortcut(QKeySequence.StandardKey.Save)
        self.save_button.setToolTip(
            self.save_button.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        )
        self.asks = label("", "muted")
        self.files.changed.connect(self._announce)
        self.sign_button = plain_button(translate("Report", "Sign …"), self._sign)
        self.folder_button = plain_button(translate("Report", "Show in its folder"), self._folder)
        self.close_button = plain_button(translate("Dialog", "Close"), self.reject)
        self._lay_out()
        self.form.changed.connect(self._changed)
        self.form.text.original_wanted.connect(self._ask_original)
        self.preview.made.connect(self._made)
        self.line.saved.connect(self._saved)
        self.line.failed.connect(self.form.place_failure)
        self.line.busy_changed.connect(self._refresh)
        self._fit(parent)
        self._refresh()
        self._renew(now=True)
        self.form.audits.list.setFocus()
        if draft is not None:
            self._dirty = True
            self.line.words.say(translate("Report", "What was filled in last time is back."))

    def _lay_out(self) -> None:
        self.left.setProperty("role", "card")
        side = column_of(self.form, inside=self.left)
        side.setContentsMargins(GAP + GRID // 2, GRID, GRID // 2, GRID)
        self.left.setMinimumWidth(FORM - 100)
        self.parts.setChildrenCollapsible(False)
        self.parts.setStretchFactor(1, 1)
        buttons = (self.folder_button, self.sign_button, self.close_button, self.save_button)
        title = label(translate("Report", "Report"), "answer")
        row = row_of((self.line, 1), self.save_button.missing, self.asks, *buttons)
        layout = column_of(title, (self.parts, 1), row, spacing=GAP, inside=self)
        layout.setContentsMargins(PADDING, PADDING - GRID, PADDING, PADDING - GRID)
        self._announce()

    def _fit(self, parent: QWidget | None) -> None:
        """Make the dialog nearly as large as the window behind it."""
        window = parent.window().size() if parent is not None else self.size()
        self.resize(
            max(980, min(1400, window.width() - 40)), max(600, min(980, window.height() - 32))
        )

    def _announce(self) -> None:
        """Show whether saving will ask for a passphrase."""
        notice = translate("Report", "Saving asks for the annex’s passphrase.")
        self.asks.setText(notice if self.files.locks else "")

    def _refresh(self) -> None:
        busy = self.line.busy
        self.left.setEnabled(not busy)
        audits = {translate("Report", "Audits"): self.form.audits.chosen()}
        self.save_button.require(audits, free=not busy)
        for button in (self.sign_button, self.folder_button):
            button.setVisible(self._path is not None and not busy)

    # The preview

    def _changed(self) -> None:
        self._dirty = True
        if self._path is not None:
            self._path = None  # what was saved is another report
            self.line.words.say("")
        self._noting.start()
        self._renew()
        self._refresh()

    def _note(self) -> None:
        ticked = self.form.audits.chosen()
        self._draft.note([audit.id for audit in ticked], self.form.request())

    def _work(self) -> Work[Built]:
        """Return the work that builds the report of the form."""
        form = self.form
        return partial(self._build, form.audits.chosen(), form.request(), form.layout_.logo)

    def _forget(self) -> None:
        self._noting.stop()
        self._draft.forget()

    def _renew(self, *, now: bool = False) -> None:
        self.files.follow(self.form.audits.chosen())
        self.form.clear_failures()
        self.preview.want(self._work() if self.form.check() else None, now=now)

    def _made(self) -> None:
        failure, built = self.preview.failure, self.preview.built
        if failure is not None:
            if self.form.place_failure(failure):
                self.preview.point_to_form()
        elif built is not None:
            self.form.report.number.set_hint(built.report.number)
            self.form.text.say_pages(built.audits, built.request)

    def _ask_original(self) -> None:
        title = translate("Report", "The file that was examined")
        ask_files(self, title, self.take_originals, translate("Report", "PDF (*.pdf)"))

    def take_originals(self, paths: Sequence[Path]) -> None:
        """Use the pages of these files if they are the examined ones."""

        def told(outcome: Outcome[dict[str, Path]]) -> None:
            if isinstance(outcome, Done):
                self._files.update(outcome.result)
                self._renew(now=True)
            elif isinstance(outcome, Failure):
                self.form.text.pages.say(outcome)

        self._session.jobs.files.do(lambda _: files_examined(self._offered, paths), told, self)

    # Saving

    def ask_where(self) -> None:
        """Ask for the file to save to, unless the form has errors."""
        failure = self.preview.failure
        if not self.form.check() or (failure is not None and self.form.place_failure(failure)):
            self.form.point()
            self.line.words.say(
                translate("Report", "Mend what the form says first."), role="attention"
            )
            return
        built = self.preview.built
        number = self.form.report.number.text or (built.report.number if built else "")
        locations = QStandardPaths.StandardLocation
        documents = Path(QStandardPaths.writableLocation(locations.DocumentsLocation))
        ask_target(
            self,
            translate("Report", "Save the report"),
            self.save_to,
            translate("Report", "Reports (*.pdf)"),
            name=safe_name(number, f"-{self._state()}.pdf"),
            suffix="pdf",
            folder=self._where or documents,
            confirm=False,  # files in the way are asked about afterwards, all at once
        )

    def _state(self) -> str:
        """Return the kind of the report for its file name."""
        if self.form.report.final.isChecked():
            return translate("Report", "final")
        return translate("Report", "draft")

    def save_to(self, path: Path) -> None:
        """Write the report and its accompanying files."""
        if path.suffix.lower() != ".pdf":
            path = path.with_name(f"{path.name}.pdf")
        if not self.form.check():
            return
        if not self.files.locks:
            self._write(path, None)
            return
        dialog = PassphraseDialog(
            translate("Report", "Passphrase of the annex"),
            translate(
                "Report", "Anyone who is to read the names needs it. It is not stored anywhere."
            ),
            translate("Report", "Save the report"),
            self,
            new=True,
        )
        dialog.given.connect(lambda secret: self._write(path, secret))
        opened(dialog)

    def _write(self, path: Path, secret: Secret | None) -> None:
        self._path, self._where = None, path.parent
        self.preview.view.setFocus()  # else the ring goes on to a button, as the form goes grey
        self.line.save(self._work(), path, self.files.further(path), secret)

    def _saved(self, built: Built, path: Path) -> None:
        self._dirty = False
        self._forget()
        self._path = path
        self._session.settings.update(**self.form.remembered())
        self.saved.emit(built, path)

    def _sign(self) -> None:
        if self._path is not None:
            self.sign_wanted.emit(self._path)

    def _folder(self) -> None:
        if self._path is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._path.parent)))

    # The end

    def reject(self) -> None:
        """Ask for confirmation before the input is lost."""
        if self.line.busy:
            self.line.cancel()
        elif not self._dirty:
            super().reject()
        else:
            self._question = ask_first(
                self,
                translate("Report", "Close the report"),
                translate("Report", "Close without saving?"),
                translate("Report", "What was filled in is lost."),
                (translate("Report", "Close"), self._leave),
            )

    def _leave(self) -> None:
        self._dirty = False
        self.reject()

    def done(self, result: int) -> None:
        """Stop all work when the dialog closes."""
        self.preview.close_down()
        self.line.cancel()
        self._forget()
        super().done(result)
