"""SQLite files of this program: opening, migration, and conversion of errors.

A file may come from elsewhere. Its schema is therefore compared with the known one before anything
is read, so that no view, trigger or table from elsewhere is ever used.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Self

from pura.base.catalogue import phrase
from pura.base.errors import PuraError

Step = tuple[str | Callable[[sqlite3.Connection], None], ...]
"""Statements and functions that migrate a file to the next version, in one transaction."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of database file.

    Attributes:
        noun: Key of the noun for it within a sentence.
        whole: Key of its description, e.g. ``a register of issued payloads``.
        error: Type of the errors that are raised.
        application_id: SQLite's identifier of the application.
        migrations: Steps from version i to i + 1: statements, and functions that are called with
            the connection. Steps are never edited, only added.
        other_hint: Key of the advice for a file of another kind.
        damaged_hint: Key of the advice for a damaged file.
        pragmas: Settings of every connection.
        read_upgraded: A file of an earlier version is migrated even if it is only read; a copy in
            memory is migrated if the file is not writable. Otherwise it is read in its version.
    """

    noun: str
    whole: str
    error: type[PuraError]
    application_id: int
    migrations: tuple[Step, ...]
    other_hint: str
    damaged_hint: str
    pragmas: tuple[str, ...] = ()
    read_upgraded: bool = False

    def fault(self, what: str, way_out: str) -> PuraError:
        """Return the error for a situation.

        Args:
            what: Key of the situation in the catalogue, without ``database.``.
            way_out: Key of the advice.
        """
        return self.error(
            f"database.{what}",
            noun=phrase(self.noun),
            whole=phrase(self.whole),
            way_out=phrase(way_out),
            code="disk-full" if what == "full" else None,
        )

    def connect(
        self, path: Path, *, create: bool, read_only: bool, timeout: float
    ) -> sqlite3.Connection:
        """Open a file, create it if requested, and migrate it.

        Raises:
            PuraError: The file is missing, locked, damaged, of another kind or too new.
        """
        connection = self._opened(path, create=create, read_only=read_only, timeout=timeout)
        if not (read_only and self.read_upgraded) or self._current(connection):
            return connection
        try:
            if _writable(path):
                self._opened(path, create=False, read_only=False, timeout=timeout).close()
            else:
                with self.guard():
                    return self._upgraded_copy(connection)
        finally:
            connection.close()
        return self._opened(path, create=False, read_only=True, timeout=timeout)

    def _opened(
        self, path: Path, *, create: bool, read_only: bool, timeout: float
    ) -> sqlite3.Connection:
        mode = "ro" if read_only else "rwc" if create else "rw"
        uri = f"{path.absolute().as_uri()}?mode={mode}"
        if read_only and _is_immutable(path):
            uri += "&immutable=1"
        with self.guard():
            # Transactions are begun and ended explicitly (isolation_level=None).
            connection = sqlite3.connect(uri, uri=True, timeout=timeout, isolation_level=None)
        try:
            with self.guard():
                self._prepare(connection, create=create, read_only=read_only)
        except BaseException:
            connection.close()
            raise
        logger.debug("%s: opened, read only: %s", self.noun, read_only)
        return connection

    def _current(self, connection: sqlite3.Connection) -> bool:
        return _version(connection) == len(self.migrations)

    def _upgraded_copy(self, stored: sqlite3.Connection) -> sqlite3.Connection:
        """Return a migrated copy in memory of a file that is not writable."""
        copy = sqlite3.connect(":memory:", isolation_level=None)
        try:
            stored.backup(copy)
            self._prepare(copy, create=False, read_only=False)
            copy.execute("PRAGMA query_only = ON")
        except BaseException:
            copy.close()
            raise
        return copy

    def guard(self) -> AbstractContextManager[None]:
        """Convert errors of SQLite to errors that people can act on.

        Raises:
            PuraError: The file is locked, missing, not writable or damaged, or the disk is full.
        """
        return _guard(self)

    def migrate(self, connection: sqlite3.Connection, steps: Sequence[Step] | None = None) -> None:
        """Run the missing migration steps, each in a separate transaction."""
        steps = self.migrations if steps is None else steps
        while _version(connection) < len(steps):
            with transaction(connection):
                current = _version(connection)  # again: another program may have migrated the file
                if current < len(steps):
                    _walk(connection, steps[current])
                    connection.execute(f"PRAGMA application_id = {self.application_id}")
                    connection.execute(f"PRAGMA user_version = {current + 1}")
                    logger.info(
                        "%s: version %d made of version %d", self.noun, current + 1, current
                    )

    def _prepare(self, connection: sqlite3.Connection, *, create: bool, read_only: bool) -> None:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        for pragma in self.pragmas:
            connection.execute(f"PRAGMA {pragma}")
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        fresh = not _objects(connection) and application == 0
        if fresh and not create:
            raise self.fault("other", self.other_hint)
        if not fresh:
            if application != self.application_id:
                raise self.fault("other", self.other_hint)
            if _version(connection) > len(self.migrations):
                raise self.fault("newer", "database.update")
        if not read_only:
            connection.execute("PRAGMA journal_mode = WAL")
            self.migrate(connection)
        # A file that is only read keeps its version.
        if _objects(connection) != _expected(self.migrations[: _version(connection)]):
            raise self.fault("damaged", self.damaged_hint)


class Handle:
    """An open file; close it, or use it in a ``with`` statement. One thread at a time."""

    _db: sqlite3.Connection

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _is_immutable(path: Path) -> bool:
    """Return whether nobody can be writing: the folder is not writable, and there is no WAL file.

    In WAL mode SQLite creates a file next to the database, even for reading.
    """
    log = path.with_name(f"{path.name}-wal")
    try:
        return not os.access(path.parent, os.W_OK) and not (log.exists() and log.stat().st_size)
    except OSError:
        return False


def _objects(connection: sqlite3.Connection) -> set[tuple[str, str]]:
    """Return every table, index, trigger and view with the statement that created it."""
    rows = connection.execute("SELECT name, coalesce(sql, '') FROM sqlite_master")
    return {(name, " ".join(words.split())) for name, words in rows}


def _writable(path: Path) -> bool:
    """Return whether a file and its folder, for SQLite's further files, are writable."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


