"""The classical codes that the paper compares its parities with: Hamming(7,4) and RS(6,4).

Both cut the payload into words of four symbols, bits for Hamming and three bits each for
Reed-Solomon over GF(8). *Hard* takes the signs of the sums;
*soft* takes the likeliest codeword (Hamming), or erases the two symbols whose weakest bit is
weakest (Reed-Solomon, as the paper does).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Bits = npt.NDArray[np.uint8]
F64 = npt.NDArray[np.float64]

_DATA: Final = 4
_SYMBOL: Final = 3
_PARITY: Final = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1]], dtype=np.uint8)
_WORDS: Final = np.array(list(itertools.product((0, 1), repeat=_DATA)), dtype=np.uint8)
_CODEWORDS: Final = np.concatenate([_WORDS, _WORDS @ _PARITY % 2], axis=1)


@dataclass(frozen=True, kw_only=True)
class Code:
    """A code for payloads of any multiple of its word.

    Attributes:
        encode: Payload bits to codeword bits.
        decode: float64 [n], sums of LLRs, positive for 1, to payload bits.
    """

    encode: Callable[[Bits], Bits]
    decode: Callable[[F64], Bits]


def _hamming(bits: Bits) -> Bits:
    rows = bits.reshape(-1, _DATA)
    return np.asarray(np.concatenate([rows, rows @ _PARITY % 2], axis=1), dtype=np.uint8).ravel()


def _hamming_hard(llr: F64) -> Bits:
    return _nearest(np.where(llr >= 0, 1.0, -1.0))


def _nearest(llr: F64) -> Bits:
    scores = llr.reshape(-1, _CODEWORDS.shape[1]) @ (2.0 * _CODEWORDS.T - 1)
    return np.asarray(_WORDS[scores.argmax(axis=1)]).ravel()


def _codec() -> Any:
    # Made anew each time: the library's arithmetic is that of the codec made last.
    from reedsolo import RSCodec

    return RSCodec(2, nsize=7, c_exp=_SYMBOL, prim=0b1011, generator=2)


def _symbols(bits: Bits) -> list[list[int]]:
    grid = bits.reshape(-1, _DATA, _SYMBOL) @ np.array([4, 2, 1])
    return [[int(s) for s in row] for row in grid]


def _bits(symbols: npt.NDArray[np.int64]) -> Bits:
    return np.asarray((symbols[..., None] >> np.array([2, 1, 0])) & 1, dtype=np.uint8).ravel()


def _reed_solomon(bits: Bits) -> Bits:
    words = [list(_codec().encode(bytearray(row))) for row in _symbols(bits)]
    return _bits(np.array(words, dtype=np.int64))


def _rs_decode(llr: F64, erased: int) -> Bits:
    from reedsolo import ReedSolomonError

    rows = llr.reshape(-1, _DATA + 2, _SYMBOL)
    out = []
    for row in rows:
        word = bytearray(((row >= 0) @ np.array([4, 2, 1])).astype(int).tolist())
        weakest = np.argsort(np.abs(row).min(axis=1), kind="stable")[:erased].tolist()
        try:
            got = list(_codec().decode(word, erase_pos=weakest)[0])
        except ReedSolomonError:
            got = list(word[:_DATA])
        out.append(got)
    return _bits(np.array(out, dtype=np.int64))


CODES: Final = {
    "hamming-hard": Code(encode=_hamming, decode=_hamming_hard),
    "hamming-soft": Code(encode=_hamming, decode=_nearest),
    "rs-hard": Code(encode=_reed_solomon, decode=lambda llr: _rs_decode(llr, 0)),
    "rs-soft": Code(encode=_reed_solomon, decode=lambda llr: _rs_decode(llr, 2)),
}
"""Payloads of a multiple of four bits for Hamming, of twelve for Reed-Solomon."""
