"""Window potentials: everything a text says about three neighbouring codeword bits.

docs/evidence.md §2. A step touches the positions ``idx``, ``idx + 1`` and ``idx + 2`` of the ring,
so the log likelihood of a codeword is a sum of tables with eight entries, one table a position.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]


def window_potentials(log_f: F64, index: npt.NDArray[np.int64], length: int) -> F64:
    """Add up the log likelihoods of the steps that begin at the same position.

    Args:
        log_f: float64 [..., S, 8], log likelihood of each step for the bits ahead of it; a step
            that reads fewer than three bits holds the same value for those it does not read.
        index: int64 [S], first position of each step.
        length: ``n``. On a ring of two positions the third bit is the first one again; the
            entries that contradict themselves are never read.

    Returns:
        ``φ``, float64 [..., n, 8]; 0 where no step begins.
    """
    phi = np.zeros((*log_f.shape[:-2], length, 8))
    if index.size:
        order = np.argsort(index, kind="stable")
        places, starts = np.unique(index[order], return_index=True)
        phi[..., places, :] = np.add.reduceat(log_f[..., order, :], starts, axis=-2)
    return phi


def codeword_windows(codewords: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """Return the window index ``4·c_i + 2·c_{i+1} + c_{i+2}`` at every position.

    Args:
        codewords: uint8 [..., n].

    Returns:
        int64 [..., n].
    """
    bits = codewords.astype(np.int64)
    return 4 * bits + 2 * np.roll(bits, -1, axis=-1) + np.roll(bits, -2, axis=-1)


def codeword_scores(phi: F64, codewords: npt.NDArray[np.uint8]) -> F64:
    """Return the log likelihood ratio of codewords.

    Args:
        phi: float64 [G, n, 8].
        codewords: uint8 [C, n].

    Returns:
        float64 [G, C], in nats.
    """
    windows = codeword_windows(codewords)
    return np.asarray(phi[:, np.arange(phi.shape[1])[None, :], windows].sum(axis=-1))
