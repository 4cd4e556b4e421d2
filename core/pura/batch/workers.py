"""Workers of a batch: processes of this machine, or actors of a Ray cluster, one model each."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import IO, Any, Final, Generic, TypeVar

from pura.base.errors import InputError, PuraError
from pura.base.process import close_to_others
from pura.batch.engine import Plan, Start, WorkerDiedError, Workers
from pura.batch.values import Finding, Receiver, seal
from pura.documents import Document
from pura.scheme.keys import wipe_buffer
from pura.version import __version__

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


OBJECT_STORE_BYTES: Final = 240 << 20
"""Of a cluster of this machine: some frames and their findings; a frame is far below one."""
CPUS: Final = 0.5  # an actor that asked for a whole one would keep others off small nodes
_ACTOR_BEAT_S: Final = 0.5


class Actor:
    """The end in the cluster."""

    def __init__(self) -> None:
        close_to_others()
        self._receiver = Receiver()
        self._held = ExitStack()
        self._read: Callable[[Sequence[Document]], list[Any]] | None = None

    def greet(self) -> tuple[str, bytes]:
        """Return the version here, and what keys are sealed for."""
        return __version__, self._receiver.public

    def prepare(self, plan: Plan[object], sealed: bytes) -> PuraError | None:
        """Get ready; return why that is not possible."""
        try:
            self._read = self._held.enter_context(plan.opened(self._receiver.open(sealed)))
        except PuraError as error:
            return error
        return None

    def read(self, documents: Sequence[Document]) -> list[Any]:
        """Find what is in texts."""
        assert self._read is not None
        return self._read(documents)


@contextmanager
def actors(plan: Plan[T], lend: Lend, *, gpus: int = 0) -> Iterator[Start[T]]:
    """Lend what starts workers that are actors.

    Args:
        plan: What they do.
        lend: Lends the keys.
        gpus: What each needs of them.

    Raises:
        InputError: Ray is not installed, or the cluster cannot be reached.
    """
    ray = _ray()
    with _connected(ray):
        remote = ray.remote(Actor).options(
            num_cpus=CPUS, num_gpus=gpus, max_restarts=0, max_task_retries=0
        )
        yield lambda stopped: _Handle(ray, remote, plan, lend, stopped)


def _ray() -> Any:
    # Before it is imported: it would tell its makers how it is used.
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    try:
        import ray
        import ray.exceptions
    except ImportError:
        raise InputError(
            "extra.missing", name="ray", extra="pura-audit[cluster]", code="batch-extra"
        ) from None
    return ray


@contextmanager
def _connected(ray: Any) -> Iterator[None]:
    if ray.is_initialized():  # whoever did that will also end it
        yield
        return
    # Paths of sockets must be short, so this is not in the user's folders.
    folder = tempfile.mkdtemp(prefix="pura-ray-")
    own = {
        "include_dashboard": False,
        "object_store_memory": OBJECT_STORE_BYTES,
        "_temp_dir": folder,
    }
    try:
        settings = {} if os.environ.get("RAY_ADDRESS") else own
        ray.init(log_to_driver=False, configure_logging=False, **settings)
    except Exception as error:  # of many kinds, all of which mean the same
        shutil.rmtree(folder, ignore_errors=True)
        raise InputError("batch.no-cluster", code="batch-cluster") from error
    try:
        yield
    finally:
        ray.shutdown()
        shutil.rmtree(folder, ignore_errors=True)


class _Handle(Generic[T]):
    """The end here of one actor."""

    def __init__(
        self, ray: Any, remote: Any, plan: Plan[T], lend: Lend, stopped: Callable[[], bool]
    ) -> None:
        self._ray, self._stopped = ray, stopped
        self._actor = remote.remote()
        try:
            version, public = self._wait(self._actor.greet.remote())
            if version != __version__:
                raise InputError("batch.version", here=__version__, there=version)
            error = self._wait(self._actor.prepare.remote(plan, seal(public, lend())))
            if error is not None:
                raise error
        except BaseException:
            self.close()
            raise

    def read(self, documents: Sequence[Document]) -> list[T]:
        """See :class:`~pura.batch.engine.Worker`."""
        found: list[T] = self._wait(self._actor.read.remote(list(documents)))
        return found

    def close(self) -> None:
        """End it, whatever it is doing."""
        self._ray.kill(self._actor)

    def _wait(self, reference: Any) -> Any:
        """Wait for an answer; an actor may also wait for a place in the cluster."""
        while True:
            try:
                return self._ray.get(reference, timeout=_ACTOR_BEAT_S)
            except self._ray.exceptions.GetTimeoutError:
                if self._stopped():
                    raise WorkerDiedError from None
            except self._ray.exceptions.RayError:
                raise WorkerDiedError from None
