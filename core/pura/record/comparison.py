"""Two texts aligned by words, and two audits side by side.

The alignment says what of one text stands in the other, in the same order. Words are aligned; what
stands between two words that are neighbours in both is compared after it. Runs of words that occur
once in each text hold the texts together, so the place of a passage in a long document is found;
what lies between them is aligned by the longest common subsequence, in pieces of bounded size. So
the time grows with the texts, whatever stands in them.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Final

import numpy as np

from pura.base.progress import Checkpoint, never_cancelled
from pura.record.audit import Audit
from pura.scheme import I64

Span = tuple[int, int]

_ALONE: Final = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"  # written without blanks
_WORD: Final = re.compile(rf"[{_ALONE}]|[^\W{_ALONE}]+")
_RUNS: Final = (3, 1)  # words of a run that occurs once in each text
_CELLS: Final = 1 << 20  # of the table of a longest common subsequence
_SMALL: Final = 1 << 10  # cells for which no runs are looked for
_LOPSIDED: Final = 4  # so many times longer: where the short one stands is looked for
_DEPTH: Final = 40  # of looking for runs between runs; no text of people comes near
_STRAY: Final = 4
"""Words in a row that two texts may have in common by chance: so few say nothing where more than
that differs on both sides of them."""
_SLIVER: Final = 40  # characters; where a mark begins and ends is not known better


class Kind(StrEnum):
    """How two stretches go together."""

    SAME = "same"
    SPACING = "spacing"
    """They differ in blanks and line breaks only."""
    CHANGED = "changed"
    LEFT = "left"
    """Only the left text has it."""
    RIGHT = "right"
    """Only the right text has it."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A stretch of each text.

    Attributes:
        kind: How they go together.
        left: First character and the one after the last; empty for what is only in the other.
        right: The same of the right text.
    """

    kind: Kind
    left: Span
    right: Span


@dataclass(frozen=True, kw_only=True)
class Alignment:
    """Two texts, stretch by stretch.

    Attributes:
        pairs: Cover both texts, in their order.
        words: How many words each text has.
        shared: How many stand in both, in the same order.
    """

    pairs: tuple[Pair, ...]
    words: tuple[int, int]
    shared: int

    @cached_property
    def differences(self) -> tuple[Pair, ...]:
        """What differs, blanks and line breaks apart."""
        return tuple(p for p in self.pairs if p.kind not in (Kind.SAME, Kind.SPACING))

    def right_of(self, place: int) -> int:
        """Return where a character of the left text stands in the right one, or would stand."""
        return _across(place, self._lefts, self._rights, self._same)

    def left_of(self, place: int) -> int:
        """Return where a character of the right text stands in the left one, or would stand."""
        return _across(place, self._rights, self._lefts, self._same)

    @cached_property
    def _lefts(self) -> list[int]:
        return [p.left[0] for p in self.pairs] + [p.left[1] for p in self.pairs[-1:]]

    @cached_property
    def _rights(self) -> list[int]:
        return [p.right[0] for p in self.pairs] + [p.right[1] for p in self.pairs[-1:]]

    @cached_property
    def _same(self) -> list[bool]:
        return [p.kind is Kind.SAME for p in self.pairs]


def _across(place: int, here: Sequence[int], there: Sequence[int], same: Sequence[bool]) -> int:
    number = bisect_right(here, place) - 1
    if not 0 <= number < len(same):
        return there[-1] if there else 0
    return there[number] + (place - here[number] if same[number] else 0)


def align(left: str, right: str, *, checkpoint: Checkpoint = never_cancelled) -> Alignment:
    """Align two texts.

    Args:
        left: One.
        right: The other; either may be a passage of the other.
        checkpoint: Called now and then.

    Returns:
        Stretches that cover both.
    """
    spans = _spans(left), _spans(right)
    if left == right:
        whole = (0, len(left))
        pairs = (Pair(kind=Kind.SAME, left=whole, right=whole),) if left else ()
        size = len(spans[0])
        return Alignment(pairs=pairs, words=(size, size), shared=size)
    numbers: dict[str, int] = {}
    first, second = (
        np.array([numbers.setdefault(text[a:b], len(numbers)) for a, b in some], dtype=np.int64)
        for text, some in zip((left, right), spans, strict=True)
    )
    mates = _mates(first, second, len(numbers) + 1, checkpoint)
    runs = _without_strays(_slid(_runs(mates), first, second), first.size, second.size)
    return Alignment(
        pairs=tuple(_joined(_pairs(left, right, *spans, runs))),
        words=(first.size, second.size),
        shared=sum(n for _, _, n in runs),
    )


def marked_in_one(
    alignment: Alignment, left: Iterable[Span], right: Iterable[Span]
) -> tuple[Pair, ...]:
    """Return where the two texts say the same, and a mark is seen in one of them only.

    Args:
        alignment: Of the texts.
        left: First and last characters of the passages of marks in the left text.
        right: Those in the right one.

    Returns:
        Stretches in their order; ``LEFT`` is marked in the left text only. What is shorter than
        the ends of a passage are known is left out.
    """
    marks = _union(left), _union(right)
    found: list[Pair] = []
    for pair in alignment.pairs:
        if pair.kind is not Kind.SAME:
            continue
        (x, end), y = pair.left, pair.right[0]
        edges = {x, end}
        for spans, offset in zip(marks, (0, x - y), strict=True):
            edges |= {min(max(place + offset, x), end) for span in spans for place in span}
        for start, stop in itertools.pairwise(sorted(edges)):
            seen = _inside(start, marks[0]), _inside(start - x + y, marks[1])
            if seen[0] == seen[1]:
                continue
            kind = Kind.LEFT if seen[0] else Kind.RIGHT
            found.append(Pair(kind=kind, left=(start, stop), right=(start - x + y, stop - x + y)))
    merged: list[Pair] = []
    for one in found:
        before = merged[-1] if merged else None
        if before is not None and before.kind is one.kind and _only_differs(alignment, before, one):
            merged[-1] = Pair(
                kind=one.kind,
                left=(before.left[0], one.left[1]),
                right=(before.right[0], one.right[1]),
            )
        else:
            merged.append(one)
    return tuple(one for one in merged if one.left[1] - one.left[0] >= _SLIVER)


def _union(spans: Iterable[Span]) -> list[Span]:
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def _inside(place: int, spans: Sequence[Span]) -> bool:
    number = bisect_right(spans, place, key=lambda span: span[0]) - 1
    return number >= 0 and place < spans[number][1]


def _only_differs(alignment: Alignment, before: Pair, after: Pair) -> bool:
    """Return whether nothing stands between two stretches that both texts have."""
    between = (before.left[1], after.left[0])
    first = bisect_left(alignment.pairs, between[0], key=lambda pair: pair.left[0])
    for pair in itertools.islice(alignment.pairs, first, None):
        if pair.left[0] >= between[1]:
            return True
        if pair.kind is Kind.SAME:
            return False
    return True


# Words


def _spans(text: str) -> list[Span]:
    return [found.span() for found in _WORD.finditer(text)]


def _mates(first: I64, second: I64, base: int, checkpoint: Checkpoint) -> I64:
    """Return for each word of the first text the number of its own in the second, or -1.

    Args:
        first: int64 [N], words as numbers below ``base``.
        second: int64 [M].
        base: As said.
        checkpoint: Called for each piece.
    """
    mates = np.full(first.size, -1, dtype=np.int64)
    waiting = [(0, first.size, 0, second.size, 0)]
    while waiting:
        checkpoint()
        i, i_end, j, j_end, depth = waiting.pop()
        head = _alike(first[i:i_end], second[j:j_end], edge=i == j == 0)
        mates[i : i + head] = np.arange(j, j + head)
        i, j = i + head, j + head
        last = i_end == first.size and j_end == second.size
        tail = _alike(first[i:i_end][::-1], second[j:j_end][::-1], edge=last)
        i_end, j_end = i_end - tail, j_end - tail
        mates[i_end : i_end + tail] = np.arange(j_end, j_end + tail)
        a, b = first[i:i_end], second[j:j_end]
        if not a.size or not b.size or a.size == b.size == 1:
            continue
        wide = a.size * b.size > _SMALL and depth < _DEPTH
        anchors = _anchors(a, b, base) if wide else []
        if anchors:
            for k, n, size in anchors:
                mates[i + k : i + k + size] = np.arange(j + n, j + n + size)
            edges = [(0, 0, 0), *anchors, (a.size, b.size, 0)]
            for (k, n, size), (k_end, n_end, _) in itertools.pairwise(edges):
                waiting.append((i + k + size, i + k_end, j + n + size, j + n_end, depth + 1))
        elif a.size * b.size <= _CELLS:
            for k, n in _common(a, b):
                mates[i + k] = j + n
        else:
            waiting += [
                (i + k, i + k_end, j + n, j + n_end, _DEPTH)
                for k, k_end, n, n_end in _smaller(a, b)
            ]
    return mates


def _alike(a: I64, b: I64, *, edge: bool) -> int:
    """Return how many words begin both alike; at the edge of texts a few say nothing."""
    size = min(a.size, b.size)
    differ = np.flatnonzero(a[:size] != b[:size])
    alike = int(differ[0]) if differ.size else size
    return 0 if edge and alike < min(size, _STRAY) else alike


def _anchors(a: I64, b: I64, base: int) -> list[tuple[int, int, int]]:
    """Return runs of words that hold two stretches together: places in both, and their size."""
    for size in _RUNS:
        if min(a.size, b.size) < size:
            continue
        places = _once(a, b, size, base)
        if places:
            return _grown(places, a.tolist(), b.tolist())
    return []


def _once(a: I64, b: I64, size: int, base: int) -> list[tuple[int, int]]:
    """Return where runs stand that occur once in each, as many as keep their order."""
    found = []
    for words in (a, b):
        runs = np.zeros(words.size - size + 1, dtype=np.int64)
        for place in range(size):
            runs = runs * base + words[place : words.size - size + 1 + place]
        values, places, counts = np.unique(runs, return_index=True, return_counts=True)
        found.append((values[counts == 1], places[counts == 1]))
    (mine, at), (theirs, there) = found
    _, k, n = np.intersect1d(mine, theirs, assume_unique=True, return_indices=True)
    order = np.argsort(at[k])
    return _rising(at[k][order].tolist(), there[n][order].tolist())


def _rising(places: Sequence[int], others: Sequence[int]) -> list[tuple[int, int]]:
    """Return the longest choice of pairs in which the second numbers rise as the first do."""
    ends: list[int] = []  # smallest last number of a choice of each size …
    at: list[int] = []  # … and which pair it is
    before = []
    for number, other in enumerate(others):
        size = bisect_left(ends, other)
        before.append(at[size - 1] if size else -1)
        ends[size : size + 1] = [other]
        at[size : size + 1] = [number]
    chosen = []
    number = at[-1] if at else -1
    while number >= 0:
        chosen.append((places[number], others[number]))
        number = before[number]
    return chosen[::-1]


def _grown(
    places: Iterable[tuple[int, int]], a: Sequence[int], b: Sequence[int]
) -> list[tuple[int, int, int]]:
    """Let runs grow to both sides as far as the words are the same."""
    found = []
    i_done = j_done = 0
    for i, j in places:
        if i < i_done or j < j_done:
            continue  # the run before has grown over it
        k, n = i, j
        while k > i_done and n > j_done and a[k - 1] == b[n - 1]:
            k, n = k - 1, n - 1
        i_done, j_done = i, j
        while i_done < len(a) and j_done < len(b) and a[i_done] == b[j_done]:
            i_done, j_done = i_done + 1, j_done + 1
        found.append((k, n, i_done - k))
    return found


def _common(a: I64, b: I64) -> Iterator[tuple[int, int]]:
    """Return a longest common subsequence, from its end."""
    if a.size > b.size:
        yield from ((i, j) for j, i in _common(b, a))
        return
    rows = np.zeros((a.size + 1, b.size + 1), dtype=np.int16)
    for number, word in enumerate(a.tolist(), start=1):
        above = rows[number - 1]
        best = np.maximum(above[1:], above[:-1] + (b == word))
        np.maximum.accumulate(best, out=rows[number, 1:])
    i, j = a.size, b.size
    while rows[i, j]:
        if rows[i, j] == rows[i - 1, j]:
            i -= 1
        elif rows[i, j] == rows[i, j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            yield i, j


def _smaller(a: I64, b: I64) -> list[tuple[int, int, int, int]]:
    """Cut two stretches without a run to hold on to; what is small enough is aligned whole."""
    if a.size > b.size:
        return [(k, k_end, n, n_end) for n, n_end, k, k_end in _smaller(b, a)]
    if b.size > _LOPSIDED * a.size:
        n, n_end = _window(a, b)
        return [(0, a.size, n, n_end)]
    k, n = a.size // 2, b.size // 2
    return [(0, k, 0, n), (k, a.size, n, b.size)]


def _window(short: I64, long: I64) -> Span:
    """Return where most of a short stretch stands in a long one; rare words count for more."""
    _, number, counts = np.unique(long, return_inverse=True, return_counts=True)
    weight = np.isin(long, short) / counts[number]
    size = 2 * short.size
    sums = np.concatenate(([0.0], np.cumsum(weight)))
    begin = int(np.argmax(sums[size:] - sums[:-size]))
    return max(0, begin - short.size // 2), min(long.size, begin + size + short.size // 2)


# Runs of words: place in the first text, place in the second, how many

Run = tuple[int, int, int]


def _runs(mates: I64) -> list[Run]:
    first = np.flatnonzero(mates >= 0)
    second = mates[first]
    cuts = np.flatnonzero((np.diff(first) != 1) | (np.diff(second) != 1)) + 1
    edges = np.concatenate(([0], cuts, [first.size])).tolist() if first.size else []
    return [(int(first[a]), int(second[a]), b - a) for a, b in itertools.pairwise(edges)]


def _slid(runs: Sequence[Run], first: I64, second: I64) -> list[Run]:
    """Move a few words across a stretch of one text to the run they belong to as well.

    “The” at the beginning of a document is not the first word of a passage that begins with it.
    """
    back: list[Run] = []
    for i, j, n in reversed(runs):
        k, m, size = back[-1] if back else (i + n, j + n, 0)
        words = first[i : i + n].tolist() if _one_sided(k - i - n, m - j - n, n) else None
        if words == first[k - n : k].tolist() == second[m - n : m].tolist():
            back[-1] = (k - n, m - n, size + n)
        else:
            back.append((i, j, n))
    forth: list[Run] = []
    for k, m, size in reversed(back):
        i, j, n = forth[-1] if forth else (k, m, 0)
        i, j = i + n, j + n
        words = first[k : k + size].tolist() if _one_sided(k - i, m - j, size) else None
        if words == first[i : i + size].tolist() == second[j : j + size].tolist():
            forth[-1] = (i - n, j - n, n + size)
        else:
            forth.append((k, m, size))
    return forth


def _one_sided(gap: int, other: int, words: int) -> bool:
    """Return whether a few words stand beside what one text has more than the other."""
    return words <= _STRAY and (gap == 0) != (other == 0)


def _without_strays(runs: Sequence[Run], size: int, others: int) -> list[Run]:
    """Leave out runs of a few words with more than that before and behind them that differs."""
    kept = list(runs)
    while True:
        ends = [(0, 0), *((i + n, j + n) for i, j, n in kept)]
        begins = [*((i, j) for i, j, _ in kept), (size, others)]
        apart = [max(i - k, j - m) for (i, j), (k, m) in zip(begins, ends, strict=True)]
        found = [
            run
            for place, run in enumerate(kept)
            if run[2] > _STRAY or run[2] >= min(apart[place], apart[place + 1])
        ]
        if len(found) == len(kept):
            return found
        kept = found


# Characters


def _pairs(
    left: str, right: str, lefts: Sequence[Span], rights: Sequence[Span], runs: Sequence[Run]
) -> Iterator[Pair]:
    """Return the stretches of the texts whose words go together as said; same ones in pieces."""
    x = y = i = j = 0  # characters and words that are done
    for k, m, n in runs:
        yield from _between(
            left, right, (x, lefts[k][0]), (y, rights[m][0]), lefts[i:k], rights[j:m]
        )
        whole = (lefts[k][0], lefts[k + n - 1][1]), (rights[m][0], rights[m + n - 1][1])
        if left[slice(*whole[0])] == right[slice(*whole[1])]:
            yield Pair(kind=Kind.SAME, left=whole[0], right=whole[1])
        else:
            for one, other in zip(
                itertools.pairwise(lefts[k : k + n]),
                itertools.pairwise(rights[m : m + n]),
                strict=True,
            ):
                yield Pair(kind=Kind.SAME, left=one[0], right=other[0])
                gaps = (one[0][1], one[1][0]), (other[0][1], other[1][0])
                yield from _between(left, right, *gaps, (), ())
            yield Pair(kind=Kind.SAME, left=lefts[k + n - 1], right=rights[m + n - 1])
        (x, y), i, j = (whole[0][1], whole[1][1]), k + n, m + n
    yield from _between(left, right, (x, len(left)), (y, len(right)), lefts[i:], rights[j:])


def _between(
    left: str,
    right: str,
    mine: Span,
    theirs: Span,
    words: Sequence[Span],
    others: Sequence[Span],
) -> Iterator[Pair]:
    """Return what stands between two words that both texts have, or before or after all of them.

    Args:
        left: One text.
        right: The other.
        mine: Of the left text.
        theirs: Of the right text.
        words: The words in it.
        others: Those in the other.
    """
    (x, x_end), (y, y_end) = mine, theirs
    # What both begin and end with; no word is cut.
    lead = (x, words[0][0] if words else x_end), (y, others[0][0] if others else y_end)
    n = _begin(left[slice(*lead[0])], right[slice(*lead[1])])
    tail = (
        max(x + n, words[-1][1] if words else x),
        max(y + n, others[-1][1] if others else y),
    )
    m = _begin(left[tail[0] : x_end][::-1], right[tail[1] : y_end][::-1])
    if n:
        yield Pair(kind=Kind.SAME, left=(x, x + n), right=(y, y + n))
    inner = (x + n, x_end - m), (y + n, y_end - m)
    one, other = left[slice(*inner[0])], right[slice(*inner[1])]
    if one or other:
        kind = (
            Kind.SPACING
            if not one.strip() and not other.strip()
            else Kind.LEFT
            if not other
            else Kind.RIGHT
            if not one
            else Kind.CHANGED
        )
        yield Pair(kind=kind, left=inner[0], right=inner[1])
    if m:
        yield Pair(kind=Kind.SAME, left=(x_end - m, x_end), right=(y_end - m, y_end))


def _begin(one: str, other: str) -> int:
    """Return how many characters begin both alike."""
    differ = (k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differ, min(len(one), len(other)))


def _joined(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Put same stretches together that follow each other."""
    held: Pair | None = None
    for pair in pairs:
        if held is not None and pair.kind is held.kind is Kind.SAME:
            held = Pair(
                kind=Kind.SAME,
                left=(held.left[0], pair.left[1]),
                right=(held.right[0], pair.right[1]),
            )
            continue
        if held is not None:
            yield held
        held = pair
    if held is not None:
        yield held


