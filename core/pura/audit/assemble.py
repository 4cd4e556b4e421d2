"""From the decoders' arrays to the parts of the record: tokens, steps, bits, payload, passages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from pura.audit.key_reading import KeyReading
from pura.decode.exact import Candidate, Mark
from pura.decode.extents import Extent
from pura.record.evidence import BitEvidence, MarkFacts, PayloadFacts, StepEvidence, TokenEvidence
from pura.record.marks import bit_evidence
from pura.record.naming import CandidateFacts, Passage, token_share
from pura.scheme import Payload, Profile, encode, unpack

_FEW_CANDIDATES: Final = 8
_LEAST_COPIED: Final = 20  # tokens
_NEARLY_ALL: Final = 0.9999  # of the weight; what is left changes no marginal of a field


@dataclass(frozen=True, kw_only=True)
class Selected:
    """What the record's arrays are made of.

    Attributes:
        profile: The profile.
        spans: int64 [L, 2], characters of each token.
        trial: The key that the findings are about.
        decoder: Whose payload is reported: ``exact`` or ``paper``.
    """

    profile: Profile
    spans: npt.NDArray[np.int64]
    trial: KeyReading
    decoder: str

    @property
    def payload(self) -> Payload:
        """The reported payload."""
        paper = self.decoder == "paper"
        return self.trial.paper.payload if paper else self.trial.exact.payload

    @property
    def marks(self) -> tuple[Mark, ...]:
        """Every mark, in the order of the text; none without steps."""
        return self.trial.exact.marks

    @property
    def extents(self) -> tuple[Extent, ...]:
        """The strongest mark's passages."""
        strongest = self.trial.exact.strongest
        return () if strongest is None else strongest.extents

    @property
    def ranges(self) -> tuple[tuple[int, int], ...]:
        """First and last token of each of them."""
        return tuple((one.first, one.last) for one in self.extents)

    @property
    def repaired(self) -> npt.NDArray[np.bool_]:
        """Bool [n]: positions that were read and whose sum points away from the codeword."""
        paper = self.trial.paper
        codeword = encode(self.payload, self.profile)
        return np.asarray((codeword != paper.hard_bits) & (paper.readings > 0))


def token_evidence(found: Selected, others: Sequence[Mark] = ()) -> TokenEvidence:
    """Return everything that is known of each token.

    Args:
        found: What the record is about.
        others: Marks of other keys in the same reading.
    """
    seen = found.trial.seen
    none = np.zeros((1, seen.tokens))
    marks = (*found.marks, *others)
    ratios = np.stack([m.log_ratio for m in marks]) if marks else none
    marked = np.stack([m.marked for m in marks]) if marks else none
    return TokenEvidence(
        ids=found.trial.ids,
        spans=found.spans,
        entropy_bits=seen.entropy_bits,
        lo=seen.lo,
        hi=seen.hi,
        gate=seen.schedule.gate,
        log10_evidence=ratios.sum(axis=0) / np.log(10.0),
        marked=marked.max(axis=0),
    )


def step_evidence(found: Selected) -> StepEvidence:
    """Return the steps that carry bits and what each says."""
    plan = found.trial.seen.schedule
    return StepEvidence(
        token=plan.token,
        arity=plan.arity,
        phase=plan.phase,
        index=plan.index,
        llr_nats=found.trial.local.llr_nats,
    )


def bits(found: Selected) -> tuple[BitEvidence, ...]:
    """Return one entry for every position of the codeword."""
    paper = found.trial.paper
    return bit_evidence(paper.llr_nats, paper.readings, found.payload, found.profile)


def payload_facts(found: Selected) -> PayloadFacts:
    """Return the reported payload, how sure each bit is, and what its layout makes of it."""
    payload = found.payload
    one = found.trial.exact.bit_posteriors
    return PayloadFacts(
        bits=payload.text,
        posterior=np.where(payload.bits == 1, one, 1.0 - one),
        repaired=int(found.repaired.sum()),
        fields=unpack(found.profile.fields, payload),
    )


