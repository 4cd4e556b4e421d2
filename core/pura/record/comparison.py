"""Alignment of two texts by words, and comparison of two audits.

The alignment shows which parts of one text occur in the other, in the same order. Words are aligned
first; the characters between two words that are neighbours in both texts are compared afterwards.
Runs of words that occur once in each text anchor the alignment, which locates a passage in a long
document. Stretches between anchors are aligned by the longest common subsequence, in pieces of
bounded size, so the time grows linearly with the texts.
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

_UNSPACED: Final = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"  # written without blanks
_WORD: Final = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
_RUNS: Final = (3, 1)  # lengths, in words, of runs that occur once in each text
_CELLS: Final = 1 << 20  # largest table of a longest common subsequence
_SMALL: Final = 1 << 10  # tables up to this size are computed without looking for runs
_LOPSIDED: Final = 4  # ratio of lengths above which the short stretch is located first
_DEPTH: Final = 40  # levels of runs between runs; texts written by people stay far below
_STRAY: Final = 4
"""Words in a row that two texts may share by chance: such a run is ignored if longer stretches
differ on both sides of it."""
_SLIVER: Final = 40  # characters; the limits of a mark are not known better


class Kind(StrEnum):
    """Relation between two stretches."""

    SAME = "same"
    SPACING = "spacing"
    """The stretches differ only in blanks and line breaks."""
    CHANGED = "changed"
    LEFT = "left"
    """Only the left text has it."""
    RIGHT = "right"
    """Only the right text has it."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A stretch of each text.

    Attributes:
        kind: Relation between the two.
        left: First character and the one after the last; empty if only the right text has it.
        right: The same for the right text.
    """

    kind: Kind
    left: Span
    right: Span


@dataclass(frozen=True, kw_only=True)
class Alignment:
    """Two texts, stretch by stretch.

    Attributes:
        pairs: Cover both texts, in their order.
        words: Number of words of each text.
        shared: Number of words that occur in both, in the same order.
    """

    pairs: tuple[Pair, ...]
    words: tuple[int, int]
    shared: int

    @cached_property
    def differences(self) -> tuple[Pair, ...]:
        """The stretches that differ, not counting blanks and line breaks."""
        return tuple(p for p in self.pairs if p.kind not in (Kind.SAME, Kind.SPACING))

    def right_of(self, position: int) -> int:
        """Return the position in the right text that corresponds to one in the left text."""
        return _across(position, self._lefts, self._rights, self._same)

    def left_of(self, position: int) -> int:
        """Return the position in the left text that corresponds to one in the right text."""
        return _across(position, self._rights, self._lefts, self._same)

    @cached_property
    def _lefts(self) -> list[int]:
        return [p.left[0] for p in self.pairs] + [p.left[1] for p in self.pairs[-1:]]

    @cached_property
    def _rights(self) -> list[int]:
        return [p.right[0] for p in self.pairs] + [p.right[1] for p in self.pairs[-1:]]

    @cached_property
    def _same(self) -> list[bool]:
        return [p.kind is Kind.SAME for p in self.pairs]


def _across(
    position: int, starts: Sequence[int], targets: Sequence[int], same: Sequence[bool]
) -> int:
    number = bisect_right(starts, position) - 1
    if not 0 <= number < len(same):
        return targets[-1] if targets else 0
    return targets[number] + (position - starts[number] if same[number] else 0)


def align(left: str, right: str, *, checkpoint: Checkpoint = never_cancelled) -> Alignment:
    """Align two texts.

    Args:
        left: The left text.
        right: The right text; either text may be a passage of the other.
        checkpoint: Called now and then; may raise.

    Returns:
        Stretches that cover both texts.
    """
    spans = _spans(left), _spans(right)
    if left == right:
        extent = (0, len(left))
        pairs = (Pair(kind=Kind.SAME, left=extent, right=extent),) if left else ()
        size = len(spans[0])
        return Alignment(pairs=pairs, words=(size, size), shared=size)
    numbers: dict[str, int] = {}
    first, second = (
        np.array(
            [numbers.setdefault(text[a:b], len(numbers)) for a, b in text_spans], dtype=np.int64
        )
        for text, text_spans in zip((left, right), spans, strict=True)
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
    """Return the stretches that both texts share but that carry a mark in only one of them.

    Args:
        alignment: Alignment of the texts.
        left: First and last characters of the passages of marks in the left text.
        right: The same for the right text.

    Returns:
        Stretches in order; ``LEFT`` is marked in the left text only. Stretches shorter than the
        uncertainty of a passage's limits are omitted.
    """
    marks = _union(left), _union(right)
    stretches: list[Pair] = []
    for pair in alignment.pairs:
        if pair.kind is not Kind.SAME:
            continue
        (x, end), y = pair.left, pair.right[0]
        edges = {x, end}
        for spans, offset in zip(marks, (0, x - y), strict=True):
            edges |= {min(max(limit + offset, x), end) for span in spans for limit in span}
        for start, stop in itertools.pairwise(sorted(edges)):
            marked = _inside(start, marks[0]), _inside(start - x + y, marks[1])
            if marked[0] == marked[1]:
                continue
            kind = Kind.LEFT if marked[0] else Kind.RIGHT
            stretches.append(
                Pair(kind=kind, left=(start, stop), right=(start - x + y, stop - x + y))
            )
    merged: list[Pair] = []
    for stretch in stretches:
        before = merged[-1] if merged else None
        if (
            before is not None
            and before.kind is stretch.kind
            and _only_differs(alignment, before, stretch)
        ):
            merged[-1] = Pair(
                kind=stretch.kind,
                left=(before.left[0], stretch.left[1]),
                right=(before.right[0], stretch.right[1]),
            )
        else:
            merged.append(stretch)
    return tuple(stretch for stretch in merged if stretch.left[1] - stretch.left[0] >= _SLIVER)


def _union(spans: Iterable[Span]) -> list[Span]:
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def _inside(position: int, spans: Sequence[Span]) -> bool:
    number = bisect_right(spans, position, key=lambda span: span[0]) - 1
    return number >= 0 and position < spans[number][1]


def _only_differs(alignment: Alignment, before: Pair, after: Pair) -> bool:
    """Return whether no shared text lies between two stretches."""
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
    return [match.span() for match in _WORD.finditer(text)]


def _mates(first: I64, second: I64, base: int, checkpoint: Checkpoint) -> I64:
    """Return for each word of the first text the number of its match in the second, or -1.

    Args:
        first: int64 [N], words as numbers below ``base``.
        second: int64 [M].
        base: Exclusive upper bound of the words' numbers.
        checkpoint: Called for each piece; may raise.
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
    """Return how many first words are equal; at the edge of the texts, 0 if they are only a few."""
    size = min(a.size, b.size)
    differ = np.flatnonzero(a[:size] != b[:size])
    alike = int(differ[0]) if differ.size else size
    return 0 if edge and alike < min(size, _STRAY) else alike


