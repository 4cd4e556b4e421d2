"""Verify a report: what failed first, with what follows from it; then every single check."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from pura.report.check import BAD, GOOD, NOTICE, OPEN, CheckedPoint, ReportCheck
from pura.usecases.reports import check_report
from pura_audit.jobs.queue import Done, Failure, Job, Outcome
from pura_audit.platform.i18n import filled, language, translate
from pura_audit.session.session import Session
from pura_audit.theme.theme import GAP, GRID
from pura_audit.widgets.card import Card, Fold, dropped_paths, label, restyle
from pura_audit.widgets.form_dialog import (
    PlainDialog,
    ask_file,
    button_row,
    close_button,
    dialog_column,
    main_button,
)

_MARK: Final = {
    GOOD: ("✓", "done"),
    NOTICE: ("i", "value"),
    BAD: ("✕", "attention"),
    OPEN: ("–", "muted"),
}
_RANK: Final = {BAD: 0, NOTICE: 1, OPEN: 2}


class CheckList:
    """Shows checks.

    Attributes:
        area: What stands in the dialog.
        rows: What is shown, one below the other.
    """

    def __init__(self) -> None:
        self.area = QScrollArea()
        self.area.setWidgetResizable(True)
        self.area.setAccessibleName(translate("ReportCheck", "Single checks"))
        self.rows = QVBoxLayout()
        self.rows.setSpacing(GRID)
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, GRID, 0)
        column.addLayout(self.rows)
        column.addStretch(1)
        self.area.setWidget(inside)

    def show_checks(self, checks: Sequence[CheckedPoint]) -> None:
        """Show these in place of others."""
        self.clear()
        others = [one for one in checks if one.state != GOOD]
        for single in sorted(others, key=lambda one: _RANK[one.state]):
            self.rows.addWidget(_row(single))
        passed = [one for one in checks if one.state == GOOD]
        if passed:
            words = translate(
                "ReportCheck", "Nothing amiss in {n:plural(one check|{n:count} checks)}"
            )
            fold = Fold(filled(words, n=len(passed)), opened=not others)
            for single in passed:
                fold.body.addWidget(_row(single))
            self.rows.addWidget(fold)

    def clear(self) -> None:
        """Show nothing."""
        while (item := self.rows.takeAt(0)) is not None:
            if (row := item.widget()) is not None:
                row.hide()
                row.deleteLater()


def lines_of(checks: Sequence[CheckedPoint]) -> list[str]:
    """Return checks as lines of text."""
    return [
        f"{one.title(language())}: {one.result(language())}. {one.text(language())}"
        for one in checks
    ]


def _row(check: CheckedPoint) -> Card:
    """Show one check: sign, name, result, and what was found."""
    card = Card(inner=GAP)
    sign, role = _MARK[check.state]
    head = QHBoxLayout()
    head.setSpacing(GRID)
    mark = label(sign, role)
    mark.setFixedWidth(2 * GRID)
    mark.setAlignment(Qt.AlignmentFlag.AlignCenter)
    title = label(check.title(language()), "value")
    head.addWidget(mark)
    head.addWidget(title)
    head.addStretch(1)
    head.addWidget(label(check.result(language()), role))
    card.body.addLayout(head)
    text = label(check.text(language()), "", wrap=True)
    text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    text.setContentsMargins(3 * GRID, 0, 0, 0)
    card.body.addWidget(text)
    card.setAccessibleName(f"{check.title(language())}: {check.result(language())}")
    return card


class ReportCheckDialog(PlainDialog):
    """Checks one report after the other.

    Attributes:
        checked: The last answer, or None.
    """

    def __init__(
        self, session: Session, path: Path | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._path: Path | None = None
        self._trust: tuple[Path, ...] = ()
        self._job: Job | None = None
        self.checked: ReportCheck | None = None
        self.setWindowTitle(translate("ReportCheck", "Verify a report"))
        self.setAcceptDrops(True)
        self.resize(760, 720)
        self._make()
        self._lay_out()
        self._refresh()
        self.choose.setFocus()
        if path is not None:
            self.take(path)

    # Composition

    def _make(self) -> None:
        self.choose = QPushButton(translate("ReportCheck", "Choose a report …"))
        self.choose.clicked.connect(self._ask_file)
        self.add_trust = QPushButton(translate("ReportCheck", "Trust a certificate …"))
        self.add_trust.clicked.connect(self._ask_trust)
        self.again = QCheckBox(translate("ReportCheck", "Audit the embedded text again"))
        self.again.setToolTip(
            translate("ReportCheck", "Needs the key and the model of the report on this computer.")
        )
        self.start = main_button(translate("ReportCheck", "Check"), self.check, enter=False)
        self.file = label("", "value", wrap=True)
        self.trusted = label("", "muted", wrap=True)
        self.summary = label("", "reading", wrap=True)
        self.bar = QProgressBar()
        self.bar.setRange(0, 0)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(translate("ReportCheck", "Checking"))
        self.list = CheckList()
        self.area = self.list.area
        self.copy_button = QPushButton(translate("ReportCheck", "Copy the results"))
        self.copy_button.clicked.connect(self.copy)
        self.show_audits = QPushButton(translate("ReportCheck", "Show the audits"))
        self.show_audits.clicked.connect(self._show_audits)
        self.stop = QPushButton(translate("ReportCheck", "Stop"))
        self.stop.clicked.connect(self._stop)
        for button in (
            self.choose,
            self.add_trust,
            self.copy_button,
            self.show_audits,
            self.stop,
        ):
            button.setAutoDefault(False)

    def _lay_out(self) -> None:
        layout = dialog_column(
            self,
            translate("ReportCheck", "Verify a report"),
            translate(
                "ReportCheck",
                "The PDF is taken apart without access to files or network. Each check has its "
                "own result; no single tick stands for all of them.",
            ),
        )
        for widgets in ((self.choose, self.file), (self.add_trust, self.trusted)):
            row = QHBoxLayout()
            row.setSpacing(GAP)
            row.addWidget(widgets[0])
            row.addWidget(widgets[1], 1)
            layout.addLayout(row)
        row = QHBoxLayout()
        row.addWidget(self.again)
        row.addStretch(1)
        row.addWidget(self.stop)
        row.addWidget(self.start)
        layout.addLayout(row)
        layout.addWidget(self.bar)
        layout.addWidget(self.summary)
        layout.addWidget(self.area, 1)
        left = (self.copy_button, self.show_audits)
        layout.addLayout(button_row(close_button(self), left=left))

    def _refresh(self) -> None:
        path, trust = self._path, self._trust
        self.file.setText(
            path.name if path else translate("ReportCheck", "or drop a PDF on this window")
        )
        self.trusted.setText(
            ", ".join(file.name for file in trust)
            or translate("ReportCheck", "None: who signed is shown, but not held against anything.")
        )
        busy = self._job is not None
        self.bar.setVisible(busy)
        self.stop.setVisible(busy)
        for widget in (self.choose, self.add_trust, self.again):
            widget.setEnabled(not busy)
        self.start.setEnabled(path is not None and not busy)
        done = self.checked is not None and not busy
        self.copy_button.setEnabled(done)
        audits = self.checked.audits if self.checked is not None else ()
        self.show_audits.setEnabled(done and bool(audits))

    # Intentions

    def take(self, path: Path) -> None:
        """Choose a report and check it."""
        self._path = path
        self.check()

    def trust(self, paths: list[Path]) -> None:
        """Trust the certificates of these files, and check again."""
        self._trust = tuple(dict.fromkeys((*self._trust, *paths)))
        self.check() if self._path is not None else self._refresh()

    def check(self) -> None:
        """Check what is chosen."""
        if self._job is not None or self._path is None:
            return
        path, trust, rerun = self._path, self._trust, self.again.isChecked()
        environment = self._session.environment
        self.checked = None
        self.list.clear()
        restyle(self.summary, "role", "reading")
        self.summary.setText(
            translate("Stores", "This begins when the audits are done.")
            if rerun and self._session.jobs.model.busy
            else translate("ReportCheck", "Checking …")
        )
        self._job = self._session.do(
            lambda context: check_report(
                environment,
                path=path,
                trust=trust,
                rerun=rerun,
                progress=context.progress,
                checkpoint=context.checkpoint,
            ),
            self._ended,
            self,
            started=lambda: self.summary.setText(translate("ReportCheck", "Checking …")),
            at="model" if rerun else "stores",
        )
        self._refresh()

    def copy(self) -> None:
        """Copy all results as text."""
        if self.checked is not None:
            lines = [self.checked.headline(language()), *lines_of(self.checked.checks)]
            QGuiApplication.clipboard().setText("\n".join(lines))

    def _ask_file(self) -> None:
        kinds = translate("ReportCheck", "Reports (*.pdf)")
        every = translate("ReportCheck", "All files (*)")
        ask_file(self, translate("ReportCheck", "Choose a report"), self.take, kinds, every)

    def _ask_trust(self) -> None:
        ask_file(
            self,
            translate("ReportCheck", "Trust a certificate"),
            lambda path: self.trust([path]),
            translate("ReportCheck", "Certificates (*.pem *.crt *.cer *.der)"),
            translate("ReportCheck", "All files (*)"),
        )

    def _show_audits(self) -> None:
        if self.checked is not None:
            for audit in self.checked.audits:
                self._session.texts.add_audit(audit)
            self.accept()

    # What the thread tells

    def _stop(self) -> None:
        if self._job is not None:
            self._job.cancel()

    def _ended(self, outcome: Outcome[ReportCheck]) -> None:
        self._job = None
        match outcome:
            case Done(checked):
                self.checked = checked
                self._show(checked)
            case Failure():
                self.summary.setText(outcome.words)
            case _:
                self.summary.setText("")
        self._refresh()

    def _show(self, checked: ReportCheck) -> None:
        self.summary.setText(checked.headline(language()))
        restyle(self.summary, "role", "reading" if checked.sound else "banner")
        aside, above = (0, 0) if checked.sound else (GAP, GRID)
        self.summary.setContentsMargins(aside, above, aside, above)
        self.list.show_checks(checked.checks)

    # Drops and the end

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Welcome a file."""
        if dropped_paths(event.mimeData()) and self._job is None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Check what was dropped."""
        paths = dropped_paths(event.mimeData())
        if paths and self._job is None:
            event.acceptProposedAction()
            self.take(paths[0])

    def done(self, result: int) -> None:
        """Stop the check with the window."""
        if self._job is not None:
            self._job.drop()
            self._job = None
        super().done(result)
