"""The published decoder: sums of LLRs, hard bits, one flip per failed parity (paper §4.3).

The published numbers refer to it. It stays as it is; :mod:`.exact` reads the same texts
better. The paper knows only parity blocks. For the code ``tbcc`` this module does the closest
thing, named ``bitwise``: the payload whose codeword agrees best with the same summed LLRs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pura.detect.decode.trellis import make_trellis
from pura.detect.local.evidence import LocalEvidence
from pura.scheme import F64, I64, U8, sum_llrs
from pura.scheme.payload import Payload
from pura.scheme.profile import Profile, encode, spc_data_positions
from pura.scheme.schedule import Schedule


@dataclass(frozen=True, kw_only=True)
class PaperDecoding:
    """What the published decoder makes of a text.

    Attributes:
        llr_nats: float64 [n], sum of the local LLRs of each position; exactly 0 where nothing
            was read.
        readings: int64 [n], how many steps read each position; 0 is an erasure.
        hard_bits: uint8 [n], 1 where the sum is not negative. An erasure comes out as 1 by the
            paper's rule and means nothing.
        codeword: uint8 [n], after repair.
        repaired: bool [n], the codeword disagrees with the sign of a sum that was read.
        payload: The payload bits of the codeword.
        method: ``parity-repair`` (the paper's) or ``bitwise`` (``tbcc``).
    """

    llr_nats: F64
    readings: I64
    hard_bits: U8
    codeword: U8
    repaired: npt.NDArray[np.bool_]
    payload: Payload
    method: str

    @property
    def erased(self) -> npt.NDArray[np.bool_]:
        """Which positions no step read; bool [n]."""
        return np.asarray(self.readings == 0)


def repair_parities(llr_nats: F64, hard_bits: U8, blocks: int) -> None:
    """Flip the least reliable bit of each block whose parity fails, in place (eq. spc_repair)."""
    rows = hard_bits.reshape(blocks, -1)
    weakest = np.argmin(np.abs(llr_nats.reshape(blocks, -1)), axis=1)
    failed = np.flatnonzero(np.bitwise_xor.reduce(rows, axis=1))
    rows[failed, weakest[failed]] ^= 1


def decode(schedule: Schedule, local: LocalEvidence, profile: Profile) -> PaperDecoding:
    """Decode a text with the published rule.

    Args:
        schedule: The steps that carry bits.
        local: Their local evidence.
        profile: Says which code.

    Returns:
        Sums, readings, bits and the payload. A text that nothing was read from decodes to
        erasures throughout; its payload means nothing.
    """
    sums, readings = sum_llrs(
        schedule.index, schedule.arity, local.llr_nats, profile.codeword_length
    )
    hard = (sums >= 0).astype(np.uint8)
    if profile.code == "spc":
        codeword = hard.copy()
        repair_parities(sums, codeword, profile.block_count)
        payload = Payload.from_bits(codeword[spc_data_positions(profile)])
        method = "parity-repair"
    else:
        payload = _best_agreement(sums, profile)
        codeword = encode(payload, profile)
        method = "bitwise"
    return PaperDecoding(
        llr_nats=sums,
        readings=readings,
        hard_bits=hard,
        codeword=codeword,
        repaired=(codeword != hard) & (readings > 0),
        payload=payload,
        method=method,
    )


def _best_agreement(llr_nats: F64, profile: Profile) -> Payload:
    # Index 4, 2, 1 of a window potential: its first bit is the position's own.
    potentials = np.zeros((llr_nats.size, 8))
    potentials[:, 4:] = llr_nats[:, None]
    bits, _ = make_trellis(profile).best(potentials)
    return Payload.from_bits(bits)
