"""The journal of a batch, one file beside its result, from which an interrupted batch resumes.

Items are entered in the order of the inputs, findings as they arrive, by the digest of their text.
A row of the result is an item with the finding of its digest, so no row is lost or duplicated, and
a repeated text costs nothing. The findings of a frame are stored together or not at all, so an
interrupted batch forms the same frames again. SQLite keeps committed data if the process is killed;
a power failure may cost the last commits, but never the file.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pura.base.database import Handle, Kind, transaction
from pura.base.errors import InputError
from pura.base.progress import Checkpoint, never_cancelled
from pura.batch.engine import Engine
from pura.batch.inputs import (
    Chunk,
    Frame,
    Inputs,
    Item,
    Refusal,
    Text,
    TextResult,
    chunks,
)
from pura.batch.results import Row, failed, row_of

DAY: Final = "day"
"""The setting that a batch keeps from its start: the meaning of ``today`` in limits."""

FRAME_TEXTS: Final = 8
FRAME_CHARACTERS: Final = 65_536
"""Largest number of texts and characters in a frame; a single text may be longer. Larger frames are
not faster, and leave workers idle at the end."""

_KIND: Final = Kind(
    noun="database.batch",
    whole="database.batch-whole",
    error=InputError,
    application_id=0x50555242,  # PURB
    migrations=(
        (
            "CREATE TABLE plan (settings TEXT NOT NULL)",
            "CREATE TABLE chunks (number INTEGER PRIMARY KEY, mark TEXT NOT NULL)",
            (
                "CREATE TABLE rows (number INTEGER PRIMARY KEY, chunk INTEGER NOT NULL,"
                " source TEXT NOT NULL, digest TEXT, characters INTEGER NOT NULL, frame INTEGER,"
                " error TEXT)"
            ),
            "CREATE INDEX rows_by_chunk ON rows (chunk)",
            "CREATE INDEX rows_by_digest ON rows (digest) WHERE digest IS NOT NULL",
            "CREATE INDEX rows_by_frame ON rows (frame) WHERE frame IS NOT NULL",
            (
                "CREATE TABLE findings (digest TEXT PRIMARY KEY, row TEXT NOT NULL,"
                " seconds REAL NOT NULL) WITHOUT ROWID"
            ),
        ),
    ),
    other_hint="database.batch-hint",
    damaged_hint="database.batch-hint",
    # A killed process loses nothing; a power failure can undo only complete last commits.
    pragmas=("synchronous = NORMAL", "cache_size = -16384"),
)

_JOINED: Final = (
    "SELECT source, digest, error, row FROM rows LEFT JOIN findings USING (digest) ORDER BY number"
)
_EXAMINED: Final = (
    "SELECT CASE WHEN error IS NULL AND json_extract(row, '$.error') IS NULL"
    " THEN json_extract(row, '$.log10_e') END"
    " FROM rows LEFT JOIN findings USING (digest) ORDER BY number"
)


class BatchJournal(Handle):
    """An open journal; close it, or use it in a ``with`` statement. One thread at a time.

    Args:
        path: File of the journal; created if it is missing.
        settings: Settings of the examination; findings with other settings cannot be used.

    Raises:
        InputError: The journal has other settings, is damaged, or is in use by another program.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        self._db = _KIND.connect(path, create=True, read_only=False, timeout=1.0)
        try:
            with _KIND.guard():
                self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
                self._day = self._take_up(settings)
                self._rows = self._number("SELECT coalesce(max(number), 0) FROM rows")
                self._begin_frames()
        except BaseException:
            self._db.close()
            raise

    @property
    def day(self) -> dt.date | None:
        """The meaning of ``today`` in limits since the batch started; None if no limit uses it."""
        return None if self._day is None else dt.date.fromisoformat(self._day)

    def stands(self, number: int, chunk: Chunk) -> bool:
        """Return whether a chunk is unchanged and complete, so that it need not be read."""
        with _KIND.guard():
            return self._same(number, chunk) and not self._missing(number)

    def take(self, number: int, chunk: Chunk, items: Sequence[Item]) -> list[tuple[int, Text]]:
        """Enter the items of a chunk.

        Args:
            number: Number of the chunk, in order.
            chunk: The chunk.
            items: Items of the chunk.

        Returns:
            Frame and text of each item without a finding, in order.
        """
        with _KIND.guard():
            entered = self._entered(number) if self._same(number, chunk) else None
            if entered is None or [digest for _, digest, _ in entered] != [
                _digest(i) for i in items
            ]:
                with transaction(self._db):
                    self._forget(number)
                    self._enter(number, chunk, items)
                entered = self._entered(number)
            return [
                (frame, item)
                for item, (_, digest, frame) in zip(items, entered, strict=True)
                if frame is not None and isinstance(item, Text) and not self._found(digest)
            ]

    def found(self, frame: Frame, findings: Sequence[TextResult]) -> None:
        """Enter the findings of the texts of a frame in one transaction."""
        with _KIND.guard(), transaction(self._db):
            self._db.executemany(
                "INSERT OR REPLACE INTO findings VALUES (?, ?, ?)",
                (
                    (text.digest, json.dumps(finding.row), finding.seconds)
                    for text, finding in zip(frame, findings, strict=True)
                ),
            )

    def end(self, chunks: int) -> None:
        """Delete the chunks after the last one, if there are fewer inputs than before."""
        with _KIND.guard(), transaction(self._db):
            self._forget(chunks)

    def rows(self, chosen: Sequence[bool] | npt.NDArray[np.bool_] | None = None) -> Iterator[Row]:
        """Yield the rows of the result, in the order of the inputs.

        Args:
            chosen: For each row, whether it was chosen from the batch.
        """
        with _KIND.guard(), closing(self._db.execute(_JOINED)) as joined:
            for number, (source, digest, error, row) in enumerate(joined):
                mark = None if chosen is None else bool(chosen[number])
                source_columns = {**json.loads(source), "digest": digest, "chosen": mark}
                yield row_of(source_columns, json.loads(row if error is None else error))

    def strengths(self) -> npt.NDArray[np.float64]:
        """Return float64 [rows]: log10 of the e-value of each row; NaN without one."""
        with _KIND.guard():
            return np.fromiter(
                (np.nan if value is None else value for [value] in self._db.execute(_EXAMINED)),
                dtype=np.float64,
            )

    def seconds(self) -> float:
        """Return the total time of all findings, in seconds."""
        with _KIND.guard():
            return float(
                self._db.execute("SELECT coalesce(sum(seconds), 0) FROM findings").fetchone()[0]
            )

    def _take_up(self, settings: Mapping[str, Any]) -> str | None:
        """Compare with the settings at the start, or store them; return the day."""
        with transaction(self._db, "EXCLUSIVE"):
            stored = self._db.execute("SELECT settings FROM plan").fetchone()
            original = settings if stored is None else json.loads(stored[0])
            merged = dict(settings)
            if DAY in settings:
                merged[DAY] = original.get(DAY, settings[DAY])
            plan = json.dumps(merged, sort_keys=True)
            # A journal of an earlier version holds no day; it continues with the present one.
            without = json.dumps({n: v for n, v in merged.items() if n != DAY}, sort_keys=True)
            if stored is None:
                self._db.execute("INSERT INTO plan VALUES (?)", (plan,))
            elif stored[0] not in (plan, without):
                raise InputError("batch.other-settings", code="batch-other")
            elif stored[0] != plan:
                self._db.execute("UPDATE plan SET settings = ?", (plan,))
        return merged.get(DAY)

    def _number(self, query: str, *arguments: object) -> int:
        return int(self._db.execute(query, arguments).fetchone()[0])

    def _begin_frames(self) -> None:
        """Continue with the frame that was filled last."""
        self._frame, self._texts, self._characters = self._db.execute(
            "SELECT coalesce(max(frame), 0), count(*), coalesce(sum(characters), 0) FROM rows"
            " WHERE frame = (SELECT max(frame) FROM rows)"
        ).fetchone()

    def _same(self, number: int, chunk: Chunk) -> bool:
        stored = self._db.execute("SELECT mark FROM chunks WHERE number = ?", (number,)).fetchone()
        return stored is not None and stored[0] == _mark(chunk)

    def _missing(self, number: int) -> bool:
        query = (
            "SELECT 1 FROM rows LEFT JOIN findings USING (digest)"
            " WHERE chunk = ? AND frame IS NOT NULL AND findings.digest IS NULL LIMIT 1"
        )
        return self._db.execute(query, (number,)).fetchone() is not None

    def _entered(self, number: int) -> list[tuple[int, str | None, int | None]]:
        query = "SELECT number, digest, frame FROM rows WHERE chunk = ? ORDER BY number"
        return self._db.execute(query, (number,)).fetchall()

    def _found(self, digest: str | None) -> bool:
        query = "SELECT 1 FROM findings WHERE digest = ?"
        return self._db.execute(query, (digest,)).fetchone() is not None

    def _forget(self, number: int) -> None:
        """Delete chunks from a number on; keep their findings, as the texts may occur again."""
        deleted = self._db.execute("DELETE FROM chunks WHERE number >= ?", (number,)).rowcount
        if deleted:
            self._db.execute("DELETE FROM rows WHERE chunk >= ?", (number,))
            self._rows = self._number("SELECT coalesce(max(number), 0) FROM rows")
            self._begin_frames()

    def _enter(self, number: int, chunk: Chunk, items: Sequence[Item]) -> None:
        self._db.execute("INSERT INTO chunks VALUES (?, ?)", (number, _mark(chunk)))
        for item in items:
            self._rows += 1
            error = None
            if isinstance(item, Refusal):
                error = json.dumps(failed(item.error))
            characters = len(item.document.text) if isinstance(item, Text) else 0
            row_columns = (
                self._rows,
                number,
                json.dumps(asdict(item.source)),
                _digest(item),
                characters,
                self._frame_of(item, characters),
                error,
            )
            self._db.execute("INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?, ?)", row_columns)

    def _frame_of(self, item: Item, characters: int) -> int | None:
        """Return the frame of a new text; None for a repeated text or a refusal."""
        query = "SELECT 1 FROM rows WHERE digest = ? LIMIT 1"
        if not isinstance(item, Text) or self._db.execute(query, (item.digest,)).fetchone():
            return None
        if self._texts >= FRAME_TEXTS or self._characters + characters > FRAME_CHARACTERS:
            self._frame, self._texts, self._characters = self._frame + 1, 0, 0
        self._texts += 1
        self._characters += characters
        return int(self._frame)


