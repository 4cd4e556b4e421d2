"""The likelihood summed over all payloads with the ring of the trellis left open.

The exact sum keeps the walks that end in the state in which they began; this one lets them end
anywhere. It is a different number, so never an answer about a payload; but it costs a fraction,
and as the statistic of a redraw test any number will do that is worked out alike for the observed
and the redrawn phases.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pura.decode.trellis.base import RegisterTrellis

F64 = npt.NDArray[np.float64]


def open_log_mean(trellis: RegisterTrellis, phi: F64) -> F64:
    """Return ``log`` of the mean weight over all open walks.

    Args:
        trellis: Of the code.
        phi: float64 [..., n, 8], finite.

    Returns:
        float64 [...], in nats.
    """
    flat = phi.reshape(-1, *phi.shape[-2:])
    out = np.empty(flat.shape[0])
    chunk = max(1, (1 << 20) // (trellis.codeword_length * 512 // 3))
    for first in range(0, flat.shape[0], chunk):
        out[first : first + chunk] = _walk(trellis.windows(flat[first : first + chunk]))
    return out.reshape(phi.shape[:-2])


def _walk(windows: F64) -> F64:
    """Walk once along the register; windows float64 [R, T, 2S] to log means float64 [R]."""
    runs, length, branches = windows.shape
    half = branches // 2
    peak = windows.max(axis=2)
    # -inf rules a branch out; a step where every branch is out cannot come from finite φ.
    weights = np.exp(windows - peak[:, :, None])
    state = np.full((runs, half), 1.0 / half)
    total = peak.sum(axis=1)
    for t in range(length):
        # A branch holds the old state and the new bit; the new state is its lower part.
        moved = np.repeat(state, 2, axis=1) * weights[:, t]
        state = (moved[:, :half] + moved[:, half:]) / 2
        scale = state.sum(axis=1, keepdims=True)
        state /= scale
        total += np.log(scale[:, 0])
    return np.asarray(total)
