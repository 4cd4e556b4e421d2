"""Quotations and lists of references, left out of the examined text by a rule fixed beforehand.

The rule (``leave_out`` of the policy) depends on characters and on the paragraph styles of the
format, never on a key. The examined text is therefore chosen before any evidence exists, and every
bound holds for it as for any other text. Each piece keeps its position in the text as found, is
listed with its words, and becomes a separate part that can be examined.

A quotation is a stretch of at least :data:`LEAST_WORDS` words between quotation marks within one
paragraph, a run of lines that begin with ``>``, an environment of LaTeX, or a paragraph that its
format marks as a quotation. A list of references begins with its heading, which is a line by
itself, and ends at the end of the text or at the next heading of another kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pura.documents.extraction import ATTACHMENT, MAIN, QUOTED, Document, Extraction
from pura.record.left_out import (
    QUOTATIONS,
    REFERENCES,
    ExcludedPiece,
    LeftOut,
    LeftOutKind,
    word_count,
)
from pura.words.sentences import Sentence, sentence

LEAST_WORDS: Final = 15
"""Least number of words between quotation marks that count as a quotation.

Titles, terms and most lines of dialogue are shorter. A shorter stretch could hardly weaken a mark,
or carry one that an audit would detect."""

_NAMES: Final = {LeftOutKind.QUOTATION: "quotation", LeftOutKind.REFERENCES: "references"}
_QUOTATIONS_NOTE: Final = "reading.rule-quotations"
_REFERENCES_NOTE: Final = "reading.rule-references"
_RULE_NOTES: Final = (_QUOTATIONS_NOTE, _REFERENCES_NOTE)
_PARAGRAPH_END: Final = re.compile(r"\n[ \t]*\n")
_CLOSING: Final = {
    "“": "”",
    "„": "“”",
    "‟": "”",
    "«": "»",
    "»": "«",
    "‹": "›",
    "›": "‹",
    "‘": "’",
    "‚": "‘’",
    "「": "」",
    "『": "』",
    "《": "》",
    '"': '"',
}
"""Closing quotation marks for each opening one; German books use « and » the other way round."""
_MARK: Final = re.compile(f"[{''.join({*_CLOSING, *''.join(_CLOSING.values())})}]")
_BLANK_INSIDE: Final = "«‹"
"""Opening marks that French typography puts a blank after."""
_QUOTED_LINES: Final = re.compile(r"(?:^[ \t]{0,3}>[^\n]*(?:\n|\Z))+", re.MULTILINE)
_QUOTE_SIGN: Final = re.compile(r"^[ \t]{0,3}>[> \t]*", re.MULTILINE)
_LATEX: Final = re.compile(r"\\(begin|end)\{(quote|quotation|displayquote|verse)\*?\}")


@dataclass(frozen=True, kw_only=True)
class _Stretch:
    """A stretch of a text that a rule leaves out.

    Attributes:
        kind: Quotation or list of references.
        start: First character, including quotation marks.
        end: Character after the last.
        inner: The text inside, without quotation marks.
    """

    kind: LeftOutKind
    start: int
    end: int
    inner: str


def apply_rule(document: Document, rule: Sequence[str]) -> tuple[Document, tuple[Document, ...]]:
    """Apply a rule to a text.

    Args:
        document: The text, as it was read.
        rule: Values of :data:`~pura.record.left_out.LEAVE_OUT`.

    Returns:
        The text with its excluded pieces, and these pieces as separate texts. If nothing would be
        left to examine, nothing is excluded.
    """
    text, names = document.text, tuple(rule)
    stretches = _without_overlaps(_stretches(document, names))
    notes = tuple(note for note in document.notes if note.key not in _RULE_NOTES)
    uncut = replace(document, rule=names, excluded=(), notes=notes)
    pieces: list[ExcludedPiece] = []
    parts: list[Document] = []
    counts = dict.fromkeys(_NAMES, 0)
    for stretch in stretches:
        counts[stretch.kind] += 1
        number = f" {counts[stretch.kind]}" if stretch.kind is LeftOutKind.QUOTATION else ""
        before = f"{document.part}, " if document.part else ""
        part = f"{before}{_NAMES[stretch.kind]}{number}"
        start, end = _with_blanks(text, stretch.start, stretch.end)
        piece = ExcludedPiece(kind=stretch.kind, start=start, end=end, part=part)
        pieces.append(piece)
        parts.append(
            replace(
                uncut,
                text=stretch.inner,
                part=part,
                role=QUOTED,
                kind=stretch.kind,
                transforms=(),
                left_out=(),
                pages=(),
                quotations=(),
                manifests=(),
            )
        )
    cut = replace(uncut, excluded=tuple(pieces), notes=(*uncut.notes, *_notes(counts)))
    if not word_count(cut.examined_text):
        return uncut, ()
    return cut, tuple(parts)


def _notes(counts: dict[LeftOutKind, int]) -> Iterator[Sentence]:
    """Yield a note for each kind of excluded piece."""
    if counts[LeftOutKind.QUOTATION]:
        yield sentence(_QUOTATIONS_NOTE, n=counts[LeftOutKind.QUOTATION])
    if counts[LeftOutKind.REFERENCES]:
        yield sentence(_REFERENCES_NOTE)


def by_rule(extraction: Extraction, rule: Sequence[str]) -> Extraction:
    """Apply a rule to the main texts and attachments of a file."""
    if not rule:
        return extraction
    documents: list[Document] = []
    for document in extraction.documents:
        if document.role in (MAIN, ATTACHMENT):
            cut, parts = apply_rule(document, rule)
            documents += [cut, *parts]
        else:
            documents.append(document)
    return replace(extraction, documents=tuple(documents))


def under_rule(document: Document, rule: Sequence[str]) -> Document:
    """Apply a rule to a chosen text, unless it was read under this rule.

    This is the last check before an audit, for texts that were never a file, and for files that
    were read before the rule was known.
    """
    if document.rule == tuple(rule) or document.kind in _NAMES:
        return document
    before = {piece.part for piece in document.excluded}
    listed = [entry for entry in document.left_out if entry.part not in before]
    cut, parts = apply_rule(replace(document, excluded=()), rule)
    # A part that was requested by name has no named pieces when the file is read again.
    has_part_names = document.role in (MAIN, ATTACHMENT)
    listed += [
        LeftOut.of_text(part.kind, part.text, part=part.part if has_part_names else "")
        for part in parts
        if part.kind is not None
    ]
    other_words = max(0, document.examined_words - document.words)
    return replace(cut, left_out=tuple(listed), examined_words=other_words + cut.words)


def parts_of(document: Document, rule: Sequence[str]) -> tuple[Document, ...]:
    """Return the pieces that a rule leaves out of a text, as separate texts."""
    return apply_rule(document, rule)[1]


def _stretches(document: Document, rule: tuple[str, ...]) -> Iterator[_Stretch]:
    text = document.text
    references = None
    if REFERENCES in rule and (references := _references(text)) is not None:
        yield references
    if QUOTATIONS not in rule:
        return
    for start, end in document.quotations:
        yield from _quotation(text, start, end, text[start:end])
    for lines in _QUOTED_LINES.finditer(text):
        yield from _quotation(text, *lines.span(), _QUOTE_SIGN.sub("", lines[0]))
    for start, end, inner in _environments(text):
        yield from _quotation(text, start, end, inner)
    # Titles of works in a list of references stand between marks as well.
    before = len(text) if references is None else references.start
    for start, end, inner in _between_marks(text[:before]):
        if word_count(inner) >= LEAST_WORDS:
            yield from _quotation(text, start, end, inner)


def _quotation(text: str, start: int, end: int, inner: str) -> Iterator[_Stretch]:
    """Yield a quotation without blanks around it, unless it has no words."""
    if word_count(inner):
        stretch = text[start:end]
        start += len(stretch) - len(stretch.lstrip())
        end = start + len(stretch.strip())
        yield _Stretch(kind=LeftOutKind.QUOTATION, start=start, end=end, inner=inner.strip())


def _environments(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and content of LaTeX's environments for quotations."""
    opened: re.Match[str] | None = None
    for command in _LATEX.finditer(text):
        if command[1] == "begin":
            opened = opened or command
        elif opened is not None and command[2] == opened[2]:
            yield opened.start(), command.end(), text[opened.end() : command.start()]
            opened = None


