"""How torch and transformers are imported: offline; and how memory is kept between layers.

The libraries that load models reach for a network by default, so they are told not to, in the one
way that they all honour: the environment, before their import (:func:`prepare`).
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
    """Import torch; looking for circles among the objects that it makes takes a fifth longer."""
    collects = gc.isenabled()
    gc.disable()
    try:
        importlib.import_module("torch")
    finally:
        if collects:
            gc.enable()


# Forced: a setting of the user's shell must not open the door again.
_FORCED: Final = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
    "DO_NOT_TRACK": "1",
}
# Defaults: whoever sets them otherwise has a reason.
_DEFAULTS: Final = {
    # Spinning OpenMP threads fight other processes for the cores; waiting ones do not.
    "OMP_WAIT_POLICY": "PASSIVE",
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TRANSFORMERS_VERBOSITY": "error",
}


def switches() -> Mapping[str, str]:
    """Return the switches that are forced, with what they are set to."""
    return _FORCED


def prepare() -> None:
    """Set the switches; call it before anything imports torch or transformers.

    Calling it again is harmless. When the hub client was imported earlier by somebody else, its
    own copy of the switch is turned as well.
    """
    os.environ.update(_FORCED)
    for name, value in _DEFAULTS.items():
        os.environ.setdefault(name, value)
    constants = sys.modules.get("huggingface_hub.constants")
    if constants is not None:
        constants.HF_HUB_OFFLINE = True  # type: ignore[attr-defined]


_TRIM_THRESHOLD: Final = -1  # of mallopt
_MMAP_THRESHOLD: Final = -3


def keep_freed_memory() -> None:
    """Have glibc keep up to 128 MiB of freed memory, and no block below 32 MiB to itself.

    By default it gives the activations of a layer back to the system, which clears the same pages
    for the next layer: a tenth of a pass over 1,000 tokens and more. Other libraries are left
    as they are. :func:`pura.model.store.give_back_memory` returns what is kept.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, 32 << 20)  # the most it takes
        mallopt(_TRIM_THRESHOLD, 128 << 20)
