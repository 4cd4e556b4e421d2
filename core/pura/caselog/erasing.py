"""Erasing what is kept: the chain stays and says what was erased, by whom and why."""

from __future__ import annotations

from typing import Any

from pura.base.errors import CaseLogError
from pura.caselog.case import FINISHED, RECORD_OF
from pura.caselog.entries import Draft, LogEntry, pack
from pura.caselog.keeping import held, worded
from pura.caselog.log import CaseLog, Person
from pura.caselog.saving import pack_record, unpack_record
from pura.record import json_io
from pura.record.json_io import without_text


def erase(
    log: CaseLog,
    case: str,
    actor: Person,
    *,
    reason: str,
    item: str | None = None,
    text_only: bool = False,
) -> int:
    """Erase what is kept of a case, or of one audit; the chain stays and says what was erased.

    Args:
        log: The log.
        case: Which case.
        actor: Who.
        reason: Why.
        item: Only of this audit.
        text_only: Only the text; the record stays without it.

    Returns:
        How many things were erased.

    Raises:
        CaseLogError: A hold forbids it, or no reason was given.
    """
    kept = {"reason": pack(worded(reason))}
    with log.writing() as writer:
        if held(log, case):
            raise CaseLogError("caselog.held", code="case-log-hold")
        gone: list[dict[str, Any]] = []
        for entry in log.entries(case=case):
            for field in sorted(entry.kept):
                if not _concerns(entry, field, item):
                    continue
                if text_only:
                    if field not in ("record", "sealed"):
                        continue
                    if field == "record":
                        without = _without_text(log, entry)
                        if without is None:
                            continue
                        kept[RECORD_OF + entry.item] = without
                if writer.erase(entry, field):
                    gone.append({"log": entry.log, "seq": entry.seq, "field": field})
        writer.append(
            Draft(
                action="kept-erased",
                actor=actor.id,
                role="custodian",
                case=case,
                item=item or "",
                facts={"erased": gone},
                kept=kept,
            )
        )
    log.scrub()
    return len(gone)


def move_out(log: CaseLog, case: str, item: str, actor: Person, *, to: str) -> None:
    """Let go of an audit that another case has taken: what is kept of it here is erased.

    What a second person said of it stays; the case that has it shows it (``read_case``).

    Args:
        log: The log.
        case: Which case lets go.
        item: The audit.
        actor: Who.
        to: Identifier of the case that has it now.

    Raises:
        CaseLogError: A hold forbids it.
    """
    with log.writing() as writer:
        if held(log, case):
            raise CaseLogError("caselog.held", code="case-log-hold")
        gone = [
            {"log": entry.log, "seq": entry.seq, "field": field}
            for entry in log.entries(case=case, item=item)
            if entry.action in FINISHED
            for field in sorted(entry.kept)
            if writer.erase(entry, field)
        ]
        writer.append(
            Draft(
                action="kept-erased",
                actor=actor.id,
                role="custodian",
                case=case,
                item=item,
                facts={"erased": gone, "moved": to},
            )
        )


def erase_person(log: CaseLog, name: str, actor: Person, *, reason: str) -> bool:
    """Erase the name of a person; what they did stays in the chain under their identifier.

    Returns:
        Whether the name was there.

    Raises:
        CaseLogError: No reason was given.
    """
    kept = {"reason": pack(worded(reason))}
    wanted = " ".join(name.split()).casefold()
    gone: list[dict[str, Any]] = []
    with log.writing() as writer:
        people = {one.id for one in log.people() if one.name.casefold() == wanted}
        for entry in list(log.entries()) if people else []:
            if entry.action == "person-added" and entry.actor in people:
                writer.erase(entry, "name")
                gone.append({"log": entry.log, "seq": entry.seq, "field": "name"})
        if gone:
            writer.append(
                Draft(
                    action="kept-erased",
                    actor=actor.id,
                    role="custodian",
                    facts={"erased": gone},
                    kept=kept,
                )
            )
    log.scrub()
    return bool(gone)


def _concerns(entry: LogEntry, field: str, item: str | None) -> bool:
    return item is None or entry.item == item or field == RECORD_OF + item


def _without_text(log: CaseLog, entry: LogEntry) -> bytes | None:
    """Return a kept record without its text; None when it is not there or has none."""
    packed = log.kept_bytes(entry, "record")
    if packed is None:
        return None
    audit = json_io.from_json(unpack_record(packed))
    return None if audit.text is None else pack_record(without_text(audit))
