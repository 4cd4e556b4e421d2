"""Positions of the codeword, and the readings of a text at each of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]


def sum_llrs(index: I64, arity: I64, llr_nats: F64, length: int) -> tuple[F64, I64]:
    """Add up the local LLRs of each codeword position (paper, eq. global_llr).

    Args:
        index: int64 [S], first codeword position of each step that carries bits.
        arity: int64 [S], number of bits of each step.
        llr_nats: float64 [S, 3], NaN beyond the arity.
        length: ``n``.

    Returns:
        The sums in nats, float64 [n], and the numbers of readings, int64 [n].
    """
    read = np.arange(llr_nats.shape[1])[None, :] < arity[:, None]
    position = (index[:, None] + np.arange(llr_nats.shape[1])[None, :]) % length
    sums = np.bincount(position[read], weights=llr_nats[read], minlength=length)
    readings = np.bincount(position[read], minlength=length).astype(np.int64)
    return sums.astype(np.float64), readings
