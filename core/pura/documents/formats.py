"""The table of formats: their readers, their limits, and how a format is recognised."""

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
    """A file format.

    Attributes:
        name: Stable name.
        endings: File name extensions, with the dot.
        reader: Module and function in ``readers/``; empty for plain text, which needs no parser
            and no child. The function returns the texts of a file in reading order. It runs in
            the sandboxed child, opens no file and starts no process.
        textual: The bytes are text in an encoding that the user may choose.
        preload: Modules that the reader imports late; they are loaded before the child loses the
            right to open files.
        embeds: Files may embed documents of other formats, so all readers are loaded.
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
        """Import the reader and the modules that it imports late."""
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
        # Recognised by the first bytes only: pictures in a folder are not meant to be audited.
        Format("picture", (), "pictures.read_picture"),
        Format("msg", (".msg",), "outlook.read_msg", preload=_MAIL_LATE, embeds=True),
        Format("mbox", (".mbox",), "mail.read_mbox", True, _MAIL_LATE, embeds=True),
    )
}


@dataclass(frozen=True)
class Container:
    """A container format; only a parser can tell which document format it contains.

    Attributes:
        name: Stable name.
        magic: First bytes of such files.
        teller: Module and function in ``readers/``. The function returns the format name of the
            contained document; it runs in the sandboxed child.
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
        """Import the function that recognises the contained format."""
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
"""Bytes that contain the first element of an XML file; OpenDocument has forty namespaces in it."""
_PDF_LINE: Final = re.compile(rb"^%PDF-\d", re.MULTILINE)

