"""Export of a case as one file, and import of such files.

The file is a zip archive. ``case.json`` contains the entries of the case, the entries that name its
people or erased such names, and the head of the source log. ``kept/N`` are the kept fields. The
entries of a case form a chain by themselves, so that the recipient can check them without the
other cases of the log. An imported file is checked completely before anything is written: every
field that an entry commits to must be there, or be recorded as erased or as missing at the export.
Otherwise something was removed, and the import is refused.
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
    KeptField,
    erasures,
    missing,
    people_in,
    people_of,
    read_case,
    reported_missing,
    rows_of,
    stored_fields,
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

# Up to 0.3.0 entries contained no finding. That version would import the file but fail to list it.
FORMS: Final = ("pura-case/1", "pura-case/2")
FORM: Final = FORMS[-1]
SUFFIX: Final = ".puracase"
INDEX: Final = "case.json"
MAX_FILE: Final = 1 << 30
MAX_INDEX: Final = 64 << 20
MAX_ENTRIES: Final = 200_000
MAX_KEPT: Final = 512 << 20
MAX_RECORD: Final = 256 << 20
_DATE: Final = (1980, 1, 1, 0, 0, 0)  # the earliest date of a zip archive, the same for all parts


@dataclass(frozen=True, kw_only=True)
class _KeptRow:
    entry: LogEntry
    field: str
    salt: bytes
    value: bytes


@dataclass(frozen=True, kw_only=True)
class CheckedCase:
    """The content of a completely checked case file.

    Attributes:
        case: Identifier of the case.
        people: The entries that name the people who acted.
        erasures: The entries that erased one of these names.
        entries: The entries of the case; the last one records the export.
        kept: The fields that are kept beside these entries.
        missing: Fields that the export reported as missing.
    """

    case: str
    people: list[LogEntry]
    erasures: list[LogEntry]
    entries: list[LogEntry]
    kept: list[_KeptRow]
    missing: tuple[KeptField, ...]


def export_case(log: CaseLog, case: str, actor: Person, *, purpose: str = "") -> bytes:
    """Return a case as one file, and record the export in the log.

    Args:
        log: The log.
        case: Identifier of the case.
        actor: Person who exports it.
        purpose: Purpose of the export.

    Raises:
        CaseLogError: The case is unknown, or something in it was altered.
    """
    erasable = {"purpose": purpose.strip()} if purpose.strip() else {}
    with log.writing():
        exported = read_case(log, case)
        before = list(log.entries(case=case))
        people, erased = people_of(log, {actor.id}.union(*map(people_in, before)))
        related = [*people, *erased, *before]
        stored = stored_fields(log, related)
        missing_fields = missing(related, stored, erasures(related))
        log.append(
            "case-exported",
            actor.id,
            case=case,
            role="custodian",
            kept=erasable,
            facts={"audits": len(exported.items), "missing": rows_of(missing_fields)},
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


def import_case(log: CaseLog, case_file: bytes, actor: Person) -> Case:
    """Import a case with its identifier and its entries; work on it can continue in this log.

    Args:
        log: The log.
        case_file: The bytes of the file.
        actor: Person who imports it.

    Raises:
        CaseLogError: The file is no case file, is damaged or altered, or the log has the case.
    """
    package = read_package(case_file)
    case, kept_rows = package.case, package.kept
    digest = hashlib.sha256(case_file).hexdigest()
    with log.writing():
        if any(True for _ in log.entries(case=case)):
            raise CaseLogError("caselog.twice", code="case-log-imported")
        with _untrusted_input():
            for row in kept_rows:
                if row.field == "record" or row.field.startswith(RECORD_OF):
                    _check_record(row)
        known_hashes = {(entry.log, entry.seq): entry.hash for entry in log.entries()}
        new = []
        for candidate in package.people + package.erasures + package.entries:
            if (candidate.log, candidate.seq) not in known_hashes:
                new.append(candidate)
            elif known_hashes[candidate.log, candidate.seq] != candidate.hash:
                raise _altered(candidate)  # this log already has another entry of this number
        if any(entry.log == log.id for entry in new):
            raise CaseLogError("caselog.own", code="case-log-own")
        with _errors_of_file():
            for entry in new:
                insert(log.db, entry)
            new_numbers = {(entry.log, entry.seq) for entry in new}
            for row in kept_rows:
                if (row.entry.log, row.entry.seq) in new_numbers:
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


def read_package(case_file: bytes) -> CheckedCase:
    """Read and check an exported case, without a log.

    Raises:
        CaseLogError: The file is no case file, is incomplete, damaged or altered.
    """
    with _untrusted_input(), zipfile.ZipFile(io.BytesIO(_bounded(case_file))) as archive:
        index = _index(archive)
        people = [_entry(row) for row in index["people"]]
        erased = [_entry(row) for row in index.get("erasures", ())]
        entries = [_entry(row) for row in index["entries"]]
        _check_entries(index["case"], people, erased, entries)
        _check_end(index["head"], entries)
        related = [*people, *erased, *entries]
        kept_rows = _kept(archive, index, related)
        _check_kept(related, kept_rows)
        _check_shapes(related, kept_rows)
        missing_fields = _check_whole(people, related, kept_rows)
    return CheckedCase(
        case=index["case"],
        people=people,
        erasures=erased,
        entries=entries,
        kept=kept_rows,
        missing=missing_fields,
    )


@contextmanager
def _untrusted_input() -> Iterator[None]:
    """Convert exceptions of an untrusted file to the error that it is not a case file.

    Raises:
        CaseLogError: The file is not a case file, or the error that was raised inside.
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
def _errors_of_file() -> Iterator[None]:
    """Attribute errors on reading back an imported case to the file, not to the log.

    Raises:
        CaseLogError: The file is not a case file.
    """
    try:
        with _untrusted_input():
            yield
    except CaseLogError as error:
        raise error if error.key.startswith("caselog.not") else _not_a_case(error.key) from None


