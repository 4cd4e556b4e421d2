"""Local evidence of one token: sector weights and bit LLRs (paper §4.3, docs/scheme.md §5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pura.extract.kernels import hard_vote, kernel_overlap
from pura.scheme.gray import MAX_ARITY, label_bits
from pura.scheme.profile import Profile
from pura.scheme.schedule import Schedule, anchors

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class LocalEvidence:
    """What every step says about the bits it reads, before any of it is added up.

    Attributes:
        weights: float64 [S, 8], compatibility ``w_t(s)`` of the token's interval with each
            sector; NaN from ``2**a_t`` on.
        llr_nats: float64 [S, 3], local LLR ``Λ_t^(j)`` of each bit; positive supports 1; NaN from
            ``a_t`` on.
    """

    weights: F64
    llr_nats: F64


def sector_weights(kernel: str, phase: F64, lo: F64, hi: F64, arity: int) -> F64:
    """Return ``w_t(s)`` for steps of one arity (paper, eq. sector_weight).

    Args:
        kernel: A kernel of the profile, ``hard`` included.
        phase: float64 [S], ``U_t``.
        lo: float64 [S], start of the token's interval.
        hi: float64 [S], end of it.
        arity: ``a``, 1 … 3.

    Returns:
        float64 [S, 2**a].
    """
    centres = anchors(phase, arity)
    if kernel == "hard":
        return hard_vote(lo, hi, centres)
    radius = 0.5 ** (arity + 1)
    return kernel_overlap(kernel, lo[:, None], hi[:, None], centres, radius)


def bit_llrs(weights: F64, arity: int, clip: float) -> F64:
    """Project sector weights on the bits of the Gray labels (paper, eq. local_llr).

    Args:
        weights: float64 [S, 2**a].
        arity: ``a``.
        clip: ``ε``; the probability of a 1 is kept in ``[ε, 1 - ε]``.

    Returns:
        float64 [S, a], LLR in nats; 0 where no sector has any weight.
    """
    total = weights.sum(axis=1, keepdims=True)
    ones = weights @ label_bits(arity).astype(np.float64)
    p = np.full(ones.shape, 0.5)
    np.divide(ones, total, out=p, where=total > 0)
    p = np.clip(p, clip, 1 - clip)
    return np.asarray(np.log(p) - np.log1p(-p))


def local_evidence(
    schedule: Schedule, lo: F64, hi: F64, profile: Profile, *, kernel: str | None = None
) -> LocalEvidence:
    """Turn the intervals of a text's tokens into local bit evidence.

    Args:
        schedule: The steps that carry bits.
        lo: float64 [L], start of every token's interval in the secret order.
        hi: float64 [L], end of it.
        profile: Says kernel and clip.
        kernel: Another kernel than the profile's, for ablations.

    Returns:
        Weights and LLRs of the ``S`` steps.
    """
    kernel = profile.kernel if kernel is None else kernel
    weights = np.full((len(schedule), 1 << MAX_ARITY), np.nan)
    llr = np.full((len(schedule), MAX_ARITY), np.nan)
    for arity in range(1, MAX_ARITY + 1):
        rows = np.flatnonzero(schedule.arity == arity)
        if rows.size == 0:
            continue
        token = schedule.token[rows]
        w = sector_weights(kernel, schedule.phase[rows], lo[token], hi[token], arity)
        weights[rows, : 1 << arity] = w
        llr[rows, :arity] = bit_llrs(w, arity, profile.llr_clip)
    return LocalEvidence(weights=weights, llr_nats=llr)
