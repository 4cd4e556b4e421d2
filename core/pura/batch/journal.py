"""What a batch has done, in one file beside its result: killed at any moment, it goes on from it.

Items are entered in the order of the inputs as they are read, findings as they come, by the digest
of their text. A row of the result is an item and the finding of its digest: so none is lost, none
is there twice, and a text that was seen before costs nothing. Texts that are handed to a worker
together are found together or not at all, so that a batch that was interrupted hands out the same
ones. SQLite keeps what was committed when a process is killed; a loss of power may cost the last
commits, never the file.
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
"""The setting that a batch keeps from its beginning: what ``today`` stands for in limits."""

FRAME_TEXTS: Final = 8
FRAME_CHARACTERS: Final = 65_536
"""A frame is closed when it has so many texts or characters; one text may be longer. Larger ones
read no faster, and leave a worker without work at the end."""

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
    # A killed process loses nothing; only a loss of power takes the last commits, whole.
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
        path: Its file; made when it is not there.
        settings: With what the batch is examined; the findings of others are no use to it.

    Raises:
        InputError: It belongs to other settings, is damaged, or another program works on it.
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
        """What ``today`` has stood for in limits since the batch began; None where none says it."""
        return None if self._day is None else dt.date.fromisoformat(self._day)

    def stands(self, number: int, chunk: Chunk) -> bool:
        """Whether a chunk is as it was, and nothing of it is missing: then it is not read."""
        with _KIND.guard():
            return self._same(number, chunk) and not self._missing(number)

    def take(self, number: int, chunk: Chunk, items: Sequence[Item]) -> list[tuple[int, Text]]:
        """Enter what was read.

        Args:
            number: Of the chunk, in order.
            chunk: The chunk.
            items: What it holds.

        Returns:
            Frame and text of what is still to be found, in order.
        """
        with _KIND.guard():
            known = self._entered(number) if self._same(number, chunk) else None
            if known is None or [digest for _, digest, _ in known] != [_digest(i) for i in items]:
                with transaction(self._db):
                    self._forget(number)
                    self._enter(number, chunk, items)
                known = self._entered(number)
            return [
                (frame, item)
                for item, (_, digest, frame) in zip(items, known, strict=True)
                if frame is not None and isinstance(item, Text) and not self._found(digest)
            ]

    def found(self, frame: Frame, findings: Sequence[TextResult]) -> None:
        """Enter what was found in the texts of a frame, all or nothing."""
        with _KIND.guard(), transaction(self._db):
            self._db.executemany(
                "INSERT OR REPLACE INTO findings VALUES (?, ?, ?)",
                (
                    (text.digest, json.dumps(finding.row), finding.seconds)
                    for text, finding in zip(frame, findings, strict=True)
                ),
            )

    def end(self, chunks: int) -> None:
        """Forget what stood after the last chunk, in inputs that have become fewer."""
        with _KIND.guard(), transaction(self._db):
            self._forget(chunks)

    def rows(self, chosen: Sequence[bool] | npt.NDArray[np.bool_] | None = None) -> Iterator[Row]:
        """Yield the rows of the result, in the order of the inputs.

        Args:
            chosen: For each of them, whether it was chosen from the batch.
        """
        with _KIND.guard(), closing(self._db.execute(_JOINED)) as found:
            for number, (source, digest, error, row) in enumerate(found):
                mark = None if chosen is None else bool(chosen[number])
                place = {**json.loads(source), "digest": digest, "chosen": mark}
                yield row_of(place, json.loads(row if error is None else error))

    def strengths(self) -> npt.NDArray[np.float64]:
        """Return float64 [rows]: log10 of the e-value of each; NaN where there is none."""
        with _KIND.guard():
            return np.fromiter(
                (np.nan if value is None else value for [value] in self._db.execute(_EXAMINED)),
                dtype=np.float64,
            )

    def seconds(self) -> float:
        """Return how long the texts took that were found, all together."""
        with _KIND.guard():
            return float(
                self._db.execute("SELECT coalesce(sum(seconds), 0) FROM findings").fetchone()[0]
            )

    def _take_up(self, settings: Mapping[str, Any]) -> str | None:
        """Compare with the settings that it was begun with, or begin; returns its day."""
        with transaction(self._db, "EXCLUSIVE"):
            known = self._db.execute("SELECT settings FROM plan").fetchone()
            begun = settings if known is None else json.loads(known[0])
            kept = dict(settings)
            if DAY in settings:
                kept[DAY] = begun.get(DAY, settings[DAY])
            plan = json.dumps(kept, sort_keys=True)
            # A journal of an earlier version holds no day: it goes on with that of now.
            without = json.dumps({n: v for n, v in kept.items() if n != DAY}, sort_keys=True)
            if known is None:
                self._db.execute("INSERT INTO plan VALUES (?)", (plan,))
            elif known[0] not in (plan, without):
                raise InputError("batch.other-settings", code="batch-other")
            elif known[0] != plan:
                self._db.execute("UPDATE plan SET settings = ?", (plan,))
        return kept.get(DAY)

    def _number(self, query: str, *values: object) -> int:
        return int(self._db.execute(query, values).fetchone()[0])

    def _begin_frames(self) -> None:
        """Take up the frame that was filled last."""
        self._frame, self._texts, self._characters = self._db.execute(
            "SELECT coalesce(max(frame), 0), count(*), coalesce(sum(characters), 0) FROM rows"
            " WHERE frame = (SELECT max(frame) FROM rows)"
        ).fetchone()

    def _same(self, number: int, chunk: Chunk) -> bool:
        known = self._db.execute("SELECT mark FROM chunks WHERE number = ?", (number,)).fetchone()
        return known is not None and known[0] == _mark(chunk)

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
        """Forget chunks from a number on; their findings stay, for the texts may come again."""
        gone = self._db.execute("DELETE FROM chunks WHERE number >= ?", (number,)).rowcount
        if gone:
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
            values = (
                self._rows,
                number,
                json.dumps(asdict(item.source)),
                _digest(item),
                characters,
                self._frame_of(item, characters),
                error,
            )
            self._db.execute("INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?, ?)", values)

    def _frame_of(self, item: Item, characters: int) -> int | None:
        """Return the frame of a text that no item before has; None for all others."""
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
    """How far a batch is; grows while it runs.

    Attributes:
        rows: Rows that are known: refused, seen before, or handed out.
        found: Texts that were examined in this run.
        alone: Those of them that were read one by one, since reading them together failed.
        weight: Bytes of the inputs that were passed.
        total: Bytes of all inputs; 0 when nobody counted them.
        seconds: Since it began.
        skipped: What was left out of folders, by reason.
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
"""Keeps a whole record, by the digest of its text."""


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
    """Examine every text of the inputs that the journal holds no finding of.

    Args:
        inputs: What is read.
        journal: Where items and findings are entered.
        engine: Who reads texts.
        total: Bytes of all inputs, for the time that is left.
        keep: Keeps whole records, before their finding counts.
        tell: Told how far it is.
        checkpoint: Called often; may raise.

    Returns:
        How far it came: to the end.

    Raises:
        PuraError: No worker can be had, or the journal cannot be written.
        Cancelled: The checkpoint said so; started again it goes on from there.
    """
    status = BatchStatus(total=total)
    begun = time.monotonic()
    frames = _frames(inputs, journal, status, checkpoint)
    for frame, findings in engine(frames, checkpoint):
        _keep(frame, findings, keep)
        journal.found(frame, findings)
        status.found += len(findings)
        status.alone += sum(finding.alone for finding in findings)
        status.seconds = time.monotonic() - begun
        tell(status)
    status.seconds = time.monotonic() - begun
    return status