def _digest(item: Item) -> str | None:
    return item.digest if isinstance(item, Text) else None


def _mark(chunk: Chunk) -> str:
    return f"{chunk.input}.{chunk.slice} {chunk.mark}"


READERS: Final = min(4, os.cpu_count() or 1)
"""Threads that read documents; each waits for a child that parses (documents.md)."""


@dataclass(kw_only=True)
class BatchStatus:
    """Progress of a running batch.

    Attributes:
        rows: Rows so far: refused, repeated, or sent to a worker.
        found: Texts examined in this run.
        alone: Those of them that were read one by one, because reading them together failed.
        weight: Bytes of the inputs read so far.
        total: Bytes of all inputs; 0 if they were not counted.
        seconds: Time since the start.
        skipped: Files skipped in folders, by reason.
    """

    rows: int = 0
    found: int = 0
    alone: int = 0
    weight: int = 0
    total: int = 0
    seconds: float = 0.0
    skipped: Counter[str] = field(default_factory=Counter)


Tell = Callable[[BatchStatus], None]
Keep = Callable[[str, bytes], None]
"""Stores a complete record, by the digest of its text."""


def work_off(
    inputs: Inputs,
    journal: BatchJournal,
    engine: Engine,
    *,
    total: int = 0,
    keep: Keep | None = None,
    tell: Tell = lambda _: None,
    checkpoint: Checkpoint = never_cancelled,
) -> BatchStatus:
    """Examine every text of the inputs without a finding in the journal.

    Args:
        inputs: Inputs of the batch.
        journal: Journal for items and findings.
        engine: Engine that reads the texts.
        total: Bytes of all inputs, to estimate the remaining time.
        keep: Stores complete records, before their findings are entered.
        tell: Called with the progress.
        checkpoint: Called often; may raise.

    Returns:
        The final status.

    Raises:
        PuraError: No worker is available, or the journal cannot be written.
        Cancelled: The checkpoint raised it; the next call resumes the batch.
    """
    status = BatchStatus(total=total)
    started = time.monotonic()
    frames = _frames(inputs, journal, status, checkpoint)
    for frame, findings in engine(frames, checkpoint):
        _keep(frame, findings, keep)
        journal.found(frame, findings)
        status.found += len(findings)
        status.alone += sum(finding.alone for finding in findings)
        status.seconds = time.monotonic() - started
        tell(status)
    status.seconds = time.monotonic() - started
    return status


