"""Engines that process a batch: this process, processes of this machine, or actors of a cluster.

An engine takes frames of texts and returns their findings as they arrive, in any order. All but the
first engine share the same dispatch: a thread for each worker, which holds one model. If a worker
dies, a new one reads its frame again, and at last text by text, so that only the text is lost that
no worker survives.
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

TRIES: Final = 3  # attempts with a frame before its texts are read one by one
_BEAT_S: Final = 0.2  # seconds between two checks of the checkpoint

Read = Callable[[Sequence[Document]], list[TextResult]]
"""Examines texts; an error with one of them is reported in its finding."""


T = TypeVar("T")


class Plan(Protocol[T]):
    """The task of a worker, sent to it as a value that can be pickled and holds no secret."""

    def opened(
        self, secrets: Sequence[bytearray]
    ) -> AbstractContextManager[Callable[[Sequence[Document]], list[T]]]:
        """Prepare for reading: load the model, take the keys.

        Args:
            secrets: The keys, which are sent separately; the plan owns them from now on.
        """
        ...


Engine = Callable[[Iterator[Frame], Checkpoint], Iterator[tuple[Frame, list[TextResult]]]]
"""Processes frames: yields the findings of the texts of each frame, in any order.

It raises a ``PuraError`` if no worker is available; the checkpoint may raise too.
"""


def here(read: Read) -> Engine:
    """Return an engine that reads in this process.

    Args:
        read: Examines texts.
    """

    def results(
        frames: Iterator[Frame], checkpoint: Checkpoint
    ) -> Iterator[tuple[Frame, list[TextResult]]]:
        for frame in frames:
            checkpoint()
            yield frame, read([text.document for text in frame])

    return results


class WorkerDiedError(Exception):
    """A worker died: its process or its machine was stopped."""


class Worker(Protocol[T]):
    """A process that holds a model."""

    def read(self, documents: Sequence[Document]) -> list[T]:
        """Examine texts.

        Raises:
            WorkerDiedError: The worker died.
        """
        ...

    def close(self) -> None:
        """Stop the worker at once."""
        ...


Start = Callable[[Callable[[], bool]], Worker[T]]
"""Starts a worker that is ready to read; its argument tells whether it is no longer needed."""


def by_workers(start: Start[TextResult], count: int) -> Engine:
    """Return the engine of several workers.

    Args:
        start: Starts a worker; called in a thread of its own.
        count: Largest number of workers.
    """

    def results(
        frames: Iterator[Frame], checkpoint: Checkpoint
    ) -> Iterator[tuple[Frame, list[TextResult]]]:
        desk = _Dispatch(start)
        waiting, frames_left = 0, True
        try:
            while True:
                # One frame more than workers, so that none waits while files are read.
                while frames_left and waiting <= count:
                    frame = next(frames, None)
                    if frame is None:
                        frames_left = False
                        break
                    desk.hand(frame, at_most=count)
                    waiting += 1
                if not waiting:
                    return
                frame_findings = desk.answer(checkpoint)
                waiting -= 1
                yield frame_findings
        finally:
            desk.close()

    return results


class _Dispatch:
    """Threads with one worker each, which turn frames into findings."""

    def __init__(self, start: Start[TextResult]) -> None:
        self._start = start
        self._todo: queue.Queue[Frame | None] = queue.Queue()
        self._done: queue.Queue[tuple[Frame, list[TextResult]] | BaseException] = queue.Queue()
        self._threads: list[threading.Thread] = []
        self._held: dict[int, Worker[TextResult]] = {}
        self._closed = threading.Event()

    def hand(self, frame: Frame, *, at_most: int) -> None:
        """Queue a frame, and start another worker unless there are enough."""
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
                outcome = self._done.get(timeout=_BEAT_S)
            except queue.Empty:
                continue
            if isinstance(outcome, BaseException):
                raise outcome
            return outcome

    def close(self) -> None:
        """Stop all workers; unfinished frames are lost."""
        self._closed.set()
        for _ in self._threads:
            self._todo.put(None)
        for worker in list(self._held.values()):
            worker.close()
        for thread in self._threads:
            thread.join()

    def _work(self, number: int) -> None:
        try:
            # First a worker, then a frame: a worker that is still starting must hold no frame.
            self._worker(number)
            while (frame := self._todo.get()) is not None and not self._closed.is_set():
                self._done.put((frame, self._read(number, frame)))
        except BaseException as error:  # raised again in `answer`
            self._done.put(error)
        finally:
            self._drop(number)

    def _read(self, number: int, frame: Frame) -> list[TextResult]:
        documents = [text.document for text in frame]
        for _ in range(TRIES):
            findings = self._try(number, documents)
            if findings is not None:
                return findings
        if len(documents) == 1:
            return [_lost()]
        singles = [self._try(number, [document]) for document in documents]
        return [
            _lost() if findings is None else replace(findings[0], alone=True)
            for findings in singles
        ]

    def _try(self, number: int, documents: Sequence[Document]) -> list[TextResult] | None:
        """Read with this thread's worker; return None if the worker died."""
        try:
            return self._worker(number).read(documents)
        except WorkerDiedError:
            self._drop(number)
            if self._closed.is_set():
                raise
            return None

    def _worker(self, number: int) -> Worker[TextResult]:
        existing = self._held.get(number)
        if existing is not None:
            return existing
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
    """Return the finding of a text that could not be examined."""
    return TextResult(row=failed(error), seconds=0.0)


