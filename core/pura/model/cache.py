"""One model in memory: loaded once for a device and number format, gone before the next comes."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pura.model import trial
from pura.model.device import Device
from pura.model.installed import InstalledModel

if TYPE_CHECKING:
    from pura.model.load import LanguageModel


Load = Callable[[InstalledModel | Path, Device], "LanguageModel"]


class ModelCache:
    """Holds at most one model.

    Args:
        load: Loads one; :func:`pura.model.load.load_model` when left out.
        collect: Collects what refers to itself; a window does it in its own thread.
    """

    def __init__(
        self, load: Load | None = None, *, collect: Callable[[], object] = gc.collect
    ) -> None:
        self._load, self._collect = load, collect
        self._model: LanguageModel | None = None
        self._what: tuple[str, str, str, str] | None = None

    @property
    def name(self) -> str | None:
        """Name of the model that is held."""
        return self._model.name if self._model is not None else None

    def get(self, source: InstalledModel | Path, device: Device) -> LanguageModel:
        """Return a model; another one that is held goes first, so that never two are in memory.

        Raises:
            ModelError: It cannot be loaded; nothing is held then.
        """
        of = (str(source), "") if isinstance(source, Path) else (source.name, source.fingerprint)
        what = (*of, device.kind, device.dtype)
        if self._model is not None and self._what == what:
            return self._model
        self.drop()
        with _collector_at_rest():
            self._model, self._what = (self._load or _load())(source, device), what
        return self._model

    def drop(self) -> None:
        """Let go of the model, and hand its memory back to the system."""
        if self._model is None:
            return
        self._model, self._what = None, None
        give_back_memory(self._collect)


def _load() -> Load:
    from pura.model.load import load_model
    from pura.model.safety import inspect

    def load(source: InstalledModel | Path, device: Device) -> LanguageModel:
        if isinstance(source, Path):  # an installed one was rehearsed when it came
            inspect(source)
            trial.load_on_trial(source)
        return load_model(source, device)

    return load


@contextlib.contextmanager
def _collector_at_rest() -> Iterator[None]:
    """Keep the garbage collector from a work that makes very many objects and hardly any garbage.

    Loading brings a million objects of transformers and the model. Each full collection visits
    all of them, holds Python's lock for a third of a second meanwhile, and so stops the window. It
    rests during the work; what is there afterwards is set apart and not visited any more, until
    :func:`give_back_memory` looks at everything again.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        if enabled:
            gc.enable()


def give_back_memory(collect: Callable[[], object] = gc.collect) -> None:
    """Collect what nobody holds any more, and return free pages to the system where that works."""
    gc.unfreeze()
    collect()  # modules refer to each other, so that counting references is not enough
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()
    if sys.platform == "linux":
        # glibc keeps freed blocks below its threshold for later; other libraries lack the call.
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
