"""A case as one file, out and in again.

The file is a zip archive with two parts: ``case.json`` (the case's entries, the entries that name
its people or erased such a name, and the source log's head) and ``kept/N``, one for everything that
is kept. The entries of one case follow from one another by themselves, so the receiving side can
check them without the other cases of the log. What comes in is checked whole before anything is
written: what an entry commits to is there, or an entry says that it was erased, or the export says
that it was missing already; else something was taken out, and nothing is taken in.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import sqlite3
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from pura.base.catalogue import Phrase, phrase
from pura.base.errors import CaseLogError, RecordError
from pura.base.json_text import read_json
from pura.caselog.cases import (
    RECORD_OF,
    Case,
    Place,
    acted,
    erasures,
    kept_places,
    missing,
    people_of,
    read_case,
    rows_of,
    told_missing,
)
from pura.caselog.keeping import unpack_record
from pura.caselog.log import (
    SALT_BYTES,
    START,
    CaseLog,
    LogEntry,
    Person,
    commitment,
    entry_hash,
    insert,
    keep,
    parse,
)
from pura.caselog.verify import check_entry, check_kept
from pura.detect.verdict.agreement import check_agreement
from pura.record import json_io

# Up to 0.3.0 no entry held a finding; that program would take one in and then fail to list it.
FORMS: Final = ("pura-case/1", "pura-case/2")
FORM: Final = FORMS[-1]
SUFFIX: Final = ".puracase"
INDEX: Final = "case.json"
MAX_FILE: Final = 1 << 30
MAX_INDEX: Final = 64 << 20
MAX_ENTRIES: Final = 200_000
MAX_KEPT: Final = 512 << 20
MAX_RECORD: Final = 256 << 20
_DATE: Final = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, kw_only=True)
class _Kept:
    entry: LogEntry
    field: str
    salt: bytes
    value: bytes


@dataclass(frozen=True, kw_only=True)
class Package:
    """A case file that was checked whole.

    Attributes:
        case: Identifier of the case.
        people: The entries that name whoever acted.
        erasures: The entries that erased one of these names.
        entries: The case's entries; the last says that it was exported.
        kept: What is kept beside them.
        missing: What entries commit to, and is neither there nor erased; the export says so.
    """

    case: str
    people: list[LogEntry]
    erasures: list[LogEntry]
    entries: list[LogEntry]
    kept: list[_Kept]
    missing: tuple[Place, ...]


def export_case(log: CaseLog, case: str, actor: Person, *, purpose: str = "") -> bytes:
    """Return a case as one file; the log says that it was exported.

    Args:
        log: The log.
        case: Identifier of the case.
        actor: Who exports it.
        purpose: What for.

    Raises:
        CaseLogError: There is no such case, or something in it was altered.
    """
    kept = {"purpose": purpose.strip()} if purpose.strip() else {}
    with log.writing():
        found = read_case(log, case)
        before = list(log.entries(case=case))
        people, erased = people_of(log, {actor.id}.union(*map(acted, before)))
        around = [*people, *erased, *before]
        there = kept_places(log, around)
        gone = missing(around, there, erasures(around))
        log.append(
            "case-exported",
            actor.id,
            case=case,
            role="custodian",
            kept=kept,
            facts={"audits": len(found.items), "missing": rows_of(gone)},
        )
        entries = list(log.entries(case=case))
        head = log.head()
        index: dict[str, Any] = {
            "form": FORM,
            "case": case,
            "head": {"log": head.log, "seq": head.seq, "hash": head.hash},
            "people": [_row(entry) for entry in people],
            "erasures": [_row(entry) for entry in erased],
            "entries": [_row(entry) for entry in entries],
            "kept": [],
        }
        parts: list[bytes] = []
        for entry in (*people, *erased, *entries):
            for row in _rows(log, entry):
                index["kept"].append(
                    {
                        "log": entry.log,
                        "seq": entry.seq,
                        "field": row.field,
                        "salt": base64.b64encode(row.salt).decode(),
                        "part": len(parts),
                    }
                )
                parts.append(row.value)
    return _zipped(index, parts)


def import_case(log: CaseLog, data: bytes, actor: Person) -> Case:
    """Take a case in; it keeps its identifier and its entries, and goes on from there.

    Args:
        log: The log.
        data: The file.
        actor: Who takes it in.

    Raises:
        CaseLogError: Not such a file, damaged or altered, or the case is here already.
    """
    package = read_package(data)
    case, kept = package.case, package.kept
    digest = hashlib.sha256(data).hexdigest()
    with log.writing():
        if any(True for _ in log.entries(case=case)):
            raise CaseLogError("caselog.twice", code="case-log-imported")
        with _strange():
            for row in kept:
                if row.field == "record" or row.field.startswith(RECORD_OF):
                    _check_record(row)
        known = {(one.log, one.seq): one.hash for one in log.entries()}
        new = []
        for one in package.people + package.erasures + package.entries:
            if (one.log, one.seq) not in known:
                new.append(one)
            elif known[one.log, one.seq] != one.hash:
                raise _altered(one)  # another entry stands there, and it was here first
        if any(one.log == log.id for one in new):
            raise CaseLogError("caselog.own", code="case-log-own")
        with _taken_in():
            for entry in new:
                insert(log.db, entry)
            places = {(one.log, one.seq) for one in new}
            for row in kept:
                if (row.entry.log, row.entry.seq) in places:
                    keep(log.db, row.entry, row.field, row.salt, row.value)
            read_case(log, case)
        end = package.entries[-1]
        log.append(
            "case-imported",
            actor.id,
            role="custodian",
            case=case,
            facts={
                "file": digest,
                "log": end.log,
                "seq": end.seq,
                "hash": end.hash,
                "entries": len(new),
                "absent": rows_of(package.missing),
            },
        )
        return read_case(log, case)


def read_package(data: bytes) -> Package:
    """Take an exported case apart and check it, without a log.

    Raises:
        CaseLogError: Not such a file, cut off, damaged or altered.
    """
    with _strange(), zipfile.ZipFile(io.BytesIO(_bounded(data))) as archive:
        index = _index(archive)
        people = [_entry(row) for row in index["people"]]
        erased = [_entry(row) for row in index.get("erasures", ())]
        entries = [_entry(row) for row in index["entries"]]
        _check_entries(index["case"], people, erased, entries)
        _check_end(index["head"], entries)
        around = [*people, *erased, *entries]
        kept = _kept(archive, index, around)
        _check_kept(around, kept)
        _check_shapes(around, kept)
        gone = _check_whole(people, around, kept)
    return Package(
        case=index["case"],
        people=people,
        erasures=erased,
        entries=entries,
        kept=kept,
        missing=gone,
    )


@contextmanager
def _strange() -> Iterator[None]:
    """Turn all that zip, JSON and numbers of a stranger raise into one error of the file.

    Raises:
        CaseLogError: That, or the refusal that was raised.
    """
    try:
        yield
    except (
        ArithmeticError,
        AttributeError,
        EOFError,
        LookupError,
        NotImplementedError,  # an unknown compression
        OSError,
        RecursionError,
        RuntimeError,
        TypeError,
        ValueError,
        zipfile.BadZipFile,
        zlib.error,
        sqlite3.IntegrityError,
    ) as error:
        raise _not_a_case(type(error).__name__) from None


@contextmanager
def _taken_in() -> Iterator[None]:
    """Say of the file, and not of the log, that what it brings cannot be read back.

    Raises:
        CaseLogError: That, in words.
    """
    try:
        with _strange():
            yield
    except CaseLogError as error:
        raise error if error.key.startswith("caselog.not") else _not_a_case(error.key) from None


def _row(entry: LogEntry) -> dict[str, str]:
    return {"hash": entry.hash, "body": entry.line()}


def _rows(log: CaseLog, entry: LogEntry) -> list[_Kept]:
    with log.reading() as db:
        rows = db.execute(
            "SELECT field, salt, value FROM kept WHERE log = ? AND seq = ? ORDER BY field",
            (entry.log, entry.seq),
        ).fetchall()
    found = [
        _Kept(entry=entry, field=field, salt=bytes(salt), value=bytes(value))
        for field, salt, value in rows
    ]
    _check_kept([entry], found)
    return found


def _zipped(index: Mapping[str, Any], parts: list[bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        words = json.dumps(index, sort_keys=True, indent=1).encode()
        for name, data in ((INDEX, words), *((f"kept/{i}", p) for i, p in enumerate(parts))):
            # One date for all, so that the same case makes the same bytes.
            archive.writestr(zipfile.ZipInfo(name, _DATE), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _bounded(data: bytes) -> bytes:
    if len(data) > MAX_FILE:
        raise _not_a_case(phrase("case.large"))
    return data


def _index(archive: zipfile.ZipFile) -> dict[str, Any]:
    """Read the table of contents, with bounds: the file may come from a stranger."""
    sizes = {info.filename: info.file_size for info in archive.infolist()}
    if sum(sizes.values()) > MAX_KEPT or sizes.get(INDEX, 0) > MAX_INDEX:
        raise _not_a_case(phrase("case.large"))
    index = read_json(_part(archive, INDEX, MAX_INDEX))
    _check_form(index)
    found: dict[str, Any] = index
    return found


def _kept(archive: zipfile.ZipFile, index: dict[str, Any], entries: list[LogEntry]) -> list[_Kept]:
    places = {(entry.log, entry.seq): entry for entry in entries}
    kept = [
        _Kept(
            entry=places[(row["log"], row["seq"])],
            field=str(row["field"]),
            salt=base64.b64decode(row["salt"], validate=True),
            value=_part(archive, f"kept/{int(row['part'])}", MAX_KEPT),
        )
        for row in index["kept"]
    ]
    if any(len(row.salt) != SALT_BYTES for row in kept):
        raise _not_a_case(phrase("case.form"))
    return kept


def _part(archive: zipfile.ZipFile, name: str, limit: int) -> bytes:
    try:
        file = archive.open(name)
    except KeyError:
        raise _not_a_case(phrase("case.form")) from None
    with file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise _not_a_case(phrase("case.large"))
    return data


def _check_form(index: object) -> None:
    if not isinstance(index, dict) or index.get("form") not in FORMS:
        raise _not_a_case(phrase("case.form"))
    lists = [index.get(name) for name in ("people", "entries", "kept")]
    lists.append(index.get("erasures", []))  # files of version 0.2 and before have none
    if not all(isinstance(one, list) and len(one) <= MAX_ENTRIES for one in lists):
        raise _not_a_case(phrase("case.form"))
    head = index.get("head")
    if not isinstance(index.get("case"), str) or not isinstance(head, dict):
        raise _not_a_case(phrase("case.form"))
    if not all(name in head for name in ("log", "seq", "hash")) or type(head["seq"]) is not int:
        raise _not_a_case(phrase("case.form"))


def _entry(row: Any) -> LogEntry:
    entry = parse(str(row["hash"]), str(row["body"]))
    if not 1 <= entry.seq < 1 << 63:
        raise ValueError("number")
    return entry


def _check_entries(
    case: str, people: list[LogEntry], erased: list[LogEntry], entries: list[LogEntry]
) -> None:
    """Walk over the case's own chain, and over those whom it names."""
    previous, seen = START, set()
    for entry in (*people, *erased, *entries):
        if entry_hash(entry.body) != entry.hash or (entry.log, entry.seq) in seen:
            raise _altered(entry)
        seen.add((entry.log, entry.seq))
    if not entries or entries[0].action != "case-opened":
        raise _not_a_case(phrase("case.form"))
    for entry in entries:
        if entry.case != case:
            raise _altered(entry)
        if entry.body["case_prev"] != previous:
            raise CaseLogError("case.gap", seq=entry.seq, code="case-file-altered")
        previous = entry.hash
    named = any(one.action != "person-added" or one.case for one in people)
    if named or any(one.action != "kept-erased" or one.case for one in erased):
        raise _not_a_case(phrase("case.form"))
    known = {one.actor for one in people}
    for entry in (*erased, *entries):
        if entry.actor and entry.actor not in known:
            raise CaseLogError("case.nobody", seq=entry.seq, code="case-file-altered")


