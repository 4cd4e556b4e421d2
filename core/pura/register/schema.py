"""Tables of the register's file, and the migration of earlier versions.

``chain`` is the append-only record (:mod:`pura.register.chain`). ``series`` numbers the key, epoch
and profile under which payloads were issued. ``entries`` is derived from the chain for look-ups: it
holds the payloads of each series, and whether they were revoked. ``pura register verify`` derives
it again from the chain and compares.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import re
import sqlite3
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from pura.base.database import Kind, Step
from pura.base.errors import RegisterError
from pura.register.chain import START, Act, new_salt, payload_text, row_hash
from pura.register.rows import Drawn, Recipient

CHUNK: Final = 65_536
"""Most rows that are held in memory at once."""
NOBODY: Final = ("", "", "")
"""Key, epoch and profile of a series whose payloads are of unknown key."""
APPEND: Final = (
    "INSERT INTO chain (sequence, act, written, entry, series, payload, who, issued, model,"
    " manifest, note, drawn, entries, salt, hash)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
ENTER: Final = "INSERT INTO entries (number, row, series, payload, manifest) VALUES (?, ?, ?, ?, ?)"
_FORMER: Final = "number, bits, payload, who, issued, model, manifest"
_FORMER_DIGEST_BYTES: Final = 16
_UPGRADED: Final = "version 2: {entries} entries, checksum {stored}, computed {computed}"
"""Note of the row before the entries of an earlier version."""
_SUMS: Final = re.compile(r"version 2: [0-9]+ entries, checksum (\w+), computed (\w+)")


def _take_over(db: sqlite3.Connection) -> None:
    """Copy the entries of version 2 into the chain; their key and profile are unknown.

    This is part of the transaction that creates the new tables and drops the old one.
    """
    # Numbers of removed entries are not used again.
    db.execute(
        "UPDATE sqlite_sequence SET seq = coalesce((SELECT seq FROM sqlite_sequence"
        " WHERE name = 'former_entries'), 0) WHERE name = 'entries'"
    )
    written = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    (stored,) = db.execute("SELECT value FROM meta WHERE name = 'digest'").fetchone()
    number, digest = 0, 0
    for row in db.execute(f"SELECT {_FORMER} FROM former_entries"):  # noqa: S608
        digest = (digest + _former_digest(row[1:])) % (1 << 8 * _FORMER_DIGEST_BYTES)
        number += 1
    if not number:
        return
    note = _UPGRADED.format(entries=number, stored=stored, computed=f"{digest:x}")
    columns: dict[str, Any] = {"note": note}
    head = _append(db, START, 1, Act.UPGRADE, written, **columns)
    series: dict[int, int] = {}
    rows = db.execute(f"SELECT {_FORMER} FROM former_entries ORDER BY number")  # noqa: S608
    sequence = 1
    while part := list(islice(rows, CHUNK)):
        for number, bits, payload, who, issued, model, manifest in part:
            sequence += 1
            _refuse_damaged(bits, payload, who, issued, model, manifest)
            if bits not in series:
                series[bits] = series_number(db, (*NOBODY, bits))
            head = _append(
                db,
                head,
                sequence,
                Act.ISSUE,
                written,
                entry=number,
                series=(series[bits], *NOBODY, bits),
                payload=payload,
                who=who,
                issued=issued,
                model=model,
                manifest=manifest,
                note="",
                drawn=str(Drawn.GIVEN),
            )
            db.execute(ENTER, (number, sequence, series[bits], payload, manifest))
    for bits, series_id in series.items():
        db.execute(
            "UPDATE series SET live = (SELECT count(*) FROM former_entries WHERE bits = ?)"
            " WHERE number = ?",
            (bits, series_id),
        )


def _append(
    db: sqlite3.Connection,
    head: bytes,
    sequence: int,
    act: Act,
    written: str,
    *,
    entry: int | None = None,
    series: tuple[int, str, str, str, int] | None = None,
    **columns: Any,
) -> bytes:
    number, *series_fields = series or (None, None, None, None, None)
    names = ("payload", "who", "issued", "model", "manifest", "note", "drawn", "entries")
    values = (*(columns.get(name) for name in names), new_salt())
    digest = row_hash(head, (sequence, str(act), written, entry, *series_fields, *values))
    db.execute(APPEND, (sequence, str(act), written, entry, number, *values, digest))
    return digest


def _refuse_damaged(
    bits: Any, payload: Any, recipient: Any, issued: Any, model: Any, man: Any
) -> None:
    """Refuse an entry of version 2 that this program did not write.

    Raises:
        sqlite3.DatabaseError: The entry is damaged.
    """
    payload_text(payload, bits)
    try:
        Recipient(who=recipient, when=issued, model=model, manifest=man)
    except (TypeError, AttributeError, RegisterError):
        raise sqlite3.DatabaseError("a row is not one of this program") from None


def _former_digest(row: tuple[Any, ...]) -> int:
    """Return the contribution of an entry to the digest of version 2, a sum over all entries."""
    *row_parts, manifest = row
    if manifest:
        row_parts.append(manifest)
    parts = [part if isinstance(part, bytes) else str(part).encode() for part in row_parts]
    framed = b"".join(len(part).to_bytes(4, "little") + part for part in parts)
    digest = hashlib.blake2b(framed, digest_size=_FORMER_DIGEST_BYTES).digest()
    return int.from_bytes(digest, "little")


def series_number(db: sqlite3.Connection, series: tuple[str, str, str, int]) -> int:
    """Return the number of a series; add the series if it is new.

    Args:
        db: Connection in a writing transaction.
        series: Key, epoch, profile, and the bits of a payload.
    """
    db.execute(
        "INSERT OR IGNORE INTO series (key, epoch, profile, bits) VALUES (?, ?, ?, ?)", series
    )
    row = db.execute(
        "SELECT number FROM series WHERE (key, epoch, profile, bits) = (?, ?, ?, ?)", series
    ).fetchone()
    return int(row[0])


# One step a version: from version i to i + 1. Steps are never edited, only added.
MIGRATIONS: Final[tuple[Step, ...]] = (
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
    (
        "DROP INDEX by_payload",
        "ALTER TABLE entries RENAME TO former_entries",
        # Counts of live entries, and of those with a number drawn at random.
        """CREATE TABLE series (
            number INTEGER PRIMARY KEY,
            key TEXT NOT NULL,
            epoch TEXT NOT NULL,
            profile TEXT NOT NULL,
            bits INTEGER NOT NULL,
            live INTEGER NOT NULL DEFAULT 0,
            random INTEGER NOT NULL DEFAULT 0,
            UNIQUE (key, epoch, profile, bits)
        )""",
        """CREATE TABLE chain (
            sequence INTEGER PRIMARY KEY,
            act TEXT NOT NULL,
            written TEXT NOT NULL,
            entry INTEGER,
            series INTEGER,
            payload BLOB,
            who TEXT,
            issued TEXT,
            model TEXT,
            manifest TEXT,
            note TEXT,
            drawn TEXT,
            entries TEXT,
            salt BLOB NOT NULL,
            hash BLOB NOT NULL
        )""",
        # Sequence numbers of the rows that issued and revoked an entry.
        """CREATE TABLE entries (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            row INTEGER NOT NULL,
            series INTEGER NOT NULL,
            payload BLOB NOT NULL,
            manifest TEXT NOT NULL,
            remark TEXT NOT NULL DEFAULT '',
            revoked INTEGER NOT NULL DEFAULT 0
        )""",
        "INSERT INTO sqlite_sequence (name, seq) VALUES ('entries', 0)",
        # A payload has at most one live entry; revoked entries stay.
        "CREATE UNIQUE INDEX by_mark ON entries (series, payload, revoked)",
        """CREATE TRIGGER rows_stay BEFORE UPDATE ON chain
           BEGIN SELECT RAISE(ABORT, 'the register is append-only'); END""",
        """CREATE TRIGGER rows_remain BEFORE DELETE ON chain
           BEGIN SELECT RAISE(ABORT, 'the register is append-only'); END""",
        _take_over,
        "DROP TABLE former_entries",
        "DROP TABLE meta",
    ),
)
REGISTER: Final = Kind(
    noun="database.register",
    whole="database.register-whole",
    error=RegisterError,
    application_id=0x50555241,  # "PURA"
    migrations=MIGRATIONS,
    other_hint="database.register-other",
    damaged_hint="database.register-damaged",
    # An answer is sent once its row is on the disk, so that it survives a power failure.
    pragmas=("synchronous = FULL",),
    read_upgraded=True,
)


def sums_agree(note: object) -> bool:
    """Return whether the entries of version 2 were unchanged when they were migrated.

    Args:
        note: Note of the row before these entries.
    """
    sums = _SUMS.fullmatch(note) if isinstance(note, str) else None
    return sums is not None and sums[1] == sums[2]


def numbers_of(text: str) -> Iterator[range]:
    """Yield the ranges of a list of entries, e.g. ``1-500,502``.

    Raises:
        sqlite3.DatabaseError: The text is not such a list.
    """
    try:
        for part in text.split(","):
            first, _, last = part.partition("-")
            yield range(int(first), int(last or first) + 1)
    except ValueError:
        raise sqlite3.DatabaseError("a row is not one of this program") from None


def numbers_text(numbers: Iterator[int]) -> str:
    """Return ascending numbers of entries as a list of ranges, e.g. ``1-500,502``."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges)
