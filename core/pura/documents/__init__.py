"""From a file to the text under audit (audit steps 1 and 2).

Bytes are hashed before anything is done to them. Plain text is decoded here; every other format
is parsed in a child process that can reach nothing (reading-files.md). Nothing is guessed or
changed silently: encoding and transforms stand in the record.
"""

from pura.documents.encodings import CHOICES as ENCODINGS
from pura.documents.encodings import Preview, previews
from pura.documents.formats import (
    ALTERNATIVE,
    ATTACHMENT,
    FORMATS,
    MAIN,
    MAX_CHARACTERS,
    MAX_FILE_BYTES,
    QUOTED,
    Document,
    Extract,
    Extraction,
    Format,
    ReadOptions,
    endings,
    tell,
)
from pura.documents.reading import (
    check_text,
    choose,
    digest_of,
    from_bytes,
    from_text,
    is_plain,
    preview_encodings,
    read_data,
    read_document,
    read_file,
    read_input,
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
    "is_plain",
    "preview_encodings",
    "previews",
    "read_data",
    "read_document",
    "read_file",
    "read_input",
    "tell",
]
