"""The texts that a file holds, and what of the file is left out when some of them are audited."""

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
"""Whether a part is audited. Main parts and attached texts are, unless others are asked for; quoted
passages and alternatives only when they are named."""
_DEFAULT_KINDS: Final = {
    MAIN: LeftOutKind.MAIN_TEXT,
    ATTACHMENT: LeftOutKind.ATTACHMENT,
    QUOTED: LeftOutKind.QUOTED_ORIGINAL,
}


@dataclass(frozen=True, kw_only=True)
class Extract:
    """One text that a reader takes out of a file.

    Attributes:
        text: As faithful as the format allows; empty where ``refusal`` says why there is none.
        part: Which part of the file it is; empty when the file is one text.
        role: One of :data:`ROLES`.
        kind: What the part is, where it holds words of its own beside the main text, such as
            comments or an attached document; None for the main text, and for an alternative that
            holds the same words once more, such as a column beside its cells.
        location: Where it stands, for people, e.g. the name of an attached file.
        group: Which text of a collection it belongs to, e.g. a message of a mailbox: parts of other
            groups are not said to be left out. Empty where the file is one text.
        encoding: How bytes became text; ``""`` where the format leaves no choice.
        encoding_source: How the encoding was chosen (:mod:`.encodings`).
        transforms: What was done to the characters.
        notes: What is uncertain, or how the text was read; the record shows them.
        left_out: What the reader found near the text and made no part of.
        pages: Where each page, or slide, begins, in characters; empty where there are none.
        quotations: Stretches of the text that the format itself calls quotations: first character,
            and the one after the last.
        refusal: Why no text could be made of the part, a packed :class:`InputError`; None where
            there is one.
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
    def of(cls, decoded: DecodedText, text: str, part: str = "", **more: Any) -> Extract:
        """Return a text of bytes that were decoded; ``more`` are further attributes."""
        more["notes"] = (*decoded.notes, *more.get("notes", ()))
        encoding, source = decoded.encoding, decoded.source
        return cls(text=text, part=part, encoding=encoding, encoding_source=source, **more)

    def cut_off(self) -> Self:
        """Return the same text as one of a file whose end is missing."""
        missing = LeftOut(kind=LeftOutKind.MISSING_END, words=None)
        return replace(
            self,
            notes=(*self.notes, sentence("reading.truncated")),
            left_out=(*self.left_out, missing),
        )

    @property
    def repeats(self) -> bool:
        """Whether it holds words of the main text once more."""
        return self.role == ALTERNATIVE and self.kind is None


@dataclass(frozen=True, kw_only=True)
class Document(Extract):
    """A text under audit, and where it came from.

    Once it is chosen (:func:`choose`), ``left_out`` lists everything of its file, or of its group,
    that is examined neither with it nor with the parts chosen beside it.

    Attributes:
        name: For people: the file's name, ``-`` or ``pasted text``; it and the part are kept as
            :func:`~pura.base.numerals.visible` writes them.
        sha256: Of the original bytes of the whole file.
        size_bytes: Of the original bytes of the whole file.
        format: Name of the format, e.g. ``docx``; ``text`` for plain and pasted text.
        manifests: Signed manifests of the file; those among the characters are looked for later.
        examined_words: Words of the file, or of its group, in all chosen parts together.
        rule: What a rule leaves out of the text, of :data:`~pura.record.left_out.LEAVE_OUT`; empty
            where no rule was applied.
        excluded: The pieces that it leaves out, rising (:mod:`.leave_out`).
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
        """Make name and part harmless once, for all that will ever show them."""
        object.__setattr__(self, "name", visible(self.name))
        object.__setattr__(self, "part", visible(self.part))

    @property
    def title(self) -> str:
        """Name and part for people."""
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
        """SHA-256 of the text in UTF-8, hex: by it equal texts of different files are known.

        Where files have manifests these count as well, and so do pieces that a rule leaves out.
        """
        own = repr(self.manifests) if self.manifests else ""
        own += repr(self.excluded) if self.excluded else ""
        return hashlib.sha256((self.text + own).encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class UnreadPart:
    """A part of a file that no text under audit can be made of.

    Attributes:
        part: Which; as of a :class:`Document`.
        role: One of :data:`ROLES`.
        error: Why.
        kind: As of an :class:`Extract`.
        location: As of an :class:`Extract`.
        group: As of an :class:`Extract`.
        left_out: As of an :class:`Extract`.
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
        """What is said of it beside the parts that were examined."""
        empty = self.error.key == "input.empty"
        return LeftOut(
            kind=LeftOutKind.UNREADABLE,
            words=0 if empty else None,
            location=self.location or self.part,
        )


@dataclass(frozen=True, kw_only=True)
class _Remainder:
    """What a selection of parts leaves out of a file, and how many words it takes."""

    left_out: tuple[LeftOut, ...]
    examined_words: int


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
    def usual(self) -> tuple[Document, ...]:
        """The parts that are audited when nobody asks for others."""
        usual = tuple(d for d in self.documents if d.role in (MAIN, ATTACHMENT))
        return usual or self.documents[:1]

    @cached_property
    def chosen(self) -> tuple[Document, ...]:
        """The usual parts as they are audited, see :meth:`selected`."""
        return self.selected(self.usual)

    def missed(self, parts: Sequence[str] = ()) -> tuple[UnreadPart, ...]:
        """Return what would have been chosen, had it been readable.

        Args:
            parts: As for :func:`choose`.
        """
        if "all" in parts:
            return self.unread
        if parts:
            return tuple(one for one in self.unread if one.part in parts)
        return tuple(one for one in self.unread if one.role in (MAIN, ATTACHMENT))

    def selected(self, chosen: Iterable[Document]) -> tuple[Document, ...]:
        """Return documents of this file as they are audited together.

        Each is told what of the file is examined with none of them, and how many words are.
        """
        selection = list(chosen)
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
        """The parts that hold words of their own, by their group."""
        groups: dict[str, list[Document | UnreadPart]] = {}
        parts: list[Document | UnreadPart] = [*self.documents, *self.unread]
        for part in parts:
            if isinstance(part, UnreadPart) or not part.repeats or part.left_out:
                groups.setdefault(part.group, []).append(part)
        return groups

    def _remainder(self, group: str, selection: Sequence[Document]) -> _Remainder:
        """Return what of a group, and of the file as a whole, a selection leaves out.

        Args:
            group: The group; empty for a part that belongs to the whole file.
            selection: All parts that are examined.
        """
        if group:
            parts = [*self._grouped.get(group, ()), *self._grouped.get("", ())]
        else:
            parts = [part for parts in self._grouped.values() for part in parts]
        own = [document for document in selection if group in ("", document.group)]
        taken = {id(document) for document in own}
        named = {document.part for document in own if document.part}
        examined = sum(document.words for document in own if not document.repeats)
        # A chosen alternative stands for as many words of main text that was not chosen.
        repeated = sum(document.words for document in own if document.repeats)
        entries: list[LeftOut] = []
        for part in parts:
            entries += [entry for entry in part.left_out if entry.part not in named]
            if isinstance(part, UnreadPart):
                entries.append(part.entry)
            elif id(part) not in taken and not part.repeats:
                words = part.words
                if part.kind is None and part.role == MAIN:
                    covered = min(repeated, words)
                    repeated -= covered
                    examined += covered
                    words -= covered
                if words:
                    entries.append(_entry(part, words))
        return _Remainder(left_out=tuple(entries), examined_words=examined)


def _entry(document: Document, words: int) -> LeftOut:
    return LeftOut(
        kind=document.kind or _DEFAULT_KINDS[document.role],
        words=words,
        letters=letter_count(document.text),
        location=document.location,
        part=document.part,
    )


def choose(extraction: Extraction, parts: Sequence[str]) -> tuple[Document, ...]:
    """Return the parts that were named; ``all`` is every part, nothing is the usual ones.

    Raises:
        InputError: There is no such part.
    """
    if not parts:
        return extraction.chosen
    if "all" in parts:
        return extraction.selected(extraction.documents)
    known = {d.part for d in extraction.documents} | {u.part for u in extraction.unread}
    if any(part not in known for part in parts):
        names = [d.part or phrase("input.whole") for d in extraction.documents]
        raise InputError("input.part", shown=quoted(names, most=12), code="input-part")
    return extraction.selected(d for d in extraction.documents if d.part in parts)
