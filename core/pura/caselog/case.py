"""A case, and what stands in it, as people see them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pura.base.catalogue import Value, catalogue
from pura.base.errors import CaseLogError
from pura.caselog.absence import Erasure, Place
from pura.caselog.entries import LogEntry
from pura.words.sentences import title

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
    entry: LogEntry
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
    record: tuple[LogEntry, str] | None
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
