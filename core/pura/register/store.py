"""The register of issued payloads: opened, asked, added to; as a table, out and in again."""

from __future__ import annotations

import csv
import datetime as dt
import io
import math
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Final, TextIO

import numpy as np

from pura.base.catalogue import phrase
from pura.base.database import Handle, Kind, transaction
from pura.base.errors import PayloadError, ProfileError, RegisterError, os_error_as
from pura.base.files import make_private, open_regular
from pura.base.progress import Checkpoint, never_cancelled, not_counted
from pura.keys.epochs import today
from pura.record.naming import RegisterFacts, RegisterMatch
from pura.register.rows import (
    DIGEST_BYTES,
    Issue,
    Problems,
    RegisterEntry,
    blob_of,
    digest_of,
    entry_of,
    row_of,
)
from pura.scheme import F64, I64, U8, Payload, Profile, pack, parse_payload
from pura.scheme.fields import Field

# One step a version: from version i to i + 1. Steps are never edited, only added.
MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (
    (
        "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        """CREATE TABLE entries (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            bits INTEGER NOT NULL,
            payload BLOB NOT NULL,
            who TEXT NOT NULL,
            issued TEXT NOT NULL,
            model TEXT NOT NULL
        )""",
        "CREATE UNIQUE INDEX by_payload ON entries (payload, bits)",
        "INSERT INTO meta VALUES ('digest', '0')",
        "INSERT INTO meta VALUES ('changed', '')",
    ),
    ("ALTER TABLE entries ADD COLUMN manifest TEXT NOT NULL DEFAULT ''",),
)
REGISTER: Final = Kind(
    noun="database.register",
    whole="database.register-whole",
    error=RegisterError,
    application_id=0x50555241,  # "PURA"
    migrations=MIGRATIONS,
    other_hint="database.register-other",
    damaged_hint="database.register-damaged",
)
connect = REGISTER.connect
guard = REGISTER.guard
migrate = REGISTER.migrate


CHUNK: Final = 65_536
_COLUMNS: Final = "bits, payload, who, issued, model, manifest"
_WORTH_NAMING: Final = 1e-6  # entries with less weight are not listed


_CONTESTED: Final = (
    "(payload, bits) IN (SELECT payload, bits FROM incoming GROUP BY 1, 2 HAVING count(*) > 1)"
    " OR (payload, bits) IN (SELECT payload, bits FROM entries)"
)
"""Rows of a payload that has an entry, or several rows: nobody knows whose it is."""


class Register(Handle):
    """An open register; close it, or use it in a ``with`` statement. One thread at a time.

    Args:
        path: The file.
        create: Make it when it is not there.
        read_only: Never write, not even to bring the file up to date.
        timeout: Seconds to wait for another program to let go of it.
        clock: Where the time comes from.

    Raises:
        RegisterError: The file is missing, locked, damaged, not a register, or too new.
    """

    def __init__(
        self,
        path: Path,
        *,
        create: bool = False,
        read_only: bool = False,
        timeout: float = 5.0,
        clock: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC),
    ) -> None:
        if create:
            with os_error_as(RegisterError, "file.write", name=path.parent.name):
                make_private(path.parent)
        self._clock = clock
        self._db = connect(path, create=create, read_only=read_only, timeout=timeout)
        with guard():
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
        # One of the first version, which is only read, has no manifests.
        self._columns = _COLUMNS if version > 1 else _COLUMNS.replace("manifest", "''")

    def __len__(self) -> int:
        with guard():
            return int(self._db.execute("SELECT count(*) FROM entries").fetchone()[0])

    def manifests(self) -> int:
        """Return how many entries name a manifest."""
        with guard():
            found = self._db.execute("SELECT count(*) FROM entries WHERE manifest != ''")
            return int(found.fetchone()[0])

    def count(self, payload_bits: int) -> int:
        """Return how many payloads of this length were issued."""
        with guard():
            row = self._db.execute("SELECT count(*) FROM entries WHERE bits = ?", (payload_bits,))
            return int(row.fetchone()[0])

    def version(self) -> str:
        """Return which state this is: a digest over all rows, and how many there are."""
        return f"{self.digest()[:16]}-{len(self)}"

    def digest(self) -> str:
        """Return the whole digest over all rows, hex."""
        return f"{self._digest():0{2 * DIGEST_BYTES}x}"

    def changed(self) -> str:
        """Return when it was last changed, UTC, ISO 8601; empty when it never was."""
        return self._meta("changed")

    @contextmanager
    def held(self) -> Iterator[None]:
        """Read one state of the register, whatever other programs write meanwhile."""
        with guard(), transaction(self._db, "DEFERRED"):
            yield

    def add(self, issue: Issue) -> RegisterEntry:
        """Add one issued payload.

        Raises:
            RegisterError: The payload was issued before.
        """
        if self.find(issue.payload) is not None:
            raise RegisterError("register.twice")
        self.add_many([(1, issue)])
        entry = self.find(issue.payload)
        assert entry is not None  # for the type checker: it was just added
        return entry

    def add_many(self, rows: Iterable[tuple[int, Issue]], problems: Problems | None = None) -> int:
        """Add many issued payloads, all or none, or those that nothing is wrong with.

        Args:
            rows: Row numbers of the caller's table, for messages, and what was issued.
            problems: What the caller found wrong while the rows were read; asked at the end. It
                says whether the others are added all the same.

        Returns:
            How many were added.

        Raises:
            RegisterError: A payload is there twice, or was issued before; the rows are named.
        """
        problems = problems or Problems()
        with guard(), transaction(self._db):
            self._db.execute(
                "CREATE TEMP TABLE incoming (row INTEGER, bits INTEGER, payload BLOB,"
                " who TEXT, issued TEXT, model TEXT, manifest TEXT)"
            )
            digest = self._stage(rows)
            unread = problems.total
            self._find_duplicates(problems)
            count, bad = "SELECT count(*) FROM incoming", f"FROM incoming WHERE {_CONTESTED}"
            staged, contested = (
                self._db.execute(query).fetchone()[0] for query in (count, f"SELECT count(*) {bad}")
            )
            problems.raise_if_any(staged - contested)
            problems.left_out = unread + contested
            if contested:
                digest -= sum(digest_of(row[1:]) for row in self._db.execute(f"SELECT * {bad}"))
                self._db.execute(f"DELETE {bad}")
            added = self._db.execute(
                f"INSERT INTO entries ({_COLUMNS}) SELECT {_COLUMNS} FROM incoming ORDER BY row"  # noqa: S608
            ).rowcount
            self._db.execute("DROP TABLE incoming")
            if added:
                self._touch(digest)
        return added

    def remove(self, number: int) -> None:
        """Take one entry out, for instance because it was a mistake.

        Raises:
            RegisterError: There is no such entry.
        """
        entry = self.entry(number)
        if entry is None:
            raise RegisterError("register.no-entry", number=number)
        with guard(), transaction(self._db):
            gone = self._db.execute("DELETE FROM entries WHERE number = ?", (number,)).rowcount
            if gone:  # else another program was quicker
                self._touch(-digest_of(row_of(entry.issue)))

    def name_manifest(self, payload: Payload, manifest: str) -> None:
        """Note the manifest that names a payload, instead of one that did.

        Raises:
            RegisterError: The payload was never issued.
        """
        entry = self.find(payload)
        if entry is None:
            raise RegisterError("register.never", code="register-never")
        named = replace(entry.issue, manifest=manifest)
        change = digest_of(row_of(named)) - digest_of(row_of(entry.issue))
        with guard(), transaction(self._db):
            values = (manifest, entry.number)
            self._db.execute("UPDATE entries SET manifest = ? WHERE number = ?", values)
            self._touch(change)

    def find(self, payload: Payload) -> RegisterEntry | None:
        """Return the entry of a payload, or None."""
        return self._one("payload = ? AND bits = ?", (blob_of(payload), len(payload)))

    def entry(self, number: int) -> RegisterEntry | None:
        """Return an entry by its number, or None."""
        return self._one("number = ?", (number,))

    def entries(self) -> Iterator[RegisterEntry]:
        """Walk over all entries in the order of their numbers."""
        with guard():
            rows = self._db.execute(
                f"SELECT number, {self._columns} FROM entries ORDER BY number"  # noqa: S608
            )
            for row in rows:
                yield entry_of(row)

    def select(
        self,
        profile: Profile | None,
        *,
        words: str = "",
        column: str = "",
        order: str = "number",
        falling: bool = False,
        most: int = 1_000_000,
    ) -> list[tuple[Any, ...]]:
        """Return the rows in which something stands, in an order; :func:`entry_of` reads one.

        Args:
            profile: Whose fields are looked into and sorted by; None knows none.
            words: What is looked for: part of what stands in a column, in any case; of a field its
                value, or a range ``FROM..TO`` (either end may be missing), which is also taken for
                ``when``. A payload is named by its beginning in hex. Empty finds every row.
            column: ``who``, ``when``, ``model``, ``manifest``, ``payload`` or a field's name; empty
                looks into all of them.
            order: ``number`` or one of the columns.
            falling: The largest first.
            most: Of the rows.

        Raises:
            RegisterError: The words are no value of the field, or the register cannot be read.
        """
        fields, tests, values = _places(profile), [], []
        for name in (column,) if column else (*_SEARCHED, *fields):
            try:
                test, given = _test(name, words, fields.get(name))
            except ProfileError:
                if column:
                    raise RegisterError("register.no-value", words=words, name=name) from None
                continue  # most words are a value of some fields only
            tests.append(test)
            values += given
        by = _expression(order, fields.get(order))
        with guard():
            self._db.create_function("part", 4, _part, deterministic=True)
            self._db.create_function("shown", 2, _shown, deterministic=True)
            return self._db.execute(
                f"SELECT number, {self._columns} FROM entries"  # noqa: S608  (constants and numbers)
                f" WHERE {' OR '.join(tests) if words else '1'}"
                f" ORDER BY {by} {'DESC' if falling else 'ASC'}, number LIMIT {most}",
                values if words else (),
            ).fetchall()

    def chunks(self, payload_bits: int, size: int = CHUNK) -> Iterator[tuple[I64, U8]]:
        """Walk over all payloads of one length.

        Yields:
            Entry numbers int64 [M] and payloads uint8 [M, L_m], at most ``size`` rows at a time.
        """
        width = (payload_bits + 7) // 8
        with guard():
            rows = self._db.execute(
                "SELECT number, payload FROM entries WHERE bits = ? ORDER BY number",
                (payload_bits,),
            )
            while part := rows.fetchmany(size):
                numbers = np.array([number for number, _ in part], dtype=np.int64)
                packed = np.frombuffer(b"".join(blob for _, blob in part), dtype=np.uint8)
                if packed.size != width * len(part):
                    raise sqlite3.DatabaseError("a payload has a wrong width")
                yield numbers, np.unpackbits(packed.reshape(-1, width), axis=1, count=payload_bits)

    def posterior(
        self,
        payload_bits: int,
        score_many: Callable[[U8], F64],
        log_mean: float,
        prior_none: float,
        *,
        top: int = 5,
        decoded: Payload | None = None,
        checkpoint: Checkpoint = never_cancelled,
    ) -> RegisterFacts:
        """Weigh all entries against each other and against "none of these".

        The entries share ``1 - prior_none`` equally; "not in the register" has the mean
        likelihood over all payloads (evidence.md §4).

        Args:
            payload_bits: ``L_m``.
            score_many: Takes payloads uint8 [M, L_m], returns log likelihood ratios float64 [M],
                in nats.
            log_mean: The same, as mean over all ``2**L_m`` payloads.
            prior_none: Prior weight of "not in the register", in (0, 1).
            top: List at most so many entries.
            decoded: List this payload's entry too, if there is one, whatever its weight.
            checkpoint: Called for every chunk; may raise :class:`~pura.base.errors.Cancelled`.

        Raises:
            ValueError: A score is NaN or infinite, or the prior is not a share.
            RegisterError: The register cannot be read.
        """
        if not 0 < prior_none < 1 or not math.isfinite(log_mean):
            raise ValueError("the prior or the mean is not a number that can be used")
        with self.held():
            size = self.count(payload_bits)
            log_none = math.log(prior_none) + log_mean
            log_prior = math.log1p(-prior_none) - math.log(size) if size else -math.inf
            total = log_none
            best, best_logs = np.empty(0, dtype=np.int64), np.empty(0)
            for numbers, bits in self.chunks(payload_bits):
                checkpoint()
                logs = _finite(score_many(bits), len(bits)) + log_prior
                total = float(np.logaddexp(total, np.logaddexp.reduce(logs)))
                best = np.concatenate([best, numbers])
                best_logs = np.concatenate([best_logs, logs])
                # Stable: among equals the lower number comes first: a repeat gives the same list.
                keep = np.argsort(-best_logs, kind="stable")[:top]
                best, best_logs = best[keep], best_logs[keep]
            matches = [
                self._match(number, math.exp(log - total))
                for number, log in zip(best.tolist(), best_logs.tolist(), strict=True)
                if math.exp(log - total) >= _WORTH_NAMING
            ]
            entry = None if decoded is None else self.find(decoded)
            if entry is not None and all(m.entry != entry.number for m in matches):
                log = float(_finite(score_many(entry.issue.payload.bits[None, :]), 1)[0])
                matches.append(self._match(entry.number, math.exp(log + log_prior - total)))
            return RegisterFacts(
                version=self.version(),
                date=self.changed() or self._now(),
                entries=size,
                matches=tuple(matches),
                none_weight=math.exp(log_none - total),
                prior_none=prior_none,
                chance=_chance(size, payload_bits),
            )

    def entries_of(
        self, payloads: Sequence[tuple[Payload, float]], payload_bits: int, prior_none: float
    ) -> RegisterFacts:
        """Look up identified payloads, each that of a mark of its own.

        An entry's weight is that of its payload, reweighed for equal prior weight of all entries
        beside that of "not in the register"; whatever weight the payload leaves counts against it.

        Args:
            payloads: Each with its weight among all payloads.
            payload_bits: ``L_m``.
            prior_none: Prior weight of "not in the register", in (0, 1).

        Raises:
            RegisterError: The register cannot be read.
        """
        with self.held():
            size = self.count(payload_bits)
            against = math.ldexp(prior_none / (1 - prior_none) * size, -payload_bits)
            found = [(self.find(payload), weight) for payload, weight in payloads]
            return RegisterFacts(
                version=self.version(),
                date=self.changed() or self._now(),
                entries=size,
                matches=tuple(
                    self._match(entry.number, weight / (1 + against))
                    for entry, weight in found
                    if entry is not None
                ),
                none_weight=0.0,
                prior_none=prior_none,
                chance=_chance(size, payload_bits),
            )

    def check(self) -> None:
        """Read every row and compare with the digest.

        Raises:
            RegisterError: The file is damaged, or was changed by another program.
        """
        with self.held():
            found = self._db.execute("PRAGMA integrity_check(1)").fetchone()[0]
            if found != "ok":
                raise sqlite3.DatabaseError("integrity check")
            rows = self._db.execute(f"SELECT {self._columns} FROM entries")  # noqa: S608
            digest = sum(map(digest_of, rows)) % (1 << 8 * DIGEST_BYTES)
            stored = self._digest()
        if digest != stored:
            raise RegisterError("register.changed")

    def _meta(self, name: str) -> str:
        with guard():
            row = self._db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
            if row is None or not isinstance(row[0], str):
                raise sqlite3.DatabaseError("the register does not say what state it is in")
            return row[0]

    def _digest(self) -> int:
        with guard():
            try:
                return int(self._meta("digest"), 16)
            except ValueError:
                raise sqlite3.DatabaseError("the digest is not a number") from None

    def _now(self) -> str:
        return self._clock().astimezone(dt.UTC).isoformat(timespec="seconds")

    def _touch(self, digest: int) -> None:
        """Bring digest and date up to date, inside the transaction that changes the rows."""
        total = (self._digest() + digest) % (1 << 8 * DIGEST_BYTES)
        values = [("digest", f"{total:x}"), ("changed", self._now())]
        self._db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values)

    def _stage(self, rows: Iterable[tuple[int, Issue]]) -> int:
        """Write the rows to a temporary table on disk; return the sum of their digests."""
        digest = 0
        source = iter(rows)
        while part := [(number, *row_of(issue)) for number, issue in islice(source, CHUNK)]:
            digest += sum(digest_of(row[1:]) for row in part)
            self._db.executemany("INSERT INTO incoming VALUES (?, ?, ?, ?, ?, ?, ?)", part)
        return digest

    def _find_duplicates(self, problems: Problems) -> None:
        twice = self._db.execute(
            "SELECT row, first, who, other FROM (SELECT row, who AS other,"
            " first_value(row) OVER same AS first, first_value(who) OVER same AS who FROM incoming"
            " WINDOW same AS (PARTITION BY payload, bits ORDER BY row))"
            " WHERE row > first ORDER BY row"
        )
        for row, first, who, other in twice:
            problems.add(row, phrase("register.same", first=first, who=who, other=other))
        before = self._db.execute(
            "SELECT row, number, entries.who, incoming.who FROM incoming"
            " JOIN entries USING (payload, bits) ORDER BY row"
        )
        for row, number, who, other in before:
            problems.add(row, phrase("register.known", number=number, who=who, other=other))

    def _one(self, where: str, values: tuple[object, ...]) -> RegisterEntry | None:
        with guard():
            row = self._db.execute(
                f"SELECT number, {self._columns} FROM entries WHERE {where}",  # noqa: S608  (constants above)
                values,
            ).fetchone()
            return None if row is None else entry_of(row)

    def _match(self, number: int, weight: float) -> RegisterMatch:
        entry = self.entry(number)
        assert entry is not None  # read in the same transaction
        issue = entry.issue
        return RegisterMatch(
            entry=number,
            payload=issue.payload.text,
            who=issue.who,
            when=issue.when,
            model=issue.model,
            posterior=min(1.0, weight),
        )


_SEARCHED: Final = ("who", "when", "model", "manifest", "payload")
_FieldPlace = tuple[Field, int, int]
"""A field, the bits of its payload, and how many of them stand behind it."""


def _places(profile: Profile | None) -> dict[str, _FieldPlace]:
    found: dict[str, _FieldPlace] = {}
    if profile is None:
        return found
    behind = profile.payload_bits
    for field in profile.fields:
        behind -= field.bits
        found[field.name] = (field, profile.payload_bits, behind)
    return found


def _part(blob: bytes, bits: int, behind: int, width: int) -> bytes:
    """Return a field of a payload as SQLite compares it: as bytes of one length."""
    number = int.from_bytes(blob) >> 8 * len(blob) - bits
    return (number >> behind & (1 << width) - 1).to_bytes(8)


def _shown(blob: bytes, bits: int) -> str:
    return f"0x{int.from_bytes(blob) >> 8 * len(blob) - bits:0{(bits + 3) // 4}X}"


def _expression(name: str, place: _FieldPlace | None) -> str:
    """Return what a column is in SQL; of a payload of another length a field is NULL."""
    if place is not None:
        field, bits, behind = place
        return f"CASE bits WHEN {bits} THEN part(payload, bits, {behind}, {field.bits}) END"
    known = {"number": "number", "when": "issued", "payload": "shown(payload, bits)"}
    if name not in (*known, *_SEARCHED):
        raise ValueError(f"the register has no column {name!r}")
    return known.get(name, f"{name} COLLATE NOCASE")


def _test(name: str, words: str, place: _FieldPlace | None) -> tuple[str, list[object]]:
    """Return what a row must fulfil, and the values in it."""
    column = _expression(name, place)
    low, dots, high = (part.strip() for part in words.partition(".."))
    if place is not None:
        meant = replace(place[0], limits=(words,)).on(today())
        ranges: list[object] = [number.to_bytes(8) for pair in meant.ranges for number in pair]
        return " OR ".join([f"{column} BETWEEN ? AND ?"] * (len(ranges) // 2)), ranges
    if name == "when" and dots:  # a day belongs to the month that ends the range
        return "issued >= ? AND issued <= ?", [low, f"{high}\U0010ffff"]
    escaped = "".join(f"\\{c}" if c in "\\%_" else c for c in words)
    anywhere = "" if name == "payload" else "%"
    return f"{column} LIKE ? ESCAPE '\\'", [f"{anywhere}{escaped}%"]


def _finite(logs: F64, rows: int) -> F64:
    if logs.shape != (rows,) or np.isnan(logs).any() or np.isposinf(logs).any():
        raise ValueError("the scores are not one number for every payload")
    return logs


def _chance(size: int, payload_bits: int) -> float:
    """``N / 2**L_m``, the chance that a random payload is in the register; 0 only when empty."""
    return max(math.ldexp(size, -payload_bits), 5e-324) if size else 0.0


_DELIMITERS: Final = ",;\t"
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_ABOUT: Final = ("who", "when", "model", "manifest")
_MAX_LINE: Final = 1 << 16  # a row is a few words; a longer line is not a table


def import_csv(
    register: Register,
    path: Path,
    profile: Profile,
    *,
    problems: Problems | None = None,
    checkpoint: Checkpoint = never_cancelled,
    progress: Callable[[int, int], None] = not_counted,
) -> int:
    """Add all rows of a table to the register, or none.

    Args:
        register: An open register.
        path: The CSV file.
        profile: Says how many bits a payload has, and which fields.
        problems: Collects what is wrong; says whether the other rows are added all the same.
        checkpoint: Called every thousand rows; may raise :class:`~pura.base.errors.Cancelled`.
        progress: Told then how many bytes are read, of how many.

    Returns:
        How many entries were added.

    Raises:
        RegisterError: The file is not such a table, or rows are duplicates, out of range or
            damaged; they are named as a spreadsheet counts them.
    """
    problems = problems or Problems()
    with os_error_as(RegisterError, "file.read", name=path.name):
        with open_regular(path) as file:
            start = file.read(2)
        encoding = "utf-16" if start in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        total = path.stat().st_size
        data = open_regular(path)
        with io.TextIOWrapper(data, encoding=encoding, newline="") as table:

            def told() -> None:
                checkpoint()
                progress(data.tell(), total)

            try:
                return register.add_many(_read(table, profile, problems, told), problems)
            except (UnicodeError, csv.Error):
                raise RegisterError("register.no-table") from None


def export_csv(register: Register, path: Path) -> int:
    """Write the register as a table, readable by its owner only.

    Args:
        register: An open register.
        path: Where to; an old file is replaced in one step.

    Returns:
        How many rows were written.

    Raises:
        RegisterError: The file cannot be written.
    """
    with os_error_as(RegisterError, "file.write", name=path.name):
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".register.")
        try:
            # With the mark, so that spreadsheets read it as UTF-8.
            with os.fdopen(handle, "w", encoding="utf-8-sig", newline="") as file:
                written = _write(file, register)
            Path(name).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(name).unlink()
            raise
    return written


def _write(file: TextIO, register: Register) -> int:
    writer = csv.writer(file)
    named = any(entry.issue.manifest for entry in register.entries())
    about = _ABOUT if named else _ABOUT[:-1]
    writer.writerow(("payload", *about))
    written = 0
    for entry in register.entries():
        # Hexadecimal: a spreadsheet would turn 000101 into the number 101.
        cells = (entry.issue.payload.hex, *(getattr(entry.issue, name) for name in about))
        writer.writerow([_disarm(cell) for cell in cells])
        written += 1
    return written


def _disarm(cell: str) -> str:
    # A cell that begins with quotes and a formula would be armed by reading it back once.
    return f"'{cell}" if cell.lstrip("'").startswith(_FORMULA) else cell


def _rearm(cell: str) -> str:
    harmless = cell.startswith("'") and cell.lstrip("'").startswith(_FORMULA)
    return cell[1:] if harmless else cell


def _read(
    file: TextIO, profile: Profile, problems: Problems, checkpoint: Callable[[], None]
) -> Iterator[tuple[int, Issue]]:
    """Yield the good rows; note the bad ones."""
    lines = _lines(file)
    first = next(lines, "")
    skipped = 0
    if first.lower().startswith("sep="):  # a spreadsheet's own note about the delimiter
        first, skipped = next(lines, ""), 1
    delimiter = max(_DELIMITERS, key=first.count)
    header = [cell.strip() for cell in next(csv.reader([first], delimiter=delimiter), [])]
    columns = _columns(header, profile)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    for number, cells in enumerate(reader, start=2 + skipped):
        if number % 1000 == 0:
            checkpoint()
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(header):
            problems.add(number, phrase("register.cells", count=len(cells), wanted=len(header)))
            continue
        row = {name: _rearm(cells[at].strip()) for name, at in columns.items()}
        try:
            yield number, _issue(row, profile)
        except (PayloadError, RegisterError) as error:
            problems.add(number, error.phrase)


def _lines(file: TextIO) -> Iterator[str]:
    while line := file.readline(_MAX_LINE):
        if len(line) == _MAX_LINE or "\0" in line:
            raise RegisterError("register.no-table")
        yield line


def _columns(header: list[str], profile: Profile) -> dict[str, int]:
    """Return where each column stands, under the names that the code uses."""
    fields = [field.name for field in profile.fields]
    known = {name.casefold(): name for name in ("payload", *_ABOUT)}
    known |= {name.casefold(): name for name in fields}
    out: dict[str, int] = {}
    for at, cell in enumerate(header):
        name = cell if cell in fields else known.get(cell.casefold())
        if name is None or name in out:
            raise RegisterError("register.column", name=cell[:40])
        out[name] = at
    if "who" not in out:
        raise RegisterError("register.no-column", field="who")
    if "payload" in out:
        if surplus := [name for name in fields if name in out and name not in _ABOUT]:
            raise RegisterError("register.surplus", field=surplus[0])
    elif missing := [name for name in fields if name not in out]:
        raise RegisterError("register.no-column", field=missing[0])
    elif not fields:
        raise RegisterError("register.no-column", field="payload")
    return out


def _issue(row: dict[str, str], profile: Profile) -> Issue:
    if "payload" in row:
        payload = parse_payload(row["payload"], profile.payload_bits)
    else:
        payload = pack(profile.fields, {field.name: row[field.name] for field in profile.fields})
    about = {name: row.get(name, "") for name in _ABOUT}
    return Issue(payload=payload, **about)
