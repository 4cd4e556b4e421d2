"""RTF: the text without its formatting (striprtf)."""

from __future__ import annotations

import re
from typing import Final

from striprtf.striprtf import rtf_to_text

from pura.documents.readers.packed import TextBlock, join
from pura.documents.values import Extract, ReadOptions, over
from pura.words.sentences import sentence

_MAX_RTF: Final = 16 << 20
_BINARY: Final = re.compile(rb"\\bin(\d{1,9}) ?")
_PICTURE: Final = re.compile(rb"(?<=[\r\n ])[0-9a-fA-F\r\n]{512,}")


def read(data: bytes, options: ReadOptions) -> list[Extract]:
    """Return the text; pictures and fields' codes are left out."""
    data = _PICTURE.sub(b"", _without_binary(data))
    if len(data) > _MAX_RTF:
        raise over("limit.file", mebibytes=_MAX_RTF >> 20)
    # RTF is ASCII; other bytes are of the code page that it names, like its \'xx escapes.
    source = re.sub(rb"[\x80-\xff]", lambda m: b"\\'%02x" % m[0][0], data).decode("ascii")
    text: str = rtf_to_text(  # type: ignore[no-untyped-call]
        source, encoding=options.encoding or "cp1252", errors="replace"
    )
    damaged = text.count("\ufffd")
    notes = (sentence("left-out.characters", n=damaged),) if damaged else ()
    joined, transforms = join([TextBlock(text=line) for line in text.split("\n")])
    return [Extract(text=joined.replace("\x00", ""), transforms=transforms, notes=notes)]


def _without_binary(data: bytes) -> bytes:
    """Cut raw binary data out, whose bytes may look like braces."""
    out: list[bytes] = []
    at = 0
    while found := _BINARY.search(data, at):
        out.append(data[at : found.start()])
        at = found.end() + int(found[1])
    out.append(data[at:])
    return b"".join(out)
