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

# A column explains a line break when the next word would have passed it. Lines were broken at one
# when it explains so many breaks, and such a share of all, or of those amid a sentence.
_LEAST_BREAKS: Final = 3
_EXPLAINED, _AMID = 0.6, 0.8
_NARROWEST, _WIDEST = 20, 200
_PRINTED, _PRINTED_END = 0.88, 0.94
"""Share of the longest line beyond which the next word did not fit where letters differ in width,
and where a sentence has ended."""
_PRINTED_BREAKS, _PRINTED_AMID = 0.4, 0.5
"""Shares of the breaks that a printed column explains, among short paragraphs, and of those amid a
sentence; the others stand behind two lines in one."""
_TWO_LINES: Final = 1.5  # of a column: two printed lines, joined where a word was divided
_SET_IN: Final = 0.8  # share of the lines that begin with blanks; pages have heads and headings
_ENDS: Final = 0.6  # share of lines that end a sentence, of paragraphs under their headings
_PARAGRAPH: Final = 60  # characters that a line takes to be a paragraph, on average
_LEAST_RUNS, _RUN_SHARE = 5, 0.05
_LEAST_DOUBLED, _DOUBLED_SHARE = 3, 0.6
_LEAST_FILLED: Final = 2  # sentences with two blanks behind them, among others with one
_TRAILING_SHARE: Final = 0.5

_LEAST_APART, _APART_SHARE = 2, 0.5
"""Signs between blanks from which words and signs were set apart: of all alike so many are."""

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

    @property
    def next_word_ends(self) -> int:
        """The column at which the next word would have ended on the line before."""
        return self.indented + 1 + len(self.behind.split(maxsplit=1)[0])


Costs = Callable[[str], float]
"""Gives a text the nats that a vocabulary takes to write it; the smaller, the likelier."""
_DOUBTS: Final = {WRAPPED: 0.0, BROKEN: 14.0, "curly-quotes": 0.0, "dashes": 0.0, "ellipses": 0.0}
"""Nats that undoing one saves also where a text was written with it: a line end is dear."""
_Make = Callable[[str, Costs | None], list[Change]]
_KEPT: Final = 4  # ways of undoing that go on to the next stage


def restore_layout(text: str) -> Restored:
    """Undo what was done to lines and blanks, where the text shows that something was.

    Args:
        text: The text; its lines end in line feeds.
    """
    done = unchanged(text)
    for first, *_ in _STAGES:
        done = _then(done, first, None)
    return done


def layouts(begun: Sequence[Restored], costs: Costs) -> list[Restored]:
    """Return ways to undo what was done to lines and blanks, the likeliest first.

    Each stage may be left out, and lines are joined in two ways.

    Args:
        begun: Ways to undo what was done before, the text as found among them.
        costs: Of a text.
    """
    ways = list(begun)
    for stage in _STAGES:
        more = (_then(done, make, costs) for done in ways for make in stage)
        listed = list({done.text: done for done in (*more, *ways)}.values())  # the older of two
        ranked = sorted(zip(nats(listed, costs), range(len(listed)), strict=True))
        ways = [listed[number] for _, number in ranked[:_KEPT]]
    return ways


def nats(ways: Sequence[Restored], costs: Costs) -> list[float]:
    """Return what the texts of ways take, and what speaks against undoing what was done."""
    if len({way.text for way in ways}) == 1:
        return [0.0] * len(ways)
    doubts = (sum(_DOUBTS.get(s.name, 0.0) * s.count for s in way.substitutions) for way in ways)
    return [sum(both) for both in zip((costs(way.text) for way in ways), doubts, strict=True)]


def doubtful(way: Restored) -> int:
    """Return how many changes of a way say little of whether they undo anything."""
    return sum(s.count for s in way.substitutions if s.name in _DOUBTS)


