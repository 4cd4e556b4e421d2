"""What an audit did not examine of the file that its text is from.

A finding speaks of the text that was read. Words elsewhere in the file (an attachment, a comment,
text that the page hides) may carry a mark as well, so each such place is listed with its size, and
"no mark found" is not said where they are more than a few per cent of the file.
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
"""Words below which what was left out cannot hold a mark that an audit would find.

The shortest texts that a shipped power table calls found at the policy's rate of 95 % have 30
usable positions, and a word of prose has at most about one."""

QUOTATIONS: Final = "quotations"
REFERENCES: Final = "references"
LEAVE_OUT: Final = (QUOTATIONS, REFERENCES)
"""What a rule that is fixed beforehand may leave out of the examined text."""

_MAX_COUNT: Final = 10**9  # more than any file within the limits of the readers can hold
_MAX_NAME: Final = 120  # characters of a name in a sentence, which holds 200
_MOST_NAMED: Final = 3  # places that the one-line summary names; the list has all
_MOST_LINES: Final = 12  # lines of the list for people; the record holds all


class LeftOutKind(StrEnum):
    """What a place of a file is whose words were not examined.

    Every kind has its words in the catalogue, ``left-out.kind-NAME``.
    """

    MAIN_TEXT = "main-text"
    """Text of the file itself, where another part was asked for."""
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
    """What tracked changes took out."""
    MESSAGE = "message"
    """A message of a chat that no assistant wrote."""
    FIELD = "field"
    """Another field of a record."""
    CELL = "cell"
    """Cells that are too short to be texts of their own."""
    QUOTATION = "quotation"
    """A quotation, left out by a rule that was fixed beforehand."""
    REFERENCES = "references"
    """A list of references, left out by a rule that was fixed beforehand."""
    METADATA = "metadata"
    """Title, subject and the like, which stand beside the text."""
    PAGE = "page"
    """A page without readable text."""
    ENCRYPTED = "encrypted"
    UNREADABLE = "unreadable"
    """Damaged, or of a format without a reader."""
    MISSING_END = "missing-end"
    """The file ends too early; nobody knows how much is missing."""
    PICTURE = "picture"
    """A picture or recording; it holds no words of the file."""


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """Words of a file that were not examined.

    Attributes:
        kind: What the place is.
        words: Number of words there, as :func:`word_count` counts; None where nobody can count
            them, because the place is encrypted, damaged or of a format without a reader.
        letters: Number of letters and digits there; 0 where they cannot be counted.
        location: Where it is, for people: a page, the name of an attachment; empty where the kind
            says it. Control characters are written visibly.
        part: The part that ``--part`` takes to audit it; empty where nothing can be audited.
    """

    kind: LeftOutKind
    words: Annotated[int, whole(0, _MAX_COUNT)] | None
    letters: Annotated[int, whole(0, _MAX_COUNT)] = 0
    location: str = ""
    part: str = ""

    def __post_init__(self) -> None:
        """Make names from the file harmless once, for all that will ever show them."""
        object.__setattr__(self, "location", visible(self.location))
        object.__setattr__(self, "part", visible(self.part))

    @classmethod
    def of_text(cls, kind: LeftOutKind, text: str, **more: str | int) -> LeftOut:
        """Return the entry of a text that is at hand; ``more`` are further attributes."""
        return cls(kind=kind, words=word_count(text), letters=letter_count(text), **more)  # type: ignore[arg-type]

    @property
    def matters(self) -> bool:
        """Whether there are, or may be, words."""
        return self.words is None or self.words > 0

    def name(self, language: str) -> str:
        """Return what it is and where, in words."""
        what = fill(sentence(f"left-out.kind-{self.kind}"), language)
        return f"{what} ({_short(self.location)})" if self.location else what

    def line(self, language: str) -> str:
        """Return what it is, how many words it has and which part takes it."""
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
        start: First character of the text as found; blanks before the piece are part of it.
        end: Character after the last.
        part: The part that ``--part`` takes to audit it.
    """

    kind: LeftOutKind
    start: Annotated[int, whole(0, _MAX_COUNT)]
    end: Annotated[int, whole(0, _MAX_COUNT)]
    part: str = ""


