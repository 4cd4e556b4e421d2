"""SQLite files of this program: how one is opened, brought up to date, and what may go wrong.

A file may come from elsewhere, so its schema is compared with the known one before anything is
read: no view, trigger or foreign table of a stranger is ever queried.
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
"""What brings a file from one version to the next, all in one transaction."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of file.

    Attributes:
        noun: Key of the word for it within a sentence.
        whole: What it is, e.g. ``a register of issued payloads``.
        error: What is raised.
        application_id: SQLite's mark of the kind.
        migrations: One step a version, from version i to i + 1: statements, and functions that
            are called with the connection. Steps are never edited, only added.
        other_hint: The way out when the file is something else.
        damaged_hint: The way out when it is damaged.
        pragmas: What every connection is set to.
        read_upgraded: A file of an earlier version is brought up to date also where it is only
            read; a copy in memory, where the file cannot be written. Else it is read as it is.
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
        """Return the error of a situation.

        Args:
            what: The situation, a key of the catalogue below ``database``.
            way_out: Key of the way out.
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
        """Open a file, make it when asked to, and bring it up to date.

        Raises:
            PuraError: The file is missing, locked, damaged, something else or too new.
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
        if read_only and _lies_still(path):
            uri += "&immutable=1"
        with self.guard():
            # Every transaction is begun and ended in so many words (isolation_level=None).
            connection = sqlite3.connect(uri, uri=True, timeout=timeout, isolation_level=None)
        try:
            with self.guard():
                self._settle(connection, create=create, read_only=read_only)
        except BaseException:
            connection.close()
            raise
        logger.debug("%s: opened, read only: %s", self.noun, read_only)
        return connection

    def _current(self, connection: sqlite3.Connection) -> bool:
        return _version(connection) == len(self.migrations)

    def _upgraded_copy(self, stored: sqlite3.Connection) -> sqlite3.Connection:
        """Return a copy in memory that is up to date; the file cannot be written."""
        copy = sqlite3.connect(":memory:", isolation_level=None)
        try:
            stored.backup(copy)
            self._settle(copy, create=False, read_only=False)
            copy.execute("PRAGMA query_only = ON")
        except BaseException:
            copy.close()
            raise
        return copy

    def guard(self) -> AbstractContextManager[None]:
        """Turn the database's errors into ones that people can act on.

        Raises:
            PuraError: Locked, missing, not writable, disk full, damaged.
        """
        return _guard(self)

    def migrate(self, connection: sqlite3.Connection, steps: Sequence[Step] | None = None) -> None:
        """Run the steps that are missing, each in a transaction of its own."""
        steps = self.migrations if steps is None else steps
        while _version(connection) < len(steps):
            with transaction(connection):
                at = _version(connection)  # again: another program may have been quicker
                if at < len(steps):
                    _walk(connection, steps[at])
                    connection.execute(f"PRAGMA application_id = {self.application_id}")
                    connection.execute(f"PRAGMA user_version = {at + 1}")
                    logger.info("%s: version %d made of version %d", self.noun, at + 1, at)

    def _settle(self, connection: sqlite3.Connection, *, create: bool, read_only: bool) -> None:
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
        # One that is only read stays at its version.
        if _objects(connection) != _expected(self.migrations[: _version(connection)]):
            raise self.fault("damaged", self.damaged_hint)


class Handle:
    """An open file; close it, or use it in a ``with`` statement. One thread at a time."""

    _db: sqlite3.Connection

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _lies_still(path: Path) -> bool:
    """Whether nobody can be writing: a file in a place that cannot be written, without a log.

    SQLite wants to lay a file of its own beside one in WAL mode, even for reading.
    """
    log = path.with_name(f"{path.name}-wal")
    try:
        return not os.access(path.parent, os.W_OK) and not (log.exists() and log.stat().st_size)
    except OSError:
        return False


def _objects(connection: sqlite3.Connection) -> set[tuple[str, str]]:
    """Return every table, index, trigger and view with the words it was made by."""
    rows = connection.execute("SELECT name, coalesce(sql, '') FROM sqlite_master")
    return {(name, " ".join(words.split())) for name, words in rows}


def _writable(path: Path) -> bool:
    """Whether a file and what SQLite lays beside it can be written."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


@cache
def _expected(steps: tuple[Step, ...]) -> set[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:")) as fresh:
        for step in steps:
            _walk(fresh, step)
        return _objects(fresh)


def _walk(connection: sqlite3.Connection, step: Step) -> None:
    """Do one step of an update, inside its transaction."""
    for part in step:
        if isinstance(part, str):
            connection.execute(part)
        else:
            part(connection)


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


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
        what, way_out = _SITUATIONS.get(code, ("damaged", kind.damaged_hint))
        raise kind.fault(what, way_out) from error
