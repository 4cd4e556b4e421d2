"""C2PA manifests that are hidden in a plain text: found and told of, never read.

C2PA (A.7 in version 2.3, A.8 in 2.4) appends a signed statement of origin to a text: U+FEFF, then
one variation selector a byte, which nobody sees. The bytes are a magic word, a version, a length
and the manifest. It says nothing about the mark of PURA, and checking its signature needs
certificates that this program does not hold (decision 013);
but a reader of the record must know that it is there. Its thousands of selectors are no words of
the text: they are cut out before tokens are made of it, or most of an audit would go into them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from pura.documents.rewriting import Change, Restored, rewrite
from pura.record.surroundings import Transform
from pura.words.sentences import sentence

WHOLE: Final = "c2pa-manifest"
INCOMPLETE: Final = "c2pa-incomplete"
CUT: Final = "provenance-characters"
VERSION: Final = 1
_MAGIC: Final = b"C2PATXT\0"
_HEADER: Final = len(_MAGIC) + 1 + 4  # magic, version, length (big-endian)
_RUN: Final = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]+")
_WRAPPER: Final = re.compile("\ufeff?[\ufe00-\ufe0f\U000e0100-\U000e01ef]{8,}")
"""Also one that is damaged: no script and no emoji has so many selectors in a row."""
MAX_PLACES: Final = 20  # places that are listed


@dataclass(frozen=True, kw_only=True)
class HiddenManifest:
    """A hidden manifest.

    Attributes:
        start: Its first selector, a character of the text. What stands before it is not asked
            for: a U+FEFF at the beginning of a file is lost as its byte order mark.
        size: Bytes of the manifest, as its header says; 0 when the header is cut.
        whole: Whether it has the known form and all its bytes are there.
    """

    start: int
    size: int
    whole: bool


def encode(data: bytes) -> str:
    """Return bytes as variation selectors."""
    return "".join(chr(0xFE00 + b if b < 16 else 0xE0100 + b - 16) for b in data)


def find(text: str) -> tuple[HiddenManifest, ...]:
    """Return the manifests that are hidden in a text, in the order in which they stand."""
    found: list[HiddenManifest] = []
    magic = encode(_MAGIC)
    start = text.find(magic)
    while start >= 0:
        run = _RUN.match(text, start)
        assert run is not None  # the magic word is such a run
        data = _decode(run[0])
        size = int.from_bytes(data[len(_MAGIC) + 1 : _HEADER], "big") if len(data) >= _HEADER else 0
        whole = 0 < size <= len(data) - _HEADER and data[len(_MAGIC)] == VERSION
        found.append(HiddenManifest(start=start, size=size, whole=whole))
        start = text.find(magic, start + (_HEADER + size if whole else len(_MAGIC)))
    return tuple(found)


def cut(text: str) -> Restored:
    """Return a text without the wrappers of manifests, with the way back to its characters."""
    found = (Change(*match.span(), "", CUT) for match in _WRAPPER.finditer(text))
    return rewrite(text, found, (CUT,))


def facts(text: str) -> tuple[Transform, ...]:
    """Return what the record says of hidden manifests: a line for whole ones, one for others."""
    manifests = find(text)
    rows = []
    for name, mine in (
        (WHOLE, [m for m in manifests if m.whole]),
        (INCOMPLETE, [m for m in manifests if not m.whole]),
    ):
        if mine:
            places = tuple(
                sentence("changed.c2pa", bytes=one.size, start=one.start)
                for one in mine[:MAX_PLACES]
            )
            rows.append(Transform(name=name, count=len(mine), note=places))
    return tuple(rows)


def _decode(run: str) -> bytes:
    codes = map(ord, run)
    return bytes(c - 0xFE00 if c <= 0xFE0F else c - 0xE0100 + 16 for c in codes)
