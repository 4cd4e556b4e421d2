"""What was spent of the budgets of a service."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from pura.base.database import Handle, Kind, transaction
from pura.base.errors import ServeError
from pura.base.files import make_private

_KIND: Final = Kind(
    noun="database.serve",
    whole="database.serve-whole",
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
    ),
    other_hint="database.serve-hint",
    damaged_hint="database.serve-hint",
    pragmas=("synchronous = NORMAL",),
)
_PATIENCE_S: Final = 5.0


class Store(Handle):
    """Budgets. One thread at a time.

    Args:
        path: The file; made where it is not there.
    """

    def __init__(self, path: Path) -> None:
        make_private(path.parent)
        self._db = _KIND.connect(path, create=True, read_only=False, timeout=_PATIENCE_S)

    def spend(self, whose: Sequence[tuple[bytes, int]], *, now: datetime) -> bytes | None:
        """Take one check off every budget, or off none.

        Args:
            whose: Budgets, each with the checks that it has a day.
            now: The moment.

        Returns:
            The budget that is used up; None where all had something left.
        """
        day = now.astimezone(UTC).date().isoformat()
        with _KIND.guard(), transaction(self._db):
            for who, limit in whose:
                if self.spent(who, now=now) >= limit:
                    return who
            self._db.executemany(
                "INSERT INTO spent VALUES (?, ?, 1)"
                " ON CONFLICT (day, who) DO UPDATE SET checks = checks + 1",
                [(day, who) for who, _ in whose],
            )
        return None

    def spent(self, who: bytes, *, now: datetime) -> int:
        """Return how many checks of today a budget has paid for."""
        day = now.astimezone(UTC).date().isoformat()
        row = self._db.execute(
            "SELECT checks FROM spent WHERE day = ? AND who = ?", (day, who)
        ).fetchone()
        return 0 if row is None else int(row[0])

    def forget(self, *, now: datetime) -> None:
        """Drop what was spent on other days."""
        day = now.astimezone(UTC).date().isoformat()
        with _KIND.guard(), transaction(self._db):
            self._db.execute("DELETE FROM spent WHERE day < ?", (day,))
