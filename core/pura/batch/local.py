"""Workers that are processes of this machine, one model each.

What a worker is told goes through its standard input: the plan, then the keys, then texts. Keys
stand in no argument, no variable of the environment and no file.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from typing import IO, Any, Final, Generic, TypeVar

from pura.base.errors import PuraError
from pura.batch.engine import Plan, WorkerDiedError, Workers
from pura.batch.values import Finding
from pura.documents import Document
from pura.scheme.keys import wipe_buffer

MODULE: Final = "pura.batch.worker"
_LENGTH: Final = 8
_BEAT_S: Final = 0.2
_THREADS: Final = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")

Lend = Callable[[], Sequence[bytearray]]
"""Lends copies of the keys, which the one that takes them overwrites."""


T = TypeVar("T")


def local(plan: Plan[Finding], lend: Lend, jobs: int) -> Workers:
    """Return the engine whose workers are processes of this machine.

    Args:
        plan: What they do.
        lend: Lends the keys.
        jobs: How many processes.
    """
    return Workers(lambda stopped: Process(plan, lend(), jobs, stopped), jobs)


class Process(Generic[T]):
    """A worker.

    Args:
        plan: What it does.
        secrets: The keys; overwritten here when they are there.
        jobs: How many there are, for their shares of the processor.
        stopped: Says whether nobody waits any more for it to get ready, which may take long.

    Raises:
        WorkerDiedError: It ended before it was ready, or was stopped.
        PuraError: It cannot get ready, e.g. has no model.
    """

    def __init__(
        self,
        plan: Plan[T],
        secrets: Sequence[bytearray],
        jobs: int = 1,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        share = str(max(1, (os.cpu_count() or 1) // jobs))
        environment = dict.fromkeys(_THREADS, share) | dict(os.environ)
        try:
            self._child = subprocess.Popen(  # noqa: S603  (a module of ours)
                [sys.executable, "-m", MODULE],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,  # what crashes might quote a text
                env=environment,
                bufsize=0,  # a key leaves no copy in a buffer
                start_new_session=True,  # Ctrl-C is for whoever dispatches
            )
        except OSError:
            raise WorkerDiedError from None
        ready = threading.Event()
        threading.Thread(target=self._end_when, args=(stopped, ready), daemon=True).start()
        try:
            self._say(plan)
            for secret in secrets:
                self._send(secret)
                wipe_buffer(secret)
            self._send(b"")
            self._hear()
        except BaseException:
            self.close()
            raise
        finally:
            ready.set()

    def _end_when(self, stopped: Callable[[], bool], ready: threading.Event) -> None:
        while not ready.wait(_BEAT_S):
            if stopped():
                self._child.kill()

    def read(self, documents: Sequence[Document]) -> list[T]:
        """See :class:`~pura.batch.engine.Worker`."""
        self._say(list(documents))
        found: list[T] = self._hear()
        return found

    def close(self) -> None:
        """End it, whatever it is doing."""
        self._child.kill()
        self._child.wait()
        for pipe in (self._child.stdin, self._child.stdout):
            try:
                if pipe is not None:
                    pipe.close()
            except (OSError, ValueError):
                continue  # what was still to be written has no reader any more

    def _say(self, value: object) -> None:
        self._send(pickle.dumps(value))

    def _send(self, data: bytes | bytearray) -> None:
        assert self._child.stdin is not None  # asked for above
        try:
            send(self._child.stdin, data)
        except (OSError, ValueError):
            raise WorkerDiedError from None

    def _hear(self) -> Any:
        assert self._child.stdout is not None
        try:
            data = receive(self._child.stdout)
        except (OSError, ValueError):
            data = None
        if data is None:
            raise WorkerDiedError
        answer = pickle.loads(data)  # noqa: S301 - a process of our own said it
        if isinstance(answer, PuraError):
            raise answer
        return answer


def send(pipe: IO[bytes], data: bytes | bytearray) -> None:
    """Write a message."""
    for part in (len(data).to_bytes(_LENGTH, "little"), data):
        view = memoryview(part)
        while view:
            view = view[pipe.write(view) :]
    pipe.flush()


def receive(pipe: IO[bytes]) -> bytearray | None:
    """Read a message; None when the other end is gone."""
    head = _exactly(pipe, _LENGTH)
    return None if head is None else _exactly(pipe, int.from_bytes(head, "little"))


def _exactly(pipe: IO[bytes], count: int) -> bytearray | None:
    data = bytearray(count)
    at = 0
    with memoryview(data) as view:
        while at < count:
            read = pipe.readinto(view[at:])  # type: ignore[attr-defined]  # every file has it
            if not read:
                return None
            at += read
    return data
