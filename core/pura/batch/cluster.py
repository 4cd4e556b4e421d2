"""Workers that are actors of a Ray cluster, one model each.

What is told to actors travels through the cluster, so keys are sealed for each actor
(:mod:`.sealing`). The cluster is the one that ``RAY_ADDRESS`` names, else one of this machine for
as long as the batch takes.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Final, Generic, TypeVar

from pura.base.errors import InputError, PuraError
from pura.base.process import close_to_others
from pura.batch.engine import Plan, Start, WorkerDiedError
from pura.batch.local import Lend
from pura.batch.sealing import Receiver, seal
from pura.documents import Document
from pura.version import __version__

OBJECT_STORE_BYTES: Final = 240 << 20
"""Of a cluster of this machine: some frames and their findings; a frame is far below one."""
CPUS: Final = 0.5  # an actor that asked for a whole one would keep others off small nodes
_BEAT_S: Final = 0.5
T = TypeVar("T")


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
                return self._ray.get(reference, timeout=_BEAT_S)
            except self._ray.exceptions.GetTimeoutError:
                if self._stopped():
                    raise WorkerDiedError from None
            except self._ray.exceptions.RayError:
                raise WorkerDiedError from None
