"""Importing torch and transformers offline, and keeping freed memory between layers.

The libraries that load models use the network by default. Environment variables that are set before
their import (:func:`prepare`) prevent this in all of them.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import sys
from collections.abc import Mapping
from typing import Final


def import_torch() -> None:
    """Import torch without garbage collection, which would make it a fifth slower."""
    collects = gc.isenabled()
    gc.disable()
    try:
        importlib.import_module("torch")
    finally:
        if collects:
            gc.enable()


# Forced: settings of the user's shell must not enable the network.
_FORCED: Final = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
    "DO_NOT_TRACK": "1",
}
# Defaults: the user may override them.
_DEFAULTS: Final = {
    # Spinning OpenMP threads fight other processes for the cores; waiting ones do not.
    "OMP_WAIT_POLICY": "PASSIVE",
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TRANSFORMERS_VERBOSITY": "error",
}


def switches() -> Mapping[str, str]:
    """Return the environment variables that are forced, with their values."""
    return _FORCED


def prepare() -> None:
    """Set the environment variables; call it before anything imports torch or transformers.

    Calling it again is harmless. If the hub client was imported earlier, its own copy of the
    setting is changed as well.
    """
    os.environ.update(_FORCED)
    for name, value in _DEFAULTS.items():
        os.environ.setdefault(name, value)
    constants = sys.modules.get("huggingface_hub.constants")
    if constants is not None:
        constants.HF_HUB_OFFLINE = True  # type: ignore[attr-defined]


_TRIM_THRESHOLD: Final = -1  # parameters of mallopt, from malloc.h
_MMAP_THRESHOLD: Final = -3


def keep_freed_memory() -> None:
    """Make glibc keep up to 128 MiB of freed memory, and map only blocks above 32 MiB separately.

    By default it returns the activations of a layer to the system, which clears the same pages for
    the next layer: a tenth of the time of a pass over 1,000 tokens and more. Other C libraries are
    not changed. :func:`pura.model.store.give_back_memory` returns what is kept.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, 32 << 20)  # the largest value that it accepts
        mallopt(_TRIM_THRESHOLD, 128 << 20)
