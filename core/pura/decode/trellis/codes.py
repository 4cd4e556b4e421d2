"""The trellises of the two codes.

Parity blocks (paper §4.1) and the tail-biting convolutional code.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from pura.decode.trellis import bridge, register
from pura.decode.trellis.register import (
    F64,
    I64,
    Bits,
    RegisterTrellis,
    best_walks,
    state_posteriors,
)
from pura.scheme.payload import TBCC_GENERATORS, TBCC_MEMORY

_WINDOWS: Final = np.arange(16)  # r_{t-3} r_{t-2} r_{t-1} r_t
_CODED: Final = _WINDOWS[:8] ^ (_WINDOWS[:8] >> 1)
# Neighbouring parities differ where the bit between them is 1: c_{t-2} c_{t-1} c_t.
_RING_WINDOW: Final = (_WINDOWS ^ (_WINDOWS >> 1)) & 7


@dataclass(frozen=True, kw_only=True)
class SpcTrellis(RegisterTrellis):
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
def _coded_windows() -> npt.NDArray[np.int64]:
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
class TbccTrellis(RegisterTrellis):
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

    def _log_sums(self, phi: F64) -> F64:
        """Use the chain; where underflow might be felt, the log domain."""
        out = np.empty(phi.shape[0])
        chunk = max(1, _CHUNK_ENTRIES // (self.payload_bits << (_REGISTER + 1)))
        for first in range(0, phi.shape[0], chunk):
            windows = self.windows(phi[first : first + chunk])
            for i, chain in enumerate(bridge.make_bridges(windows)):
                value = bridge.log_return(chain)
                out[first + i] = value if value >= chain.floor else _safe_log_sum(windows[i])
        return out

    def _posteriors(self, windows: F64) -> F64 | None:
        bits = bridge.bit_posteriors(bridge.make_bridges(windows[None])[0])
        if bits is not None:
            return bits
        states = state_posteriors(windows, _starts_that_count(windows))
        return None if states is None else self.payload_posteriors(states)


def _safe_log_sum(windows: F64) -> float:
    starts = _starts_that_count(windows)
    if not starts.size:
        return -np.inf
    return float(np.logaddexp.reduce(register.closings(windows, starts, np.logaddexp)))


def _starts_that_count(windows: F64) -> register.States:
    """Return the starts whose walks may matter to a sum; int64 [P], empty when none is possible.

    The bound is of the sum over all walks of a start, so that leaving out those far below the
    best walk changes the sum by less than ``256·e^-60`` of it.
    """
    _, scores = best_walks(windows, 1)
    if not scores.size:
        return np.empty(0, dtype=np.int64)
    _, bound = register.free_futures(windows, np.logaddexp)
    return np.flatnonzero(bound >= scores[0] - _NEGLIGIBLE)
