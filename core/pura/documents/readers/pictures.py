"""Pictures, which no reader parses; inside another file they are not part of its text.

A picture file is read by Tesseract (:mod:`pura.documents.ocr`). This is not a reader but another
program, which cannot be started in the sandbox of readers.
"""

from __future__ import annotations

from typing import NoReturn

from pura.base.catalogue import phrase
from pura.documents.formats import ReadOptions, no_reader


def read_picture(file_bytes: bytes, options: ReadOptions) -> NoReturn:
    """Refuse a picture.

    Raises:
        InputError: Always.
    """
    raise no_reader(phrase("kind.picture", name=_NAMES.get(file_bytes[:2], "TIFF")))


_NAMES = {b"\x89P": "PNG", b"\xff\xd8": "JPEG"}