def _keep(frame: Frame, findings: list[TextResult], keep: Keep | None) -> None:
    if keep is not None:
        for text, finding in zip(frame, findings, strict=True):
            if finding.record is not None:
                keep(text.digest, finding.record)


def _frames(
    inputs: Inputs, journal: BatchJournal, status: BatchStatus, checkpoint: Checkpoint
) -> Iterator[Frame]:
    """Yield the texts without a finding, frame by frame."""
    number, texts = 0, list[Text]()
    for frame, text in _texts(inputs, journal, status, checkpoint):
        if frame != number and texts:
            yield tuple(texts)
            texts = []
        number = frame
        texts.append(text)
    if texts:
        yield tuple(texts)


def _texts(
    inputs: Inputs, journal: BatchJournal, status: BatchStatus, checkpoint: Checkpoint
) -> Iterator[tuple[int, Text]]:
    pool = ThreadPoolExecutor(READERS, thread_name_prefix="batch-read")
    try:
        count = 0
        for number, chunk, reading in _ahead(inputs, journal, pool, status.skipped):
            checkpoint()
            count = number + 1
            status.weight += chunk.weight
            # A chunk may have been deleted from the journal since, if one before it changed.
            if reading is None and journal.stands(number, chunk):
                continue
            items = chunk.read() if reading is None else reading.result()
            status.rows += len(items)
            yield from journal.take(number, chunk, items)
        journal.end(count)
    finally:
        pool.shutdown(cancel_futures=True)  # stopping does not wait for reads that have not started


def _ahead(
    inputs: Inputs, journal: BatchJournal, pool: ThreadPoolExecutor, skipped: Counter[str]
) -> Iterator[tuple[int, Chunk, Future[list[Item]] | None]]:
    """Yield chunks in order, each with its background read; chunks are read some way ahead."""
    waiting: list[tuple[int, Chunk, Future[list[Item]] | None]] = []
    for number, chunk in enumerate(chunks(inputs, skipped)):
        reading = None if journal.stands(number, chunk) else pool.submit(chunk.read)
        waiting.append((number, chunk, reading))
        if len(waiting) > 2 * READERS:
            yield waiting.pop(0)
    yield from waiting
