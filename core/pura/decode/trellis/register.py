"""Walks of a binary shift register that end where they began.

What every trellis answers about window potentials is defined here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol

import numpy as np
import numpy.typing as npt

from pura.decode.windows import codeword_windows

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


Bits = npt.NDArray[np.uint8]


class Trellis(Protocol):
    """Exact answers over all ``2^{L_m}`` payloads of a code.

    ``φ`` are window potentials in nats, ``φ[i, 4·c_i + 2·c_{i+1} + c_{i+2}]`` with positions
    counted round the ring of ``n``. ``-inf`` is allowed and rules windows out; NaN and ``+inf``
    are refused with a ``ValueError``, as is a wrong shape.
    """

    @property
    def payload_bits(self) -> int:
        """``L_m``."""
        ...

    @property
    def codeword_length(self) -> int:
        """``n``."""
        ...

    def best(self, phi: F64) -> tuple[Bits, float]:
        """Return the most likely payload and its score.

        Args:
            phi: float64 [n, 8].

        Returns:
            uint8 [L_m] and ``Σ_i φ_i`` in nats. When every payload is ruled out: zeros, ``-inf``.
        """
        ...

    def k_best(self, phi: F64, k: int) -> list[tuple[Bits, float]]:
        """Return the ``k`` most likely payloads, strongest first, all different.

        Args:
            phi: float64 [n, 8].
            k: How many, at least 1.

        Returns:
            Payload and score of each; fewer than ``k`` when the code has fewer payloads that are
            not ruled out (score ``-inf``), but never less than what ``best`` returns.
        """
        ...

    def log_sum(self, phi: F64) -> F64:
        """Return ``log Σ exp(Σ_i φ_i)`` over all payloads.

        Args:
            phi: float64 [..., n, 8], for example one table a grid point.

        Returns:
            float64 [...], in nats; ``-inf`` where every payload is ruled out.
        """
        ...

    def posteriors(self, phi: F64) -> F64:
        """Return how probable each payload bit is 1, all payloads being equally likely before.

        Args:
            phi: float64 [n, 8].

        Returns:
            float64 [L_m] in 0 … 1; 0.5 everywhere when every payload is ruled out.
        """
        ...

    def score(self, phi: F64, codeword: Bits) -> float:
        """Return ``Σ_i φ_i`` of one codeword in nats.

        Args:
            phi: float64 [n, 8].
            codeword: uint8 [n].
        """
        ...


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


I64 = npt.NDArray[np.int64]


class RegisterTrellis(ABC):
    """Answers in the log domain; a code says what its register holds."""

    payload_bits: int

    @property
    @abstractmethod
    def codeword_length(self) -> int:
        """``n``."""

    @abstractmethod
    def windows(self, phi: F64) -> F64:
        """Turn window potentials of the ring, [G, n, 8], into those of the register, [G, T, 2S]."""

    @abstractmethod
    def payloads(self, walks: Bits) -> Bits:
        """Read the payloads, uint8 [K, L_m], off the bits shifted in, uint8 [K, T]."""

    @abstractmethod
    def payload_bit(self) -> I64:
        """Return the payload bit that each step reads, by the state after it; int64 [T, S].

        -1 throughout a step that reads none. Steps read the payload in its order.
        """

    @abstractmethod
    def payload_posteriors(self, states: F64) -> F64:
        """Read the payload bits' posteriors off those of the states after each step, [T, S]."""

    def best(self, phi: F64) -> tuple[Bits, float]:
        """Return the most likely payload, uint8 [L_m], and its score in nats."""
        return self.k_best(phi, 1)[0]

    def k_best(self, phi: F64, k: int) -> list[tuple[Bits, float]]:
        """Return the ``k`` most likely payloads and their scores, strongest first."""
        if k < 1:
            raise ValueError(f"k = {k}; at least one payload must be asked for")
        walks, scores = best_walks(self.windows(self._checked(phi, 2)[None])[0], k)
        if not scores.size:
            return [(np.zeros(self.payload_bits, dtype=np.uint8), -np.inf)]
        found = zip(self.payloads(walks), scores, strict=True)
        return [(payload, float(score)) for payload, score in found]

    def log_sum(self, phi: F64) -> F64:
        """Return ``log Σ exp(Σ_i φ_i)`` over all payloads; [..., n, 8] to [...]."""
        flat = self._checked(phi).reshape(-1, self.codeword_length, 8)
        return self._log_sums(flat).reshape(phi.shape[:-2])

    def _log_sums(self, phi: F64) -> F64:
        windows = self.windows(phi)
        starts = np.arange(windows.shape[-1] // 2)
        homes = closings(windows, starts, np.logaddexp)
        return np.asarray(np.logaddexp.reduce(homes, axis=-1))

    def posteriors(self, phi: F64) -> F64:
        """Return how probable each payload bit is 1; float64 [L_m]."""
        found = self._posteriors(self.windows(self._checked(phi, 2)[None])[0])
        return np.full(self.payload_bits, 0.5) if found is None else found.clip(0.0, 1.0)

    def _posteriors(self, windows: F64) -> F64 | None:
        starts = np.arange(windows.shape[-1] // 2)
        states = state_posteriors(windows, starts)
        return None if states is None else self.payload_posteriors(states)

    def score(self, phi: F64, codeword: Bits) -> float:
        """Return ``Σ_i φ_i`` of one codeword, uint8 [n], in nats."""
        table = self._checked(phi, 2)
        bits = np.asarray(codeword, dtype=np.uint8)
        if bits.shape != (self.codeword_length,):
            raise ValueError(f"codeword of shape {bits.shape}; expected ({self.codeword_length},)")
        return float(table[np.arange(bits.size), codeword_windows(bits)].sum())

    def _checked(self, phi: F64, dimensions: int | None = None) -> F64:
        table = np.asarray(phi, dtype=np.float64)
        wrong = dimensions is not None and table.ndim != dimensions
        if wrong or table.shape[-2:] != (self.codeword_length, 8):
            lead = "" if dimensions else "..., "
            raise ValueError(
                f"window potentials of shape {table.shape}; "
                f"expected ({lead}{self.codeword_length}, 8)"
            )
        if not np.all(table < np.inf):  # also false for NaN
            raise ValueError("window potentials hold NaN or +inf")
        return table


def state_posteriors(windows: F64, starts: States) -> F64 | None:
    """Return the probability of each state after each step, given that the walk is closed.

    Args:
        windows: float64 [T, 2S] in nats.
        starts: int64 [P], the starts that count.

    Returns:
        float64 [T, S], each row adding up to 1; None when no walk is possible.
    """
    if not starts.size:
        return None
    joint = pasts(windows, starts, np.logaddexp)[1:]
    joint += futures(windows, starts, np.logaddexp)[1:]
    peak = joint.max()
    if np.isneginf(peak):
        return None
    weight = np.exp(joint - peak).sum(axis=-1)
    return np.asarray(weight / weight.sum(axis=-1, keepdims=True))
