"""Whether a model fits into the memory of this machine, estimated before anything is loaded.

An estimate and no promise: other programs come and go. It errs on the careful side, and names the
numbers that it was made from.
"""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pura.base.catalogue import Phrase, Value, catalogue

MAIN: Final = "main"
GPU: Final = "gpu"
ITEM_BYTES: Final = {"float32": 4, "bfloat16": 2, "float16": 2}
# Python with torch and transformers, and the tiles and the cache of one reading.
WORKING_BYTES: Final = 800 << 20
SPARE: Final = 1.1  # weights are laid out with gaps, and copied layer by layer while loading


@dataclass(frozen=True, kw_only=True)
class Room:
    """Whether a model fits.

    Attributes:
        fits: None when the machine does not tell how much memory it has.
        need_bytes: Estimate of what loading and reading take.
        free_bytes: What is free, or None.
        parameters: Numbers in the model.
        dtype: Number format that they are loaded in.
        place: Whose memory is meant: ``main`` or ``gpu``.
    """

    fits: bool | None
    need_bytes: int
    free_bytes: int | None
    parameters: int
    dtype: str
    place: str

    def words(self, language: str) -> str:
        """Return the same in a sentence, with its numbers."""
        key = {True: "memory.fits", False: "memory.short", None: "memory.unknown"}[self.fits]
        values: dict[str, Value] = {
            "need": gigabytes(self.need_bytes),
            "parameters": self.parameters,
            "dtype": self.dtype,
        }
        if self.free_bytes is not None:
            place = "memory.gpu" if self.place == GPU else "memory.main"
            values |= {"free": gigabytes(self.free_bytes), "place": Phrase(key=place, values={})}
        return catalogue("command").fill(key, language, values)


def room_for(
    parameters: int, dtype: str = "float32", *, free: int | None, place: str = MAIN
) -> Room:
    """Estimate whether a model fits.

    Args:
        parameters: Numbers in the model.
        dtype: Number format that they are loaded in.
        free: Bytes that are free, or None when that is unknown.
        place: Whose memory is meant, :data:`MAIN` or :data:`GPU`.
    """
    need = int(parameters * ITEM_BYTES[dtype] * SPARE) + WORKING_BYTES
    return Room(
        fits=None if free is None else need <= free,
        need_bytes=need,
        free_bytes=free,
        parameters=parameters,
        dtype=dtype,
        place=place,
    )


def free_memory() -> int | None:
    """Return how many bytes of main memory a program can still get, or None."""
    system = platform.system()
    if system == "Linux":
        return _linux()
    if system == "Windows":
        return _windows()
    try:  # macOS does not say what is free without a program of its own; half is a fair guess
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (ValueError, OSError):
        return None


def free_on(kind: str) -> tuple[int | None, str]:
    """Return free bytes where a device computes, and whose memory that is.

    Args:
        kind: ``cuda``, ``mps`` or ``cpu``. torch is imported for ``cuda`` only.
    """
    if kind != "cuda":
        return free_memory(), MAIN
    import torch

    return int(torch.cuda.mem_get_info()[0]), GPU


def _linux(table: Path = Path("/proc/meminfo"), group: Path = Path("/sys/fs/cgroup")) -> int | None:
    free = None
    try:
        for line in table.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("MemAvailable:"):
                free = int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        return None
    # A container may get less than the machine has.
    try:
        limit = int((group / "memory.max").read_text(encoding="ascii"))
        used = int((group / "memory.current").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return free
    left = max(0, limit - used)
    return left if free is None else min(free, left)


def _windows() -> int | None:
    import ctypes

    class Status(ctypes.Structure):
        _fields_ = [("length", ctypes.c_uint32), ("load", ctypes.c_uint32)] + [
            (name, ctypes.c_uint64)
            for name in ("total", "free", "page", "page_free", "room", "room_free", "extended")
        ]

    status = Status(length=ctypes.sizeof(Status))
    windows = getattr(ctypes, "windll", None)
    if windows is None or not windows.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):
        return None
    return int(status.free)


def gigabytes(size: int) -> str:
    """Write a size for people."""
    return f"{size / 1e9:.1f} GB"
