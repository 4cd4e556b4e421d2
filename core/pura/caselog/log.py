"""The case log: entries that are only ever added, each with the hash of the one before."""

from __future__ import annotations

import datetime as dt
import hashlib
import logging
import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from pura.base.catalogue import catalogue
from pura.base.database import Handle, Kind, transaction
from pura.base.errors import CaseLogError, os_error_as
from pura.base.files import make_private, write_atomic
from pura.base.json_text import canonical, former, is_hex, read_json, sha256
from pura.base.paths import build_hash
from pura.version import __version__

_log = logging.getLogger(__name__)

FORM: Final = 2
FORMS: Final = (1, FORM)
SALT_BYTES: Final = 32
START: Final = "0" * 64
"""What stands before the first entry."""


def written(body: Mapping[str, Any]) -> bytes:
    """Return an entry as its own form writes it.

    Raises:
        ValueError: It has no canonical form.
    """
    return former(body) if body["v"] == 1 else canonical(body)


def entry_hash(body: Mapping[str, Any]) -> str:
    """Return the SHA-256 of an entry as its own form writes it, 64 hex digits."""
    return sha256(written(body))


def commitment(salt: bytes, value: bytes) -> str:
    """Return what the chain holds of a kept value: SHA-256 of salt and value, 64 hex digits.

    The salt keeps anyone from guessing a name or a short text until the digest fits.
    """
    return hashlib.sha256(salt + value).hexdigest()


def pack(value: object) -> bytes:
    """Return a kept value as bytes: canonical JSON."""
    return canonical(value)


def unpack(value: bytes) -> Any:
    """Return a kept value.

    Raises:
        ValueError: Not JSON.
    """
    return read_json(value)


CUSTODY: Final = (
    "item-received",
    "item-copied",
    "item-transferred",
    "item-returned",
    "item-destroyed",
    "information-disclosed",
)
"""Events of a case."""
ORGANISATION: Final = (
    "policy-changed",
    "key-added",
    "key-retired",
    "key-leaked",
    "validation-imported",
)
"""Events of the whole organisation."""
ACTIONS: Final = (
    "log-created",
    "person-added",
    "case-opened",
    "case-renamed",
    "case-closed",
    "case-reopened",
    "note-added",
    "tags-set",
    "examination-started",
    "examination-finished",
    "examination-repeated",
    "examination-failed",
    "register-looked-up",
    "text-opened",
    "finding-confirmed",
    "finding-disputed",
    "report-drafted",
    "report-issued",
    "report-amended",
    "report-signed",
    "report-withdrawn",
    "hold-set",
    "hold-lifted",
    "kept-erased",
    *CUSTODY,
    *ORGANISATION,
    "head-signed",
    "log-verified",
    "case-exported",
    "case-imported",
)
ROLES: Final = ("examiner", "reviewer", "authoriser", "custodian", "program")
CLOCK: Final = "this computer, not independently confirmed"
_TEXTS: Final = (
    "log",
    "prev",
    "case_prev",
    "time",
    "zone",
    "clock",
    "actor",
    "role",
    "station",
    "program",
    "build",
    "case",
    "item",
    "action",
    "result",
    "policy",
    "signature",
)


def action_words(action: str, language: str) -> str:
    """Say what was done; the action of a newer program stays what it is."""
    texts, key = catalogue("command"), f"action.{action}"
    return texts.fill(key, language, {}) if key in texts else action


@dataclass(frozen=True, kw_only=True)
class LogEntry:
    """An entry as it stands in the log.

    Attributes:
        hash: Its own hash, as stored.
        body: What the hash is of.
    """

    hash: str
    body: Mapping[str, Any]

    @property
    def log(self) -> str:
        """The log it was written to first."""
        return str(self.body["log"])

    @property
    def seq(self) -> int:
        """Its number there, from 1."""
        return int(self.body["seq"])

    @property
    def time(self) -> str:
        """When, UTC, ISO 8601."""
        return str(self.body["time"])

    @property
    def actor(self) -> str:
        """Identifier of the person."""
        return str(self.body["actor"])

    @property
    def role(self) -> str:
        """In which role."""
        return str(self.body["role"])

    @property
    def case(self) -> str:
        """The case."""
        return str(self.body["case"])

    @property
    def item(self) -> str:
        """The audit."""
        return str(self.body["item"])

    @property
    def action(self) -> str:
        """What was done."""
        return str(self.body["action"])

    @property
    def result(self) -> str:
        """How it ended."""
        return str(self.body["result"])

    @property
    def facts(self) -> Mapping[str, Any]:
        """What may stand in the chain for ever."""
        facts: Mapping[str, Any] = self.body["facts"]
        return facts

    @property
    def kept(self) -> Mapping[str, str]:
        """Commitments to what is kept beside it, by name."""
        kept: Mapping[str, str] = self.body["kept"]
        return kept

    def line(self) -> str:
        """As it is written; what its hash is of."""
        return written(self.body).decode()


