"""The cases of a log, made of its entries; nothing here writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pura.base.errors import CaseLogError, RecordError
from pura.caselog.case import (
    FINISHED,
    RECORD_OF,
    REVIEWS,
    Case,
    CaseItem,
    Erasure,
    Note,
    Place,
    Review,
    erasures,
    kept_places,
    missing,
    people_of,
)
from pura.caselog.entries import LogEntry
from pura.caselog.log import CaseLog
from pura.record.finding import Finding


@dataclass(frozen=True, kw_only=True)
class Query:
    """Which cases are wanted; empty fields do not filter.

    Attributes:
        search: Words that stand in name, notes, tags or file names, or a digest or payload.
        tag: A tag.
        verdict: An outcome that one of its audits has.
        since: Changed on this day or later, ISO 8601.
        until: Opened on this day or earlier, ISO 8601.
        state: ``open``, ``closed``, ``held`` or ``unreviewed``.
    """

    search: str = ""
    tag: str = ""
    verdict: str = ""
    since: str = ""
    until: str = ""
    state: str = ""


def list_cases(log: CaseLog, query: Query | None = None) -> tuple[Case, ...]:
    """Return the cases, the one with the newest entry first."""
    query = query or Query()
    with log.reading() as db:
        rows = db.execute("SELECT case_id FROM entries WHERE action = 'case-opened'").fetchall()
        cases = [read_case(log, str(row[0])) for row in rows]
    chosen = [case for case in cases if _wanted(case, query)]
    return tuple(sorted(chosen, key=lambda case: case.changed, reverse=True))


def find_case(log: CaseLog, name: str) -> Case | None:
    """Return a case by its identifier, the beginning of it (8 digits or more), or its name.

    Raises:
        CaseLogError: Several have this name.
    """
    names, wanted = case_names(log), name.strip().casefold()
    found = [case for case, name in names.items() if name and name.casefold() == wanted]
    if not found and len(wanted) >= 8:
        found = [case for case in names if case.startswith(wanted)]
    if len(found) > 1:
        raise CaseLogError("name.ambiguous", name=name[:80], code="case-log-ambiguous")
    return read_case(log, found[0]) if found else None


def case_names(log: CaseLog) -> dict[str, str | None]:
    """Return the names of all cases, by their identifiers; None when a name was erased."""
    return {e.case: log.kept(e, "name") for e in log.acts("case-opened", "case-renamed")}


def item_of(log: CaseLog, entry: LogEntry) -> CaseItem:
    """Return the audit that an entry has saved, as it was then."""
    return _Reader(log).item(entry)


def read_case(log: CaseLog, case: str) -> Case:
    """Return a case.

    Raises:
        CaseLogError: There is none with this identifier.
    """
    entries = list(log.entries(case=case))
    if not entries:
        raise CaseLogError("caselog.no-case", code="case-log-unknown")
    return _Reader(log).read(entries)


class _Reader:
    """Walks over the entries of one case, in their order, and gathers what they say.

    Args:
        log: Where they stand.
    """

    def __init__(self, log: CaseLog) -> None:
        self.log = log
        self.names: dict[str, str | None] = {}
        self.records: dict[str, tuple[LogEntry, str]] = {}
        self.items: dict[str, CaseItem] = {}
        self.notes: list[Note] = []
        self.name: str | None = None
        self.tags: tuple[str, ...] = ()
        self.held = self.closed = False
        self.failures = 0

    def read(self, entries: Sequence[LogEntry]) -> Case:
        """Return the case that the entries, oldest first, are those of."""
        opened = entries[0]
        for entry in entries:
            self._take(entry)
        self._reviewed_elsewhere(opened.case)
        gone = self._gone(entries)
        return Case(
            id=opened.case,
            name=self.name,
            opened=opened.time,
            changed=entries[-1].time,
            auditor=self._who(opened.actor),
            tags=self.tags,
            notes=tuple(self.notes),
            items=tuple(self.items.values()),
            held=self.held,
            closed=self.closed,
            imported="" if opened.log == self.log.id else opened.log,
            failures=self.failures,
            missing=gone,
        )

    def _take(self, entry: LogEntry) -> None:
        match entry.action:
            case "case-opened":
                self.name = self.log.kept(entry, "name")
                self._note(entry, "notes")
                self._tag(entry)
            case "case-renamed":
                self.name = self.log.kept(entry, "name")
            case "tags-set":
                self._tag(entry)
            case "note-added":
                self._note(entry, "text", always=True)
            case "kept-erased":
                self._move_records(entry)
            case "hold-set" | "hold-lifted":
                self.held = entry.action == "hold-set"
            case "case-closed" | "case-reopened":
                self.closed = entry.action == "case-closed"
            case "examination-failed":
                self.failures += 1
            case action if action in FINISHED:
                self.items[entry.item] = self.item(entry)
            case action if action in REVIEWS and entry.item in self.items:
                reviewed = replace(self.items[entry.item], review=self._review(entry))
                self.items[entry.item] = reviewed

    def _note(self, entry: LogEntry, field: str, *, always: bool = False) -> None:
        text = self.log.kept(entry, field)
        if text or always:
            self.notes.append(Note(time=entry.time, who=self._who(entry.actor), text=text))

    def _tag(self, entry: LogEntry) -> None:
        if "tags" in entry.kept:
            self.tags = tuple(self.log.kept(entry, "tags") or ())

    def _gone(self, entries: Sequence[LogEntry]) -> tuple[Place, ...]:
        """Return what is missing; say of each record that is not there how that came."""
        there = kept_places(self.log, entries)
        around = list(entries)
        if any(self._who(entry.actor) is None for entry in entries if entry.actor):
            people, told = people_of(self.log, {entry.actor for entry in entries})
            around = [*people, *told, *entries]
            there |= kept_places(self.log, [*people, *told])
        if all((e.log, e.seq, name) in there for e in around for name in e.kept):
            return ()
        erased = erasures(around, self.log.id)
        for item in list(self.items.values()):
            if item.record is None:
                entry, name = self.records.get(item.id, (item.entry, "record"))
                by = erased.get((entry.log, entry.seq, name))
                self.items[item.id] = replace(
                    item, missing=by is None, erased=None if by is None else self._erasure(by)
                )
        return missing(around, there, erased)

    def _erasure(self, entry: LogEntry) -> Erasure:
        return Erasure(
            time=entry.time,
            who=self._who(entry.actor),
            reason=self.log.kept(entry, "reason"),
            moved=str(entry.facts.get("moved", "")),
        )

    def item(self, entry: LogEntry) -> CaseItem:
        """Read the audit that an entry has saved."""
        examined = str(entry.facts.get("examined") or entry.time)
        # Earlier versions did not say who had examined a text that another person saved.
        examiner = str(entry.facts.get("examiner") or entry.actor)
        return CaseItem(
            entry=entry,
            finding=self._finding(entry, examined),
            mode=str(entry.facts["text"]),
            auditor=self._who(entry.actor),
            examined=examined,
            examined_by=examiner,
            examiner=self._who(examiner),
            record=self._record(entry, "record"),
        )

    def _finding(self, entry: LogEntry, examined: str) -> Finding | None:
        kept = self.log.kept(entry, "item")
        if kept is None:
            return None
        try:
            return Finding.from_json(kept, audit=entry.item, created=examined, verdict=entry.result)
        except RecordError:
            raise CaseLogError("caselog.kept-damaged", code="case-log-altered") from None

    def _record(self, entry: LogEntry, field: str) -> tuple[LogEntry, str] | None:
        with self.log.reading() as db:
            there = db.execute(
                "SELECT 1 FROM kept WHERE log = ? AND seq = ? AND field = ?",
                (entry.log, entry.seq, field),
            ).fetchone()
        return None if there is None else (entry, field)

    def _review(self, entry: LogEntry) -> Review:
        return Review(
            state=REVIEWS[entry.action],
            time=entry.time,
            who=self._who(entry.actor),
            by=entry.actor,
            recomputed=self.log.kept(entry, "recomputed"),
            words=self.log.kept(entry, "words"),
        )

    def _reviewed_elsewhere(self, case: str) -> None:
        """Take over what was said of audits while another case had them."""
        for entry in self.log.acts(*REVIEWS):
            item = self.items.get(entry.item)
            if entry.case != case and item is not None and item.review is None:
                self.items[item.id] = replace(item, review=self._review(entry))

    def _move_records(self, entry: LogEntry) -> None:
        """After a text was erased, the record without it is kept beside the erasure.

        An audit that another case has taken is here no more.
        """
        if "moved" in entry.facts:
            self.items.pop(entry.item, None)
        gone = {
            (row["log"], row["seq"]) for row in entry.facts["erased"] if row["field"] == "sealed"
        }
        for one in list(self.items.values()):
            if (one.entry.log, one.entry.seq) in gone:
                self.items[one.id] = replace(one, mode="leave-out")
        for name in entry.kept:
            item = self.items.get(name.removeprefix(RECORD_OF))
            if name.startswith(RECORD_OF) and item is not None:
                record = self._record(entry, name)
                self.records[item.id] = (entry, name)
                self.items[item.id] = replace(item, mode="leave-out", record=record)

    def _who(self, person: str) -> str | None:
        if person not in self.names:
            self.names[person] = self.log.person_name(person)
        return self.names[person]


def _wanted(case: Case, query: Query) -> bool:
    if query.tag and query.tag.casefold() not in (tag.casefold() for tag in case.tags):
        return False
    if query.verdict and all(item.verdict != query.verdict for item in case.items):
        return False
    if query.since and case.changed[:10] < query.since:
        return False
    if query.until and case.opened[:10] > query.until:
        return False
    return _in_state(case, query.state) and _contains(case, query.search)


def _in_state(case: Case, state: str) -> bool:
    states = {
        "": True,
        "open": not case.closed,
        "closed": case.closed,
        "held": case.held,
        "unreviewed": any(item.review is None for item in case.items),
    }
    return states[state]


def _contains(case: Case, search: str) -> bool:
    words = search.casefold().split()
    texts = [case.name or "", case.id, *case.tags, *(note.text or "" for note in case.notes)]
    for item in case.items:
        texts.append(item.id)
        if (found := item.finding) is not None:
            texts += [found.name, found.sha256, *(mark.payload.bits or "" for mark in found.marks)]
    whole = "\n".join(texts).casefold()
    return all(word in whole for word in words)
