"""Checking a report: single checks, each with its own result in words (reports.md).

The file is a stranger's: :mod:`pura.report.check_child` takes it apart in a sandboxed child, and
what the child says is judged here. Then the report is made again from its own record and compared,
and where it is asked for, its texts are audited again. Nothing is fetched from any network.
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
    """A file inside the file.

    Attributes:
        name: As it is called in there.
        sha256: Of its bytes.
        size: Its length.
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
        name: Of its field.
        subject: Whom the certificate names.
        issuer: Who vouches for it.
        sha256: Fingerprint of the certificate.
        not_before: Valid from, ISO 8601.
        not_after: Valid until, ISO 8601.
        signed_at: When, as the signer says; empty when not said.
        stamped_at: When, as a time-stamp authority says; empty without one.
        stamp_trusted: The authority's certificate is trusted.
        intact: The signed bytes are as they were signed.
        valid: The signature fits the certificate's key.
        trusted: The certificate leads to one that was given as trusted.
        whole: It covers the file from the first byte to the last.
        end: Where the covered bytes end.
        padded: Nothing but zeros follows the signature in the place that it does not cover.
        changes: ``none``, ``ltv``, ``forms``, ``annotations`` or ``other``: what came later.
        revision_pages: Pages whose text differs between the signed state and the file, from 1.
        revision_attachments: Attachments that differ, by name.
        problem: Why it could not be checked; empty when it could.
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
        size: Bytes.
        sha256: Of the file.
        pages: Text of every page.
        metadata: Title, author, subject, keywords, … as the file says.
        attachments: Files inside.
        signatures: In the order in which they were made.
        tail: Bytes after the last end-of-file mark.
        saves: How often the file was saved (end-of-file marks).
        extras: What a report never has: ``scripts``, ``annotations``, ``layers``, ``cropped``,
            or ``unreadable``.
        problem: Why it could not be taken apart; empty when it could.
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
"""As it should be; worth knowing; not as it should be; could not be, or was not, examined."""


@dataclass(frozen=True, kw_only=True)
class CheckedPoint:
    """One thing that was examined.

    Attributes:
        name: Stable name, ``name.…`` in the volume ``report-check``.
        state: One of :data:`STATES`.
        key: The sentence that says what was found, a key of the volume ``report-check``.
        values: What fills its blanks.
        error: Why, where an error is the reason; its words fill the blank ``why``.
    """

    name: str
    state: str
    key: str
    values: Mapping[str, Value] = field(default_factory=dict)
    error: PuraError | None = None

    def title(self, language: str = "en") -> str:
        """How the check is called."""
        return catalogue("report-check").fill(f"name.{self.name}", language, {})

    def result(self, language: str = "en") -> str:
        """How it ended, in words."""
        return catalogue("report-check").fill(f"state.{self.state}", language, {})

    def text(self, language: str = "en") -> str:
        """What was found, in words."""
        values = dict(self.values)
        if self.error is not None:
            values["why"] = self.error.words(language)[0]
        return catalogue("report-check").fill(self.key, language, values)

    def plain(self, language: str = "en") -> dict[str, str]:
        """Return it as JSON."""
        return {
            "name": self.name,
            "state": self.state,
            "finding": self.key,
            "text": self.text(language),
        }


def point(
    state: str, key: str, *, named: str = "", error: PuraError | None = None, **values: Value
) -> CheckedPoint:
    """Return what was found of one thing; it is named by the first word of the key, or apart."""
    name = named or key.partition(".")[0]
    return CheckedPoint(name=name, state=state, key=key, values=values, error=error)


@dataclass(frozen=True, kw_only=True)
class ReportCheck:
    """All checks of one file.

    Attributes:
        facts: What was found in it.
        checks: In the order in which they are read.
        audits: The audits of the embedded record; empty when there is none or it is damaged.
    """

    facts: FileFacts
    checks: tuple[CheckedPoint, ...]
    audits: tuple[Audit, ...] = ()

    def count(self, state: str) -> int:
        """How many checks ended so."""
        return sum(check.state == state for check in self.checks)

    @property
    def sound(self) -> bool:
        """Nothing was found that is not as it should be."""
        return self.count(BAD) == 0

    @property
    def signed(self) -> bool:
        """Somebody signed it, whether that holds or not."""
        return bool(self.facts.signatures)

    @property
    def status(self) -> str:
        """What all of it comes to.

        Returns:
            ``amiss``: something is not as it should be. ``unsigned``: nobody signed it. ``signed``:
            somebody did, and who that is was not examined. ``trusted``: whoever signed it was
            examined, and is trusted.
        """
        if not self.sound:
            return "amiss"
        if not self.signed:
            return "unsigned"
        trust = [check.state for check in self.checks if check.name == "trust"]
        return "trusted" if trust and all(state == GOOD for state in trust) else "signed"

    def headline(self, language: str = "en") -> str:
        """What all of it comes to, in a sentence that promises no more than was examined."""
        key = f"headline.{self.status}"
        states = {check.name: check.state for check in self.checks}
        if self.status == "unsigned" and states.get("pages") != GOOD:
            key = "headline.unsigned-unchecked"
        values = {"count": self.count(BAD), "checks": len(self.checks)}
        return catalogue("report-check").fill(key, language, values)


