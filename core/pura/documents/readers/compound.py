"""Compound files: what the Office programs before 2007 wrote, and what locks newer documents.

Microsoft's compound file is a small file system. Only its directory is read here, to say what it
holds: a document that is locked with a password, or one of an old format.
"""

from __future__ import annotations

import io
from typing import Final

import olefile

from pura.base.catalogue import phrase
from pura.documents.formats import no_reader, truncated
from pura.documents.readers.packages import locked

_LOCKED: Final = ("EncryptedPackage", "EncryptionInfo")
# What is inside, by the name of a stream at the top; the first that is there counts.
_KINDS: Final = {
    "WordDocument": "kind.doc",
    "Workbook": "kind.xls",
    "Book": "kind.xls",
    "PowerPoint Document": "kind.ppt",
    "VisioDocument": "kind.office-other",
    "__properties_version1.0": "kind.msg",
    "Contents": "kind.office-other",
}
_OTHER_KIND: Final = "kind.office"


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
    kind = next((kind for name, kind in _KINDS.items() if name.lower() in names), _OTHER_KIND)
    raise no_reader(phrase(kind))
