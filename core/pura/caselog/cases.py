"""Cases as people see them, made of the entries of the log; nothing here writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from pura.base.catalogue import Value, catalogue
from pura.base.errors import CaseLogError
from pura.caselog.absence import Erasure, Place, erasures, kept_places, missing, people_of
from pura.caselog.entries import Entry
from pura.caselog.log import CaseLog
from pura.words.sentences import title

FINISHED: Final = ("examination-finished", "examination-repeated")
RECORD_OF: Final = "record-"
"""Before an audit's identifier: its record without the text, kept beside the erasure of that."""
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
        recomputed: What was recomputed; None when it was erased.
        words: What was said about it.
    """

    state: str
    time: str
    who: str | None
    recomputed: str | None
    words: str | None


@dataclass(frozen=True, kw_only=True)
class Item:
    """A saved audit.

    Attributes:
        id: The audit's identifier.
        case: The case's.
        entry: The entry that saved it.
        run: Which examination of the same bytes in this case, from 1.
        verdict: Its outcome.
        mode: ``keep``, ``seal`` or ``leave-out``: what became of the text.
        auditor: Who saved it; None when the name was erased.
        examined: When the text was examined, UTC.
        examined_by: Identifier of the person who examined it.
        examiner: That person's name; None when it was erased.
        name: Of the file; None when it was erased.
        sha256: Of its bytes; None when it was erased.
        log10_e: The evidence; None when it was erased.
        payload: The decoded payload's bits; None when it was erased.
        marks: How many marks the text carries, as far as the entry says.
        more_marks: There may be more: a limit was reached.
        record: Beside which entry the record is kept, under which name; None when it is gone.
        review: What the last reviewer made of it; None when nobody has looked.
        erased: How the record came to be erased; None when it is there, or no entry says so.
        missing: The record is not there, and no entry says that it was erased.
    """

    id: str
    case: str
    entry: Entry
    run: int
    verdict: str
    mode: str
    auditor: str | None
    examined: str
    examined_by: str
    examiner: str | None
    name: str | None
    sha256: str | None
    log10_e: float | None
    payload: str | None
    record: tuple[Entry, str] | None
    marks: int = 1
    more_marks: bool = False
    review: Review | None = None
    erased: Erasure | None = None
    missing: bool = False

    def headline(self, language: str) -> str:
        """Return the outcome in words, as the record's own headline says it."""
        return title(self.verdict, language, self.marks, at_least=self.more_marks)


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
    items: tuple[Item, ...] = ()
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

    def item(self, item: str) -> Item:
        """Return an audit by its identifier or the beginning of it.

        Raises:
            CaseLogError: There is none, or several.
        """
        found = [one for one in self.items if one.id.startswith(item)] if item else []
        if len(found) != 1:
            key = "caselog.audit-ambiguous" if found else "caselog.no-audit"
            raise CaseLogError(key, count=len(found), audit=item[:40], code="case-log-unknown")
        return found[0]


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
    cases = list_cases(log)
    wanted = name.strip().casefold()
    found = [c for c in cases if c.name is not None and c.name.casefold() == wanted]
    if not found and len(wanted) >= 8:
        found = [c for c in cases if c.id.startswith(wanted)]
    if len(found) > 1:
        raise CaseLogError(
            "caselog.case-ambiguous", count=len(found), name=name[:80], code="case-log-ambiguous"
        )
    return found[0] if found else None


def case_names(log: CaseLog) -> dict[str, str | None]:
    """Return the names of all cases, by their identifiers; None when a name was erased."""
    return {e.case: log.kept(e, "name") for e in log.acts("case-opened", "case-renamed")}


def item_of(log: CaseLog, entry: Entry) -> Item:
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


