"""Gaps between two passages of one mark, with the uncertainty of their limits.

A gap begins where one passage ends, and ends where the next one begins. Neither limit is known to
the character, so both are stated with the credible intervals of the passages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from pura.record.naming import NamedMark, Passage
from pura.words.sentences import Sentence

_MOST_NAMED: Final = 8  # gaps in one sentence; the list of passages has all
_KEY: Final = "text.gap-between"
_FORMER_KEY: Final = "text.gap"
"""Up to 0.4.0 the sentence had a single position for each limit."""


@dataclass(frozen=True, kw_only=True)
class Gap:
    """Text between two passages of one mark. Characters are counted from 1.

    Attributes:
        after_from: Earliest end of the passage before.
        after_to: Latest end of the passage before.
        before_from: Earliest start of the passage after.
        before_to: Latest start of the passage after.
    """

    after_from: int
    after_to: int
    before_from: int
    before_to: int


def gaps_between(marks: Iterable[Sequence[Passage]]) -> tuple[Gap, ...]:
    """Return the gaps between the passages of each mark, in the order of the text.

    Args:
        marks: The passages of each mark. Passages with another mark between them have no gap.
    """
    by_mark = [sorted(passages, key=lambda passage: passage.first_token) for passages in marks]
    occupied = [
        (passage.first_token, passage.last_token) for passages in by_mark for passage in passages
    ]
    gaps = []
    for passages in by_mark:
        for before, following in pairwise(passages):
            first, last = before.last_token + 1, following.first_token - 1
            if first <= last and not any(a <= last and first <= b for a, b in occupied):
                gaps.append(_gap(before, following))
    return tuple(sorted(gaps, key=lambda gap: (gap.after_from, gap.before_to)))


def _gap(before: Passage, following: Passage) -> Gap:
    # Records up to 0.2.0 hold no intervals.
    _, _, after_from, after_to = before.limits or (0, 0, before.end, before.end)
    before_from, before_to, _, _ = following.limits or (following.start, following.start, 0, 0)
    return Gap(
        after_from=after_from,
        after_to=after_to,
        before_from=before_from + 1,
        before_to=before_to + 1,
    )


def gap_sentence(gaps: Sequence[Gap]) -> Sentence:
    """Return the sentence that names the gaps, of which there is at least one.

    Its value ``gaps`` holds four positions for each gap, in the form of the placeholder ``gaps``
    (:mod:`pura.base.catalogue`), which is written in the reader's language.
    """
    limits = [
        f"{gap.after_from} {gap.after_to} {gap.before_from} {gap.before_to}"
        for gap in gaps[:_MOST_NAMED]
    ]
    if len(gaps) > _MOST_NAMED:
        limits.append("…")
    return Sentence(key=_KEY, values={"k": len(gaps), "gaps": ", ".join(limits)})


def with_gaps_said(
    sentences: Iterable[Sentence], marks: Sequence[NamedMark]
) -> tuple[Sentence, ...]:
    """Return the sentences of a record, with its gaps in the present wording.

    Args:
        sentences: Sentences of the record, which may come from an earlier version.
        marks: Marks of the record.
    """
    gaps = gaps_between(mark.passages for mark in marks)
    return tuple(
        gap_sentence(gaps) if sentence.key == _FORMER_KEY and gaps else sentence
        for sentence in sentences
    )
