"""The sum over all closed walks, as the chance of a Markov chain to come home.

Weighing each window by what may follow it, ``exp(w + h(after) - h(before))`` with ``h`` the
log-sum over all futures, turns a step into the transition probabilities of a Markov chain. The
factors cancel along a walk except at its two ends, so

    Σ_walks exp(weight) = Σ_s exp(h_0(s) - h_T(s)) · P(chain is in s after T steps | it began in s).

Probabilities neither grow nor need a scale, whatever the number of steps and the size of the
potentials, and a rounding error is never blown up later on. What underflow can take away is
bounded (``Bridge.floor``); a sum that is too small for the bound is worked out in the log domain
by the caller. Several steps are joined to one product of small dense matrices, all start states
at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from pura.decode.trellis.register import F64, free_futures

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


def _read_bits(bridge: Bridge, pasts: dict[int, F64], ends: npt.NDArray[np.int64], m: int) -> F64:
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
