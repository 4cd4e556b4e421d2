"""The case log's file: its tables.

``entries`` is the chain. ``kept`` holds what may be erased one day: names, free text, records and
texts, each with the salt of its commitment. Both are in one file, since two files in WAL mode
cannot commit together (docs/decisions/016-case-log.md).
"""

from __future__ import annotations

from typing import Final

from pura.base.database import Kind
from pura.base.errors import CaseLogError

MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (
    (
        "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        # The place is the order of arrival: entries of an imported case come before its import.
        """CREATE TABLE entries (
            place INTEGER PRIMARY KEY,
            log TEXT NOT NULL,
            seq INTEGER NOT NULL,
            hash TEXT NOT NULL,
            body TEXT NOT NULL,
            case_id TEXT NOT NULL,
            item_id TEXT NOT NULL,
            action TEXT NOT NULL,
            at TEXT NOT NULL,
            UNIQUE (log, seq)
        )""",
        "CREATE INDEX by_case ON entries (case_id, action)",
        "CREATE INDEX by_action ON entries (action)",
        """CREATE TABLE kept (
            log TEXT NOT NULL,
            seq INTEGER NOT NULL,
            field TEXT NOT NULL,
            salt BLOB NOT NULL,
            value BLOB NOT NULL,
            PRIMARY KEY (log, seq, field),
            FOREIGN KEY (log, seq) REFERENCES entries (log, seq)
        )""",
        "CREATE TABLE signatures (digest TEXT PRIMARY KEY, cms BLOB NOT NULL)",
        """CREATE TRIGGER entries_stay BEFORE UPDATE ON entries
           BEGIN SELECT RAISE(ABORT, 'the case log is append-only'); END""",
        """CREATE TRIGGER entries_remain BEFORE DELETE ON entries
           BEGIN SELECT RAISE(ABORT, 'the case log is append-only'); END""",
    ),
)
CASE_LOG: Final = Kind(
    noun="database.case-log",
    whole="database.case-log-whole",
    error=CaseLogError,
    application_id=0x50555243,  # "PURC"
    migrations=MIGRATIONS,
    other_hint="database.case-log-other",
    damaged_hint="database.case-log-damaged",
    pragmas=(
        "foreign_keys = ON",
        # An entry that was acknowledged is on the disk, also after the power failed.
        "synchronous = FULL",
        # What is erased is overwritten, not only forgotten.
        "secure_delete = ON",
    ),
)