def _anchors(a: I64, b: I64, base: int) -> list[tuple[int, int, int]]:
    """Return runs of words that anchor two stretches: positions in both, and their size."""
    for size in _RUNS:
        if min(a.size, b.size) < size:
            continue
        unique_runs = _once(a, b, size, base)
        if unique_runs:
            return _grown(unique_runs, a.tolist(), b.tolist())
    return []


def _once(a: I64, b: I64, size: int, base: int) -> list[tuple[int, int]]:
    """Return the positions of runs that occur once in each text, as many as keep their order."""
    unique = []
    for numbers in (a, b):
        runs = np.zeros(numbers.size - size + 1, dtype=np.int64)
        for offset in range(size):
            runs = runs * base + numbers[offset : numbers.size - size + 1 + offset]
        codes, starts, counts = np.unique(runs, return_index=True, return_counts=True)
        unique.append((codes[counts == 1], starts[counts == 1]))
    (a_runs, a_starts), (b_runs, b_starts) = unique
    _, k, n = np.intersect1d(a_runs, b_runs, assume_unique=True, return_indices=True)
    order = np.argsort(a_starts[k])
    return _rising(a_starts[k][order].tolist(), b_starts[n][order].tolist())


def _rising(firsts: Sequence[int], seconds: Sequence[int]) -> list[tuple[int, int]]:
    """Return the longest selection of pairs in which the second numbers increase too."""
    ends: list[int] = []  # smallest last number of a selection of each size …
    tops: list[int] = []  # … and which pair it is
    before = []
    for number, value in enumerate(seconds):
        size = bisect_left(ends, value)
        before.append(tops[size - 1] if size else -1)
        ends[size : size + 1] = [value]
        tops[size : size + 1] = [number]
    pairs = []
    number = tops[-1] if tops else -1
    while number >= 0:
        pairs.append((firsts[number], seconds[number]))
        number = before[number]
    return pairs[::-1]


