"""What entries commit to and is not there: erased, as an entry says, or missing.

Only the chain says that something was erased. Where no entry does, what is not there is missing,
whoever took it, and the case is incomplete.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from pura.caselog.entries import LogEntry
from pura.caselog.log import CaseLog

Place: TypeAlias = tuple[str, int, str]
"""Log and number of an entry, and the name of what is kept beside it."""


@dataclass(frozen=True, kw_only=True)
class Erasure:
    """How something came to be erased.

    Attributes:
        time: When, UTC.
        who: By whom; None when the name was erased.
        reason: Why; None where none is kept.
        moved: Identifier of the case that has it now; empty when it is gone for good.
    """

    time: str
    who: str | None
    reason: str | None
    moved: str = ""


def erasures(entries: Iterable[LogEntry], own: str = "") -> dict[Place, LogEntry]:
    """Return what was erased, by its place, with the first entry that says so.

    An entry speaks of what stood before it in its own case; one of no case, of people's names. What
    a log has written is erased by an entry of that log alone, and by none that came in a case file.

    Args:
        entries: In the order in which they came in.
        own: Identifier of the log; empty where entries of a file are looked at.
    """
    before: dict[Place, LogEntry] = {}
    found: dict[Place, LogEntry] = {}
    for entry in entries:
        if entry.action == "kept-erased":
            for place in _places(entry.facts.get("erased", ())):
                target = before.get(place)
                if target is not None and _speaks_of(entry, target, own):
                    found.setdefault(place, entry)
        before |= {(entry.log, entry.seq, field): entry for field in entry.kept}
    return found


def missing(
    entries: Iterable[LogEntry], there: set[Place], erased: Iterable[Place]
) -> tuple[Place, ...]:
    """Return what entries commit to, and is neither there nor erased; in their order.

    Args:
        entries: The entries.
        there: What is there.
        erased: What an entry says was erased.
    """
    gone = there | set(erased)
    return tuple(
        place
        for entry in entries
        for field in sorted(entry.kept)
        if (place := (entry.log, entry.seq, field)) not in gone
    )


def told_missing(entries: Iterable[LogEntry]) -> set[Place]:
    """Return what an export or an import says was missing then; it is no fault of the file."""
    return {
        place
        for entry in entries
        for name, action in (("missing", "case-exported"), ("absent", "case-imported"))
        if entry.action == action
        for place in _places(entry.facts.get(name, ()))
    }


def rows_of(places: Iterable[Place]) -> list[dict[str, str | int]]:
    """Return places as an entry lists them."""
    return [{"log": log, "seq": seq, "field": field} for log, seq, field in places]


def kept_places(log: CaseLog, entries: Iterable[LogEntry]) -> set[Place]:
    """Return what a log keeps beside some entries."""
    wanted = {(entry.log, entry.seq): entry for entry in entries if entry.kept}
    with log.reading() as db:
        return {
            (log_id, seq, str(row[0]))
            for log_id, seq in wanted
            for row in db.execute("SELECT field FROM kept WHERE log = ? AND seq = ?", (log_id, seq))
        }


def acted(entry: LogEntry) -> set[str]:
    """Return the identifiers of the people whom an entry speaks of: who acted, who examined."""
    examiner = entry.facts.get("examiner")
    return {entry.actor, examiner} if isinstance(examiner, str) else {entry.actor}


def people_of(log: CaseLog, actors: set[str]) -> tuple[list[LogEntry], list[LogEntry]]:
    """Return the entries that name people, and those that erased such a name.

    Args:
        log: The log.
        actors: Identifiers of who acted. Who erased a name is added to them.
    """
    named = list(log.acts("person-added"))
    erasing = [one for one in log.acts("kept-erased") if not one.case]
    while True:
        people = [one for one in named if one.actor in actors]
        gone = {(one.log, one.seq, "name") for one in people}
        told = [one for one in erasing if gone & set(_places(one.facts.get("erased", ())))]
        if {one.actor for one in told} <= actors:
            return people, told
        actors = actors | {one.actor for one in told}


def _speaks_of(erasure: LogEntry, target: LogEntry, own: str) -> bool:
    if erasure.case != target.case or (not target.case and target.action != "person-added"):
        return False
    return target.log != own or erasure.log == own


def _places(rows: Iterable[object]) -> Iterator[Place]:
    for row in rows:
        if isinstance(row, dict):
            yield str(row.get("log")), int(row.get("seq", 0)), str(row.get("field"))
