"""Checking a report: separate checks, each with its own result in words (reports.md).

The file comes from a stranger: :mod:`pura.report.check_child` takes it apart in a sandboxed child
process, and the facts that the child returns are judged here. Then the report is made again from
its own record and compared and, on request, its texts are audited again. No network is used.
"""

from __future__ import annotations

import base64
import json
import logging
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from pura.base.catalogue import Phrase, Value, catalogue, phrase
from pura.base.decoder import decode
from pura.base.errors import PuraError, RecordError, ReportFileError, os_error_as, unusable
from pura.base.json_text import read_json
from pura.base.process import NOT_SHUT_STATUS, ChildResult, converse, start_child
from pura.base.progress import Checkpoint, never_cancelled
from pura.detect.verdict.agreement import check_agreement
from pura.record import audit as record
from pura.record import json_io
from pura.record.audit import Audit
from pura.record.comparison import TOLERANCE
from pura.record.json_io import FORMS, findings_digest
from pura.report import request as request_file
from pura.report.build import audits_in

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class AttachmentFacts:
    """A file attached to the PDF.

    Attributes:
        name: Name of the attachment in the PDF.
        sha256: SHA-256 of its bytes, in hexadecimal.
        size: Its length in bytes.
        data: Its bytes as Latin-1 text; empty unless it is JSON of a sensible size.
    """

    name: str
    sha256: str
    size: int
    data: str = field(default="", repr=False)


@dataclass(frozen=True, kw_only=True)
class SignatureFacts:
    """One signature.

    Attributes:
        name: Name of the signature field.
        subject: Person or organisation that the certificate names.
        issuer: Authority that issued the certificate.
        sha256: Fingerprint of the certificate.
        not_before: Valid from, ISO 8601.
        not_after: Valid until, ISO 8601.
        signed_at: Time of signing by the signer's clock; empty if not stated.
        stamped_at: Time of signing by a time-stamp authority; empty without one.
        stamp_trusted: Whether the authority's certificate is trusted.
        intact: Whether the signed bytes are unchanged.
        valid: Whether the signature fits the certificate's key.
        trusted: Whether the certificate leads to a trusted one.
        whole: Whether the signature covers the file from the first byte to the last.
        end: Position at which the covered bytes end.
        padded: Whether only zeros follow the signature in the gap that it does not cover.
        changes: Later changes: ``none``, ``ltv``, ``forms``, ``annotations`` or ``other``.
        revision_pages: Pages whose text differs between the signed state and the file, from 1.
        revision_attachments: Attachments that differ, by name.
        problem: Why the signature could not be checked; empty if it could.
    """

    name: str
    subject: str = ""
    issuer: str = ""
    sha256: str = ""
    not_before: str = ""
    not_after: str = ""
    signed_at: str = ""
    stamped_at: str = ""
    stamp_trusted: bool = False
    intact: bool = False
    valid: bool = False
    trusted: bool = False
    whole: bool = False
    end: int = 0
    padded: bool = True
    changes: str = "none"
    revision_pages: tuple[int, ...] = ()
    revision_attachments: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class FileFacts:
    """A PDF, taken apart.

    Attributes:
        size: Length of the file in bytes.
        sha256: SHA-256 of the file, in hexadecimal.
        pages: Text of every page.
        metadata: Title, author, subject, keywords, … from the file.
        attachments: Attached files.
        signatures: In the order in which they were made.
        tail: Bytes after the last end-of-file mark.
        saves: How often the file was saved (number of end-of-file marks).
        extras: Parts that a genuine report never has: ``scripts``, ``annotations``, ``layers``,
            ``cropped``, or ``unreadable``.
        problem: Why the file could not be taken apart; empty if it could.
    """

    size: int
    sha256: str
    pages: tuple[str, ...] = ()
    metadata: dict[str, str] = field(default_factory=dict)
    attachments: tuple[AttachmentFacts, ...] = ()
    signatures: tuple[SignatureFacts, ...] = ()
    tail: int = 0
    saves: int = 0
    extras: tuple[str, ...] = ()
    problem: str = ""


