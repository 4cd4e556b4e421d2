"""Undo the changes that mail programs, terminals and forms make to lines and blanks of a text.

Lines that were broken at a column are joined, quotation marks before lines are removed, runs of
blanks and blanks at line ends are reduced, and paragraphs of such a text get their empty lines
back. Like the substitutions of :mod:`pura.documents.restore`, this is a *guess* at the original
text from its characters alone. Each repair needs evidence throughout the text, so that a text
that was not changed stays as it is. Lists, code, tables and headings are not touched.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from pura.documents.characters import Change, Restored, rewrite, unchanged

PAGES: Final = "headers-removed"
PREFIXES: Final = "line-prefixes"
WRAPPED: Final = "wrapped-lines"
BROKEN: Final = "broken-lines"
TRAILING: Final = "trailing-blanks"
RUNS: Final = "blank-runs"
PARAGRAPHS: Final = "paragraph-lines"
APART: Final = "signs-set-apart"
FILLED: Final = "lines-filled"
KINDS: Final = (PAGES, PREFIXES, WRAPPED, BROKEN, FILLED, TRAILING, RUNS, APART, PARAGRAPHS)

# A column explains a line break if the next word would not have fitted. Lines count as broken at
# a column if it explains this many breaks and this share of all breaks, or of those in the middle
# of a sentence.
_LEAST_BREAKS: Final = 3
_EXPLAINED, _AMID = 0.6, 0.8
_NARROWEST, _WIDEST = 20, 200  # columns at which programs break lines
_PRINTED, _PRINTED_END = 0.88, 0.94
"""Share of the longest line beyond which the next word did not fit where letters differ in width,
and where a sentence has ended."""
_PRINTED_BREAKS, _PRINTED_AMID = 0.4, 0.5
"""Shares of the breaks, among short paragraphs, that a printed column explains; and of the breaks
within sentences. The other breaks follow lines that were joined from two."""
_TWO_LINES: Final = 1.5  # column widths from which a line is two that were joined at a hyphen
_SET_IN: Final = 0.8  # share of indented lines; pages also have headers and headings
_ENDS: Final = 0.6  # share of lines that end a sentence; headings do not
_PARAGRAPH: Final = 60  # average characters of a line from which lines are paragraphs
_LEAST_RUNS, _RUN_SHARE = 5, 0.05  # runs of blanks that show a program's work, and their share
_LEAST_DOUBLED, _DOUBLED_SHARE = 3, 0.6  # double blanks after sentences that show a habit
_LEAST_FILLED: Final = 2  # sentences followed by two blanks, among others followed by one
_TRAILING_SHARE: Final = 0.5  # share of lines that end in a blank

_LEAST_APART, _APART_SHARE = 2, 0.5
"""Least number, and share among equal signs, of punctuation marks between blanks that show the work
of a tokenising program."""

_ALONE: Final = re.compile(r"(?<!\S)[^\w\s]+(?!\S)")
_CLINGING: Final = frozenset("\"'‘’“”,.()[]")
_ALIKE: Final = frozenset("\"'’")  # signs that may open and may close
_CLITIC: Final = re.compile(r" (?:s|t|d|m|re|ve|ll)\b", re.IGNORECASE)
_SPLIT_CLITIC: Final = re.compile(r"(?<=\w) (?=(?:n['’]t|['’](?:s|d|m|re|ve|ll))\b)", re.IGNORECASE)
_SPLIT_NUMBER: Final = re.compile(r"(?<=\d[.,]) (?=\d)")
_QUOTED: Final = re.compile(r"(?:[ \t]?>)+ ?")
_OWN_LINE: Final = re.compile(
    r"\s*(?:[-*+•–]\s|\(?\d{1,3}[.)]\s|\(?[a-zA-Z][.)]\s|#{1,6}\s|\||```|~~~|<)|\t| {4}"
)
_ENDED: Final = re.compile(r"[.!?:;…][\"'”’)\]*_]*$")
_PAGE: Final = re.compile(r"\S {3,}\S|^[^\w]*(?:\d[^\W\d_]?[^\w]*)*$")
_GAP: Final = re.compile(r"(?<=\S)[ \t]+(?=\S)")
_SENTENCE_GAP: Final = re.compile(r"(?<=[.!?])[\"'”’)\]]*(?P<gap> +)(?=\S)")


@dataclass(frozen=True)
class _Break:
    """A break between two lines with words.

    Attributes:
        start: First blank before the line end.
        end: First character of the words of the next line.
        before: The line before, without blanks around it.
        behind: The line after, without blanks around it.
        indented: Length of the line before, including its indentation.
        lines: Number of line ends: 1, or more if there are empty lines between.
        own: The line after is a list item, a heading, a table row or code.
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
        """Whether the break is in the middle of a sentence."""
        return self.behind[:1].islower() and not _ENDED.search(self.before)

    @property
    def next_word_ends(self) -> int:
        """The column at which the next word would have ended on the line before."""
        return self.indented + 1 + len(self.behind.split(maxsplit=1)[0])


