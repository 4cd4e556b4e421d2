"""Signing a report on behalf of the window; runs in the model thread."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pura.base.errors import SigningError
from pura.base.files import write_atomic
from pura.base.paths import Paths
from pura.caselog import CaseLog, workstation
from pura.caselog.reports import note_signed
from pura.keys import Secret
from pura.report.sign import SignOptions, load_identity, sign_report
from pura.scheme.keys import wipe_buffer
from pura_audit.jobs.messages import Chore
from pura_audit.jobs.report_chores import read_whole
from pura_audit.platform.i18n import translate


@dataclass(frozen=True, kw_only=True)
class SignChore(Chore):
    """A report to be signed.

    Attributes:
        kind: ``sign-report``.
        path: The PDF.
        to: The signed PDF; the person has agreed where it replaces a file.
        certificate: The PKCS#12 file.
        passphrase: Its passphrase.
        options: Reason, place, seal, time-stamp authority.
        auditor: Under this name the case log notes it, and its head is signed too; empty leaves
            the log alone.
    """

    kind: str = "sign-report"
    to: Path
    certificate: Path
    passphrase: Secret = field(repr=False)
    options: SignOptions = field(default_factory=SignOptions)
    auditor: str = ""


def do_sign(chore: SignChore, paths: Paths) -> str:
    """Sign a report; return who signed, in words.

    Raises:
        PuraError: A file cannot be read or written, or certificate or report do not fit.
    """
    assert chore.path is not None  # the dialog asks for it first
    secret = chore.passphrase.copy()
    try:
        now = datetime.now(UTC)
        identity = load_identity(read_whole(chore.certificate), secret, now=now)
        before = read_whole(chore.path)
        done = sign_report(before, identity, chore.options, now=now)
    finally:
        wipe_buffer(secret)
        chore.passphrase.wipe()
    try:
        write_atomic(chore.to, done)
    except OSError as error:
        raise SigningError("signing.write", why=error.errno or 0, code="file-unwritable") from None
    if chore.auditor:
        with CaseLog(paths.caselog, station=workstation(paths.workstation)) as log:
            note_signed(log, before, done, identity, log.person(chore.auditor))
    words = translate("SignReport", "“%1” is signed as %2; the certificate is valid until %3.")
    facts = identity.certificate
    return (
        words.replace("%1", chore.to.name)
        .replace("%2", facts.subject)
        .replace("%3", facts.not_after.date().isoformat())
    )
