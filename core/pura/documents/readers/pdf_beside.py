"""Text of a PDF outside the content of its pages: form fields, annotations, attached files.

The parser draws them over a page or not at all, so the text of a page does not contain them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from pura.documents.extraction import Extract
from pura.documents.formats import FORMATS, MAX_TOTAL_CHARACTERS, MAX_UNPACKED_BYTES, damaged, over
from pura.documents.readers.blocks import TextBlock, extract_apart
from pura.documents.readers.embedded import embedded_extracts, unreadable
from pura.documents.readers.packages import metadata, named, parse
from pura.record.left_out import LeftOutKind

_FIELDS_WITH_WORDS: Final = frozenset(
    {raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX}
)
_NO_WORDS: Final = frozenset({raw.FPDF_ANNOT_LINK, raw.FPDF_ANNOT_POPUP, raw.FPDF_ANNOT_WIDGET})
"""Annotations whose contents describe something else: a pop-up repeats the words of its comment."""
_DESCRIBING: Final = ("Title", "Subject", "Keywords")
_XFA_DATA: Final = "datasets"
_XFA_FORMS: Final = frozenset({raw.FORMTYPE_XFA_FULL, raw.FORMTYPE_XFA_FOREGROUND})
_MAX_STRING: Final = 4 << 20  # bytes of the words of one field or annotation, in UTF-16


@dataclass
class PdfBeside:
    """Text that is collected page by page.

    Attributes:
        fields: Names and values of form fields.
        boxes: Texts of text boxes on pages.
        comments: Texts of comments on pages.
        files: Names and bytes of files that are attached to pages.
        running: Headers and footers, which are not in the text of the pages.
    """

    fields: dict[tuple[str, str], None] = field(default_factory=dict)
    boxes: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    files: list[tuple[str, bytes]] = field(default_factory=list)
    running: list[str] = field(default_factory=list)
    _characters: int = 0

    def add_page(self, page: pdfium.PdfPage) -> None:
        """Collect the annotations of a page, including form fields."""
        for number in range(raw.FPDFPage_GetAnnotCount(page.raw)):
            annotation = raw.FPDFPage_GetAnnot(page.raw, number)
            if not annotation:
                continue
            try:
                self._add(annotation, page)
            finally:
                raw.FPDFPage_CloseAnnot(annotation)

    def _add(self, annotation: Any, page: pdfium.PdfPage) -> None:
        forms = page.formenv
        kind = raw.FPDFAnnot_GetSubtype(annotation)
        if kind == raw.FPDF_ANNOT_WIDGET and forms is not None:
            if raw.FPDFAnnot_GetFormFieldType(forms.raw, annotation) not in _FIELDS_WITH_WORDS:
                return
            name = _string(raw.FPDFAnnot_GetFormFieldName, forms.raw, annotation)
            text = _string(raw.FPDFAnnot_GetFormFieldValue, forms.raw, annotation)
            # A field that appears on several pages has one value.
            if text.strip() and (name, text) not in self.fields:
                self._count(text)
                self.fields[name, text] = None
        elif kind == raw.FPDF_ANNOT_FILEATTACHMENT:
            if attached := raw.FPDFAnnot_GetFileAttachment(annotation):
                with suppress(pdfium.PdfiumError):  # without bytes there are no words
                    self.files.append(_file(pdfium.PdfAttachment(attached, page.pdf)))
        elif kind not in _NO_WORDS:
            text = _string(raw.FPDFAnnot_GetStringValue, annotation, b"Contents")
            if text.strip():
                self._count(text)
                (self.boxes if kind == raw.FPDF_ANNOT_FREETEXT else self.comments).append(text)

    def _count(self, text: str) -> None:
        self._characters += len(text)
        if self._characters > MAX_TOTAL_CHARACTERS:
            raise over("limit.characters", most=MAX_TOTAL_CHARACTERS)

    def extracts(self, document: pdfium.PdfDocument) -> list[Extract]:
        """Return the further parts, including those of the whole file."""
        fields = [*(text for _, text in self.fields), *_xfa_values(document)]
        described = document.get_metadata_dict(skip_empty=True)
        return [
            *extract_apart(_blocks(self.running), "headers and footers", LeftOutKind.HEADER),
            *extract_apart(_blocks(fields), "form fields", LeftOutKind.FORM_FIELD),
            *extract_apart(_blocks(self.boxes), "text boxes", LeftOutKind.TEXT_BOX),
            *extract_apart(_blocks(self.comments), "comments", LeftOutKind.COMMENT),
            *metadata(described.get(name, "") for name in _DESCRIBING),
            *self._attached(document),
        ]

    def _attached(self, document: pdfium.PdfDocument) -> Iterator[Extract]:
        """Yield the texts of the files that are attached to a PDF or pinned to its pages."""
        kind, label = LeftOutKind.ATTACHMENT, "attachment"
        for name, file_bytes in self.files:
            if _is_manifest(file_bytes):
                continue
            yield from embedded_extracts(file_bytes, name, kind=kind, label=label)
        for number in range(document.count_attachments()):
            try:
                name, file_bytes = _file(document.get_attachment(number))
            except pdfium.PdfiumError:
                error = damaged(FORMATS["pdf"].label)
                yield unreadable(error, f"file {number + 1}", kind=kind, label=label)
            else:
                if not _is_manifest(file_bytes):
                    yield from embedded_extracts(file_bytes, name, kind=kind, label=label)


def _is_manifest(file_bytes: bytes) -> bool:
    """Return whether a file is a C2PA manifest (a JUMBF box), which is read separately."""
    return file_bytes[4:8] == b"jumb"


def _blocks(texts: list[str]) -> list[TextBlock]:
    # Fields and annotations may end lines with carriage returns.
    lines = (text.replace("\r\n", "\n").replace("\r", "\n").strip() for text in texts)
    return [TextBlock(text=text) for text in lines if text]


def _string(read: Callable[..., int], *arguments: Any) -> str:
    """Return a string from PDFium, whose length is requested first.

    Args:
        read: A function of PDFium that takes the arguments, a buffer and its length in bytes, and
            returns the number of bytes of the string.
        arguments: The first arguments of the function.
    """
    length = read(*arguments, None, 0)
    if length <= 2 or length > _MAX_STRING:
        return ""
    buffer = ctypes.create_string_buffer(length)
    read(*arguments, ctypes.cast(buffer, ctypes.POINTER(raw.FPDF_WCHAR)), length)
    return buffer.raw.decode("utf-16-le", "replace").rstrip("\0")


def _xfa_values(document: pdfium.PdfDocument) -> Iterator[str]:
    """Yield the texts of an XFA form (Adobe's XML forms), which the parser does not show."""
    if document.get_formtype() not in _XFA_FORMS:
        return
    for number in range(raw.FPDF_GetXFAPacketCount(document.raw)):
        length = raw.FPDF_GetXFAPacketName(document.raw, number, None, 0)
        name = ctypes.create_string_buffer(length)
        raw.FPDF_GetXFAPacketName(document.raw, number, name, length)
        if name.value.decode("utf-8", "replace") != _XFA_DATA:
            continue
        size = ctypes.c_ulong()
        raw.FPDF_GetXFAPacketContent(document.raw, number, None, 0, size)
        if size.value > MAX_UNPACKED_BYTES:
            raise over("limit.file", mebibytes=MAX_UNPACKED_BYTES >> 20)
        packet = ctypes.create_string_buffer(size.value)
        raw.FPDF_GetXFAPacketContent(document.raw, number, packet, size.value, size)
        for element in named(parse(packet.raw), "data"):
            yield from (text.strip() for text in element.itertext() if text.strip())


def _file(attachment: pdfium.PdfAttachment) -> tuple[str, bytes]:
    """Return the name and the bytes of an attached file.

    Raises:
        PdfiumError: It is damaged, or empty.
    """
    return attachment.get_name(), bytes(attachment.get_data())