def candidates(found: Selected) -> tuple[CandidateFacts, ...]:
    """Return the most probable payloads, strongest first; none when nothing was read."""
    if not found.trial.exact.usable:
        return ()
    return _candidates(found.trial.exact.candidates, found.profile)


def _candidates(listed: Sequence[Candidate], profile: Profile) -> tuple[CandidateFacts, ...]:
    """Return payloads until hardly any weight is left, a few in any case."""
    kept: list[CandidateFacts] = []
    total = 0.0
    for candidate in listed:
        if len(kept) >= _FEW_CANDIDATES and total >= _NEARLY_ALL:
            break
        total += candidate.posterior
        kept.append(
            CandidateFacts(
                bits=candidate.payload.text,
                posterior=candidate.posterior,
                fields=unpack(profile.fields, candidate.payload),
            )
        )
    return tuple(kept)


def passages(found: Selected) -> tuple[Passage, ...]:
    """Return the strongest mark's passages as ranges of tokens and characters."""
    return _passages(found.extents, found.spans)


def passage_share(found: Selected) -> float:
    """Return which share of the text's tokens lies inside the strongest mark's passages."""
    return token_share(found.ranges, found.trial.seen.text_tokens)


@dataclass(frozen=True, kw_only=True)
class SeparateMark:
    """A mark that is reported, and who read it.

    Attributes:
        trial: The key and the reading.
        mark: Payload and passages.
        log10_e: log10 of the e-value of its statement, times the weight of its trial: what is said
            of all marks of all trials holds together.
    """

    trial: KeyReading
    mark: Mark
    log10_e: float


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
    # The more passages are reported, the less each must reach (docs/evidence.md §4).
    while further:
        reported = sum(max(1, len(one.mark.ranges)) for one in first + further)
        if further[-1].log10_e >= threshold - math.log10(reported):
            break
        further.pop()
    return tuple(sorted(first + further, key=lambda one: one.mark.ranges[:1]))


def _meet(mark: Mark, other: Mark) -> bool:
    """Whether two readings of one key point to the same tokens."""
    return any(a <= d and c <= b for a, b in mark.ranges for c, d in other.ranges)


def mark_facts(
    marks: Sequence[SeparateMark], found: Selected, keys: Sequence[str]
) -> tuple[MarkFacts, ...]:
    """Return what the record holds of marks, each read from its own passages.

    Args:
        marks: Of :func:`separate_marks`.
        found: What the record is about.
        keys: Fingerprints of the keys.
    """
    several = len(marks) > 1  # what is said of one mark is said of the text
    return tuple(
        MarkFacts(
            key=keys[one.trial.number],
            bits=one.mark.payload.text,
            fields=unpack(found.profile.fields, one.mark.payload),
            passages=_passages(one.mark.extents, found.spans),
            share=token_share(one.mark.ranges, found.trial.seen.text_tokens),
            candidates=_candidates(one.mark.candidates, found.profile) if several else (),
            own_log10_e=one.log10_e,
        )
        for one in marks
    )


def gaps(found: Selected, marks: Sequence[SeparateMark]) -> tuple[tuple[int, int], ...]:
    """Return what stands between two passages of one mark, other marks left out.

    Returns:
        First and last character of each stretch, from 1, in order.
    """
    taken = sorted(one for mark in marks for one in mark.mark.ranges)
    between = [
        (before[1] + 1, after[0] - 1)
        for mark in marks
        for before, after in pairwise(sorted(mark.mark.ranges))
    ]
    free = [
        (first, last)
        for first, last in between
        if first <= last and not any(a <= last and first <= b for a, b in taken)
    ]
    spans = found.spans
    return tuple((int(spans[first, 0]) + 1, int(spans[last, 1])) for first, last in sorted(free))


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


def _passages(extents: Sequence[Extent], spans: npt.NDArray[np.int64]) -> tuple[Passage, ...]:
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
