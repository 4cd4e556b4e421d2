"""Gray labels of the sectors (paper §4.1, scheme.md §4).

Bit 0 is the most significant bit of a label, so a sector at arity ``a`` is the half of one at
arity ``a - 1`` with the same leading bits: the sectors nest.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

MAX_ARITY = 3


def label(sector: int) -> int:
    """Return the reflected binary Gray code of a sector number.

    Examples:
        >>> [label(sector) for sector in range(8)]
        [0, 1, 3, 2, 6, 7, 5, 4]
    """
    return sector ^ (sector >> 1)


def sector_of(bits: Sequence[int]) -> int:
    """Return the sector whose label is ``bits`` (most significant bit first).

    Examples:
        >>> sector_of([1, 1, 0])
        4
    """
    sector = 0
    previous = 0
    for bit in bits:
        previous ^= int(bit)
        sector = (sector << 1) | previous
    return sector


@cache
def label_bits(arity: int) -> npt.NDArray[np.uint8]:
    """Return the label bits of every sector.

    Args:
        arity: ``a``, bits per step, 1 … 3.

    Returns:
        uint8 [2**a, a], read-only; row ``s`` holds the bits of sector ``s``.
    """
    sectors = np.arange(1 << arity)
    labels = sectors ^ (sectors >> 1)
    shifts = np.arange(arity - 1, -1, -1)
    bits = ((labels[:, None] >> shifts) & 1).astype(np.uint8)
    bits.setflags(write=False)
    return bits
