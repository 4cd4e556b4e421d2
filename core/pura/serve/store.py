"""What was spent of the budgets across restarts.

Buckets that refill, and the secret for addresses.
"""

from __future__ import annotations

import hashlib
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pura.base.database import Handle, Kind, transaction
from pura.base.errors import ServeError
from pura.base.files import make_private, write_atomic

CHECK_TOKENS: Final = 500
"""Tokens that cost one check."""
DAY_S: Final = 86_400.0
LOOK_UP: Final = 1.0
"""Checks that looking up a manifest costs."""
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


class Salt:
    """Hashes what must not be kept as it is.

    Args:
        secret: 32 bytes.
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    @classmethod
    def of(cls, path: Path) -> Salt:
        """Read the salt of an installation; make it where there is none.

        Raises:
            ServeError: The file is damaged.
            OSError: It cannot be read or written.
        """
        if not path.exists():
            write_atomic(path, secrets.token_bytes(_SALT_BYTES), private=True)
        secret = path.read_bytes()
        if len(secret) != _SALT_BYTES:
            raise ServeError("serve.secret", name=path.name)
        return cls(secret)

    def digest(self, data: bytes, purpose: bytes) -> bytes:
        """Return 16 bytes that say nothing without the salt."""
        return hashlib.blake2b(data, digest_size=16, key=self._secret, person=purpose).digest()


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