Costs = Callable[[str], float]
"""Returns the cost of a text in nats under a vocabulary; smaller is likelier."""
_DOUBTS: Final = {WRAPPED: 0.0, BROKEN: 14.0, "curly-quotes": 0.0, "dashes": 0.0, "ellipses": 0.0}
"""Nats that undoing one change saves even if the author wrote it so: a line end is expensive."""
_Make = Callable[[str, Costs | None], list[Change]]
_KEPT: Final = 4  # best restorations that the next stage starts from


def restore_layout(text: str) -> Restored:
    """Undo changes to lines and blanks, if the text shows signs of them.

    Args:
        text: The text; its lines end in line feeds.
    """
    restored = unchanged(text)
    for first, *_ in _STAGES:
        restored = _then(restored, first, None)
    return restored


def layouts(candidates: Sequence[Restored], costs: Costs) -> list[Restored]:
    """Return restorations of the lines and blanks of a text, the likeliest first.

    Each stage is optional, and lines are joined in two ways.

    Args:
        candidates: Restorations to start from, including the unchanged text.
        costs: Returns the cost of a text in nats.
    """
    restorations = list(candidates)
    for stage in _STAGES:
        extended = (
            _then(restoration, make, costs) for restoration in restorations for make in stage
        )
        listed = list(
            {restoration.text: restoration for restoration in (*extended, *restorations)}.values()
        )  # the older of two
        ranked = sorted(zip(nats(listed, costs), range(len(listed)), strict=True))
        restorations = [listed[number] for _, number in ranked[:_KEPT]]
    return restorations


def nats(restorations: Sequence[Restored], costs: Costs) -> list[float]:
    """Return the costs of restorations in nats, with a penalty for doubtful changes."""
    if len({restoration.text for restoration in restorations}) == 1:
        return [0.0] * len(restorations)
    doubts = (
        sum(_DOUBTS.get(s.name, 0.0) * s.count for s in restoration.substitutions)
        for restoration in restorations
    )
    return [
        sum(both)
        for both in zip(
            (costs(restoration.text) for restoration in restorations), doubts, strict=True
        )
    ]


def doubtful(restoration: Restored) -> int:
    """Return the number of changes in a restoration that the author may have written so."""
    return sum(s.count for s in restoration.substitutions if s.name in _DOUBTS)


