"""What the service remembers: sketches of texts with the answers they got, and what was spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from pura.base.database import Handle, Kind, transaction
from pura.base.errors import ServeError
from pura.base.files import make_private
from pura.serve.sketches import Sketch

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
    ),
    other_hint="database.serve-hint",
    damaged_hint="database.serve-hint",
    pragmas=("synchronous = NORMAL", "foreign_keys = ON"),
)
_PATIENCE_S: Final = 5.0


@dataclass(frozen=True, kw_only=True)
class Remembered:
    """An answer that a text got.

    Attributes:
        marked: The public was told of a mark.
        seconds: How long it had taken.
    """

    marked: bool
    seconds: float


class Store(Handle):
    """Sketches and budgets. One thread at a time.

    Args:
        path: The file; made where it is not there.
    """

    def __init__(self, path: Path) -> None:
        make_private(path.parent)
        self._db = _KIND.connect(path, create=True, read_only=False, timeout=_PATIENCE_S)

    def remember(self, sketch: Sketch, answer: Remembered, *, days: int, now: datetime) -> None:
        """Keep the answer of a text."""
        until = (now + timedelta(days=days)).astimezone(UTC).isoformat()
        with _KIND.guard(), transaction(self._db):
            row = self._db.execute(
                "INSERT INTO texts (until, sketch, marked, seconds) VALUES (?, ?, ?, ?)",
                (until, sketch.packed(), answer.marked, answer.seconds),
            )
            bands = [(band, row.lastrowid) for band in sketch.bands]
            self._db.executemany("INSERT INTO bands VALUES (?, ?)", bands)

    def recall(
        self, sketch: Sketch, *, resemblance: float, same: float, now: datetime
    ) -> Remembered | None:
        """Return the answer of an earlier text that counts for a text as well, if one does.

        Args:
            sketch: Of the text.
            resemblance: From where on the answer of one that was called marked counts.
            same: From where on that of any other does: somebody could ask about the remains of a
                marked text first, and have others told nothing of the text itself.
            now: The moment.
        """
        bands = sketch.bands
        with _KIND.guard():
            rows = self._db.execute(
                "SELECT sketch, marked, seconds FROM texts WHERE until > ? AND number IN"  # noqa: S608
                f" (SELECT text FROM bands WHERE band IN ({','.join('?' * len(bands))}))"
                " ORDER BY marked DESC, number",
                (now.astimezone(UTC).isoformat(), *bands),
            ).fetchall()
        for packed, marked, seconds in rows:
            alike = sketch.resemblance(Sketch.unpacked(packed))
            if alike >= (resemblance if marked else same):
                return Remembered(marked=bool(marked), seconds=seconds)
        return None

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
        """Drop what is past: answers whose period is over, and what was spent on other days."""
        moment = now.astimezone(UTC)
        with _KIND.guard(), transaction(self._db):
            self._db.execute("DELETE FROM texts WHERE until <= ?", (moment.isoformat(),))
            self._db.execute("DELETE FROM spent WHERE day < ?", (moment.date().isoformat(),))
