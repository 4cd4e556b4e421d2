"""Compound files: what the Office programs before 2007 wrote, and what locks newer documents.

Microsoft's compound file is a small file system. Its directory says what it holds: a document that
is locked with a password, one of an old format, or, as an object inside another document, a file
of some other program.
"""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass
from typing import Final

import olefile

from pura.base.catalogue import phrase
from pura.documents.formats import CONTAINERS, MAX_UNPACKED_BYTES, no_reader, over, truncated
from pura.documents.readers.packages import locked

_LOCKED: Final = ("EncryptedPackage", "EncryptionInfo")
# What is inside, by the name of a stream at the top; the first that is there counts.
_KINDS: Final = {
    "WordDocument": "kind.doc",
    "Workbook": "kind.xls",
    "Book": "kind.xls",
    "PowerPoint Document": "kind.ppt",
    "VisioDocument": "kind.office-other",
    "Contents": "kind.office-other",
}
_MESSAGE: Final = "__properties_version1.0"
"""What every message of Outlook has at its top."""
_OTHER_KIND: Final = "kind.office"

# Streams of an OLE object that are a file as it is: of Office since 2007, of OpenDocument, and of
# programs that name it so (Acrobat).
_WRAPPED: Final = ("Package", "EmbeddedOdf", "CONTENTS")
_PACKAGER: Final = "\x01Ole10Native"
"""A file of any kind that was dropped into a document, behind its name and two paths."""
_EQUATION: Final = "Equation Native"
"""A formula of Word before 2007: signs, and no words."""


@dataclass(frozen=True, kw_only=True)
class WrappedDocument:
    """A file that an OLE object wraps.

    Attributes:
        data: Its bytes; empty where the object holds no words.
        name: Its name; empty where the object does not keep it.
    """

    data: bytes
    name: str = ""


def is_compound(data: bytes) -> bool:
    """Whether bytes are a compound file."""
    return data.startswith(CONTAINERS["compound"].magic)


def format_of_file(data: bytes) -> str:
    """Return the name of the format of the document in a compound file.

    Raises:
        InputError: It is locked, or of a kind without a reader, which is named.
    """
    try:
        with olefile.OleFileIO(io.BytesIO(data)) as compound:
            names = {path[0].lower() for path in compound.listdir(streams=True, storages=False)}
    except (OSError, ValueError, IndexError):
        # Its directory may stand anywhere, also behind the end of what was downloaded.
        raise truncated() from None
    if any(name.lower() in names for name in _LOCKED):
        raise locked()
    if _MESSAGE in names:
        return "msg"
    kind = next((kind for name, kind in _KINDS.items() if name.lower() in names), _OTHER_KIND)
    raise no_reader(phrase(kind))


def wrapped_document(data: bytes) -> WrappedDocument | None:
    """Return the file that an OLE object wraps; None where it is a document itself.

    Raises:
        InputError: It is larger than the limit for a part of a document.
        OSError, ValueError, IndexError, struct.error: The object is damaged.
    """
    with olefile.OleFileIO(io.BytesIO(data)) as compound:
        for name in _WRAPPED:
            if compound.exists(name):
                return WrappedDocument(data=_stream(compound, name))
        if compound.exists(_PACKAGER):
            return _packaged(_stream(compound, _PACKAGER))
        if compound.exists(_EQUATION):
            return WrappedDocument(data=b"")
    return None


def _stream(compound: olefile.OleFileIO, name: str) -> bytes:
    if compound.get_size(name) > MAX_UNPACKED_BYTES:
        raise over("limit.file", mebibytes=MAX_UNPACKED_BYTES >> 20)
    with compound.openstream(name) as stream:
        data: bytes = stream.read()
    return data


def _packaged(stream: bytes) -> WrappedDocument:
    """Take a file out of the record of Windows' Object Packager.

    The record: its length (4 bytes), a kind (2), the name and the path of the file, each ended by a
    zero, two numbers of 2 bytes, the length of another path (4) and that path, the length of the
    file (4) and the file.
    """
    end_of_name = stream.index(b"\0", 6)
    name = stream[6:end_of_name].decode("cp1252", "replace")
    position = stream.index(b"\0", end_of_name + 1) + 1 + 4
    (length,) = struct.unpack_from("<I", stream, position)
    position += 4 + length
    (length,) = struct.unpack_from("<I", stream, position)
    return WrappedDocument(data=stream[position + 4 : position + 4 + length], name=name)
