"""Commands of the cases: what each opens."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QDialog

from pura.caselog.cases import UNFILED
from pura.scheme import Profile
from pura.usecases.profiles import import_register as add_register
from pura_audit.jobs.context import Done, Failure, Outcome
from pura_audit.platform.i18n import filled, translate
from pura_audit.widgets.ask_file import ask_file
from pura_audit.widgets.form_dialog import opened
from pura_audit.workbench.frame.report_commands import current_first, report_of_case

if TYPE_CHECKING:
    from pura.caselog import Case, CaseItem
    from pura.record.audit import Audit
    from pura_audit.cases.dialog import CasesDialog
    from pura_audit.cases.save import SaveDialog
    from pura_audit.widgets.form_dialog import Host
    from pura_audit.workbench.dialogs.side_by_side import SideBySideDialog


def save_to_case(host: Host) -> SaveDialog | None:
    """Save the audit on screen, and the others that are finished, to a case."""
    from pura_audit.cases.save import SaveDialog

    current = host.session.texts.current
    if current is None or current.audit is None:
        host.say(translate("Cases", "There is no finished audit to save. Audit a text first."))
        return None
    # Those of an earlier run are read from the log when they are filed.
    others = [
        item.audit or item.finding.id
        for item in host.session.texts.queue.items
        if item is not current
        and item.finding is not None
        and (item.audit or (item.standing is not None and item.standing.name == UNFILED))
    ]
    session = host.session
    dialog = SaveDialog(session.cases, session.settings, current.audit, others, host.frame)

    def saved(case: Case, count: int) -> None:
        words = translate(
            "Cases", "{n:plural(Saved|{n:count} audits were saved)} to the case “{case:text}”."
        )
        host.say(filled(words, n=count, case=case.name or ""))

    dialog.saved.connect(saved)
    return opened(dialog)


def review_current(host: Host) -> None:
    """Let a second person look at the finding on screen."""
    from pura.usecases.cases import case_of
    from pura_audit.cases.review import ReviewDialog

    item = host.session.texts.current
    if item is None or item.finding is None or item.standing is None:
        host.say(translate("Cases", "Save the finding to a case first (Ctrl+S)."))
        return
    cases, audit = host.session.cases, item.finding.id

    def found(outcome: Outcome[tuple[Case, CaseItem]]) -> None:
        match outcome:
            case Done((case, saved)):
                opened(ReviewDialog(cases, case, saved, host.frame))
            case Failure():
                host.say(outcome.words)

    cases.ask(lambda _: case_of(cases.environment, audit), found, host.frame)


def show_cases(host: Host, case: str = "") -> CasesDialog:
    """Show the cases; the one with an identifier is chosen."""
    from pura_audit.cases.dialog import CasesDialog

    dialog = CasesDialog(host.session, host.frame)
    if case:
        dialog.refresh(case)
    dialog.compare_wanted.connect(lambda audits: compare_audits(host, audits))
    dialog.report_wanted.connect(lambda wanted: report_of_case(host, wanted))
    opened(dialog)
    return dialog


def compare_audits(host: Host, audits: Sequence[Audit] | None = None) -> QDialog:
    """Compare two finished audits: these, or those of the list, the one on screen first."""
    from pura_audit.workbench.dialogs.compare import CompareDialog

    if audits is None:
        audits = [item.audit for item in current_first(host) if item.audit is not None]
    dialog = CompareDialog(audits, host.frame)
    dialog.texts_wanted.connect(
        lambda first, second: show_side_by_side(host, audits, first, second)
    )
    return opened(dialog)


def show_side_by_side(
    host: Host, audits: Sequence[Audit] = (), first: int = 0, second: int = 1
) -> SideBySideDialog | None:
    """Show two texts of the list beside each other; says so where there are not two.

    Args:
        host: The window.
        audits: Audits whose texts are shown; without any, the text on screen and the one after it.
        first: Which of them is the first text.
        second: Which is the second.
    """
    from pura_audit.workbench.dialogs.side_by_side import SideBySideDialog, text_choices

    choices = text_choices(current_first(host), audits)
    if len(choices) < 2:
        host.say(translate("SideBySide", "Two texts are needed. Open the other one as well."))
        return None
    if first == second:  # an audit that is alone
        second = 0 if first else 1
    dialog = SideBySideDialog(host.session, host.theme, choices, first, second, host.frame)
    for pane in (dialog.first, dialog.second):
        pane.view.set_text_size(host.text_size)
    return opened(dialog)


def import_register(host: Host) -> QDialog | None:
    """Ask for a table of issued payloads, and take it in with the profile that is chosen."""
    session = host.session
    if session.chosen.profile is None:
        host.say(translate("Register", "Choose a profile first: it says what a payload is."))
        return None
    profile = session.chosen.profile.profile
    return ask_file(
        host.frame,
        translate("Register", "Import issued payloads"),
        lambda path: _take_in_register(host, path, profile),
        translate("Register", "Tables (*.csv)"),
        translate("Register", "All files (*)"),
    )


def _take_in_register(host: Host, path: Path, profile: Profile) -> None:
    session = host.session

    def ended(outcome: Outcome[tuple[int, int, str]]) -> None:
        match outcome:
            case Done((added, now, _)):
                words = translate(
                    "Register",
                    "{n:plural(One entry was|{n:count} entries were)} added to the register; "
                    "it has {all:count} now.",
                )
                host.say(filled(words, n=added, all=now))
            case Failure():
                host.say(outcome.words)

    session.do(
        lambda context: add_register(
            session.environment, path=path, profile=profile, checkpoint=context.checkpoint
        ),
        ended,
        host.frame,
    )
