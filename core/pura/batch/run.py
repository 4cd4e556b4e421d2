"""One batch: inputs in, rows out; killed and started again it goes on where it was."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

from pura.base.progress import Checkpoint, never_cancelled
from pura.batch.engine import Engine
from pura.batch.inputs import Inputs, Passed, chunks
from pura.batch.journal import BatchJournal
from pura.batch.values import Chunk, Finding, Frame, Item, Text

READERS: Final = min(4, os.cpu_count() or 1)
"""Threads that read documents; each waits for a child that parses (docs/documents.md)."""


@dataclass(kw_only=True)
class BatchStanding:
    """How far a batch is; grows while it runs.

    Attributes:
        rows: Rows that are known: refused, seen before, or handed out.
        found: Texts that were examined in this run.
        alone: Those of them that were read one by one, since reading them together failed.
        weight: Bytes of the inputs that were passed.
        total: Bytes of all inputs; 0 when nobody counted them.
        seconds: Since it began.
        passed: What was left out of folders.
    """

    rows: int = 0
    found: int = 0
    alone: int = 0
    weight: int = 0
    total: int = 0
    seconds: float = 0.0
    passed: Passed = field(default_factory=Passed)


Tell = Callable[[BatchStanding], None]
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
) -> BatchStanding:
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
    standing = BatchStanding(total=total)
    begun = time.monotonic()
    for frame, findings in engine.results(
        _frames(inputs, journal, standing, checkpoint), checkpoint=checkpoint
    ):
        _keep(frame, findings, keep)
        journal.found(frame, findings)
        standing.found += len(findings)
        standing.alone += sum(finding.alone for finding in findings)
        standing.seconds = time.monotonic() - begun
        tell(standing)
    standing.seconds = time.monotonic() - begun
    return standing


def _keep(frame: Frame, findings: list[Finding], keep: Keep | None) -> None:
    if keep is not None:
        for text, finding in zip(frame.texts, findings, strict=True):
            if finding.record is not None:
                keep(text.digest, finding.record)


def _frames(
    inputs: Inputs, journal: BatchJournal, standing: BatchStanding, checkpoint: Checkpoint
) -> Iterator[Frame]:
    """Yield texts that are still to be found, frame by frame."""
    number, texts = 0, list[Text]()
    for frame, text in _texts(inputs, journal, standing, checkpoint):
        if frame != number and texts:
            yield Frame(number=number, texts=tuple(texts))
            texts = []
        number = frame
        texts.append(text)
    if texts:
        yield Frame(number=number, texts=tuple(texts))


def _texts(
    inputs: Inputs, journal: BatchJournal, standing: BatchStanding, checkpoint: Checkpoint
) -> Iterator[tuple[int, Text]]:
    pool = ThreadPoolExecutor(READERS, thread_name_prefix="batch-read")
    try:
        count = 0
        for number, chunk, reading in _ahead(inputs, journal, pool, standing.passed):
            checkpoint()
            count = number + 1
            standing.weight += chunk.weight
            # What was in the journal may have been forgotten, because a chunk before it changed.
            if reading is None and journal.stands(number, chunk):
                continue
            items = chunk.read() if reading is None else reading.result()
            standing.rows += len(items)
            yield from journal.take(number, chunk, items)
        journal.end(count)
    finally:
        pool.shutdown(cancel_futures=True)  # whoever stops does not wait for what was not begun


def _ahead(
    inputs: Inputs, journal: BatchJournal, pool: ThreadPoolExecutor, passed: Passed
) -> Iterator[tuple[int, Chunk, Future[list[Item]] | None]]:
    """Yield chunks in order, with what reads those that have to be read, some way ahead."""
    waiting: list[tuple[int, Chunk, Future[list[Item]] | None]] = []
    for number, chunk in enumerate(chunks(inputs, passed)):
        reading = None if journal.stands(number, chunk) else pool.submit(chunk.read)
        waiting.append((number, chunk, reading))
        if len(waiting) > 2 * READERS:
            yield waiting.pop(0)
    yield from waiting
