"""A case, what stands in it as people see it, and what entries commit to and is not there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from pura.base.catalogue import Value, catalogue
from pura.base.errors import CaseLogError
from pura.caselog.entries import LogEntry
from pura.caselog.log import CaseLog
from pura.record.finding import Finding
from pura.words.sentences import title

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


FINISHED: Final = ("examination-finished", "examination-repeated")
RECORD_OF: Final = "record-"
"""Before an audit's identifier: its record without the text, kept beside the erasure of that."""
UNFILED: Final = "Unfiled"
"""The case that takes what was examined before somebody says where it belongs."""
MOST_NAMED: Final = 5
REVIEWS: Final = {"finding-confirmed": "confirmed", "finding-disputed": "disputed"}


@dataclass(frozen=True, kw_only=True)
class Note:
    """A note.

    Attributes:
        time: When, UTC.
        who: Whose; None when the name was erased.
        text: What it says; None when it was erased.
    """

    time: str
    who: str | None
    text: str | None


@dataclass(frozen=True, kw_only=True)
class Review:
    """What a second person made of a finding.

    Attributes:
        state: ``confirmed`` or ``disputed``.
        time: When, UTC.
        who: Who; None when the name was erased.
        by: That person's identifier.
        recomputed: What was recomputed; None when it was erased.
        words: What was said about it.
    """

    state: str
    time: str
    who: str | None
    by: str
    recomputed: str | None
    words: str | None


@dataclass(frozen=True, kw_only=True)
class CaseItem:
    """A saved audit.

    Attributes:
        entry: The entry that saved it.
        finding: What was found, without its sentences; None when it was erased.
        mode: ``keep``, ``seal`` or ``leave-out``: what became of the text.
        auditor: Who saved it; None when the name was erased.
        examined: When the text was examined, UTC.
        examined_by: Identifier of the person who examined it.
        examiner: That person's name; None when it was erased.
        record: Beside which entry the record is kept, under which name; None when it is gone.
        review: What the last reviewer made of it; None when nobody has looked.
        erased: How the record came to be erased; None when it is there, or no entry says so.
        missing: The record is not there, and no entry says that it was erased.
    """

    entry: LogEntry
    finding: Finding | None
    mode: str
    auditor: str | None
    examined: str
    examined_by: str
    examiner: str | None
    record: tuple[LogEntry, str] | None
    review: Review | None = None
    erased: Erasure | None = None
    missing: bool = False

    @property
    def id(self) -> str:
        """The audit's identifier."""
        return self.entry.item

    @property
    def case(self) -> str:
        """Identifier of the case that it was saved to."""
        return self.entry.case

    @property
    def verdict(self) -> str:
        """Its outcome, which stays when the finding was erased."""
        return self.entry.result

    @property
    def run(self) -> int:
        """Which examination of the same bytes in its case, from 1."""
        return int(self.entry.facts["run"])

    @property
    def name(self) -> str | None:
        """Of the file; None when it was erased."""
        return None if self.finding is None else self.finding.name

    def headline(self, language: str) -> str:
        """Return the outcome in words."""
        found = self.finding
        return title(self.verdict, language) if found is None else found.title(language)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A case.

    Attributes:
        id: Its identifier.
        name: Its name; None when it was erased.
        opened: When, UTC.
        changed: Time of its newest entry, UTC.
        auditor: Who opened it; None when the name was erased.
        tags: Its tags.
        notes: Its notes, oldest first.
        items: The saved audits, oldest first; those that were moved to another case are gone.
        held: A hold forbids erasing.
        closed: It takes nothing more until it is opened again.
        imported: Identifier of the log it came from; empty for one of this log.
        failures: Examinations that failed.
        missing: What its entries commit to, and is neither there nor erased by an entry; where
            there is anything, the case is incomplete.
    """

    id: str
    name: str | None
    opened: str
    changed: str
    auditor: str | None
    tags: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    items: tuple[CaseItem, ...] = ()
    held: bool = False
    closed: bool = False
    imported: str = ""
    failures: int = 0
    missing: tuple[Place, ...] = ()

    def incomplete(self, language: str = "en") -> str:
        """Say what is missing; empty where nothing is."""
        if not self.missing:
            return ""
        named = [f"{field} ({seq})" for _, seq, field in self.missing[:MOST_NAMED]]
        named += ["…"] if len(self.missing) > MOST_NAMED else []
        values: dict[str, Value] = {"count": len(self.missing), "what": ", ".join(named)}
        return catalogue("caselog-check").fill("case.incomplete", language, values)

    def item(self, item: str) -> CaseItem:
        """Return an audit by its identifier or the beginning of it.

        Raises:
            CaseLogError: There is none, or several.
        """
        found = [one for one in self.items if one.id.startswith(item)] if item else []
        if len(found) != 1:
            key = "name.ambiguous" if found else "caselog.no-audit"
            raise CaseLogError(key, name=item[:40], code="case-log-unknown")
        return found[0]
