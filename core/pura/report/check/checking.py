"""All checks of a report, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from pura.base.errors import ReportFileError
from pura.report.check.caged import take_apart
from pura.report.check.judge import OPEN, CheckedPoint, ReportCheck, judge
from pura.report.check.pages import same_pages
from pura.report.check.repeating import Again, repeat

MAX_TRUST_BYTES: Final = 1 << 20


def check_report(
    data: bytes,
    *,
    moment: datetime,
    trust: Sequence[bytes] = (),
    policy: bool = False,
    again: Again | None = None,
    beat: Callable[[], None] | None = None,
) -> ReportCheck:
    """Check a report.

    Args:
        data: The PDF.
        moment: Now, with a zone.
        trust: Trusted certificates, DER; see :func:`load_trust`.
        policy: Whether the policy in force here asks for signatures.
        again: Audits an embedded text anew; None leaves that check out.
        beat: Called often; whatever it raises stops the check.

    Raises:
        ReportFileError: The file is too large, or its reader died.
    """
    facts = take_apart(data, trust, moment=moment, beat=beat)
    found = judge(facts, trusted=bool(trust), moment=moment, policy=policy)
    if not found.audits:
        return found
    last = [same_pages(data, facts, beat)]
    if again is None:
        last.append(CheckedPoint(name="repeat", state=OPEN, key="repeat.not-asked"))
    else:
        last += repeat(found.audits, again)
    return replace(found, checks=(*found.checks, *last))


def load_trust(data: bytes) -> tuple[bytes, ...]:
    """Read trusted certificates: PEM with one or more, or DER with one.

    Raises:
        ReportFileError: There is no certificate in it.
    """
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding

    try:
        if len(data) > MAX_TRUST_BYTES:
            raise ValueError("size")
        if b"-----BEGIN" in data:
            certs = x509.load_pem_x509_certificates(data)
        else:
            certs = [x509.load_der_x509_certificate(data)]
    except ValueError:
        raise ReportFileError("report.certificate", code="trust-file") from None
    return tuple(cert.public_bytes(Encoding.DER) for cert in certs)
