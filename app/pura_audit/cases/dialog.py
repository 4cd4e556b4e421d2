"""The cases: search, look into one, and everything that can be done with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QSplitter,
    QWidget,
)

from pura.caselog import Case, CaseLog, list_cases, open_case
from pura.usecases.cases import import_from_file
from pura_audit.cases.acts import CaseActs
from pura_audit.cases.ask import AskDialog
from pura_audit.cases.pane import CasePane, Shown, case_row, shown
from pura_audit.jobs.queue import Done, Failure, Job, Outcome, Work
from pura_audit.platform.i18n import filled, translate
from pura_audit.theme.theme import GAP, GRID
from pura_audit.widgets.card import Card, label
from pura_audit.widgets.form_dialog import (
    PlainDialog,
    Remark,
    ask_file,
    close_button,
    dialog_column,
    plain_button,
)
from pura_audit.widgets.working_dialog import fill_table, make_table

if TYPE_CHECKING:
    from pura_audit.session.session import Session

T = TypeVar("T")

_PAUSE: Final = 200  # milliseconds without a key before the search begins


class CasesDialog(PlainDialog):
    """The browser of the case log.

    Args:
        session: Its jobs and settings; opened audits go to its list.

    Signals:
        compare_wanted: Two audits.
        report_wanted: Names and audits, and the base of the request.
        filled: The list was read.
        drawn: The chosen case was read.
    """

    compare_wanted = Signal(object)
    report_wanted = Signal(object)
    filled = Signal()
    drawn = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session, self.log = session, session.cases
        self._cases: tuple[Case, ...] = ()
        self._asked: Job | None = None
        self._wanted = ""
        self.setWindowTitle(translate("Cases", "Cases"))
        self._make()
        self._lay_out()
        self._wire()
        room = parent.window().size() if parent is not None else self.size()
        self.resize(max(980, min(1280, room.width() - 60)), max(600, min(860, room.height() - 60)))
        self.refresh()
        self.search.setFocus()

    def _make(self) -> None:
        self.search = QLineEdit()
        self.search.setPlaceholderText(translate("Cases", "Search names, notes, files, digests"))
        self.search.setAccessibleName(translate("Cases", "Search the cases"))
        self.search.setClearButtonEnabled(True)
        self.state = QComboBox()
        self.state.setAccessibleName(translate("Cases", "Which cases"))
        for value, words in (
            ("", translate("Cases", "All cases")),
            ("open", translate("Cases", "Open")),
            ("unreviewed", translate("Cases", "Without a second person")),
            ("held", translate("Cases", "On hold")),
            ("closed", translate("Cases", "Closed")),
        ):
            self.state.addItem(words, value)
        self.table = make_table(translate("Cases", "Cases"))
        self.none = label("", "muted", wrap=True)
        self.pane = CasePane()
        self.words = Remark(stays=True)
        self.timer = QTimer(self)
        self.timer.setSingleShot(True)
        self.timer.setInterval(_PAUSE)
        self.new = plain_button(translate("Cases", "New case …"), self.ask_new)
        self.take = plain_button(translate("Cases", "Import …"), self.ask_import)
        self.acts = CaseActs(self, self)
        self.check = plain_button(translate("Cases", "Check the log …"), self.acts.check_log)
        self.close_button = close_button(self)

    def _lay_out(self) -> None:
        side = Card(inner=GAP)
        for widget in (self.search, self.state, self.none):
            side.body.addWidget(widget)
        side.body.addWidget(self.table, 1)
        row = QHBoxLayout()
        row.setSpacing(GRID)
        row.addWidget(self.new)
        row.addWidget(self.take)
        row.addStretch(1)
        side.body.addLayout(row)
        parts = QSplitter()
        parts.setHandleWidth(GAP)
        parts.setChildrenCollapsible(False)
        parts.addWidget(side)
        parts.addWidget(self.pane)
        parts.setStretchFactor(1, 1)
        parts.setSizes([390, 10_000])
        side.setMinimumWidth(250)
        foot = QHBoxLayout()
        foot.setSpacing(GRID)
        foot.addWidget(self.words, 1)
        foot.addWidget(self.check)
        foot.addWidget(self.close_button)
        layout = dialog_column(self, translate("Cases", "Cases"))
        layout.addWidget(parts, 1)
        layout.addLayout(foot)

    def _wire(self) -> None:
        self.search.textChanged.connect(lambda _: self.timer.start())
        self.state.currentIndexChanged.connect(lambda _: self.refresh())
        self.timer.timeout.connect(self.refresh)
        self.pane.wanted.connect(self.acts.do)
        self.log.changed.connect(self.refresh)
        QShortcut(QKeySequence.StandardKey.Find, self, self.search.setFocus)

    # The list

    def refresh(self, wanted: str = "") -> None:
        """Read the list again.

        Args:
            wanted: Identifier of the case to choose; empty leaves the choice.
        """
        if wanted:
            self._wanted = wanted
        if self._asked is not None:
            self._asked.drop()
        asked = {"search": self.search.text(), "state": self.state.currentData()}
        self._asked = self.log.read(lambda log, _: list_cases(log, **asked), self._listed, self)

    def _listed(self, outcome: Outcome[tuple[Case, ...]]) -> None:
        self._asked = None
        if isinstance(outcome, Failure):
            self.say(outcome)
        elif isinstance(outcome, Done):
            self._fill(outcome.result)

    def _fill(self, cases: Sequence[Case]) -> None:
        before = self._wanted or (self.pane.shown.case.id if self.pane.shown else "")
        self._wanted = ""
        self._cases = tuple(cases)
        headers = (
            translate("Cases", "Case"),
            translate("Cases", "Saved"),
            translate("Cases", "Changed"),
        )
        fill_table(self.table, headers, [case_row(case) for case in self._cases])
        modes = QHeaderView.ResizeMode
        for column in range(len(headers)):
            mode = modes.ResizeToContents if column else modes.Stretch
            self.table.horizontalHeader().setSectionResizeMode(column, mode)
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._choose())
        self.none.setVisible(not self._cases)
        filtered = bool(self.search.text() or self.state.currentData())
        self.none.setText(
            translate("Cases", "No case fits the search.")
            if filtered
            else translate(
                "Cases", "No cases yet. Save a finished audit with Ctrl+S, or open a new case."
            )
        )
        places = [case.id for case in self._cases]
        if self._cases:
            self.table.selectRow(places.index(before) if before in places else 0)
        else:
            self.pane.show_case(None)
            self.drawn.emit()
        self.filled.emit()

    @property
    def selected(self) -> Case | None:
        """The case of the chosen row."""
        model = self.table.selectionModel()
        rows = model.selectedRows() if model is not None else []
        return self._cases[rows[0].row()] if rows else None

    def _choose(self) -> None:
        case = self.selected
        if case is not None:
            self.log.read(lambda log, _: shown(log, case.id), self._show, self)

    def _show(self, outcome: Outcome[Shown]) -> None:
        if isinstance(outcome, Failure):
            self.say(outcome)
        # Another one may have been chosen since.
        elif (
            isinstance(outcome, Done)
            and self.selected is not None
            and outcome.result.case.id == self.selected.id
        ):
            self.pane.show_case(outcome.result)
            self.drawn.emit()

    # New ones

    def ask_new(self) -> AskDialog:
        """Ask for the name of a new case."""
        dialog = AskDialog(
            translate("Cases", "New case"),
            "",
            translate("Cases", "Open the case"),
            (
                (translate("Cases", "Name"), 1),
                (translate("Cases", "Notes (may stay empty)"), 3),
                (translate("Cases", "Your name"), 1),
            ),
            self,
            texts=("", "", self.session.settings.current.auditor),
        )

        def opened(texts: tuple[str, str, str]) -> None:
            name, notes, who = texts
            self.session.settings.update(auditor=who)
            self.write(
                lambda log: open_case(log, name, log.person(who), notes=notes).id, self._opened
            )

        dialog.given.connect(opened)
        dialog.open()
        return dialog

    def _opened(self, case: str) -> None:
        self.search.clear()
        self.state.setCurrentIndex(0)
        self.refresh(case)

    def ask_import(self) -> QFileDialog:
        """Ask for a case that was exported elsewhere."""
        kinds = translate("Cases", "Exported cases (*.puracase)")
        every = translate("Register", "All files (*)")
        return ask_file(self, translate("Cases", "Import a case"), self.import_file, kinds, every)

    def import_file(self, path: Path) -> None:
        """Take a case in."""
        at = self.log.environment
        self.acts.named(
            lambda who: self.change(
                lambda _: import_from_file(at, path=path, auditor=who).id, self._opened
            )
        )

    # What is done

    def write(self, act: Callable[[CaseLog], T], then: Callable[[T], object] | None = None) -> None:
        """Change the log; say when it does not work."""
        self.log.write(lambda log, _: act(log), self._ended(then), self)

    def change(self, work: Work[T], then: Callable[[T], object] | None = None) -> None:
        """Hand over a use case that changes the log; say when it does not work."""
        self.log.change(work, self._ended(then), self)

    def _ended(self, then: Callable[[T], object] | None) -> Callable[[Outcome[T]], None]:
        def ended(outcome: Outcome[T]) -> None:
            if isinstance(outcome, Failure):
                self.say(outcome)
            elif isinstance(outcome, Done):
                self.say("")
                if then is not None:
                    then(outcome.result)

        return ended

    def say(self, what: Failure | str) -> None:
        """Say something below the list."""
        self.words.say(what)

    def say_erased(self, count: int) -> None:
        """Say how many things were erased."""
        self.say(
            filled(
                translate("Cases", "{n:count} {n:plural(thing was|things were)} erased."), n=count
            )
        )

    def done(self, result: int) -> None:
        """Want nothing any more."""
        self.timer.stop()
        self.log.changed.disconnect(self.refresh)
        super().done(result)
