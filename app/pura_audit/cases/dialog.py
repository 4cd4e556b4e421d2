"""The browser of the case log: search, details of a case, and all actions on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeVar

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QFileDialog,
    QHeaderView,
    QLineEdit,
    QSplitter,
    QWidget,
)

from pura.caselog import (
    SEAL,
    Case,
    CaseItem,
    CaseLog,
    Person,
    erase,
    list_cases,
    open_case,
    record_event,
    rename_case,
    set_closed,
    set_hold,
    set_tags,
    write_note,
)
from pura.keys import Secret
from pura.record.audit import Audit
from pura.report.annexes import safe_name
from pura.report.request import ReportRequest
from pura.usecases.cases import export_to_file, import_from_file, open_audits
from pura.usecases.reports import filled_request
from pura_audit.cases.forms import AskDialog, CheckDialog, EventDialog, ReviewDialog
from pura_audit.cases.pane import CasePane, History, case_name, case_row, read_history
from pura_audit.jobs.queue import Done, Failure, Job, Outcome, Work, by_outcome
from pura_audit.platform.i18n import filled, language, translate
from pura_audit.session.session import Session
from pura_audit.stores.key_forms import PassphraseDialog
from pura_audit.theme.theme import GAP
from pura_audit.widgets.card import Card, add_parts, label, row_of
from pura_audit.widgets.form_dialog import (
    PlainDialog,
    Remark,
    ask_file,
    ask_target,
    close_button,
    combo,
    dialog_column,
    opened,
    plain_button,
)
from pura_audit.widgets.working_dialog import fill_table, make_table

T = TypeVar("T")


class CaseActs(QObject):
    """The actions behind the buttons of the browser.

    Args:
        browser: The browser over which dialogs open.
    """

    def __init__(self, browser: CasesDialog) -> None:
        super().__init__(browser)
        self._browser = browser

    def do(self, name: str) -> None:
        """Run the action with this name."""
        if (current := self._browser.pane.case) is None:
            return
        actions: dict[str, Callable[[Case], object]] = {
            "note": self.ask_note,
            "rename": self.ask_name,
            "tags": self.ask_tags,
            "event": self.ask_event,
            "close": self._close,
            "hold": self.ask_hold,
            "export": self.ask_export,
            "erase": lambda case: self.ask_erase(case, text_only=False),
            "erase-text": lambda case: self.ask_erase(case, text_only=True),
            "open": lambda case: self._opened(self._show),
            "compare": lambda case: self._opened(self._browser.compare_wanted.emit),
            "report": self._report,
            "review": self.ask_review,
        }
        actions[name](current)

    # Who acts

    def named(self, action: Callable[[str], object]) -> None:
        """Call an action with the user's name, after asking for it if the settings have none."""
        settings = self._browser.session.settings
        if settings.current.auditor:
            action(settings.current.auditor)
            return
        dialog = AskDialog(
            translate("Cases", "Your name"),
            translate("Cases", "The log says who acts. The settings keep the name."),
            translate("Cases", "Go on"),
            ((translate("Cases", "Your name"), 1),),
            self._browser,
        )

        def given(texts: tuple[str]) -> None:
            settings.update(auditor=texts[0])
            action(texts[0])

        dialog.given.connect(given)
        dialog.open()

    def _write(
        self, change: Callable[[CaseLog, Person], T], on_result: Callable[[T], object] | None = None
    ) -> None:
        """Change the log in the user's name."""
        self.named(
            lambda auditor: self._browser.write(
                lambda log: change(log, log.person(auditor)), on_result
            )
        )

    def _ask(
        self,
        title: str,
        introduction: str,
        action: str,
        field: tuple[str, int],
        change: Callable[[CaseLog, str, Person], T],
        *,
        text: str = "",
        grave: bool = False,
        needed: Sequence[int] = (0,),
        on_result: Callable[[T], object] | None = None,
    ) -> AskDialog:
        """Ask for one text, then change the log in the user's name."""
        dialog = AskDialog(
            title,
            introduction,
            action,
            (field,),
            self._browser,
            texts=(text,),
            grave=grave,
            needed=needed,
        )

        def given(texts: tuple[str]) -> None:
            self._write(lambda log, person: change(log, texts[0], person), on_result)

        dialog.given.connect(given)
        dialog.open()
        return dialog

    # The case

    def ask_note(self, case: Case) -> AskDialog:
        """Ask for a note."""
        return self._ask(
            translate("Cases", "Add a note"),
            translate("Cases", "A note cannot be changed later; another one can be added."),
            translate("Cases", "Add"),
            (translate("Cases", "Note"), 5),
            lambda log, text, person: write_note(log, case.id, text, person),
        )

    def ask_name(self, case: Case) -> AskDialog:
        """Ask for the new name of a case."""
        return self._ask(
            translate("Cases", "Rename the case"),
            "",
            translate("Cases", "Rename"),
            (translate("Cases", "Name"), 1),
            lambda log, text, person: rename_case(log, case.id, text, person),
            text=case.name or "",
        )

    def ask_tags(self, case: Case) -> AskDialog:
        """Ask for the tags of a case."""
        return self._ask(
            translate("Cases", "Tags"),
            translate("Cases", "Put commas between them."),
            translate("Cases", "Set"),
            (translate("Cases", "Tags"), 1),
            lambda log, text, person: set_tags(log, case.id, text.split(","), person),
            text=", ".join(case.tags),
            needed=(),
        )

    def ask_event(self, case: Case) -> EventDialog:
        """Ask for an event of the chain of custody."""
        dialog = EventDialog(self._browser)
        dialog.given.connect(
            lambda event: self._write(
                lambda log, person: record_event(log, person, case=case.id, **event)
            )
        )
        dialog.open()
        return dialog

    def ask_hold(self, case: Case) -> AskDialog:
        """Ask for the reason why a hold is set or lifted."""
        will_hold = not case.held
        title = (
            translate("Cases", "Set a hold") if will_hold else translate("Cases", "Lift the hold")
        )
        return self._ask(
            title,
            translate("Cases", "While a hold is set, nothing of the case can be erased."),
            title,
            (translate("Cases", "Reason"), 3),
            lambda log, text, person: set_hold(log, case.id, person, held=will_hold, reason=text),
        )

    def ask_erase(self, case: Case, *, text_only: bool) -> AskDialog:
        """Ask for the reason why a case or its texts are erased."""
        warning = filled(
            translate(
                "Cases",
                "The texts of “{case:text}” are overwritten. Findings, names and notes stay. "
                "This cannot be undone.",
            )
            if text_only
            else translate(
                "Cases",
                "Names, notes, records and texts of “{case:text}” are overwritten. The log "
                "keeps that there was a case, and what happened when. This cannot be undone.",
            ),
            case=case_name(case),
        )
        return self._ask(
            translate("Cases", "Erase"),
            warning,
            translate("Cases", "Erase for good"),
            (translate("Cases", "Reason"), 3),
            lambda log, text, person: erase(log, case.id, person, reason=text, text_only=text_only),
            grave=True,
            on_result=self._browser.say_erased,
        )

    def _close(self, case: Case) -> None:
        self._write(lambda log, person: set_closed(log, case.id, person, closed=not case.closed))

    def ask_export(self, case: Case) -> QFileDialog:
        """Ask for the file to export a case to."""
        return ask_target(
            self._browser,
            translate("Cases", "Export the case"),
            lambda path: self.export_to(case, path),
            translate("Cases", "Exported cases (*.puracase)"),
            name=safe_name(case_name(case), ".puracase"),
            suffix="puracase",
        )

    def export_to(self, case: Case, path: Path) -> None:
        """Export a case to a file; the file dialog has already asked before replacing one."""
        message = filled(
            translate(
                "Cases", "Exported to “{file:text}”. Whoever has the file can read the case."
            ),
            file=path.name,
        )
        self.named(
            lambda auditor: self._browser.change(
                lambda _: export_to_file(
                    self._browser.log.environment,
                    case=case.id,
                    path=path,
                    auditor=auditor,
                    replace=True,
                ),
                lambda _: self._browser.say(message),
            )
        )

    def check_log(self) -> CheckDialog:
        """Open the check of the whole log."""
        browser = self._browser
        return opened(CheckDialog(browser.log, browser.session.settings, browser))

    # Its audits

    def ask_review(self, case: Case) -> ReviewDialog | None:
        """Open the review of the selected finding by a second person."""
        selected = self._browser.pane.chosen
        if len(selected) != 1:
            return None
        auditor = self._browser.session.settings.current.auditor
        return opened(
            ReviewDialog(self._browser.log, case, selected[0], self._browser, reviewer=auditor)
        )

    def _opened(self, on_audits: Callable[[tuple[Audit, ...]], object]) -> None:
        """Load the selected audits with their texts, after asking for a passphrase if necessary."""
        selected, hand_over = self._browser.pane.chosen, by_outcome(on_audits, self._browser.say)
        if not any(item.mode == SEAL for item in selected):
            self._read(selected, None, hand_over, self._browser)
            return
        dialog = PassphraseDialog(
            translate("Cases", "Passphrase of the kept text"),
            translate("Cases", "Cancel opens the findings without the text."),
            translate("Cases", "Open"),
            self._browser,
            new=False,
        )

        def ended(outcome: Outcome[tuple[Audit, ...]]) -> None:
            dialog.ended(outcome)
            if isinstance(outcome, Done):
                on_audits(outcome.result)

        dialog.given.connect(lambda secret: self._read(selected, secret, ended, dialog))
        dialog.rejected.connect(lambda: self._read(selected, None, hand_over, self._browser))
        opened(dialog)

    def _read(
        self,
        items: Sequence[CaseItem],
        secret: Secret | None,
        ended: Callable[[Outcome[tuple[Audit, ...]]], None],
        owner: QWidget,
    ) -> None:
        log = self._browser.log
        self.named(
            lambda auditor: log.change(
                lambda context: open_audits(
                    log.environment,
                    items=tuple(items),
                    auditor=auditor,
                    passphrase=secret,
                    checkpoint=context.checkpoint,
                ),
                ended,
                owner,
            )
        )

    def _show(self, audits: tuple[Audit, ...]) -> None:
        for audit in audits:
            self._browser.session.texts.add_audit(audit)
        self._browser.accept()

    def _report(self, case: Case) -> None:
        selected = self._browser.pane.chosen

        def asked(audits: tuple[Audit, ...]) -> None:
            base, cases = ReportRequest(language=language()), self._browser.log
            report_wanted = self._browser.report_wanted
            cases.ask(
                lambda _: filled_request(cases.environment, case, selected, base),
                by_outcome(
                    lambda request: report_wanted.emit(case, audits, request), self._browser.say
                ),
                self,
            )

        self._opened(asked)


