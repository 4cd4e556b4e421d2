"""Walks of a binary shift register that end where they began.

A register of memory ``ν`` holds the last ``ν`` bits, the newest one least significant, and so has
``S = 2^ν`` states. A step shifts in one bit and weighs the window of ``ν + 1`` bits that this
makes; window ``b`` leads from state ``b // 2`` to state ``b mod S``. Both directions are therefore
slices of the window tables and need no index arrays.

The recursions are written once over a semiring whose product is ``+``; its sum, ``plus``, is a
NumPy ufunc: ``np.maximum`` finds the best walk, ``np.logaddexp`` adds all of them up (Viterbi
1967; Bahl, Cocke, Jelinek and Raviv 1974; both with every start state on its own, so that the
end can be held to the start). ``-inf`` is the semiring's zero and needs no special case.

Shapes: ``windows`` float64 [..., T, 2S] in nats; ``starts`` int64 [P].
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
States = npt.NDArray[np.int64]


def step_forward(values: F64, window: F64, plus: np.ufunc) -> F64:
    """Carry values of the states before a step to the states after it.

    Args:
        values: float64 [..., S, P].
        window: float64 [..., 2S].
        plus: The semiring's sum.

    Returns:
        float64 [..., S, P].
    """
    *lead, states, columns = values.shape
    before = values.reshape(*lead, 2, states // 2, 1, columns)
    branches = before + window.reshape(*lead, 2, states // 2, 2, 1)
    joined = plus(branches[..., 0, :, :, :], branches[..., 1, :, :, :])
    return np.asarray(joined.reshape(*lead, states, columns))


def step_backward(values: F64, window: F64, plus: np.ufunc) -> F64:
    """Carry values of the states after a step to the states before it; shapes as forward."""
    *lead, states, columns = values.shape
    branches = values[..., None, :, :] + window.reshape(*lead, 2, states, 1)
    pairs = branches.reshape(*lead, states, 2, columns)
    return np.asarray(plus(pairs[..., 0, :], pairs[..., 1, :]))


def at_states(lead: tuple[int, ...], states: int, chosen: States) -> F64:
    """Return the semiring's one at each chosen state, a column each; float64 [*lead, S, P]."""
    values = np.full((*lead, states, chosen.size), -np.inf)
    values[..., chosen, np.arange(chosen.size)] = 0.0
    return values


def closings(windows: F64, starts: States, plus: np.ufunc) -> F64:
    """Return the sum of all walks from each start back to itself; float64 [..., P]."""
    *lead, steps, double = windows.shape
    values = at_states(tuple(lead), double // 2, starts)
    for t in range(steps):
        values = step_forward(values, windows[..., t, :], plus)
    return np.asarray(values[..., starts, np.arange(starts.size)])


def best_closings(windows: F64) -> npt.NDArray[np.float32]:
    """Return the best walk from every start back to itself, in single precision.

    As many steps as the register is long lead from each state to each other on one path only, so
    the first and the last of them are tables; only those between are walked.

    Args:
        windows: float64 [T, 2S].

    Returns:
        float32 [S].
    """
    steps, double = windows.shape
    states, memory = double // 2, (double // 2).bit_length() - 1
    if steps < 2 * memory:
        return closings(windows, np.arange(states), np.maximum).astype(np.float32)
    single = windows.astype(np.float32)
    values = np.ascontiguousarray(_only_paths(single[:memory]).T)
    branches = np.empty((2, states // 2, 2, states), dtype=np.float32)
    for window in single[memory : steps - memory]:
        before = values.reshape(2, states // 2, 1, states)
        np.add(before, window.reshape(2, states // 2, 2, 1), out=branches)
        np.maximum(branches[0], branches[1], out=values.reshape(states // 2, 2, states))
    values += _only_paths(single[steps - memory :])
    return np.asarray(values.max(axis=0))


def _only_paths(windows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return the weight of the path from each state to each other; [ν, 2S] to [from, to]."""
    memory, double = windows.shape
    total = np.zeros(1 << 2 * memory, dtype=np.float32)
    for t, window in enumerate(windows):
        # A path is the old bits and the new ones; the step reads the bits t … t + ν of it.
        view = total.reshape(1 << t, double, -1)
        view += window[:, None]
    return total.reshape(double // 2, double // 2)


def pasts(windows: F64, starts: States, plus: np.ufunc) -> F64:
    """Return the sums from each start to every state; float64 [T + 1, S, P]."""
    steps, double = windows.shape
    values = np.empty((steps + 1, double // 2, starts.size))
    values[0] = at_states((), double // 2, starts)
    for t in range(steps):
        values[t + 1] = step_forward(values[t], windows[t], plus)
    return values


def futures(windows: F64, ends: States, plus: np.ufunc) -> F64:
    """Return the sums from every state to each end; float64 [T + 1, S, P]."""
    steps, double = windows.shape
    values = np.empty((steps + 1, double // 2, ends.size))
    values[steps] = at_states((), double // 2, ends)
    for t in reversed(range(steps)):
        values[t] = step_backward(values[t + 1], windows[t], plus)
    return values


def free_futures(windows: F64, plus: np.ufunc) -> tuple[F64, F64]:
    """Return the sums from every state to any end, and what they bound.

    The ends are weighed by the best lap that could follow (wrap-around), so that for strong
    evidence the bound is nearly attained.

    Args:
        windows: float64 [..., T, 2S].
        plus: The semiring's sum.

    Returns:
        The sums, float64 [..., T + 1, S], and for each start an upper bound of its closing,
        float64 [..., S]: a walk from ``s`` to ``s`` is one of those that ``sums[0, s]`` counts,
        with the end's weight ``sums[T, s]`` on top.
    """
    *lead, steps, double = windows.shape
    sums = np.zeros((*lead, steps + 1, double // 2))
    end = np.zeros((*lead, double // 2, 1))
    for t in reversed(range(steps)):
        end = step_backward(end, windows[..., t, :], np.maximum)
    value = end
    sums[..., steps, :] = value[..., 0]
    for t in reversed(range(steps)):
        value = step_backward(value, windows[..., t, :], plus)
        sums[..., t, :] = value[..., 0]
    possible = np.isfinite(end[..., 0])
    bound = np.full((*lead, double // 2), -np.inf)
    np.subtract(value[..., 0], end[..., 0], out=bound, where=possible)
    return sums, bound
