"""Check a report, or a statement that a detector signed.

Failed checks come first, then all others.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final, Generic, TypeVar

from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import QCheckBox, QGridLayout, QWidget

from pura.base.process import confines_children
from pura.report.check import BAD, GOOD, NOTICE, OPEN, CheckedPoint, ReportCheck
from pura.report.statement import StatementCheck
from pura.usecases.reports import check_report, check_statement
from pura_audit.jobs.queue import Done, Failure, Job, Outcome, with_progress
from pura_audit.platform.i18n import filled, language, translate
from pura_audit.session.session import Session
from pura_audit.theme.theme import GAP, GRID
from pura_audit.widgets.card import (
    Card,
    ElidedLabel,
    Fold,
    add_parts,
    clear_layout,
    dropped_paths,
    label,
    progress_bar,
    restyle,
    row_of,
)
from pura_audit.widgets.check_list import check_card, check_list
from pura_audit.widgets.form_dialog import (
    MainButton,
    PlainDialog,
    Take,
    ask_file,
    ask_to_read,
    button_row,
    close_button,
    dialog_column,
    plain_button,
)

C = TypeVar("C", ReportCheck, StatementCheck)
# Order of the checks in the dialog.
_RANK: Final = {BAD: 0, NOTICE: 1, OPEN: 2}


def _card(check: CheckedPoint) -> Card:
    tongue = language()
    return check_card(check.state, check.title(tongue), check.text(tongue), check.result(tongue))


class CheckingDialog(PlainDialog, Generic[C]):
    """Base class of dialogs that check a chosen or dropped file.

    Attributes:
        checked: The last result, or None.
    """

    def __init__(
        self, session: Session, title: str, choose: str, trust: str, parent: QWidget | None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._path: Path | None = None
        self._trust: tuple[Path, ...] = ()
        self._job: Job | None = None
        self.checked: C | None = None
        self.setWindowTitle(title)
        self.setAcceptDrops(True)
        self.choose = plain_button(choose, self._ask_file)
        self.add_trust = plain_button(trust, self._ask_trust)
        self.copy_button = plain_button(translate("ReportCheck", "Copy the results"), self.copy)
        self.file = ElidedLabel(role="value", middle=True)
        self.trusted = label("", "muted", wrap=True)
        self.summary = label("", "reading", wrap=True)
        name = translate("ReportCheck", "Single checks")
        self.area, self.rows = check_list(name, (0, 0, GRID, 0))

    def _ask_file(self) -> None:
        raise NotImplementedError

    def _ask_trust(self) -> None:
        raise NotImplementedError

    def _ask(self, title: str, take: Take, *kinds: str) -> None:
        ask_file(self, title, take, *kinds, translate("ReportCheck", "All files (*)"))

    def _ask_certificate(self, title: str) -> None:
        kinds = translate("ReportCheck", "Certificates (*.pem *.crt *.cer *.der)")
        self._ask(title, self.trust, kinds)

    def _refresh(self) -> None:
        self.trusted.setText(
            ", ".join(file.name for file in self._trust)
            or translate("ReportCheck", "None: who signed is shown, but not held against anything.")
        )
        self.copy_button.setEnabled(self.checked is not None and self._job is None)

    def take(self, path: Path) -> None:
        """Choose a file and check it."""
        self._path = path
        self.check()

    def trust(self, path: Path) -> None:
        """Trust the certificates or the key of a file, and check again."""
        self._trust = tuple(dict.fromkeys((*self._trust, path)))
        self.check()

    def check(self) -> None:
        """Check the chosen file."""
        raise NotImplementedError

    def lines(self) -> list[str]:
        """Return the lines about the file above the single checks."""
        return []

    def copy(self) -> None:
        """Copy all results as text."""
        if self.checked is not None:
            tongue = language()
            lines = [self.checked.headline(tongue), *self.lines()]
            lines += [
                f"{check.title(tongue)}: {check.result(tongue)}. {check.text(tongue)}"
                for check in self.checked.checks
            ]
            QGuiApplication.clipboard().setText("\n".join(lines))

    def _ended(self, outcome: Outcome[C]) -> None:
        self._job = None
        match outcome:
            case Done(checked):
                self.checked = checked
                self._show(checked)
            case Failure():
                restyle(self.summary, "role", "reading")
                self.summary.setText(outcome.words)
            case _:
                self.summary.setText("")
        self._refresh()

    def _show(self, checked: C) -> None:
        if isinstance(checked, ReportCheck):
            good = checked.sound
        else:
            good = checked.status != "amiss"
        self.summary.setText(checked.headline(language()))
        restyle(self.summary, "role", "reading" if good else "banner")
        side, above = (0, 0) if good else (GAP, GRID)
        self.summary.setContentsMargins(side, above, side, above)
        clear_layout(self.rows)
        faults = [check for check in checked.checks if check.state != GOOD]
        for single in sorted(faults, key=lambda check: _RANK[check.state]):
            self.rows.addWidget(_card(single))
        passed = [check for check in checked.checks if check.state == GOOD]
        if passed:
            template = translate(
                "ReportCheck", "Nothing wrong in {n:plural(one check|{n:count} checks)}"
            )
            fold = Fold(filled(template, n=len(passed)), opened=not faults)
            for single in passed:
                fold.body.addWidget(_card(single))
            self.rows.addWidget(fold)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept the drag of a file."""
        if dropped_paths(event.mimeData()) and self._job is None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Check the dropped file."""
        paths = dropped_paths(event.mimeData())
        if paths and self._job is None:
            event.acceptProposedAction()
            self.take(paths[0])

    def done(self, result: int) -> None:
        """Stop the check when the dialog closes."""
        if self._job is not None:
            self._job.drop()
            self._job = None
        super().done(result)


class ReportCheckDialog(CheckingDialog[ReportCheck]):
    """Verifies reports, one after the other."""

    def __init__(
        self, session: Session, path: Path | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(
            session,
            translate("ReportCheck", "Verify a report"),
            translate("ReportCheck", "Choose a report …"),
            translate("ReportCheck", "Trust a certificate …"),
            parent,
        )
        self.resize(760, 720)
        self.again = QCheckBox(translate("ReportCheck", "Audit the embedded text again"))
        self.again.setToolTip(
            translate("ReportCheck", "Needs the key and the model of the report on this computer.")
        )
        self.start = MainButton(translate("ReportCheck", "Check"), self.check, enter=False)
        self.bar = progress_bar(translate("ReportCheck", "Checking"), endless=True)
        caption = translate("ReportCheck", "Show the audits")
        self.show_audits = plain_button(caption, self._show_audits)
        self.stop = plain_button(translate("ReportCheck", "Stop"), self._stop)
        self._lay_out()
        self._refresh()
        self.choose.setFocus()
        if path is not None:
            self.take(path)

    def take(self, path: Path) -> None:
        """Choose a file and check it, after the user agreed that it is read."""
        ask_to_read(self, [path], partial(super().take, path))

    def _lay_out(self) -> None:
        shut = translate(
            "ReportCheck", "The PDF is taken apart without access to files or network."
        )
        introduction = translate(
            "ReportCheck",
            "Each check has its own result; no single tick stands for all of them.",
        )
        layout = dialog_column(
            self,
            self.windowTitle(),
            f"{shut} {introduction}" if confines_children() else introduction,
        )
        for button, name in ((self.choose, self.file), (self.add_trust, self.trusted)):
            layout.addLayout(row_of(button, (name, 1), spacing=GAP))
        add_parts(
            layout,
            button_row(self.stop, self.start, left=(self.again,)),
            self.bar,
            self.summary,
            (self.area, 1),
        )
        left = (self.copy_button, self.show_audits)
        layout.addLayout(button_row(close_button(self), left=left))

    def _refresh(self) -> None:
        super()._refresh()
        path, busy = self._path, self._job is not None
        self.file.setText(
            path.name if path else translate("ReportCheck", "or drop a PDF on this window")
        )
        self.bar.setVisible(busy)
        self.stop.setVisible(busy)
        for widget in (self.choose, self.add_trust, self.again):
            widget.setEnabled(not busy)
        self.start.require({translate("ReportCheck", "Report"): path}, free=not busy)
        has_audits = self.checked is not None and bool(self.checked.audits)
        self.show_audits.setEnabled(has_audits and not busy)

    def check(self) -> None:
        """Check the chosen file."""
        if self._job is None and self._path is not None:
            rerun, checking = self.again.isChecked(), translate("ReportCheck", "Checking …")
            self.checked = None
            clear_layout(self.rows)
            restyle(self.summary, "role", "reading")
            self.summary.setText(
                translate("Stores", "This begins when the audits are done.")
                if rerun and self._session.jobs.model.busy
                else checking
            )
            work = partial(
                check_report,
                self._session.environment,
                path=self._path,
                trust=self._trust,
                rerun=rerun,
            )
            self._job = self._session.do(
                with_progress(work),
                self._ended,
                self,
                started=lambda: self.summary.setText(checking),
                queue="model" if rerun else "stores",
            )
        self._refresh()

    def _ask_file(self) -> None:
        title = translate("ReportCheck", "Choose a report")
        self._ask(title, self.take, translate("ReportCheck", "Reports (*.pdf)"))

    def _ask_trust(self) -> None:
        self._ask_certificate(translate("ReportCheck", "Trust a certificate"))

    def _show_audits(self) -> None:
        if self.checked is not None:
            for audit in self.checked.audits:
                self._session.texts.add_audit(audit)
            self.accept()

    def _stop(self) -> None:
        if self._job is not None:
            self._job.cancel()


class StatementDialog(CheckingDialog[StatementCheck]):
    """Verifies statements of detectors, one after the other, offline."""

    def __init__(
        self, session: Session, path: Path | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(
            session,
            translate("Statement", "Statement of a detector"),
            translate("Statement", "Choose a statement …"),
            translate("Statement", "Trust a key …"),
            parent,
        )
        self._text: Path | None = None
        self._sha256, self._named = "", ""
        self.resize(760, 680)
        self.add_text = plain_button(translate("Statement", "Choose its text …"), self._ask_text)
        caption = translate("Statement", "The text on screen")
        self.on_screen = plain_button(caption, self._take_current)
        self.on_screen.setVisible(self._current() is not None)
        self.text = label("", "muted", wrap=True)
        self.statement = label("", "", wrap=True)
        self._lay_out()
        self._refresh()
        self.choose.setFocus()
        if path is not None:
            self.take(path)

    def _lay_out(self) -> None:
        layout = dialog_column(
            self,
            self.windowTitle(),
            translate(
                "Statement",
                "A detector that was asked by a trusted body signs what it answered. Whether that "
                "holds is checked here, without a network.",
            ),
        )
        form = QGridLayout()
        form.setHorizontalSpacing(GAP)
        form.setVerticalSpacing(GRID)
        form.setColumnStretch(1, 1)
        form.addWidget(self.choose, 0, 0)
        form.addWidget(self.file, 0, 1, 1, 2)
        form.addWidget(self.add_trust, 1, 0)
        form.addWidget(self.trusted, 1, 1, 1, 2)
        form.addWidget(self.add_text, 2, 0)
        form.addWidget(self.text, 2, 1)
        form.addWidget(self.on_screen, 2, 2)
        add_parts(
            layout,
            form,
            self.summary,
            self.statement,
            (self.area, 1),
            button_row(close_button(self), left=(self.copy_button,)),
        )

    def _refresh(self) -> None:
        super()._refresh()
        self.file.setText(
            self._path.name
            if self._path
            else translate("Statement", "or drop the file that the detector gave on this window")
        )
        self.text.setText(
            self._named or translate("Statement", "None: the statement names its text by a digest.")
        )

    def take_text(self, path: Path) -> None:
        """Set the text that the statement should be about, and check again."""
        self._text, self._sha256, self._named = path, "", path.name
        self.check()

    def _take_current(self) -> None:
        current = self._current()
        if current is not None:
            self._named, self._sha256 = current
            self._text = None
            self.check()

    def _current(self) -> tuple[str, str] | None:
        row = self._session.texts.current
        if row is None or row.document is None:
            return None
        return row.name, row.document.sha256

    def check(self) -> None:
        """Check the chosen file."""
        self.checked = None
        clear_layout(self.rows)
        self.summary.clear()
        self.statement.clear()
        if (path := self._path) is not None:
            trust, text, sha256 = self._trust, self._text, self._sha256
            self._session.do(
                lambda _: check_statement(path=path, trust=trust, text=text, sha256=sha256),
                self._ended,
                self,
            )
        self._refresh()

    def lines(self) -> list[str]:
        """Return the content of the statement."""
        statement = None if self.checked is None else self.checked.statement
        return (
            []
            if statement is None
            else [f"{name}: {text}" for name, text in statement.lines(language())]
        )

    def _show(self, checked: StatementCheck) -> None:
        super()._show(checked)
        self.statement.setText("\n".join(self.lines()))

    def _ask_file(self) -> None:
        kinds = translate("Statement", "Statements (*.json *.jws *.txt)")
        self._ask(translate("Statement", "Choose a statement"), self.take, kinds)

    def _ask_trust(self) -> None:
        self._ask_certificate(translate("Statement", "Trust a key"))

    def _ask_text(self) -> None:
        self._ask(translate("Statement", "Choose its text"), self.take_text)