def _grown(
    starts: Iterable[tuple[int, int]], a: Sequence[int], b: Sequence[int]
) -> list[tuple[int, int, int]]:
    """Extend runs to both sides while the words are equal."""
    grown = []
    i_done = j_done = 0
    for i, j in starts:
        if i < i_done or j < j_done:
            continue  # the run before has grown over it
        k, n = i, j
        while k > i_done and n > j_done and a[k - 1] == b[n - 1]:
            k, n = k - 1, n - 1
        i_done, j_done = i, j
        while i_done < len(a) and j_done < len(b) and a[i_done] == b[j_done]:
            i_done, j_done = i_done + 1, j_done + 1
        grown.append((k, n, i_done - k))
    return grown


def _common(a: I64, b: I64) -> Iterator[tuple[int, int]]:
    """Yield a longest common subsequence, from its end."""
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
    """Cut two stretches without anchors into smaller ones."""
    if a.size > b.size:
        return [(k, k_end, n, n_end) for n, n_end, k, k_end in _smaller(b, a)]
    if b.size > _LOPSIDED * a.size:
        n, n_end = _window(a, b)
        return [(0, a.size, n, n_end)]
    k, n = a.size // 2, b.size // 2
    return [(0, k, 0, n), (k, a.size, n, b.size)]


