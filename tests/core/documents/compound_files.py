"""Compound files, small and whole, as Office programs of before 2007 wrote them."""

from __future__ import annotations

import struct
from collections.abc import Sequence

_SECTOR = 512
_FREE, _CHAIN_END, _FAT = 0xFFFF_FFFF, 0xFFFF_FFFE, 0xFFFF_FFFD


def compound(names: Sequence[str]) -> bytes:
    """Write a compound file with an empty stream of each name at its top."""
    entries = [_entry("Root Entry", 5, child=1 if names else _FREE)]
    for number, name in enumerate(names, 1):
        # A chain to the right is a tree as well.
        entries.append(_entry(name, 2, right=number + 1 if number < len(names) else _FREE))
    entries += [bytes(128)] * (-len(entries) % 4)
    directory = b"".join(entries)
    sectors = len(directory) // _SECTOR
    chain = [_FAT, *range(2, sectors + 1), _CHAIN_END]
    fat = struct.pack("<128I", *chain, *[_FREE] * (128 - len(chain)))
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    header += struct.pack("<5H6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<9I", 0, 1, 1, 0, 4096, _CHAIN_END, 0, _CHAIN_END, 0)
    header += struct.pack("<109I", 0, *[_FREE] * 108)
    return header + fat + directory


def _entry(name: str, kind: int, *, right: int = _FREE, child: int = _FREE) -> bytes:
    letters = name.encode("utf-16-le") + b"\0\0"
    start = _CHAIN_END if kind == 5 else 0
    return (
        letters.ljust(64, b"\0")
        + struct.pack("<HBB3I", len(letters), kind, 1, _FREE, right, child)
        + bytes(36)
        + struct.pack("<IQ", start, 0)
    )
