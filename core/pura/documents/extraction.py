"""The texts in a file, and the parts of the file that an audit of some of them leaves out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Self

from pura.base.catalogue import phrase, quoted
from pura.base.errors import InputError
from pura.base.numerals import visible
from pura.documents.encodings import DecodedText
from pura.record.left_out import (
    ExcludedPiece,
    LeftOut,
    LeftOutKind,
    letter_count,
    without_pieces,
    word_count,
)
from pura.record.provenance import ManifestFacts
from pura.record.transforms import Transform
from pura.words.sentences import Sentence, sentence

MAIN: Final = "main"
ATTACHMENT: Final = "attachment"
QUOTED: Final = "quoted"
ALTERNATIVE: Final = "alternative"
ROLES: Final = (MAIN, ATTACHMENT, QUOTED, ALTERNATIVE)
"""Roles of a part. Main parts and attachments are audited unless others are requested; quoted
passages and alternatives are audited only when they are named."""
_DEFAULT_KINDS: Final = {
    MAIN: LeftOutKind.MAIN_TEXT,
    ATTACHMENT: LeftOutKind.ATTACHMENT,
    QUOTED: LeftOutKind.QUOTED_ORIGINAL,
}


@dataclass(frozen=True, kw_only=True)
class Extract:
    """One text that a reader extracts from a file.

    Attributes:
        text: As faithful as the format allows; empty if ``refusal`` gives the reason.
        part: Name of the part of the file; empty if the file is one text.
        role: One of :data:`ROLES`.
        kind: Kind of a part with words that are not in the main text, such as comments or an
            attached document. None for the main text, and for an alternative that repeats words of
            the main text, such as a column next to its cells.
        location: Where the part is, for people, e.g. the name of an attached file.
        group: Text of a collection that the part belongs to, e.g. a message of a mailbox. Parts of
            other groups are not listed as left out. Empty if the file is one text.
        encoding: Encoding of the bytes; ``""`` if the format leaves no choice.
        encoding_source: How the encoding was chosen (:mod:`.encodings`).
        transforms: Changes that were made to the characters.
        notes: Remarks for the record on how the text was read, and what is uncertain.
        left_out: Content near the text that is not a part.
        pages: Start of each page or slide, in characters; empty if there are none.
        quotations: Stretches of the text that the format marks as quotations: first character, and
            the one after the last.
        refusal: Packed :class:`InputError` if the part has no readable text; else None.
    """

    text: str
    part: str = ""
    role: str = MAIN
    kind: LeftOutKind | None = None
    location: str = ""
    group: str = ""
    encoding: str = ""
    encoding_source: str = ""
    transforms: tuple[Transform, ...] = ()
    notes: tuple[Sentence, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    pages: tuple[int, ...] = ()
    quotations: tuple[tuple[int, int], ...] = ()
    refusal: dict[str, Any] | None = None

    @classmethod
    def of(cls, decoded: DecodedText, text: str, part: str = "", **attributes: Any) -> Extract:
        """Return the extract of a decoded text; ``attributes`` sets further attributes."""
        attributes["notes"] = (*decoded.notes, *attributes.get("notes", ()))
        encoding, source = decoded.encoding, decoded.source
        return cls(text=text, part=part, encoding=encoding, encoding_source=source, **attributes)

    def cut_off(self) -> Self:
        """Return the same extract, with a note that the end of the file is missing."""
        missing = LeftOut(kind=LeftOutKind.MISSING_END, words=None)
        return replace(
            self,
            notes=(*self.notes, sentence("reading.truncated")),
            left_out=(*self.left_out, missing),
        )

    @property
    def repeats(self) -> bool:
        """Whether the part repeats words of the main text."""
        return self.role == ALTERNATIVE and self.kind is None


@dataclass(frozen=True, kw_only=True)
class Document(Extract):
    """A text under audit, and its source.

    After :func:`choose`, ``left_out`` lists everything in the file, or in the group of the text,
    that is in none of the chosen parts.

    Attributes:
        name: Name for people: the file's name, ``-`` or ``pasted text``. Name and part are stored
            as :func:`~pura.base.numerals.visible` writes them.
        sha256: SHA-256 of the original bytes of the file, in hexadecimal.
        size_bytes: Size of the original file.
        format: Name of the format, e.g. ``docx``; ``text`` for plain and pasted text.
        manifests: Signed manifests of the file. Manifests among the characters are found later.
        examined_words: Words in all chosen parts of the file, or of its group.
        rule: Rules that were applied, of :data:`~pura.record.left_out.LEAVE_OUT`.
        excluded: Pieces that the rules leave out, in the order of the text (:mod:`.leave_out`).
    """

    name: str
    sha256: str
    size_bytes: int
    format: str = "text"
    manifests: tuple[ManifestFacts, ...] = ()
    examined_words: int = 0
    rule: tuple[str, ...] = ()
    excluded: tuple[ExcludedPiece, ...] = ()

    def __post_init__(self) -> None:
        """Escape control characters in name and part once, before anything shows them."""
        object.__setattr__(self, "name", visible(self.name))
        object.__setattr__(self, "part", visible(self.part))

    @property
    def title(self) -> str:
        """Name and part, as shown to people."""
        return f"{self.name} · {self.part}" if self.part else self.name

    @cached_property
    def examined_text(self) -> str:
        """The text without what a rule leaves out of it."""
        return without_pieces(self.text, self.excluded)

    @cached_property
    def words(self) -> int:
        """Number of words of the text that are examined."""
        return word_count(self.examined_text)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the text in UTF-8, in hexadecimal; equal for equal texts of different files.

        Manifests of the file and pieces that a rule leaves out are part of the digest.
        """
        identity = repr(self.manifests) if self.manifests else ""
        identity += repr(self.excluded) if self.excluded else ""
        return hashlib.sha256((self.text + identity).encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class UnreadPart:
    """A part of a file without a usable text.

    Attributes:
        part: Name of the part, as in :class:`Document`.
        role: One of :data:`ROLES`.
        error: The reason.
        kind: As in :class:`Extract`.
        location: As in :class:`Extract`.
        group: As in :class:`Extract`.
        left_out: As in :class:`Extract`.
    """

    part: str
    role: str
    error: InputError
    kind: LeftOutKind | None = None
    location: str = ""
    group: str = ""
    left_out: tuple[LeftOut, ...] = ()

    @property
    def entry(self) -> LeftOut:
        """Entry for this part in the list of content that was left out."""
        empty = self.error.key == "input.empty"
        return LeftOut(
            kind=LeftOutKind.UNREADABLE,
            words=0 if empty else None,
            location=self.location or self.part,
        )


@dataclass(frozen=True, kw_only=True)
class _Remainder:
    """Content of a file that a selection of parts leaves out, and the words it examines."""

    left_out: tuple[LeftOut, ...]
    examined_words: int


@dataclass(frozen=True, kw_only=True)
class Extraction:
    """All texts of a file.

    Attributes:
        name: The file's name.
        sha256: SHA-256 of the file, in hexadecimal.
        size_bytes: Size of the file.
        format: Name of the format that the file was read as.
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
    def usual(self) -> tuple[Document, ...]:
        """The parts that are audited by default."""
        usual = tuple(d for d in self.documents if d.role in (MAIN, ATTACHMENT))
        return usual or self.documents[:1]

    @cached_property
    def chosen(self) -> tuple[Document, ...]:
        """The parts that are audited by default, prepared by :meth:`selected`."""
        return self.selected(self.usual)

    def missed(self, parts: Sequence[str] = ()) -> tuple[UnreadPart, ...]:
        """Return the unreadable parts that would have been chosen otherwise.

        Args:
            parts: As for :func:`choose`.
        """
        if "all" in parts:
            return self.unread
        if parts:
            return tuple(part for part in self.unread if part.part in parts)
        return tuple(part for part in self.unread if part.role in (MAIN, ATTACHMENT))

    def selected(self, documents: Iterable[Document]) -> tuple[Document, ...]:
        """Prepare documents of this file for a joint audit.

        Each lists the content of the file that is in none of them, and the number of words in all
        of them.
        """
        selection = list(documents)
        remainders: dict[str, _Remainder] = {}
        for group in dict.fromkeys(document.group for document in selection):
            remainders[group] = self._remainder(group, selection)
        return tuple(
            replace(
                document,
                left_out=remainders[document.group].left_out,
                examined_words=remainders[document.group].examined_words,
            )
            for document in selection
        )

    @cached_property
    def _grouped(self) -> dict[str, list[Document | UnreadPart]]:
        """The parts that do not repeat other parts, by group."""
        groups: dict[str, list[Document | UnreadPart]] = {}
        parts: list[Document | UnreadPart] = [*self.documents, *self.unread]
        for part in parts:
            if isinstance(part, UnreadPart) or not part.repeats or part.left_out:
                groups.setdefault(part.group, []).append(part)
        return groups

    def _remainder(self, group: str, selection: Sequence[Document]) -> _Remainder:
        """Return the content of a group, and of the whole file, that a selection leaves out.

        Args:
            group: The group; empty for a part that belongs to the whole file.
            selection: All parts that are examined.
        """
        if group:
            parts = [*self._grouped.get(group, ()), *self._grouped.get("", ())]
        else:
            parts = [part for parts in self._grouped.values() for part in parts]
        relevant = [document for document in selection if group in ("", document.group)]
        examined_ids = {id(document) for document in relevant}
        part_names = {document.part for document in relevant if document.part}
        examined = sum(document.words for document in relevant if not document.repeats)
        # A chosen alternative replaces as many words of main text that was not chosen.
        repeated = sum(document.words for document in relevant if document.repeats)
        entries: list[LeftOut] = []
        for part in parts:
            entries += [entry for entry in part.left_out if entry.part not in part_names]
            if isinstance(part, UnreadPart):
                entries.append(part.entry)
            elif id(part) not in examined_ids and not part.repeats:
                unexamined_words = part.words
                if part.kind is None and part.role == MAIN:
                    covered = min(repeated, unexamined_words)
                    repeated -= covered
                    examined += covered
                    unexamined_words -= covered
                if unexamined_words:
                    entries.append(_entry(part, unexamined_words))
        return _Remainder(left_out=tuple(entries), examined_words=examined)


def _entry(document: Document, word_total: int) -> LeftOut:
    return LeftOut(
        kind=document.kind or _DEFAULT_KINDS[document.role],
        words=word_total,
        letters=letter_count(document.text),
        location=document.location,
        part=document.part,
    )


def choose(extraction: Extraction, parts: Sequence[str]) -> tuple[Document, ...]:
    """Return the named parts of a file, prepared for an audit.

    Args:
        extraction: The file.
        parts: Names of parts; ``all`` for every part; empty for the default parts.

    Raises:
        InputError: There is no such part.
    """
    if not parts:
        return extraction.chosen
    if "all" in parts:
        return extraction.selected(extraction.documents)
    part_names = {d.part for d in extraction.documents} | {u.part for u in extraction.unread}
    if any(part not in part_names for part in parts):
        names = [d.part or phrase("input.whole") for d in extraction.documents]
        raise InputError("input.part", shown=quoted(names, most=12), code="input-part")
    return extraction.selected(d for d in extraction.documents if d.part in parts)