def make(values: Mapping[str, Any]) -> LogEntry:
    """Make an entry of the present form."""
    body = {"v": FORM, **values}
    return LogEntry(hash=entry_hash(body), body=body)


def parse(stored_hash: str, text: str) -> LogEntry:
    """Read a stored entry; its hash is not yet compared.

    Raises:
        ValueError: It is not an entry.
    """
    body = read_json(text)
    if not isinstance(body, dict) or not all(isinstance(body.get(n), str) for n in _TEXTS):
        raise ValueError("not an entry")
    if type(body.get("seq")) is not int or body.get("v") not in FORMS:
        raise ValueError("not an entry of a known form")
    for name in ("facts", "kept"):
        if not isinstance(body.get(name), dict):
            raise ValueError("not an entry")
    if not all(isinstance(v, str) for v in body["kept"].values()):
        raise ValueError("not an entry")
    return LogEntry(hash=stored_hash, body=body)


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
    # Entries hold a finding, on which 0.3.0 failed; it refuses a file of a higher version.
    (),
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


_NOTHING: Final = {
    "role": "examiner",
    **dict.fromkeys(("case", "item", "result", "policy", "signature"), ""),
}
PROGRAM: Final = f"pura-audit {__version__}"
_COLUMNS: Final = "SELECT hash, body FROM entries"


@dataclass(frozen=True, kw_only=True)
class LogHead:
    """The newest entry of the log's own chain.

    Attributes:
        log: Identifier of the log.
        seq: Its number; 0 when there is none.
        hash: Its hash.
    """

    log: str
    seq: int
    hash: str

    def __str__(self) -> str:
        return f"{self.seq}:{self.hash}"


@dataclass(frozen=True, kw_only=True)
class Person:
    """Someone who acts; the chain knows the identifier only."""

    id: str
    name: str