def _between_marks(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and content of stretches between quotation marks, the outermost ones.

    Each stands within its paragraph. A quotation of several paragraphs, each of which begins with
    a mark while only the last one ends with one, is a stretch for each of them.
    """
    begin = 0
    for end in (*_PARAGRAPH_END.finditer(text), None):
        limit = len(text) if end is None else end.start()
        following = "" if end is None else text[end.end() : end.end() + 1]
        previous_end = begin
        for start, stop, closed in sorted(_pairs(text, begin, limit, following)):
            if start >= previous_end:
                yield start, stop, text[start + 1 : stop - closed]
                previous_end = stop
        begin = limit


def _pairs(text: str, begin: int, limit: int, following: str) -> Iterator[tuple[int, int, bool]]:
    """Yield start and end of the quotations in a paragraph, and whether a mark closes each.

    Args:
        text: The text.
        begin: First character of the paragraph.
        limit: Character after its last.
        following: First character of the next paragraph.
    """
    opened: list[tuple[str, int]] = []
    awaited = dict.fromkeys("".join(_CLOSING.values()), 0)
    for mark in _MARK.finditer(text, begin, limit):
        sign, position = mark[0], mark.start()
        if awaited.get(sign) and _closes(text, position):
            while opened:
                opener, start = opened.pop()
                for closer in _CLOSING[opener]:
                    awaited[closer] -= 1
                if sign in _CLOSING[opener]:
                    yield start, position + 1, True
                    break
        elif sign in _CLOSING and _opens(text, position):
            opened.append((sign, position))
            for closer in _CLOSING[sign]:
                awaited[closer] += 1
    for opener, start in opened:
        if opener == following and opener != '"':
            yield start, begin + len(text[begin:limit].rstrip()), False
            break


def _opens(text: str, position: int) -> bool:
    """Return whether a mark may open a quotation: a word follows it, and none precedes it."""
    following = text[position + 1 : position + 2] or " "
    if position and text[position - 1].isalnum():
        return False
    return text[position] in _BLANK_INSIDE or not following.isspace()


def _closes(text: str, position: int) -> bool:
    """Return whether a mark may close a quotation, and is not an apostrophe inside a word."""
    before, following = text[position - 1 : position], text[position + 1 : position + 2]
    if text[position] == '"':
        return not before.isspace()
    return text[position] not in "’‘" or not (before.isalnum() and following.isalnum())


_TITLES: Final = frozenset(
    {
        *("references", "references cited", "list of references", "reference list"),
        *("bibliography", "selected bibliography", "works cited", "literature", "sources"),
        *("literature cited", "literatur", "literaturverzeichnis", "literaturliste"),
        *("literaturangaben", "quellen", "quellenverzeichnis", "quellenangaben"),
        *("literatur- und quellenverzeichnis", "quellen- und literaturverzeichnis"),
        *("bibliografie", "bibliographie", "références", "références bibliographiques"),
        *("referencias", "referencias bibliográficas", "bibliografía", "bibliografia"),
        *("riferimenti", "riferimenti bibliografici", "referências"),
        *("referências bibliográficas", "referenties", "literatuur", "literatuurlijst"),
        *("bronnen", "referenser", "referanser", "referencer", "litteratur", "litteraturliste"),
        *("参考文献", "參考文獻", "引用文献"),
    }
)
"""Headings of lists of references, in lower case."""
_OTHER_TITLES: Final = (
    *("appendix", "appendices", "anhang", "anhänge", "annex", "annexe", "apéndice", "appendice"),
    *("acknowledg", "danksagung", "remerciements", "about the author", "über die autor"),
    *("supplementary", "glossar", "index", "eidesstattliche", "selbstständigkeitserklärung"),
    *("selbständigkeitserklärung", "abbildungsverzeichnis", "list of figures", "funding"),
)
"""Beginnings of headings that may follow a list of references, in lower case."""
_LONGEST_TITLE: Final = 80  # characters of a line that may be a heading
_BEFORE_TITLE: Final = re.compile(
    r"#{1,6}|\\(?:sub)*section\*?\{|(?:\d{1,2}|[ivx]{1,5})(?:\.\d{1,2}){0,3}[.)]?(?=\s)"
)
_ENTRY: Final = re.compile(
    r"\b(?:1[5-9]|20)\d\d[a-z]?\b|\bdoi\b|https?://|^\s*(?:\[[\w+]{1,12}\]|\\bibitem)|\bo\. ?J\.",
    re.IGNORECASE,
)
"""Signs of an entry in a list of references: a year, an address, a label."""
_LEAST_ENTRIES: Final = 2  # fewer are not a list
_ENTRIES_SHARE: Final = 0.2  # of the lines: an entry may be broken into four or five


def _references(text: str) -> _Stretch | None:
    """Return the last list of references, or None."""
    references: _Stretch | None = None
    heading: int | None = None
    begin = position = 0
    for line in [*text.splitlines(keepends=True), ""]:
        title = _title(line)
        listed, ends_list = title in _TITLES, title.startswith(_OTHER_TITLES)
        if heading is not None and (listed or ends_list or not line or line.startswith("#")):
            references = _listed(text, heading, begin, position) or references
            heading = None
        position += len(line)
        if listed:
            heading, begin = position - len(line), position
    return references


def _title(line: str) -> str:
    """Return a line without numbering and markup, in lower case; empty if it is too long."""
    if len(line) > _LONGEST_TITLE:
        return ""
    heading = line.strip().lower()
    numbered = _BEFORE_TITLE.match(heading)
    return heading[numbered.end() if numbered else 0 :].strip(" \t*_#:{}")


def _listed(text: str, heading: int, begin: int, end: int) -> _Stretch | None:
    """Return the section below a heading, if it is a list of references."""
    lines = [line for line in text[begin:end].splitlines() if line.strip()]
    entries = sum(bool(_ENTRY.search(line)) for line in lines)
    if entries < max(_LEAST_ENTRIES, _ENTRIES_SHARE * len(lines)):
        return None
    inner = text[begin:end].strip()
    last = heading + len(text[heading:end].rstrip())
    return _Stretch(kind=LeftOutKind.REFERENCES, start=heading, end=last, inner=inner)


def _without_overlaps(stretches: Iterator[_Stretch]) -> list[_Stretch]:
    """Return stretches in the order of the text; of overlapping ones, the first is kept.

    Of two that begin at the same position, the longer one is kept.
    """
    separate: list[_Stretch] = []
    for stretch in sorted(stretches, key=lambda stretch: (stretch.start, -stretch.end)):
        if not separate or stretch.start >= separate[-1].end:
            separate.append(stretch)
    return separate


def _with_blanks(text: str, start: int, end: int) -> tuple[int, int]:
    """Extend a piece by the smaller of the gaps before and after it.

    The larger gap stays where the piece was; the end of a paragraph is larger than a blank.
    """
    before, next_start = start, end
    while before and text[before - 1].isspace():
        before -= 1
    while next_start < len(text) and text[next_start].isspace():
        next_start += 1
    gap, next_gap = text[before:start], text[end:next_start]
    if before and (not gap or _breadth(gap) <= _breadth(next_gap) or next_start == len(text)):
        return before, end
    return start, next_start


def _breadth(gap: str) -> tuple[int, int]:
    return gap.count("\n"), len(gap)