TOLERANCE: Final = 0.05
"""Powers of ten within which two values of the evidence count as the same; another device or
batch size moves it by less (evidence.md)."""


@dataclass(frozen=True, kw_only=True)
class ComparisonLine:
    """One thing that is compared.

    Attributes:
        name: Stable name.
        first: Of the first audit, ready to read.
        second: Of the second audit.
        same: The two agree, the evidence within :data:`TOLERANCE`.
    """

    name: str
    first: str
    second: str
    same: bool


_PARTS: Final[tuple[tuple[str, Callable[[Audit], str]], ...]] = (
    ("item", lambda a: a.input.name),
    ("sha256", lambda a: a.input.sha256),
    ("tokens", lambda a: str(a.input.tokens)),
    ("keys", lambda a: ", ".join(key.fingerprint for key in a.keys)),
    ("profile", lambda a: a.profile.name or a.profile.coding),
    ("model", lambda a: f"{a.model.name} ({a.model.fingerprint})"),
    ("prompt", lambda a: "known" if a.prompt.known else "unknown"),
    ("device", lambda a: f"{a.device.kind}, {a.device.dtype}"),
    ("decoder", lambda a: a.decoder),
    ("verdict", lambda a: a.verdict),
    # What is decoded without a mark, or is in question, is nobody's payload.
    ("payload", lambda a: ", ".join(m.payload.bits or "?" for m in a.named_marks) or "–"),
    ("repaired", lambda a: str(a.decoded.repaired) if a.verdict == "mark" else "–"),
    ("usable", lambda a: str(a.evidence.usable)),
)


def compare_audits(first: Audit, second: Audit) -> tuple[ComparisonLine, ...]:
    """Compare two audits, of the same text or of two.

    Args:
        first: One.
        second: The other.

    Returns:
        A line for each thing, the evidence last.
    """
    lines = [
        ComparisonLine(
            name=name, first=read(first), second=read(second), same=read(first) == read(second)
        )
        for name, read in _PARTS
    ]
    a, b = first.evidence.log10_e, second.evidence.log10_e
    lines.append(
        ComparisonLine(
            name="evidence", first=f"{a:.3f}", second=f"{b:.3f}", same=abs(a - b) <= TOLERANCE
        )
    )
    return tuple(lines)