def _keep(frame: Frame, findings: list[TextResult], keep: Keep | None) -> None:
    if keep is not None:
        for text, finding in zip(frame, findings, strict=True):
            if finding.record is not None:
                keep(text.digest, finding.record)


def _frames(
    inputs: Inputs, journal: BatchJournal, status: BatchStatus, checkpoint: Checkpoint
) -> Iterator[Frame]:
    """Yield texts that are still to be found, frame by frame."""
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
            # What was in the journal may have been forgotten, because a chunk before it changed.
            if reading is None and journal.stands(number, chunk):
                continue
            items = chunk.read() if reading is None else reading.result()
            status.rows += len(items)
            yield from journal.take(number, chunk, items)
        journal.end(count)
    finally:
        pool.shutdown(cancel_futures=True)  # whoever stops does not wait for what was not begun


def _ahead(
    inputs: Inputs, journal: BatchJournal, pool: ThreadPoolExecutor, skipped: Counter[str]
) -> Iterator[tuple[int, Chunk, Future[list[Item]] | None]]:
    """Yield chunks in order, with what reads those that have to be read, some way ahead."""
    waiting: list[tuple[int, Chunk, Future[list[Item]] | None]] = []
    for number, chunk in enumerate(chunks(inputs, skipped)):
        reading = None if journal.stands(number, chunk) else pool.submit(chunk.read)
        waiting.append((number, chunk, reading))
        if len(waiting) > 2 * READERS:
            yield waiting.pop(0)
    yield from waiting
