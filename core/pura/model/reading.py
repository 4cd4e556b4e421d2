"""The result of reading a text with a model, and a reference implementation.

Temperature, top-k and top-p follow one rule for generator and verifier.

The order is temperature, then top-k, then top-p, each on the renormalised rest:

* ``p = softmax(z / temperature)`` in float64, of the float32 logits ``z``;
* top-k keeps the tokens at least as probable as the k-th most probable one;
* top-p keeps a token if all strictly more probable tokens together have less than ``top_p``; the
  most probable token always stays.

Both keep ties together, so the outcome depends only on the probabilities, not on the order of equal
numbers after a sort. ``top_k = 0`` and ``top_p = 1`` are off.

The reference (:func:`read_logits`) needs memory for every token times the whole vocabulary. Tests
compare the evidence pass with it, and benchmarks measure its cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pura.scheme import F64, I64, Profile, SecretKey

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Entropy and intervals of every token of a text; ``L`` tokens, ``K`` keys.

    A token with nothing before it (the first one, if the prefix is empty) has no prediction: its
    entropy is 0 and its interval the whole circle. It carries no bits, since it has no context.

    Attributes:
        ids: int64 [L], the token ids.
        entropy_bits: float64 [L], entropy of the distribution that predicted the token, in bits.
        probability: float64 [L], probability of the token in that distribution; exact where
            ``hi - lo`` would cancel.
        lo: float64 [K, L], start of the token's interval in each key's secret order.
        hi: float64 [K, L], end of the interval.
        taken: Number of tokens with results copied from another reading of the text.
        windows: Number of overlapping windows in which the text was read.
        resumed: Number of tokens with results stored by an interrupted run.
        short_of_memory: Whether the text was read in smaller pieces because memory ran short.
    """

    ids: I64
    entropy_bits: F64
    probability: F64
    lo: F64
    hi: F64
    taken: int = 0
    windows: int = 1
    resumed: int = 0
    short_of_memory: bool = False

    def __len__(self) -> int:
        return int(self.ids.size)

    def first(self, tokens: int) -> Reading:
        """Return the reading of the first tokens."""
        return replace(
            self,
            ids=self.ids[:tokens],
            entropy_bits=self.entropy_bits[:tokens],
            probability=self.probability[:tokens],
            lo=self.lo[:, :tokens],
            hi=self.hi[:, :tokens],
        )


Floats = F64


def is_truncated(top_k: int, top_p: float) -> bool:
    """Return whether a profile truncates the distribution."""
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
        float64 [..., V]; tokens that were cut are exactly zero.
    """
    p = np.asarray(probabilities, dtype=np.float64)
    size = p.shape[-1]
    if 0 < top_k < size:
        threshold = np.partition(p, size - top_k, axis=-1)[..., size - top_k, None]
        p = np.where(p >= threshold, p, 0.0)
        p = p / p.sum(axis=-1, keepdims=True)
    if top_p < 1.0:
        falling = -np.sort(-p, axis=-1)
        above = np.cumsum(falling, axis=-1) - falling
        last = np.maximum((above < top_p).sum(axis=-1) - 1, 0)
        threshold = np.take_along_axis(falling, last[..., None], axis=-1)
        # A zero threshold would restore tokens that top-k has cut.
        p = np.where((p >= threshold) & (p > 0.0), p, 0.0)
        p = p / p.sum(axis=-1, keepdims=True)
    return np.asarray(p)


def distribution(
    logits: npt.ArrayLike, *, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0
) -> Floats:
    """Return ``π``, the float64 distribution that a token is drawn from, for float32 logits."""
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
        float64 [N, V]; on the CPU if the device has no float64.
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


def read_logits(
    logits: npt.NDArray[np.float32],
    ids: I64,
    *,
    keys: Sequence[SecretKey],
    profile: Profile,
) -> Reading:
    """Return the reading of tokens from their logits.

    Args:
        logits: float32 [L, R]; row ``t`` predicted token ``t``. Logits beyond ``V`` come after
            the permuted ones, in natural order (scheme.md §1).
        ids: int64 [L].
        keys: Keys, with one row of intervals each.
        profile: Vocabulary size, temperature, top-k, top-p.
    """
    p = distribution(
        logits, temperature=profile.temperature, top_k=profile.top_k, top_p=profile.top_p
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.where(p > 0, p * np.log2(p), 0.0).sum(axis=1)
    rows = np.arange(ids.size)
    lo, hi = np.empty((2, len(keys), ids.size))
    for k, key in enumerate(keys):
        order = full_order(key, profile.vocab_size, p.shape[1])
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        mass = np.cumsum(p[:, order], axis=1)
        hi[k] = mass[rows, rank[ids]]
        lo[k] = hi[k] - p[rows, ids]
    return Reading(ids=ids, entropy_bits=entropy, probability=p[rows, ids], lo=lo, hi=hi)


def full_order(key: SecretKey, vocab_size: int, rows: int) -> I64:
    """Return the secret order of all ``rows`` logits, int64 [rows].

    The ``V`` permuted ids come first, then the padding rows in natural order (scheme.md §1).
    An id of the tokenizer without a logit in the model has no probability and is omitted.
    """
    order = key.vocabulary_order(vocab_size)
    rest = np.arange(vocab_size, rows, dtype=np.int64)
    return np.concatenate([order[order < rows], rest])
