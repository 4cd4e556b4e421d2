"""Checking and signing a report: works for the queue of the model."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from pura.base.errors import ReportFileError, SigningError
from pura.base.files import write_atomic
from pura.base.progress import Stage
from pura.caselog import CaseLog, workstation
from pura.caselog.reports import note_signed
from pura.desk.audits import audit_again
from pura.desk.workplace import Workplace
from pura.keys import Secret
from pura.record.audit import Audit
from pura.report.check import ReportCheck, check_report, load_trust
from pura.report.sign import Identity, SignOptions, load_identity, sign_report
from pura_audit.jobs.context import JobContext

_MAX_READ: Final = (64 << 20) + 1


@dataclass(frozen=True, kw_only=True)
class CheckReport:
    """A report to be checked.

    Attributes:
        path: The PDF.
        trust: Files with trusted certificates.
        rerun: Also audit the embedded text again.
    """

    path: Path
    trust: tuple[Path, ...] = ()
    rerun: bool = False


@dataclass(frozen=True, kw_only=True)
class SignReport:
    """A report to be signed.

    Attributes:
        path: The PDF.
        to: The signed PDF; the person has agreed where it replaces a file.
        certificate: The PKCS#12 file.
        passphrase: Its passphrase.
        options: Reason, place, seal, time-stamp authority.
        auditor: Under this name the case log notes it, and its head is signed too; empty leaves
            the log alone.
    """

    path: Path
    to: Path
    certificate: Path
    passphrase: Secret = field(repr=False)
    options: SignOptions = field(default_factory=SignOptions)
    auditor: str = ""


def check(workplace: Workplace, request: CheckReport, context: JobContext) -> ReportCheck:
    """Check a report.

    Raises:
        PuraError: A file cannot be read, or the report's reader died.
        Cancelled: The user stopped it.
    """
    context.progress(Stage(name="report"))
    trust = [der for path in request.trust for der in load_trust(_read(path))]

    def again(audit: Audit) -> Audit:
        return audit_again(workplace, audit, checkpoint=context.checkpoint)

    return check_report(
        _read(request.path),
        moment=datetime.now(UTC),
        trust=trust,
        again=again if request.rerun else None,
        beat=context.checkpoint,
    )


def sign(workplace: Workplace, request: SignReport) -> Identity:
    """Sign a report; return who signed.

    Raises:
        PuraError: A file cannot be read or written, or certificate or report do not fit.
    """
    with request.passphrase.used() as passphrase:
        now = datetime.now(UTC)
        identity = load_identity(_read(request.certificate), passphrase, now=now)
        before = _read(request.path)
        signed = sign_report(before, identity, request.options, now=now)
    try:
        write_atomic(request.to, signed)
    except OSError as error:
        raise SigningError("signing.write", why=error.errno or 0, code="file-unwritable") from None
    if request.auditor:
        paths = workplace.paths
        with CaseLog(paths.caselog, station=workstation(paths.workstation)) as log:
            note_signed(log, before, signed, identity, log.person(request.auditor))
    return identity


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_MAX_READ)
    except OSError as error:
        raise ReportFileError(
            "file.read", name=path.name, why=error.errno or 0, code="file-unreadable"
        ) from None
