"""Make a report: the form on the left, all its pages on the right, and the way to a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QMessageBox,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from pura.keys import Secret
from pura.record.audit import Audit
from pura.report import ReportRequest, safe_name
from pura.usecases.reports import Built
from pura_audit.jobs.queue import Failure, Work
from pura_audit.keys.passphrase import PassphraseDialog
from pura_audit.platform.i18n import translate
from pura_audit.reports.form import ReportForm
from pura_audit.reports.preview import ReportPreview
from pura_audit.reports.save import FilesGroup, ReportMaker, Saved, SaveLine, ask_where, show_folder
from pura_audit.session.drafts import PAUSE_MS, ReportDraft
from pura_audit.session.session import Session
from pura_audit.theme.theme import GAP, GRID, PADDING
from pura_audit.widgets.card import label
from pura_audit.widgets.form_dialog import PlainDialog, ask_first, main_button, opened, plain_button

FORM: Final = 380


class ReportDialog(PlainDialog):
    """Makes one report of one or several audits.

    Args:
        session: Its settings and its jobs.
        audits: Names and audits to choose from; the first is ticked.
        base: What is known beforehand: case, item, parties.
        every: All audits are ticked.

    Signals:
        saved: A report was written: what was built, and the path of the PDF.
        sign_wanted: A written report is to be signed: its path.
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
        every: bool = False,
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
        first = audits if every else audits[:1]
        self._draft = ReportDraft(session.drafts, [audit.id for _, audit in first])
        draft = self._draft.found
        self.setWindowTitle(translate("Report", "Report"))
        self.setWindowFlag(Qt.WindowType.WindowMaximizeButtonHint)
        queue, self._maker = session.jobs.reports, ReportMaker(session.cases.environment)
        # Parents first: a widget that moves into another takes all that is in it along, and each
        # of them is dressed anew.
        self.parts = QSplitter(Qt.Orientation.Horizontal, self)
        self.left = QFrame(self.parts)
        self.form = ReportForm(
            audits,
            # What the case log says of them is not older than the log.
            base if draft is None else replace(draft, log=base.log, reviewed=base.reviewed),
            session.settings.current,
            self.left,
            every=every,
        )
        self.files = FilesGroup()
        self.form.extra.addWidget(self.files)
        self.preview = ReportPreview(queue, self.parts)
        self.line = SaveLine(queue)
        words = translate("Report", "Save report …")
        self.save_button = main_button(words, self.ask_where, enter=False)
        self.save_button.setShortcut(QKeySequence.StandardKey.Save)
        self.save_button.setToolTip(
            self.save_button.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        )
        self.sign_button = plain_button(translate("Report", "Sign …"), self._sign)
        self.folder_button = plain_button(translate("Report", "Show in its folder"), self._folder)
        self.close_button = plain_button(translate("Dialog", "Close"), self.reject)
        self._lay_out()
        self.form.changed.connect(self._changed)
        self.preview.made.connect(self._made)
        self.line.saved.connect(self._saved)
        self.line.failed.connect(self._failed)
        self.line.busy_changed.connect(self._refresh)
        self._fit(parent)
        self._refresh()
        self._renew(now=True)
        self.form.audits.list.setFocus()
        if draft is not None:
            self._dirty = True
            self.line.say(translate("Report", "What was filled in last time is back."))

    def _lay_out(self) -> None:
        self.left.setProperty("role", "card")
        side = QVBoxLayout(self.left)
        side.setContentsMargins(GAP + GRID // 2, GRID, GRID // 2, GRID)
        side.addWidget(self.form)
        self.left.setMinimumWidth(FORM - 100)
        self.parts.setHandleWidth(GAP)
        self.parts.setChildrenCollapsible(False)
        self.parts.setStretchFactor(1, 1)
        self.parts.setSizes([FORM, 10_000])
        foot = QHBoxLayout()
        foot.setSpacing(GRID)
        foot.addWidget(self.line, 1)
        for button in (self.folder_button, self.sign_button, self.close_button, self.save_button):
            foot.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(PADDING, PADDING - GRID, PADDING, PADDING - GRID)
        layout.setSpacing(GAP)
        layout.addWidget(label(translate("Report", "Report"), "answer"))
        layout.addWidget(self.parts, 1)
        layout.addLayout(foot)

    def _fit(self, parent: QWidget | None) -> None:
        """Be nearly as large as the window behind."""
        room = parent.window().size() if parent is not None else self.size()
        self.resize(max(980, min(1400, room.width() - 40)), max(600, min(980, room.height() - 32)))

    def _refresh(self) -> None:
        busy = self.line.busy
        self.left.setEnabled(not busy)
        self.save_button.setEnabled(not busy and bool(self.form.audits.chosen()))
        for button in (self.sign_button, self.folder_button):
            button.setVisible(self._path is not None and not busy)

    # The preview

    def _changed(self) -> None:
        self._dirty = True
        if self._path is not None:
            self._path = None  # what was saved is another report
            self.line.say("")
        self._noting.start()
        self._renew()
        self._refresh()

    def _note(self) -> None:
        chosen = self.form.audits.chosen()
        self._draft.note([audit.id for audit in chosen], self.form.request())

    def _work(self) -> Work[Built]:
        """Return what makes the report that is filled in."""
        form = self.form
        return partial(self._maker.build, form.audits.chosen(), form.request(), form.layout_.logo)

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

    # Saving

    def ask_where(self) -> None:
        """Ask for a name, unless something in the form must be mended first."""
        failure = self.preview.failure
        if not self.form.check() or (failure is not None and self.form.place_failure(failure)):
            self.form.point()
            self.line.say(translate("Report", "Mend what the form says first."), role="attention")
            return
        built = self.preview.built
        number = self.form.report.number.text or (built.report.number if built else "")
        ask_where(self, self._where, safe_name(number, ".pdf"), self.save_to)

    def save_to(self, path: Path) -> None:
        """Write the report, and what goes beside it."""
        if path.suffix.lower() != ".pdf":
            path = path.with_name(f"{path.name}.pdf")
        if not self.form.check():
            return
        if not self.files.locks:
            self._write(path, None)
            return
        dialog = PassphraseDialog(
            translate("Report", "Passphrase of the annex"),
            translate("Report", "Whoever shall read the names needs it. It is kept nowhere."),
            translate("Report", "Save the report"),
            self,
            new=True,
        )
        dialog.given.connect(lambda secret: self._write(path, secret))
        opened(dialog)

    def _write(self, path: Path, secret: Secret | None) -> None:
        self._path, self._where = None, path.parent
        self.line.save(self.files.request(self._work(), path, secret))

    def _saved(self, saved: Saved) -> None:
        self._dirty = False
        self._forget()
        self._path = saved.path
        self._session.settings.update(**self.form.remembered())
        self.saved.emit(saved.built, saved.path)

    def _failed(self, failure: Failure) -> None:
        self.form.place_failure(failure)

    def _sign(self) -> None:
        if self._path is not None:
            self.sign_wanted.emit(self._path)

    def _folder(self) -> None:
        if self._path is not None:
            show_folder(self._path)

    # The end

    def reject(self) -> None:
        """Ask before what was filled in is lost."""
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
        """Want nothing any more."""
        self.preview.close_down()
        self.line.cancel()
        self._forget()
        super().done(result)
