"""The table of formats.

What a reader makes of a file, within which limits, and how a format is told.
"""

from __future__ import annotations

import importlib
import re
import signal
import struct
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final, TypeAlias

from pura.base.catalogue import Phrase, Value, phrase
from pura.base.errors import InputError
from pura.base.process import NOT_SHUT_STATUS
from pura.documents.encodings import check_encoding
from pura.documents.extraction import Extract

LIGATURES: Final = {
    "ﬀ": "ff",
    "ﬁ": "fi",
    "ﬂ": "fl",
    "ﬃ": "ffi",
    "ﬄ": "ffl",
    "ﬅ": "st",
    "ﬆ": "st",
}
FormatReader: TypeAlias = "Callable[[bytes, ReadOptions], list[Extract]]"


@dataclass(frozen=True)
class Format:
    """One format.

    Attributes:
        name: Stable name.
        endings: Endings of file names, with the dot.
        reader: Module and function in ``readers/``; empty for plain text, which needs no parser
            and no child. The function returns the texts of a file in reading order, runs in the
            sandboxed child, opens nothing and starts nothing.
        textual: Its bytes are text in some encoding, which the user may choose.
        preload: What the reader imports late, loaded before the child loses the right to open.
        embeds: It may hold documents of other formats, so that all readers are loaded.
    """

    name: str
    endings: tuple[str, ...]
    reader: str = ""
    textual: bool = False
    preload: tuple[str, ...] = ()
    embeds: bool = False

    @property
    def label(self) -> Phrase:
        """Return what it is, for people."""
        return phrase(f"format.of-{self.name}")

    def load(self) -> FormatReader:
        """Import the reader, and what it imports late."""
        with warnings.catch_warnings():
            # Python's own mail parser imports ``uu`` late, which Python itself has deprecated.
            warnings.simplefilter("ignore", DeprecationWarning)
            for name in self.preload:
                importlib.import_module(name)
        reader: FormatReader = _imported(self.reader)
        return reader


def load_all() -> None:
    """Import every reader, for a file that may hold documents of any format."""
    for form in FORMATS.values():
        if form.reader:
            form.load()
    for container in CONTAINERS.values():
        container.load()


def _imported(name: str) -> Any:
    """Import a function of a module in ``readers/``."""
    module, _, function = name.partition(".")
    return getattr(importlib.import_module(f"pura.documents.readers.{module}"), function)


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
    *(("uu",) if sys.version_info < (3, 13) else ()),  # later ones have it no more
    "email._policybase",
    "email.mime.text",
    "email._header_value_parser",
)

_TEXT: Final = (".txt", ".text", ".md", ".markdown", ".log", ".rst", ".tex")
FORMATS: Final = {
    f.name: f
    for f in (
        Format("text", _TEXT, textual=True),
        Format("csv", (".csv", ".tsv"), "rows.read_csv", True),
        Format("pdf", (".pdf",), "pdf.read_pdf", embeds=True),
        Format("docx", (".docx", ".docm", ".dotx", ".dotm"), "word.read_docx", embeds=True),
        Format("odt", (".odt", ".ott", ".fodt"), "opendocument.read_odt", embeds=True),
        Format(
            "epub",
            (".epub",),
            "epub.read_epub",
            preload=("charset_normalizer",),
        ),
        Format("xlsx", (".xlsx", ".xlsm", ".xltx", ".xltm"), "workbook.read_xlsx", embeds=True),
        Format(
            "pptx",
            (".pptx", ".pptm", ".ppsx", ".ppsm", ".potx"),
            "presentation.read_pptx",
            embeds=True,
        ),
        Format("rtf", (".rtf",), "rtf.read_rtf", embeds=True),
        Format("json", (".json", ".ipynb"), "rows.read_json", True),
        Format("jsonl", (".jsonl", ".ndjson"), "rows.read_jsonl", True),
        Format("stream", (".sse",), "chats.read_stream", True),
        Format("whatsapp", (), "chats.read_whatsapp", True),
        Format("subtitles", (".srt", ".vtt"), "subtitles.read_subtitles", True),
        Format(
            "html",
            (".html", ".htm", ".xhtml"),
            "html.read_html",
            True,
            ("charset_normalizer",),
        ),
        Format("eml", (".eml", ".emlx"), "mail.read_mail", True, _MAIL_LATE, embeds=True),
        # Told by their first bytes alone: nobody means the pictures of a folder.
        Format("picture", (), "pictures.read_picture"),
        Format("msg", (".msg",), "outlook.read_msg", preload=_MAIL_LATE, embeds=True),
        Format("mbox", (".mbox",), "mail.read_mbox", True, _MAIL_LATE, embeds=True),
    )
}


