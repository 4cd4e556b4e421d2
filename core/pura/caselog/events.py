"""What people record about an item, the keys and the rules: custody, disclosure, leaks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pura.base.errors import CaseLogError
from pura.caselog.case import FINISHED
from pura.caselog.entries import Draft, LogEntry, pack
from pura.caselog.keeping import living, worded
from pura.caselog.log import CaseLog, Person
from pura.caselog.saving import REPORT_ACTIONS

CUSTODY: Final = (
    "item-received",
    "item-copied",
    "item-transferred",
    "item-returned",
    "item-destroyed",
    "information-disclosed",
)
"""Events of a case."""
HOUSE: Final = (
    "policy-changed",
    "key-added",
    "key-retired",
    "key-leaked",
    "validation-imported",
)
"""Events of the whole house."""
MAX_HASH: Final = 200


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something that happened outside the program.

    Attributes:
        action: One of :data:`CUSTODY` or :data:`HOUSE`.
        details: What happened: from whom, how, where, what was told.
        handed: Who released the item, or approved the change; may be empty.
        taken: Who received it; may be empty.
        digest: Hash of the item's bytes, or of the policy; may be empty.
        key: Fingerprint of the key that it is about.
        item: Identifier of the audit that it is about; may be empty.
    """

    action: str
    details: str
    handed: str = ""
    taken: str = ""
    digest: str = ""
    key: str = ""
    item: str = ""


def record_event(log: CaseLog, case: str, event: Event, actor: Person) -> LogEntry:
    """Put an event on record.

    Args:
        log: The log.
        case: Identifier of the case; empty for an event of the whole house.
        event: What happened.
        actor: Who records it.

    Returns:
        The entry; for a leaked key its facts list the entries of affected reports.

    Raises:
        CaseLogError: Unknown action, no details, no key where it is about one, or a closed case.
    """
    _check(event, case)
    kept = {"details": pack(worded(event.details))}
    for name, text in (("handed", event.handed), ("taken", event.taken)):
        if text.strip():
            kept[name] = pack(worded(text))
    if event.digest.strip():
        kept["digest"] = pack(event.digest.strip()[:MAX_HASH])
    facts: dict[str, Any] = {}
    with log.writing() as writer:
        if case:
            living(log, case)
        if event.key:
            facts["key"] = event.key
        if event.action == "key-leaked":
            facts["reports"] = [
                {"log": one.log, "seq": one.seq} for one in affected_reports(log, event.key)
            ]
        return writer.append(
            Draft(
                action=event.action,
                actor=actor.id,
                role="custodian",
                case=case,
                item=event.item,
                facts=facts,
                kept=kept,
            )
        )


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


def _check(event: Event, case: str) -> None:
    if event.action not in (*CUSTODY, *HOUSE):
        raise CaseLogError(
            "choice.unknown",
            name=event.action[:40],
            known=", ".join((*CUSTODY, *HOUSE)),
            code="case-log-event",
        )
    if (event.action in CUSTODY) != bool(case):
        raise CaseLogError("caselog.event-case", code="case-log-event")
    about_key = event.action.startswith("key-")
    fits = len(event.key) == 16 and all(c in "0123456789abcdef" for c in event.key)
    if about_key and not fits:
        raise CaseLogError("caselog.event-key", code="case-log-event")
