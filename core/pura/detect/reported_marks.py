"""The marks that a record reports, each with its own passages, payload and evidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from pura.detect.decode.fit import fit_of
from pura.detect.decode.marks import Extent, Mark
from pura.detect.decode.pooling import PooledPosterior
from pura.detect.key_reading import KeyReading
from pura.detect.selected import Selected, candidates
from pura.record.evidence import (
    FitFacts,
    MarkFacts,
)
from pura.record.naming import (
    CandidateFacts,
    Passage,
    token_share,
)
from pura.scheme import I64, Payload, Profile, encode, unpack

_LEAST_COPIED: Final = 20  # tokens


@dataclass(frozen=True, kw_only=True)
class SeparateMark:
    """A mark that is reported, and who read it.

    Attributes:
        trial: The key and the reading.
        mark: Payload and passages.
        log10_e: log10 of the e-value of its statement, times the weight of its trial: what is said
            of all marks of all trials holds together.
        posterior: How its evidence is spread over payloads; None where it is the only mark, of
            which the record says it as of the text.
    """

    trial: KeyReading
    mark: Mark
    log10_e: float
    posterior: PooledPosterior | None = None


def separate_marks(
    trials: Sequence[KeyReading], found: Selected, threshold: float
) -> tuple[SeparateMark, ...]:
    """Return the marks of a text in which one was found, in the order of the text.

    Args:
        trials: Every key on every reading; those of the shown reading count.
        found: The strongest of them; its strongest mark is there because of the text as a whole.
        threshold: log10 that the statement of any other must reach, times the number reported.
    """
    shown = found.trial
    others = [
        t for t in trials if t.begin is None and t is not shown and t.reading == shown.reading
    ]
    listed: list[SeparateMark] = []
    for trial in (shown, *others):
        taken = [one.mark for one in listed if one.trial.number == trial.number]
        listed += [
            SeparateMark(trial=trial, mark=mark, log10_e=mark.log10_e + trial.log10_weight)
            for mark in trial.exact.marks
            if not any(_meet(mark, other) for other in taken)
        ]
    first = [one for one in listed if one.mark is shown.exact.strongest]
    further = sorted(
        (one for one in listed if one.mark is not shown.exact.strongest),
        key=lambda one: -one.log10_e,
    )
    # The more passages are reported, the less each must reach (evidence.md §4).
    while further:
        reported = sum(max(1, len(one.mark.ranges)) for one in first + further)
        if further[-1].log10_e >= threshold - math.log10(reported):
            break
        further.pop()
    return tuple(sorted(first + further, key=lambda one: one.mark.ranges[:1]))


def _meet(mark: Mark, other: Mark) -> bool:
    """Whether two readings of one key point to the same tokens."""
    return any(a <= d and c <= b for a, b in mark.ranges for c, d in other.ranges)


def payload_of(mark: Mark, key: str, posterior: PooledPosterior) -> Payload:
    """Return the most probable payload of a mark under its key."""
    best = posterior.best_of(key)
    return mark.payload if best is None else best.payload


def mark_facts(
    marks: Sequence[SeparateMark],
    found: Selected,
    keys: Sequence[str],
    most: int,
) -> tuple[MarkFacts, ...]:
    """Return what is known of marks, each read from its own passages.

    Args:
        marks: Of :func:`separate_marks`.
        found: What the record is about.
        keys: Fingerprints of the keys.
        most: How many candidates to list at most.
    """
    profile, facts = found.profile, []
    for one in marks:
        key, payload = keys[one.trial.number], one.mark.payload
        listed: tuple[CandidateFacts, ...] = ()
        if one.posterior is not None:
            payload = payload_of(one.mark, key, one.posterior)
            listed = candidates(one.posterior, key, profile, most)
        elif found.decoder == "exact":
            payload = found.payload
        facts.append(
            MarkFacts(
                key=key,
                bits=payload.text,
                fields=unpack(profile.fields, payload),
                passages=passages_of(one.mark.extents, found.spans),
                share=token_share(one.mark.ranges, found.trial.seen.text_tokens),
                candidates=listed,
                own_log10_e=one.log10_e,
                fit=_fit_facts(one, payload, profile),
            )
        )
    return tuple(facts)


def _fit_facts(one: SeparateMark, payload: Payload, profile: Profile) -> FitFacts | None:
    """Return how the passages of a mark fit a text that was written under it."""
    trial = one.trial
    codeword, ranges = encode(payload, profile), one.mark.ranges
    fit = fit_of(trial.seen.schedule, trial.local.llr_nats, codeword, ranges)
    if fit is None:
        return None
    return FitFacts(log10_ratio=fit.log10_ratio, log10_per_step=fit.log10_per_step, steps=fit.steps)


def copies(
    found: Selected, marks: Sequence[SeparateMark], context_window: int
) -> tuple[tuple[int, int], ...]:
    """Return what repeats the text of a mark's passage word for word, outside of all passages.

    The contexts of such a stretch stood before, so none of it is counted.

    Returns:
        First and last character of each stretch, from 1, in order.
    """
    ids = found.trial.ids.tolist()
    taken, source = np.zeros((2, len(ids)), dtype=bool)
    for one in (one for mark in marks for one in mark.mark.extents):
        taken[one.first : one.last + 1] = True
        source[one.first_from : one.last_to + 1] = True
    seen: dict[tuple[int, ...], int] = {}
    stretches: list[list[int]] = []
    for at in range(context_window, len(ids)):
        before = seen.setdefault(tuple(ids[at - context_window : at + 1]), at)
        if before == at or not source[before] or taken[at]:
            continue
        if stretches and at - stretches[-1][1] <= context_window + 1:
            stretches[-1][1] = at
        else:
            stretches.append([at, at])
    spans = found.spans
    return tuple(
        (int(spans[first, 0]) + 1, int(spans[last, 1]))
        for first, last in stretches
        if last - first >= _LEAST_COPIED
    )


def passages_of(extents: Sequence[Extent], spans: I64) -> tuple[Passage, ...]:
    """Return passages of tokens with the characters that they stand for.

    Args:
        extents: First and last token of each, with their limits.
        spans: int64 [L, 2], characters of each token.
    """
    return tuple(
        Passage(
            first_token=one.first,
            last_token=one.last,
            start=int(spans[one.first, 0]),
            end=int(spans[one.last, 1]),
            start_from=int(spans[one.first_from, 0]),
            start_to=int(spans[one.first_to, 0]),
            end_from=int(spans[one.last_from, 1]),
            end_to=int(spans[one.last_to, 1]),
            start_uncounted=one.first_uncounted,
            end_uncounted=one.last_uncounted,
        )
        for one in extents
    )
