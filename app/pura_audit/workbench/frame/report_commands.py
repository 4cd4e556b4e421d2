"""Commands of reports and statements: what each opens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QDialog

from pura.caselog.cases import UNFILED
from pura.usecases.cases import open_saved
from pura_audit.jobs.context import Done, Failure, Outcome
from pura_audit.platform.i18n import language, translate
from pura_audit.widgets.form_dialog import opened

if TYPE_CHECKING:
    from pura.record.audit import Audit
    from pura.report import ReportRequest
    from pura.usecases.reports import Built
    from pura_audit.cases.acts import CaseReport
    from pura_audit.reports.check import ReportCheckDialog
    from pura_audit.reports.dialog import ReportDialog
    from pura_audit.reports.statement import StatementDialog
    from pura_audit.session.queue_model import Item
    from pura_audit.widgets.form_dialog import Host


def report_current(host: Host) -> None:
    """Make a report of the finding on screen, with what the case log knows of it."""
    from pura.report import ReportRequest
    from pura.usecases.cases import case_of
    from pura.usecases.reports import filled_request
    from pura_audit.cases.acts import CaseReport

    item = host.session.texts.current
    if item is None or item.audit is None or item.standing is None:
        make_report(host)
        return
    cases, audit = host.session.cases, item.audit
    base = ReportRequest(language=language())

    def asked() -> CaseReport:
        found, saved = case_of(cases.environment, audit.id)
        request = filled_request(cases.environment, found, [saved], base)
        if found.name == UNFILED:
            request = replace(request, case="")  # no name of a case that a reader would know
        return CaseReport(found, (audit,), request)

    def begin(outcome: Outcome[CaseReport]) -> None:
        match outcome:
            case Done(wanted):
                report_of_case(host, wanted)
            case Failure():
                host.say(outcome.words)

    cases.ask(lambda _: asked(), begin, host.frame)


def report_items(host: Host, items: Sequence[Item]) -> None:
    """Make one report of several finished rows; records that are not in memory are read first."""
    cases = host.session.cases
    wanted = [(item.name, item.audit, item.finding.id) for item in items if item.finding]

    def read(outcome: Outcome[list[tuple[str, Audit]]]) -> None:
        match outcome:
            case Done(audits):
                make_report(host, audits, every=True)
            case Failure():
                host.say(outcome.words)

    cases.ask(
        lambda _: [
            (name, audit or open_saved(cases.environment, key)) for name, audit, key in wanted
        ],
        read,
        host.frame,
    )


def report_of_case(host: Host, wanted: CaseReport) -> None:
    """Make a report of saved audits; the log notes what became of it."""
    from pura.usecases.reports import note_built

    case = wanted.case
    audits = [(audit.input.name, audit) for audit in wanted.audits]
    dialog = make_report(host, audits, wanted.base, every=True)
    assert dialog is not None  # there are audits
    cases, who = host.session.cases, host.session.settings.current.auditor

    def note(built: Built, path: Path) -> None:
        cases.change(
            lambda _: note_built(cases.environment, case, built, auditor=who),
            lambda outcome: host.say(
                outcome.words
                if isinstance(outcome, Failure)
                else translate("Cases", "The case log has noted the report.")
            ),
            host.frame,
        )

    dialog.saved.connect(note)


def make_report(
    host: Host,
    audits: Sequence[tuple[str, Audit]] | None = None,
    base: ReportRequest | None = None,
    *,
    every: bool = False,
) -> ReportDialog | None:
    """Make a report of finished audits; the one on screen comes first.

    Args:
        host: The window.
        audits: Names and audits to choose from; None takes those of the list.
        base: What is known beforehand.
        every: All of them are ticked, not the first alone.
    """
    from pura_audit.reports.dialog import ReportDialog

    if audits is None:
        audits = [(i.name, i.audit) for i in current_first(host) if i.audit is not None]
    if not audits:
        host.say(translate("Report", "A report needs a finished audit. Audit a text."))
        return None
    dialog = ReportDialog(host.session, audits, base, host.frame, every=every)
    dialog.sign_wanted.connect(lambda path: sign_report(host, path))

    def written(_: Built, path: Path) -> None:
        named = {audit.id for audit in dialog.form.audits.chosen()}
        for item in host.session.texts.queue.items:
            if item.finding is not None and item.finding.id in named:
                item.report = path

    dialog.saved.connect(written)
    opened(dialog)
    return dialog


def current_first(host: Host) -> list[Item]:
    """Return the rows of the list, the one on screen first."""
    current = host.session.texts.current
    return sorted(host.session.texts.queue.items, key=lambda item: item is not current)


def sign_current(host: Host) -> None:
    """Sign the report that was written of the finding on screen, where it is still there."""
    item = host.session.texts.current
    path = item.report if item is not None else None
    sign_report(host, path if path is not None and path.is_file() else None)


def sign_report(host: Host, path: Path | None = None) -> QDialog:
    """Sign the PDF of a report."""
    from pura_audit.reports.sign import ReportSignDialog

    dialog = ReportSignDialog(host.session, host.frame)
    if path is not None:
        dialog.take(report=path)
    return opened(dialog)


def verify_report(host: Host, path: Path | None = None) -> ReportCheckDialog:
    """Check a report."""
    from pura_audit.reports.check import ReportCheckDialog

    return opened(ReportCheckDialog(host.session, path, host.frame))


def check_statement(host: Host, path: Path | None = None) -> StatementDialog:
    """Check a statement that a detector signed."""
    from pura_audit.reports.statement import StatementDialog

    return opened(StatementDialog(host.session, path, host.frame))
