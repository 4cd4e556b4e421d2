"""The ``k`` best closed walks of a shift register, exactly (list Viterbi with a look ahead).

Walks are grown from their start one bit at a time. Each beginning is rated by its own weight plus
the best way home from where it stands, which a backward pass over its start state has made exact.
Keeping the ``k`` best rated beginnings at each step loses nothing: were a beginning of one of the
``k`` best walks not among them, each of the ``k`` that are would lead to a different walk at least
as good.
"""

from __future__ import annotations

import numpy as np

from pura.decode.trellis.protocol import Bits
from pura.decode.trellis.register import F64, States, best_closings, futures

_ROUNDING = 1e-5  # relative, of single precision: no start may be lost by it


def best_starts(windows: F64, k: int) -> States:
    """Return the start states of the ``k`` best walks, and as few others as need be.

    Every start's best walk is worked out, in single precision, which is far cheaper than to find
    out which starts need not be looked at. Those count that the ``k``-th best does not rule out.

    Args:
        windows: float64 [T, 2S].
        k: How many walks are asked for.

    Returns:
        int64 [P], best first, P = k but for starts as good as the k-th; empty when no walk is
        possible.
    """
    found = best_closings(windows)
    order = np.argsort(-found, kind="stable")
    order = order[np.isfinite(found[order])]
    if order.size > k:
        last = found[order[k - 1]]
        heaviest = np.abs(windows).max(axis=1, where=windows > -np.inf, initial=0.0)
        slack = _ROUNDING * (1.0 + heaviest.sum())
        order = order[found[order] >= last - slack]
    return np.asarray(order)


def best_walks(windows: F64, k: int) -> tuple[Bits, F64]:
    """Return the ``k`` best walks.

    Args:
        windows: float64 [T, 2S].
        k: At least 1.

    Returns:
        The bits that were shifted in, uint8 [K, T], and the walks' weights, float64 [K], strongest
        first; K < k when fewer walks have a finite weight.
    """
    steps, double = windows.shape
    starts = best_starts(windows, k)
    home = futures(windows, starts, np.maximum)
    bits = np.zeros((starts.size, steps), dtype=np.uint8)
    state, column = starts, np.arange(starts.size)
    weight = np.zeros(starts.size)
    for t in range(steps):
        window = (2 * state[:, None] + np.arange(2)).ravel()
        column, origin = np.repeat(column, 2), np.repeat(np.arange(state.size), 2)
        grown = weight[origin] + windows[t, window]
        rating = grown + home[t + 1, window % (double // 2), column]
        kept = np.argsort(-rating, kind="stable")[:k]
        kept = kept[np.isfinite(rating[kept])]
        bits = bits[origin[kept]]
        bits[:, t] = window[kept] & 1
        state, column, weight = window[kept] % (double // 2), column[kept], grown[kept]
    order = np.argsort(-weight, kind="stable")
    return bits[order], weight[order]
