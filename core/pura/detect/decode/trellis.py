"""Exact decoding on a tail-biting trellis.

evidence.md §2. A step touches the positions ``idx``, ``idx + 1`` and ``idx + 2`` of the ring,
so the log likelihood of a codeword is a sum of tables with eight entries, one table a position.

What every trellis answers about window potentials is defined here.

Weighing each window by what may follow it, ``exp(w + h(after) - h(before))`` with ``h`` the
log-sum over all futures, turns a step into the transition probabilities of a Markov chain. The
factors cancel along a walk except at its two ends, so

    Σ_walks exp(weight) = Σ_s exp(h_0(s) - h_T(s)) · P(chain is in s after T steps | it began in s).

Probabilities neither grow nor need a scale, whatever the number of steps and the size of the
potentials, and a rounding error is never blown up later on. What underflow can take away is
bounded (``Bridge.floor``); a sum that is too small for the bound is worked out in the log domain
by the caller. Several steps are joined to one product of small dense matrices, all start states
at once.

Parity blocks (paper §4.1) and the tail-biting convolutional code.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from pura.scheme import F64, I64, U8, Profile
from pura.scheme.payload import TBCC_GENERATORS, TBCC_MEMORY


def window_potentials(log_f: F64, index: I64, length: int) -> F64:
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


def codeword_windows(codewords: U8) -> I64:
    """Return the window index ``4·c_i + 2·c_{i+1} + c_{i+2}`` at every position.

    Args:
        codewords: uint8 [..., n].

    Returns:
        int64 [..., n].
    """
    bits = codewords.astype(np.int64)
    return 4 * bits + 2 * np.roll(bits, -1, axis=-1) + np.roll(bits, -2, axis=-1)


def codeword_scores(phi: F64, codewords: U8) -> F64:
    """Return the log likelihood ratio of codewords.

    Args:
        phi: float64 [G, n, 8].
        codewords: uint8 [C, n].

    Returns:
        float64 [G, C], in nats.
    """
    windows = codeword_windows(codewords)
    return np.asarray(phi[:, np.arange(phi.shape[1])[None, :], windows].sum(axis=-1))


States = I64


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


Bits = U8


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


class Trellis(ABC):
    """Exact answers over all ``2^{L_m}`` payloads of a code, which says what its register holds.

    ``φ`` are window potentials in nats, ``φ[i, 4·c_i + 2·c_{i+1} + c_{i+2}]`` with positions
    counted round the ring of ``n``. ``-inf`` is allowed and rules windows out; NaN and ``+inf``
    are refused with a ``ValueError``, as is a wrong shape.
    """

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
        """Return the most likely payload, uint8 [L_m], and its score ``Σ_i φ_i`` in nats.

        When every payload is ruled out: zeros, ``-inf``.
        """
        return self.k_best(phi, 1)[0]

    def k_best(self, phi: F64, k: int) -> list[tuple[Bits, float]]:
        """Return the ``k`` most likely payloads and their scores, strongest first, all different.

        Fewer than ``k`` when the code has fewer payloads that are not ruled out (score ``-inf``),
        but never less than what ``best`` returns.
        """
        if k < 1:
            raise ValueError(f"k = {k}; at least one payload must be asked for")
        walks, scores = best_walks(self.windows(self._checked(phi, 2)[None])[0], k)
        if not scores.size:
            return [(np.zeros(self.payload_bits, dtype=np.uint8), -np.inf)]
        found = zip(self.payloads(walks), scores, strict=True)
        return [(payload, float(score)) for payload, score in found]

    def log_sum(self, phi: F64, bit_weights: F64 | None = None) -> F64:
        """Return ``log Σ_c w(c) exp(Σ_i φ_i)`` over all payloads ``c``; [..., n, 8] to [...].

        ``-inf`` where every payload is ruled out.

        Args:
            phi: float64 [..., n, 8], window potentials.
            bit_weights: float64 [L_m, 2], natural log of what each bit of a payload weighs, 0 and
                1; ``w(c)`` is their product over the bits of the payload. All payloads weigh 1
                when absent.
        """
        flat = self._checked(phi).reshape(-1, self.codeword_length, 8)
        on_branches = None if bit_weights is None else self._on_branches(bit_weights)
        return self._log_sums(flat, on_branches).reshape(phi.shape[:-2])

    def _on_branches(self, bit_weights: F64) -> F64:
        """Return the weights of the payload bits where the walk reads them; float64 [T, 2S]."""
        read = self.payload_bit()  # [T, S], by the state after the step
        out = np.zeros((len(read), 2 * read.shape[1]))
        reading = np.flatnonzero((read >= 0).all(axis=1))
        for weights, step in zip(bit_weights, reading, strict=True):
            # The state after a branch is its lower part: both halves lead to the same states.
            out[step] = np.tile(weights[read[step]], 2)
        return out

    def _log_sums(self, phi: F64, on_branches: F64 | None) -> F64:
        windows = self.windows(phi)
        if on_branches is not None:
            windows = windows + on_branches
        starts = np.arange(windows.shape[-1] // 2)
        homes = closings(windows, starts, np.logaddexp)
        return np.asarray(np.logaddexp.reduce(homes, axis=-1))

    def posteriors(self, phi: F64) -> F64:
        """Return how probable each payload bit is 1, all payloads being equally likely before.

        Returns:
            float64 [L_m]; 0.5 everywhere when every payload is ruled out.
        """
        found = self._posteriors(self.windows(self._checked(phi, 2)[None])[0])
        return np.full(self.payload_bits, 0.5) if found is None else found.clip(0.0, 1.0)

    def _posteriors(self, windows: F64) -> F64 | None:
        starts = np.arange(windows.shape[-1] // 2)
        states = state_posteriors(windows, starts)
        return None if states is None else self.payload_posteriors(states)

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


_JOINED: Final = 4  # steps in one matrix product; the fastest for 256 states
_SMALLEST: Final = math.log(np.finfo(np.float64).tiny)
_PRECISION: Final = math.log(1e-13)


@dataclass(frozen=True, kw_only=True)
class Bridge:
    """A chain that is made to come home.

    Attributes:
        blocks: For every ``j`` joined steps the transition probabilities, float64
            [S / 2^j, 2^j, 2^j]: by the bits that stay, the bits that enter, the bits that leave.
        log_weight: ``h_0(s) - h_T(s)``, float64 [S].
    """

    blocks: tuple[F64, ...]
    log_weight: F64

    @property
    def floor(self) -> float:
        """The log-sum from which on underflow cannot be felt (relative error 1e-13).

        Every step adds up at most ``2^4`` products for each of ``S`` states; each loses at most
        the smallest normal number, and so does each entry of a block.
        """
        states = self.log_weight.size
        losses = 2 * states * states * 2**_JOINED * len(self.blocks)
        return float(self.log_weight.max()) + _SMALLEST + math.log(losses) - _PRECISION


def make_bridges(windows: F64) -> list[Bridge]:
    """Build the chains of several grid points.

    Args:
        windows: float64 [G, T, 2S] in nats.
    """
    sums, log_weight = free_futures(windows, np.logaddexp)
    grid, steps, double = windows.shape
    before = np.where(np.isneginf(sums[:, :-1]), np.inf, sums[:, :-1])
    chance = windows - np.repeat(before, 2, axis=-1)
    chance.reshape(grid, steps, 2, -1)[:] += sums[:, 1:, None]
    np.exp(chance, out=chance)
    whole = steps - steps % _JOINED
    joined = list(join(chance[:, :whole].reshape(grid, -1, _JOINED, double)))
    if whole < steps:
        joined.extend(join(chance[:, None, whole:]))
    return [
        Bridge(blocks=tuple(block[g] for block in joined), log_weight=log_weight[g])
        for g in range(grid)
    ]


def join(chance: F64) -> F64:
    """Multiply the probabilities of successive steps.

    Args:
        chance: float64 [G, K, j, 2S].

    Returns:
        float64 [K, G, S / 2^j, 2^j, 2^j]: by the bits that stay, that enter, that leave.
    """
    grid, blocks, count, double = chance.shape
    product = chance[:, :, 0]
    for j in range(1, count):
        longer = np.repeat(product, 2, axis=-1).reshape(grid, blocks, -1, double)
        product = (longer * chance[:, :, j, None]).reshape(grid, blocks, -1)
    wide = 1 << count
    cube = product.reshape(grid, blocks, wide, -1, wide)
    return np.ascontiguousarray(cube.transpose(1, 0, 3, 4, 2))


def advance(block: F64, chance: F64, out: F64) -> None:
    """Carry ``P(state | start)``, float64 [S, P], over a block."""
    stay, wide, _ = block.shape
    before = chance.reshape(wide, stay, -1).transpose(1, 0, 2)
    np.matmul(block, before, out=out.reshape(stay, wide, -1))


def retreat(block: F64, chance: F64, out: F64) -> None:
    """Carry ``P(end | state)``, float64 [S, P], back over a block."""
    stay, wide, _ = block.shape
    before = out.reshape(wide, stay, -1).transpose(1, 0, 2)
    np.matmul(block.transpose(0, 2, 1), chance.reshape(stay, wide, -1), out=before)


def _depart(block: F64) -> F64:
    """Return ``P(state | start)`` after the first block, float64 [S, S]."""
    stay, wide, _ = block.shape
    chance = np.zeros((stay, wide, wide, stay))
    kept = np.arange(stay)
    chance[kept, :, :, kept] = block
    return chance.reshape(stay * wide, -1)


def _arrive(block: F64, chance: F64) -> F64:
    """Return ``P(the chain is back in its start)`` after the last block, float64 [S]."""
    stay, wide, _ = block.shape
    before = chance.reshape(wide, stay, stay, wide)
    return np.asarray(np.einsum("sel,lsse->se", block, before).ravel())


def log_return(bridge: Bridge) -> float:
    """Return ``log Σ exp(weight)`` over all closed walks in nats; ``-inf`` when there is none.

    A chain of at least two blocks.
    """
    chance = _depart(bridge.blocks[0])
    spare = np.empty_like(chance)
    for block in bridge.blocks[1:-1]:
        advance(block, chance, spare)
        chance, spare = spare, chance
    return log_home(bridge, _arrive(bridge.blocks[-1], chance))


def log_home(bridge: Bridge, back: F64) -> float:
    """Return the sum over all starts, ``back``, float64 [S], being the chances to come home."""
    home = back > 0.0
    if not home.any():
        return -math.inf
    return float(np.logaddexp.reduce(bridge.log_weight[home] + np.log(back[home])))


def bit_posteriors(bridge: Bridge) -> F64 | None:
    """Return how probable each bit shifted in is 1, given that the walk is closed.

    A state holds the last ``ν`` bits, so the states need to be known at every ``ν``-th step only;
    that many ``S × S`` matrices are held (4 MiB for every 64 steps of 256 states).

    Returns:
        float64 [T]; None where underflow might be felt, or no walk is possible.
    """
    states = bridge.log_weight.size
    memory = states.bit_length() - 1
    ends = np.cumsum([block.shape[-1].bit_length() - 1 for block in bridge.blocks])
    looks = [
        i for i in range(ends.size) if (i + 1) % (memory // _JOINED) == 0 or i == ends.size - 1
    ]
    pasts: dict[int, F64] = {}
    past = np.eye(states)
    for i, block in enumerate(bridge.blocks):
        following = np.empty_like(past)
        advance(block, past, following)
        past = following
        if i in looks:
            pasts[i] = past
    if np.isneginf(bridge.log_weight.max()) or log_home(bridge, past.diagonal()) < bridge.floor:
        return None
    return _read_bits(bridge, pasts, ends, memory)


def _read_bits(bridge: Bridge, pasts: dict[int, F64], ends: I64, m: int) -> F64:
    """Go back from the end and read the last ``m`` bits off the states at each look."""
    states = bridge.log_weight.size
    weight = np.exp(bridge.log_weight - bridge.log_weight.max())
    ones = (np.arange(states) >> np.arange(m)[::-1, None]) & 1
    bits = np.empty(int(ends[-1]))
    future, spare = np.eye(states), np.empty((states, states))
    for i in reversed(range(ends.size)):
        if i in pasts:
            posterior = (pasts.pop(i) * future) @ weight
            count = min(m, int(ends[i]))
            bits[ends[i] - count : ends[i]] = (ones @ posterior / posterior.sum())[m - count :]
        retreat(bridge.blocks[i], future, spare)
        future, spare = spare, future
    return bits


_WINDOWS: Final = np.arange(16)  # r_{t-3} r_{t-2} r_{t-1} r_t
_CODED: Final = _WINDOWS[:8] ^ (_WINDOWS[:8] >> 1)
# Neighbouring parities differ where the bit between them is 1: c_{t-2} c_{t-1} c_t.
_RING_WINDOW: Final = (_WINDOWS ^ (_WINDOWS >> 1)) & 7


@dataclass(frozen=True, kw_only=True)
class SpcTrellis(Trellis):
    """Exact answers for ``spc``; 8 states, one step a codeword bit.

    Attributes:
        payload_bits: ``L_m``.
        blocks: ``B``, divides ``L_m``.
    """

    payload_bits: int
    blocks: int

    @property
    def codeword_length(self) -> int:
        """``n = L_m + B``."""
        return self.payload_bits + self.blocks

    def windows(self, phi: F64) -> F64:
        """Return the weights of four neighbouring running parities; float64 [G, n, 16]."""
        # Step t shifts in r_t and completes the ring's window that begins at t - 2.
        weights = np.roll(phi, 2, axis=1)[..., _RING_WINDOW]
        block = self.codeword_length // self.blocks
        weights[:, block - 1 :: block, 1::2] = -np.inf
        return np.asarray(weights)

    def payloads(self, walks: Bits) -> Bits:
        """Undo the running parity and drop the parity bits."""
        coded = walks.copy()
        coded[:, 1:] ^= walks[:, :-1]
        data = coded.reshape(walks.shape[0], self.blocks, -1)[..., :-1]
        return np.asarray(data.reshape(walks.shape[0], -1))

    def payload_bit(self) -> I64:
        """Return whether the last two running parities differ; a parity bit is none."""
        read = np.tile(_CODED & 1, (self.codeword_length, 1))
        read[self.codeword_length // self.blocks - 1 :: self.codeword_length // self.blocks] = -1
        return np.asarray(read, dtype=np.int64)

    def payload_posteriors(self, states: F64) -> F64:
        """Add up the states whose last two running parities differ, at the data positions."""
        ones = states @ (_CODED & 1).astype(np.float64)
        return np.asarray(ones.reshape(self.blocks, -1)[:, :-1].ravel())


_REGISTER: Final = TBCC_MEMORY + 2  # payload bits that a state holds
_STREAMS: Final = len(TBCC_GENERATORS)
_NEGLIGIBLE: Final = 60.0  # nats below the best walk from which on a start cannot be felt
_CHUNK_ENTRIES: Final = 1 << 17  # window weights worked out at a time; they stay in the cache


@cache
def _coded_windows() -> I64:
    """Return the ring's window on each branch; int64 [3 seams, 3 streams, 512].

    The first axis says how many of the three coded bits belong to the next stream: 0, 1 or 2.
    """
    branch = np.arange(1 << (_REGISTER + 1))
    outputs = np.empty((3, _STREAMS, branch.size), dtype=np.int64)  # time t-2, t-1, t
    for stream, generator in enumerate(TBCC_GENERATORS):
        # The newest bit of a branch is the least significant; of a generator, the most.
        mirrored = int(format(generator, f"0{TBCC_MEMORY + 1}b")[::-1], 2)
        for ago in range(3):
            taps = (branch & (mirrored << ago))[:, None] >> np.arange(_REGISTER + 1)
            outputs[2 - ago, stream] = np.bitwise_xor.reduce(taps & 1, axis=1)
    following = np.roll(outputs, -1, axis=1)
    table = []
    for crossed in range(3):
        first, second, third = (following[i] if i >= 3 - crossed else outputs[i] for i in range(3))
        table.append(4 * first + 2 * second + third)
    return np.stack(table)


@dataclass(frozen=True, kw_only=True)
class TbccTrellis(Trellis):
    """Exact answers for ``tbcc``; 256 states, one step a payload bit.

    Attributes:
        payload_bits: ``L_m``, at least 9.
    """

    payload_bits: int

    @property
    def codeword_length(self) -> int:
        """``n = 3·L_m``."""
        return _STREAMS * self.payload_bits

    def windows(self, phi: F64) -> F64:
        """Return the weights of the branches; float64 [G, L_m, 512]."""
        table = _coded_windows()
        # Step t completes the windows that begin at t - 2; steps 0 and 1 cross the seam.
        streams = np.roll(phi.reshape(-1, _STREAMS, self.payload_bits, 8), 2, axis=2)
        weights = np.zeros((phi.shape[0], self.payload_bits, table.shape[-1]))
        for s in range(_STREAMS):
            weights[:, 2:] += np.take(streams[:, s, 2:], table[0, s], axis=-1)
            weights[:, 0] += np.take(streams[:, s, 0], table[1, s], axis=-1)
            weights[:, 1] += np.take(streams[:, s, 1], table[2, s], axis=-1)
        return weights

    def payloads(self, walks: Bits) -> Bits:
        """Return the walks: the register holds the payload itself."""
        return walks

    def payload_bit(self) -> I64:
        """Return the newest bit of each state."""
        return np.tile(np.arange(1 << _REGISTER) & 1, (self.payload_bits, 1))

    def payload_posteriors(self, states: F64) -> F64:
        """Add up the states whose newest bit is 1."""
        return np.asarray(states[:, 1::2].sum(axis=-1))

    def _log_sums(self, phi: F64, on_branches: F64 | None) -> F64:
        """Use the chain; where underflow might be felt, the log domain."""
        out = np.empty(phi.shape[0])
        chunk = max(1, _CHUNK_ENTRIES // (self.payload_bits << (_REGISTER + 1)))
        for first in range(0, phi.shape[0], chunk):
            windows = self.windows(phi[first : first + chunk])
            if on_branches is not None:
                windows = windows + on_branches
            for i, chain in enumerate(make_bridges(windows)):
                value = log_return(chain)
                out[first + i] = value if value >= chain.floor else _safe_log_sum(windows[i])
        return out

    def _posteriors(self, windows: F64) -> F64 | None:
        bits = bit_posteriors(make_bridges(windows[None])[0])
        if bits is not None:
            return bits
        states = state_posteriors(windows, _starts_that_count(windows))
        return None if states is None else self.payload_posteriors(states)


def _safe_log_sum(windows: F64) -> float:
    starts = _starts_that_count(windows)
    if not starts.size:
        return -np.inf
    return float(np.logaddexp.reduce(closings(windows, starts, np.logaddexp)))


def _starts_that_count(windows: F64) -> States:
    """Return the starts whose walks may matter to a sum; int64 [P], empty when none is possible.

    The bound is of the sum over all walks of a start, so that leaving out those far below the
    best walk changes the sum by less than ``256·e^-60`` of it.
    """
    _, scores = best_walks(windows, 1)
    if not scores.size:
        return np.empty(0, dtype=np.int64)
    _, bound = free_futures(windows, np.logaddexp)
    return np.flatnonzero(bound >= scores[0] - _NEGLIGIBLE)


def make_trellis(profile: Profile) -> Trellis:
    """Return the trellis of a profile's payload code.

    Args:
        profile: Says which code, how many payload bits and, for ``spc``, how many blocks.
    """
    if profile.code == "tbcc":
        return TbccTrellis(payload_bits=profile.payload_bits)
    return SpcTrellis(payload_bits=profile.payload_bits, blocks=profile.block_count)