GOOD: Final = "good"
NOTICE: Final = "notice"
BAD: Final = "bad"
OPEN: Final = "open"
STATES: Final = (GOOD, NOTICE, BAD, OPEN)
"""OK; a note; failed; not examined, or impossible to examine."""


@dataclass(frozen=True, kw_only=True)
class CheckedPoint:
    """The result of one check.

    Attributes:
        name: Stable name, ``name.…`` in the volume ``report-check``.
        state: One of :data:`STATES`.
        key: Key of the sentence that states the result, in the volume ``report-check``.
        values: Values for the placeholders of the sentence.
        error: The error behind the result, if any; its message fills the placeholder ``why``.
    """

    name: str
    state: str
    key: str
    values: Mapping[str, Value] = field(default_factory=dict)
    error: PuraError | None = None

    def title(self, language: str = "en") -> str:
        """Return the name of the check for people."""
        return catalogue("report-check").fill(f"name.{self.name}", language, {})

    def result(self, language: str = "en") -> str:
        """Return the state as a word for people."""
        return catalogue("report-check").fill(f"state.{self.state}", language, {})

    def text(self, language: str = "en") -> str:
        """Return the sentence that states the result."""
        values = dict(self.values)
        if self.error is not None:
            values["why"] = self.error.words(language)[0]
        return catalogue("report-check").fill(self.key, language, values)

    def plain(self, language: str = "en") -> dict[str, str]:
        """Return the result as JSON."""
        return {
            "name": self.name,
            "state": self.state,
            "finding": self.key,
            "text": self.text(language),
        }


def point(
    state: str, key: str, *, check_name: str = "", error: PuraError | None = None, **values: Value
) -> CheckedPoint:
    """Return the result of one check; by default its name is the first part of the key."""
    name = check_name or key.partition(".")[0]
    return CheckedPoint(name=name, state=state, key=key, values=values, error=error)


@dataclass(frozen=True, kw_only=True)
class ReportCheck:
    """All checks of one file.

    Attributes:
        facts: What the file contains.
        checks: Results of the checks, in reading order.
        audits: The audits of the embedded record; empty if it is missing or damaged.
    """

    facts: FileFacts
    checks: tuple[CheckedPoint, ...]
    audits: tuple[Audit, ...] = ()

    def count(self, state: str) -> int:
        """Return how many checks have a state."""
        return sum(check.state == state for check in self.checks)

    @property
    def sound(self) -> bool:
        """Whether no check failed."""
        return self.count(BAD) == 0

    @property
    def signed(self) -> bool:
        """Whether there is a signature, valid or not."""
        return bool(self.facts.signatures)

    @property
    def status(self) -> str:
        """The overall result.

        Returns:
            ``amiss``: a check failed. ``unsigned``: there is no signature. ``signed``: there is
            one, and the identity of the signer was not examined. ``trusted``: the signer was
            examined and is trusted.
        """
        if not self.sound:
            return "amiss"
        if not self.signed:
            return "unsigned"
        trust = [check.state for check in self.checks if check.name == "trust"]
        return "trusted" if trust and all(state == GOOD for state in trust) else "signed"

    def headline(self, language: str = "en") -> str:
        """Return the overall result as a sentence that promises no more than was examined."""
        key = f"headline.{self.status}"
        states = {check.name: check.state for check in self.checks}
        if self.status == "unsigned" and states.get("pages") != GOOD:
            key = "headline.unsigned-unchecked"
        values = {"count": self.count(BAD), "checks": len(self.checks)}
        return catalogue("report-check").fill(key, language, values)


def judge(
    facts: FileFacts, *, trusted: bool, moment: datetime, policy: bool = False
) -> ReportCheck:
    """Judge each fact about the file.

    Args:
        facts: The facts from the child process.
        trusted: Whether any trusted certificate was named.
        moment: The time at which certificates must be valid.
        policy: Whether the local policy requires signatures; the record's own policy may too.
    """
    if facts.problem:
        return ReportCheck(facts=facts, checks=(point(BAD, f"file.{facts.problem}"),))
    recorded, audits = _record(facts)
    signatures = _signatures(facts, trusted, moment)
    signature_required = policy or any(audit.policy.get("signed") is True for audit in audits)
    if not facts.signatures and (trusted or signature_required):
        signatures = [point(BAD, "integrity.missing" if trusted else "integrity.policy")]
    checks = (_file(facts), *recorded, *_extra_points(facts), *signatures)
    failed = [check.key for check in checks if check.state == BAD]
    _log.info("a report was checked: %d checks, failed: %s", len(checks), failed)
    return ReportCheck(facts=facts, checks=checks, audits=audits)