def judge(
    facts: FileFacts, *, trusted: bool, moment: datetime, policy: bool = False
) -> ReportCheck:
    """Say of each thing what was found.

    Args:
        facts: From the child.
        trusted: Whether any trusted certificate was named.
        moment: The time to hold certificates against.
        policy: Whether the policy in force here asks for signatures; the record's own may too.
    """
    if facts.problem:
        return ReportCheck(facts=facts, checks=(point(BAD, f"file.{facts.problem}"),))
    recorded, audits = _record(facts)
    signatures = _signatures(facts, trusted, moment)
    asked = policy or any(audit.policy.get("signed") is True for audit in audits)
    if not facts.signatures and (trusted or asked):
        signatures = [point(BAD, "integrity.missing" if trusted else "integrity.policy")]
    checks = (_file(facts), *recorded, *_added(facts), *signatures)
    failed = [check.key for check in checks if check.state == BAD]
    _log.info("a report was checked: %d checks, failed: %s", len(checks), failed)
    return ReportCheck(facts=facts, checks=checks, audits=audits)


def _file(facts: FileFacts) -> CheckedPoint:
    if facts.tail:
        return point(BAD, "file.tail", bytes=facts.tail)
    if facts.saves > 1 + len(facts.signatures):
        return point(BAD, "file.saved")
    return point(GOOD, "file.sound", pages=len(facts.pages), sha=facts.sha256)


def _added(facts: FileFacts) -> list[CheckedPoint]:
    if not facts.extras:
        return []
    what = listed([phrase(f"extra.{name}") for name in facts.extras])
    return [point(BAD, "added.some", what=what)]


def _record(facts: FileFacts) -> tuple[list[CheckedPoint], tuple[Audit, ...]]:
    found = records(facts)
    if not found:
        return [point(BAD, "record.none")], ()
    if len(found) > 1:
        names = ", ".join(one.name for one in found)
        return [point(BAD, "record.several", names=names)], ()
    one = found[0]
    checks = [point(GOOD, "record.found", name=one.name, size=one.size), _digest(facts, one)]
    try:
        data = read_json(one.data.encode("latin-1"))
        audits = tuple(json_io.from_dict(part) for part in audits_in(data))
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
    """Hold each record against itself; the first that does not agree is named."""
    for audit in audits:
        try:
            check_agreement(audit)
        except RecordError as error:
            return point(BAD, "agrees.other", error=error, name=audit.input.name)
    return point(GOOD, "agrees.same")


def records(facts: FileFacts) -> list[AttachmentFacts]:
    """Return the files inside that may be the record."""
    return [one for one in facts.attachments if one.data and one.name != request_file.NAME]


def _digest(facts: FileFacts, one: AttachmentFacts) -> CheckedPoint:
    text = _squeezed(" ".join((*facts.pages, *facts.metadata.values())))
    same = one.sha256 in text.lower()
    return point(GOOD if same else BAD, "digest.same" if same else "digest.other", sha=one.sha256)


def listed(parts: Sequence[Phrase]) -> Phrase:
    """Return several things of the volume ``report-check`` as one, with commas between them."""
    first, *rest = parts
    return phrase("and", first=first, rest=listed(rest)) if rest else first


def _printed(facts: FileFacts, audits: Sequence[Audit]) -> CheckedPoint:
    text = _squeezed(" ".join(facts.pages)).lower()
    missing = []
    for audit in audits:
        wanted = [
            (phrase("missing.sha", name=audit.input.name), audit.input.sha256),
            (phrase("missing.key", name=audit.key.fingerprint), audit.key.fingerprint),
        ]
        if audit.verdict == "mark":
            wanted.append((phrase("missing.payload", name=audit.input.name), audit.decoded.bits))
        missing += [what for what, value in wanted if _squeezed(value).lower() not in text]
    if missing:
        return point(BAD, "printed.other", what=listed(missing))
    return point(GOOD, "printed.same")


def _findings(facts: FileFacts, audits: Sequence[Audit]) -> CheckedPoint:
    text = _squeezed(" ".join(facts.pages)).lower()
    same = all(any(findings_digest(audit, form) in text for form in FORMS) for audit in audits)
    return point(GOOD if same else BAD, "findings.same" if same else "findings.other")


