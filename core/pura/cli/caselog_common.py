"""What the case-log commands share: the log, who acts, which case."""

from __future__ import annotations

import getpass
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pura.base.errors import CaseLogError, PuraError
from pura.base.paths import user_paths
from pura.caselog import Case, CaseLog, Person, Vault, find_case, open_case, workstation
from pura.caselog.saving import SEAL, TEXT_MODES
from pura.cli.passphrases import passphrase
from pura.cli.terminal import out
from pura.record.audit import Audit

if TYPE_CHECKING:
    from pura.report import Report, ReportRequest

CaseName = Annotated[str, typer.Argument(metavar="CASE", help="Its name, or its identifier.")]
Auditor = Annotated[
    str | None,
    typer.Option(
        "--auditor",
        metavar="NAME",
        envvar="PURA_AUDITOR",
        help="Who acts, as the log shall say; else the name of this login.",
    ),
]
Reason = Annotated[str, typer.Option("--reason", help="Why; the log keeps it.")]


def open_log(*, create: bool = False, read_only: bool = False) -> CaseLog:
    """Open the user's case log.

    Raises:
        CaseLogError: There is none, or it cannot be used.
    """
    paths = user_paths()
    if not create and not paths.caselog.exists():
        raise CaseLogError("caselog.missing", code="case-log-missing")
    if read_only:
        return CaseLog(paths.caselog, read_only=True)
    return CaseLog(paths.caselog, create=create, station=workstation(paths.workstation))


def who(log: CaseLog, auditor: str | None) -> Person:
    """Return who acts.

    Raises:
        CaseLogError: Nobody was named, and the login has no name.
    """
    if not auditor:
        with suppress(OSError, KeyError, ImportError):
            auditor = getpass.getuser()
    return log.person(auditor or "")


def the_case(log: CaseLog, name: str) -> Case:
    """Return the case of this name.

    Raises:
        CaseLogError: There is none, or several.
    """
    case = find_case(log, name)
    if case is None:
        raise CaseLogError("caselog.no-case-named", name=name[:80], code="case-log-unknown")
    return case


class Saver:
    """Saves what one call of ``pura verify`` finds to a case.

    Args:
        name: Of the case; a new one is opened when there is none.
        auditor: Who acts.
        text: What becomes of the texts.
        passphrase_file: For ``seal``; None asks.

    Raises:
        CaseLogError: The case is closed, or the log cannot be written.
        KeyFormatError: No passphrase, or a short one.
    """

    def __init__(
        self, name: str, auditor: str | None, text: str, passphrase_file: Path | None
    ) -> None:
        if text not in TEXT_MODES:
            raise typer.BadParameter(f"Choose {', '.join(TEXT_MODES)}.", param_hint="--keep-text")
        self._text = text
        self._vault: Vault | None = None
        if text == SEAL:
            words = passphrase(passphrase_file, "Passphrase of the kept texts", new=True)
            self._vault = Vault(words)
            words[:] = bytes(len(words))
        with open_log(create=True) as log:
            self.actor = who(log, auditor)
            found = find_case(log, name)
            if found is None:
                found = open_case(log, name, self.actor)
                out.print(f"Opened the case “{found.name}”.", markup=False)
            elif found.closed:
                raise CaseLogError("command.case-closed", code="case-log-closed")
        self.case = found

    def start(self, name: str) -> None:
        """Say that an examination begins."""
        from pura.caselog.saving import record_start

        self._act(lambda log: record_start(log, self.case.id, name, self.actor))

    def save(self, audit: Audit) -> None:
        """Save a finding."""
        from pura.caselog import save_audit

        self._act(
            lambda log: save_audit(
                log, self.case.id, audit, self.actor, text=self._text, vault=self._vault
            )
        )

    def fail(self, name: str, error: PuraError) -> None:
        """Say that an examination failed."""
        from pura.caselog import record_failure

        self._act(lambda log: record_failure(log, self.case.id, name, error, self.actor))

    def request(self, wanted: ReportRequest, audits: Sequence[Audit]) -> ReportRequest:
        """Fill what the log knows into the request of a report."""
        from pura.caselog.cases import read_case
        from pura.caselog.reports import request_of_case

        with open_log(read_only=True) as log:
            case = read_case(log, self.case.id)
            return request_of_case(log, case, [case.item(a.id) for a in audits], wanted)

    def drafted(self, report: Report, wanted: ReportRequest, audits: Sequence[Audit]) -> None:
        """Say what became of the report."""
        from pura.caselog.reports import note_report

        ids = [audit.id for audit in audits]
        self._act(
            lambda log: note_report(
                log, self.case.id, ids, wanted, report.number, report.pdf, self.actor
            )
        )

    def wipe(self) -> None:
        """Overwrite the key of the kept texts."""
        if self._vault is not None:
            self._vault.wipe()

    @staticmethod
    def _act(act: Callable[[CaseLog], object]) -> None:
        # Opened for each: a run over many texts must not keep others from their cases.
        with open_log() as log:
            act(log)


class Saved:
    """Audits of a case, for a report of them.

    Args:
        name: Of the case.
        items: Beginnings of the audits' identifiers; none means all whose record is kept.
        auditor: Who acts.

    Raises:
        CaseLogError: There is no such case or audit, or a record was erased.
    """

    def __init__(self, name: str, items: Sequence[str], auditor: str | None) -> None:
        from pura.caselog import load_audit

        with open_log() as log:
            self._case = the_case(log, name)
            self._actor = who(log, auditor)
            kept = [item for item in self._case.items if item.record is not None]
            self._items = [self._case.item(item) for item in items] if items else kept
            self.audits = [load_audit(log, item, actor=self._actor) for item in self._items]

    def request(self, wanted: ReportRequest) -> ReportRequest:
        """Fill what the log knows into the request."""
        from pura.caselog.reports import request_of_case

        with open_log(read_only=True) as log:
            return request_of_case(log, self._case, self._items, wanted)

    def note(self, report: Report, wanted: ReportRequest, recipient: str) -> None:
        """Say what became of the report."""
        from pura.caselog.reports import note_report

        with open_log() as log:
            note_report(
                log,
                self._case.id,
                [audit.id for audit in self.audits],
                wanted,
                report.number,
                report.pdf,
                self._actor,
                recipient=recipient,
            )