def _then(restoration: Restored, make: _Make, costs: Costs | None) -> Restored:
    # In a text without other signs of a program's work, paragraphs without empty lines are normal.
    if make is _paragraphs and not any(s.name in KINDS for s in restoration.substitutions):
        return restoration
    return restoration.then(rewrite(restoration.text, make(restoration.text, costs), KINDS))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the position and the characters of each line."""
    position = 0
    for line in text.split("\n"):
        yield position, line
        position += len(line) + 1


def _pages(text: str, _costs: Costs | None) -> list[Change]:
    """Remove headers, footers and page numbers: isolated lines at an edge, or alike."""
    lines = list(_lines(text))
    filled = [number for number, (_, line) in enumerate(lines) if line.strip()]
    isolated = [
        number
        for number in filled
        if all(not lines[n][1].strip() for n in (number - 1, number + 1) if 0 <= n < len(lines))
        and _PAGE.search(lines[number][1].strip())
    ]
    alike = Counter(_without_numbers(lines[number][1]) for number in isolated)
    dropped = {
        number
        for number in isolated
        if number == filled[0]
        or (number == filled[-1] and not re.search(r"[^\W\d_]{3}", lines[number][1]))
        or (alike[_without_numbers(lines[number][1])] > 1 and len(lines[number][1]) > 1)
    }
    if not dropped or dropped == set(filled):
        return []
    width = max(len(line) for number, (_, line) in enumerate(lines) if number not in dropped)
    changes = []
    end = 0  # of the words before
    cut = False
    for number in filled:
        position, line = lines[number]
        if number in dropped:
            cut = True
            continue
        if cut:
            before = text[:end].rsplit("\n", 1)[-1]
            first = line.split(maxsplit=1)[0]
            goes_on = not _ENDED.search(before) or len(before) + 1 + len(first) > _PRINTED * width
            replacement = "" if not end else "\n" if goes_on else "\n\n"
            changes.append(Change(end, position, replacement, PAGES))
            cut = False
        end = position + len(line.rstrip())
    if cut:
        changes.append(Change(end, len(text), "", PAGES))
    return changes


def _without_numbers(line: str) -> str:
    return " ".join(re.sub(r"\d+", "0", line).split())


def _without_prefixes(text: str, _costs: Costs | None) -> list[Change]:
    """Remove quotation marks or indentation before every line."""
    filled = [(position, line) for position, line in _lines(text) if line.strip()]
    if len(filled) < _LEAST_BREAKS:
        return []
    quoted = [(position, match) for position, line in filled if (match := _QUOTED.match(line))]
    if len(quoted) == len(filled):
        return [
            Change(position, position + match.end(), "", PREFIXES) for position, match in quoted
        ]
    set_in = [(position, line) for position, line in filled if line.startswith(("  ", "\t"))]
    if len(set_in) < _SET_IN * len(filled):
        return []
    blanks = zip(*(line[: -len(line.lstrip())] for _, line in set_in), strict=False)
    indent = sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, blanks))
    changes = [Change(position, position + indent, "", PREFIXES) for position, _ in set_in]
    changes += [
        Change(position, position + len(line), "", PREFIXES)
        for position, line in _lines(text)
        if line and not line.strip()
    ]
    # Of code some lines stand further left as well.
    if len(set_in) < len(filled) and not _joined(rewrite(text, changes, KINDS).text, None):
        return []
    return changes


def _breaks(text: str) -> list[_Break]:
    """Return all breaks between lines with words, except in fenced code."""
    breaks = []
    fenced = False
    previous: tuple[int, str] | None = None
    empty = 0
    for position, line in _lines(text):
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
            breaks.append(
                _Break(
                    start=start + len(before.rstrip()),
                    end=position + len(line) - len(line.lstrip()),
                    before=before.strip(),
                    behind=line.strip(),
                    indented=len(before.rstrip()),
                    lines=1 + empty,
                    # An item's further lines are indented under it and yet belong to it.
                    own=bool(_OWN_LINE.match(line)) and not _continues(before, line),
                )
            )
        previous, empty = (position, line), 0
    return breaks


def _continues(before: str, line: str) -> bool:
    """Return whether an indented line continues the list item of the line before."""
    if re.match(r"\s*(?:[-*+•–]|\(?\w{1,3}[.)])\s", line):
        return False
    deep = len(line) - len(line.lstrip(" "))
    list_mark = re.match(r"\s*(?:[-*+•–]|\(?\w{1,3}[.)])\s+", before)
    return list_mark is not None and list_mark.end() == deep


def _joined(text: str, costs: Costs | None) -> list[Change]:
    """Join lines that were broken at a column, or in the middle of sentences."""
    breaks = _breaks(text)
    # A word processor's document with a paragraph for every line has empty lines everywhere.
    usual_lines = min((b.lines for b in breaks), default=1)
    single = [b for b in breaks if b.lines == usual_lines and not b.own]
    column = max((b.indented for b in single if " " in b.before), default=0)
    at_column = [b for b in single if b.next_word_ends > column]
    if not (_NARROWEST <= column <= _WIDEST and _explains(at_column, single)):
        at_column = []
    amid = [b for b in breaks if not b.own and b.amid and b not in at_column]
    unexplained = [b for b in breaks if b not in at_column]
    if not (len(amid) >= _LEAST_BREAKS and len(amid) >= _EXPLAINED * len(unexplained)):
        amid = []
    return _join_all(at_column, amid, text, costs)


def _joined_as_printed(text: str, costs: Costs | None) -> list[Change]:
    """Join lines of about equal width, as in print with letters of different widths."""
    breaks = [b for b in _breaks(text) if not b.own]
    amid = [b for b in breaks if b.amid]
    shortest = min((b.indented for b in amid), default=0)
    column = max((b.indented for b in amid if b.indented <= _TWO_LINES * shortest), default=0)
    full = [
        b
        for b in breaks
        if b.lines == 1
        and (
            column * _PRINTED_END < b.next_word_ends and b.indented <= _TWO_LINES * column
            if _ENDED.search(b.before)
            else column * _PRINTED < b.next_word_ends
        )
    ]
    single = [b for b in breaks if b.lines == 1]
    at_column = [b for b in amid if b in full and b.indented <= column]
    if (
        not _NARROWEST <= column <= _WIDEST
        or len({*full, *amid}) < _PRINTED_BREAKS * len(single)
        or len(at_column) < _PRINTED_AMID * len(amid)
    ):
        return []
    return _join_all(full, amid, text, costs)


def _join_all(
    full: list[_Break], amid: list[_Break], text: str, costs: Costs | None
) -> list[Change]:
    lower_text = text.casefold()
    return [
        *(_join(b, WRAPPED, lower_text, costs) for b in full),
        *(_join(b, BROKEN, lower_text, costs) for b in amid if b not in full),
    ]


def _explains(at_column: list[_Break], breaks: list[_Break]) -> bool:
    """Return whether a column explains most breaks, or nearly all within sentences."""
    if len(at_column) < _LEAST_BREAKS:
        return False
    amid = [b for b in breaks if b.amid]
    full = [b for b in at_column if b.amid]
    return len(at_column) >= _EXPLAINED * len(breaks) or (
        len(full) >= _LEAST_BREAKS and len(full) >= _AMID * len(amid)
    )


def _join(line_break: _Break, name: str, lower_text: str, costs: Costs | None) -> Change:
    """Replace a line end by a blank, and join a word that was divided there."""
    first = re.search(r"[^\W\d_]+-$", line_break.before)
    second = re.match(r"[^\W\d_]+", line_break.behind)
    if first is None or second is None:
        return Change(line_break.start, line_break.end, " ", name)
    joined, hyphenated = f"{first[0][:-1]}{second[0]}", f"{first[0]}{second[0]}"
    divided = lower_text.count(joined.casefold()) > 0
    if costs is not None and not divided:
        joined_cost, hyphenated_cost = costs(f" {joined}"), costs(f" {hyphenated}")
        divided = joined_cost <= hyphenated_cost
    if divided and not lower_text.count(hyphenated.casefold()):
        return Change(line_break.start - 1, line_break.end, "", name)
    return Change(line_break.start, line_break.end, "", name)


def _blanks(text: str, _costs: Costs | None) -> list[Change]:
    """Reduce runs of blanks between words, and remove blanks at line ends."""
    lines = [(position, line) for position, line in _lines(text) if line.strip()]
    prose = [(position, line) for position, line in lines if not _indented(line)]
    gaps = [(position + m.start(), m[0]) for position, line in prose for m in _GAP.finditer(line)]
    runs = [(position, gap) for position, gap in gaps if gap != " "]
    sentence_gaps = [m["gap"] for _, line in prose for m in _SENTENCE_GAP.finditer(line)]
    doubled = sum(len(gap) > 1 for gap in sentence_gaps)
    frequent = len(runs) >= _LEAST_RUNS and len(runs) >= _RUN_SHARE * len(gaps)
    typed = doubled >= _LEAST_DOUBLED and doubled >= _DOUBLED_SHARE * len(sentence_gaps)
    out = [Change(p, p + len(gap), " ", RUNS) for p, gap in runs] if frequent or typed else []
    trailing = [
        Change(position + len(line.rstrip(" \t")), position + len(line), "", TRAILING)
        for position, line in _lines(text)
        if line.endswith((" ", "\t"))
    ]
    ended = sum(line.endswith((" ", "\t")) for _, line in lines)
    if ended >= _LEAST_BREAKS and ended >= _TRAILING_SHARE * len(lines):
        out += trailing
    return out


def _indented(line: str) -> bool:
    """Return whether a line is indented like code; tabs between words make it a table row."""
    return line.startswith("    ") or (line.startswith("\t") and "\t" not in line.lstrip("\t"))


def _filled(text: str, _costs: Costs | None) -> list[Change]:
    """Restore line ends after sentences that fmt or an editor replaced by two blanks.

    Two blanks after most sentences are a habit of the author and are kept.
    """
    gaps = list(_SENTENCE_GAP.finditer(text))
    doubled = [match for match in gaps if match["gap"] == "  "]
    if not _LEAST_FILLED <= len(doubled) < _DOUBLED_SHARE * len(gaps):
        return []
    return [Change(*match.span("gap"), "\n", FILLED) for match in doubled]


def _set_apart(text: str, _costs: Costs | None) -> list[Change]:
    """Remove blanks around punctuation that tokenising programs insert."""
    isolated = list(_ALONE.finditer(text))
    sign_counts = Counter(match[0] for match in isolated if match[0] in _CLINGING)
    clitics = [match.start() for match in _SPLIT_CLITIC.finditer(text)]
    detached = sum(n for sign, n in sign_counts.items() if n >= _APART_SHARE * text.count(sign))
    if detached + len(clitics) < _LEAST_APART:
        return []
    blanks = {*clitics, *(match.start() for match in _SPLIT_NUMBER.finditer(text))}
    opened: set[str] = set()
    for match in isolated:
        left, right = _clings(text, match, opened)
        blanks |= ({match.start() - 1} if left else set()) | ({match.end()} if right else set())
    return [
        Change(blank, blank + 1, "", APART)
        for blank in sorted(blanks)
        if text[blank : blank + 1] == " "
    ]


def _clings(text: str, match: re.Match[str], opened: set[str]) -> tuple[bool, bool]:
    """Return whether a sign belongs to the word before it, and to the word after it."""
    sign, before = match[0], text[: match.start()].rstrip(" ")[-1:]
    after = text[match.end() + 1 : match.end() + 2]
    if sign in set("-/_") or (sign in set(",.") and before.isdigit() and after.isdigit()):
        return True, True
    if sign in set("'’") and before.isalnum() and _CLITIC.match(text, match.end()):
        return True, True
    if sign[0] in _ALIKE:
        closes = len(sign) > 1 or sign == "’" or sign in opened or before in set(".!?")
        (opened.discard if closes else opened.add)(sign[0])
        return closes, not closes
    if sign[-1] in _ALIKE:
        opened.add(sign[-1])
    return sign[0] in set(")]},.;:!?%”…"), sign[-1] in set("\"'([{“‘$#")


def _paragraphs(text: str, _costs: Costs | None) -> list[Change]:
    """Separate paragraphs: long lines of complete sentences in a text without empty lines."""
    breaks = _breaks(text)
    filled = [line for _, line in _lines(text) if line.strip()]
    if (
        len(breaks) < 2
        or any(b.lines > 1 or b.own for b in breaks)
        or sum(bool(_ENDED.search(b.before)) for b in breaks) < _ENDS * len(breaks)
        or sum(map(len, filled)) < _PARAGRAPH * len(filled)
    ):
        return []
    return [Change(b.start, b.end, "\n\n", PARAGRAPHS) for b in breaks]


_STAGES: Final[tuple[tuple[_Make, ...], ...]] = (
    (_pages,),
    (_without_prefixes,),
    (_joined, _joined_as_printed),
    (_filled,),
    (_blanks,),
    (_set_apart,),
    (_paragraphs,),
)
"""Alternatives for undoing each kind of change; :func:`restore_layout` takes the first of each."""