def _window(short: I64, long: I64) -> Span:
    """Return where a long stretch shares most with a short one; rare words weigh more."""
    _, number, counts = np.unique(long, return_inverse=True, return_counts=True)
    weight = np.isin(long, short) / counts[number]
    size = 2 * short.size
    sums = np.concatenate(([0.0], np.cumsum(weight)))
    begin = int(np.argmax(sums[size:] - sums[:-size]))
    return max(0, begin - short.size // 2), min(long.size, begin + size + short.size // 2)


# Runs of words: position in the first text, position in the second, number of words

Run = tuple[int, int, int]


def _runs(mates: I64) -> list[Run]:
    first = np.flatnonzero(mates >= 0)
    second = mates[first]
    cuts = np.flatnonzero((np.diff(first) != 1) | (np.diff(second) != 1)) + 1
    edges = np.concatenate(([0], cuts, [first.size])).tolist() if first.size else []
    return [(int(first[a]), int(second[a]), b - a) for a, b in itertools.pairwise(edges)]


def _slid(runs: Sequence[Run], first: I64, second: I64) -> list[Run]:
    """Move a few words across a stretch of one text to the run that they equally fit.

    “The” at the beginning of a document is not the first word of a passage that begins with it.
    """
    back: list[Run] = []
    for i, j, n in reversed(runs):
        k, m, size = back[-1] if back else (i + n, j + n, 0)
        moved = first[i : i + n].tolist() if _one_sided(k - i - n, m - j - n, n) else None
        if moved == first[k - n : k].tolist() == second[m - n : m].tolist():
            back[-1] = (k - n, m - n, size + n)
        else:
            back.append((i, j, n))
    forth: list[Run] = []
    for k, m, size in reversed(back):
        i, j, n = forth[-1] if forth else (k, m, 0)
        i, j = i + n, j + n
        moved = first[k : k + size].tolist() if _one_sided(k - i, m - j, size) else None
        if moved == first[i : i + size].tolist() == second[j : j + size].tolist():
            forth[-1] = (i - n, j - n, n + size)
        else:
            forth.append((k, m, size))
    return forth


def _one_sided(gap: int, other_gap: int, size: int) -> bool:
    """Return whether a few words lie beside a stretch that only one text has."""
    return size <= _STRAY and (gap == 0) != (other_gap == 0)


def _without_strays(runs: Sequence[Run], size: int, other_size: int) -> list[Run]:
    """Drop runs of a few words with longer differences before and after them."""
    current = list(runs)
    while True:
        ends = [(0, 0), *((i + n, j + n) for i, j, n in current)]
        begins = [*((i, j) for i, j, _ in current), (size, other_size)]
        gaps = [max(i - k, j - m) for (i, j), (k, m) in zip(begins, ends, strict=True)]
        remaining = [
            run
            for number, run in enumerate(current)
            if run[2] > _STRAY or run[2] >= min(gaps[number], gaps[number + 1])
        ]
        if len(remaining) == len(current):
            return remaining
        current = remaining


# Characters


def _pairs(
    left: str, right: str, lefts: Sequence[Span], rights: Sequence[Span], runs: Sequence[Run]
) -> Iterator[Pair]:
    """Yield the stretches of the texts from their runs of equal words; equal ones in pieces."""
    x = y = i = j = 0  # characters and words that were yielded
    for k, m, n in runs:
        yield from _between(
            left, right, (x, lefts[k][0]), (y, rights[m][0]), lefts[i:k], rights[j:m]
        )
        extent = (lefts[k][0], lefts[k + n - 1][1]), (rights[m][0], rights[m + n - 1][1])
        if left[slice(*extent[0])] == right[slice(*extent[1])]:
            yield Pair(kind=Kind.SAME, left=extent[0], right=extent[1])
        else:
            for left_pair, right_pair in zip(
                itertools.pairwise(lefts[k : k + n]),
                itertools.pairwise(rights[m : m + n]),
                strict=True,
            ):
                yield Pair(kind=Kind.SAME, left=left_pair[0], right=right_pair[0])
                gaps = (left_pair[0][1], left_pair[1][0]), (right_pair[0][1], right_pair[1][0])
                yield from _between(left, right, *gaps, (), ())
            yield Pair(kind=Kind.SAME, left=lefts[k + n - 1], right=rights[m + n - 1])
        (x, y), i, j = (extent[0][1], extent[1][1]), k + n, m + n
    yield from _between(left, right, (x, len(left)), (y, len(right)), lefts[i:], rights[j:])


def _between(
    left: str,
    right: str,
    left_span: Span,
    right_span: Span,
    left_words: Sequence[Span],
    right_words: Sequence[Span],
) -> Iterator[Pair]:
    """Yield the stretches between two shared words, or before or after all of them.

    Args:
        left: The left text.
        right: The right text.
        left_span: Stretch of the left text.
        right_span: Stretch of the right text.
        left_words: Words in ``left_span``.
        right_words: Words in ``right_span``.
    """
    (x, x_end), (y, y_end) = left_span, right_span
    # Characters with which both begin and end; no word is cut.
    lead = (
        (x, left_words[0][0] if left_words else x_end),
        (y, right_words[0][0] if right_words else y_end),
    )
    n = _begin(left[slice(*lead[0])], right[slice(*lead[1])])
    tail = (
        max(x + n, left_words[-1][1] if left_words else x),
        max(y + n, right_words[-1][1] if right_words else y),
    )
    m = _begin(left[tail[0] : x_end][::-1], right[tail[1] : y_end][::-1])
    if n:
        yield Pair(kind=Kind.SAME, left=(x, x + n), right=(y, y + n))
    inner = (x + n, x_end - m), (y + n, y_end - m)
    left_rest, right_rest = left[slice(*inner[0])], right[slice(*inner[1])]
    if left_rest or right_rest:
        kind = (
            Kind.SPACING
            if not left_rest.strip() and not right_rest.strip()
            else Kind.LEFT
            if not right_rest
            else Kind.RIGHT
            if not left_rest
            else Kind.CHANGED
        )
        yield Pair(kind=kind, left=inner[0], right=inner[1])
    if m:
        yield Pair(kind=Kind.SAME, left=(x_end - m, x_end), right=(y_end - m, y_end))


def _begin(first: str, second: str) -> int:
    """Return how many first characters are equal."""
    differ = (k for k, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)
    return next(differ, min(len(first), len(second)))


def _joined(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Merge neighbouring equal stretches."""
    pending: Pair | None = None
    for pair in pairs:
        if pending is not None and pair.kind is pending.kind is Kind.SAME:
            pending = Pair(
                kind=Kind.SAME,
                left=(pending.left[0], pair.left[1]),
                right=(pending.right[0], pair.right[1]),
            )
            continue
        if pending is not None:
            yield pending
        pending = pair
    if pending is not None:
        yield pending


TOLERANCE: Final = 0.05
"""Powers of ten within which two values of the evidence count as equal; another device or batch
size changes it by less (evidence.md)."""


@dataclass(frozen=True, kw_only=True)
class ComparisonLine:
    """One line of a comparison of two audits.

    Attributes:
        name: Stable name.
        first: Value of the first audit, for people.
        second: Value of the second audit.
        same: Whether both agree, the evidence within :data:`TOLERANCE`.
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
    # Without a mark, or with a payload in question, no payload is named.
    ("payload", lambda a: ", ".join(m.payload.bits or "?" for m in a.named_marks) or "–"),
    ("repaired", lambda a: str(a.decoded.repaired) if a.verdict == "mark" else "–"),
    ("usable", lambda a: str(a.evidence.usable)),
)


def compare_audits(first: Audit, second: Audit) -> tuple[ComparisonLine, ...]:
    """Compare two audits, of the same text or of two.

    Args:
        first: The first audit.
        second: The second audit.

    Returns:
        The lines of the comparison, the evidence last.
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
