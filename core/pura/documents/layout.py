"""Undo what mail programs, terminals and forms do to the lines and blanks of a text.

Lines broken at a column are joined, the marks of a quotation are taken off, runs of blanks and
blanks at line ends become what they were; paragraphs of such a text that stand line under line get
their empty line back. As with the signs of :mod:`pura.documents.restore` all of it is a *guess* at
the text before, made from the characters alone. Each repair wants a sign that runs through the
whole text, so that a text that was not handled stays what it is. What shows a purpose of its own
(lists, code, tables, headings) is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pura.documents.characters import Change, Restored, rewrite, unchanged

PREFIXES: Final = "line-prefixes"
WRAPPED: Final = "wrapped-lines"
BROKEN: Final = "broken-lines"
TRAILING: Final = "trailing-blanks"
RUNS: Final = "blank-runs"
PARAGRAPHS: Final = "paragraph-lines"
KINDS: Final = (PREFIXES, WRAPPED, BROKEN, TRAILING, RUNS, PARAGRAPHS)

# A column explains a line break when the next word would have passed it. Lines were broken at one
# when it explains so many breaks, and such a share of all, or of those amid a sentence.
_LEAST_BREAKS: Final = 3
_EXPLAINED, _AMID = 0.6, 0.8
_NARROWEST, _WIDEST = 20, 200
_SET_IN: Final = 0.8  # share of the lines that begin with blanks; pages have heads and headings
_PARAGRAPH: Final = 100  # characters that a line takes to be a paragraph, on average
_LEAST_RUNS, _RUN_SHARE = 5, 0.05
_LEAST_DOUBLED, _DOUBLED_SHARE = 3, 0.6
_TRAILING_SHARE: Final = 0.5

_QUOTED: Final = re.compile(r"(?:[ \t]?>)+ ?")
_OWN_LINE: Final = re.compile(
    r"\s*(?:[-*+•–]\s|\(?\d{1,3}[.)]\s|\(?[a-zA-Z][.)]\s|#{1,6}\s|\||```|~~~|<)|\t| {4}"
)
_ENDED: Final = re.compile(r"[.!?:;…][\"'”’)\]*_]*$")
_GAP: Final = re.compile(r"(?<=\S)[ \t]+(?=\S)")
_SENTENCE_GAP: Final = re.compile(r"(?<=[.!?])[\"'”’)\]]*(?P<gap> +)(?=\S)")


@dataclass(frozen=True)
class _Break:
    """A line end between two lines that hold words.

    Attributes:
        start: First blank before the line end.
        end: First character of the next line's words.
        before: The line before, without its outer blanks.
        behind: The line behind, likewise.
        indented: Length of the line before, with the blanks at its beginning.
        lines: How many line ends it takes: 1, or more where empty lines stand between.
        own: The line behind stands on its own: a list, a heading, a table, code.
    """

    start: int
    end: int
    before: str
    behind: str
    indented: int
    lines: int
    own: bool

    @property
    def amid(self) -> bool:
        """Whether a sentence goes on over it."""
        return self.behind[:1].islower() and not _ENDED.search(self.before)

    def full(self, column: int) -> bool:
        """Whether the next word would have passed the column."""
        return self.indented + 1 + len(self.behind.split(maxsplit=1)[0]) > column


def restore_layout(text: str) -> Restored:
    """Undo what was done to lines and blanks, where the text shows that something was.

    Args:
        text: The text; its lines end in line feeds.
    """
    done = unchanged(text)
    for stage in (_without_prefixes, _joined, _blanks):
        done = done.then(rewrite(done.text, stage(done.text), KINDS))
    # Paragraphs without an empty line are nothing strange in a text that shows no other sign.
    return done.then(rewrite(done.text, _paragraphs(done.text), KINDS)) if done.changed else done


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the place and the characters of each line."""
    place = 0
    for line in text.split("\n"):
        yield place, line
        place += len(line) + 1


def _without_prefixes(text: str) -> list[Change]:
    """Marks of a quotation, or an indent, before every line."""
    held = [(place, line) for place, line in _lines(text) if line.strip()]
    if len(held) < _LEAST_BREAKS:
        return []
    quoted = [(place, match) for place, line in held if (match := _QUOTED.match(line))]
    if len(quoted) == len(held):
        return [Change(place, place + match.end(), "", PREFIXES) for place, match in quoted]
    set_in = [(place, line) for place, line in held if line.startswith("  ")]
    if len(set_in) < _SET_IN * len(held):
        return []
    indent = min(len(line) - len(line.lstrip(" ")) for _, line in set_in)
    changes = [Change(place, place + indent, "", PREFIXES) for place, _ in set_in]
    # Of code some lines stand further left as well.
    if len(set_in) < len(held) and not _joined(rewrite(text, changes, KINDS).text):
        return []
    return changes


