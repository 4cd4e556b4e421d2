"""Payloads and the codes that spread them over a ring of positions (scheme.md §2).

Two codes: ``spc``, the paper's blocks with one parity bit each (paper §4.1), and ``tbcc``, a
tail-biting convolutional code of rate 1/3 (evidence.md). Both map every payload to a
different codeword; no such map can bias a token.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from pura.base.arguments import check_argument
from pura.base.errors import PayloadError

TBCC_MEMORY: Final = 6
TBCC_GENERATORS: Final = (0o133, 0o171, 0o165)
TBCC_MIN_BITS: Final = 9
_BITS: Final = re.compile(r"[01]+")
_HEX: Final = re.compile(r"0[xX][0-9A-Fa-f]+")


@dataclass(frozen=True, kw_only=True)
class Payload:
    """The bits that a text carries.

    Attributes:
        text: ``L_m`` characters, each 0 or 1.
    """

    text: str

    def __post_init__(self) -> None:
        check_argument("text", self.text, str, "bits")
        if not self.text or set(self.text) - {"0", "1"}:
            raise PayloadError("payload.form")

    @classmethod
    def from_bits(cls, bits: npt.ArrayLike) -> Payload:
        """Make a payload from its bits: a text of 0 and 1, or an array of zeros and ones."""
        if isinstance(bits, str):
            return cls(text=bits)
        digits = np.where(np.asarray(bits).ravel(), ord("1"), ord("0"))
        return cls(text=digits.astype(np.uint8).tobytes().decode())

    @classmethod
    def from_int(cls, value: int, length: int) -> Payload:
        """Make a payload of ``length`` bits from a number, most significant bit first.

        Raises:
            PayloadError: The number is negative or needs more bits.

        Examples:
            >>> Payload.from_int(417, 12).text
            '000110100001'
        """
        check_argument("value", value, int, "number")
        check_argument("length", length, int, "number")
        if value < 0 or value >> length:
            raise PayloadError("payload.range", payload_bits=length)
        return cls(text=format(value, f"0{length}b"))

    @classmethod
    def from_hex(cls, text: str, length: int) -> Payload:
        """Make a payload of ``length`` bits from a hexadecimal number, with or without ``0x``.

        Raises:
            PayloadError: It is no such number, or needs more bits.

        Examples:
            >>> Payload.from_hex("0x1A1", 12).text
            '000110100001'
        """
        check_argument("text", text, str, "words")
        check_argument("length", length, int, "number")
        digits = text if text[:2] in ("0x", "0X") else f"0x{text}"
        if not _HEX.fullmatch(digits):
            raise PayloadError("payload.form")
        return parse_payload(digits, length)

    @property
    def bits(self) -> str:
        """``L_m`` characters 0 and 1, as everywhere where bits are shown; :attr:`text`."""
        return self.text

    @cached_property
    def array(self) -> npt.NDArray[np.uint8]:
        """uint8 [L_m], read-only: the bits to compute with."""
        array = np.frombuffer(self.text.encode(), dtype=np.uint8) - ord("0")
        array.setflags(write=False)
        return array

    @property
    def hex(self) -> str:
        """The bits as a hexadecimal number, most significant bit first, for people."""
        width = (len(self.text) + 3) // 4
        return f"0x{int(self.text, 2):0{width}X}"

    def __int__(self) -> int:
        return int(self.text, 2)

    def __len__(self) -> int:
        return len(self.text)

    def __str__(self) -> str:
        return self.text


def parse_payload(text: str, payload_bits: int) -> Payload:
    """Read a payload as people write it: ``0x…``, or one digit 0 or 1 for every bit.

    Raises:
        PayloadError: It is neither, or does not fit into the bits.

    Examples:
        >>> parse_payload("0x1A1", 12).text
        '000110100001'
    """
    if _HEX.fullmatch(text):
        digits = text[2:].lstrip("0")
        if 4 * len(digits) > payload_bits + 3 or int(digits or "0", 16) >> payload_bits:
            raise PayloadError("payload.range", payload_bits=payload_bits)
        return Payload.from_int(int(digits or "0", 16), payload_bits)
    if _BITS.fullmatch(text) and len(text) == payload_bits:
        return Payload(text=text)
    if _BITS.fullmatch(text):
        raise PayloadError("payload.bits", count=len(text), payload_bits=payload_bits)
    raise PayloadError("payload.form")


def encode_spc(bits: npt.NDArray[np.uint8], blocks: int) -> npt.NDArray[np.uint8]:
    """Append the parity of each block to it (paper, equations for p_i and c).

    Examples:
        >>> encode_spc(np.array([1, 0, 1, 1], dtype=np.uint8), 2).tolist()
        [1, 0, 1, 1, 1, 0]
    """
    rows = bits.reshape(*bits.shape[:-1], blocks, bits.shape[-1] // blocks)
    parity = np.bitwise_xor.reduce(rows, axis=-1, keepdims=True)
    return np.concatenate([rows, parity], axis=-1).reshape(*bits.shape[:-1], -1)


def encode_tbcc(bits: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return the three coded streams one after the other: ``c[s·L_m + j] = o_s[j]``."""
    count = bits.shape[-1]
    # The bits behind those before them on the ring, so that a delay is a slice.
    before = bits.take(np.arange(-TBCC_MEMORY, 0) % count, axis=-1)
    ring = np.concatenate([before, bits], axis=-1)
    out = np.zeros((*bits.shape[:-1], len(TBCC_GENERATORS) * count), dtype=bits.dtype)
    for s, generator in enumerate(TBCC_GENERATORS):
        stream = out[..., s * count : (s + 1) * count]
        for delay in range(TBCC_MEMORY + 1):
            if (generator >> (TBCC_MEMORY - delay)) & 1:
                stream ^= ring[..., TBCC_MEMORY - delay : TBCC_MEMORY - delay + count]
    return out
