"""PDF as displayed: pictures of its pages, and the position of each character of its text.

Runs in the sandboxed child, which answers questions until its input ends. Each question is a line
of JSON; each answer consists of JSON and bytes, preceded by the lengths of both:

====================================  ===========================================================
``{"do": "open"}``                    ``sizes``: width and height of every page in points
``{"do": "draw", "page": from 0,      ``width * height * 4`` bytes, rows of blue, green, red and
"width": …, "height": …}``            nothing, a byte each
``{"do": "place", "sha256": of the    ``same``: whether the file holds this text; then ``starts``,
text in UTF-8}``                      the first character of each page, and the
                                      :data:`~pura.documents.readers.pdf.Boxes`, little-endian, of
                                      the characters that are no blanks, in the order of the text
====================================  ===========================================================
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from typing import Any, TypeAlias

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from pura.documents.readers.pdf import opened, read_pages

Answer: TypeAlias = "tuple[dict[str, Any], bytes]"


def answerer(file_bytes: bytes) -> Callable[[dict[str, Any]], Answer]:
    """Return the function that answers questions about a PDF."""
    documents: list[pdfium.PdfDocument] = []  # opened by the first question, which reports errors

    def answer(question: dict[str, Any]) -> Answer:
        if not documents:
            documents.append(opened(file_bytes))
        document = documents[0]
        match question["do"]:
            case "open":
                return {"sizes": [_size(document, page) for page in range(len(document))]}, b""
            case "draw":
                return {}, _picture(document, *(question[name] for name in _DRAWN))
            case _:
                return _places(document, question["sha256"])

    return answer


_DRAWN = ("page", "width", "height")


def _size(document: pdfium.PdfDocument, page: int) -> tuple[float, float]:
    """Return the size of a page; zeros if it is damaged."""
    try:
        width, height = document.get_page_size(page)
    except pdfium.PdfiumError:
        return 0.0, 0.0
    return width, height


def _picture(document: pdfium.PdfDocument, number: int, width: int, height: int) -> bytes:
    page = document[number]
    try:
        bitmap = pdfium.PdfBitmap.new_native(width, height, raw.FPDFBitmap_BGRx)
        bitmap.fill_rect((255, 255, 255, 255), 0, 0, width, height)
        raw.FPDF_RenderPageBitmap(bitmap.raw, page.raw, 0, 0, width, height, 0, raw.FPDF_ANNOT)
        rows = bytes(bitmap.buffer)
        stride = bitmap.stride
        bitmap.close()
    finally:
        page.close()
    if stride == 4 * width:
        return rows
    return b"".join(rows[row * stride : row * stride + 4 * width] for row in range(height))


def _places(document: pdfium.PdfDocument, sha256: str) -> Answer:
    extract, boxes = read_pages(document, placed=True)
    if hashlib.sha256(extract.text.encode()).hexdigest() != sha256:
        return {"same": False}, b""
    if sys.byteorder == "big":
        boxes.byteswap()
    return {"same": True, "starts": extract.pages}, boxes.tobytes()