def _squeezed(text: str) -> str:
    """Take out what a line break or a grouping puts into a long number."""
    return re.sub(r"[\s\u00ad\u200b\u2060\ufffe\u0002·-]+", "", text)


def _signatures(facts: FileFacts, trusted: bool, moment: datetime) -> list[CheckedPoint]:
    if not facts.signatures:
        return [point(NOTICE, "integrity.none")]
    return [
        point for one in facts.signatures for point in _one_signature(facts, one, trusted, moment)
    ]


_MOST_NAMED: Final = 200
"""Characters of a stranger's name that are repeated."""


def _one_signature(
    facts: FileFacts, one: SignatureFacts, trusted: bool, moment: datetime
) -> list[CheckedPoint]:
    if one.problem:
        return [point(BAD, "integrity.unreadable", why=one.problem)]
    if not one.intact:
        integrity = point(BAD, "integrity.broken")
    elif not one.padded:
        integrity = point(BAD, "integrity.padding")
    elif not one.valid:
        integrity = point(BAD, "integrity.invalid")
    else:
        integrity = point(GOOD, "integrity.intact")
    # A report of this program names its examiner as the author.
    examiner = facts.metadata.get("Author", "").strip()
    other = bool(examiner) and examiner.casefold() != one.subject.casefold()
    values: dict[str, Value] = {
        "subject": one.subject,
        "issuer": one.issuer,
        "sha": one.sha256,
        "when": one.signed_at,
    }
    if other:
        values["examiner"] = examiner[:_MOST_NAMED]
    who = CheckedPoint(
        name="signer",
        state=NOTICE if integrity.state == GOOD else OPEN,
        key="signer.who-examiner" if other else "signer.who",
        values=values,
    )
    return [integrity, who, _time(one), _trust(one, trusted, moment), *_coverage(facts, one)]


def _time(one: SignatureFacts) -> CheckedPoint:
    if not one.stamped_at:
        return point(NOTICE, "time.clock")
    known = one.stamp_trusted
    return point(
        GOOD if known else NOTICE,
        "time.stamped" if known else "time.unknown-authority",
        when=one.stamped_at,
    )


def _trust(one: SignatureFacts, trusted: bool, moment: datetime) -> CheckedPoint:
    until = datetime.fromisoformat(one.not_after)
    if one.trusted:
        return point(GOOD, "trust.trusted")
    if moment > until:
        return point(BAD, "trust.expired", when=one.not_after)
    if not trusted:
        return point(OPEN, "trust.none-given")
    return point(BAD, "trust.unknown")


def _coverage(facts: FileFacts, one: SignatureFacts) -> list[CheckedPoint]:
    if one.whole:
        return [point(GOOD, "coverage.whole"), point(GOOD, "changes.none")]
    found = [point(BAD, "coverage.part", end=one.end, size=facts.size)]
    if one.revision_pages:
        found.append(point(BAD, "changes.pages", pages=", ".join(map(str, one.revision_pages))))
    if one.revision_attachments:
        found.append(point(BAD, "changes.attachments", names=", ".join(one.revision_attachments)))
    if facts.tail or len(found) == 1:
        key = "changes.tail" if facts.tail and len(found) == 1 else "changes.saved"
        found.append(point(BAD, key, bytes=facts.size - one.end))
    return found


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
        return point(OPEN, "repeat.not-possible", error=ReportFileError("repeat.text"))
    try:
        fresh = again(audit)
    except PuraError as error:
        return point(OPEN, "repeat.not-possible", error=error)
    return compare(audit, fresh)


def compare(audit: Audit, fresh: Audit) -> CheckedPoint:
    """Hold a fresh audit against a recorded one: payload, outcome, evidence within tolerance."""
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
    """Return what the log says of the decoding: the table that weighed the evidence among it."""
    return next((step.words("en") for step in audit.log if step.name == "decoding"), "")


MAX_FILE_BYTES: Final = 64 << 20
WALL_SECONDS: Final = 60.0
MAX_ANSWER_BYTES: Final = 128 << 20
CHILD: Final = "pura.report.check_child"
TYPESETTER: Final = "pura.report.typesetter"


def take_apart(
    data: bytes,
    trust: Sequence[bytes],
    *,
    moment: datetime,
    heartbeat: Checkpoint = never_cancelled,
) -> FileFacts:
    """Take a PDF apart in a child process.

    Args:
        data: The whole file.
        trust: Trusted certificates, DER.
        moment: The time to hold certificates against, with a zone.
        heartbeat: Called twenty times a second; whatever it raises kills the child first.

    Raises:
        ReportFileError: Too large, or the child died, ran out of time or answered nonsense.
    """
    if len(data) > MAX_FILE_BYTES:
        raise ReportFileError("report.file-large", mebibytes=MAX_FILE_BYTES >> 20)
    head = {
        "moment": moment.isoformat(),
        "trust": [base64.b64encode(der).decode() for der in trust],
    }
    ending = _run(CHILD, head, data, heartbeat)
    return _judge(ending.status, ending.answer, late=ending.late)