@dataclass(frozen=True)
class Container:
    """What holds a document of one of several formats, which only a parser can tell.

    Attributes:
        name: Stable name.
        magic: What it begins with; none where :func:`tell` knows it by its first element.
        teller: Module and function in ``readers/``. The function returns the name of the format of
            the document inside; it runs in the sandboxed child.
        holds: Names of the formats that it may return.
    """

    name: str
    magic: tuple[bytes, ...]
    teller: str
    holds: tuple[str, ...]

    @property
    def label(self) -> Phrase:
        """Return what it is, for people."""
        return phrase(f"format.of-{self.name}")

    def load(self) -> Callable[[bytes], str]:
        """Import what tells the format."""
        teller: Callable[[bytes], str] = _imported(self.teller)
        return teller


CONTAINERS: Final = {
    container.name: container
    for container in (
        Container(
            "package",
            (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08"),
            "packages.format_of_file",
            ("docx", "odt", "epub", "xlsx", "pptx"),
        ),
        Container(
            "compound",
            (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",),
            "compound.format_of_file",
            ("msg",),
        ),
    )
}
_ROOT_OF_FLAT: Final = re.compile(
    rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*(?:<\?[^>]*>\s*|<!--[^>]*-->\s*)*"
    rb"<(?:[\w.-]+:)?(?:package|document|wordDocument|Workbook)[\s>]"
)
_NAMESPACES_OF_FLAT: Final = (
    b"http://schemas.microsoft.com/office/2006/xmlPackage",
    b"http://schemas.microsoft.com/office/word/2003/wordml",
    b"urn:oasis:names:tc:opendocument:xmlns:office:1.0",
    b"urn:schemas-microsoft-com:office:spreadsheet",
)
_HEAD_OF_XML: Final = 16384
"""Bytes in which the first element of an XML file ends; OpenDocument's lists forty namespaces."""
_PDF_LINE: Final = re.compile(rb"^%PDF-\d", re.MULTILINE)
# What a file begins with, and what to call it when there is no reader for it.
_PICTURES: Final = (b"\x89PNG", b"\xff\xd8\xff", b"II*\x00", b"MM\x00*")
"""What PNG, JPEG and TIFF begin with."""
_STRANGERS: Final = (
    (b"GIF8", phrase("kind.picture", name="GIF")),
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
    (b"\x78\x9f\x3e\x22", phrase("kind.tnef")),
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


def tell(data: bytes, name: str) -> Format | Container:
    """Tell the format of a file, as far as that takes no parser.

    Where the first bytes leave no doubt they win over the name: a PDF called ``x.txt`` is a PDF.
    Formats that are themselves readable text (CSV, JSON, e-mail …) go by the name, and by the
    content only where the name says nothing. What a container holds is told in the child.

    Returns:
        A row of :data:`FORMATS` or of :data:`CONTAINERS`.

    Raises:
        InputError: A known kind of file without a reader.
    """
    by_content = _by_magic(data)
    if by_content is not None:
        return by_content
    ending = PurePath(name).suffix.lower()
    if ending in (".txt", ".log", "") and (shaped := _by_shape(data)):
        return shaped
    for form in FORMATS.values():
        if ending in form.endings:
            # Named like a packed or printed document, but its content is not one.
            return form if form.textual else _textual(data)
    return _textual(data)


def _by_magic(data: bytes) -> Format | Container | None:
    if _is_pdf(data):
        return FORMATS["pdf"]
    if data.lstrip()[:5].startswith(b"{\\rtf"):
        return FORMATS["rtf"]
    for container in CONTAINERS.values():
        if data.startswith(container.magic):
            return container
    if data.startswith(_PICTURES):
        return FORMATS["picture"]
    if _is_flat_package(data):
        return CONTAINERS["package"]
    for magic, what in _STRANGERS:
        if data.startswith(magic):
            raise no_reader(what)
    return None


_TIMING: Final = rb"(?:\d+:)?\d\d:\d\d[.,]\d{3} --> (?:\d+:)?\d\d:\d\d[.,]\d{3}"
_SHAPES: Final = {
    "stream": re.compile(rb"\s*(?:(?:event|id|retry):[^\n]*\n|:[^\n]*\n)*data:\s*\{\s*\""),
    "subtitles": re.compile(rb"\s*(?:WEBVTT\b[^\n]*\n|\d+\r?\n" + _TIMING + rb")"),
    "whatsapp": re.compile(
        rb"(?:(?:\xe2\x80\x8e)?\[?\d{1,4}[./-]\d{1,2}[./-]\d{1,4}, \d{1,2}[:.]\d{2}(?:[:.]\d{2})?"
        rb"(?:(?: |\xe2\x80\xaf)[AaPp]\.?[Mm]\.?)?(?:\] | - )[^\n]+\n){2}"
    ),
}
"""What files begin with that are named as plain text and yet are no text as it stands."""


def _by_shape(data: bytes) -> Format | None:
    head = data[:4096].removeprefix(b"\xef\xbb\xbf")
    for name, shape in _SHAPES.items():
        if shape.match(head):
            return FORMATS[name]
    return None


def _is_flat_package(data: bytes) -> bool:
    """Whether a file is a document of an office program in one XML file."""
    head = data[:_HEAD_OF_XML].replace(b"\x00", b"")  # UTF-16 is seen through
    return bool(_ROOT_OF_FLAT.match(head)) and any(name in head for name in _NAMESPACES_OF_FLAT)


def _is_pdf(data: bytes) -> bool:
    """Whether a file is a PDF; its first line may stand behind what a mailer put before it."""
    if data.startswith(b"%PDF-"):
        return True
    return bool(_PDF_LINE.search(data[:1024])) and b"endobj" in data


def _textual(data: bytes) -> Format:
    head = data[:4096].removeprefix(b"\xef\xbb\xbf")
    if _HTML.match(head):
        return FORMATS["html"]
    if _MBOX.match(head):
        return FORMATS["mbox"]
    lines = head.splitlines()[:12]
    if sum(bool(_MAIL.match(line)) for line in lines) >= 3 and _MAIL.match(head):
        return FORMATS["eml"]
    return FORMATS["text"]


def no_reader(what: Phrase) -> InputError:
    """Return the refusal of a kind of file that nothing here reads."""
    return InputError("input.no-reader", what=what, code="input-format")


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """What the user may say about a file.

    Attributes:
        encoding: Use this one; None chooses by :mod:`.encodings`.
        format: A name of :data:`.formats.FORMATS`; None looks at the content, then at the name.
        field: For JSON: the field that holds the text; None takes the first known name.
        trust: Certificates, PEM, whose signatures of manifests are trusted; empty trusts nobody.
        leave_out: What is left out of the examined text, of
            :data:`~pura.record.left_out.LEAVE_OUT`; each piece becomes a part of its own.

    Raises:
        InputError: There is no such encoding or format: wrong use, no fault of a file.
    """

    encoding: str | None = None
    format: str | None = None
    field: str | None = None
    trust: str = ""
    leave_out: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.encoding is not None:
            check_encoding(self.encoding)
        if self.format is not None and self.format not in FORMATS:
            raise InputError(
                "choice.unknown", known=", ".join(FORMATS), name=self.format, code="usage"
            )


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

LENGTHS: Final = struct.Struct(">II")
"""Before each answer of a child that goes on: bytes of the JSON, and of what follows it."""

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
MAX_EMBEDDED_DEPTH: Final = 4
"""Levels of documents inside documents; a letter with a workbook that holds a chart has two."""
MAX_EMBEDDED: Final = 500
"""Documents inside one file, on all levels together; further ones are listed as unreadable."""


def over(key: str, /, **values: Value) -> InputError:
    """Return the refusal that names a limit."""
    return InputError(key, code="input-limit", **values)


def check(extracts: list[Extract]) -> None:
    """Refuse an answer that is over a limit.

    Raises:
        InputError: Too many parts or characters.
    """
    if len(extracts) > MAX_PARTS:
        raise over("limit.texts", most=MAX_PARTS)
    if sum(len(e.text) for e in extracts) > MAX_TOTAL_CHARACTERS:
        raise over("limit.characters", most=MAX_TOTAL_CHARACTERS)


def truncated() -> InputError:
    """Return the refusal of a file whose end, without which nothing can be read, is missing."""
    return InputError("input.truncated", code="input-truncated")


def refusal(error: Exception, label: Phrase) -> InputError:
    """Return the refusal that the fault of a parser means.

    Args:
        error: What the parser raised, other than :class:`MemoryError`.
        label: What was being read.
    """
    if isinstance(error, InputError):
        return error
    if isinstance(error, RecursionError):
        return over("limit.deep")
    if isinstance(error, PermissionError):
        # Of the audit hook, or of the kernel: no honest file makes a reader reach outside.
        return InputError("reader.forbidden", label=label, code="reader-forbidden")
    return damaged(label)  # what kind of exception it was helps nobody who has the file


def memory() -> InputError:
    """Return the refusal of a file that needs too much memory."""
    return over("limit.memory", mebibytes=CHILD_MEMORY_BYTES >> 20)


def damaged(label: Phrase, why: Phrase | None = None) -> InputError:
    """Return the refusal of a file that its parser cannot understand, with the reason if known."""
    if why is None:
        return InputError("input.damaged", label=label, code="input-damaged")
    return InputError("input.damaged-why", label=label, why=why, code="input-damaged")


def refuse_ending(status: int, label: Phrase, *, late: bool) -> None:
    """Refuse a file whose reader ended otherwise than by itself.

    Raises:
        InputError: Why.
    """
    if late:
        raise over("limit.time", seconds=f"{CHILD_WALL_SECONDS:g}")
    if status == -getattr(signal, "SIGXCPU", 0) != 0:
        raise over("limit.time", seconds=CHILD_CPU_SECONDS)
    if status == NOT_SHUT_STATUS:
        raise InputError("reader.cage", code="input-sandbox")
    if status != 0:
        # Python says MemoryError, C code dies of it: by abort, by a bad access, or by a status.
        if status in (-getattr(signal, "SIGKILL", 9), -getattr(signal, "SIGABRT", 6)):
            raise memory()
        raise InputError("reader.stopped", label=label, status=status, code="input-crash")
