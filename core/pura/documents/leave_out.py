"""Quotations and lists of references, left out of the examined text by a rule fixed beforehand.

The rule (``leave_out`` of the policy) looks at characters, and at what a format says of its
paragraphs; never at a key. So the text that is examined is chosen before any evidence is, and every
bound holds for it as for any other text. Each piece stays where it is in the text as found, is
listed with its words, and is a part of its own that can be examined by itself.

A quotation is a stretch of at least :data:`LEAST_WORDS` words between quotation marks within one
paragraph, a run of lines behind ``>``, an environment of LaTeX, or a paragraph that its format
calls a quotation. A list of references begins with its heading, on a line of its own, and ends with
the text or with the heading of what is no list of references.
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
"""Words from which a stretch between quotation marks is left out.

Titles, terms and most lines of dialogue are shorter; a shorter stretch could hardly weaken a mark
or carry one that an audit would find."""

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
"""The marks that may end what a mark begins; German books turn « and » around."""
_MARK: Final = re.compile(f"[{''.join({*_CLOSING, *''.join(_CLOSING.values())})}]")
_BLANK_INSIDE: Final = "«‹"
"""Marks behind which French sets a blank."""
_QUOTED_LINES: Final = re.compile(r"(?:^[ \t]{0,3}>[^\n]*(?:\n|\Z))+", re.MULTILINE)
_QUOTE_SIGN: Final = re.compile(r"^[ \t]{0,3}>[> \t]*", re.MULTILINE)
_LATEX: Final = re.compile(r"\\(begin|end)\{(quote|quotation|displayquote|verse)\*?\}")


@dataclass(frozen=True, kw_only=True)
class _Stretch:
    """A stretch of a text that a rule leaves out.

    Attributes:
        kind: What it is.
        start: First character, of a quotation its mark.
        end: Character after the last.
        inner: What stands inside, without marks.
    """

    kind: LeftOutKind
    start: int
    end: int
    inner: str


def apply_rule(document: Document, rule: Sequence[str]) -> tuple[Document, tuple[Document, ...]]:
    """Set apart what a rule leaves out of a text.

    Args:
        document: The text, as it was read.
        rule: Of :data:`~pura.record.left_out.LEAVE_OUT`.

    Returns:
        The text with its pieces named, of which everything else is examined; and the pieces as
        texts of their own. Where nothing would be left to examine, nothing is left out.
    """
    text, names = document.text, tuple(rule)
    stretches = _without_overlaps(_stretches(document, names))
    notes = tuple(note for note in document.notes if note.key not in _RULE_NOTES)
    kept = replace(document, rule=names, excluded=(), notes=notes)
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
                kept,
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
    cut = replace(kept, excluded=tuple(pieces), notes=(*kept.notes, *_notes(counts)))
    if not word_count(cut.examined_text):
        return kept, ()
    return cut, tuple(parts)


def _notes(counts: dict[LeftOutKind, int]) -> Iterator[Sentence]:
    """Yield what is said of pieces that were left out, kind by kind."""
    if counts[LeftOutKind.QUOTATION]:
        yield sentence(_QUOTATIONS_NOTE, n=counts[LeftOutKind.QUOTATION])
    if counts[LeftOutKind.REFERENCES]:
        yield sentence(_REFERENCES_NOTE)


def by_rule(extraction: Extraction, rule: Sequence[str]) -> Extraction:
    """Return a file whose usual parts are examined without what a rule leaves out of them."""
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
    """Return a chosen text as a rule leaves it, listing what is left out of it.

    A text that was read under this rule stays as it is. This is the last gate before an audit, for
    texts that never were a file, and for files that were read before the rule was known.
    """
    if document.rule == tuple(rule) or document.kind in _NAMES:
        return document
    before = {piece.part for piece in document.excluded}
    listed = [entry for entry in document.left_out if entry.part not in before]
    cut, parts = apply_rule(replace(document, excluded=()), rule)
    # A part that was asked for by name has no parts of its own when the file is read again.
    named = document.role in (MAIN, ATTACHMENT)
    listed += [
        LeftOut.of_text(part.kind, part.text, part=part.part if named else "")
        for part in parts
        if part.kind is not None
    ]
    beside = max(0, document.examined_words - document.words)
    return replace(cut, left_out=tuple(listed), examined_words=beside + cut.words)


def parts_of(document: Document, rule: Sequence[str]) -> tuple[Document, ...]:
    """Return what a rule leaves out of a text as texts of their own."""
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
    """Yield a quotation, unless it holds no word; blanks around it belong to the text."""
    if word_count(inner):
        found = text[start:end]
        start += len(found) - len(found.lstrip())
        end = start + len(found.strip())
        yield _Stretch(kind=LeftOutKind.QUOTATION, start=start, end=end, inner=inner.strip())


def _environments(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and content of LaTeX's environments for quotations."""
    opened: re.Match[str] | None = None
    for found in _LATEX.finditer(text):
        if found[1] == "begin":
            opened = opened or found
        elif opened is not None and found[2] == opened[2]:
            yield opened.start(), found.end(), text[opened.end() : found.start()]
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
        done = begin
        for start, stop, closed in sorted(_pairs(text, begin, limit, following)):
            if start >= done:
                yield start, stop, text[start + 1 : stop - closed]
                done = stop
        begin = limit