def _file(facts: FileFacts) -> CheckedPoint:
    if facts.tail:
        return point(BAD, "file.tail", bytes=facts.tail)
    if facts.saves > 1 + len(facts.signatures):
        return point(BAD, "file.saved")
    return point(GOOD, "file.sound", pages=len(facts.pages), sha=facts.sha256)


def _extra_points(facts: FileFacts) -> list[CheckedPoint]:
    if not facts.extras:
        return []
    extras = listed([phrase(f"extra.{name}") for name in facts.extras])
    return [point(BAD, "added.some", what=extras)]


def _record(facts: FileFacts) -> tuple[list[CheckedPoint], tuple[Audit, ...]]:
    candidates = records(facts)
    if not candidates:
        return [point(BAD, "record.none")], ()
    if len(candidates) > 1:
        names = ", ".join(attachment.name for attachment in candidates)
        return [point(BAD, "record.several", names=names)], ()
    attachment = candidates[0]
    checks = [
        point(GOOD, "record.found", name=attachment.name, size=attachment.size),
        _digest(facts, attachment),
    ]
    try:
        document = read_json(attachment.data.encode("latin-1"))
        audits = tuple(json_io.from_dict(part) for part in audits_in(document))
        if not audits:
            raise RecordError("report.holds-none")
    except RecordError as error:
        return [*checks, point(BAD, "schema.invalid", error=error)], ()
    except (ValueError, RecursionError):
        no_json = unusable(RecordError, "record", phrase("what.no-json"))
        return [*checks, point(BAD, "schema.invalid", error=no_json)], ()
    checks.append(point(GOOD, "schema.valid", count=len(audits), schema=record.SCHEMA))
    checks += [_agrees(audits), _printed(facts, audits), _findings(facts, audits)]
    return checks, audits


def _agrees(audits: Sequence[Audit]) -> CheckedPoint:
    """Check that each record is consistent in itself; name the first that is not."""
    for audit in audits:
        try:
            check_agreement(audit)
        except RecordError as error:
            return point(BAD, "agrees.other", error=error, name=audit.input.name)
    return point(GOOD, "agrees.same")


def records(facts: FileFacts) -> list[AttachmentFacts]:
    """Return the attachments that may be the record."""
    return [
        attachment
        for attachment in facts.attachments
        if attachment.data and attachment.name != request_file.NAME
    ]


def _digest(facts: FileFacts, attachment: AttachmentFacts) -> CheckedPoint:
    text = _squeezed(" ".join((*facts.pages, *facts.metadata.values())))
    same = attachment.sha256 in text.lower()
    return point(
        GOOD if same else BAD, "digest.same" if same else "digest.other", sha=attachment.sha256
    )


def listed(parts: Sequence[Phrase]) -> Phrase:
    """Join phrases of the volume ``report-check`` with commas."""
    first, *rest = parts
    return phrase("and", first=first, rest=listed(rest)) if rest else first


def _printed(facts: FileFacts, audits: Sequence[Audit]) -> CheckedPoint:
    text = _squeezed(" ".join(facts.pages)).lower()
    missing = []
    for audit in audits:
        expected = [
            (phrase("missing.sha", name=audit.input.name), audit.input.sha256),
            (phrase("missing.key", name=audit.key.fingerprint), audit.key.fingerprint),
        ]
        if audit.verdict == "mark":
            expected.append((phrase("missing.payload", name=audit.input.name), audit.decoded.bits))
        missing += [label for label, value in expected if _squeezed(value).lower() not in text]
    if missing:
        return point(BAD, "printed.other", what=listed(missing))
    return point(GOOD, "printed.same")