_PAUSE: Final = 200  # milliseconds without a key before the search begins


class CasesDialog(PlainDialog):
    """The browser of the case log.

    Args:
        session: The session, whose list receives opened audits.

    Signals:
        compare_wanted: Two audits are to be compared; carries both.
        report_wanted: A report is wanted; carries the case, its audits and the initial request.
        filled: The list was read.
        drawn: The selected case was read.
    """

    compare_wanted = Signal(object)
    report_wanted = Signal(object, object, object)
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
        window = parent.window().size() if parent is not None else self.size()
        self.resize(
            max(980, min(1280, window.width() - 60)), max(600, min(860, window.height() - 60))
        )
        self.refresh()
        self.search.setFocus()

    def _make(self) -> None:
        self.search = QLineEdit()
        self.search.setPlaceholderText(translate("Cases", "Search names, notes, files, digests"))
        self.search.setAccessibleName(translate("Cases", "Search the cases"))
        self.search.setClearButtonEnabled(True)
        self.state = combo(
            (
                ("", translate("Cases", "All cases")),
                ("open", translate("Cases", "Open")),
                ("unreviewed", translate("Cases", "Without a second person")),
                ("held", translate("Cases", "On hold")),
                ("closed", translate("Cases", "Closed")),
            )
        )
        self.state.setAccessibleName(translate("Cases", "Which cases"))
        self.table = make_table(translate("Cases", "Cases"))
        self.none = label("", "muted", wrap=True)
        self.pane = CasePane()
        self.words = Remark(stays=True)
        self.timer = QTimer(self, singleShot=True, interval=_PAUSE)
        self.new = plain_button(translate("Cases", "New case …"), self.ask_new)
        self.take = plain_button(translate("Cases", "Import …"), self.ask_import)
        self.acts = CaseActs(self)
        self.check = plain_button(translate("Cases", "Check the log …"), self.acts.check_log)
        self.close_button = close_button(self)

    def _lay_out(self) -> None:
        side = Card(inner=GAP)
        add_parts(
            side.body,
            self.search,
            self.state,
            self.none,
            (self.table, 1),
            row_of(self.new, self.take, None),
        )
        parts = QSplitter()
        parts.setHandleWidth(GAP)
        parts.setChildrenCollapsible(False)
        parts.addWidget(side)
        parts.addWidget(self.pane)
        parts.setStretchFactor(1, 1)
        parts.setSizes([390, 10_000])
        side.setMinimumWidth(250)
        layout = dialog_column(self, translate("Cases", "Cases"))
        layout.addWidget(parts, 1)
        layout.addLayout(row_of((self.words, 1), self.check, self.close_button))

    def _wire(self) -> None:
        self.search.textChanged.connect(lambda _: self.timer.start())
        self.state.currentIndexChanged.connect(lambda _: self.refresh())
        self.timer.timeout.connect(self.refresh)
        self.pane.wanted.connect(self.acts.do)
        self.log.changed.connect(self.refresh)
        QShortcut(QKeySequence.StandardKey.Find, self, self.search.setFocus)

    # The list

    def refresh(self, case_id: str = "") -> None:
        """Read the list again.

        Args:
            case_id: Identifier of the case to select; empty keeps the selection.
        """
        if case_id:
            self._wanted = case_id
        if self._asked is not None:
            self._asked.drop()
        query = {"search": self.search.text(), "state": self.state.currentData()}
        self._asked = self.log.read(lambda log, _: list_cases(log, **query), self._listed, self)

    def _listed(self, outcome: Outcome[tuple[Case, ...]]) -> None:
        self._asked = None
        by_outcome(self._fill, self.say)(outcome)

    def _fill(self, cases: Sequence[Case]) -> None:
        before = self._wanted or (self.pane.case.id if self.pane.case else "")
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
        ids = [case.id for case in self._cases]
        if self._cases:
            self.table.selectRow(ids.index(before) if before in ids else 0)
        else:
            self.pane.show_case(None)
            self.drawn.emit()
        self.filled.emit()

    @property
    def selected(self) -> Case | None:
        """The case of the selected row, or None."""
        model = self.table.selectionModel()
        rows = model.selectedRows() if model is not None else []
        return self._cases[rows[0].row()] if rows else None

    def _choose(self) -> None:
        case = self.selected
        if case is not None:
            ended = by_outcome(self._show, self.say)
            self.log.read(lambda log, _: read_history(log, case.id), ended, self)

    def _show(self, case_and_history: tuple[Case, History]) -> None:
        case, history = case_and_history
        # Another one may have been chosen since.
        if self.selected is not None and case.id == self.selected.id:
            self.pane.show_case(case, history)
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
            needed=(0, 2),
        )

        def opened(texts: tuple[str, str, str]) -> None:
            name, notes, auditor = texts
            self.session.settings.update(auditor=auditor)
            self.write(
                lambda log: open_case(log, name, log.person(auditor), notes=notes).id, self._opened
            )

        dialog.given.connect(opened)
        dialog.open()
        return dialog

    def _opened(self, case: str) -> None:
        self.search.clear()
        self.state.setCurrentIndex(0)
        self.refresh(case)

    def ask_import(self) -> QFileDialog:
        """Ask for a case that another log exported."""
        kinds = translate("Cases", "Exported cases (*.puracase)")
        all_files = translate("Register", "All files (*)")
        return ask_file(
            self, translate("Cases", "Import a case"), self.import_file, kinds, all_files
        )

    def import_file(self, path: Path) -> None:
        """Import a case."""
        environment = self.log.environment
        self.acts.named(
            lambda auditor: self.change(
                lambda _: import_from_file(environment, path=path, auditor=auditor).id, self._opened
            )
        )

    # What is done

    def write(
        self, change: Callable[[CaseLog], T], on_result: Callable[[T], object] | None = None
    ) -> None:
        """Change the log; show failures."""
        self.log.write(lambda log, _: change(log), self._ended(on_result), self)

    def change(self, work: Work[T], on_result: Callable[[T], object] | None = None) -> None:
        """Run a use case that changes the log; show failures."""
        self.log.change(work, self._ended(on_result), self)

    def _ended(self, on_result: Callable[[T], object] | None) -> Callable[[Outcome[T]], None]:
        def done(result: T) -> None:
            self.say("")
            if on_result is not None:
                on_result(result)

        return by_outcome(done, self.say)

    def say(self, message: Failure | str) -> None:
        """Show a message below the list."""
        self.words.say(message)

    def say_erased(self, count: int) -> None:
        """Show how many entries were erased."""
        self.say(
            filled(
                translate("Cases", "{n:count} {n:plural(thing was|things were)} erased."), n=count
            )
        )

    def done(self, result: int) -> None:
        """Stop waiting for results when the dialog closes."""
        self.timer.stop()
        self.log.changed.disconnect(self.refresh)
        super().done(result)
