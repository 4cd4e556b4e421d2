"""The bounds within which a stranger's file is read; a refusal names the one that it met.

The parent keeps those of the file and of the answer, the child puts the others on itself before
it sees the first byte (docs/reading-files.md, "Limits").
"""

from __future__ import annotations

from typing import Final

from pura.base.catalogue import Value
from pura.base.errors import InputError

MAX_FILE_BYTES: Final = 64 << 20
"""Bytes of one file; a text of MAX_CHARACTERS in the widest encoding is far below."""
MAX_CHARACTERS: Final = 2_000_000
"""Code points of one text: about 500 000 tokens, an hour on a slow processor."""
MAX_PARTS: Final = 10_000
"""Texts that one file may give: rows, cells, messages, attachments."""
MAX_TOTAL_CHARACTERS: Final = 16_000_000
"""Code points of all texts of one file together."""
MAX_ANSWER_BYTES: Final = 128 << 20
"""Bytes that the child may send back; JSON writes one character in up to six bytes."""

CHILD_MEMORY_BYTES: Final = 1 << 30
"""Address space of the child, where the system can limit it."""
CHILD_CPU_SECONDS: Final = 30
"""Processor time of the child."""
CHILD_WALL_SECONDS: Final = 60.0
"""Time on the clock, from start to answer."""
CHILD_OPEN_FILES: Final = 3
"""Descriptors of the child: input, output, errors. With these taken it can open nothing."""

MAX_UNPACKED_BYTES: Final = 64 << 20
"""Bytes that one part of a packed document (docx, odt, xlsx, pptx) may unpack to."""
MAX_PACKED_ENTRIES: Final = 10_000
"""Entries of a packed document."""
MAX_MAIL_DEPTH: Final = 20
"""Levels of MIME parts and forwarded messages inside one another."""
MAX_MAIL_PARTS: Final = 1000
"""MIME parts of one message."""
MAX_MAIL_HEADER_BYTES: Final = 8 << 10
"""Bytes of one header that says what a MIME part is; honest ones have a few hundred."""
MAX_MAIL_HEADERS_BYTES: Final = 256 << 10
"""Bytes of all such headers of one message together."""
MAX_MAIL_PARAMETERS: Final = 200
"""Parameters and comments of one such header; a long name in pieces has some thirty."""
MAX_PAGES: Final = 5000
"""Pages of a PDF."""
MAX_JSON_DEPTH: Final = 100
"""Levels of nesting of JSON."""


def over(key: str, /, **values: Value) -> InputError:
    """Return the refusal that names a limit."""
    return InputError(key, code="input-limit", **values)
