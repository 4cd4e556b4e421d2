"""Which device computes, and why.

``auto`` takes what is there. A device that was asked for by name and is missing is an error:
silently falling back to the CPU would turn minutes into days without a word.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from pura.base.errors import DeviceError
from pura.model import lean, offline

if TYPE_CHECKING:
    import torch

KINDS: Final = ("auto", "cuda", "mps", "cpu")
_BFLOAT16: Final = frozenset(("avx512_bf16", "amx_bf16", "bf16"))  # Intel and AMD; ARM
_KNOWN: Final = _BFLOAT16 | {"avx2", "avx512f", "avx512_vnni", "amx_int8", "i8mm", "sve"}
DTYPES: Final = ("float32", "bfloat16", "float16")


@dataclass(frozen=True, kw_only=True)
class Device:
    """The device that computes.

    Attributes:
        kind: ``cuda``, ``mps`` or ``cpu``.
        name: What the machine calls it.
        dtype: Of the weights: ``float32``, ``bfloat16`` or ``float16``.
        reason: Why this one, a key of the volume ``findings``.
    """

    kind: str
    name: str
    dtype: str
    reason: str

    @property
    def torch_device(self) -> torch.device:
        """The same, as torch wants it."""
        import torch

        return torch.device(self.kind)

    @property
    def torch_dtype(self) -> torch.dtype:
        """The dtype, as torch wants it."""
        import torch

        dtype = getattr(torch, self.dtype)
        assert isinstance(dtype, torch.dtype)
        return dtype


def choose_device(request: str = "auto", dtype: str = "float32") -> Device:
    """Choose where to compute.

    Args:
        request: ``auto``, ``cuda``, ``mps`` or ``cpu``.
        dtype: Of the weights. 16-bit types need what computes with them: a GPU, or for bfloat16
            a processor that has instructions for it; without those they are slow.

    Raises:
        DeviceError: The device that was asked for is not there, or the dtype does not fit it.
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
        case "cuda":
            raise DeviceError("device.no-cuda", why=why_no_cuda)
        case "mps":
            raise DeviceError("device.no-mps")
    if cuda:
        return "cuda", "device.cuda"
    if mps:
        return "mps", "device.mps"
    return "cpu", f"device.no-{why_no_cuda}"


def _cuda() -> tuple[bool, str]:
    offline.prepare()
    lean.import_torch()
    import torch

    if torch.cuda.is_available():
        return True, ""
    if torch.version.cuda is None and getattr(torch.version, "hip", None) is None:
        return False, "build"
    return False, "driver"


def _mps() -> bool:
    offline.prepare()
    import torch

    return torch.backends.mps.is_available()


def _name(kind: str) -> str:
    if kind == "cuda":
        import torch

        return str(torch.cuda.get_device_name(0))
    return _processor() if kind == "cpu" else f"Apple GPU ({_processor()})"


def has_bfloat16() -> bool:
    """Whether the processor multiplies matrices of bfloat16 numbers by instructions of its own."""
    return not _BFLOAT16.isdisjoint(instructions())


@cache
def instructions() -> frozenset[str]:
    """Return what the processor can do with vectors and matrices, as Linux names it."""
    flags = _told("flags") or _told("Features")
    return frozenset(name for name in flags.split() if name in _KNOWN)


def _processor() -> str:
    # platform.processor() is empty on most Linux systems; the kernel's own list is not.
    return _told("model name") or platform.processor() or platform.machine() or "unknown processor"


def _told(name: str) -> str:
    """Return what the kernel says of the first processor; empty where it says nothing."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:  # noqa: PTH123
            for line in lines:
                if line.startswith(name):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return ""