def _lost() -> TextResult:
    return failure(InputError("batch.lost", code="batch-lost"))


MODULE: Final = "pura.batch.worker"
_LENGTH: Final = 8
_THREADS: Final = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")

Lend = Callable[[], Sequence[bytearray]]
"""Returns copies of the keys, which the receiver overwrites."""


def local(plan: Plan[TextResult], lend: Lend, jobs: int) -> Engine:
    """Return an engine with worker processes on this machine.

    Args:
        plan: Task of the workers.
        lend: Returns copies of the keys.
        jobs: Number of processes.
    """
    return by_workers(lambda stopped: Process(plan, lend(), jobs, stopped), jobs)


class Process(Generic[T]):
    """A worker process.

    Args:
        plan: Task of the worker.
        secrets: The keys; overwritten here once they are sent.
        jobs: Number of workers, which share the processor.
        stopped: Returns True once the worker is not needed; starting may take long.

    Raises:
        WorkerDiedError: The process ended before it was ready, or was stopped.
        PuraError: The worker cannot start, e.g. without a model.
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
                stderr=subprocess.DEVNULL,  # the output of a crash might quote a text
                env=environment,
                bufsize=0,  # a key leaves no copy in a buffer
                start_new_session=True,  # Ctrl-C is handled by the dispatching process
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
        findings: list[T] = self._hear()
        return findings

    def close(self) -> None:
        """End it, whatever it is doing."""
        self._child.kill()
        _log.info("a worker process ended with status %d", self._child.wait())
        for pipe in (self._child.stdin, self._child.stdout):
            try:
                if pipe is not None:
                    pipe.close()
            except (OSError, ValueError):
                continue  # unwritten data has no reader any more

    def _say(self, value: object) -> None:
        self._send(pickle.dumps(value))

    def _send(self, message: bytes | bytearray) -> None:
        assert self._child.stdin is not None  # asked for above
        try:
            send(self._child.stdin, message)
        except (OSError, ValueError):
            raise WorkerDiedError from None

    def _hear(self) -> Any:
        assert self._child.stdout is not None
        try:
            message = receive(self._child.stdout)
        except (OSError, ValueError):
            message = None
        if message is None:
            raise WorkerDiedError
        answer = pickle.loads(message)  # noqa: S301 - a process of our own said it
        if isinstance(answer, PuraError):
            raise answer
        return answer


def send(pipe: IO[bytes], message: bytes | bytearray) -> None:
    """Write a message."""
    for part in (len(message).to_bytes(_LENGTH, "little"), message):
        view = memoryview(part)
        while view:
            view = view[pipe.write(view) :]
    pipe.flush()


def receive(pipe: IO[bytes]) -> bytearray | None:
    """Read a message; return None if the other end is closed."""
    head = _exactly(pipe, _LENGTH)
    return None if head is None else _exactly(pipe, int.from_bytes(head, "little"))


def _exactly(pipe: IO[bytes], count: int) -> bytearray | None:
    buffer = bytearray(count)
    filled = 0
    with memoryview(buffer) as view:
        while filled < count:
            read = pipe.readinto(view[filled:])  # type: ignore[attr-defined]  # every file has it
            if not read:
                return None
            filled += read
    return buffer


_LABEL: Final = b"pura-batch/1"
_PUBLIC: Final = 32
_NONCE: Final = bytes(12)  # constant, since each key encrypts a single message


class Receiver:
    """The receiving end: opens messages that were sealed for this process."""

    def __init__(self) -> None:
        self._private = X25519PrivateKey.generate()

    @property
    def public(self) -> bytes:
        """The public key for sealing, 32 bytes."""
        return self._private.public_key().public_bytes_raw()

    def open(self, sealed: bytes) -> list[bytearray]:
        """Return the secrets of a message; the caller owns and wipes them.

        Raises:
            InputError: The message was sealed for another process, or was altered.
        """
        sender, body = sealed[:_PUBLIC], sealed[_PUBLIC:]
        try:
            shared = self._private.exchange(X25519PublicKey.from_public_bytes(sender))
            cipher = _cipher(shared, sender, self.public)
            joined = bytearray(cipher.decrypt(_NONCE, body, sender + self.public))
        except (InvalidTag, ValueError):
            raise InputError("batch.seal", code="batch-seal") from None
        try:
            return [joined[start : start + KEY_BYTES] for start in range(0, len(joined), KEY_BYTES)]
        finally:
            wipe_buffer(joined)

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("the private end stays in its process")


def seal(public: bytes, secrets: Sequence[bytearray]) -> bytes:
    """Encrypt keys for the process of a :class:`Receiver`; overwrite them here.

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
"""Size of the object store on this machine; frames and findings are far smaller."""
CPUS: Final = 0.5  # an actor with a full CPU would block others on small nodes
_ACTOR_BEAT_S: Final = 0.5


