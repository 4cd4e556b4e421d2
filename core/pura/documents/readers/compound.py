"""Compound files: documents of Office before 2007, and newer documents with a password.

Microsoft's compound file is a small file system. Its directory shows what it contains: a document
with a password, a document of an old format, or, if it is embedded in another document, a file of
another program.
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
# Kinds of document by the name of a top-level stream; the first that exists decides.
_KINDS: Final = {
    "WordDocument": "kind.doc",
    "Workbook": "kind.xls",
    "Book": "kind.xls",
    "PowerPoint Document": "kind.ppt",
    "VisioDocument": "kind.office-other",
    "Contents": "kind.office-other",
}
_MESSAGE: Final = "__properties_version1.0"
"""Top-level stream of every Outlook message."""
_OTHER_KIND: Final = "kind.office"

# Streams of an OLE object that contain a complete file: of Office since 2007, of OpenDocument, and
# of other programs such as Acrobat.
_WRAPPED: Final = ("Package", "EmbeddedOdf", "CONTENTS")
_PACKAGER: Final = "\x01Ole10Native"
"""Stream with a file that was dropped into a document, after its name and two paths."""
_EQUATION: Final = "Equation Native"
"""Stream of a formula of Word before 2007, which has no words."""


@dataclass(frozen=True, kw_only=True)
class WrappedDocument:
    """A file that an OLE object wraps.

    Attributes:
        file_bytes: The bytes of the file; empty if the object has no words.
        name: The name of the file; empty if the object does not store it.
    """

    file_bytes: bytes
    name: str = ""


def is_compound(file_bytes: bytes) -> bool:
    """Return whether bytes are a compound file."""
    return file_bytes.startswith(CONTAINERS["compound"].magic)


def format_of_file(file_bytes: bytes) -> str:
    """Return the name of the format of the document in a compound file.

    Raises:
        InputError: It is locked, or of a kind without a reader, which is named.
    """
    try:
        with olefile.OleFileIO(io.BytesIO(file_bytes)) as compound:
            names = {path[0].lower() for path in compound.listdir(streams=True, storages=False)}
    except (OSError, ValueError, IndexError):
        # The directory may be anywhere, also after the end of an incomplete download.
        raise truncated() from None
    if any(name.lower() in names for name in _LOCKED):
        raise locked()
    if _MESSAGE in names:
        return "msg"
    kind = next((kind for name, kind in _KINDS.items() if name.lower() in names), _OTHER_KIND)
    raise no_reader(phrase(kind))


def wrapped_document(file_bytes: bytes) -> WrappedDocument | None:
    """Return the file that an OLE object wraps; None if the object is a document itself.

    Raises:
        InputError: It is larger than the limit for a part of a document.
        OSError, ValueError, IndexError, struct.error: The object is damaged.
    """
    with olefile.OleFileIO(io.BytesIO(file_bytes)) as compound:
        for name in _WRAPPED:
            if compound.exists(name):
                return WrappedDocument(file_bytes=_stream(compound, name))
        if compound.exists(_PACKAGER):
            return _packaged(_stream(compound, _PACKAGER))
        if compound.exists(_EQUATION):
            return WrappedDocument(file_bytes=b"")
    return None


def _stream(compound: olefile.OleFileIO, name: str) -> bytes:
    if compound.get_size(name) > MAX_UNPACKED_BYTES:
        raise over("limit.file", mebibytes=MAX_UNPACKED_BYTES >> 20)
    with compound.openstream(name) as stream:
        stream_bytes: bytes = stream.read()
    return stream_bytes


def _packaged(stream: bytes) -> WrappedDocument:
    """Extract the file from a record of Windows' Object Packager.

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
    return WrappedDocument(file_bytes=stream[position + 4 : position + 4 + length], name=name)
