"""Who works a batch off: this process, processes of this machine, or actors of a cluster.

An engine takes frames of texts and gives their findings back as they come, in any order. Behind
all but the first stands the same dispatch: a thread for each worker, which holds one model. A
worker that dies costs another try, not a row: its frame is read again by a new one, and at last
text by text, until the one is left that no worker survives.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Final, Protocol, TypeVar

from pura.base.errors import InputError, PuraError
from pura.base.progress import Checkpoint, never_cancelled
from pura.batch.rows import failed
from pura.batch.values import Finding, Frame
from pura.documents import Document

TRIES: Final = 3
_BEAT_S: Final = 0.2

Read = Callable[[Sequence[Document]], list[Finding]]
"""Finds what is in each of some texts; whatever goes wrong with one is in its finding."""


T = TypeVar("T")


class Plan(Protocol[T]):
    """What a worker does, as it travels to it: a value that can be pickled and holds no secret."""

    def opened(
        self, secrets: Sequence[bytearray]
    ) -> AbstractContextManager[Callable[[Sequence[Document]], list[T]]]:
        """Get ready to read: load the model, take the keys.

        Args:
            secrets: The keys, which came another way; they belong to the plan from now on.
        """
        ...


class Engine(Protocol):
    """Works frames off."""

    def results(
        self, frames: Iterator[Frame], *, checkpoint: Checkpoint = never_cancelled
    ) -> Iterator[tuple[Frame, list[Finding]]]:
        """Yield the findings of each frame, in any order.

        Raises:
            PuraError: No worker can be had.
            Cancelled: The checkpoint said so.
        """
        ...


class HereEngine:
    """The engine that is this process.

    Args:
        read: Finds what is in texts.
    """

    def __init__(self, read: Read) -> None:
        self._read = read

    def results(
        self, frames: Iterator[Frame], *, checkpoint: Checkpoint = never_cancelled
    ) -> Iterator[tuple[Frame, list[Finding]]]:
        """See :class:`Engine`."""
        for frame in frames:
            checkpoint()
            yield frame, self._read([text.document for text in frame.texts])


class WorkerDiedError(Exception):
    """A worker is gone: it was killed, or its machine was."""


class Worker(Protocol[T]):
    """A process elsewhere that holds a model."""

    def read(self, documents: Sequence[Document]) -> list[T]:
        """Have texts read.

        Raises:
            WorkerDiedError: It is gone.
        """
        ...

    def close(self) -> None:
        """End it, whatever it is doing."""
        ...


Start = Callable[[Callable[[], bool]], Worker[T]]
"""Starts a worker, ready to read; what it gets says whether nobody waits for that any more."""


class Workers:
    """An engine of several workers.

    Args:
        start: Called in a thread of the worker's own.
        count: How many there are at most.
    """

    def __init__(self, start: Start[Finding], count: int) -> None:
        self._start, self._count = start, count

    def results(
        self, frames: Iterator[Frame], *, checkpoint: Checkpoint = never_cancelled
    ) -> Iterator[tuple[Frame, list[Finding]]]:
        """See :class:`Engine`."""
        desk = _Dispatch(self._start)
        waiting, more = 0, True
        try:
            while True:
                # One more than there are workers, so that none waits for the reading of files.
                while more and waiting <= self._count:
                    frame = next(frames, None)
                    if frame is None:
                        more = False
                        break
                    desk.hand(frame, at_most=self._count)
                    waiting += 1
                if not waiting:
                    return
                done = desk.answer(checkpoint)
                waiting -= 1
                yield done
        finally:
            desk.close()


class _Dispatch:
    """Threads, each with a worker; frames go in, findings come out."""

    def __init__(self, start: Start[Finding]) -> None:
        self._start = start
        self._todo: queue.Queue[Frame | None] = queue.Queue()
        self._done: queue.Queue[tuple[Frame, list[Finding]] | BaseException] = queue.Queue()
        self._threads: list[threading.Thread] = []
        self._held: dict[int, Worker[Finding]] = {}
        self._closed = threading.Event()

    def hand(self, frame: Frame, *, at_most: int) -> None:
        """Give out a frame; each one starts another worker while there may be more."""
        self._todo.put(frame)
        if len(self._threads) < at_most:
            number = len(self._threads)
            thread = threading.Thread(target=self._work, args=(number,), name=f"batch-{number}")
            self._threads.append(thread)
            thread.start()

    def answer(self, checkpoint: Checkpoint) -> tuple[Frame, list[Finding]]:
        """Wait for the next findings."""
        while True:
            checkpoint()
            try:
                found = self._done.get(timeout=_BEAT_S)
            except queue.Empty:
                continue
            if isinstance(found, BaseException):
                raise found
            return found

    def close(self) -> None:
        """End all workers; what they are doing is lost."""
        self._closed.set()
        for _ in self._threads:
            self._todo.put(None)
        for worker in list(self._held.values()):
            worker.close()
        for thread in self._threads:
            thread.join()

    def _work(self, number: int) -> None:
        try:
            # First a worker, then a frame: one that waits for its place must keep no frame.
            self._worker(number)
            while (frame := self._todo.get()) is not None and not self._closed.is_set():
                self._done.put((frame, self._read(number, frame)))
        except BaseException as error:  # raised again where the findings are waited for
            self._done.put(error)
        finally:
            self._drop(number)

    def _read(self, number: int, frame: Frame) -> list[Finding]:
        documents = [text.document for text in frame.texts]
        for _ in range(TRIES):
            found = self._try(number, documents)
            if found is not None:
                return found
        if len(documents) == 1:
            return [_lost()]
        alone = [self._try(number, [document]) for document in documents]
        return [_lost() if found is None else replace(found[0], alone=True) for found in alone]

    def _try(self, number: int, documents: Sequence[Document]) -> list[Finding] | None:
        """Read with this thread's worker; None when it died of it."""
        try:
            return self._worker(number).read(documents)
        except WorkerDiedError:
            self._drop(number)
            if self._closed.is_set():
                raise
            return None

    def _worker(self, number: int) -> Worker[Finding]:
        held = self._held.get(number)
        if held is not None:
            return held
        for _ in range(TRIES):
            try:
                worker = self._start(self._closed.is_set)
            except WorkerDiedError:
                if self._closed.is_set():
                    raise
                continue
            self._held[number] = worker
            if self._closed.is_set():
                break
            return worker
        raise InputError("batch.no-worker", code="batch-worker")

    def _drop(self, number: int) -> None:
        worker = self._held.pop(number, None)
        if worker is not None:
            worker.close()


def failure(error: PuraError) -> Finding:
    """Return the finding of a text that nothing could be found in."""
    return Finding(row=failed(error), seconds=0.0)


def _lost() -> Finding:
    return failure(InputError("batch.lost", code="batch-lost"))