def _row(entry: LogEntry) -> dict[str, str]:
    return {"hash": entry.hash, "body": entry.line()}


def _rows(log: CaseLog, entry: LogEntry) -> list[_KeptRow]:
    with log.reading() as db:
        rows = db.execute(
            "SELECT field, salt, value FROM kept WHERE log = ? AND seq = ? ORDER BY field",
            (entry.log, entry.seq),
        ).fetchall()
    kept_rows = [
        _KeptRow(entry=entry, field=field, salt=bytes(salt), value=bytes(value))
        for field, salt, value in rows
    ]
    _check_kept([entry], kept_rows)
    return kept_rows


def _zipped(index: Mapping[str, Any], parts: list[bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        index_bytes = json.dumps(index, sort_keys=True, indent=1).encode()
        for name, part_bytes in (
            (INDEX, index_bytes),
            *((f"kept/{i}", p) for i, p in enumerate(parts)),
        ):
            # One date for all, so that the same case makes the same bytes.
            archive.writestr(zipfile.ZipInfo(name, _DATE), part_bytes, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _bounded(case_file: bytes) -> bytes:
    if len(case_file) > MAX_FILE:
        raise _not_a_case(phrase("case.large"))
    return case_file


def _index(archive: zipfile.ZipFile) -> dict[str, Any]:
    """Read the table of contents within limits, since the file is not trusted."""
    sizes = {info.filename: info.file_size for info in archive.infolist()}
    if sum(sizes.values()) > MAX_KEPT or sizes.get(INDEX, 0) > MAX_INDEX:
        raise _not_a_case(phrase("case.large"))
    index = read_json(_part(archive, INDEX, MAX_INDEX))
    _check_form(index)
    checked_index: dict[str, Any] = index
    return checked_index


def _kept(
    archive: zipfile.ZipFile, index: dict[str, Any], entries: list[LogEntry]
) -> list[_KeptRow]:
    entries_by_number = {(entry.log, entry.seq): entry for entry in entries}
    kept_rows = [
        _KeptRow(
            entry=entries_by_number[(row["log"], row["seq"])],
            field=str(row["field"]),
            salt=base64.b64decode(row["salt"], validate=True),
            value=_part(archive, f"kept/{int(row['part'])}", MAX_KEPT),
        )
        for row in index["kept"]
    ]
    if any(len(row.salt) != SALT_BYTES for row in kept_rows):
        raise _not_a_case(phrase("case.form"))
    return kept_rows


def _part(archive: zipfile.ZipFile, name: str, limit: int) -> bytes:
    try:
        file = archive.open(name)
    except KeyError:
        raise _not_a_case(phrase("case.form")) from None
    with file:
        part_bytes = file.read(limit + 1)
    if len(part_bytes) > limit:
        raise _not_a_case(phrase("case.large"))
    return part_bytes


def _check_form(index: object) -> None:
    if not isinstance(index, dict) or index.get("form") not in FORMS:
        raise _not_a_case(phrase("case.form"))
    lists = [index.get(name) for name in ("people", "entries", "kept")]
    lists.append(index.get("erasures", []))  # files of version 0.2 and before have none
    if not all(isinstance(rows, list) and len(rows) <= MAX_ENTRIES for rows in lists):
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
    """Check the chain of the case, and the entries that name its people."""
    previous, numbers = START, set()
    for entry in (*people, *erased, *entries):
        if entry_hash(entry.body) != entry.hash or (entry.log, entry.seq) in numbers:
            raise _altered(entry)
        numbers.add((entry.log, entry.seq))
    if not entries or entries[0].action != "case-opened":
        raise _not_a_case(phrase("case.form"))
    for entry in entries:
        if entry.case != case:
            raise _altered(entry)
        if entry.body["case_prev"] != previous:
            raise CaseLogError("case.gap", seq=entry.seq, code="case-file-altered")
        previous = entry.hash
    is_misplaced = any(entry.action != "person-added" or entry.case for entry in people)
    if is_misplaced or any(entry.action != "kept-erased" or entry.case for entry in erased):
        raise _not_a_case(phrase("case.form"))
    known_people = {entry.actor for entry in people}
    for entry in (*erased, *entries):
        if entry.actor and entry.actor not in known_people:
            raise CaseLogError("case.nobody", seq=entry.seq, code="case-file-altered")


def _check_end(head: Mapping[str, Any], entries: list[LogEntry]) -> None:
    """Require that the last entry records the export and is the head that the file states."""
    end = entries[-1]
    stated = (head["log"], head["seq"], head["hash"])
    if end.action != "case-exported" or stated != (end.log, end.seq, end.hash):
        raise CaseLogError("case.cut", seq=end.seq, code="case-file-altered")


def _check_kept(entries: list[LogEntry], kept_rows: list[_KeptRow]) -> None:
    numbers = {(entry.log, entry.seq) for entry in entries}
    for row in kept_rows:
        fits = commitment(row.salt, row.value) == row.entry.kept.get(row.field)
        if not fits or (row.entry.log, row.entry.seq) not in numbers:
            raise _altered(row.entry, row.field)


def _check_whole(
    people: list[LogEntry], related: list[LogEntry], kept_rows: list[_KeptRow]
) -> tuple[KeptField, ...]:
    """Require that every missing field is recorded as erased or as missing at the export.

    Returns:
        The fields that the export reported as missing.
    """
    stored = {(row.entry.log, row.entry.seq, row.field) for row in kept_rows}
    missing_fields = missing(related, stored, erasures(related))
    reported = reported_missing(related)
    if "missing" not in related[-1].facts:
        # Versions up to 0.2 did not export the entries that erased names.
        reported |= {(entry.log, entry.seq, "name") for entry in people}
    for kept_field in missing_fields:
        if kept_field not in reported:
            raise CaseLogError(
                "case.taken-out", seq=kept_field[1], field=kept_field[2], code="case-file-altered"
            )
    return missing_fields


def _check_record(row: _KeptRow) -> None:
    """Require that a record belongs to its entry and is consistent.

    A record of a newer version is not checked here; loading it reports the version.
    """
    text = unpack_record(row.value, MAX_RECORD)
    try:
        audit = json_io.from_json(text)
    except RecordError:
        return
    audit_id = row.entry.item if row.field == "record" else row.field.removeprefix(RECORD_OF)
    if audit.id != audit_id or (row.field == "record" and audit.verdict != row.entry.result):
        raise CaseLogError("case.record-other", seq=row.entry.seq, code="case-file-altered")
    try:
        check_agreement(audit)
    except RecordError as error:
        raise CaseLogError(
            "case.record-differs", seq=row.entry.seq, why=error.phrase, code="case-file-altered"
        ) from None


def _check_shapes(entries: list[LogEntry], kept_rows: list[_KeptRow]) -> None:
    try:
        for entry in entries:
            check_entry(entry)
        for row in kept_rows:
            check_kept(row.field, row.value)
    except (ValueError, RecursionError, RecordError):
        raise _not_a_case(phrase("case.form")) from None


def _altered(entry: LogEntry, field: str = "") -> CaseLogError:
    subject = field or entry.action
    return CaseLogError("case.altered", seq=entry.seq, field=subject, code="case-file-altered")


def _not_a_case(reason: str | Phrase) -> CaseLogError:
    return CaseLogError("caselog.not-a-case", why=reason, code="case-log-file")