class CaseLog(Handle):
    """An open case log; close it, or use it in a ``with`` statement. One thread at a time.

    Args:
        path: The file.
        create: Make it when it is not there.
        read_only: Never write.
        timeout: Seconds to wait for another program's turn to end.
        station: Random identifier of the installation.
        worker: Who acts where nobody is named; a name of "" was not given yet.
        clock: Where the time comes from; with a zone.
        closing: Gets the log before it is closed, when entries were added.

    Raises:
        CaseLogError: The file is missing, locked, damaged, something else, or too new.
    """

    def __init__(
        self,
        path: Path,
        *,
        create: bool = False,
        read_only: bool = False,
        timeout: float = 10.0,
        station: str = "",
        worker: Person | None = None,
        clock: Callable[[], dt.datetime] = lambda: dt.datetime.now().astimezone(),
        closing: Callable[[CaseLog], None] | None = None,
    ) -> None:
        if create:
            _make_private_file(path)
        self.path, self._clock, self._station = path, clock, station
        self.worker = worker
        self._closing = closing
        self._db = CASE_LOG.connect(path, create=create, read_only=read_only, timeout=timeout)
        try:
            with CASE_LOG.guard():
                if not read_only:
                    self._begin()
                row = self._db.execute("SELECT value FROM meta WHERE name = 'log'").fetchone()
                if row is None:
                    raise sqlite3.DatabaseError("the log has no identifier")
                self.id: str = row[0]
                self._begun = -1 if closing is None else self.head().seq
        except BaseException:
            self._db.close()
            raise

    def close(self) -> None:
        """Let go of the file."""
        try:
            if self._closing is not None and self.head().seq != self._begun:
                self._closing(self)
        finally:
            super().close()

    # Reading

    @property
    def db(self) -> sqlite3.Connection:
        """The connection, for the other modules of this package."""
        return self._db

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Keep a steady view for several questions."""
        with CASE_LOG.guard():
            if self._db.in_transaction:
                yield self._db
            else:
                with transaction(self._db, "DEFERRED"):
                    yield self._db

    def head(self) -> LogHead:
        """Return the newest entry's number and hash."""
        with CASE_LOG.guard():
            row = self._db.execute(
                "SELECT seq, hash FROM entries WHERE log = ? ORDER BY seq DESC LIMIT 1", (self.id,)
            ).fetchone()
        seq, digest = (0, START) if row is None else row
        return LogHead(log=self.id, seq=seq, hash=digest)

    def entries(self, case: str | None = None, item: str | None = None) -> Iterator[LogEntry]:
        """Walk over the entries in the order in which they came in."""
        where, values = [], []
        for name, value in (("case_id", case), ("item_id", item)):
            if value is not None:
                where.append(f"{name} = ?")
                values.append(value)
        query = _COLUMNS + (f" WHERE {' AND '.join(where)}" if where else "")
        with CASE_LOG.guard():
            for digest, body in self._db.execute(f"{query} ORDER BY place", values):
                yield _parsed(digest, body)

    def acts(self, *actions: str) -> Iterator[LogEntry]:
        """Walk over the entries of some actions, in the order in which they came in."""
        query = f"{_COLUMNS} WHERE action IN ({', '.join('?' * len(actions))}) ORDER BY place"
        with CASE_LOG.guard():
            for digest, body in self._db.execute(query, actions):
                yield _parsed(digest, body)

    def entry(self, seq: int, log: str | None = None) -> LogEntry | None:
        """Return one entry, or None."""
        with CASE_LOG.guard():
            row = self._db.execute(
                f"{_COLUMNS} WHERE log = ? AND seq = ?", (log or self.id, seq)
            ).fetchone()
        return None if row is None else _parsed(*row)

    def kept_bytes(self, entry: LogEntry, field: str) -> bytes | None:
        """Return what is kept beside an entry, or None: there was nothing, or it was erased.

        Raises:
            CaseLogError: It is not what the chain committed to.
        """
        with CASE_LOG.guard():
            row = self._db.execute(
                "SELECT salt, value FROM kept WHERE log = ? AND seq = ? AND field = ?",
                (entry.log, entry.seq, field),
            ).fetchone()
        if row is None:
            return None
        salt, value = bytes(row[0]), bytes(row[1])
        if commitment(salt, value) != entry.kept.get(field):
            raise CaseLogError(
                "caselog.kept-altered", seq=entry.seq, field=field, code="case-log-altered"
            )
        return value

    def kept(self, entry: LogEntry, field: str) -> Any:
        """Return a kept value, or None when it was erased."""
        value = self.kept_bytes(entry, field)
        return None if value is None else unpack(value)

    def signature(self, digest: str) -> bytes | None:
        """Return a signature (CMS, DER) by its SHA-256, or None when it is not there."""
        with CASE_LOG.guard():
            row = self._db.execute(
                "SELECT cms FROM signatures WHERE digest = ?", (digest,)
            ).fetchone()
        return None if row is None else bytes(row[0])

    def people(self) -> list[Person]:
        """Return everyone whose name is kept, in the order of the log; who gave two comes twice."""
        named = [(one, self.kept(one, "name")) for one in self.acts("person-added")]
        return [
            Person(id=str(one.facts["person"]), name=str(name))
            for one, name in named
            if name is not None
        ]

    # Writing

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Take the turn: everything in it is added, or nothing.

        Raises:
            CaseLogError: Another program does not let go; no room; not writable.
        """
        # A step of a larger turn is part of that.
        step = self._db.in_transaction
        with CASE_LOG.guard(), nullcontext() if step else transaction(self._db):
            yield

    def append(
        self,
        action: str,
        actor: str = "",
        *,
        kept: Mapping[str, object] = MappingProxyType({}),
        facts: Mapping[str, Any] = MappingProxyType({}),
        **more: str,
    ) -> LogEntry:
        """Add one entry at the end.

        Args:
            action: One of :data:`ACTIONS`.
            actor: Identifier of the person; empty for the program itself.
            kept: What may be erased one day, by name; only commitments to it go into the chain.
            facts: What may stand in the chain for ever: numbers, codes, fingerprints.
            more: ``role``, one of :data:`ROLES`; ``case`` and ``item``, identifiers; ``result``, a
                code, e.g. an outcome; ``policy``, its version; ``signature``, SHA-256 of one.
        """
        packed = {name: v if isinstance(v, bytes) else pack(v) for name, v in kept.items()}
        salts = {name: os.urandom(SALT_BYTES) for name in packed}
        with self.writing():
            commitments = {name: commitment(salts[name], value) for name, value in packed.items()}
            said = {"action": action, "actor": actor, "facts": dict(facts), "kept": commitments}
            entry = self._next({**said, **more})
            insert(self._db, entry)
            for name, value in packed.items():
                keep(self._db, entry, name, salts[name], value)
        _log.info("case log: entry %d, %s", entry.seq, entry.action)
        return entry

    def erase(self, entry: LogEntry, field: str) -> bool:
        """Overwrite what is kept beside an entry; say whether there was anything."""
        gone = self._db.execute(
            "DELETE FROM kept WHERE log = ? AND seq = ? AND field = ?",
            (entry.log, entry.seq, field),
        )
        return gone.rowcount > 0

    def sign(self, digest: str, cms: bytes) -> None:
        """Lay a signature beside the chain."""
        self._db.execute("INSERT OR IGNORE INTO signatures VALUES (?, ?)", (digest, cms))

    def scrub(self) -> None:
        """After erasing: empty the write-ahead log, in which old pages still stand.

        Another program that is reading may keep it from that; then the next one does it.
        """
        with CASE_LOG.guard():
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def person(self, name: str, identifier: str = "") -> Person:
        """Return the person of this name, new if need be; capital letters do not matter.

        Args:
            name: How the person is called.
            identifier: Whose name this is; a name that was noted for it before is replaced. One
                whose name was erased is not used again.

        Raises:
            CaseLogError: The name is empty.
        """
        name = " ".join(name.split())[:200]
        if not name:
            raise CaseLogError("caselog.nobody", code="case-log-nobody")
        with self.writing():
            people = self.people()
            own = [one for one in people if one.id == identifier]
            for person in reversed(own[-1:] or people):
                if person.name.casefold() == name.casefold():
                    return person
            known = {one.actor for one in self.acts("person-added")} if identifier else set()
            fresh = not identifier or (identifier in known and not own)
            new = Person(id=secrets.token_hex(8) if fresh else identifier, name=name)
            self.append(
                "person-added",
                new.id,
                role="program",
                facts={"person": new.id},
                kept={"name": new.name},
            )
        return new

    def _next(self, said: Mapping[str, Any]) -> LogEntry:
        """Return the entry that would come next."""
        said = {**_NOTHING, **said}
        if said["action"] not in ACTIONS or said["role"] not in ROLES:
            raise ValueError("unknown action or role")
        now = self._clock()
        head = self.head()
        utc = now.astimezone(dt.UTC).isoformat(timespec="microseconds")
        return make(
            {
                "log": self.id,
                "seq": head.seq + 1,
                "prev": head.hash,
                "case_prev": self._case_head(said["case"]),
                "time": utc.replace("+00:00", "Z"),
                "zone": now.strftime("%z %Z").strip(),
                "clock": CLOCK,
                "station": self._station,
                "program": PROGRAM,
                "build": build_hash(),
                **said,
            }
        )

    def _case_head(self, case: str) -> str:
        if not case:
            return ""
        row = self._db.execute(
            "SELECT hash FROM entries WHERE case_id = ? ORDER BY place DESC LIMIT 1", (case,)
        ).fetchone()
        return START if row is None else str(row[0])

    def _begin(self) -> None:
        """Give a new log its identifier and its first entry."""
        if self._db.execute("SELECT 1 FROM meta WHERE name = 'log'").fetchone():
            return
        with transaction(self._db):
            if self._db.execute("SELECT 1 FROM meta WHERE name = 'log'").fetchone():
                return  # another program was quicker
            self.id = secrets.token_hex(16)
            self._db.execute("INSERT INTO meta VALUES ('log', ?)", (self.id,))
            self.append("log-created", role="program")


def insert(db: sqlite3.Connection, entry: LogEntry) -> None:
    """Write an entry to the table."""
    db.execute(
        "INSERT INTO entries VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            entry.log,
            entry.seq,
            entry.hash,
            entry.line(),
            entry.case,
            entry.item,
            entry.action,
            entry.time,
        ),
    )


def keep(db: sqlite3.Connection, entry: LogEntry, field: str, salt: bytes, value: bytes) -> None:
    """Write what is kept beside an entry."""
    db.execute(
        "INSERT INTO kept VALUES (?, ?, ?, ?, ?)", (entry.log, entry.seq, field, salt, value)
    )


def workstation(path: Path) -> str:
    """Return the random identifier of this installation; made at the first call."""
    with suppress(OSError, UnicodeDecodeError):
        found = path.read_text(encoding="ascii").strip()
        if is_hex(found, 16):
            return found
    new = secrets.token_hex(8)
    with suppress(OSError):  # a folder that cannot be written: this run has one of its own
        write_atomic(path, f"{new}\n".encode())
    return new


def _parsed(digest: str, body: str) -> LogEntry:
    try:
        return parse(digest, body)
    except ValueError:
        raise CaseLogError("caselog.entry-damaged", code="case-log-entry") from None


def _make_private_file(path: Path) -> None:
    """Make the folder and the empty file, readable by this user only."""
    with os_error_as(CaseLogError, "file.write", name=path.name):
        make_private(path.parent)
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
