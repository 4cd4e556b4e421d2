"""Which device computes, and why, in words.

``auto`` takes what is there. A device that was asked for by name and is missing is an error:
silently falling back to the CPU would turn minutes into days without a word.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pura.base.errors import DeviceError
from pura.model import offline

if TYPE_CHECKING:
    import torch

KINDS: Final = ("auto", "cuda", "mps", "cpu")
DTYPES: Final = ("float32", "bfloat16", "float16")


@dataclass(frozen=True, kw_only=True)
class Device:
    """The device that computes.

    Attributes:
        kind: ``cuda``, ``mps`` or ``cpu``.
        name: What the machine calls it.
        dtype: Of the weights: ``float32``, ``bfloat16`` or ``float16``.
        reason: Why this one, in words.
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
        dtype: Of the weights. 16-bit types need a GPU: on a CPU they are slow, and coarser
            weights move the intervals.

    Raises:
        DeviceError: The device that was asked for is not there, or the dtype does not fit it.
    """
    if request not in KINDS:
        raise DeviceError(
            "device.unknown", request=f"{request!r}", known=", ".join(KINDS), code="device-name"
        )
    if dtype not in DTYPES:
        raise DeviceError(
            "device.dtype", dtype=f"{dtype!r}", known=", ".join(DTYPES), code="device-name"
        )
    kind, reason = _pick(request)
    if kind == "cpu" and dtype != "float32":
        raise DeviceError("device.dtype-gpu", dtype=dtype)
    return Device(kind=kind, name=_name(kind), dtype=dtype, reason=reason)


def _pick(request: str) -> tuple[str, str]:
    cuda, why_no_cuda = _cuda()
    mps = _mps()
    match request:
        case "cpu":
            return "cpu", "The processor was asked for."
        case "cuda" if cuda:
            return "cuda", "The CUDA GPU was asked for."
        case "mps" if mps:
            return "mps", "The Apple GPU was asked for."
        case "cuda":
            raise DeviceError("device.no-cuda", why=why_no_cuda)
        case "mps":
            raise DeviceError("device.no-mps")
    if cuda:
        return "cuda", "A CUDA GPU is there, so it is used."
    if mps:
        return "mps", "An Apple GPU is there, so it is used."
    return "cpu", f"The processor is used, because {why_no_cuda}."


def _cuda() -> tuple[bool, str]:
    offline.prepare()
    import torch

    if torch.cuda.is_available():
        return True, ""
    if torch.version.cuda is None and getattr(torch.version, "hip", None) is None:
        return False, "the installed torch is built without GPU support"
    return False, "torch finds no usable GPU or driver"


def _mps() -> bool:
    offline.prepare()
    import torch

    return torch.backends.mps.is_available()


def _name(kind: str) -> str:
    if kind == "cuda":
        import torch

        return str(torch.cuda.get_device_name(0))
    return _processor() if kind == "cpu" else f"Apple GPU ({_processor()})"


def _processor() -> str:
    # platform.processor() is empty on most Linux systems; the kernel's own list is not.
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:  # noqa: PTH123
            for line in lines:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine() or "unknown processor"
