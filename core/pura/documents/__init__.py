"""From a file to the text under audit (audit steps 1 and 2).

Bytes are hashed before anything is done to them. Plain text is decoded here; every other format
is parsed in a child process that can reach nothing (reading-files.md). Nothing is guessed or
changed silently: encoding and transforms stand in the record.
"""

from pura.documents.encodings import CHOICES as ENCODINGS
from pura.documents.encodings import Preview, previews
from pura.documents.formats import FORMATS, Format, endings, tell
from pura.documents.opening import check_text, digest_of, from_bytes, from_text
from pura.documents.reading import (
    choose,
    preview_encodings,
    read_data,
    read_document,
    read_file,
    read_input,
    read_stdin,
)
from pura.documents.values import (
    ALTERNATIVE,
    ATTACHMENT,
    MAIN,
    MAX_CHARACTERS,
    MAX_FILE_BYTES,
    QUOTED,
    Document,
    Extract,
    Extraction,
    ReadOptions,
)

__all__ = [
    "ALTERNATIVE",
    "ATTACHMENT",
    "ENCODINGS",
    "FORMATS",
    "MAIN",
    "MAX_CHARACTERS",
    "MAX_FILE_BYTES",
    "QUOTED",
    "Document",
    "Extract",
    "Extraction",
    "Format",
    "Preview",
    "ReadOptions",
    "check_text",
    "choose",
    "digest_of",
    "endings",
    "from_bytes",
    "from_text",
    "preview_encodings",
    "previews",
    "read_data",
    "read_document",
    "read_file",
    "read_input",
    "read_stdin",
    "tell",
]
