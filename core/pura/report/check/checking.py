"""All checks of a report in the cage and outside it: its pages made again, its audit repeated."""

from __future__ import annotations

import base64
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from pura.base.catalogue import Value, phrase
from pura.base.errors import PuraError, ReportFileError
from pura.base.process import NOT_SHUT_STATUS, Ending, converse, start_child
from pura.record.audit import Audit
from pura.record.comparison import TOLERANCE
from pura.record.json_io import findings_digest
from pura.report import request as request_file
from pura.report.check.child import MAX_FILE_BYTES
from pura.report.check.verify import (
    BAD,
    GOOD,
    NOTICE,
    OPEN,
    CheckedPoint,
    FileFacts,
    ReportCheck,
    from_plain,
    judge,
    listed,
    records,
)

"""In powers of ten: another device or batch size moves the evidence by less (evidence.md)."""

Again = Callable[[Audit], Audit]


def repeat(audits: Sequence[Audit], again: Again) -> list[CheckedPoint]:
    """Audit each embedded text again.

    Args:
        audits: From the record.
        again: Does the audit with the same key, profile and model; raises PuraError where key or
            model is not there.
    """
    return [_one(audit, again) for audit in audits]


def _one(audit: Audit, again: Again) -> CheckedPoint:
    if audit.text is None:
        return _not_possible(ReportFileError("repeat.text"))
    try:
        fresh = again(audit)
    except PuraError as error:
        return _not_possible(error)
    return compare(audit, fresh)


def compare(audit: Audit, fresh: Audit) -> CheckedPoint:
    """Hold a fresh audit against a recorded one: payload, outcome, evidence within tolerance."""
    if findings_digest(audit) == findings_digest(fresh):
        return CheckedPoint(name="repeat", state=GOOD, key="repeat.identical")
    delta = abs(audit.evidence.log10_e - fresh.evidence.log10_e)
    differing = [
        name
        for name, same in (
            ("differs.payload", audit.decoded.bits == fresh.decoded.bits),
            ("differs.outcome", audit.verdict == fresh.verdict),
            ("differs.tokens", audit.input.tokens == fresh.input.tokens),
            ("differs.evidence", delta <= max(TOLERANCE, 0.005 * abs(audit.evidence.log10_e))),
        )
        if not same
    ]
    if differing == ["differs.evidence"] and _weighed_by(audit) != _weighed_by(fresh):
        values = {"delta": f"{delta:.3f}"}
        return CheckedPoint(name="repeat", state=NOTICE, key="repeat.weighed", values=values)
    if differing:
        what = listed([phrase(key) for key in differing])
        return CheckedPoint(name="repeat", state=BAD, key="repeat.other", values={"what": what})
    return CheckedPoint(
        name="repeat", state=GOOD, key="repeat.same", values={"delta": f"{delta:.3f}"}
    )


def _weighed_by(audit: Audit) -> str:
    """Return what the log says of the decoding: the table that weighed the evidence among it."""
    return next((step.words("en") for step in audit.log if step.name == "decoding"), "")


def _not_possible(why: PuraError) -> CheckedPoint:
    return CheckedPoint(
        name="repeat",
        state=OPEN,
        key="repeat.not-possible",
        error=why,
    )


WALL_SECONDS: Final = 60.0
MAX_ANSWER_BYTES: Final = 128 << 20
CHILD: Final = "pura.report.check.child"
REMAKER: Final = "pura.report.check.remaker"


def take_apart(
    data: bytes,
    trust: Sequence[bytes],
    *,
    moment: datetime,
    beat: Callable[[], None] | None = None,
) -> FileFacts:
    """Take a PDF apart in a child process.

    Args:
        data: The whole file.
        trust: Trusted certificates, DER.
        moment: The time to hold certificates against, with a zone.
        beat: Called twenty times a second; whatever it raises kills the child first.

    Raises:
        ReportFileError: Too large, or the child died, ran out of time or answered nonsense.
    """
    if len(data) > MAX_FILE_BYTES:
        raise ReportFileError("report.file-large", mebibytes=MAX_FILE_BYTES >> 20)
    head = {
        "moment": moment.isoformat(),
        "trust": [base64.b64encode(der).decode() for der in trust],
    }
    ending = _run(CHILD, head, data, beat)
    return _judge(ending.status, ending.answer, late=ending.late)


