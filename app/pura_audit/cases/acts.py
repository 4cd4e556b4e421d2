"""What the case browser does with a case: each thing asks what it needs, then works on the log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from PySide6.QtCore import QObject, SignalInstance
from PySide6.QtWidgets import QFileDialog, QWidget

from pura.caselog import (
    SEAL,
    Case,
    CaseItem,
    CaseLog,
    erase,
    record_event,
    rename_case,
    set_closed,
    set_hold,
    set_tags,
    write_note,
)
from pura.keys import Secret
from pura.record.audit import Audit
from pura.report import ReportRequest, safe_name
from pura.usecases.cases import export_to_file, open_audits
from pura.usecases.reports import filled_request
from pura_audit.cases.ask import AskDialog, EventDialog
from pura_audit.cases.pane import CasePane, case_name
from pura_audit.cases.review import ReviewDialog
from pura_audit.jobs.queue import Done, Failure, Outcome, Work
from pura_audit.keys.passphrase import PassphraseDialog
from pura_audit.platform.i18n import filled, language, translate
from pura_audit.session.keeper import Cases
from pura_audit.session.session import Session
from pura_audit.widgets.form_dialog import ask_target, opened

if TYPE_CHECKING:
    from pura_audit.cases.check import CheckDialog

T = TypeVar("T")


class CaseReport(NamedTuple):
    """A report to be made of saved audits."""

    case: Case
    audits: tuple[Audit, ...]
    base: ReportRequest


class Browser(Protocol):
    """The browser of the cases, as what is done to a case knows it.

    Attributes:
        session: Its settings, and its list of texts.
        log: Works on the case log.
        pane: The case on screen.
        compare_wanted: Two audits are to be compared.
        report_wanted: A report is to be made of a case.
    """

    session: Session
    log: Cases
    pane: CasePane
    compare_wanted: SignalInstance
    report_wanted: SignalInstance

    def write(self, act: Callable[[CaseLog], T], then: Callable[[T], object] | None = None) -> None:
        """Change the log; say when it does not work."""

    def change(self, work: Work[T], then: Callable[[T], object] | None = None) -> None:
        """Hand over a use case that changes the log; say when it does not work."""

    def say(self, what: Failure | str) -> None:
        """Say something below the list."""

    def say_erased(self, count: int) -> None:
        """Say how many things were erased."""

    def accept(self) -> None:
        """Close the browser."""


class CaseActs(QObject):
    """Does what a button of the browser asks for.

    Args:
        browser: The browser.
        parent: The widget over which dialogs open.
    """

    def __init__(self, browser: Browser, parent: QWidget) -> None:
        super().__init__(parent)
        self._browser, self._parent = browser, parent

    def do(self, name: str) -> None:
        """Do what a button is called."""
        shown = self._browser.pane.shown
        if shown is None:
            return
        acts: dict[str, Callable[[Case], object]] = {
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
            "compare": lambda case: self._opened(self._compare),
            "report": self._report,
            "review": self.ask_review,
        }
        acts[name](shown.case)

    # Who acts

    def named(self, act: Callable[[str], object]) -> None:
        """Do something under the name of the settings, or ask for it first."""
        settings = self._browser.session.settings
        if settings.current.auditor:
            act(settings.current.auditor)
            return
        dialog = AskDialog(
            translate("Cases", "Your name"),
            translate("Cases", "The log says who acts. The settings keep the name."),
            translate("Cases", "Go on"),
            ((translate("Cases", "Your name"), 1),),
            self._parent,
        )

        def given(texts: tuple[str]) -> None:
            settings.update(auditor=texts[0])
            act(texts[0])

        dialog.given.connect(given)
        dialog.open()

    def _ask(
        self,
        title: str,
        words: str,
        action: str,
        field: tuple[str, int],
        act: Callable[[CaseLog, str, str], T],
        *,
        text: str = "",
        grave: bool = False,
        may_be_empty: bool = False,
        then: Callable[[T], object] | None = None,
    ) -> AskDialog:
        """Ask for one text, then write under the name of whoever acts."""
        dialog = AskDialog(
            title,
            words,
            action,
            (field,),
            self._parent,
            texts=(text,),
            grave=grave,
            may_be_empty=may_be_empty,
        )

        def given(texts: tuple[str]) -> None:
            answer = texts[0]
            self.named(lambda who: self._browser.write(lambda log: act(log, answer, who), then))

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
            lambda log, text, who: write_note(log, case.id, text, log.person(who)),
        )

    def ask_name(self, case: Case) -> AskDialog:
        """Ask for another name of a case."""
        return self._ask(
            translate("Cases", "Rename the case"),
            "",
            translate("Cases", "Rename"),
            (translate("Cases", "Name"), 1),
            lambda log, text, who: rename_case(log, case.id, text, log.person(who)),
            text=case.name or "",
        )

    def ask_tags(self, case: Case) -> AskDialog:
        """Ask for the tags of a case."""
        return self._ask(
            translate("Cases", "Tags"),
            translate("Cases", "Put commas between them."),
            translate("Cases", "Set"),
            (translate("Cases", "Tags"), 1),
            lambda log, text, who: set_tags(log, case.id, text.split(","), log.person(who)),
            text=", ".join(case.tags),
            may_be_empty=True,
        )

    def ask_event(self, case: Case) -> EventDialog:
        """Ask what happened to the item."""
        dialog = EventDialog(self._parent)

        def given(event: dict[str, str]) -> None:
            self.named(
                lambda who: self._browser.write(
                    lambda log: record_event(log, log.person(who), case=case.id, **event)
                )
            )

        dialog.given.connect(given)
        dialog.open()
        return dialog

    def ask_hold(self, case: Case) -> AskDialog:
        """Ask why a hold is set or lifted."""
        held = not case.held
        title = translate("Cases", "Set a hold") if held else translate("Cases", "Lift the hold")
        return self._ask(
            title,
            translate("Cases", "While a hold is set, nothing of the case can be erased."),
            title,
            (translate("Cases", "Reason"), 3),
            lambda log, text, who: set_hold(log, case.id, log.person(who), held=held, reason=text),
        )

    def ask_erase(self, case: Case, *, text_only: bool) -> AskDialog:
        """Ask why something is erased for good."""
        what = filled(
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
            what,
            translate("Cases", "Erase for good"),
            (translate("Cases", "Reason"), 3),
            lambda log, text, who: erase(
                log, case.id, log.person(who), reason=text, text_only=text_only
            ),
            grave=True,
            then=self._browser.say_erased,
        )

    def _close(self, case: Case) -> None:
        self.named(
            lambda who: self._browser.write(
                lambda log: set_closed(log, case.id, log.person(who), closed=not case.closed)
            )
        )

    def ask_export(self, case: Case) -> QFileDialog:
        """Ask where a case goes as one file."""
        return ask_target(
            self._parent,
            translate("Cases", "Export the case"),
            lambda path: self.export_to(case, path),
            translate("Cases", "Exported cases (*.puracase)"),
            name=safe_name(case_name(case), ".puracase"),
            suffix="puracase",
        )

    def export_to(self, case: Case, path: Path) -> None:
        """Write a case as one file; the file dialog has asked about one that is there."""
        words = filled(
            translate(
                "Cases", "Exported to “{file:text}”. Whoever has the file can read the case."
            ),
            file=path.name,
        )
        self.named(
            lambda who: self._browser.change(
                lambda _: export_to_file(
                    self._browser.log.environment,
                    case=case.id,
                    path=path,
                    auditor=who,
                    replace=True,
                ),
                lambda _: self._browser.say(words),
            )
        )

    def check_log(self) -> CheckDialog:
        """Check the whole log."""
        from pura_audit.cases.check import CheckDialog

        dialog = CheckDialog(self._browser.log, self._browser.session.settings, self._parent)
        return opened(dialog)

    # Its audits

    def ask_review(self, case: Case) -> ReviewDialog | None:
        """Let a second person look at a finding."""
        chosen = self._browser.pane.chosen
        if len(chosen) != 1:
            return None
        dialog = ReviewDialog(self._browser.log, case, chosen[0], self._parent)
        return opened(dialog)

    def _opened(self, then: Callable[[tuple[Audit, ...]], object]) -> None:
        """Read the chosen audits, with their texts; ask for a passphrase where one is needed."""
        items = self._browser.pane.chosen
        if not any(item.mode == SEAL for item in items):
            self._read(items, None, self._then(then), self._parent)
            return
        dialog = PassphraseDialog(
            translate("Cases", "Passphrase of the kept text"),
            translate("Cases", "Cancel opens the findings without the text."),
            translate("Cases", "Open"),
            self._parent,
            new=False,
        )

        def ended(outcome: Outcome[tuple[Audit, ...]]) -> None:
            dialog.ended(outcome)
            if isinstance(outcome, Done):
                then(outcome.result)

        dialog.given.connect(lambda secret: self._read(items, secret, ended, dialog))
        dialog.rejected.connect(lambda: self._read(items, None, self._then(then), self._parent))
        opened(dialog)

    def _then(
        self, then: Callable[[tuple[Audit, ...]], object]
    ) -> Callable[[Outcome[tuple[Audit, ...]]], None]:
        def ended(outcome: Outcome[tuple[Audit, ...]]) -> None:
            if isinstance(outcome, Failure):
                self._browser.say(outcome)
            elif isinstance(outcome, Done):
                then(outcome.result)

        return ended

    def _read(
        self,
        items: Sequence[CaseItem],
        secret: Secret | None,
        ended: Callable[[Outcome[tuple[Audit, ...]]], None],
        owner: QWidget,
    ) -> None:
        log = self._browser.log
        self.named(
            lambda who: log.change(
                lambda context: open_audits(
                    log.environment,
                    items=tuple(items),
                    auditor=who,
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

    def _compare(self, audits: tuple[Audit, ...]) -> None:
        self._browser.compare_wanted.emit(audits)

    def _report(self, case: Case) -> None:
        items = self._browser.pane.chosen

        def asked(audits: tuple[Audit, ...]) -> None:
            base = ReportRequest(language=language())
            cases = self._browser.log
            cases.ask(
                lambda _: filled_request(cases.environment, case, items, base),
                lambda outcome: self._begin_report(case, audits, outcome),
                self,
            )

        self._opened(asked)

    def _begin_report(
        self, case: Case, audits: tuple[Audit, ...], outcome: Outcome[ReportRequest]
    ) -> None:
        if isinstance(outcome, Failure):
            self._browser.say(outcome)
        elif isinstance(outcome, Done):
            self._browser.report_wanted.emit(CaseReport(case, audits, outcome.result))