def _check_end(head: Mapping[str, Any], entries: list[LogEntry]) -> None:
    """Require the entry of the export itself, and that the head which the file states is that."""
    end = entries[-1]
    stated = (head["log"], head["seq"], head["hash"])
    if end.action != "case-exported" or stated != (end.log, end.seq, end.hash):
        raise CaseLogError("case.cut", seq=end.seq, code="case-file-altered")


def _check_kept(entries: list[LogEntry], kept: list[_Kept]) -> None:
    places = {(entry.log, entry.seq) for entry in entries}
    for row in kept:
        fits = commitment(row.salt, row.value) == row.entry.kept.get(row.field)
        if not fits or (row.entry.log, row.entry.seq) not in places:
            raise _altered(row.entry, row.field)


def _check_whole(
    people: list[LogEntry], around: list[LogEntry], kept: list[_Kept]
) -> tuple[Place, ...]:
    """Require what entries commit to, or an entry that it was erased, or was missing already.

    Returns:
        What was missing when the case was exported; the export says so.
    """
    there = {(row.entry.log, row.entry.seq, row.field) for row in kept}
    gone = missing(around, there, erasures(around))
    told = told_missing(around)
    if "missing" not in around[-1].facts:
        # Versions up to 0.2 did not hand on by which entry a name was erased.
        told |= {(one.log, one.seq, "name") for one in people}
    for place in gone:
        if place not in told:
            raise CaseLogError(
                "case.taken-out", seq=place[1], field=place[2], code="case-file-altered"
            )
    return gone


