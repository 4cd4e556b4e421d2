"""Compound files, small and whole, as Office programs of before 2007 wrote them."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

_SECTOR = 512
_FEWEST = 4096
"""Bytes below which a stream would stand among the small ones; shorter ones are filled up."""
_FREE, _CHAIN_END, _FAT = 0xFFFF_FFFF, 0xFFFF_FFFE, 0xFFFF_FFFD


def compound(names: Sequence[str], contents: Mapping[str, bytes] | None = None) -> bytes:
    """Write a compound file with a stream of each name, empty where nothing is said.

    Args:
        names: At its top; ``a/b`` is ``b`` in the storage ``a``.
        contents: Of the streams; short ones are filled up.
    """
    filled = {name: data.ljust(_FEWEST, b"\0") for name, data in (contents or {}).items()}
    # Every storage and stream has an entry; those of one storage are a chain to the right, which
    # is a tree as well.
    paths: list[str] = []
    for name in names:
        parts = name.split("/")
        for end in range(1, len(parts) + 1):
            if (path := "/".join(parts[:end])) not in paths:
                paths.append(path)
    numbers = {path: number for number, path in enumerate(paths, 1)}

    def inside(storage: str) -> list[int]:
        return [n for path, n in numbers.items() if path.rpartition("/")[0] == storage]

    directory_sectors = (len(paths) + 1 + 3) // 4
    chain = [_FAT, *range(2, directory_sectors + 1), _CHAIN_END]
    entries = [_entry("Root Entry", 5, child=inside("")[0] if paths else _FREE)]
    body = b""
    for path in paths:
        storage, _, name = path.rpartition("/")
        beside, below = inside(storage), inside(path)
        following = beside.index(numbers[path]) + 1
        right = beside[following] if following < len(beside) else _FREE
        if below:
            entries.append(_entry(name, 1, right=right, child=below[0]))
            continue
        data, start = filled.get(path, b""), len(chain)
        sectors = -(-len(data) // _SECTOR)
        if sectors:
            chain += [*range(start + 1, start + sectors), _CHAIN_END]
            body += data.ljust(sectors * _SECTOR, b"\0")
        entries.append(_entry(name, 2, right=right, start=start if sectors else 0, size=len(data)))
    entries += [bytes(128)] * (-len(entries) % 4)
    assert len(chain) <= 128, "the table of sectors has one sector"
    table = struct.pack("<128I", *chain, *[_FREE] * (128 - len(chain)))
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    header += struct.pack("<5H6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<9I", 0, 1, 1, 0, 4096, _CHAIN_END, 0, _CHAIN_END, 0)
    header += struct.pack("<109I", 0, *[_FREE] * 108)
    return header + table + b"".join(entries) + body


def _entry(
    name: str, kind: int, *, right: int = _FREE, child: int = _FREE, start: int = 0, size: int = 0
) -> bytes:
    letters = name.encode("utf-16-le") + b"\0\0"
    first = _CHAIN_END if kind == 5 else start
    return (
        letters.ljust(64, b"\0")
        + struct.pack("<HBB3I", len(letters), kind, 1, _FREE, right, child)
        + bytes(36)
        + struct.pack("<IQ", first, size)
    )
