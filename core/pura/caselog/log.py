"""The append-only case log: each entry contains the hash of the entry before it."""

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
"""Hash that the first entry has in place of a predecessor."""


def written(body: Mapping[str, Any]) -> bytes:
    """Serialise an entry in its form.

    Raises:
        ValueError: The entry has no canonical form.
    """
    return former(body) if body["v"] == 1 else canonical(body)


def entry_hash(body: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a serialised entry, 64 hex digits."""
    return sha256(written(body))


def commitment(salt: bytes, kept_value: bytes) -> str:
    """Return the commitment of the chain to a kept value: SHA-256 of salt and value, hexadecimal.

    Because of the salt, nobody can find a name or a short text by trying until the digest fits.
    """
    return hashlib.sha256(salt + kept_value).hexdigest()


def pack(kept_value: object) -> bytes:
    """Return a kept value as bytes: canonical JSON."""
    return canonical(kept_value)


def unpack(packed: bytes) -> Any:
    """Return a kept value.

    Raises:
        ValueError: Not JSON.
    """
    return read_json(packed)


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
    """Return the name of an action in a language; the code itself for an unknown action."""
    texts, key = catalogue("command"), f"action.{action}"
    return texts.fill(key, language, {}) if key in texts else action


@dataclass(frozen=True, kw_only=True)
class LogEntry:
    """An entry of a log.

    Attributes:
        hash: Stored hash of the entry.
        body: The content that the hash is computed from.
    """

    hash: str
    body: Mapping[str, Any]

    @property
    def log(self) -> str:
        """Identifier of the log that the entry was written to first."""
        return str(self.body["log"])

    @property
    def seq(self) -> int:
        """Number of the entry in that log, from 1."""
        return int(self.body["seq"])

    @property
    def time(self) -> str:
        """Time of writing, UTC, ISO 8601."""
        return str(self.body["time"])

    @property
    def actor(self) -> str:
        """Identifier of the person who acted."""
        return str(self.body["actor"])

    @property
    def role(self) -> str:
        """Role of that person, one of :data:`ROLES`."""
        return str(self.body["role"])

    @property
    def case(self) -> str:
        """Identifier of the case; may be empty."""
        return str(self.body["case"])

    @property
    def item(self) -> str:
        """Identifier of the audit; may be empty."""
        return str(self.body["item"])

    @property
    def action(self) -> str:
        """The action, one of :data:`ACTIONS`."""
        return str(self.body["action"])

    @property
    def result(self) -> str:
        """Code of the result, such as a verdict; may be empty."""
        return str(self.body["result"])

    @property
    def facts(self) -> Mapping[str, Any]:
        """Facts that remain in the chain permanently."""
        facts: Mapping[str, Any] = self.body["facts"]
        return facts

    @property
    def kept(self) -> Mapping[str, str]:
        """Commitments to the values that are kept beside the entry, by field name."""
        commitments: Mapping[str, str] = self.body["kept"]
        return commitments

    def line(self) -> str:
        """Return the entry as it is written; its hash is computed from this."""
        return written(self.body).decode()


def make(fields: Mapping[str, Any]) -> LogEntry:
    """Return an entry of the current form."""
    body = {"v": FORM, **fields}
    return LogEntry(hash=entry_hash(body), body=body)


def parse(stored_hash: str, text: str) -> LogEntry:
    """Parse a stored entry, without comparing its hash.

    Raises:
        ValueError: The text is not an entry.
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
    # Entries contain a finding, on which 0.3.0 fails; it refuses files of this version.
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
        # An acknowledged entry is on the disk, even if the power fails.
        "synchronous = FULL",
        # Erased values are overwritten.
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
        seq: Number of the entry; 0 if there is none.
        hash: Its hash.
    """

    log: str
    seq: int
    hash: str

    def __str__(self) -> str:
        return f"{self.seq}:{self.hash}"


@dataclass(frozen=True, kw_only=True)
class Person:
    """A person who acts; only the identifier goes into the chain."""

    id: str
    name: str


class CaseLog(Handle):
    """An open case log; close it, or use it in a ``with`` statement. One thread at a time.

    Args:
        path: The file.
        create: Create the file if it does not exist.
        read_only: Never write.
        timeout: Seconds to wait for the transaction of another program.
        station: Random identifier of the installation.
        worker: Person who acts if none is named; the name is "" until it is entered.
        clock: Returns the current time with its time zone.
        closing: Called with the log before it is closed, if entries were added.

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
        """Close the file."""
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
        """Open a transaction in which several queries see the same state."""
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
        """Yield the entries of a case or an audit, or all, in the order of arrival."""
        conditions, parameters = [], []
        for name, identifier in (("case_id", case), ("item_id", item)):
            if identifier is not None:
                conditions.append(f"{name} = ?")
                parameters.append(identifier)
        query = _COLUMNS + (f" WHERE {' AND '.join(conditions)}" if conditions else "")
        with CASE_LOG.guard():
            for digest, body in self._db.execute(f"{query} ORDER BY place", parameters):
                yield _parsed(digest, body)

    def acts(self, *actions: str) -> Iterator[LogEntry]:
        """Yield the entries of some actions, in the order of arrival."""
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
        """Return the bytes of a field that is kept beside an entry; None if it is not stored.

        Raises:
            CaseLogError: The bytes do not match the commitment in the chain.
        """
        with CASE_LOG.guard():
            row = self._db.execute(
                "SELECT salt, value FROM kept WHERE log = ? AND seq = ? AND field = ?",
                (entry.log, entry.seq, field),
            ).fetchone()
        if row is None:
            return None
        salt, kept_value = bytes(row[0]), bytes(row[1])
        if commitment(salt, kept_value) != entry.kept.get(field):
            raise CaseLogError(
                "caselog.kept-altered", seq=entry.seq, field=field, code="case-log-altered"
            )
        return kept_value

    def kept(self, entry: LogEntry, field: str) -> Any:
        """Return the value of a kept field; None if it is not stored."""
        packed = self.kept_bytes(entry, field)
        return None if packed is None else unpack(packed)

    def signature(self, digest: str) -> bytes | None:
        """Return the signature (CMS, DER) with a SHA-256; None if it is not stored."""
        with CASE_LOG.guard():
            row = self._db.execute(
                "SELECT cms FROM signatures WHERE digest = ?", (digest,)
            ).fetchone()
        return None if row is None else bytes(row[0])

    def people(self) -> list[Person]:
        """Return the people whose names are kept, in the order of the log, one per name."""
        names = [(entry, self.kept(entry, "name")) for entry in self.acts("person-added")]
        return [
            Person(id=str(entry.facts["person"]), name=str(name))
            for entry, name in names
            if name is not None
        ]

    # Writing

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Open a transaction: all its entries are added, or none.

        Raises:
            CaseLogError: Another program keeps the file locked, the disk is full, or the file is
                not writable.
        """
        # Within a larger transaction, this is part of it.
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
        **further_fields: str,
    ) -> LogEntry:
        """Add one entry at the end.

        Args:
            action: One of :data:`ACTIONS`.
            actor: Identifier of the person; empty for the program itself.
            kept: Erasable values by field name; only commitments to them go into the chain.
            facts: Facts that remain in the chain permanently: numbers, codes, fingerprints.
            further_fields: ``role``, one of :data:`ROLES`; ``case`` and ``item``, identifiers;
                ``result``, a code such as an outcome; ``policy``, its version; ``signature``, the
                SHA-256 of a signature.
        """
        packed = {name: v if isinstance(v, bytes) else pack(v) for name, v in kept.items()}
        salts = {name: os.urandom(SALT_BYTES) for name in packed}
        with self.writing():
            commitments = {
                name: commitment(salts[name], packed_value) for name, packed_value in packed.items()
            }
            fields = {"action": action, "actor": actor, "facts": dict(facts), "kept": commitments}
            entry = self._next({**fields, **further_fields})
            insert(self._db, entry)
            for name, packed_value in packed.items():
                keep(self._db, entry, name, salts[name], packed_value)
        _log.info("case log: entry %d, %s", entry.seq, entry.action)
        return entry

    def erase(self, entry: LogEntry, field: str) -> bool:
        """Overwrite a field that is kept beside an entry; return whether it was stored."""
        deletion = self._db.execute(
            "DELETE FROM kept WHERE log = ? AND seq = ? AND field = ?",
            (entry.log, entry.seq, field),
        )
        return deletion.rowcount > 0

    def sign(self, digest: str, cms: bytes) -> None:
        """Store a signature beside the chain."""
        self._db.execute("INSERT OR IGNORE INTO signatures VALUES (?, ?)", (digest, cms))

    def scrub(self) -> None:
        """Empty the write-ahead log, which still has erased values.

        If another program that is reading prevents this, the next call does it.
        """
        with CASE_LOG.guard():
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def person(self, name: str, identifier: str = "") -> Person:
        """Return the person with a name, and add the person if necessary; case is ignored.

        Args:
            name: Name of the person.
            identifier: Identifier of the person, whose earlier name is replaced. An identifier
                whose name was erased is not used again.

        Raises:
            CaseLogError: The name is empty.
        """
        name = " ".join(name.split())[:200]
        if not name:
            raise CaseLogError("caselog.nobody", code="case-log-nobody")
        with self.writing():
            people = self.people()
            same_id = [one for one in people if one.id == identifier]
            for person in reversed(same_id[-1:] or people):
                if person.name.casefold() == name.casefold():
                    return person
            known_ids = {one.actor for one in self.acts("person-added")} if identifier else set()
            fresh = not identifier or (identifier in known_ids and not same_id)
            new = Person(id=secrets.token_hex(8) if fresh else identifier, name=name)
            self.append(
                "person-added",
                new.id,
                role="program",
                facts={"person": new.id},
                kept={"name": new.name},
            )
        return new

    def _next(self, fields: Mapping[str, Any]) -> LogEntry:
        """Return the next entry, without storing it."""
        fields = {**_NOTHING, **fields}
        if fields["action"] not in ACTIONS or fields["role"] not in ROLES:
            raise ValueError("unknown action or role")
        now = self._clock()
        head = self.head()
        utc = now.astimezone(dt.UTC).isoformat(timespec="microseconds")
        return make(
            {
                "log": self.id,
                "seq": head.seq + 1,
                "prev": head.hash,
                "case_prev": self._case_head(fields["case"]),
                "time": utc.replace("+00:00", "Z"),
                "zone": now.strftime("%z %Z").strip(),
                "clock": CLOCK,
                "station": self._station,
                "program": PROGRAM,
                "build": build_hash(),
                **fields,
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


def keep(
    db: sqlite3.Connection, entry: LogEntry, field: str, salt: bytes, packed_value: bytes
) -> None:
    """Store a field beside an entry."""
    db.execute(
        "INSERT INTO kept VALUES (?, ?, ?, ?, ?)", (entry.log, entry.seq, field, salt, packed_value)
    )


def workstation(path: Path) -> str:
    """Return the random identifier of this installation; the first call creates it."""
    with suppress(OSError, UnicodeDecodeError):
        stored_id = path.read_text(encoding="ascii").strip()
        if is_hex(stored_id, 16):
            return stored_id
    new = secrets.token_hex(8)
    with suppress(OSError):  # if the folder is not writable, the identifier is for this run only
        write_atomic(path, f"{new}\n".encode())
    return new


def _parsed(digest: str, body: str) -> LogEntry:
    try:
        return parse(digest, body)
    except ValueError:
        raise CaseLogError("caselog.entry-damaged", code="case-log-entry") from None


def _make_private_file(path: Path) -> None:
    """Create the folder and the empty file, accessible to this user only."""
    with os_error_as(CaseLogError, "file.write", name=path.name):
        make_private(path.parent)
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