def look_different(
    data: bytes, other: bytes, *, heartbeat: Checkpoint = never_cancelled
) -> tuple[int, ...]:
    """Draw two PDFs in a child process and return the pages that look different, from 1.

    Raises:
        ReportFileError: The child died, ran out of time or answered nonsense.
    """
    ending = _run(CHILD, {"like": len(other)}, other + data, heartbeat)
    try:
        if ending.status != 0 or ending.late:
            raise ValueError("status")
        return tuple(int(page) for page in json.loads(ending.answer))
    except (ValueError, TypeError, RecursionError):
        raise ReportFileError("report.file-stopped", status=ending.status) from None


def made_again(
    record: bytes, told: bytes, *, heartbeat: Checkpoint = never_cancelled
) -> bytes | None:
    """Make the report of a record and its particulars again, in a child process.

    Returns:
        The PDF; None when none can be made of them.

    Raises:
        ReportFileError: No child can be started.
    """
    with tempfile.TemporaryDirectory(prefix="pura-remake-") as folder:
        head = {"folder": folder, "record": len(record), "particulars": len(told)}
        ending = _run(TYPESETTER, head, record + told, heartbeat)
    made = ending.answer if ending.status == 0 and not ending.late else b""
    return made if made.startswith(b"%PDF-") and len(made) <= MAX_ANSWER_BYTES else None


def _run(
    module: str, head: Mapping[str, object], data: bytes, heartbeat: Checkpoint
) -> ChildResult:
    with os_error_as(ReportFileError, "reader.start"):
        child = start_child(module)
    return converse(
        child,
        json.dumps(head).encode() + b"\n" + data,
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
    data: bytes, facts: FileFacts, heartbeat: Checkpoint = never_cancelled
) -> CheckedPoint:
    """Hold a report against the one that its own record and particulars make.

    A report is made with the same bytes each time, so the one holds for all that is in the file:
    what is painted over, hidden, cropped, added, left out or put in another order.

    Args:
        data: The PDF.
        facts: What the child found in it; it holds one record.
        heartbeat: Called often; whatever it raises stops the check.
    """
    told = [one for one in facts.attachments if one.name == request_file.NAME and one.data]
    if len(told) != 1:
        return point(OPEN, "pages.no-particulars")
    record, particular = (one.data.encode("latin-1") for one in (records(facts)[0], told[0]))
    try:
        known = request_file.read(particular)["made_with"] == request_file.here()
    except ValueError:
        return point(BAD, "pages.damaged")
    made = made_again(record, particular, heartbeat=heartbeat)
    if made is None:
        return point(BAD if known else OPEN, "pages.not-made")
    # A signature is appended; whatever else comes after the report is not of its making.
    signed = bool(facts.signatures) and all(one.whole for one in facts.signatures)
    if data == made or (signed and data.startswith(made)):
        return point(GOOD, "pages.same")
    differing = look_different(data, made, heartbeat=heartbeat)
    pages = ", ".join(map(str, differing))
    if not known:
        return (
            point(OPEN, "pages.version", pages=pages) if differing else point(NOTICE, "pages.alike")
        )
    return point(BAD, "pages.other", pages=pages) if differing else point(BAD, "pages.unseen")


MAX_TRUST_BYTES: Final = 1 << 20


def check_report(
    data: bytes,
    *,
    moment: datetime,
    trust: Sequence[bytes] = (),
    policy: bool = False,
    again: Again | None = None,
    heartbeat: Checkpoint = never_cancelled,
) -> ReportCheck:
    """Check a report.

    Args:
        data: The PDF.
        moment: Now, with a zone.
        trust: Trusted certificates, DER; see :func:`load_trust`.
        policy: Whether the policy in force here asks for signatures.
        again: Audits an embedded text anew; None leaves that check out.
        heartbeat: Called often; whatever it raises stops the check.

    Raises:
        ReportFileError: The file is too large, or its reader died.
    """
    facts = take_apart(data, trust, moment=moment, heartbeat=heartbeat)
    found = judge(facts, trusted=bool(trust), moment=moment, policy=policy)
    if not found.audits:
        return found
    last = [same_pages(data, facts, heartbeat)]
    if again is None:
        last.append(point(OPEN, "repeat.not-asked"))
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