def look_different(
    data: bytes, other: bytes, *, beat: Callable[[], None] | None = None
) -> tuple[int, ...]:
    """Draw two PDFs in a child process and return the pages that look different, from 1.

    Raises:
        ReportFileError: The child died, ran out of time or answered nonsense.
    """
    ending = _run(CHILD, {"like": len(other)}, other + data, beat)
    try:
        if ending.status != 0 or ending.late:
            raise ValueError("status")
        return tuple(int(page) for page in json.loads(ending.answer))
    except (ValueError, TypeError, RecursionError):
        raise ReportFileError("report.file-stopped", status=ending.status) from None


def made_again(
    record: bytes, told: bytes, *, beat: Callable[[], None] | None = None
) -> bytes | None:
    """Make the report of a record and its particulars again, in a child process.

    Returns:
        The PDF; None when none can be made of them.

    Raises:
        ReportFileError: No child can be started.
    """
    with tempfile.TemporaryDirectory(prefix="pura-remake-") as folder:
        head = {"folder": folder, "record": len(record), "particulars": len(told)}
        ending = _run(REMAKER, head, record + told, beat)
    made = ending.answer if ending.status == 0 and not ending.late else b""
    return made if made.startswith(b"%PDF-") and len(made) <= MAX_ANSWER_BYTES else None


def _run(
    module: str, head: Mapping[str, object], data: bytes, beat: Callable[[], None] | None
) -> Ending:
    try:
        child = start_child(module)
    except OSError as error:
        raise ReportFileError("reader.start", why=error.errno or 0) from None
    return converse(
        child,
        json.dumps(head).encode() + b"\n" + data,
        seconds=WALL_SECONDS,
        most=MAX_ANSWER_BYTES,
        beat=beat,
    )


def _judge(status: int, answer: bytes, *, late: bool) -> FileFacts:
    if late:
        raise ReportFileError("report.file-slow", seconds=f"{WALL_SECONDS:g}")
    if status == NOT_SHUT_STATUS:
        raise ReportFileError("reader.cage")
    try:
        if status != 0:
            raise ValueError("status")
        return from_plain(json.loads(answer))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ReportFileError("report.file-stopped", status=status) from None


def same_pages(
    data: bytes, facts: FileFacts, beat: Callable[[], None] | None = None
) -> CheckedPoint:
    """Hold a report against the one that its own record and particulars make.

    A report is made with the same bytes each time, so the one holds for all that is in the file:
    what is painted over, hidden, cropped, added, left out or put in another order.

    Args:
        data: The PDF.
        facts: What the child found in it; it holds one record.
        beat: Called often; whatever it raises stops the check.
    """
    told = [one for one in facts.attachments if one.name == request_file.NAME and one.data]
    if len(told) != 1:
        return _check(OPEN, "pages.no-particulars")
    record, particular = (one.data.encode("latin-1") for one in (records(facts)[0], told[0]))
    try:
        known = request_file.read(particular).made_with == request_file.here()
    except ValueError:
        return _check(BAD, "pages.damaged")
    made = made_again(record, particular, beat=beat)
    if made is None:
        return _check(BAD if known else OPEN, "pages.not-made")
    # A signature is appended; whatever else comes after the report is not of its making.
    signed = bool(facts.signatures) and all(one.whole for one in facts.signatures)
    if data == made or (signed and data.startswith(made)):
        return _check(GOOD, "pages.same")
    differing = look_different(data, made, beat=beat)
    pages = ", ".join(map(str, differing))
    if not known:
        return _check(*((OPEN, "pages.version") if differing else (NOTICE, "pages.alike")), pages)
    return _check(BAD, "pages.other" if differing else "pages.unseen", pages)


def _check(state: str, key: str, pages: str = "") -> CheckedPoint:
    values: dict[str, Value] = {"pages": pages} if pages else {}
    return CheckedPoint(name="pages", state=state, key=key, values=values)


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
