"""Temperature, top-k and top-p: one rule for generator and verifier.

The order is temperature, then top-k, then top-p, each on the renormalised rest:

* ``p = softmax(z / temperature)`` in float64, of the float32 logits ``z``;
* top-k keeps the tokens at least as probable as the k-th most probable one;
* top-p keeps a token when all tokens strictly more probable than it hold less than ``top_p``
  together; the most probable token always stays.

Ties are kept together in both, so the outcome depends on the probabilities alone and not on the
order in which a sort happens to leave equal numbers. ``top_k = 0`` and ``top_p = 1`` are off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import torch

Floats = npt.NDArray[np.float64]


def is_truncated(top_k: int, top_p: float) -> bool:
    """Whether a profile cuts the distribution at all."""
    return top_k > 0 or top_p < 1.0


def softmax(logits: npt.ArrayLike, temperature: float = 1.0) -> Floats:
    """Return the float64 softmax over the last axis, float64 [..., V]."""
    z = np.asarray(logits, dtype=np.float64) / temperature
    e: Floats = np.exp(z - z.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True))


def truncate(probabilities: npt.ArrayLike, *, top_k: int = 0, top_p: float = 1.0) -> Floats:
    """Cut a distribution by top-k, then top-p, and renormalise (the rule of this module).

    Args:
        probabilities: [..., V], each row adding up to one.
        top_k: 0 is off.
        top_p: 1 is off.

    Returns:
        float64 [..., V]; what was cut is exactly zero.
    """
    p = np.asarray(probabilities, dtype=np.float64)
    size = p.shape[-1]
    if 0 < top_k < size:
        least = np.partition(p, size - top_k, axis=-1)[..., size - top_k, None]
        p = np.where(p >= least, p, 0.0)
        p = p / p.sum(axis=-1, keepdims=True)
    if top_p < 1.0:
        falling = -np.sort(-p, axis=-1)
        above = np.cumsum(falling, axis=-1) - falling
        last = np.maximum((above < top_p).sum(axis=-1) - 1, 0)
        least = np.take_along_axis(falling, last[..., None], axis=-1)
        # A zero threshold would let back in what top-k has cut.
        p = np.where((p >= least) & (p > 0.0), p, 0.0)
        p = p / p.sum(axis=-1, keepdims=True)
    return np.asarray(p)


def distribution(
    logits: npt.ArrayLike, *, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0
) -> Floats:
    """Return ``π``: float32 logits to the float64 distribution that a token is drawn from."""
    return truncate(softmax(logits, temperature), top_k=top_k, top_p=top_p)


def distribution_torch(
    logits: torch.Tensor, *, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0
) -> torch.Tensor:
    """Return the same as :func:`distribution` for a batch on its device.

    Args:
        logits: [N, V].
        temperature: As in the profile.
        top_k: 0 is off.
        top_p: 1 is off.

    Returns:
        float64 [N, V]; on the CPU when the device has no float64.
    """
    import torch

    wide = logits.cpu() if logits.device.type == "mps" else logits
    p = torch.softmax(wide.to(torch.float64) / temperature, dim=-1)
    size = p.shape[-1]
    falling = None
    if 0 < top_k < size:
        falling = p.topk(top_k, dim=-1).values
        p = torch.where(p >= falling[:, -1:], p, 0.0)
        total = p.sum(dim=-1, keepdim=True)
        p, falling = p / total, falling / total
    if top_p < 1.0:
        if falling is None:
            falling = p.sort(dim=-1, descending=True).values
        above = falling.cumsum(dim=-1) - falling
        last = ((above < top_p).sum(dim=-1, keepdim=True) - 1).clamp_(min=0)
        p = torch.where((p >= falling.gather(-1, last)) & (p > 0.0), p, 0.0)
        p = p / p.sum(dim=-1, keepdim=True)
    return p