@dataclass
class _Reader:
    """Walks over the entries of a case once."""

    log: CaseLog
    names: dict[str, str | None] = field(default_factory=dict)
    records: dict[str, tuple[Entry, str]] = field(default_factory=dict)

    def read(self, entries: Sequence[Entry]) -> Case:
        opened = entries[0]
        state: dict[str, Any] = {"tags": (), "name": None}
        notes: list[Note] = []
        items: dict[str, Item] = {}
        failures = 0
        for entry in entries:
            action = entry.action
            if action in ("case-opened", "case-renamed"):
                state["name"] = self.log.kept(entry, "name")
                if action == "case-opened" and (text := self.log.kept(entry, "notes")):
                    notes.append(Note(time=entry.time, who=self._who(entry.actor), text=text))
            if action in ("case-opened", "tags-set") and "tags" in entry.kept:
                state["tags"] = tuple(self.log.kept(entry, "tags") or ())
            if action == "note-added":
                text = self.log.kept(entry, "text")
                notes.append(Note(time=entry.time, who=self._who(entry.actor), text=text))
            elif action in FINISHED:
                items[entry.item] = self.item(entry)
            elif action in REVIEWS and entry.item in items:
                items[entry.item] = replace(items[entry.item], review=self._review(entry))
            elif action == "kept-erased":
                self._move_records(entry, items)
            elif action in ("hold-set", "hold-lifted"):
                state["held"] = action == "hold-set"
            elif action in ("case-closed", "case-reopened"):
                state["closed"] = action == "case-closed"
            elif action == "examination-failed":
                failures += 1
        self._reviewed_elsewhere(opened.case, items)
        gone = self._gone(entries, items)
        return Case(
            id=opened.case,
            opened=opened.time,
            changed=entries[-1].time,
            auditor=self._who(opened.actor),
            notes=tuple(notes),
            items=tuple(items.values()),
            imported="" if opened.log == self.log.id else opened.log,
            failures=failures,
            missing=gone,
            **state,
        )

    def _gone(self, entries: Sequence[Entry], items: dict[str, Item]) -> tuple[Place, ...]:
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
        for item in list(items.values()):
            if item.record is None:
                entry, name = self.records.get(item.id, (item.entry, "record"))
                by = erased.get((entry.log, entry.seq, name))
                items[item.id] = replace(
                    item, missing=by is None, erased=None if by is None else self._erasure(by)
                )
        return missing(around, there, erased)

    def _erasure(self, entry: Entry) -> Erasure:
        return Erasure(
            time=entry.time,
            who=self._who(entry.actor),
            reason=self.log.kept(entry, "reason"),
            moved=str(entry.facts.get("moved", "")),
        )

    def item(self, entry: Entry) -> Item:
        """Read the audit that an entry has saved."""
        about = self.log.kept(entry, "item") or {}
        # Earlier versions did not say who had examined a text that another person saved.
        examiner = str(entry.facts.get("examiner") or entry.actor)
        return Item(
            id=entry.item,
            case=entry.case,
            entry=entry,
            run=int(entry.facts["run"]),
            verdict=entry.result,
            mode=str(entry.facts["text"]),
            auditor=self._who(entry.actor),
            examined=str(entry.facts.get("examined") or entry.time),
            examined_by=examiner,
            examiner=self._who(examiner),
            name=about.get("name"),
            sha256=about.get("sha256"),
            log10_e=about.get("log10_e"),
            payload=about.get("identified"),
            marks=int(about.get("marks") or 1),
            more_marks=bool(about.get("more_marks")),
            record=self._record(entry, "record"),
        )

    def _record(self, entry: Entry, field: str) -> tuple[Entry, str] | None:
        with self.log.reading() as db:
            there = db.execute(
                "SELECT 1 FROM kept WHERE log = ? AND seq = ? AND field = ?",
                (entry.log, entry.seq, field),
            ).fetchone()
        return None if there is None else (entry, field)

    def _review(self, entry: Entry) -> Review:
        return Review(
            state=REVIEWS[entry.action],
            time=entry.time,
            who=self._who(entry.actor),
            recomputed=self.log.kept(entry, "recomputed"),
            words=self.log.kept(entry, "words"),
        )

    def _reviewed_elsewhere(self, case: str, items: dict[str, Item]) -> None:
        """Take over what was said of audits while another case had them."""
        for entry in self.log.acts(*REVIEWS):
            item = items.get(entry.item)
            if entry.case != case and item is not None and item.review is None:
                items[item.id] = replace(item, review=self._review(entry))

    def _move_records(self, entry: Entry, items: dict[str, Item]) -> None:
        """After a text was erased, the record without it is kept beside the erasure.

        An audit that another case has taken is here no more.
        """
        if "moved" in entry.facts:
            items.pop(entry.item, None)
        gone = {
            (row["log"], row["seq"]) for row in entry.facts["erased"] if row["field"] == "sealed"
        }
        for one in list(items.values()):
            if (one.entry.log, one.entry.seq) in gone:
                items[one.id] = replace(one, mode="leave-out")
        for name in entry.kept:
            item = items.get(name.removeprefix(RECORD_OF))
            if name.startswith(RECORD_OF) and item is not None:
                record = self._record(entry, name)
                self.records[item.id] = (entry, name)
                items[item.id] = replace(item, mode="leave-out", record=record)

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
        texts += [item.name or "", item.id, item.sha256 or "", item.payload or ""]
    whole = "\n".join(texts).casefold()
    return all(word in whole for word in words)
