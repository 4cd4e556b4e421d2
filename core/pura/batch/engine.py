"""Who works a batch off: this process, processes of this machine, or actors of a cluster.

An engine takes frames of texts and gives their findings back as they come, in any order. Behind
all but the first stands the same dispatch: a thread for each worker, which holds one model. A
worker that dies costs another try, not a row: its frame is read again by a new one, and at last
text by text, until the one is left that no worker survives.
"""

from __future__ import annotations

import logging
import os
import pickle
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from typing import IO, Any, Final, Generic, Protocol, TypeVar

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from pura.base.errors import InputError, PuraError
from pura.base.process import NO_WINDOW, close_to_others
from pura.base.progress import Checkpoint
from pura.batch.inputs import Frame, TextResult
from pura.batch.results import failed
from pura.documents import Document
from pura.scheme.keys import KEY_BYTES, wipe_buffer
from pura.version import __version__

_log = logging.getLogger(__name__)

TRIES: Final = 3
_BEAT_S: Final = 0.2

Read = Callable[[Sequence[Document]], list[TextResult]]
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


Engine = Callable[[Iterator[Frame], Checkpoint], Iterator[tuple[Frame, list[TextResult]]]]
"""Works frames off: yields what was found in the texts of each, in any order.

What it raises, a ``PuraError``, means that no worker can be had; or the checkpoint raises.
"""


def here(read: Read) -> Engine:
    """Return the engine that is this process.

    Args:
        read: Finds what is in texts.
    """

    def results(
        frames: Iterator[Frame], checkpoint: Checkpoint
    ) -> Iterator[tuple[Frame, list[TextResult]]]:
        for frame in frames:
            checkpoint()
            yield frame, read([text.document for text in frame])

    return results


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


def by_workers(start: Start[TextResult], count: int) -> Engine:
    """Return the engine of several workers.

    Args:
        start: Called in a thread of the worker's own.
        count: How many there are at most.
    """

    def results(
        frames: Iterator[Frame], checkpoint: Checkpoint
    ) -> Iterator[tuple[Frame, list[TextResult]]]:
        desk = _Dispatch(start)
        waiting, more = 0, True
        try:
            while True:
                # One more than there are workers, so that none waits for the reading of files.
                while more and waiting <= count:
                    frame = next(frames, None)
                    if frame is None:
                        more = False
                        break
                    desk.hand(frame, at_most=count)
                    waiting += 1
                if not waiting:
                    return
                done = desk.answer(checkpoint)
                waiting -= 1
                yield done
        finally:
            desk.close()

    return results


class _Dispatch:
    """Threads, each with a worker; frames go in, findings come out."""

    def __init__(self, start: Start[TextResult]) -> None:
        self._start = start
        self._todo: queue.Queue[Frame | None] = queue.Queue()
        self._done: queue.Queue[tuple[Frame, list[TextResult]] | BaseException] = queue.Queue()
        self._threads: list[threading.Thread] = []
        self._held: dict[int, Worker[TextResult]] = {}
        self._closed = threading.Event()

    def hand(self, frame: Frame, *, at_most: int) -> None:
        """Give out a frame; each one starts another worker while there may be more."""
        self._todo.put(frame)
        if len(self._threads) < at_most:
            number = len(self._threads)
            thread = threading.Thread(target=self._work, args=(number,), name=f"batch-{number}")
            self._threads.append(thread)
            thread.start()

    def answer(self, checkpoint: Checkpoint) -> tuple[Frame, list[TextResult]]:
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

    def _read(self, number: int, frame: Frame) -> list[TextResult]:
        documents = [text.document for text in frame]
        for _ in range(TRIES):
            found = self._try(number, documents)
            if found is not None:
                return found
        if len(documents) == 1:
            return [_lost()]
        alone = [self._try(number, [document]) for document in documents]
        return [_lost() if found is None else replace(found[0], alone=True) for found in alone]

    def _try(self, number: int, documents: Sequence[Document]) -> list[TextResult] | None:
        """Read with this thread's worker; None when it died of it."""
        try:
            return self._worker(number).read(documents)
        except WorkerDiedError:
            self._drop(number)
            if self._closed.is_set():
                raise
            return None

    def _worker(self, number: int) -> Worker[TextResult]:
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


def failure(error: PuraError) -> TextResult:
    """Return the finding of a text that nothing could be found in."""
    return TextResult(row=failed(error), seconds=0.0)


def _lost() -> TextResult:
    return failure(InputError("batch.lost", code="batch-lost"))


MODULE: Final = "pura.batch.worker"
_LENGTH: Final = 8
_THREADS: Final = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")

Lend = Callable[[], Sequence[bytearray]]
"""Lends copies of the keys, which the one that takes them overwrites."""


def local(plan: Plan[TextResult], lend: Lend, jobs: int) -> Engine:
    """Return the engine whose workers are processes of this machine.

    Args:
        plan: What they do.
        lend: Lends the keys.
        jobs: How many processes.
    """
    return by_workers(lambda stopped: Process(plan, lend(), jobs, stopped), jobs)


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
                creationflags=NO_WINDOW,
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
            _log.warning("a worker process could not begin its work")
            self.close()
            raise
        else:
            _log.info("a worker process has begun its work")
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
        _log.info("a worker process ended with status %d", self._child.wait())
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


_LABEL: Final = b"pura-batch/1"
_PUBLIC: Final = 32
_NONCE: Final = bytes(12)  # of a key that encrypts one message only


class Receiver:
    """The private end: opens what was sealed for it, in this process alone."""

    def __init__(self) -> None:
        self._private = X25519PrivateKey.generate()

    @property
    def public(self) -> bytes:
        """What secrets are sealed for; 32 bytes, no secret."""
        return self._private.public_key().public_bytes_raw()

    def open(self, sealed: bytes) -> list[bytearray]:
        """Return the secrets of a message; they belong to the caller, who wipes them.

        Raises:
            InputError: It was sealed for another process, or was altered.
        """
        sender, body = sealed[:_PUBLIC], sealed[_PUBLIC:]
        try:
            shared = self._private.exchange(X25519PublicKey.from_public_bytes(sender))
            cipher = _cipher(shared, sender, self.public)
            joined = bytearray(cipher.decrypt(_NONCE, body, sender + self.public))
        except (InvalidTag, ValueError):
            raise InputError("batch.seal", code="batch-seal") from None
        try:
            return [joined[at : at + KEY_BYTES] for at in range(0, len(joined), KEY_BYTES)]
        finally:
            wipe_buffer(joined)

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("the private end stays in its process")


def seal(public: bytes, secrets: Sequence[bytearray]) -> bytes:
    """Seal keys for the process that has the private end; they are overwritten here.

    Args:
        public: From :attr:`Receiver.public`.
        secrets: Keys of 32 bytes each.
    """
    once = X25519PrivateKey.generate()
    sender = once.public_key().public_bytes_raw()
    joined = bytearray().join(secrets)
    try:
        shared = once.exchange(X25519PublicKey.from_public_bytes(public))
        body = _cipher(shared, sender, public).encrypt(_NONCE, joined, sender + public)
        return sender + body
    finally:
        for buffer in (joined, *secrets):
            wipe_buffer(buffer)


def _cipher(shared: bytes, sender: bytes, receiver: bytes) -> ChaCha20Poly1305:
    info = _LABEL + sender + receiver
    key = HKDF(algorithm=hashes.SHA256(), length=32, salt=None, info=info).derive(shared)
    return ChaCha20Poly1305(key)


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