def _pairs(text: str, begin: int, limit: int, following: str) -> Iterator[tuple[int, int, bool]]:
    """Yield start and end of what marks of a paragraph enclose, and whether a mark ends it.

    Args:
        text: The text.
        begin: First character of the paragraph.
        limit: Character after its last.
        following: What the next paragraph begins with.
    """
    opened: list[tuple[str, int]] = []
    awaited = dict.fromkeys("".join(_CLOSING.values()), 0)
    for mark in _MARK.finditer(text, begin, limit):
        sign, place = mark[0], mark.start()
        if awaited.get(sign) and _closes(text, place):
            while opened:
                opener, start = opened.pop()
                for closer in _CLOSING[opener]:
                    awaited[closer] -= 1
                if sign in _CLOSING[opener]:
                    yield start, place + 1, True
                    break
        elif sign in _CLOSING and _opens(text, place):
            opened.append((sign, place))
            for closer in _CLOSING[sign]:
                awaited[closer] += 1
    for opener, start in opened:
        if opener == following and opener != '"':
            yield start, begin + len(text[begin:limit].rstrip()), False
            break


def _opens(text: str, place: int) -> bool:
    """Whether a mark stands where a quotation begins: before a word, and behind none."""
    behind = text[place + 1 : place + 2] or " "
    if place and text[place - 1].isalnum():
        return False
    return text[place] in _BLANK_INSIDE or not behind.isspace()


def _closes(text: str, place: int) -> bool:
    """Whether a mark stands where a quotation may end, and is no apostrophe inside a word."""
    before, behind = text[place - 1 : place], text[place + 1 : place + 2]
    if text[place] == '"':
        return not before.isspace()
    return text[place] not in "’‘" or not (before.isalnum() and behind.isalnum())


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
"""Headings of lists of references, in small letters."""
_OTHER_TITLES: Final = (
    *("appendix", "appendices", "anhang", "anhänge", "annex", "annexe", "apéndice", "appendice"),
    *("acknowledg", "danksagung", "remerciements", "about the author", "über die autor"),
    *("supplementary", "glossar", "index", "eidesstattliche", "selbstständigkeitserklärung"),
    *("selbständigkeitserklärung", "abbildungsverzeichnis", "list of figures", "funding"),
)
"""What headings begin with that may stand behind a list of references, in small letters."""
_LONGEST_TITLE: Final = 80
_BEFORE_TITLE: Final = re.compile(
    r"#{1,6}|\\(?:sub)*section\*?\{|(?:\d{1,2}|[ivx]{1,5})(?:\.\d{1,2}){0,3}[.)]?(?=\s)"
)
_ENTRY: Final = re.compile(
    r"\b(?:1[5-9]|20)\d\d[a-z]?\b|\bdoi\b|https?://|^\s*(?:\[[\w+]{1,12}\]|\\bibitem)|\bo\. ?J\.",
    re.IGNORECASE,
)
"""What a line of a list of references has: a year, an address, a label."""
_LEAST_ENTRIES: Final = 2
_ENTRIES_SHARE: Final = 0.2  # of the lines: an entry may be broken into four or five


def _references(text: str) -> _Stretch | None:
    """Return the list of references, the last one where there are several."""
    found: _Stretch | None = None
    heading: int | None = None
    begin = place = 0
    for line in [*text.splitlines(keepends=True), ""]:
        title = _title(line)
        listed, other = title in _TITLES, title.startswith(_OTHER_TITLES)
        if heading is not None and (listed or other or not line or line.startswith("#")):
            found = _listed(text, heading, begin, place) or found
            heading = None
        place += len(line)
        if listed:
            heading, begin = place - len(line), place
    return found


def _title(line: str) -> str:
    """Return a line as a heading is compared, in small letters; empty where it is too long."""
    if len(line) > _LONGEST_TITLE:
        return ""
    words = line.strip().lower()
    numbered = _BEFORE_TITLE.match(words)
    return words[numbered.end() if numbered else 0 :].strip(" \t*_#:{}")


def _listed(text: str, heading: int, begin: int, end: int) -> _Stretch | None:
    """Return what stands below a heading if it is a list of references."""
    lines = [line for line in text[begin:end].splitlines() if line.strip()]
    entries = sum(bool(_ENTRY.search(line)) for line in lines)
    if entries < max(_LEAST_ENTRIES, _ENTRIES_SHARE * len(lines)):
        return None
    inner = text[begin:end].strip()
    last = heading + len(text[heading:end].rstrip())
    return _Stretch(kind=LeftOutKind.REFERENCES, start=heading, end=last, inner=inner)


def _without_overlaps(stretches: Iterator[_Stretch]) -> list[_Stretch]:
    """Return stretches in the order of the text, of those that overlap the one that begins first.

    Of two that begin at one place it is the longer one.
    """
    kept: list[_Stretch] = []
    for stretch in sorted(stretches, key=lambda one: (one.start, -one.end)):
        if not kept or stretch.start >= kept[-1].end:
            kept.append(stretch)
    return kept


def _with_blanks(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a piece with the blanks before it or behind it, whichever part less.

    So the larger one of two gaps stays where the piece was, a paragraph's end before a blank.
    """
    before, behind = start, end
    while before and text[before - 1].isspace():
        before -= 1
    while behind < len(text) and text[behind].isspace():
        behind += 1
    gap, next_gap = text[before:start], text[end:behind]
    if before and (not gap or _breadth(gap) <= _breadth(next_gap) or behind == len(text)):
        return before, end
    return start, behind


def _breadth(gap: str) -> tuple[int, int]:
    return gap.count("\n"), len(gap)
