"""Check the case log: each thing with its own result, the first fault named."""

from __future__ import annotations

from functools import partial
from typing import Final

from PySide6.QtWidgets import (
    QHBoxLayout,
    QProgressBar,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from pura.caselog.verify import LogCheck
from pura.report.check import BAD, GOOD, NOTICE
from pura.usecases.cases import check_log
from pura_audit.jobs.queue import Done, Failure, Job, Outcome
from pura_audit.platform.i18n import filled, language, translate
from pura_audit.platform.settings import SettingsFile
from pura_audit.session.keeper import Cases
from pura_audit.theme.theme import GAP, GRID
from pura_audit.widgets.card import Card, label
from pura_audit.widgets.form_dialog import (
    PlainDialog,
    Words,
    button_row,
    close_button,
    dialog_column,
    main_button,
)

_MARK: Final = {GOOD: ("✓", "done"), NOTICE: ("i", "value"), BAD: ("✕", "attention")}


class CheckDialog(PlainDialog):
    """Checks the log at once, and again against a head that a report printed.

    Args:
        cases: Works on the log.
        settings: Hold the name of whoever checks.

    Attributes:
        checks: What was found; None while it is looked at.
    """

    def __init__(self, cases: Cases, settings: SettingsFile, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cases, self._settings = cases, settings
        self._asked: Job | None = None
        self.checks: tuple[LogCheck, ...] | None = None
        title = translate("Cases", "Check the case log")
        self.setWindowTitle(title)
        self.resize(760, 720)
        self.head = Words(
            translate("Cases", "Head to compare with (in a report: Integrity; may stay empty)"),
            hint=translate("Cases", "number:hash"),
        )
        self.again = main_button(translate("Cases", "Check"), self.check, enter=False)
        self.bar = QProgressBar()
        self.bar.setRange(0, 0)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(translate("Cases", "Checking"))
        self.words = label("", "reading", wrap=True)
        self.rows = QVBoxLayout()
        self.rows.setSpacing(GRID)
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(GRID // 2, GRID // 2, GRID // 2, GRID // 2)
        column.addLayout(self.rows)
        column.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setAccessibleName(translate("Cases", "Single checks"))
        area.setWidget(inside)
        layout = dialog_column(self, title)
        row = QHBoxLayout()
        row.setSpacing(GRID)
        row.addWidget(self.head, 1)
        bottom = QVBoxLayout()
        bottom.addStretch(1)
        bottom.addWidget(self.again)
        row.addLayout(bottom)
        layout.addLayout(row)
        layout.addWidget(self.bar)
        layout.addWidget(self.words)
        layout.addWidget(area, 1)
        layout.addLayout(button_row(close_button(self)))
        self.check()

    def check(self) -> None:
        """Look at everything."""
        who, at = self._settings.current.auditor, self._cases.environment
        work = partial(check_log, at, head=self.head.text, record=bool(who), auditor=who)
        self.checks = None
        self.bar.show()
        self.again.setEnabled(False)
        self.words.setText(translate("Cases", "Checking …"))
        queue = self._cases.change if who else self._cases.ask
        self._asked = queue(
            lambda context: work(checkpoint=context.checkpoint),
            self._checked,
            self,
        )

    def _checked(self, outcome: Outcome[tuple[LogCheck, ...]]) -> None:
        self.bar.hide()
        self.again.setEnabled(True)
        while (item := self.rows.takeAt(0)) is not None:
            if (row := item.widget()) is not None:
                row.deleteLater()
        self.head.complain("")
        self.words.setText("")
        if isinstance(outcome, Failure):
            self.head.complain(outcome.words)
        elif isinstance(outcome, Done):
            self._show(outcome.result)

    def _show(self, checks: tuple[LogCheck, ...]) -> None:
        self.checks = checks
        faults = sum(check.state == BAD for check in self.checks)
        words = filled(
            translate("Cases", "Of {checks:count} checks, {faults:count} found something amiss.")
            if faults
            else translate("Cases", "{checks:count} checks; none found anything amiss."),
            checks=len(self.checks),
            faults=faults,
        )
        self.words.setText(words)
        for check in self.checks:
            self.rows.addWidget(_row(check))

    def done(self, result: int) -> None:
        """Want nothing any more."""
        if self._asked is not None:
            self._asked.drop()
        super().done(result)


def _row(check: LogCheck) -> Card:
    card = Card(inner=GAP)
    sign, role = _MARK[check.state]
    mark = label(sign, role)
    mark.setFixedWidth(2 * GRID)
    head = QHBoxLayout()
    head.setSpacing(GRID)
    head.addWidget(mark)
    head.addWidget(label(check.title(language()), "value"))
    head.addStretch(1)
    card.body.addLayout(head)
    text = label(check.text(language()), "", wrap=True)
    text.setContentsMargins(3 * GRID, 0, 0, 0)
    text.setTextInteractionFlags(text.textInteractionFlags().TextSelectableByMouse)
    card.body.addWidget(text)
    card.setAccessibleName(f"{check.title(language())}: {check.text(language())}")
    return card