def _breaks(text: str) -> list[_Break]:
    """Return all line ends between lines of words; what stands between fences is left out."""
    found = []
    fenced = False
    previous: tuple[int, str] | None = None
    empty = 0
    for place, line in _lines(text):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
            previous = None
            continue
        if fenced:
            continue
        if not line.strip():
            empty += 1
            continue
        if previous is not None:
            start, before = previous
            found.append(
                _Break(
                    start=start + len(before.rstrip()),
                    end=place + len(line) - len(line.lstrip()),
                    before=before.strip(),
                    behind=line.strip(),
                    indented=len(before.rstrip()),
                    lines=1 + empty,
                    # An item's further lines are indented under it and yet belong to it.
                    own=bool(_OWN_LINE.match(line)) and not _continues(before, line),
                )
            )
        previous, empty = (place, line), 0
    return found


def _continues(before: str, line: str) -> bool:
    """Whether an indented line goes on with the line of a list before it."""
    if re.match(r"\s*(?:[-*+•–]|\(?\w{1,3}[.)])\s", line):
        return False
    deep = len(line) - len(line.lstrip(" "))
    item = re.match(r"\s*(?:[-*+•–]|\(?\w{1,3}[.)])\s+", before)
    return item is not None and item.end() == deep


def _joined(text: str) -> list[Change]:
    """Lines that were broken at a column, or in the middle of sentences without one."""
    breaks = _breaks(text)
    # A word processor's document with a paragraph for every line has empty lines everywhere.
    least = min((b.lines for b in breaks), default=1)
    single = [b for b in breaks if b.lines == least and not b.own]
    column = max((b.indented for b in single if " " in b.before), default=0)
    at_column = [b for b in single if b.full(column)]
    if not (_NARROWEST <= column <= _WIDEST and _explains(at_column, single)):
        at_column = []
    amid = [b for b in breaks if not b.own and b.amid and b not in at_column]
    others = [b for b in breaks if b not in at_column]
    if not (len(amid) >= _LEAST_BREAKS and len(amid) >= _EXPLAINED * len(others)):
        amid = []
    known = text.casefold()
    return [
        *(_join(b, WRAPPED, known) for b in at_column),
        *(_join(b, BROKEN, known) for b in amid),
    ]


def _explains(at_column: list[_Break], breaks: list[_Break]) -> bool:
    """Whether a column is what broke the lines: most breaks, or nearly all amid a sentence."""
    if len(at_column) < _LEAST_BREAKS:
        return False
    amid = [b for b in breaks if b.amid]
    full = [b for b in at_column if b.amid]
    return len(at_column) >= _EXPLAINED * len(breaks) or (
        len(full) >= _LEAST_BREAKS and len(full) >= _AMID * len(amid)
    )


def _join(at: _Break, name: str, known: str) -> Change:
    """Put a blank where a line end was; a word that was divided becomes one again."""
    if not re.search(r"[^\W\d_]-$", at.before) or not at.behind[:1].isalpha():
        return Change(at.start, at.end, " ", name)
    first = re.search(r"[^\W\d_]+-$", at.before)
    second = re.match(r"[^\W\d_]+", at.behind)
    assert first is not None  # the test above saw letters on both sides
    assert second is not None
    whole = f"{first[0][:-1]}{second[0]}".casefold()
    if known.count(whole) and not known.count(f"{first[0]}{second[0]}".casefold()):
        return Change(at.start - 1, at.end, "", name)
    return Change(at.start, at.end, "", name)


def _blanks(text: str) -> list[Change]:
    """Runs of blanks between words, and blanks at line ends."""
    lines = [(place, line) for place, line in _lines(text) if line.strip()]
    prose = [(place, line) for place, line in lines if not _indented(line)]
    gaps = [(place + m.start(), m[0]) for place, line in prose for m in _GAP.finditer(line)]
    runs = [(place, gap) for place, gap in gaps if gap != " "]
    sentence_gaps = [m["gap"] for _, line in prose for m in _SENTENCE_GAP.finditer(line)]
    doubled = sum(len(gap) > 1 for gap in sentence_gaps)
    many = len(runs) >= _LEAST_RUNS and len(runs) >= _RUN_SHARE * len(gaps)
    typed = doubled >= _LEAST_DOUBLED and doubled >= _DOUBLED_SHARE * len(sentence_gaps)
    out = [Change(p, p + len(gap), " ", RUNS) for p, gap in runs] if many or typed else []
    trailing = [
        Change(place + len(line.rstrip(" \t")), place + len(line), "", TRAILING)
        for place, line in _lines(text)
        if line.endswith((" ", "\t"))
    ]
    ended = sum(line.endswith((" ", "\t")) for _, line in lines)
    if ended >= _LEAST_BREAKS and ended >= _TRAILING_SHARE * len(lines):
        out += trailing
    return out


def _indented(line: str) -> bool:
    """Whether a line is set in, as code is; one with tabs between its words is cells of a table."""
    return line.startswith("    ") or (line.startswith("\t") and "\t" not in line.lstrip("\t"))


def _paragraphs(text: str) -> list[Change]:
    """Long lines, each of whole sentences and with no empty line anywhere: paragraphs."""
    breaks = _breaks(text)
    held = [line for _, line in _lines(text) if line.strip()]
    if (
        len(breaks) < 2
        or any(b.lines > 1 or b.own or not _ENDED.search(b.before) for b in breaks)
        or sum(map(len, held)) < _PARAGRAPH * len(held)
    ):
        return []
    return [Change(b.start, b.end, "\n\n", PARAGRAPHS) for b in breaks]
