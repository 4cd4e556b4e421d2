"""The cases of a log, read from its entries; nothing here writes."""

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

KeptField: TypeAlias = tuple[str, int, str]
"""A value that is kept beside an entry: identifier of the log, number of the entry, field name."""


@dataclass(frozen=True, kw_only=True)
class Erasure:
    """Circumstances of an erasure.

    Attributes:
        time: Time of the erasure, UTC.
        who: Name of the person; None if it was erased.
        reason: Reason that was given; None if none is kept.
        moved: Identifier of the case that the audit was moved to; empty if it was not moved.
    """

    time: str
    who: str | None
    reason: str | None
    moved: str = ""


def erasures(entries: Iterable[LogEntry], log_id: str = "") -> dict[KeptField, LogEntry]:
    """Return the erased fields, each with the first entry that records its erasure.

    An entry may erase earlier fields of its own case; an entry without a case erases names of
    people. Fields that a log has written are erased only by entries of that log, never by entries
    that came in a case file.

    Args:
        entries: The entries in the order of arrival.
        log_id: Identifier of the log; empty for the entries of a case file.
    """
    before: dict[KeptField, LogEntry] = {}
    erasing_entries: dict[KeptField, LogEntry] = {}
    for entry in entries:
        if entry.action == "kept-erased":
            for kept_field in _fields_of(entry.facts.get("erased", ())):
                target = before.get(kept_field)
                if target is not None and _speaks_of(entry, target, log_id):
                    erasing_entries.setdefault(kept_field, entry)
        before |= {(entry.log, entry.seq, field): entry for field in entry.kept}
    return erasing_entries


def missing(
    entries: Iterable[LogEntry], stored: set[KeptField], erased: Iterable[KeptField]
) -> tuple[KeptField, ...]:
    """Return the fields that entries commit to but that are neither stored nor erased.

    Args:
        entries: The entries.
        stored: Fields that are stored.
        erased: Fields whose erasure an entry records.

    Returns:
        The missing fields, in the order of the entries.
    """
    accounted = stored | set(erased)
    return tuple(
        kept_field
        for entry in entries
        for field in sorted(entry.kept)
        if (kept_field := (entry.log, entry.seq, field)) not in accounted
    )


def reported_missing(entries: Iterable[LogEntry]) -> set[KeptField]:
    """Return the fields that an export or import reported as missing; they are no new fault."""
    return {
        kept_field
        for entry in entries
        for name, action in (("missing", "case-exported"), ("absent", "case-imported"))
        if entry.action == action
        for kept_field in _fields_of(entry.facts.get(name, ()))
    }


def rows_of(kept_fields: Iterable[KeptField]) -> list[dict[str, str | int]]:
    """Return fields as an entry lists them."""
    return [{"log": log, "seq": seq, "field": field} for log, seq, field in kept_fields]


def stored_fields(log: CaseLog, entries: Iterable[LogEntry]) -> set[KeptField]:
    """Return the fields that a log stores beside entries."""
    numbers = {(entry.log, entry.seq): entry for entry in entries if entry.kept}
    with log.reading() as db:
        return {
            (log_id, seq, str(row[0]))
            for log_id, seq in numbers
            for row in db.execute("SELECT field FROM kept WHERE log = ? AND seq = ?", (log_id, seq))
        }


def people_in(entry: LogEntry) -> set[str]:
    """Return the identifiers of the people whom an entry names: the actor and the examiner."""
    examiner = entry.facts.get("examiner")
    return {entry.actor, examiner} if isinstance(examiner, str) else {entry.actor}


def people_of(log: CaseLog, actors: set[str]) -> tuple[list[LogEntry], list[LogEntry]]:
    """Return the entries that name people, and the entries that erased such names.

    Args:
        log: The log.
        actors: Identifiers of the actors. People who erased one of their names are added.
    """
    naming = list(log.acts("person-added"))
    erasing = [entry for entry in log.acts("kept-erased") if not entry.case]
    while True:
        people = [entry for entry in naming if entry.actor in actors]
        erased_names = {(entry.log, entry.seq, "name") for entry in people}
        name_erasures = [
            entry
            for entry in erasing
            if erased_names & set(_fields_of(entry.facts.get("erased", ())))
        ]
        if {entry.actor for entry in name_erasures} <= actors:
            return people, name_erasures
        actors = actors | {entry.actor for entry in name_erasures}


def _speaks_of(erasure: LogEntry, target: LogEntry, log_id: str) -> bool:
    if erasure.case != target.case or (not target.case and target.action != "person-added"):
        return False
    return target.log != log_id or erasure.log == log_id


def _fields_of(rows: Iterable[object]) -> Iterator[KeptField]:
    for row in rows:
        if isinstance(row, dict):
            yield str(row.get("log")), int(row.get("seq", 0)), str(row.get("field"))