class Actor:
    """The worker in the cluster."""

    def __init__(self) -> None:
        close_to_others()
        self._receiver = Receiver()
        self._held = ExitStack()
        self._read: Callable[[Sequence[Document]], list[Any]] | None = None

    def greet(self) -> tuple[str, bytes]:
        """Return the version of the program, and the public key for sealing."""
        return __version__, self._receiver.public

    def prepare(self, plan: Plan[object], sealed: bytes) -> PuraError | None:
        """Prepare for reading; return the error that prevents it, or None."""
        try:
            self._read = self._held.enter_context(plan.opened(self._receiver.open(sealed)))
        except PuraError as error:
            return error
        return None

    def read(self, documents: Sequence[Document]) -> list[Any]:
        """Examine texts."""
        assert self._read is not None
        return self._read(documents)


@contextmanager
def actors(plan: Plan[T], lend: Lend, *, gpus: int = 0) -> Iterator[Start[T]]:
    """Yield a function that starts workers as actors of a cluster.

    Args:
        plan: Task of the workers.
        lend: Returns copies of the keys.
        gpus: GPUs that each worker needs.

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
    # Set before the import: Ray reports its usage by default.
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
    if ray.is_initialized():  # the caller that connected also disconnects
        yield
        return
    # Paths of sockets must be short, so the folder is not below the user's.
    folder = tempfile.mkdtemp(prefix="pura-ray-")
    local_settings = {
        "include_dashboard": False,
        "object_store_memory": OBJECT_STORE_BYTES,
        "_temp_dir": folder,
    }
    try:
        settings = {} if os.environ.get("RAY_ADDRESS") else local_settings
        ray.init(log_to_driver=False, configure_logging=False, **settings)
    except Exception as error:  # of many types, all with the same meaning
        shutil.rmtree(folder, ignore_errors=True)
        raise InputError("batch.no-cluster", code="batch-cluster") from error
    try:
        yield
    finally:
        ray.shutdown()
        shutil.rmtree(folder, ignore_errors=True)


class _Handle(Generic[T]):
    """The local handle of an actor."""

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
        findings: list[T] = self._wait(self._actor.read.remote(list(documents)))
        return findings

    def close(self) -> None:
        """End it, whatever it is doing."""
        self._ray.kill(self._actor)

    def _wait(self, reference: Any) -> Any:
        """Wait for an answer; the actor may still wait for a free node in the cluster."""
        while True:
            try:
                return self._ray.get(reference, timeout=_ACTOR_BEAT_S)
            except self._ray.exceptions.GetTimeoutError:
                if self._stopped():
                    raise WorkerDiedError from None
            except self._ray.exceptions.RayError:
                raise WorkerDiedError from None
