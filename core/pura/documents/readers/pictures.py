"""Pictures: no parser of ours reads them, and inside another file they hold no words of it.

A picture that is a file by itself is read by Tesseract (:mod:`pura.documents.ocr`), which is no
reader: it is another program, and the sandbox of readers starts none.
"""

from __future__ import annotations

from typing import NoReturn

from pura.base.catalogue import phrase
from pura.documents.formats import ReadOptions, no_reader


def read_picture(data: bytes, options: ReadOptions) -> NoReturn:
    """Refuse a picture.

    Raises:
        InputError: Always.
    """
    raise no_reader(phrase("kind.picture", name=_NAMES.get(data[:2], "TIFF")))


_NAMES = {b"\x89P": "PNG", b"\xff\xd8": "JPEG"}