FINISHED: Final = ("examination-finished", "examination-repeated")
RECORD_OF: Final = "record-"
"""Prefix of an audit's identifier; names the record without its text that is kept beside the entry
that erased the text."""
UNFILED: Final = "Unfiled"
"""Name of the case for audits that were not yet assigned to a case."""
MOST_NAMED: Final = 5  # missing fields that a message names
REVIEWS: Final = {"finding-confirmed": "confirmed", "finding-disputed": "disputed"}


@dataclass(frozen=True, kw_only=True)
class Note:
    """A note on a case.

    Attributes:
        time: Time of writing, UTC.
        who: Name of the author; None if it was erased.
        text: The text; None if it was erased.
    """

    time: str
    who: str | None
    text: str | None


@dataclass(frozen=True, kw_only=True)
class Review:
    """A second person's review of a finding.

    Attributes:
        state: ``confirmed`` or ``disputed``.
        time: Time of the review, UTC.
        who: Name of the reviewer; None if it was erased.
        by: Identifier of the reviewer.
        recomputed: The results that the reviewer recomputed; None if this was erased.
        words: Comment of the reviewer.
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
        entry: The entry that saved the audit.
        finding: The finding without its sentences; None if it was erased.
        mode: Storage of the text: ``keep``, ``seal`` or ``leave-out``.
        auditor: Name of the person who saved it; None if it was erased.
        examined: Time of the examination, UTC.
        examined_by: Identifier of the examiner.
        examiner: Name of the examiner; None if it was erased.
        record: The entry that the record is kept beside, and its field name; None if the record is
            not stored.
        review: The latest review; None if there is none.
        erased: Circumstances of the erasure of the record; None if it was not erased.
        missing: The record is not stored, and no entry records its erasure.
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
        """Identifier of the case that the audit was saved to."""
        return self.entry.case

    @property
    def verdict(self) -> str:
        """The verdict, which remains if the finding is erased."""
        return self.entry.result

    @property
    def run(self) -> int:
        """Number of this examination of the same bytes in the case, from 1."""
        return int(self.entry.facts["run"])

    @property
    def name(self) -> str | None:
        """Name of the file; None if it was erased."""
        return None if self.finding is None else self.finding.name

    @property
    def outcome(self) -> str:
        """Outcome of the finding; the verdict if the finding was erased."""
        return self.verdict if self.finding is None else self.finding.outcome

    def headline(self, language: str) -> str:
        """Return the title of the outcome in a language."""
        finding = self.finding
        return title(self.verdict, language) if finding is None else finding.title(language)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A case.

    Attributes:
        id: Its identifier.
        name: Its name; None when it was erased.
        opened: Time of opening, UTC.
        changed: Time of its newest entry, UTC.
        auditor: Name of the person who opened it; None if it was erased.
        tags: Its tags.
        notes: Its notes, oldest first.
        items: The saved audits, oldest first, without those that were moved to another case.
        held: A hold forbids erasing.
        closed: The case is closed; nothing can be added until it is reopened.
        imported: Identifier of the log that it was imported from; empty for a case of this log.
        failures: Number of failed examinations.
        missing: Fields that its entries commit to but that are neither stored nor erased. If there
            are any, the case is incomplete.
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
    missing: tuple[KeptField, ...] = ()

    def incomplete(self, language: str = "en") -> str:
        """Return a sentence on the missing fields; empty if none are missing."""
        if not self.missing:
            return ""
        listed = [f"{field} ({seq})" for _, seq, field in self.missing[:MOST_NAMED]]
        listed += ["…"] if len(self.missing) > MOST_NAMED else []
        parameters: dict[str, Value] = {"count": len(self.missing), "what": ", ".join(listed)}
        return catalogue("caselog-check").fill("case.incomplete", language, parameters)

    def item(self, identifier: str) -> CaseItem:
        """Return an audit by its identifier or the beginning of it.

        Raises:
            CaseLogError: There is none, or several.
        """
        matches = (
            [audit for audit in self.items if audit.id.startswith(identifier)] if identifier else []
        )
        if len(matches) != 1:
            key = "name.ambiguous" if matches else "caselog.no-audit"
            raise CaseLogError(key, name=identifier[:40], code="case-log-unknown")
        return matches[0]


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
    """Return the cases, most recently changed first; empty filters are ignored.

    Args:
        log: The log.
        search: Words to find in names, notes, tags and file names; also a digest or payload.
        tag: Tag of the case.
        verdict: Verdict of at least one of its audits.
        since: First day on which the case may have been changed last, ISO 8601.
        until: Last day on which the case may have been opened, ISO 8601.
        state: ``open``, ``closed``, ``held`` or ``unreviewed``.
    """
    with log.reading() as db:
        rows = db.execute("SELECT case_id FROM entries WHERE action = 'case-opened'").fetchall()
        cases = [read_case(log, str(row[0])) for row in rows]

    def passes(case: Case) -> bool:
        return (
            (not tag or tag.casefold() in (case_tag.casefold() for case_tag in case.tags))
            and (not verdict or any(item.verdict == verdict for item in case.items))
            and (not since or case.changed[:10] >= since)
            and (not until or case.opened[:10] <= until)
            and _in_state(case, state)
            and _contains(case, search)
        )

    return tuple(sorted(filter(passes, cases), key=lambda case: case.changed, reverse=True))


def find_case(log: CaseLog, name: str) -> Case | None:
    """Return a case by its identifier, the beginning of it (8 digits or more), or its name.

    Raises:
        CaseLogError: Several have this name.
    """
    names, wanted_name = case_names(log), name.strip().casefold()
    case_ids = [case for case, name in names.items() if name and name.casefold() == wanted_name]
    if not case_ids and len(wanted_name) >= 8:
        case_ids = [case for case in names if case.startswith(wanted_name)]
    if len(case_ids) > 1:
        raise CaseLogError("name.ambiguous", name=name[:80], code="case-log-ambiguous")
    return read_case(log, case_ids[0]) if case_ids else None


def case_names(log: CaseLog) -> dict[str, str | None]:
    """Return the names of all cases, by their identifiers; None when a name was erased."""
    return {e.case: log.kept(e, "name") for e in log.acts("case-opened", "case-renamed")}


def item_of(log: CaseLog, entry: LogEntry) -> CaseItem:
    """Return the audit that an entry saved, in its state at that time."""
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
    """Builds a case from its entries, in their order.

    Args:
        log: The log with the entries.
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
        """Return the case of the given entries, which are ordered oldest first."""
        opened = entries[0]
        for entry in entries:
            self._take(entry)
        self._reviewed_elsewhere(opened.case)
        missing_fields = self._missing_fields(entries)
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
            missing=missing_fields,
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

    def _missing_fields(self, entries: Sequence[LogEntry]) -> tuple[KeptField, ...]:
        """Return the missing fields, and note in each audit why its record is not stored."""
        stored = stored_fields(self.log, entries)
        related = list(entries)
        if any(self.names.at(entry) is None for entry in entries if entry.actor):
            people, name_erasures = people_of(self.log, {entry.actor for entry in entries})
            related = [*people, *name_erasures, *entries]
            stored |= stored_fields(self.log, [*people, *name_erasures])
        if all((e.log, e.seq, name) in stored for e in related for name in e.kept):
            return ()
        erased = erasures(related, self.log.id)
        for item in list(self.items.values()):
            if item.record is None:
                entry, name = self.records.get(item.id, (item.entry, "record"))
                erasing_entry = erased.get((entry.log, entry.seq, name))
                self.items[item.id] = replace(
                    item,
                    missing=erasing_entry is None,
                    erased=None if erasing_entry is None else self._erasure(erasing_entry),
                )
        return missing(related, stored, erased)

    def _erasure(self, entry: LogEntry) -> Erasure:
        return Erasure(
            time=entry.time,
            who=self.names.at(entry),
            reason=self.log.kept(entry, "reason"),
            moved=str(entry.facts.get("moved", "")),
        )

    def item(self, entry: LogEntry) -> CaseItem:
        """Return the audit that an entry saved."""
        examined = str(entry.facts.get("examined") or entry.time)
        # Earlier versions did not record the examiner of a text that another person saved.
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
        stored = self.log.kept(entry, "item")
        if stored is None:
            return None
        try:
            return Finding.from_json(
                stored, audit=entry.item, created=examined, verdict=entry.result
            )
        except RecordError:
            raise CaseLogError("caselog.kept-damaged", code="case-log-damaged") from None

    def _record(self, entry: LogEntry, field: str) -> tuple[LogEntry, str] | None:
        with self.log.reading() as db:
            row = db.execute(
                "SELECT 1 FROM kept WHERE log = ? AND seq = ? AND field = ?",
                (entry.log, entry.seq, field),
            ).fetchone()
        return None if row is None else (entry, field)

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
        """Adopt the reviews of audits that were made while they were in another case."""
        for entry in self.log.acts(*REVIEWS):
            item = self.items.get(entry.item)
            if entry.case != case and item is not None and item.review is None:
                self.items[item.id] = replace(item, review=self._review(entry))

    def _move_records(self, entry: LogEntry) -> None:
        """Apply an erasure: the record without its text is kept beside the erasing entry.

        An audit that was moved to another case is removed.
        """
        if "moved" in entry.facts:
            self.items.pop(entry.item, None)
        erased_entries = {
            (row["log"], row["seq"]) for row in entry.facts["erased"] if row["field"] == "sealed"
        }
        for saved_audit in list(self.items.values()):
            if (saved_audit.entry.log, saved_audit.entry.seq) in erased_entries:
                self.items[saved_audit.id] = replace(saved_audit, mode="leave-out")
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
    search_terms = search.casefold().split()
    texts = [case.name or "", case.id, *case.tags, *(note.text or "" for note in case.notes)]
    for item in case.items:
        texts.append(item.id)
        if (finding := item.finding) is not None:
            texts += [
                finding.name,
                finding.sha256,
                *(mark.payload.bits or "" for mark in finding.marks),
            ]
    searchable = "\n".join(texts).casefold()
    return all(term in searchable for term in search_terms)
