"""Parts of a file that an audit did not examine.

A finding concerns the text that was read. Words elsewhere in the file (an attachment, a comment,
hidden text) may carry a mark as well, so each such part is listed with its size. If these words are
more than a few per cent of the file, "no mark found" is not stated.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from pura.base.decoder import whole
from pura.base.numerals import visible
from pura.words.sentences import Sentence, fill, sentence

FEWEST_WORDS: Final = 30
"""Fewer unexamined words than this cannot hold a mark that an audit would find.

The shortest texts for which a shipped power table gives the policy's rate of 95 % have 30 usable
positions, and a word of prose has about one at most."""

QUOTATIONS: Final = "quotations"
REFERENCES: Final = "references"
LEAVE_OUT: Final = (QUOTATIONS, REFERENCES)
"""Parts that a rule fixed beforehand may exclude from the examined text."""

_MAX_COUNT: Final = 10**9  # more words than any file that the readers accept can hold
_MAX_NAME: Final = 120  # characters of a name in a sentence, which holds 200
_MOST_NAMED: Final = 3  # parts that the one-line summary names; the list has all
_MOST_LINES: Final = 12  # lines of the list for people; the record holds all


class LeftOutKind(StrEnum):
    """Kind of a part of a file that was not examined.

    The catalogue has a text for every kind, ``left-out.kind-NAME``.
    """

    MAIN_TEXT = "main-text"
    """The main text of the file, if another part was requested."""
    ATTACHMENT = "attachment"
    EMBEDDED_DOCUMENT = "embedded-document"
    COMMENT = "comment"
    TEXT_BOX = "text-box"
    DIAGRAM = "diagram"
    """Words in drawings: diagrams (SmartArt), titles and labels of charts."""
    NOTE = "note"
    """Footnotes and endnotes."""
    HIDDEN_TEXT = "hidden-text"
    HEADER = "header"
    """Headers and footers of pages."""
    QUOTED_ORIGINAL = "quoted-original"
    """The message that an e-mail answers or forwards."""
    SIGNATURE = "signature"
    OTHER_VERSION = "other-version"
    """The other half of a mail: the same message as plain text or as HTML."""
    FORM_FIELD = "form-field"
    SHEET = "sheet"
    SLIDE = "slide"
    SPEAKER_NOTES = "speaker-notes"
    DELETED_TEXT = "deleted-text"
    """Text that tracked changes deleted."""
    MESSAGE = "message"
    """A message of a chat that no assistant wrote."""
    FIELD = "field"
    """Another field of a record."""
    CELL = "cell"
    """Cells that are too short to be separate texts."""
    QUOTATION = "quotation"
    """A quotation, left out by a rule that was fixed beforehand."""
    REFERENCES = "references"
    """A list of references, left out by a rule that was fixed beforehand."""
    METADATA = "metadata"
    """Title, subject and similar properties of the file."""
    PAGE = "page"
    """A page without readable text."""
    ENCRYPTED = "encrypted"
    UNREADABLE = "unreadable"
    """Damaged, or of a format without a reader."""
    MISSING_END = "missing-end"
    """The file ends too early; the missing amount is unknown."""
    PICTURE = "picture"
    """A picture or recording; it holds no words of the file."""


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """Words of a file that were not examined.

    Attributes:
        kind: Kind of the part.
        words: Number of words, as :func:`word_count` counts; None if they cannot be counted,
            because the part is encrypted, damaged or of a format without a reader.
        letters: Number of letters and digits; 0 if they cannot be counted.
        location: Location for people, such as a page or the name of an attachment; empty if the
            kind is enough. Control characters are written visibly.
        part: The value of ``--part`` that audits it; empty if it cannot be audited.
    """

    kind: LeftOutKind
    words: Annotated[int, whole(0, _MAX_COUNT)] | None
    letters: Annotated[int, whole(0, _MAX_COUNT)] = 0
    location: str = ""
    part: str = ""

    def __post_init__(self) -> None:
        """Make names from the file safe to display."""
        object.__setattr__(self, "location", visible(self.location))
        object.__setattr__(self, "part", visible(self.part))

    @classmethod
    def of_text(cls, kind: LeftOutKind, text: str, **attributes: str | int) -> LeftOut:
        """Return the entry for a text; ``attributes`` are further attributes."""
        return cls(kind=kind, words=word_count(text), letters=letter_count(text), **attributes)  # type: ignore[arg-type]

    @property
    def matters(self) -> bool:
        """Whether the part has, or may have, words."""
        return self.words is None or self.words > 0

    def name(self, language: str) -> str:
        """Return kind and location for people."""
        label = fill(sentence(f"left-out.kind-{self.kind}"), language)
        return f"{label} ({_short(self.location)})" if self.location else label

    def line(self, language: str) -> str:
        """Return kind, location, number of words and the value of ``--part``."""
        values: dict[str, str | int | float] = {"what": _short(self.name(language))}
        if self.words is None:
            return fill(Sentence(key="left-out.entry-uncounted", values=values), language)
        values["words"] = self.words
        if not self.part:
            return fill(Sentence(key="left-out.entry", values=values), language)
        values["part"] = _short(self.part)
        return fill(Sentence(key="left-out.entry-part", values=values), language)


@dataclass(frozen=True, kw_only=True)
class ExcludedPiece:
    """A piece of the text as found that a rule fixed beforehand left out of the examined text.

    Attributes:
        kind: ``quotation`` or ``references``.
        start: First character, counted in the text as found; includes blanks before the piece.
        end: Character after the last.
        part: The value of ``--part`` that audits it.
    """

    kind: LeftOutKind
    start: Annotated[int, whole(0, _MAX_COUNT)]
    end: Annotated[int, whole(0, _MAX_COUNT)]
    part: str = ""


def rule_of(pieces: Iterable[ExcludedPiece]) -> tuple[str, ...]:
    """Return the rules of :data:`LEAVE_OUT` that excluded these pieces."""
    kinds = {piece.kind for piece in pieces}
    names = {QUOTATIONS: LeftOutKind.QUOTATION, REFERENCES: LeftOutKind.REFERENCES}
    return tuple(name for name in LEAVE_OUT if names[name] in kinds)


def without_pieces(text: str, pieces: Iterable[ExcludedPiece]) -> str:
    """Return the examined part of a text.

    Args:
        text: The text as found.
        pieces: The excluded pieces, in order.
    """
    stretches, start = [], 0
    for piece in pieces:
        stretches.append(text[start : piece.start])
        start = piece.end
    return "".join([*stretches, text[start:]])


def left_out_words(entries: Iterable[LeftOut]) -> int | None:
    """Return how many words were not examined; None if they cannot be counted."""
    counts = [entry.words for entry in entries]
    return None if None in counts else sum(count for count in counts if count is not None)


def left_out_share(entries: Iterable[LeftOut], examined: int) -> float:
    """Return the share of a file's words that was not examined, for the decision rule.

    Args:
        entries: Parts that were not examined.
        examined: Number of examined words of the file.

    Returns:
        From 0 to 1; 1 if the words cannot be counted, since they may be nearly all; 0 if they are
        fewer than :data:`FEWEST_WORDS`.
    """
    omitted = left_out_words(entries)
    if omitted is None:
        return 1.0
    return omitted / (omitted + examined) if omitted >= FEWEST_WORDS else 0.0


def summary_line(entries: Iterable[LeftOut], examined: int, language: str) -> str:
    """Return one line on the parts that were not examined; empty if there are none.

    Args:
        entries: Parts that were not examined.
        examined: Number of examined words of the file.
        language: ``en`` or ``de``.
    """
    mattering = sorted(
        (entry for entry in entries if entry.matters),
        key=lambda entry: -(_MAX_COUNT if entry.words is None else entry.words),
    )
    if not mattering:
        return ""
    counts = Counter(entry.name(language) for entry in mattering)  # equal names are joined
    names = [name if count == 1 else f"{name} × {count}" for name, count in counts.items()]
    text = ", ".join([*names[:_MOST_NAMED], "…"] if len(names) > _MOST_NAMED else names)
    listing = _short(text)
    counted = sum(entry.words or 0 for entry in mattering)
    if left_out_words(mattering) is None:
        return fill(sentence("left-out.summary-uncounted", what=listing), language)
    summary = sentence("left-out.summary", words=counted, total=counted + examined, what=listing)
    return fill(summary, language)


def listed_lines(entries: Iterable[LeftOut], examined: int, language: str) -> list[str]:
    """Return the summary and a line for each part; an empty list if there are none.

    Args:
        entries: Parts that were not examined.
        examined: Number of examined words of the file.
        language: ``en`` or ``de``.
    """
    mattering = [entry for entry in entries if entry.matters]
    if not mattering:
        return []
    lines = [entry.line(language) for entry in mattering[:_MOST_LINES]]
    if (omitted := len(mattering) - len(lines)) > 0:
        lines.append(fill(sentence("left-out.more", n=omitted), language))
    return [summary_line(mattering, examined, language), *(f"– {line}" for line in lines)]


# Scripts without spaces: as in word processors, each Han, Kana or Yi character counts as a word; of
# South-East Asian scripts, as many letters as their words have on average.
_SIGN: Final = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua48c\uf900-\ufaff"
_SIGN_BEYOND: Final = "\U00020000-\U0003ffff"
_UNSPACED: Final = "\u0e00-\u0edf\u1000-\u109f\u1780-\u17ff\u1950-\u19df"
_WORD: Final = re.compile(
    f"[{_SIGN}{_SIGN_BEYOND}]|[{_UNSPACED}]{{1,5}}|"
    f"(?:(?![{_SIGN}{_SIGN_BEYOND}{_UNSPACED}])[^\\W_])+"
    f"(?:['\u2019\u00ad-](?:(?![{_SIGN}{_SIGN_BEYOND}{_UNSPACED}])[^\\W_])+)*"
)
_LETTER: Final = re.compile(r"[^\W_]")


def word_count(text: str) -> int:
    """Return how many words a text has.

    A word is a run of letters and digits, with apostrophes and hyphens inside; each Chinese or
    Japanese character is one.
    """
    return sum(1 for _ in _WORD.finditer(text))


def letter_count(text: str) -> int:
    """Return how many letters and digits a text has."""
    return sum(1 for _ in _LETTER.finditer(text))


def _short(name: str) -> str:
    """Return a name that fits into a sentence: printable, and not too long."""
    printable = "".join(sign if sign.isprintable() else " " for sign in name).strip() or "–"
    return printable if len(printable) <= _MAX_NAME else f"{printable[: _MAX_NAME - 1]}…"
