"""The trellis of ``spc``: blocks with one parity bit each (paper §4.1, docs/evidence.md).

The register holds not the codeword's bits but their running parity ``r_t = c_0 ⊕ … ⊕ c_t``, the
last three of them. They give the two bits before a step and the parity of the block so far, and
``c_t = r_t ⊕ r_{t-1}``. A block's parity check is then one condition on one bit, ``r_t = 0`` at
the block's end, and the ring closes as the register does: ``r_{n-1} = 0`` is ``r_{-1}``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from pura.decode.trellis.base import I64, RegisterTrellis
from pura.decode.trellis.protocol import F64, Bits

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
