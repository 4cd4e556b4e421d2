"""Verification of the register: every row of the chain, and the entries derived from it."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any, Final

from pura.base.catalogue import Phrase, phrase
from pura.base.progress import Checkpoint, Progress, counted, never_cancelled, no_progress
from pura.register.chain import COLUMNS, SELECT, START, Act, row_hash
from pura.register.rows import Drawn
from pura.register.schema import ENTER, NOBODY, numbers_of, sums_agree
from pura.register.store import Register

_STEP: Final = 10_000  # rows between two calls of the checkpoint
_REMADE: Final = (
    "CREATE TEMP TABLE remade (number INTEGER PRIMARY KEY, row INTEGER, series INTEGER,"
    " payload BLOB, manifest TEXT, remark TEXT DEFAULT '', revoked INTEGER DEFAULT 0)"
)


@dataclass(frozen=True, kw_only=True)
class RegisterCheck:
    """Result of verifying the register.

    Attributes:
        rows: Number of rows of the chain that were read.
        entries: Number of live entries.
        head: Stored hash of the newest row, 64 hex digits.
        faults: Deviations from the written state, the first of each kind.
        heads: For each given head, the number of the row with this hash; None if there is none,
            so that rows were changed or removed since.
    """

    rows: int
    entries: int
    head: str
    faults: tuple[Phrase, ...]
    heads: dict[str, int | None]

    @property
    def sound(self) -> bool:
        """Whether nothing was changed, and every head belongs to a row."""
        return not self.faults and None not in self.heads.values()


def verify(
    register: Register,
    heads: tuple[str, ...] = (),
    *,
    progress: Progress = no_progress,
    checkpoint: Checkpoint = never_cancelled,
) -> RegisterCheck:
    """Walk the complete chain, derive the entries again, and compare.

    A chain that was recomputed after a change is consistent in itself. Only a head that was kept
    elsewhere reveals the change: in a record, the case log, or a bundle.

    Args:
        register: An open register.
        heads: Earlier heads, or hashes of single rows; 64 hex digits each.
        progress: Called with the number of checked rows.
        checkpoint: Called every few thousand rows; may raise.

    Raises:
        RegisterError: The file is damaged, and its rows cannot be read.
    """
    db = register.connection
    with register.held():
        if db.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
            raise sqlite3.DatabaseError("integrity check")
        rows = int(db.execute("SELECT count(*) FROM chain").fetchone()[0])
        report = counted(progress, "verify")
        sought = {bytes.fromhex(head): head for head in heads}
        rows_of_heads: dict[str, int | None] = dict.fromkeys(heads)
        faults: list[Phrase] = []
        previous = START
        for number, row in enumerate(db.execute(f"{SELECT} ORDER BY sequence"), start=1):
            if number % _STEP == 0:
                checkpoint()
                report(number, rows)
            *values, stored = row
            if not faults:
                faults += _row_faults(number, previous, tuple(values), stored)
            previous = stored if isinstance(stored, bytes) else b""
            if previous in sought:
                rows_of_heads[sought[previous]] = values[0]
        if not faults:
            faults += _entry_faults(db, checkpoint)
        return RegisterCheck(
            rows=rows,
            entries=len(register),
            head=register.head(),
            faults=tuple(faults),
            heads=rows_of_heads,
        )


def _row_faults(
    number: int, previous: bytes, values: tuple[Any, ...], stored: object
) -> list[Phrase]:
    """Return the faults of a row of the chain; an empty list if it is unchanged."""
    if values[0] != number:
        return [phrase("register.row-missing", row=number)]
    try:
        computed: object = row_hash(previous, values)
    except sqlite3.DatabaseError:
        computed = None
    if computed != stored:
        return [phrase("register.row-changed", row=number)]
    row = dict(zip(COLUMNS, values, strict=True))
    if row["act"] == Act.UPGRADE and not sums_agree(row["note"]):
        return [phrase("register.upgrade-differs")]
    return []


def _entry_faults(db: sqlite3.Connection, checkpoint: Checkpoint) -> list[Phrase]:
    """Derive the entries again from the chain; return their differences from the stored ones."""
    # An in-memory copy of a read-only file refuses temporary tables, too.
    (refusing,) = db.execute("PRAGMA query_only").fetchone()
    db.execute("PRAGMA query_only = OFF")
    try:
        db.execute(_REMADE)
        return _differences(db, checkpoint)
    except sqlite3.IntegrityError:
        return [phrase("register.entries-differ")]
    finally:
        db.execute("DROP TABLE IF EXISTS temp.remade")
        db.execute(f"PRAGMA query_only = {refusing}")


def _differences(db: sqlite3.Connection, checkpoint: Checkpoint) -> list[Phrase]:
    issued = "SELECT entry, sequence, series, payload, manifest FROM chain WHERE act = 'issue'"
    db.execute(ENTER.replace("entries", "remade").partition(" VALUES")[0] + f" {issued}")
    later = db.execute(f"{SELECT} WHERE act NOT IN ('issue', 'upgrade') ORDER BY sequence")
    for step, (*values, _) in enumerate(later):
        if step % _STEP == 0:
            checkpoint()
        _repeat(db, dict(zip(COLUMNS, values, strict=True)))
    columns = "number, row, series, payload, manifest, remark, revoked"
    for left, right in (("main.entries", "temp.remade"), ("temp.remade", "main.entries")):
        difference = db.execute(
            f"SELECT number FROM (SELECT {columns} FROM {left} EXCEPT"  # noqa: S608
            f" SELECT {columns} FROM {right}) LIMIT 1"
        ).fetchone()
        if difference is not None:
            return [phrase("register.entry-changed", number=difference[0])]
    counted = db.execute(
        "SELECT 1 FROM series WHERE (live, random) != (SELECT count(*), coalesce(sum(drawn = ?), 0)"
        " FROM remade JOIN chain ON chain.sequence = remade.row"
        " WHERE remade.series = series.number AND revoked = 0) LIMIT 1",
        (str(Drawn.RANDOM),),
    ).fetchone()
    return [] if counted is None else [phrase("register.entries-differ")]


def _repeat(db: sqlite3.Connection, row: dict[str, Any]) -> None:
    """Apply a later row of the chain to the derived entries."""
    match row["act"]:
        case Act.REVOCATION:
            db.execute(
                "UPDATE remade SET revoked = ? WHERE number = ?", (row["sequence"], row["entry"])
            )
        case Act.REMARK:
            db.execute("UPDATE remade SET remark = ? WHERE number = ?", (row["note"], row["entry"]))
        case Act.MANIFEST:
            db.execute(
                "UPDATE remade SET manifest = ? WHERE number = ?", (row["manifest"], row["entry"])
            )
        case Act.ASSIGNMENT:
            series = (row["key"], row["epoch"], row["profile"], row["bits"])
            db.executemany(
                "UPDATE remade SET series = (SELECT number FROM series"
                " WHERE (key, epoch, profile, bits) = (?, ?, ?, ?))"
                " WHERE number BETWEEN ? AND ? AND series = (SELECT number FROM series"
                " WHERE (key, epoch, profile, bits) = (?, ?, ?, ?))",
                (
                    (*series, numbers.start, numbers.stop - 1, *NOBODY, row["bits"])
                    for numbers in numbers_of(row["entries"])
                ),
            )
        case _:
            raise sqlite3.IntegrityError("an act that this program does not know")