def _then(done: Restored, make: _Make, costs: Costs | None) -> Restored:
    # Paragraphs without an empty line are nothing strange in a text that shows no other sign.
    if make is _paragraphs and not any(s.name in KINDS for s in done.substitutions):
        return done
    return done.then(rewrite(done.text, make(done.text, costs), KINDS))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the place and the characters of each line."""
    place = 0
    for line in text.split("\n"):
        yield place, line
        place += len(line) + 1


def _pages(text: str, _costs: Costs | None) -> list[Change]:
    """Heads, feet and numbers of pages: lines of their own, at an edge or one like the other."""
    lines = list(_lines(text))
    held = [number for number, (_, line) in enumerate(lines) if line.strip()]
    alone = [
        number
        for number in held
        if all(not lines[n][1].strip() for n in (number - 1, number + 1) if 0 <= n < len(lines))
        and _PAGE.search(lines[number][1].strip())
    ]
    alike = Counter(_without_numbers(lines[number][1]) for number in alone)
    dropped = {
        number
        for number in alone
        if number == held[0]
        or (number == held[-1] and not re.search(r"[^\W\d_]{3}", lines[number][1]))
        or (alike[_without_numbers(lines[number][1])] > 1 and len(lines[number][1]) > 1)
    }
    if not dropped or dropped == set(held):
        return []
    width = max(len(line) for number, (_, line) in enumerate(lines) if number not in dropped)
    changes = []
    end = 0  # of the words before
    cut = False
    for number in held:
        place, line = lines[number]
        if number in dropped:
            cut = True
            continue
        if cut:
            before = text[:end].rsplit("\n", 1)[-1]
            first = line.split(maxsplit=1)[0]
            goes_on = not _ENDED.search(before) or len(before) + 1 + len(first) > _PRINTED * width
            put = "" if not end else "\n" if goes_on else "\n\n"
            changes.append(Change(end, place, put, PAGES))
            cut = False
        end = place + len(line.rstrip())
    if cut:
        changes.append(Change(end, len(text), "", PAGES))
    return changes


def _without_numbers(line: str) -> str:
    return " ".join(re.sub(r"\d+", "0", line).split())


def _without_prefixes(text: str, _costs: Costs | None) -> list[Change]:
    """Marks of a quotation, or an indent, before every line."""
    held = [(place, line) for place, line in _lines(text) if line.strip()]
    if len(held) < _LEAST_BREAKS:
        return []
    quoted = [(place, match) for place, line in held if (match := _QUOTED.match(line))]
    if len(quoted) == len(held):
        return [Change(place, place + match.end(), "", PREFIXES) for place, match in quoted]
    set_in = [(place, line) for place, line in held if line.startswith(("  ", "\t"))]
    if len(set_in) < _SET_IN * len(held):
        return []
    blanks = zip(*(line[: -len(line.lstrip())] for _, line in set_in), strict=False)
    indent = sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, blanks))
    changes = [Change(place, place + indent, "", PREFIXES) for place, _ in set_in]
    changes += [
        Change(place, place + len(line), "", PREFIXES)
        for place, line in _lines(text)
        if line and not line.strip()
    ]
    # Of code some lines stand further left as well.
    if len(set_in) < len(held) and not _joined(rewrite(text, changes, KINDS).text, None):
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


def _joined(text: str, costs: Costs | None) -> list[Change]:
    """Lines that were broken at a column, or in the middle of sentences without one."""
    breaks = _breaks(text)
    # A word processor's document with a paragraph for every line has empty lines everywhere.
    least = min((b.lines for b in breaks), default=1)
    single = [b for b in breaks if b.lines == least and not b.own]
    column = max((b.indented for b in single if " " in b.before), default=0)
    at_column = [b for b in single if b.next_word_ends > column]
    if not (_NARROWEST <= column <= _WIDEST and _explains(at_column, single)):
        at_column = []
    amid = [b for b in breaks if not b.own and b.amid and b not in at_column]
    others = [b for b in breaks if b not in at_column]
    if not (len(amid) >= _LEAST_BREAKS and len(amid) >= _EXPLAINED * len(others)):
        amid = []
    return _join_all(at_column, amid, text, costs)


def _joined_as_printed(text: str, costs: Costs | None) -> list[Change]:
    """Lines of about one width, as of pages whose letters differ in theirs."""
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
    known = text.casefold()
    return [
        *(_join(b, WRAPPED, known, costs) for b in full),
        *(_join(b, BROKEN, known, costs) for b in amid if b not in full),
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


def _join(at: _Break, name: str, known: str, costs: Costs | None) -> Change:
    """Put a blank where a line end was; a word that was divided becomes one again."""
    first = re.search(r"[^\W\d_]+-$", at.before)
    second = re.match(r"[^\W\d_]+", at.behind)
    if first is None or second is None:
        return Change(at.start, at.end, " ", name)
    whole, apart = f"{first[0][:-1]}{second[0]}", f"{first[0]}{second[0]}"
    divided = known.count(whole.casefold()) > 0
    if costs is not None and not divided:
        one, two = costs(f" {whole}"), costs(f" {apart}")
        divided = one <= two
    if divided and not known.count(apart.casefold()):
        return Change(at.start - 1, at.end, "", name)
    return Change(at.start, at.end, "", name)


def _blanks(text: str, _costs: Costs | None) -> list[Change]:
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


def _filled(text: str, _costs: Costs | None) -> list[Change]:
    """Line ends behind sentences that became two blanks: fmt and editors join lines so.

    Where two blanks stand behind most sentences they are a habit and say nothing.
    """
    gaps = list(_SENTENCE_GAP.finditer(text))
    doubled = [match for match in gaps if match["gap"] == "  "]
    if not _LEAST_FILLED <= len(doubled) < _DOUBLED_SHARE * len(gaps):
        return []
    return [Change(*match.span("gap"), "\n", FILLED) for match in doubled]


def _set_apart(text: str, _costs: Costs | None) -> list[Change]:
    """Blanks beside signs, as programs put them that take a text apart into words and signs."""
    alone = list(_ALONE.finditer(text))
    found = Counter(match[0] for match in alone if match[0] in _CLINGING)
    clitics = [match.start() for match in _SPLIT_CLITIC.finditer(text)]
    apart = sum(n for sign, n in found.items() if n >= _APART_SHARE * text.count(sign))
    if apart + len(clitics) < _LEAST_APART:
        return []
    blanks = {*clitics, *(match.start() for match in _SPLIT_NUMBER.finditer(text))}
    opened: set[str] = set()
    for match in alone:
        left, right = _clings(text, match, opened)
        blanks |= ({match.start() - 1} if left else set()) | ({match.end()} if right else set())
    return [Change(at, at + 1, "", APART) for at in sorted(blanks) if text[at : at + 1] == " "]


def _clings(text: str, match: re.Match[str], opened: set[str]) -> tuple[bool, bool]:
    """Return whether a sign belongs to the word before it, and to the one behind it."""
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
    """Long lines, most of them of whole sentences and with no empty line anywhere: paragraphs."""
    breaks = _breaks(text)
    held = [line for _, line in _lines(text) if line.strip()]
    if (
        len(breaks) < 2
        or any(b.lines > 1 or b.own for b in breaks)
        or sum(bool(_ENDED.search(b.before)) for b in breaks) < _ENDS * len(breaks)
        or sum(map(len, held)) < _PARAGRAPH * len(held)
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
"""Ways to undo one kind of handling each; :func:`restore_layout` takes the first of each."""