def _findings(facts: FileFacts, audits: Sequence[Audit]) -> CheckedPoint:
    text = _squeezed(" ".join(facts.pages)).lower()
    same = all(any(findings_digest(audit, form) in text for form in FORMS) for audit in audits)
    return point(GOOD if same else BAD, "findings.same" if same else "findings.other")


def _squeezed(text: str) -> str:
    """Remove the spaces, hyphens and dots that line breaks or grouping put into long numbers."""
    return re.sub(r"[\s\u00ad\u200b\u2060\ufffe\u0002·-]+", "", text)


def _signatures(facts: FileFacts, trusted: bool, moment: datetime) -> list[CheckedPoint]:
    if not facts.signatures:
        return [point(NOTICE, "integrity.none")]
    return [
        point
        for signature in facts.signatures
        for point in _signature_points(facts, signature, trusted, moment)
    ]


_MOST_NAMED: Final = 200
"""Characters of a name from the file that a message repeats."""


def _signature_points(
    facts: FileFacts, signature: SignatureFacts, trusted: bool, moment: datetime
) -> list[CheckedPoint]:
    if signature.problem:
        return [point(BAD, "integrity.unreadable", why=signature.problem)]
    if not signature.intact:
        integrity = point(BAD, "integrity.broken")
    elif not signature.padded:
        integrity = point(BAD, "integrity.padding")
    elif not signature.valid:
        integrity = point(BAD, "integrity.invalid")
    else:
        integrity = point(GOOD, "integrity.intact")
    # A report of this program names its examiner as the author.
    examiner = facts.metadata.get("Author", "").strip()
    differs = bool(examiner) and examiner.casefold() != signature.subject.casefold()
    values: dict[str, Value] = {
        "subject": signature.subject,
        "issuer": signature.issuer,
        "sha": signature.sha256,
        "when": signature.signed_at,
    }
    if differs:
        values["examiner"] = examiner[:_MOST_NAMED]
    signer = CheckedPoint(
        name="signer",
        state=NOTICE if integrity.state == GOOD else OPEN,
        key="signer.who-examiner" if differs else "signer.who",
        values=values,
    )
    return [
        integrity,
        signer,
        _time(signature),
        _trust(signature, trusted, moment),
        *_coverage(facts, signature),
    ]


def _time(signature: SignatureFacts) -> CheckedPoint:
    if not signature.stamped_at:
        return point(NOTICE, "time.clock")
    trusted = signature.stamp_trusted
    return point(
        GOOD if trusted else NOTICE,
        "time.stamped" if trusted else "time.unknown-authority",
        when=signature.stamped_at,
    )


def _trust(signature: SignatureFacts, trusted: bool, moment: datetime) -> CheckedPoint:
    until = datetime.fromisoformat(signature.not_after)
    if signature.trusted:
        return point(GOOD, "trust.trusted")
    if moment > until:
        return point(BAD, "trust.expired", when=signature.not_after)
    if not trusted:
        return point(OPEN, "trust.none-given")
    return point(BAD, "trust.unknown")


def _coverage(facts: FileFacts, signature: SignatureFacts) -> list[CheckedPoint]:
    if signature.whole:
        return [point(GOOD, "coverage.whole"), point(GOOD, "changes.none")]
    checks = [point(BAD, "coverage.part", end=signature.end, size=facts.size)]
    if signature.revision_pages:
        checks.append(
            point(BAD, "changes.pages", pages=", ".join(map(str, signature.revision_pages)))
        )
    if signature.revision_attachments:
        checks.append(
            point(BAD, "changes.attachments", names=", ".join(signature.revision_attachments))
        )
    if facts.tail or len(checks) == 1:
        key = "changes.tail" if facts.tail and len(checks) == 1 else "changes.saved"
        checks.append(point(BAD, key, bytes=facts.size - signature.end))
    return checks


Reaudit = Callable[[Audit], Audit]


def repeat(audits: Sequence[Audit], reaudit: Reaudit) -> list[CheckedPoint]:
    """Audit each embedded text again.

    Args:
        audits: The audits of the record.
        reaudit: Repeats an audit with the same key, profile and model; raises PuraError if key
            or model is missing.
    """
    return [_repeated(audit, reaudit) for audit in audits]


