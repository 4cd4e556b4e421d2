"""Reports of saved audits, events outside the program, and the status of findings."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from pura.base import numerals
from pura.base.errors import CaseLogError
from pura.base.identity import Identity
from pura.base.json_text import is_hex
from pura.caselog.cases import FINISHED, REVIEWS, UNFILED, Case, CaseItem, read_case
from pura.caselog.keeping import (
    REPORT_ACTIONS,
    checked_text,
    load_audit,
    record_report,
    require_open,
)
from pura.caselog.log import CUSTODY, ORGANISATION, CaseLog, LogEntry, Person
from pura.caselog.names import SIGNER, PersonNames
from pura.report.blocks import Labels
from pura.report.request import Confirmation, ReportRequest, digest_of

REPORTS: Final[Mapping[str, str]] = MappingProxyType(
    {"report-drafted": "drafted", "report-issued": "issued", "report-amended": "issued"}
)
_TELLING: Final = (
    "case-opened",
    "case-renamed",
    "report-signed",
    *FINISHED,
    *REVIEWS,
    *REPORT_ACTIONS,
)


@dataclass(frozen=True, kw_only=True)
class CaseStatus:
    """Status of a saved finding.

    Attributes:
        case: Identifier of its case.
        name: Name of the case; None if it was erased.
        mode: Storage of the text: ``keep``, ``seal`` or ``leave-out``.
        review: ``confirmed``, ``disputed``, or empty if there is no review.
        report: ``drafted`` or ``issued``; empty if it is in no report, or in a withdrawn one.
        signed: The newest report with it is signed.
        version: Number of this examination of the same bytes in the case, from 1.
        acts: Name and time (UTC, ISO 8601) of each completed step: ``save``, ``review``,
            ``report`` and ``sign``. The name is None if it was erased; for a signature it is the
            subject of the certificate.
        examiner: Name of the examiner at that time; None if it was erased.
    """

    case: str
    name: str | None
    mode: str
    review: str = ""
    report: str = ""
    signed: bool = False
    version: int = 1
    acts: Mapping[str, tuple[str | None, str]] = field(default_factory=dict)
    examiner: str | None = None

    def then(self, step: str, actor_and_time: tuple[str | None, str], **changes: Any) -> CaseStatus:
        """Return the status after one more step."""
        return replace(self, acts={**self.acts, step: actor_and_time}, **changes)


def statuses(log: CaseLog, audits: Collection[str]) -> dict[str, CaseStatus]:
    """Return the status of findings, by the identifiers of their audits.

    Args:
        log: The log.
        audits: Identifiers of audits; unknown ones are omitted.
    """
    wanted_ids = frozenset(audits)
    status_by_audit: dict[str, CaseStatus] = {}
    names: dict[str, str | None] = {}
    reports: dict[str, tuple[str, ...]] = {}
    people = PersonNames(log)
    with log.reading():
        for entry in log.acts(*_TELLING):
            if entry.action in ("case-opened", "case-renamed"):
                names[entry.case] = log.kept(entry, "name")
            elif entry.item in wanted_ids:
                _follow(people, entry, status_by_audit)
            elif entry.action in REPORT_ACTIONS:
                audits_in = tuple(a for a in map(str, entry.facts["items"]) if a in status_by_audit)
                reports[str(entry.facts.get("sha256"))] = audits_in
                for audit in audits_in:
                    report = REPORTS.get(entry.action, "")
                    actor_and_time = _by(people, entry)
                    status_by_audit[audit] = status_by_audit[audit].then(
                        "report", actor_and_time, report=report, signed=False
                    )
            elif entry.action == "report-signed":
                for audit in reports.get(str(entry.facts.get("unsigned")), ()):
                    status_by_audit[audit] = status_by_audit[audit].then(
                        "sign", _by(people, entry), signed=True
                    )
    return {
        audit: replace(status, name=names.get(status.case))
        for audit, status in status_by_audit.items()
    }


def _follow(people: PersonNames, entry: LogEntry, status_by_audit: dict[str, CaseStatus]) -> None:
    before = status_by_audit.get(entry.item)
    if entry.action in FINISHED:
        mode, version = str(entry.facts["text"]), int(entry.facts["run"])
        examiner = people.at(entry, str(entry.facts.get("examiner", "")))
        new = CaseStatus(case=entry.case, name=None, mode=mode, version=version, examiner=examiner)
        # A later case adopts earlier reviews and reports of the audit.
        status = replace(before or new, case=new.case, mode=mode, version=version)
        status_by_audit[entry.item] = status.then("save", _by(people, entry))
    elif before is not None and entry.action in REVIEWS:
        actor_and_time = _by(people, entry)
        status_by_audit[entry.item] = before.then(
            "review", actor_and_time, review=REVIEWS[entry.action]
        )


def _by(people: PersonNames, entry: LogEntry) -> tuple[str | None, str]:
    return people.attribution(entry).name, entry.time


def request_of_case(
    log: CaseLog, case: Case, items: Sequence[CaseItem], base: ReportRequest
) -> ReportRequest:
    """Fill the empty fields of a request from the log.

    Args:
        log: The log; its head is printed.
        case: The case.
        items: The audits for the report.
        base: The request; fields that have a value are not changed.

    Returns:
        The request with case, examiner, reviewer, review, purpose and log.
    """
    labels, people = Labels(base.language), PersonNames(log)
    seqs = ", ".join(str(item.entry.seq) for item in items)
    reviews = [item.review for item in items if item.review is not None]
    review_lines = [
        labels(
            f"review.{review.state}",
            who=review.who or labels("not-given"),
            time=numerals.date(review.time[:10], base.language),
            recomputed=(review.recomputed or "").rstrip(". ") or labels("not-given"),
        )
        + (f" {review.words}" if review.words else "")
        for review in reviews
    ]
    parties = replace(
        base.parties,
        # A report uses the current names of people, not those at the time of the examination.
        examiner=base.parties.examiner or _names(people.latest(i.examined_by) for i in items),
        reviewer=base.parties.reviewer or _names(people.latest(review.by) for review in reviews),
        purpose=base.parties.purpose or _names(log.kept(item.entry, "purpose") for item in items),
    )
    broken = case.incomplete(base.language)
    log_words = labels("integrity.log.text", head=str(log.head()), entries=seqs)
    if broken:  # shown on the first page, and where the log is named
        review_lines = [*(review_lines or [labels("review.none")]), broken]
        log_words = f"{log_words}. {broken}"
    reviewed = "" if len(reviews) < len(items) else "confirmed"
    if any(review.state == "disputed" for review in reviews):
        reviewed = "disputed"
    return replace(
        base,
        case=base.case or (labels("unfiled") if case.name == UNFILED else case.name or case.id),
        parties=parties,
        review=base.review or "\n".join(review_lines),
        reviewed=base.reviewed or reviewed,
        log=base.log or log_words,
    )


def confirmations(log: CaseLog, audits: Iterable[str]) -> list[Confirmation]:
    """Return the confirmations of findings whose latest review confirmed them.

    Args:
        log: The log.
        audits: Identifiers of the audits; those that are not saved, or without a stored record,
            have no confirmation.

    Raises:
        CaseLogError: The log is damaged.
    """
    wanted_ids, people, names = set(audits), log.people(), PersonNames(log)
    confirmed = []
    for name in dict.fromkeys(e.case for e in log.acts(*FINISHED) if e.item in wanted_ids):
        for item in read_case(log, name).items:
            review = item.review
            if item.id not in wanted_ids or review is None or review.state != "confirmed":
                continue
            if item.record is None or review.by in (item.examined_by, item.entry.actor):
                continue  # not a second person; an imported log may contain such a review
            confirmed.append(
                Confirmation(
                    audit=item.id,
                    findings=digest_of(load_audit(log, item)),
                    examiner=names.latest(item.examined_by) or "",
                    examined_by=item.examined_by,
                    reviewer=names.latest(review.by) or "",
                    reviewed_by=review.by,
                    examiner_names=tuple(p.name for p in people if p.id == item.examined_by),
                    reviewer_names=tuple(p.name for p in people if p.id == review.by),
                )
            )
    return confirmed


def note_report(
    log: CaseLog,
    case: str,
    audits: Sequence[str],
    request: ReportRequest,
    number: str,
    pdf: bytes,
    actor: Person,
    *,
    recipient: str = "",
) -> LogEntry:
    """Record a report in the log: as drafted, issued, or amending another report.

    Args:
        log: The log.
        case: Identifier of the case.
        audits: Identifiers of the audits in the report.
        request: The request that the report was made from.
        number: Identifier of the report.
        pdf: The bytes of the file.
        actor: Person who made it.
        recipient: Recipient of the report.
    """
    action = "report-drafted"
    if request.final:
        action = "report-amended" if request.replaces else "report-issued"
    case_audits = {item.id for item in read_case(log, case).items}
    return record_report(
        log,
        case,
        actor,
        action=action,
        number=number,
        sha256=hashlib.sha256(pdf).hexdigest(),
        items=[audit for audit in audits if audit in case_audits],
        final=request.final,
        reason=request.reason,
        recipient=recipient,
    )


def note_signed(
    log: CaseLog, before: bytes, after: bytes, identity: Identity, actor: Person
) -> LogEntry:
    """Record that a report was signed, and sign the head of the log with the same identity.

    Args:
        log: The log.
        before: The unsigned report; the log finds the case by this file.
        after: The signed report.
        identity: Certificate and key of the signer.
        actor: Person who operates the program.

    Returns:
        The entry of the signed head.
    """
    from pura.caselog.verify import sign_head

    unsigned_digest = hashlib.sha256(before).hexdigest()
    with log.writing():
        case = ""
        for entry in log.entries():
            if entry.action in REPORT_ACTIONS and entry.facts.get("sha256") == unsigned_digest:
                case = entry.case
        facts = {
            "sha256": hashlib.sha256(after).hexdigest(),
            "unsigned": unsigned_digest,
            "certificate": identity.certificate.sha256,
        }
        erasable = {SIGNER: identity.certificate.subject}
        log.append(
            "report-signed", actor.id, role="authoriser", case=case, facts=facts, kept=erasable
        )
        return sign_head(log, identity, actor)


def _names(names: Iterable[str | None]) -> str:
    return ", ".join(dict.fromkeys(name for name in names if name))


MAX_HASH: Final = 200  # characters of a hash that a person enters


def record_event(
    log: CaseLog,
    actor: Person,
    action: str,
    details: str,
    *,
    case: str = "",
    item: str = "",
    key: str = "",
    digest: str = "",
    **people: str,
) -> LogEntry:
    """Record an event outside the program.

    Args:
        log: The log.
        actor: Person who records it.
        action: One of :data:`CUSTODY` or :data:`ORGANISATION`.
        details: Description of the event: from whom, how, where.
        case: Identifier of the case; empty for an event of the whole organisation.
        item: Identifier of the audit concerned; may be empty.
        key: Fingerprint of the key concerned.
        digest: Hash of the item's bytes, or of the policy; may be empty.
        people: ``handed``, the person who released the item or approved the change; ``taken``, the
            person who received it; may be empty.

    Returns:
        The entry; for a leaked key its facts list the entries of affected reports.

    Raises:
        CaseLogError: Unknown action, no details, no key where it is about one, or a closed case.
    """
    _check(action, case, key)
    erasable = {"details": checked_text(details)}
    erasable |= {name: checked_text(text) for name, text in people.items() if text.strip()}
    if digest.strip():
        erasable["digest"] = digest.strip()[:MAX_HASH]
    facts: dict[str, Any] = {}
    with log.writing():
        if case:
            require_open(log, case)
        if key:
            facts["key"] = key
        if action == "key-leaked":
            reports = affected_reports(log, key)
            facts["reports"] = [{"log": report.log, "seq": report.seq} for report in reports]
        filing = {"role": "custodian", "case": case, "item": item}
        return log.append(action, actor.id, facts=facts, kept=erasable, **filing)


def affected_reports(log: CaseLog, key: str) -> list[LogEntry]:
    """Return the entries of all reports with an audit that tried this key."""
    audit_ids = {
        entry.item
        for entry in log.entries()
        if entry.action in FINISHED and key in _keys(entry.facts)
    }
    return [
        entry
        for entry in log.entries()
        if entry.action in REPORT_ACTIONS
        and audit_ids & set(map(str, entry.facts.get("items", ())))
    ]


def _keys(facts: Mapping[str, Any]) -> tuple[str, ...]:
    fingerprints = facts.get("keys", ())
    return tuple(map(str, fingerprints)) if isinstance(fingerprints, list) else ()


def _check(action: str, case: str, key: str) -> None:
    if action not in (*CUSTODY, *ORGANISATION):
        raise CaseLogError(
            "choice.unknown",
            name=action[:40],
            known=", ".join((*CUSTODY, *ORGANISATION)),
            code="case-log-event",
        )
    if (action in CUSTODY) != bool(case):
        raise CaseLogError("caselog.event-case", code="case-log-event-case")
    if action.startswith("key-") and not is_hex(key, 16):
        raise CaseLogError("caselog.event-key", code="case-log-event-key")
