"""What stands between two passages of one mark, and how well it is known where.

Such a gap begins where one passage ends and ends where the next one begins. Neither is known to the
character: both are stated with the credible intervals of the passages, as the passages themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from pura.record.naming import NamedMark, Passage
from pura.words.sentences import Sentence

_MOST_NAMED: Final = 8  # that one sentence names; the list of passages has them all
_KEY: Final = "text.gap-between"
_FORMER_KEY: Final = "text.gap"
"""Up to 0.4.0 the sentence had one place for each limit, as if it were known to the character."""


@dataclass(frozen=True, kw_only=True)
class Gap:
    """Text between two passages of one mark. Characters are counted from 1.

    Attributes:
        after_from: Least last character of the passage before.
        after_to: Greatest of it.
        before_from: Least first character of the passage behind.
        before_to: Greatest of it.
    """

    after_from: int
    after_to: int
    before_from: int
    before_to: int


def gaps_between(marks: Iterable[Sequence[Passage]]) -> tuple[Gap, ...]:
    """Return the gaps between the passages of each mark, in the order of the text.

    Args:
        marks: The passages of each mark. Where another mark stands between two passages, there is
            no gap.
    """
    by_mark = [sorted(passages, key=lambda one: one.first_token) for passages in marks]
    taken = [(one.first_token, one.last_token) for passages in by_mark for one in passages]
    gaps = []
    for passages in by_mark:
        for before, behind in pairwise(passages):
            first, last = before.last_token + 1, behind.first_token - 1
            if first <= last and not any(a <= last and first <= b for a, b in taken):
                gaps.append(_gap(before, behind))
    return tuple(sorted(gaps, key=lambda gap: (gap.after_from, gap.before_to)))


def _gap(before: Passage, behind: Passage) -> Gap:
    # Records up to 0.2.0 hold no intervals.
    _, _, after_from, after_to = before.limits or (0, 0, before.end, before.end)
    before_from, before_to, _, _ = behind.limits or (behind.start, behind.start, 0, 0)
    return Gap(
        after_from=after_from,
        after_to=after_to,
        before_from=before_from + 1,
        before_to=before_to + 1,
    )


def gap_sentence(gaps: Sequence[Gap]) -> Sentence:
    """Return the sentence that names gaps; at least one.

    Its value ``gaps`` holds four characters for each gap, as the blank of the kind ``gaps`` reads
    them (:mod:`pura.base.catalogue`), so that it is written in the reader's language.
    """
    places = [
        f"{gap.after_from} {gap.after_to} {gap.before_from} {gap.before_to}"
        for gap in gaps[:_MOST_NAMED]
    ]
    if len(gaps) > _MOST_NAMED:
        places.append("…")
    return Sentence(key=_KEY, values={"k": len(gaps), "gaps": ", ".join(places)})


def with_gaps_said(
    sentences: Iterable[Sentence], marks: Sequence[NamedMark]
) -> tuple[Sentence, ...]:
    """Return the sentences of a record with its gaps as they are said today.

    Args:
        sentences: Of the record, which may be one of an earlier version.
        marks: Its marks.
    """
    gaps = gaps_between(mark.passages for mark in marks)
    return tuple(
        gap_sentence(gaps) if sentence.key == _FORMER_KEY and gaps else sentence
        for sentence in sentences
    )