_PICTURES: Final = (b"\x89PNG", b"\xff\xd8\xff", b"II*\x00", b"MM\x00*")
"""First bytes of PNG, JPEG and TIFF files."""
# First bytes of files without a reader, and what messages call these files.
_WITHOUT_READER: Final = (
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
    """Return the file name extensions of all formats."""
    return tuple(e for f in FORMATS.values() for e in f.endings)


def textual(ending: str) -> bool:
    """Return whether files with this extension contain nothing but readable text."""
    return all(f.textual for f in FORMATS.values() if ending in f.endings)


def tell(file_bytes: bytes, name: str) -> Format | Container:
    """Recognise the format of a file, as far as that needs no parser.

    First bytes that leave no doubt take precedence over the name: a PDF called ``x.txt`` is a PDF.
    Formats that are readable text themselves (CSV, JSON, e-mail …) are recognised by the name, and
    by the content only if the name is no help. The child recognises the contents of containers.

    Returns:
        A row of :data:`FORMATS` or of :data:`CONTAINERS`.

    Raises:
        InputError: A known kind of file without a reader.
    """
    by_content = _by_magic(file_bytes)
    if by_content is not None:
        return by_content
    ending = PurePath(name).suffix.lower()
    if ending in (".txt", ".log", "") and (shaped := _by_shape(file_bytes)):
        return shaped
    for form in FORMATS.values():
        if ending in form.endings:
            # The name is that of a binary format, but the content is not.
            return form if form.textual else _textual(file_bytes)
    return _textual(file_bytes)


def _by_magic(file_bytes: bytes) -> Format | Container | None:
    if _is_pdf(file_bytes):
        return FORMATS["pdf"]
    if file_bytes.lstrip()[:5].startswith(b"{\\rtf"):
        return FORMATS["rtf"]
    for container in CONTAINERS.values():
        if file_bytes.startswith(container.magic):
            return container
    if file_bytes.startswith(_PICTURES):
        return FORMATS["picture"]
    if _is_flat_package(file_bytes):
        return CONTAINERS["package"]
    for magic, kind in _WITHOUT_READER:
        if file_bytes.startswith(magic):
            raise no_reader(kind)
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
"""Beginnings of files that are named like plain text but have a structure of their own."""


def _by_shape(file_bytes: bytes) -> Format | None:
    head = file_bytes[:4096].removeprefix(b"\xef\xbb\xbf")
    for name, shape in _SHAPES.items():
        if shape.match(head):
            return FORMATS[name]
    return None


def _is_flat_package(file_bytes: bytes) -> bool:
    """Return whether a file is an office document stored as one XML file."""
    head = file_bytes[:_HEAD_OF_XML].replace(b"\x00", b"")  # UTF-16 is seen through
    return bool(_ROOT_OF_FLAT.match(head)) and any(name in head for name in _NAMESPACES_OF_FLAT)


def _is_pdf(file_bytes: bytes) -> bool:
    """Return whether a file is a PDF; a mailer may have added lines before its first line."""
    if file_bytes.removeprefix(b"\xef\xbb\xbf").startswith(b"%PDF-"):
        return True
    return bool(_PDF_LINE.search(file_bytes[:1024])) and b"endobj" in file_bytes


def _textual(file_bytes: bytes) -> Format:
    head = file_bytes[:4096].removeprefix(b"\xef\xbb\xbf")
    if _HTML.match(head):
        return FORMATS["html"]
    if _MBOX.match(head):
        return FORMATS["mbox"]
    lines = head.splitlines()[:12]
    if sum(bool(_MAIL.match(line)) for line in lines) >= 3 and _MAIL.match(head):
        return FORMATS["eml"]
    return FORMATS["text"]


def no_reader(kind: Phrase) -> InputError:
    """Return the error for a kind of file that has no reader."""
    return InputError("input.no-reader", what=kind, code="input-format")


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """Options for reading a file.

    Attributes:
        encoding: Encoding of the text; None detects it (:mod:`.encodings`).
        format: A name of :data:`FORMATS`; None recognises the format by content and name.
        field: For JSON, the field with the text; None takes the first known field.
        trust: Trusted certificates for signatures of manifests, PEM; empty trusts nobody.
        leave_out: Rules of :data:`~pura.record.left_out.LEAVE_OUT` for content that is not
            examined; each excluded piece becomes a separate part.

    Raises:
        InputError: There is no such encoding or format.
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
"""Header of each answer of a child that answers repeatedly: bytes of the JSON part, and bytes of
the part after it."""

CHILD_MEMORY_BYTES: Final = 1 << 30
"""Address space of the child, where the system can limit it."""
CHILD_CPU_SECONDS: Final = 30
"""Processor time of the child."""
CHILD_WALL_SECONDS: Final = 60.0
"""Elapsed time from start to answer."""
CHILD_OPEN_FILES: Final = 3
"""Descriptors of the child: input, output, errors. It cannot open any others."""

MAX_UNPACKED_BYTES: Final = 64 << 20
"""Bytes that one part of a packed document (docx, odt, xlsx, pptx) may unpack to."""
MAX_PACKED_ENTRIES: Final = 10_000
"""Entries of a packed document."""
MAX_MAIL_DEPTH: Final = 20
"""Levels of MIME parts and forwarded messages inside one another."""
MAX_MAIL_PARTS: Final = 1000
"""MIME parts of one message."""
MAX_MAIL_HEADER_BYTES: Final = 8 << 10
"""Bytes of one header that describes a MIME part; normal ones have a few hundred."""
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


def over(key: str, /, **parameters: Value) -> InputError:
    """Return the error for an exceeded limit."""
    return InputError(key, code="input-limit", **parameters)


def check(extracts: list[Extract]) -> None:
    """Require that the texts of a file stay within the limits.

    Raises:
        InputError: There are too many parts or characters.
    """
    if len(extracts) > MAX_PARTS:
        raise over("limit.texts", most=MAX_PARTS)
    if sum(len(e.text) for e in extracts) > MAX_TOTAL_CHARACTERS:
        raise over("limit.characters", most=MAX_TOTAL_CHARACTERS)


def truncated() -> InputError:
    """Return the error for a file that cannot be read because its end is missing."""
    return InputError("input.truncated", code="input-truncated")


def refusal(error: Exception, label: Phrase) -> InputError:
    """Convert an exception of a parser to the error that the user gets.

    Args:
        error: Exception that the parser raised, other than :class:`MemoryError`.
        label: Name of the format, for the message.
    """
    if isinstance(error, InputError):
        return error
    if isinstance(error, RecursionError):
        return over("limit.deep")
    if isinstance(error, PermissionError):
        # Raised by the audit hook or the kernel: only a hostile file makes a reader reach outside.
        return InputError("reader.forbidden", label=label, code="reader-forbidden")
    return damaged(label)  # the kind of exception would not help the user


def memory() -> InputError:
    """Return the error for a file that needs too much memory."""
    return over("limit.memory", mebibytes=CHILD_MEMORY_BYTES >> 20)


def damaged(label: Phrase, reason: Phrase | None = None) -> InputError:
    """Return the error for a file that its parser cannot read, with the reason if known."""
    if reason is None:
        return InputError("input.damaged", label=label, code="input-damaged")
    return InputError("input.damaged-why", label=label, why=reason, code="input-damaged")


def refuse_ending(status: int, label: Phrase, *, late: bool) -> None:
    """Require that the reader of a file ended normally.

    Raises:
        InputError: The reader was stopped or crashed; the error names the reason.
    """
    if late:
        raise over("limit.time", seconds=f"{CHILD_WALL_SECONDS:g}")
    if status == -getattr(signal, "SIGXCPU", 0) != 0:
        raise over("limit.time", seconds=CHILD_CPU_SECONDS)
    if status == NOT_SHUT_STATUS:
        raise InputError("reader.cage", code="input-sandbox")
    if status != 0:
        # Python raises MemoryError; C code ends by an abort, a bad access, or an exit status.
        if status in (-getattr(signal, "SIGKILL", 9), -getattr(signal, "SIGABRT", 6)):
            raise memory()
        raise InputError("reader.stopped", label=label, status=status, code="input-crash")
