"""The table of formats, and how a file's format is told: by content first, by name second.

A new format is one module in ``readers/`` and one line here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from pura.base.catalogue import Phrase, phrase
from pura.base.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Format:
    """One format.

    Attributes:
        name: Stable name.
        label: For people.
        endings: Endings of file names, with the dot.
        module: In ``readers/``; empty for plain text, which needs no parser and no child.
        preload: What the reader imports late, loaded before the child loses the right to open.
        textual: Its bytes are text in some encoding, which the user may choose.
    """

    name: str
    label: str
    endings: tuple[str, ...]
    module: str = ""
    preload: tuple[str, ...] = ()
    textual: bool = False


_MAIL_LATE: Final = (
    "email.feedparser",
    "email.message",
    "email.contentmanager",
    "email.headerregistry",
    "email.quoprimime",
    "email.base64mime",
    "email.iterators",
    "email.generator",
    "quopri",
    "uu",
    "email._policybase",
    "email.mime.text",
    "email._header_value_parser",
)

FORMATS: Final = {
    f.name: f
    for f in (
        Format(
            name="text",
            label="plain text",
            endings=(".txt", ".text", ".md", ".markdown", ".log", ".rst", ".tex"),
            textual=True,
        ),
        Format(
            name="csv",
            label="a table (CSV)",
            endings=(".csv", ".tsv"),
            module="csv_cells",
            textual=True,
        ),
        Format(name="pdf", label="a PDF", endings=(".pdf",), module="pdf"),
        Format(name="docx", label="a Word document", endings=(".docx", ".docm"), module="docx"),
        Format(name="odt", label="an OpenDocument text", endings=(".odt",), module="odt"),
        Format(name="xlsx", label="an Excel workbook", endings=(".xlsx", ".xlsm"), module="xlsx"),
        Format(name="pptx", label="a presentation", endings=(".pptx", ".pptm"), module="pptx"),
        Format(name="rtf", label="a rich text (RTF)", endings=(".rtf",), module="rtf"),
        Format(name="json", label="JSON", endings=(".json",), module="json_rows", textual=True),
        Format(
            name="jsonl",
            label="JSON lines",
            endings=(".jsonl", ".ndjson"),
            module="json_lines",
            textual=True,
        ),
        Format(
            name="html",
            label="a web page (HTML)",
            endings=(".html", ".htm", ".xhtml"),
            module="html",
            preload=("charset_normalizer",),
            textual=True,
        ),
        Format(
            name="eml",
            label="an e-mail",
            endings=(".eml",),
            module="mail",
            preload=_MAIL_LATE,
            textual=True,
        ),
        Format(
            name="mbox",
            label="a mailbox (mbox)",
            endings=(".mbox",),
            module="mbox",
            preload=_MAIL_LATE,
            textual=True,
        ),
    )
}

# What a file begins with, and what to call it when there is no reader for it.
_STRANGERS: Final = (
    (b"\x89PNG", phrase("kind.picture", name="PNG")),
    (b"\xff\xd8\xff", phrase("kind.picture", name="JPEG")),
    (b"GIF8", phrase("kind.picture", name="GIF")),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", phrase("kind.office")),
    (b"\x7fELF", phrase("kind.program")),
    (b"MZ\x90", phrase("kind.program")),
    (b"\x1f\x8b", phrase("kind.packed", name="gzip")),
    (b"BZh", phrase("kind.packed", name="bzip2")),
    (b"\xfd7zXZ\x00", phrase("kind.packed", name="xz")),
    (b"7z\xbc\xaf\x27\x1c", phrase("kind.packed", name="7z")),
    (b"Rar!", phrase("kind.packed", name="rar")),
    (b"ID3", phrase("kind.sound")),
    (b"OggS", phrase("kind.sound")),
    (b"SQLite format 3", phrase("kind.database")),
)
_HTML: Final = re.compile(
    rb"\s*(<!doctype html|<html|<\?xml[^>]*>\s*(<!doctype html|<html))", re.IGNORECASE
)
_MBOX: Final = re.compile(rb"From \S+.*\r?\n([A-Za-z-]+:|>From )")
_MAIL: Final = re.compile(
    rb"(Received|Return-Path|Delivered-To|MIME-Version|Message-ID|From|Date|Subject|To|X-[\w-]+):",
    re.IGNORECASE,
)


def endings() -> tuple[str, ...]:
    """Return all endings of names that some reader knows."""
    return tuple(e for f in FORMATS.values() for e in f.endings)


def textual(ending: str) -> bool:
    """Whether a file with this ending may hold readable text and nothing else."""
    return all(f.textual for f in FORMATS.values() if ending in f.endings)


def tell(data: bytes, name: str) -> Format:
    """Tell the format of a file.

    Where the first bytes leave no doubt they win over the name: a PDF called ``x.txt`` is a PDF.
    Formats that are themselves readable text (CSV, JSON, e-mail …) go by the name, and by the
    content only where the name says nothing.

    Raises:
        InputError: A known kind of file without a reader.
    """
    by_content = _by_magic(data)
    if by_content is not None:
        return by_content
    ending = PurePath(name).suffix.lower()
    for found in FORMATS.values():
        if ending in found.endings:
            # Named like a packed or printed document, but its content is not one.
            return found if found.textual else _textual(data)
    return _textual(data)


def _by_magic(data: bytes) -> Format | None:
    if b"%PDF-" in data[:1024]:
        return _format("pdf")
    if data.startswith(b"{\\rtf"):
        return _format("rtf")
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _packed(data)
    for magic, what in _STRANGERS:
        if data.startswith(magic):
            raise _unknown(what)
    return None


def _packed(data: bytes) -> Format:
    # The archive is opened in the child only; names stand in it as plain bytes.
    if b"mimetypeapplication/vnd.oasis.opendocument.text" in data[:200]:
        return _format("odt")
    for inside, name in (
        (b"word/document", "docx"),
        (b"xl/workbook", "xlsx"),
        (b"ppt/presentation", "pptx"),
    ):
        if inside in data:
            return _format(name)
    for inside, what in (
        (b"application/epub+zip", phrase("kind.epub")),
        (b"content.xml", phrase("kind.opendocument")),
    ):
        if inside in data:
            raise _unknown(what)
    raise _unknown(phrase("kind.packed", name="zip"))


def _textual(data: bytes) -> Format:
    head = data[:4096].removeprefix(b"\xef\xbb\xbf")
    if _HTML.match(head):
        return _format("html")
    if _MBOX.match(head):
        return _format("mbox")
    lines = head.splitlines()[:12]
    if sum(bool(_MAIL.match(line)) for line in lines) >= 3 and _MAIL.match(head):
        return _format("eml")
    return FORMATS["text"]


def _format(name: str) -> Format:
    return FORMATS.get(name) or FORMATS["text"]


def _unknown(what: Phrase) -> InputError:
    return InputError("input.no-reader", what=what, code="input-format")
