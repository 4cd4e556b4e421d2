"""The register's file: its tables, how an older one is brought up to date, and what may go wrong.

A register may come from elsewhere, so its schema is compared with the known one before anything
is read: no view, trigger or foreign table is ever queried.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pura.errors import RegisterError

APPLICATION_ID: Final = 0x50555241  # "PURA"
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
)
_NAMES: Final = {"meta", "entries", "by_payload", "sqlite_sequence"}
_OTHER_HINT: Final = "Choose the register's own file, or import it from CSV."
_DAMAGED_HINT: Final = "Restore it from a backup, or import it from CSV again."


def connect(path: Path, *, create: bool, read_only: bool, timeout: float) -> sqlite3.Connection:
    """Open a register file, make it when asked to, and bring it up to date.

    Raises:
        RegisterError: The file is missing, locked, damaged, something else or too new.
    """
    mode = "ro" if read_only else "rwc" if create else "rw"
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    with guard():
        # Every transaction is begun and ended in so many words (isolation_level=None).
        connection = sqlite3.connect(uri, uri=True, timeout=timeout, isolation_level=None)
    try:
        with guard():
            _settle(connection, create=create, read_only=read_only)
    except BaseException:
        connection.close()
        raise
    return connection


def _settle(connection: sqlite3.Connection, *, create: bool, read_only: bool) -> None:
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    fresh = not names and application == 0
    if fresh and not create:
        raise RegisterError("The register's file is empty.", _OTHER_HINT)
    if not fresh:
        if application != APPLICATION_ID:
            raise RegisterError("The file is not a register of issued payloads.", _OTHER_HINT)
        if _version(connection) > len(MIGRATIONS):
            raise RegisterError(
                "The register was written by a newer version of this program.",
                "Update the program to open it.",
            )
    if not read_only:
        connection.execute("PRAGMA journal_mode = WAL")
        migrate(connection)
    names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    if names != _NAMES or _version(connection) != len(MIGRATIONS):
        raise RegisterError("The register's tables are not the expected ones.", _DAMAGED_HINT)


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection, steps: Sequence[Sequence[str]] = MIGRATIONS) -> None:
    """Run the steps that are missing, each in a transaction of its own."""
    while _version(connection) < len(steps):
        with transaction(connection):
            at = _version(connection)  # again: another program may have been quicker
            if at < len(steps):
                for statement in steps[at]:
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {at + 1}")


@contextmanager
def transaction(connection: sqlite3.Connection, kind: str = "IMMEDIATE") -> Iterator[None]:
    """Do all or nothing; ``DEFERRED`` for a steady view while reading."""
    connection.execute(f"BEGIN {kind}")
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


_SITUATIONS: Final = {
    sqlite3.SQLITE_BUSY: (
        "The register is in use by another program.",
        "Wait until it is done, then try again.",
    ),
    sqlite3.SQLITE_LOCKED: (
        "The register is in use by another program.",
        "Wait until it is done, then try again.",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "The register's file cannot be opened.",
        "Check the path and the permissions.",
    ),
    sqlite3.SQLITE_READONLY: (
        "The register's file cannot be written.",
        "Check its permissions, or open it for reading only.",
    ),
    sqlite3.SQLITE_FULL: ("The disk is full.", "Make room, then try again."),
}


@contextmanager
def guard() -> Iterator[None]:
    """Turn the database's errors into ones that people can act on.

    Raises:
        RegisterError: Locked, missing, not writable, disk full, damaged.
    """
    try:
        yield
    except sqlite3.Error as error:
        # The low byte is the kind of error; only errors of SQLite itself have a code.
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        message, hint = _SITUATIONS.get(
            code, ("The register's file is damaged or is not a register.", _DAMAGED_HINT)
        )
        raise RegisterError(message, hint) from error
