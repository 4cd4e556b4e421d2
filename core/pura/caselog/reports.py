"""Reports of saved audits, custody and leaks on record, and where findings stand."""

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
from pura.caselog.keeping import REPORT_ACTIONS, living, load_audit, record_report, worded
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
    """Where a saved finding stands.

    Attributes:
        case: Identifier of the case that has it.
        name: Of that case; None when it was erased.
        mode: ``keep``, ``seal`` or ``leave-out``: what became of the text.
        review: ``confirmed``, ``disputed``, or empty when nobody has looked.
        report: ``drafted`` or ``issued``; empty when it stands in no report, or in a withdrawn one.
        signed: The newest report of it is signed.
        version: Which examination of the same bytes in its case, from 1.
        acts: Who did it and when (UTC, ISO 8601), of ``save``, ``review``, ``report`` and ``sign``
            as far as it came; the name is None where it was erased. Who signed is the subject of
            the certificate.
        examiner: Who examined the text, under the name of that time; None where it was erased.
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

    def then(self, act: str, by: tuple[str | None, str], **changes: Any) -> CaseStatus:
        """Return where it stands after one more act."""
        return replace(self, acts={**self.acts, act: by}, **changes)


def statuses(log: CaseLog, audits: Collection[str]) -> dict[str, CaseStatus]:
    """Return where findings stand, by the identifiers of their audits; unknown ones are left out.

    Args:
        log: The log.
        audits: Which.
    """
    wanted = frozenset(audits)
    found: dict[str, CaseStatus] = {}
    names: dict[str, str | None] = {}
    reports: dict[str, tuple[str, ...]] = {}
    people = PersonNames(log)
    with log.reading():
        for entry in log.acts(*_TELLING):
            if entry.action in ("case-opened", "case-renamed"):
                names[entry.case] = log.kept(entry, "name")
            elif entry.item in wanted:
                _follow(people, entry, found)
            elif entry.action in REPORT_ACTIONS:
                audits_in = tuple(a for a in map(str, entry.facts["items"]) if a in found)
                reports[str(entry.facts.get("sha256"))] = audits_in
                for audit in audits_in:
                    report = REPORTS.get(entry.action, "")
                    by = _by(people, entry)
                    found[audit] = found[audit].then("report", by, report=report, signed=False)
            elif entry.action == "report-signed":
                for audit in reports.get(str(entry.facts.get("unsigned")), ()):
                    found[audit] = found[audit].then("sign", _by(people, entry), signed=True)
    return {audit: replace(one, name=names.get(one.case)) for audit, one in found.items()}


def _follow(people: PersonNames, entry: LogEntry, found: dict[str, CaseStatus]) -> None:
    before = found.get(entry.item)
    if entry.action in FINISHED:
        mode, version = str(entry.facts["text"]), int(entry.facts["run"])
        examiner = people.at(entry, str(entry.facts.get("examiner", "")))
        new = CaseStatus(case=entry.case, name=None, mode=mode, version=version, examiner=examiner)
        # A later case takes over what was said of it; a case that is not moved to changes nothing.
        here = replace(before or new, case=new.case, mode=mode, version=version)
        found[entry.item] = here.then("save", _by(people, entry))
    elif before is not None and entry.action in REVIEWS:
        by = _by(people, entry)
        found[entry.item] = before.then("review", by, review=REVIEWS[entry.action])


def _by(people: PersonNames, entry: LogEntry) -> tuple[str | None, str]:
    return people.attribution(entry).name, entry.time


def request_of_case(
    log: CaseLog, case: Case, items: Sequence[CaseItem], base: ReportRequest
) -> ReportRequest:
    """Fill what the log knows into the fields of a request that were left empty.

    Args:
        log: The log; its head is printed.
        case: The case.
        items: The audits that the report is made of.
        base: What is asked for; nothing that stands there is changed.

    Returns:
        The request with case, examiner, reviewer, review, purpose and log.
    """
    labels, people = Labels(base.language), PersonNames(log)
    seqs = ", ".join(str(item.entry.seq) for item in items)
    reviews = [item.review for item in items if item.review is not None]
    words = [
        labels(
            f"review.{one.state}",
            who=one.who or labels("not-given"),
            time=numerals.date(one.time[:10], base.language),
            recomputed=(one.recomputed or "").rstrip(". ") or labels("not-given"),
        )
        + (f" {one.words}" if one.words else "")
        for one in reviews
    ]
    parties = replace(
        base.parties,
        # A report names people as they are called now, whatever they were called then.
        examiner=base.parties.examiner or _names(people.latest(i.examined_by) for i in items),
        reviewer=base.parties.reviewer or _names(people.latest(one.by) for one in reviews),
        purpose=base.parties.purpose or _names(log.kept(item.entry, "purpose") for item in items),
    )
    broken = case.incomplete(base.language)
    log_words = labels("integrity.log.text", head=str(log.head()), entries=seqs)
    if broken:  # on the first page, and where the log is named
        words = [*(words or [labels("review.none")]), broken]
        log_words = f"{log_words}. {broken}"
    reviewed = "" if len(reviews) < len(items) else "confirmed"
    if any(one.state == "disputed" for one in reviews):
        reviewed = "disputed"
    return replace(
        base,
        case=base.case or (labels("unfiled") if case.name == UNFILED else case.name or case.id),
        parties=parties,
        review=base.review or "\n".join(words),
        reviewed=base.reviewed or reviewed,
        log=base.log or log_words,
    )


def confirmations(log: CaseLog, audits: Iterable[str]) -> list[Confirmation]:
    """Return what the log holds of findings that a second person confirmed last.

    Args:
        log: The log.
        audits: Identifiers of the audits; those that are not saved, or whose record is gone, have
            no confirmation.

    Raises:
        CaseLogError: The log is damaged.
    """
    wanted, people, names = set(audits), log.people(), PersonNames(log)
    found = []
    for name in dict.fromkeys(e.case for e in log.acts(*FINISHED) if e.item in wanted):
        for item in read_case(log, name).items:
            review = item.review
            if item.id not in wanted or review is None or review.state != "confirmed":
                continue
            if item.record is None or review.by in (item.examined_by, item.entry.actor):
                continue  # no second person; nor is it one where the log came from elsewhere
            found.append(
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
    return found


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
    """Say in the log what became of a report.

    A draft is drafted, a final one issued; one that replaces or supplements another amends it.

    Args:
        log: The log.
        case: Identifier of the case.
        audits: Identifiers of the audits in it.
        request: What it was made of.
        number: Its identifier.
        pdf: The file.
        actor: Who made it.
        recipient: Who gets it.
    """
    action = "report-drafted"
    if request.final:
        action = "report-amended" if request.replaces else "report-issued"
    known = {item.id for item in read_case(log, case).items}
    return record_report(
        log,
        case,
        actor,
        action=action,
        number=number,
        sha256=hashlib.sha256(pdf).hexdigest(),
        items=[audit for audit in audits if audit in known],
        final=request.final,
        reason=request.reason,
        recipient=recipient,
    )


def note_signed(
    log: CaseLog, before: bytes, after: bytes, identity: Identity, actor: Person
) -> LogEntry:
    """Say in the log that a report was signed, and sign the head of the log with it.

    Args:
        log: The log.
        before: The report as it was saved; its case is the one that knows this file.
        after: The signed report.
        identity: Who signed: the subject of its certificate.
        actor: Who worked the program.

    Returns:
        The entry of the signed head.
    """
    from pura.caselog.verify import sign_head

    known = hashlib.sha256(before).hexdigest()
    with log.writing():
        case = ""
        for entry in log.entries():
            if entry.action in REPORT_ACTIONS and entry.facts.get("sha256") == known:
                case = entry.case
        facts = {
            "sha256": hashlib.sha256(after).hexdigest(),
            "unsigned": known,
            "certificate": identity.certificate.sha256,
        }
        kept = {SIGNER: identity.certificate.subject}
        log.append("report-signed", actor.id, role="authoriser", case=case, facts=facts, kept=kept)
        return sign_head(log, identity, actor)


def _names(names: Iterable[str | None]) -> str:
    return ", ".join(dict.fromkeys(name for name in names if name))


MAX_HASH: Final = 200


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
    """Put on record what happened outside the program.

    Args:
        log: The log.
        actor: Who records it.
        action: One of :data:`CUSTODY` or :data:`ORGANISATION`.
        details: What happened: from whom, how, where, what was told.
        case: Identifier of the case; empty for an event of the whole organisation.
        item: Identifier of the audit that it is about; may be empty.
        key: Fingerprint of the key that it is about.
        digest: Hash of the item's bytes, or of the policy; may be empty.
        people: ``handed``, who released the item or approved the change; ``taken``, who received
            it; may be empty.

    Returns:
        The entry; for a leaked key its facts list the entries of affected reports.

    Raises:
        CaseLogError: Unknown action, no details, no key where it is about one, or a closed case.
    """
    _check(action, case, key)
    kept = {"details": worded(details)}
    kept |= {name: worded(text) for name, text in people.items() if text.strip()}
    if digest.strip():
        kept["digest"] = digest.strip()[:MAX_HASH]
    facts: dict[str, Any] = {}
    with log.writing():
        if case:
            living(log, case)
        if key:
            facts["key"] = key
        if action == "key-leaked":
            reports = affected_reports(log, key)
            facts["reports"] = [{"log": one.log, "seq": one.seq} for one in reports]
        about = {"role": "custodian", "case": case, "item": item}
        return log.append(action, actor.id, facts=facts, kept=kept, **about)


def affected_reports(log: CaseLog, key: str) -> list[LogEntry]:
    """Return the entries of all reports with an audit for which this key was tried."""
    items = {
        entry.item
        for entry in log.entries()
        if entry.action in FINISHED and key in _keys(entry.facts)
    }
    return [
        entry
        for entry in log.entries()
        if entry.action in REPORT_ACTIONS and items & set(map(str, entry.facts.get("items", ())))
    ]


def _keys(facts: Mapping[str, Any]) -> tuple[str, ...]:
    found = facts.get("keys", ())
    return tuple(map(str, found)) if isinstance(found, list) else ()


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
