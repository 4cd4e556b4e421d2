"""What the operator decides: limits, budgets and what is spent of them, tokens."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from pura.base.database import Handle, Kind, transaction
from pura.base.errors import ServeError
from pura.base.files import file_lock, make_private, write_atomic
from pura.base.json_text import read_json
from pura.base.paths import Paths
from pura.record.answers import Role
from pura.serve.grants import Grant

__all__ = ["PER_DAY", "Limits", "Places", "Protection", "Settings"]


CHECK_TOKENS: Final = 500
"""Tokens that cost one check."""
DAY_S: Final = 86_400.0
LOOK_UP: Final = 1.0
"""Checks that looking up a manifest costs, and each step of publishing one."""
_HELD: Final = 0.25  # of a day's checks
_CHECK_BODY_BYTES: Final = 1 << 20
_CHECK_FILE_BYTES: Final = 256 << 10


@dataclass(frozen=True, kw_only=True)
class Budget:
    """One bucket.

    Attributes:
        who: Whose it is: a token, an address block under the salt, or all of the public.
        per_day: Checks that flow in, in a day.
    """

    who: bytes
    per_day: float

    @property
    def holds(self) -> float:
        """Checks that it holds when it is full."""
        return _HELD * self.per_day

    def needed(self, checks: float) -> float:
        """Return what it must hold for checks to be paid: half of it will do for any number.

        Else what costs more than it holds could never be paid, nor, with a few bytes, what costs
        as much. It is in debt then.
        """
        return min(checks, self.holds / 2)


def of_body(size: int) -> float:
    """Return the checks that the bytes of a request cost."""
    return size / _CHECK_BODY_BYTES


def of_file(size: int) -> float:
    """Return the checks that parsing a file costs: a small one can take as long as a large one."""
    return 1.0 + size / _CHECK_FILE_BYTES


def of_tokens(tokens: int) -> float:
    """Return the checks that reading a text costs."""
    return tokens / CHECK_TOKENS


def most_answered(per_day: float, least_tokens: int) -> float:
    """Return how many texts of a least length a bucket pays for at most within any 24 hours.

    Args:
        per_day: Checks that flow in.
        least_tokens: Of a text; positive.
    """
    budget = Budget(who=b"", per_day=per_day)
    return (per_day + budget.holds) / budget.needed(of_tokens(least_tokens))


_SALT_BYTES: Final = 32


def secret_of(path: Path) -> bytes:
    """Read the secret of an installation, under which addresses are hashed; make it if need be.

    Raises:
        ServeError: The file is damaged.
        OSError: It cannot be read or written.
    """
    if not path.exists():
        write_atomic(path, secrets.token_bytes(_SALT_BYTES), private=True)
    secret = path.read_bytes()
    if len(secret) != _SALT_BYTES:
        raise ServeError("serve.secret", name=path.name)
    return secret


_KIND: Final = Kind(
    noun="database.serve",
    whole="database.serve",
    error=ServeError,
    application_id=0x50555244,  # PURD
    migrations=(
        (
            (
                "CREATE TABLE texts (number INTEGER PRIMARY KEY, until TEXT NOT NULL,"
                " sketch BLOB NOT NULL, marked INTEGER NOT NULL, seconds REAL NOT NULL)"
            ),
            "CREATE INDEX texts_until ON texts (until)",
            (
                "CREATE TABLE bands (band BLOB NOT NULL, text INTEGER NOT NULL"
                " REFERENCES texts (number) ON DELETE CASCADE, PRIMARY KEY (band, text))"
                " WITHOUT ROWID"
            ),
            "CREATE INDEX bands_text ON bands (text)",
            (
                "CREATE TABLE spent (day TEXT NOT NULL, who BLOB NOT NULL, checks INTEGER NOT NULL,"
                " PRIMARY KEY (day, who)) WITHOUT ROWID"
            ),
        ),
        # Sketches of texts that were asked about (0.3) decide nothing any more.
        ("DROP TABLE bands", "DROP TABLE texts"),
        # Of a bucket nothing is kept but when it will be full again; one that is has no row.
        (
            "DROP TABLE spent",
            "CREATE TABLE buckets (who BLOB PRIMARY KEY, full REAL NOT NULL) WITHOUT ROWID",
            "CREATE INDEX buckets_full ON buckets (full)",
        ),
    ),
    other_hint="database.serve-hint",
    damaged_hint="database.serve-hint",
    pragmas=("synchronous = NORMAL",),
)
_PATIENCE_S: Final = 5.0
_LEAST_FREE: Final = 16 << 20


class Store(Handle):
    """Buckets. One thread at a time.

    Args:
        path: The file; made where it is not there.
    """

    def __init__(self, path: Path) -> None:
        make_private(path.parent)
        self._folder, self._refused = path.parent, False
        self._db = _KIND.connect(path, create=True, read_only=False, timeout=_PATIENCE_S)

    def spend(self, budgets: Sequence[Budget], checks: float, *, now: float) -> float:
        """Take checks out of every bucket, or out of none.

        Args:
            budgets: The buckets.
            checks: What is spent.
            now: Seconds since 1970.

        Returns:
            Seconds after which all can pay; 0 where they have paid.
        """
        with self._writing():
            self._db.execute("DELETE FROM buckets WHERE full <= ?", (now,))
            full = [self._full(one, now) for one in budgets]
            wait = max(
                (
                    at - now - (one.holds - one.needed(checks)) * _seconds_a_check(one)
                    for one, at in zip(budgets, full, strict=True)
                ),
                default=0.0,
            )
            if wait > 0:
                return wait
            self._move(budgets, full, checks)
        return 0.0

    def refund(self, budgets: Sequence[Budget], checks: float, *, now: float) -> None:
        """Put checks back into every bucket."""
        with self._writing():
            self._move(budgets, [self._full(one, now) for one in budgets], -checks)

    def writable(self) -> bool:
        """Return whether there is room for what is to be kept.

        Where the disk took nothing the last time, it is tried again, with what goes at the next
        chance: a bucket that is full, and large enough to need room of its own.
        """
        if shutil.disk_usage(self._folder).free < _LEAST_FREE:
            return False
        if self._refused:
            with suppress(ServeError), self._writing():
                self._db.execute("INSERT OR REPLACE INTO buckets VALUES (zeroblob(65536), 0.0)")
        return not self._refused

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            with _KIND.guard(), transaction(self._db):
                yield
        except ServeError:
            self._refused = True
            raise
        self._refused = False

    def left(self, budget: Budget, *, now: float) -> float:
        """Return the checks in a bucket; negative: its debt."""
        return budget.holds - (self._full(budget, now) - now) / _seconds_a_check(budget)

    def _full(self, budget: Budget, now: float) -> float:
        """Return when a bucket is full, which may be now."""
        row = self._db.execute("SELECT full FROM buckets WHERE who = ?", (budget.who,)).fetchone()
        return now if row is None else max(now, float(row[0]))

    def _move(self, budgets: Sequence[Budget], full: Sequence[float], checks: float) -> None:
        self._db.executemany(
            "INSERT OR REPLACE INTO buckets VALUES (?, ?)",
            [
                (one.who, at + checks * _seconds_a_check(one))
                for one, at in zip(budgets, full, strict=True)
            ],
        )


def _seconds_a_check(budget: Budget) -> float:
    return DAY_S / budget.per_day


@dataclass(frozen=True, kw_only=True)
class Asker:
    """Who asks.

    Attributes:
        token: Identifier of the token; for whoever has none, the address block under the salt.
        name: As logs and the case log name them.
        role: How much of a finding they get.
        budgets: What pays for what they ask.
    """

    token: str
    name: str
    role: Role
    budgets: tuple[Budget, ...]

    @property
    def reserved(self) -> bool:
        """Whether places are reserved for them: a token of more than a public role says so."""
        return self.role is not Role.PUBLIC


PER_DAY = {
    Role.PUBLIC: 50,
    Role.TRUSTED: 1000,
    Role.INTERNAL: 100_000,
    Role.PUBLISHER: 100_000,
}
"""Checks in a day that a token of a role is good for, where nobody said otherwise."""


SCHEMA: Final = "pura-serve-tokens/1"
PREFIX: Final = "pura_"
_BYTES: Final = 32
_TOKENS_PATIENCE_S: Final = 10.0
_MOST_NAME: Final = 60


@dataclass(frozen=True, kw_only=True)
class Token:
    """What is kept of a token.

    Attributes:
        id: Its identifier, 12 hex digits; no secret.
        name: Whom it was given to.
        role: What they may ask for.
        sha256: Of the token, 64 hex digits.
        made: When, ISO 8601.
        per_day: Checks in a day that it is good for.
        expires: Last day on which it is good, ISO 8601; empty: until it is revoked.
        revoked: When it was, ISO 8601; empty while it is good.
        grants: Of a publisher: which values it may bind to its manifests.
    """

    id: str
    name: str
    role: str
    sha256: str
    made: str
    per_day: int
    expires: str = ""
    revoked: str = ""
    grants: tuple[Grant, ...] = ()

    def good(self, now: datetime) -> bool:
        """Whether it may be used."""
        return not self.revoked and (not self.expires or now.date().isoformat() <= self.expires)


class TokenFile:
    """The tokens of an installation, in one file that only its user reads.

    Args:
        path: Where it is; need not be there.
        now: The clock.
    """

    def __init__(self, path: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._path, self._now = path, now
        self._seen: tuple[int, int, int] | None = None
        self._held: tuple[Token, ...] = ()

    def list(self) -> tuple[Token, ...]:
        """Return all tokens, revoked ones too, in the order in which they were made.

        Raises:
            ServeError: The file is damaged, or cannot be read.
        """
        try:
            state = self._path.stat()
        except FileNotFoundError:
            return ()
        seen = (state.st_mtime_ns, state.st_size, state.st_ino)
        if seen != self._seen:
            self._held = self._read()
            self._seen = seen
        return self._held

    def new(
        self,
        name: str,
        role: Role,
        *,
        per_day: int,
        expires: str = "",
        grants: Sequence[Grant] = (),
    ) -> str:
        """Make a token and return it; it cannot be shown again.

        Args:
            name: Whom it is given to.
            role: What they may ask for.
            per_day: Checks in a day that it is good for.
            expires: Last day on which it is good, ISO 8601; empty: until it is revoked.
            grants: Of a publisher: which values it may bind.

        Raises:
            ServeError: The name is empty, too long or that of a token in use, or grants are given
                to another role than a publisher.
        """
        _refuse_grants(role, grants)
        name = name.strip()
        if not 0 < len(name) <= _MOST_NAME or not name.isprintable():
            raise ServeError("name.form", most=_MOST_NAME, code="usage")
        token = PREFIX + secrets.token_urlsafe(_BYTES)
        made = Token(
            id=secrets.token_hex(6),
            name=name,
            role=role.value,
            sha256=_digest(token),
            made=self._now().isoformat(timespec="seconds"),
            per_day=per_day,
            expires=expires,
            grants=tuple(grants),
        )
        with file_lock(self._path.with_suffix(".lock"), _TOKENS_PATIENCE_S):
            known = self.list()
            if any(one.name == name and not one.revoked for one in known):
                raise ServeError("name.taken", name=name, code="usage")
            self._write((*known, made))
        return token

    def revoke(self, name: str) -> Token:
        """Make a token good for nothing, from now on.

        Args:
            name: Its name or identifier.

        Raises:
            ServeError: No token in use is called so.
        """
        with file_lock(self._path.with_suffix(".lock"), _TOKENS_PATIENCE_S):
            known = self.list()
            found = [one for one in known if name in (one.name, one.id) and not one.revoked]
            if not found:
                raise ServeError("serve.token-none", name=name, code="usage")
            gone = replace(found[0], revoked=self._now().isoformat(timespec="seconds"))
            self._write(tuple(gone if one.id == gone.id else one for one in known))
        return gone

    def grant(self, name: str, grants: Sequence[Grant]) -> Token:
        """Set which values a publisher may bind, in the place of what was set before.

        Args:
            name: Name or identifier of its token.
            grants: The values; none lets it bind nothing, and hides what it bound.

        Raises:
            ServeError: No token in use is called so, or it is not a publisher's.
        """
        with file_lock(self._path.with_suffix(".lock"), _TOKENS_PATIENCE_S):
            known = self.list()
            found = [one for one in known if name in (one.name, one.id) and not one.revoked]
            if not found:
                raise ServeError("serve.token-none", name=name, code="usage")
            _refuse_grants(Role(found[0].role), grants)
            granted = replace(found[0], grants=tuple(grants))
            self._write(tuple(granted if one.id == granted.id else one for one in known))
        return granted

    def grants_of(self, name: str) -> tuple[Grant, ...]:
        """Return which values a publisher may bind.

        Args:
            name: Of its token. What a revoked one published stays found, unless another token of
                that name is in use.
        """
        named = [one for one in self.list() if one.name == name]
        in_use = [one for one in named if not one.revoked] or named[-1:]
        return in_use[0].grants if in_use else ()

    def asker(self, token: str) -> Asker | None:
        """Return who has a token; None where it is none that is good.

        Every token is compared, each in constant time: how long it takes says nothing.
        """
        digest, found = _digest(token), None
        now = self._now()
        for one in self.list():
            same = hmac.compare_digest(one.sha256, digest)
            if same and one.good(now):
                found = one
        if found is None:
            return None
        budget = Budget(who=found.id.encode(), per_day=found.per_day)
        return Asker(token=found.id, name=found.name, role=Role(found.role), budgets=(budget,))

    def _read(self) -> tuple[Token, ...]:
        try:
            data = read_json(self._path.read_bytes())
            if data["schema"] != SCHEMA:
                raise ValueError("another schema")
            found = tuple(_token_of(one) for one in data["tokens"])
            for one in found:
                Role(one.role)
        except (OSError, ValueError, TypeError, LookupError) as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise ServeError("serve.tokens-damaged", name=self._path.name, reason=reason) from None
        return found

    def _write(self, tokens: tuple[Token, ...]) -> None:
        data = {"schema": SCHEMA, "tokens": [asdict(one) for one in tokens]}
        write_atomic(self._path, json.dumps(data, indent=1).encode(), private=True)


def _token_of(data: dict[str, Any]) -> Token:
    """Read a token as the file has it; those of 0.4.0 have no grants."""
    grants = tuple(Grant.from_json(one) for one in data.get("grants", ()))
    return Token(**{**data, "grants": grants})


def _refuse_grants(role: Role, grants: Sequence[Grant]) -> None:
    """Refuse grants of a role that binds nothing.

    Raises:
        ServeError: There are grants, and the role is another than a publisher's.
    """
    if grants and role is not Role.PUBLISHER:
        raise ServeError("serve.grant-role", code="usage")


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Places:
    """Where the service keeps what it keeps.

    Attributes:
        tokens: Hashes of tokens.
        salt: The secret under which addresses are hashed.
        store: What was spent of the budgets (SQLite).
        manifests: Manifests that were published (SQLite).
    """

    tokens: Path
    salt: Path
    store: Path
    manifests: Path

    @classmethod
    def of(cls, paths: Paths) -> Places:
        """Return the places of a user."""
        folder = paths.config / "serve"
        return cls(
            tokens=folder / "tokens.json",
            salt=folder / "salt",
            store=paths.data / "serve.sqlite3",
            manifests=paths.data / "manifests.sqlite3",
        )


@dataclass(frozen=True, kw_only=True)
class Protection:
    """What keeps the service from being an oracle; each can be switched off to measure it.

    Attributes:
        margin: log10 by which the evidence has to lie above the policy's threshold before the
            public is told of a mark.
        least_tokens: Shorter texts get no answer.
        per_day_public: Checks (see :mod:`pura.serve.settings`) in a day that the public may ask for
            in all; 0: no limit.
        per_day_block: Checks in a day from one block of addresses; 0: no limit.
    """

    margin: float = 1.0
    least_tokens: int = 200
    per_day_public: int = 2000
    per_day_block: int = 200


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What the service takes.

    Attributes:
        body_bytes: Of one request.
        held_bytes: Of all requests that are under way.
        public_share: Of bytes, connections, and places in the queue: the share that the public can
            hold at most. What is left is for tokens.
        body_s: Seconds within which the body of a request has to be there.
        least_rate: Bytes of it that have to come in a second, on average,
        grace_s: from so many seconds on.
        characters: Of one text, by role.
        waiting: Checks that wait, in all.
        waiting_characters: Characters of all texts that wait.
        waiting_each: Checks that wait of one asker.
        kept: Answers that are kept to be fetched; the oldest that was gives way to one more.
        kept_s: Seconds for which they are.
        at_once_s: Seconds within which an answer comes with the question.
        text_s: Seconds that one text may be read.
        drain_s: Seconds that running checks get when the service ends.
        connections: Open connections.
        header_s: Seconds within which TLS has to stand, and the head of each request to be there.
        parsers: Files of askers with tokens that are parsed at once.
        public_parsers: Those of the public.
        waiting_files: Files that wait for a parser, of each.
        parser_s: Seconds that one file may be parsed, by role.
        long_characters: Texts from here on are read in the gaps between shorter ones.
    """

    body_bytes: int = 8 << 20
    held_bytes: int = 64 << 20
    public_share: float = 0.5
    body_s: float = 30.0
    least_rate: int = 16_384
    grace_s: float = 5.0
    characters: dict[Role, int] = field(
        default_factory=lambda: {
            Role.PUBLIC: 100_000,
            Role.TRUSTED: 500_000,
            Role.INTERNAL: 2_000_000,
        }
    )
    waiting: int = 256
    waiting_characters: int = 8_000_000
    waiting_each: int = 64
    kept: int = 4096
    kept_s: float = 600.0
    at_once_s: float = 1.5
    text_s: float = 600.0
    drain_s: float = 30.0
    connections: int = 512
    header_s: float = 10.0
    parsers: int = 2
    public_parsers: int = 1
    waiting_files: int = 16
    parser_s: dict[Role, float] = field(
        default_factory=lambda: {Role.PUBLIC: 10.0, Role.TRUSTED: 30.0, Role.INTERNAL: 60.0}
    )
    long_characters: int = 16_384


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How the service is run.

    Attributes:
        name: Of the detector, for people.
        contact: Whom to write to; an address of mail or a page.
        hosts: Names under which it is asked, beside those of this machine (``localhost``).
        languages: Of texts that the detector was validated for; empty: nothing was said.
        anyone: Whoever has no token may ask as the public.
        release: Fields of an identified payload that trusted askers are told.
        soft_binding: Name of this detector's soft binding, as C2PA's list of algorithms has it;
            empty: manifests are neither kept nor looked up.
        public_lookups: The public may look up manifests, within its budgets.
        protection: See there.
        limits: See there.
    """

    name: str = ""
    contact: str = ""
    hosts: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    anyone: bool = False
    release: tuple[str, ...] = ()
    soft_binding: str = ""
    public_lookups: bool = False
    protection: Protection = Protection()
    limits: Limits = Limits()