def _check_record(row: _Kept) -> None:
    """Require that a record is that of its entry, and agrees with itself.

    One of a newer version is not looked into here; opening it says what it is.
    """
    text = unpack_record(row.value, MAX_RECORD)
    try:
        audit = json_io.from_json(text)
    except RecordError:
        return
    item = row.entry.item if row.field == "record" else row.field.removeprefix(RECORD_OF)
    if audit.id != item or (row.field == "record" and audit.verdict != row.entry.result):
        raise CaseLogError("case.record-other", seq=row.entry.seq, code="case-file-altered")
    try:
        check_agreement(audit)
    except RecordError as error:
        raise CaseLogError(
            "case.record-differs", seq=row.entry.seq, why=error.phrase, code="case-file-altered"
        ) from None


def _check_shapes(entries: list[LogEntry], kept: list[_Kept]) -> None:
    try:
        for entry in entries:
            check_entry(entry)
        for row in kept:
            check_kept(row.field, row.value)
    except (ValueError, RecursionError, RecordError):
        raise _not_a_case(phrase("case.form")) from None


def _altered(entry: LogEntry, field: str = "") -> CaseLogError:
    what = field or entry.action
    return CaseLogError("case.altered", seq=entry.seq, field=what, code="case-file-altered")


def _not_a_case(why: str | Phrase) -> CaseLogError:
    return CaseLogError("caselog.not-a-case", why=why, code="case-log-file")