def _repeated(audit: Audit, reaudit: Reaudit) -> CheckedPoint:
    if audit.text is None:
        return point(OPEN, "repeat.not-possible", error=ReportFileError("repeat.text"))
    try:
        fresh = reaudit(audit)
    except PuraError as error:
        return point(OPEN, "repeat.not-possible", error=error)
    return compare(audit, fresh)


def compare(audit: Audit, fresh: Audit) -> CheckedPoint:
    """Compare a fresh audit with the recorded one: payload, outcome, evidence within tolerance."""
    if findings_digest(audit) == findings_digest(fresh):
        return point(GOOD, "repeat.identical")
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
        return point(NOTICE, "repeat.weighed", delta=f"{delta:.3f}")
    if differing:
        return point(BAD, "repeat.other", what=listed([phrase(key) for key in differing]))
    return point(GOOD, "repeat.same", delta=f"{delta:.3f}")


def _weighed_by(audit: Audit) -> str:
    """Return the log entry of the decoding; it names the table that weighed the evidence."""
    return next((step.words("en") for step in audit.log if step.name == "decoding"), "")


MAX_FILE_BYTES: Final = 64 << 20
WALL_SECONDS: Final = 60.0
MAX_ANSWER_BYTES: Final = 128 << 20
CHILD: Final = "pura.report.check_child"
TYPESETTER: Final = "pura.report.typesetter"


def take_apart(
    pdf: bytes,
    trust: Sequence[bytes],
    *,
    moment: datetime,
    heartbeat: Checkpoint = never_cancelled,
) -> FileFacts:
    """Take a PDF apart in a child process.

    Args:
        pdf: The whole file.
        trust: Trusted certificates, DER.
        moment: The time at which certificates must be valid, with a time zone.
        heartbeat: Called twenty times a second; if it raises, the child is killed first.

    Raises:
        ReportFileError: The file is too large, or the child died, ran out of time or gave an
            invalid answer.
    """
    if len(pdf) > MAX_FILE_BYTES:
        raise ReportFileError("report.file-large", mebibytes=MAX_FILE_BYTES >> 20)
    head = {
        "moment": moment.isoformat(),
        "trust": [base64.b64encode(der).decode() for der in trust],
    }
    ending = _run(CHILD, head, pdf, heartbeat)
    return _judge(ending.status, ending.answer, late=ending.late)


def look_different(
    pdf: bytes, other_pdf: bytes, *, heartbeat: Checkpoint = never_cancelled
) -> tuple[int, ...]:
    """Draw two PDFs in a child process and return the pages that look different, from 1.

    Raises:
        ReportFileError: The child died, ran out of time or gave an invalid answer.
    """
    ending = _run(CHILD, {"like": len(other_pdf)}, other_pdf + pdf, heartbeat)
    try:
        if ending.status != 0 or ending.late:
            raise ValueError("status")
        return tuple(int(page) for page in json.loads(ending.answer))
    except (ValueError, TypeError, RecursionError):
        raise ReportFileError("report.file-stopped", status=ending.status) from None


def made_again(
    record: bytes, particulars: bytes, *, heartbeat: Checkpoint = never_cancelled
) -> bytes | None:
    """Make the report of a record and its particulars again, in a child process.

    Returns:
        The PDF; None if none can be made from them.

    Raises:
        ReportFileError: No child process can be started.
    """
    with tempfile.TemporaryDirectory(prefix="pura-remake-") as folder:
        head = {"folder": folder, "record": len(record), "particulars": len(particulars)}
        ending = _run(TYPESETTER, head, record + particulars, heartbeat)
    pdf = ending.answer if ending.status == 0 and not ending.late else b""
    return pdf if pdf.startswith(b"%PDF-") and len(pdf) <= MAX_ANSWER_BYTES else None


def _run(
    module: str, head: Mapping[str, object], body: bytes, heartbeat: Checkpoint
) -> ChildResult:
    with os_error_as(ReportFileError, "reader.start"):
        child = start_child(module)
    return converse(
        child,
        json.dumps(head).encode() + b"\n" + body,
        seconds=WALL_SECONDS,
        most=MAX_ANSWER_BYTES,
        heartbeat=heartbeat,
    )


