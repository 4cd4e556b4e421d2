"""Choice of the computing device, and whether a model fits into memory."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pura.base.catalogue import Phrase, Value, catalogue
from pura.base.errors import DeviceError
from pura.model import libraries

if TYPE_CHECKING:
    import torch


KINDS: Final = ("auto", "cuda", "mps", "cpu")
_BFLOAT16: Final = frozenset(("avx512_bf16", "amx_bf16", "bf16"))  # Intel and AMD; ARM
_INSTRUCTIONS: Final = _BFLOAT16 | {"avx2", "avx512f", "avx512_vnni", "amx_int8", "i8mm", "sve"}
DTYPES: Final = ("float32", "bfloat16", "float16")


@dataclass(frozen=True, kw_only=True)
class Device:
    """The device that computes.

    Attributes:
        kind: ``cuda``, ``mps`` or ``cpu``.
        name: Name of the device or processor.
        dtype: Number format of the weights: ``float32``, ``bfloat16`` or ``float16``.
        reason: Reason for the choice, a key of the volume ``findings``.
    """

    kind: str
    name: str
    dtype: str
    reason: str

    @property
    def torch_device(self) -> torch.device:
        """The device as torch names it."""
        import torch

        return torch.device(self.kind)

    @property
    def torch_dtype(self) -> torch.dtype:
        """The number format as torch names it."""
        import torch

        dtype = getattr(torch, self.dtype)
        assert isinstance(dtype, torch.dtype)
        return dtype


def choose_device(request: str = "auto", dtype: str = "float32") -> Device:
    """Choose the device to compute on.

    Args:
        request: ``auto``, ``cuda``, ``mps`` or ``cpu``.
        dtype: Number format of the weights. 16-bit formats are slow without hardware for them: a
            GPU or, for bfloat16, a processor with instructions for it.

    Raises:
        DeviceError: The requested device is missing, or it does not support the number format.
    """
    if request not in KINDS:
        raise DeviceError(
            "choice.unknown", name=f"{request!r}", known=", ".join(KINDS), code="device-name"
        )
    if dtype not in DTYPES:
        raise DeviceError(
            "choice.unknown", name=f"{dtype!r}", known=", ".join(DTYPES), code="device-name"
        )
    kind, reason = _pick(request)
    if kind == "cpu" and not (dtype == "float32" or (dtype == "bfloat16" and has_bfloat16())):
        raise DeviceError("device.dtype-gpu", dtype=dtype)
    return Device(kind=kind, name=_name(kind), dtype=dtype, reason=reason)


def _pick(request: str) -> tuple[str, str]:
    cuda, why_no_cuda = _cuda()
    mps = _mps()
    match request:
        case "cpu":
            return "cpu", "device.asked-cpu"
        case "cuda" if cuda:
            return "cuda", "device.asked-cuda"
        case "mps" if mps:
            return "mps", "device.asked-mps"
        case "cuda" if why_no_cuda == "build":
            raise DeviceError("device.no-cuda-build")
        case "cuda":
            raise DeviceError("device.no-cuda-driver")
        case "mps":
            raise DeviceError("device.no-mps")
    if cuda:
        return "cuda", "device.cuda"
    if mps:
        return "mps", "device.mps"
    return "cpu", f"device.no-{why_no_cuda}"


def _cuda() -> tuple[bool, str]:
    libraries.prepare()
    libraries.import_torch()
    import torch

    if torch.cuda.is_available():
        return True, ""
    if torch.version.cuda is None and getattr(torch.version, "hip", None) is None:
        return False, "build"
    return False, "driver"


def _mps() -> bool:
    libraries.prepare()
    import torch

    return torch.backends.mps.is_available()


def _name(kind: str) -> str:
    if kind == "cuda":
        import torch

        return str(torch.cuda.get_device_name(0))
    return _processor() if kind == "cpu" else f"Apple GPU ({_processor()})"


def has_bfloat16() -> bool:
    """Return whether the processor has instructions for bfloat16 matrices."""
    return not _BFLOAT16.isdisjoint(instructions())


@cache
def instructions() -> frozenset[str]:
    """Return the processor's vector and matrix extensions, as Linux names them."""
    flags = _cpuinfo("flags") or _cpuinfo("Features")
    return frozenset(name for name in flags.split() if name in _INSTRUCTIONS)


def _processor() -> str:
    # platform.processor() is empty on most Linux systems; the kernel's own list is not.
    return (
        _cpuinfo("model name") or platform.processor() or platform.machine() or "unknown processor"
    )


def _cpuinfo(name: str) -> str:
    """Return an entry of ``/proc/cpuinfo`` for the first processor; empty if there is none."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:  # noqa: PTH123
            for line in lines:
                if line.startswith(name):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return ""


MAIN: Final = "main"
GPU: Final = "gpu"
ITEM_BYTES: Final = {"float32": 4, "bfloat16": 2, "float16": 2}
# Python with torch and transformers, and the tiles and the cache of one reading.
WORKING_BYTES: Final = 800 << 20
SPARE: Final = 1.1  # weights are laid out with gaps, and copied layer by layer while loading


@dataclass(frozen=True, kw_only=True)
class MemoryNeed:
    """Whether a model fits.

    Attributes:
        fits: Whether the model fits; None if the free memory is unknown.
        need_bytes: Estimated memory for loading and reading.
        free_bytes: Free memory, or None if unknown.
        parameters: Numbers in the model.
        dtype: Number format that they are loaded in.
        place: Which memory is meant: ``main`` or ``gpu``.
    """

    fits: bool | None
    need_bytes: int
    free_bytes: int | None
    parameters: int
    dtype: str
    place: str

    def words(self, language: str) -> str:
        """Return the result as a sentence, with its numbers."""
        key = {True: "memory.fits", False: "memory.short", None: "memory.unknown"}[self.fits]
        values: dict[str, Value] = {
            "need": gigabytes(self.need_bytes),
            "parameters": self.parameters,
            "dtype": self.dtype,
        }
        if self.free_bytes is not None:
            memory_key = "memory.gpu" if self.place == GPU else "memory.main"
            values |= {
                "free": gigabytes(self.free_bytes),
                "place": Phrase(key=memory_key, values={}),
            }
        return catalogue("command").fill(key, language, values)


def memory_need(
    parameters: int, dtype: str = "float32", *, free: int | None, place: str = MAIN
) -> MemoryNeed:
    """Estimate whether a model fits.

    Args:
        parameters: Numbers in the model.
        dtype: Number format that they are loaded in.
        free: Bytes that are free, or None when that is unknown.
        place: Which memory is meant, :data:`MAIN` or :data:`GPU`.
    """
    need = int(parameters * ITEM_BYTES[dtype] * SPARE) + WORKING_BYTES
    return MemoryNeed(
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
    try:  # macOS reports free memory only through a program; half of it is a fair guess
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (ValueError, OSError):
        return None


def free_on(kind: str) -> tuple[int | None, str]:
    """Return the free bytes for a device, and the kind of its memory.

    Args:
        kind: ``cuda``, ``mps`` or ``cpu``. Only ``cuda`` imports torch.
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
            for name in (
                "total",
                "free",
                "page",
                "page_free",
                "virtual",
                "virtual_free",
                "extended",
            )
        ]

    status = Status(length=ctypes.sizeof(Status))
    windows = getattr(ctypes, "windll", None)
    if windows is None or not windows.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):
        return None
    return int(status.free)


def gigabytes(size: int) -> str:
    """Write a size for people."""
    return f"{size / 1e9:.1f} GB"
