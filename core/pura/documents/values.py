"""The values that travel from a reader, within which bounds, and how a refusal is said."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Protocol

from pura.base.catalogue import Phrase, Value
from pura.base.errors import InputError
from pura.base.numerals import visible
from pura.documents.encodings import check_encoding
from pura.documents.formats import FORMATS
from pura.record.surroundings import Transform
from pura.words.sentences import Sentence

MAIN: Final = "main"
ATTACHMENT: Final = "attachment"
QUOTED: Final = "quoted"
ALTERNATIVE: Final = "alternative"
ROLES: Final = (MAIN, ATTACHMENT, QUOTED, ALTERNATIVE)
"""What a part is to its file. Main parts and attachments are audited unless others are asked for;
quoted passages and alternative readings of the same words only when they are named."""


@dataclass(frozen=True, kw_only=True)
class Extract:
    """One text that a reader found in a file.

    Attributes:
        text: As faithful as the format allows.
        part: Which part of the file; empty when the file is one text.
        role: One of :data:`ROLES`.
        encoding: How bytes became text; ``""`` where the format leaves no choice.
        encoding_source: How the encoding was chosen (:mod:`.encodings`).
        transforms: What was done to the characters.
        notes: What was left out or is uncertain.
        pages: Where each page, or slide, begins, in characters; empty where there are none.
    """

    text: str
    part: str = ""
    role: str = MAIN
    encoding: str = ""
    encoding_source: str = ""
    transforms: tuple[Transform, ...] = ()
    notes: tuple[Sentence, ...] = ()
    pages: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """What the user may say about a file.

    Attributes:
        encoding: Use this one; None chooses by :mod:`.encodings`.
        format: A name of :data:`.formats.FORMATS`; None looks at the content, then at the name.
        field: For JSON: the field that holds the text; None takes the first known name.

    Raises:
        InputError: There is no such encoding or format: wrong use, no fault of a file.
    """

    encoding: str | None = None
    format: str | None = None
    field: str | None = None

    def __post_init__(self) -> None:
        if self.encoding is not None:
            check_encoding(self.encoding)
        if self.format is not None and self.format not in FORMATS:
            raise InputError(
                "choice.unknown", known=", ".join(FORMATS), name=self.format, code="usage"
            )


class FormatReader(Protocol):
    """What every module of :mod:`.readers` offers under the name ``read``."""

    def __call__(self, data: bytes, options: ReadOptions) -> list[Extract]:
        """Return the texts of a file in reading order.

        Runs in the caged child (:mod:`.cage`); it opens nothing and starts nothing.

        Raises:
            InputError: The file is damaged, locked, or over a limit.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class Document:
    """A text and where it came from.

    Attributes:
        name: For people: the file's name, ``-`` or ``pasted text``; it and the part are kept as
            :func:`~pura.base.numerals.visible` writes them.
        text: The text under audit.
        sha256: Of the original bytes of the whole file.
        size_bytes: Of the original bytes of the whole file.
        encoding: How bytes became text.
        format: Name of the format, e.g. ``docx``; ``text`` for plain and pasted text.
        part: Which part of the file; empty when the file is one text.
        role: One of :data:`ROLES`.
        encoding_source: How the encoding was chosen.
        transforms: What extraction did to the characters.
        notes: What was left out or is uncertain.
        pages: As of an :class:`Extract`.
    """

    name: str
    text: str
    sha256: str
    size_bytes: int
    encoding: str
    format: str = "text"
    part: str = ""
    role: str = MAIN
    encoding_source: str = ""
    transforms: tuple[Transform, ...] = ()
    notes: tuple[Sentence, ...] = ()
    pages: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Make name and part harmless once, for all that will ever show them."""
        object.__setattr__(self, "name", visible(self.name))
        object.__setattr__(self, "part", visible(self.part))

    @property
    def title(self) -> str:
        """Name and part for people."""
        return f"{self.name} · {self.part}" if self.part else self.name

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the text in UTF-8, hex: by it equal texts of different files are known."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class UnreadPart:
    """A part of a file that no text under audit can be made of.

    Attributes:
        part: Which; as of a :class:`Document`.
        role: One of :data:`ROLES`.
        error: Why.
    """

    part: str
    role: str
    error: InputError


@dataclass(frozen=True, kw_only=True)
class Extraction:
    """One file, read: all texts that it holds.

    Attributes:
        name: The file's name.
        sha256: Of its bytes.
        size_bytes: Of its bytes.
        format: Name of the format that it was read as.
        documents: All parts, in reading order; never empty.
        unread: Parts without a usable text.
    """

    name: str
    sha256: str
    size_bytes: int
    format: str
    documents: tuple[Document, ...]
    unread: tuple[UnreadPart, ...] = ()

    @property
    def chosen(self) -> tuple[Document, ...]:
        """The parts that are audited when nobody asks for others."""
        found = tuple(d for d in self.documents if d.role in (MAIN, ATTACHMENT))
        return found or self.documents[:1]

    def missed(self, parts: Sequence[str] = ()) -> tuple[UnreadPart, ...]:
        """Return what would have been chosen, had it been readable.

        Args:
            parts: As for :func:`~pura.documents.reading.choose`.
        """
        if "all" in parts:
            return self.unread
        if parts:
            return tuple(one for one in self.unread if one.part in parts)
        return tuple(one for one in self.unread if one.role in (MAIN, ATTACHMENT))


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


def check(extracts: list[Extract]) -> None:
    """Refuse an answer that is over a limit.

    Raises:
        InputError: Too many parts or characters.
    """
    if len(extracts) > MAX_PARTS:
        raise over("limit.texts", most=MAX_PARTS)
    if sum(len(e.text) for e in extracts) > MAX_TOTAL_CHARACTERS:
        raise over("limit.characters", most=MAX_TOTAL_CHARACTERS)


def memory() -> InputError:
    """Return the refusal of a file that needs too much memory."""
    return over("limit.memory", mebibytes=CHILD_MEMORY_BYTES >> 20)


def deep() -> InputError:
    """Return the refusal of a file that is nested too deeply."""
    return over("limit.deep")


def outside() -> InputError:
    """Return the refusal of a file that made its parser reach outside."""
    return InputError("input.outside", code="input-outside")


def damaged(label: str, why: Phrase | None = None) -> InputError:
    """Return the refusal of a file that its parser cannot understand, with the reason if known."""
    if why is None:
        return InputError("input.damaged", label=label, code="input-damaged")
    return InputError("input.damaged-why", label=label, why=why, code="input-damaged")
