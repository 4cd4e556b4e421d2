"""Positions of the codeword: what a text says of each of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]


def sum_llrs(index: I64, arity: I64, llr_nats: F64, length: int) -> tuple[F64, I64]:
    """Add up the local LLRs of each codeword position (paper, eq. global_llr).

    Args:
        index: int64 [S], first codeword position of each step that carries bits.
        arity: int64 [S], how many it reads.
        llr_nats: float64 [S, 3], NaN beyond the arity.
        length: ``n``.

    Returns:
        Sums float64 [n] in nats and numbers of readings int64 [n].
    """
    read = np.arange(llr_nats.shape[1])[None, :] < arity[:, None]
    place = (index[:, None] + np.arange(llr_nats.shape[1])[None, :]) % length
    sums = np.bincount(place[read], weights=llr_nats[read], minlength=length)
    readings = np.bincount(place[read], minlength=length).astype(np.int64)
    return sums.astype(np.float64), readings
