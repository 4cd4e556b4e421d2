"""What reads a few texts: this process with its model, or a worker elsewhere with another."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Final, Protocol

from pura.audit.options import AuditText
from pura.base.errors import Cancelled, InputError, PuraError, ServeError
from pura.base.progress import Checkpoint, never_cancelled
from pura.batch.engine import Start, Worker, WorkerDiedError
from pura.documents import Document
from pura.usecases.audits import Audited, Prepared, Setup, prepared
from pura.usecases.batch import AuditPlan
from pura.usecases.environment import Environment

Answer = Audited | PuraError
Said = Callable[[], bool]
_TRIES: Final = 2
_BEAT_S: Final = 0.2


class Lane(Protocol):
    """Reads a few texts at a time."""

    def read(self, documents: Sequence[Document], *, over: Said, dropped: Said) -> list[Answer]:
        """Read texts side by side.

        Args:
            documents: The texts.
            over: Says that they may take no longer.
            dropped: Says that nobody wants to know any more.

        Raises:
            Cancelled: One of these said so.
        """
        ...


class Here:
    """Reads in this process.

    Args:
        audits: Keys and model.
        give_way: Called often; waits while others go first.
    """

    def __init__(self, audits: Prepared, give_way: Checkpoint) -> None:
        self._audits, self._give_way = audits, give_way

    def read(self, documents: Sequence[Document], *, over: Said, dropped: Said) -> list[Answer]:
        """See :class:`Lane`."""

        def checkpoint() -> None:
            self._give_way()
            if over() or dropped():
                raise Cancelled

        return _read(self._audits, documents, checkpoint)


class Away:
    """Reads with a worker; one that dies is followed by another.

    Args:
        start: Starts a worker.
        over: Says that all is over.

    Raises:
        PuraError: None can be had.
    """

    def __init__(self, start: Start[Answer], over: Said) -> None:
        self._start, self._over = start, over
        try:
            self._worker: Worker[Answer] | None = start(over)
        except WorkerDiedError:
            raise InputError("batch.no-worker", code="batch-worker") from None

    def read(self, documents: Sequence[Document], *, over: Said, dropped: Said) -> list[Answer]:
        """See :class:`Lane`; who goes away costs no worker, which would have to load its model."""
        del dropped
        for _ in range(_TRIES):
            try:
                worker = self._worker = self._worker or self._start(self._over)
                with _ending(worker, over):
                    return worker.read(documents)
            except WorkerDiedError:
                self.close()
                if over():
                    raise Cancelled from None
        return [ServeError("batch.lost", code="serve-lost")] * len(documents)

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.close()
        self._worker = None


@dataclass(frozen=True, kw_only=True)
class ReadPlan(AuditPlan):
    """What a worker of the service does."""

    @contextmanager
    def opened(
        self, secrets: Sequence[bytearray]
    ) -> Iterator[Callable[[Sequence[Document]], list[Answer]]]:
        """See :class:`~pura.batch.engine.Plan`."""
        with self.prepared(secrets) as audits:
            yield lambda documents: _read(audits, documents, never_cancelled)


@contextmanager
def here(
    environment: Environment, setup: Setup, give_way: Checkpoint = never_cancelled
) -> Iterator[Lane]:
    """Lend a lane of this process."""
    with prepared(environment, setup) as audits:
        yield Here(audits, give_way)


@contextmanager
def away(start: Start[Answer], over: Said) -> Iterator[Lane]:
    """Lend the lane of a worker, ready to read."""
    lane = Away(start, over)
    try:
        yield lane
    finally:
        lane.close()


@contextmanager
def workers(
    environment: Environment,
    setup: Setup,
    lend: Callable[[], Sequence[bytearray]],
    *,
    engine: str,
    jobs: int,
) -> Iterator[Start[Answer]]:
    """Lend what starts workers.

    Args:
        environment: Where models and register are.
        setup: With what texts are read, resolved.
        lend: Lends the keys.
        engine: ``local`` or ``ray``.
        jobs: How many there will be.
    """
    plan = ReadPlan(
        paths=environment.paths,
        device=environment.device,
        dtype=environment.dtype,
        setup=setup,
    )
    with ExitStack() as held:
        if engine == "local":
            from pura.batch.workers import Process

            yield lambda stopped: Process(plan, lend(), jobs, stopped)
            return
        from pura.batch.workers import actors

        gpus = int(environment.device == "cuda")
        yield held.enter_context(actors(plan, lend, gpus=gpus))


@contextmanager
def _ending(worker: Worker[Answer], over: Said) -> Iterator[None]:
    """End a worker that takes too long."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(_BEAT_S):
            if over():
                worker.close()
                return

    watcher = threading.Thread(target=watch, name="watch", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _read(audits: Prepared, documents: Sequence[Document], checkpoint: Checkpoint) -> list[Answer]:
    """Read texts side by side; what keeps all of them from being read is the answer to each."""
    try:
        texts = [AuditText(document=document) for document in documents]
        return audits.audit_many(texts, checkpoint=checkpoint)
    except PuraError as refusal:
        return [refusal] * len(documents)
