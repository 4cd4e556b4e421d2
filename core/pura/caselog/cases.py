"""The cases of a log, made of its entries; nothing here writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from pura.base.catalogue import Value, catalogue
from pura.base.errors import CaseLogError, RecordError
from pura.caselog.log import CaseLog, LogEntry
from pura.caselog.names import PersonNames
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

    @property
    def outcome(self) -> str:
        """What its headline says, as far as the finding is kept."""
        return self.verdict if self.finding is None else self.finding.outcome

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


def list_cases(
    log: CaseLog,
    *,
    search: str = "",
    tag: str = "",
    verdict: str = "",
    since: str = "",
    until: str = "",
    state: str = "",
) -> tuple[Case, ...]:
    """Return the cases, the one with the newest entry first; what is empty does not filter.

    Args:
        log: The log.
        search: Words that stand in name, notes, tags or file names, or a digest or payload.
        tag: A tag.
        verdict: An outcome that one of its audits has.
        since: Changed on this day or later, ISO 8601.
        until: Opened on this day or earlier, ISO 8601.
        state: ``open``, ``closed``, ``held`` or ``unreviewed``.
    """
    with log.reading() as db:
        rows = db.execute("SELECT case_id FROM entries WHERE action = 'case-opened'").fetchall()
        cases = [read_case(log, str(row[0])) for row in rows]

    def wanted(case: Case) -> bool:
        return (
            (not tag or tag.casefold() in (one.casefold() for one in case.tags))
            and (not verdict or any(item.verdict == verdict for item in case.items))
            and (not since or case.changed[:10] >= since)
            and (not until or case.opened[:10] <= until)
            and _in_state(case, state)
            and _contains(case, search)
        )

    return tuple(sorted(filter(wanted, cases), key=lambda case: case.changed, reverse=True))


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
        self.names = PersonNames(log)
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
            auditor=self.names.at(opened),
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
            self.notes.append(Note(time=entry.time, who=self.names.at(entry), text=text))

    def _tag(self, entry: LogEntry) -> None:
        if "tags" in entry.kept:
            self.tags = tuple(self.log.kept(entry, "tags") or ())

    def _gone(self, entries: Sequence[LogEntry]) -> tuple[Place, ...]:
        """Return what is missing; say of each record that is not there how that came."""
        there = kept_places(self.log, entries)
        around = list(entries)
        if any(self.names.at(entry) is None for entry in entries if entry.actor):
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
            who=self.names.at(entry),
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
            auditor=self.names.at(entry),
            examined=examined,
            examined_by=examiner,
            examiner=self.names.at(entry, examiner),
            record=self._record(entry, "record"),
        )

    def _finding(self, entry: LogEntry, examined: str) -> Finding | None:
        kept = self.log.kept(entry, "item")
        if kept is None:
            return None
        try:
            return Finding.from_json(kept, audit=entry.item, created=examined, verdict=entry.result)
        except RecordError:
            raise CaseLogError("caselog.kept-damaged", code="case-log-damaged") from None

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
            who=self.names.at(entry),
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