@cache
def _expected(steps: tuple[Step, ...]) -> set[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:")) as fresh:
        for step in steps:
            _walk(fresh, step)
        return _objects(fresh)


def _walk(connection: sqlite3.Connection, step: Step) -> None:
    """Run one migration step, inside its transaction."""
    for part in step:
        if isinstance(part, str):
            connection.execute(part)
        else:
            part(connection)


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


@contextmanager
def transaction(connection: sqlite3.Connection, kind: str = "IMMEDIATE") -> Iterator[None]:
    """Open a transaction, which is rolled back on an exception.

    Args:
        connection: The connection.
        kind: ``IMMEDIATE``, or ``DEFERRED`` for a consistent view while reading.
    """
    connection.execute(f"BEGIN {kind}")
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


_SITUATIONS: Final = {
    sqlite3.SQLITE_BUSY: ("busy", "database.busy-hint"),
    sqlite3.SQLITE_LOCKED: ("busy", "database.busy-hint"),
    sqlite3.SQLITE_CANTOPEN: ("open", "hint.path"),
    sqlite3.SQLITE_READONLY: ("open", "hint.path"),
    sqlite3.SQLITE_FULL: ("full", "database.full-hint"),
    sqlite3.SQLITE_IOERR: ("disk", "database.disk-hint"),
}


@contextmanager
def _guard(kind: Kind) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        # The low byte is the kind of error; only errors of SQLite itself have a code.
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        situation, way_out = _SITUATIONS.get(code, ("damaged", kind.damaged_hint))
        raise kind.fault(situation, way_out) from error