def rule_of(pieces: Iterable[ExcludedPiece]) -> tuple[str, ...]:
    """Return which of :data:`LEAVE_OUT` left these pieces out."""
    kinds = {piece.kind for piece in pieces}
    names = {QUOTATIONS: LeftOutKind.QUOTATION, REFERENCES: LeftOutKind.REFERENCES}
    return tuple(name for name in LEAVE_OUT if names[name] in kinds)


def without_pieces(text: str, pieces: Iterable[ExcludedPiece]) -> str:
    """Return what of a text is examined.

    Args:
        text: The text as found.
        pieces: What is left out of it, rising.
    """
    stretches, start = [], 0
    for piece in pieces:
        stretches.append(text[start : piece.start])
        start = piece.end
    return "".join([*stretches, text[start:]])


def left_out_words(entries: Iterable[LeftOut]) -> int | None:
    """Return how many words were left out; None where nobody can count them."""
    counts = [entry.words for entry in entries]
    return None if None in counts else sum(count for count in counts if count is not None)


def left_out_share(entries: Iterable[LeftOut], examined: int) -> float:
    """Return the share of a file's words that was not examined, as the decision rule takes it.

    Args:
        entries: What was left out.
        examined: Words of the file that were examined.

    Returns:
        From 0 to 1; 1 where the words cannot be counted, since it may be nearly all of them; 0
        where they are fewer than :data:`FEWEST_WORDS`.
    """
    words = left_out_words(entries)
    if words is None:
        return 1.0
    return words / (words + examined) if words >= FEWEST_WORDS else 0.0


def summary_line(entries: Iterable[LeftOut], examined: int, language: str) -> str:
    """Return one line on what was not examined; empty where nothing was left out.

    Args:
        entries: What was left out.
        examined: Words of the file that were examined.
        language: ``en`` or ``de``.
    """
    mattering = sorted(
        (entry for entry in entries if entry.matters),
        key=lambda entry: -(_MAX_COUNT if entry.words is None else entry.words),
    )
    if not mattering:
        return ""
    counts = Counter(entry.name(language) for entry in mattering)  # several quotations are one
    names = [name if count == 1 else f"{name} × {count}" for name, count in counts.items()]
    text = ", ".join([*names[:_MOST_NAMED], "…"] if len(names) > _MOST_NAMED else names)
    what = _short(text)
    counted = sum(entry.words or 0 for entry in mattering)
    if left_out_words(mattering) is None:
        return fill(sentence("left-out.summary-uncounted", what=what), language)
    said = sentence("left-out.summary", words=counted, total=counted + examined, what=what)
    return fill(said, language)


def listed_lines(entries: Iterable[LeftOut], examined: int, language: str) -> list[str]:
    """Return the summary, and below it a line for each place; empty where nothing was left out.

    Args:
        entries: What was left out.
        examined: Words of the file that were examined.
        language: ``en`` or ``de``.
    """
    mattering = [entry for entry in entries if entry.matters]
    if not mattering:
        return []
    lines = [entry.line(language) for entry in mattering[:_MOST_LINES]]
    if (more := len(mattering) - len(lines)) > 0:
        lines.append(fill(sentence("left-out.more", n=more), language))
    return [summary_line(mattering, examined, language), *(f"– {line}" for line in lines)]


# Scripts that write without spaces: as word processors do, each Han, Kana or Yi sign is counted as
# a word; of the South-East Asian ones so many letters as their words have on average.
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
    """Return a name as a sentence can hold it: printable, and not too long."""
    printable = "".join(sign if sign.isprintable() else " " for sign in name).strip() or "–"
    return printable if len(printable) <= _MAX_NAME else f"{printable[: _MAX_NAME - 1]}…"
