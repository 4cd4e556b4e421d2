"""Whether the payload of a found mark may name somebody, or is withheld (evidence.md §7).

A mark proves that the key was at work. Who has collected texts with one payload can make others
that carry it, without the key. Two things show it: the steps fit one by one and not in stretches
(where a payload is used more than once), and pieces with several payloads stand side by side.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pura.detect.verdict.policy import Policy
from pura.record.evidence import FitFacts, MarkFacts
from pura.record.naming import PIECES, UNFIT, Passage
from pura.scheme import Profile

SHORT_PIECE: Final = 50
"""Tokens of a passage below which several of one mark are pieces. Texts by one writer stand in one
passage, or after editing in some of at least 66 tokens on average; texts of pieces of 30 tokens in
passages of 25 to 34 (forgery.md). Quotations of 60 tokens keep their names."""


def withhold(marks: Sequence[MarkFacts], profile: Profile, policy: Policy) -> tuple[MarkFacts, ...]:
    """Take the payload from the marks of a finding that may not name anybody.

    Args:
        marks: The marks of a text that was found to carry one, in any order.
        profile: Says whether a payload is used once.
        policy: Says how well a mark with a payload that is used again must fit.

    Returns:
        The marks in the same order; of those that are withheld neither payload nor candidates.
    """
    return tuple(
        _without_payload(one, why) if (why := reason(one, marks, profile, policy)) else one
        for one in marks
    )


def reason(mark: MarkFacts, marks: Sequence[MarkFacts], profile: Profile, policy: Policy) -> str:
    """Return why the payload of a mark names nobody, one of ``WITHHELD``; empty where it may.

    Args:
        mark: One of the marks.
        marks: All marks of the text.
        profile: As for :func:`withhold`.
        policy: As for :func:`withhold`.
    """
    if profile.foreign is not None:
        return ""
    others = [one for one in marks if one is not mark]
    if _in_short_pieces(mark.passages) or any(_interleaved(mark, other) for other in others):
        return PIECES
    if profile.payload_use != "answer" and not _fits(mark.fit, policy):
        return UNFIT
    return ""


def _fits(fit: FitFacts | None, policy: Policy) -> bool:
    if fit is None:
        return True
    return fit.log10_ratio >= policy.name_ratio and fit.log10_per_step >= policy.name_per_step


def _in_short_pieces(passages: Sequence[Passage]) -> bool:
    lengths = [one.last_token - one.first_token + 1 for one in passages]
    return len(lengths) > 1 and sum(lengths) < SHORT_PIECE * len(lengths)


def _interleaved(mark: MarkFacts, other: MarkFacts) -> bool:
    """Whether a passage of each mark stands between two of the other, or one between two."""
    starts = sorted(
        [(one.first_token, True) for one in mark.passages]
        + [(one.first_token, False) for one in other.passages]
    )
    changes = sum(before[1] != after[1] for before, after in itertools.pairwise(starts))
    return changes > 1


def _without_payload(mark: MarkFacts, why: str) -> MarkFacts:
    return replace(mark, bits="", fields=(), candidates=(), withheld=why)
