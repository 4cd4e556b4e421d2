"""From a file to the text under audit (audit steps 1 and 2).

Bytes are hashed before anything is done to them. Plain text is decoded here; every other format
is parsed in a child process that can reach nothing (reading-files.md). Nothing is guessed or
changed silently: encoding and transforms are in the record.
"""

from pura.documents.encodings import Preview as Preview
from pura.documents.encodings import previews as previews
from pura.documents.extraction import ALTERNATIVE as ALTERNATIVE
from pura.documents.extraction import ATTACHMENT as ATTACHMENT
from pura.documents.extraction import MAIN as MAIN
from pura.documents.extraction import QUOTED as QUOTED
from pura.documents.extraction import Document as Document
from pura.documents.extraction import Extraction as Extraction
from pura.documents.extraction import choose as choose
from pura.documents.file_bytes import digest_of as digest_of
from pura.documents.formats import FORMATS as FORMATS
from pura.documents.formats import MAX_CHARACTERS as MAX_CHARACTERS
from pura.documents.formats import ReadOptions as ReadOptions
from pura.documents.formats import endings as endings
from pura.documents.formats import tell as tell
from pura.documents.leave_out import parts_of as parts_of
from pura.documents.leave_out import under_rule as under_rule
from pura.documents.reading import from_bytes as from_bytes
from pura.documents.reading import from_text as from_text
from pura.documents.reading import is_plain as is_plain
from pura.documents.reading import preview_encodings as preview_encodings
from pura.documents.reading import read_data as read_data
from pura.documents.reading import read_document as read_document
from pura.documents.reading import read_file as read_file
from pura.documents.reading import read_input as read_input
