"""The codeword of a payload under a profile, and which of its positions are data or parity.

scheme.md §2; the codes themselves, which know no profile, are in :mod:`pura.scheme.payload`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pura.base.errors import PayloadError
from pura.scheme.payload import Payload, encode_spc, encode_tbcc
from pura.scheme.profile import Profile


def encode(payload: Payload, profile: Profile) -> npt.NDArray[np.uint8]:
    """Return the codeword ``c`` of a payload.

    Args:
        payload: ``L_m`` bits.
        profile: Says which code and how many blocks.

    Returns:
        uint8 [n].

    Raises:
        PayloadError: The payload's length is not the profile's.
    """
    if len(payload) != profile.payload_bits:
        raise PayloadError("payload.bits", count=len(payload), payload_bits=profile.payload_bits)
    return encode_rows(payload.bits, profile)


def encode_rows(bits: npt.NDArray[np.uint8], profile: Profile) -> npt.NDArray[np.uint8]:
    """Return the codewords of many payloads at once.

    Args:
        bits: uint8 [..., L_m], zeros and ones.
        profile: Says which code and how many blocks.

    Returns:
        uint8 [..., n].
    """
    if profile.code == "tbcc":
        return encode_tbcc(bits)
    return encode_spc(bits, profile.block_count)


def spc_data_positions(profile: Profile) -> npt.NDArray[np.int64]:
    """Return the codeword positions that hold data, in payload order; int64 [L_m]."""
    grid = np.arange(profile.codeword_length, dtype=np.int64).reshape(profile.block_count, -1)
    return grid[:, :-1].ravel()


def parity_mask(profile: Profile) -> npt.NDArray[np.bool_]:
    """Return which codeword positions are parity bits; bool [n], all False for ``tbcc``."""
    mask = np.zeros(profile.codeword_length, dtype=bool)
    if profile.code == "spc":
        mask.reshape(profile.block_count, -1)[:, -1] = True
    return mask