def _judge(status: int, answer: bytes, *, late: bool) -> FileFacts:
    if late:
        raise ReportFileError("limit.time", seconds=f"{WALL_SECONDS:g}")
    if status == NOT_SHUT_STATUS:
        raise ReportFileError("reader.cage")
    try:
        if status != 0:
            raise ValueError("status")
        return decode(FileFacts, json.loads(answer))
    except (ValueError, RecursionError):
        raise ReportFileError("report.file-stopped", status=status) from None


def same_pages(
    pdf: bytes, facts: FileFacts, heartbeat: Checkpoint = never_cancelled
) -> CheckedPoint:
    """Compare a report with the one that its own record and particulars make.

    A report has the same bytes each time it is made, so this reveals whatever was painted over,
    hidden, cropped, added, left out or reordered.

    Args:
        pdf: The PDF.
        facts: The facts from the child process; the PDF holds one record.
        heartbeat: Called often; if it raises, the check stops.
    """
    attachments = [
        attachment
        for attachment in facts.attachments
        if attachment.name == request_file.NAME and attachment.data
    ]
    if len(attachments) != 1:
        return point(OPEN, "pages.no-particulars")
    record, particulars = (
        attachment.data.encode("latin-1") for attachment in (records(facts)[0], attachments[0])
    )
    try:
        same_versions = request_file.read(particulars)["made_with"] == request_file.here()
    except ValueError:
        return point(BAD, "pages.damaged")
    remade = made_again(record, particulars, heartbeat=heartbeat)
    if remade is None:
        return point(BAD if same_versions else OPEN, "pages.not-made")
    # A signature is appended to the report; any other bytes after it were added by others.
    signed = bool(facts.signatures) and all(signature.whole for signature in facts.signatures)
    if pdf == remade or (signed and pdf.startswith(remade)):
        return point(GOOD, "pages.same")
    differing = look_different(pdf, remade, heartbeat=heartbeat)
    pages = ", ".join(map(str, differing))
    if not same_versions:
        return (
            point(OPEN, "pages.version", pages=pages) if differing else point(NOTICE, "pages.alike")
        )
    return point(BAD, "pages.other", pages=pages) if differing else point(BAD, "pages.unseen")


MAX_TRUST_BYTES: Final = 1 << 20


def check_report(
    pdf: bytes,
    *,
    moment: datetime,
    trust: Sequence[bytes] = (),
    policy: bool = False,
    reaudit: Reaudit | None = None,
    heartbeat: Checkpoint = never_cancelled,
) -> ReportCheck:
    """Check a report.

    Args:
        pdf: The PDF.
        moment: The present time, with a time zone.
        trust: Trusted certificates, DER; see :func:`load_trust`.
        policy: Whether the local policy requires signatures.
        reaudit: Audits an embedded text again; None omits that check.
        heartbeat: Called often; if it raises, the check stops.

    Raises:
        ReportFileError: The file is too large, or the child that reads it died.
    """
    facts = take_apart(pdf, trust, moment=moment, heartbeat=heartbeat)
    check = judge(facts, trusted=bool(trust), moment=moment, policy=policy)
    if not check.audits:
        return check
    last = [same_pages(pdf, facts, heartbeat)]
    if reaudit is None:
        last.append(point(OPEN, "repeat.not-asked"))
    else:
        last += repeat(check.audits, reaudit)
    return replace(check, checks=(*check.checks, *last))


def load_trust(encoded: bytes) -> tuple[bytes, ...]:
    """Read trusted certificates: PEM with one or more, or DER with one.

    Raises:
        ReportFileError: The file contains no certificate.
    """
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding

    try:
        if len(encoded) > MAX_TRUST_BYTES:
            raise ValueError("size")
        if b"-----BEGIN" in encoded:
            certs = x509.load_pem_x509_certificates(encoded)
        else:
            certs = [x509.load_der_x509_certificate(encoded)]
    except ValueError:
        raise ReportFileError("report.certificate", code="trust-file") from None
    return tuple(cert.public_bytes(Encoding.DER) for cert in certs)
