"""The evidence the plain way, from a full matrix of logits in float64.

It needs memory for every token times the whole vocabulary and is here to be compared with: the
tests hold the evidence pass to it, the benchmarks show what it costs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pura.model.reading import Reading
from pura.model.truncation import distribution
from pura.scheme import Profile, SecretKey


def read_logits(
    logits: npt.NDArray[np.float32],
    ids: npt.NDArray[np.int64],
    *,
    keys: Sequence[SecretKey],
    profile: Profile,
) -> Reading:
    """Return the reading of tokens whose logits are known.

    Args:
        logits: float32 [L, R]; row ``t`` predicted token ``t``. Logits beyond ``V`` come after
            the permuted ones, in natural order (docs/scheme.md §1).
        ids: int64 [L].
        keys: One interval a key.
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


def full_order(key: SecretKey, vocab_size: int, rows: int) -> npt.NDArray[np.int64]:
    """Return the secret order of all ``rows`` logits, int64 [rows].

    The ``V`` permuted ids come first, then the padding rows in natural order (docs/scheme.md §1).
    An id of the tokenizer that the model has no logit for has no probability and is left out.
    """
    order = key.vocabulary_order(vocab_size)
    rest = np.arange(vocab_size, rows, dtype=np.int64)
    return np.concatenate([order[order < rows], rest])
