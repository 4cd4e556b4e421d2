"""The exact decoder: evidence, payload, candidates, bit posteriors and marks.

evidence.md §2 to §4.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from pura.base.progress import never_cancelled
from pura.detect.decode.evidence_sums import (
    NAMED,
    EvidenceSums,
    log_ratios,
    mean_of_halves,
    strong_members,
    sum_evidence,
)
from pura.detect.decode.likelihood import (
    GridPoint,
    Intervals,
    log_likelihoods,
    step_likelihoods,
    window_likelihoods,
)
from pura.detect.decode.limited import Issuable
from pura.detect.decode.marks import Mark, places_of
from pura.detect.decode.passages import SCALES, FoundPassage, find_passages
from pura.detect.decode.payloads import Candidate, PayloadPosterior, StepWeights, in_question
from pura.detect.decode.pooling import log_odds_repeated
from pura.detect.decode.prior import Issued, PayloadPrior, log_prior
from pura.detect.decode.trellis import window_potentials
from pura.scheme import F64, I64, U8
from pura.scheme.payload import Payload
from pura.scheme.profile import Profile, encode

_NEARLY_ALL: Final = 0.9  # of the steps: the whole text's posterior is that of the one mark


_REPEATED: Final = math.log(99)
"""Log odds from which a passage is a part of a stronger mark: those of an identified payload."""


class StatedMarks(NamedTuple):
    """The marks of a text, in its order, and which of them the headline is about."""

    marks: tuple[Mark, ...]
    headline: int
    at_least: bool


def state_marks(
    weighed: EvidenceSums,
    whole: PayloadPosterior,
    level: float,
    checkpoint: Callable[[], None],
) -> StatedMarks:
    """Return every mark of a text, each with a statement of its own.

    Where no window states one, the payload that the text as a whole names stands as one mark.

    Args:
        weighed: The evidence.
        whole: What the text as a whole says of payloads, strongest first.
        level: Natural log of what the e-value of a passage must reach.
        checkpoint: Called often; may raise.
    """
    text, profile, payload = weighed.chain_text, weighed.seen.profile, whole.payload
    if not weighed.usable:
        return StatedMarks((), 0, at_least=False)
    passages: tuple[FoundPassage, ...] = ()
    at_least = False
    if weighed.usable > SCALES[0][0] and weighed.log_e >= 0:
        passages, at_least = find_passages(
            weighed.anywhere,
            text.index,
            weighed.prior,
            profile,
            level,
            payload.array[None],
            checkpoint,
            steps=None if text.whole == text.tokens else text.whole,
        )
    if not passages:
        member = weighed.best_chain(payload.array, checkpoint)
        ((marked, log_ratio, extents),) = places_of(
            text,
            payload.array[None],
            None,
            int(member[0]),
            profile,
            checkpoint,
            short=weighed.log_e >= level - _ROUNDED,
        )
        only = Mark(
            payload=payload,
            log_e=weighed.log_e,
            candidates=in_question(whole.candidates),
            bit_posteriors=whole.bit_posteriors,
            of_text=True,
            repeats=None,
            marked=marked,
            log_ratio=log_ratio,
            extents=extents,
        )
        return StatedMarks((only,), 0, at_least=at_least)
    marks = _marks_of(weighed, passages, whole, checkpoint)
    shares = weighed.log_shares(np.stack([mark.payload.array for mark in marks])).tolist()
    # Of two marks with one likeliest payload it is the one with more evidence of its own.
    headline = max(range(len(marks)), key=lambda place: (shares[place], marks[place].log_e))
    return StatedMarks(marks, headline, at_least=at_least)


@dataclass(frozen=True, kw_only=True, eq=False)
class _PassageGroup:
    """Passages that are taken for one mark, and what their steps say of its payload.

    Attributes:
        passages: The passages.
        weights: What their steps say.
        posterior: How the weight is spread over payloads.
        of_text: The posterior is that of the text as a whole.
    """

    passages: list[FoundPassage]
    weights: StepWeights
    posterior: PayloadPosterior
    of_text: bool

    @property
    def payload(self) -> Payload:
        """The most probable payload."""
        return self.posterior.payload

    @property
    def log_e(self) -> float:
        """Natural log of the e-value of its strongest passage."""
        return max(passage.log_e for passage in self.passages)


def _marks_of(
    weighed: EvidenceSums,
    found: tuple[FoundPassage, ...],
    whole: PayloadPosterior,
    checkpoint: Callable[[], None],
) -> tuple[Mark, ...]:
    """Make marks of passages: those with one payload are one mark.

    A passage that was cut off from another by handling reads a few bits of its payload otherwise.
    """
    profile = weighed.seen.profile

    def group_of(passages: list[FoundPassage]) -> _PassageGroup:
        checkpoint()
        rows = np.concatenate([np.arange(p.first, p.after) for p in passages])
        bits = passages[0].bits
        weights = weighed.weights_of(rows, bits)
        same = bits.tobytes() == whole.payload.array.tobytes()
        if same and rows.size >= _NEARLY_ALL * weighed.usable:
            posterior = PayloadPosterior(in_question(whole.candidates), whole.bit_posteriors)
            return _PassageGroup(
                passages=passages, weights=weights, posterior=posterior, of_text=True
            )
        return _PassageGroup(
            passages=passages, weights=weights, posterior=weights.posterior, of_text=False
        )

    groups = _joined(found, group_of)
    first, *others = sorted(groups, key=lambda group: -group.log_e)
    kept: list[_PassageGroup] = [first]
    repeats: list[Payload | None] = [None]
    for group in others:
        odds, stronger = max(
            (log_odds_repeated([(0.0, group.weights)], one.payload.array), place)
            for place, one in enumerate(kept)
        )
        if odds > _REPEATED:
            kept[stronger] = group_of(kept[stronger].passages + group.passages)
            continue
        other = kept[stronger].payload
        kept.append(replace(group, posterior=group.posterior.doubted(other, odds)))
        repeats.append(other)
    token = weighed.seen.schedule.token
    spans = [
        [(int(token[p.first]), int(token[p.after - 1])) for p in group.passages] for group in kept
    ]
    payloads = np.stack([group.payload.array for group in kept])
    strongest = payloads[int(np.argmax(weighed.log_shares(payloads)))]
    member = weighed.best_chain(strongest, checkpoint)
    places = places_of(weighed.chain_text, payloads, spans, int(member[0]), profile, checkpoint)
    marks = [
        Mark(
            payload=group.payload,
            log_e=group.log_e,
            candidates=group.posterior.candidates,
            bit_posteriors=group.posterior.bit_posteriors,
            of_text=group.of_text,
            repeats=other,
            marked=marked,
            log_ratio=log_ratio,
            extents=extents,
        )
        for group, other, (marked, log_ratio, extents) in zip(kept, repeats, places, strict=True)
    ]
    return tuple(sorted(marks, key=lambda mark: mark.ranges[0]))


def _joined(
    found: tuple[FoundPassage, ...], group_of: Callable[[list[FoundPassage]], _PassageGroup]
) -> list[_PassageGroup]:
    """Group passages by payload; read by themselves, some turn out to carry what others carry."""
    by_payload: dict[bytes, list[FoundPassage]] = {}
    for passage in found:
        by_payload.setdefault(passage.bits.tobytes(), []).append(passage)
    groups = [group_of(passages) for passages in by_payload.values()]
    while True:
        joined: dict[bytes, list[FoundPassage]] = {}
        for group in groups:
            joined.setdefault(group.payload.array.tobytes(), []).extend(group.passages)
        if len(joined) == len(groups):
            return groups
        groups = [group_of(passages) for passages in joined.values()]


_ROUNDED: Final = math.log(2)
"""So far below the level the evidence of a reading can lie that decides together with others."""


Bits = U8

_SCORED_AT_ONCE: Final = 2048  # codewords; 20 MB at 12 grid points and 108 positions
_STEPS_AT_ONCE: Final = 8192  # whose densities are worked out together; 60 MB at 12 grid points
_NEGLIGIBLE_REST: Final = 1e-6  # mass outside the list that bit posteriors may leave out

LEVEL: Final = 6 * math.log(10)
"""Natural log of what the statement of a mark must reach where nothing else is asked for."""


@dataclass(frozen=True, kw_only=True)
class ExactDecision:
    """What the exact decoder makes of a text.

    Attributes:
        payload: The most probable payload. Means nothing when ``usable`` is 0.
        codeword: uint8 [n], its codeword.
        candidates: The most probable payloads, strongest first.
        bit_posteriors: float64 [L_m], probability that each payload bit is 1.
        whole: What the text as a whole says of payloads; of a text with several marks, or a mark
            in a part of it, that is not what the headline says.
        prior: What payloads weigh without a register.
        issued: Issued payloads, which weigh more; None without a register as prior.
        log_e: Natural log of the e-value, the mean of the next two.
        log_e_whole: Of the text as marked from end to end: mean over payloads and grid.
        log_e_list: Of passages and edits: sum over the listed payloads, each with its prior
            weight, mean over the chains.
        log_e_alike: The e-value with all payloads alike, as it is without limits and issued ones.
        log_e_issued: The e-value of the issued payloads alone; None without them.
        grid: The grid points.
        log_e_grid: float64 [G], natural log of the mean likelihood ratio at each of them, by what
            payloads weigh without a register.
        potentials: ``φ``, float64 [G, n, 8].
        listed: uint8 [C, L_m], the payloads that were weighed one by one.
        log_listed: float64 [C], log likelihood ratio of each, mean over the chains.
        marks: Every mark, in the order of the text, by the first token of its first passage.
            Empty without usable steps, and where they were not looked for.
        headline: Which of them has the largest share in the e-value; ``payload``, ``candidates``
            and ``bit_posteriors`` are its.
        at_least: A limit of the search was reached: there may be more marks.
        look: The window of 64 steps that a first look ranks highest; None in a text of one window.
        usable: ``S``, steps that carry bits.
        prompt_known: Which grid was used.
        model_fingerprint: Of the frozen numbers.
    """

    payload: Payload
    codeword: Bits
    candidates: tuple[Candidate, ...]
    bit_posteriors: F64
    whole: PayloadPosterior
    prior: PayloadPrior
    issued: Issued | None
    log_e: float
    log_e_whole: float
    log_e_list: float
    log_e_alike: float
    log_e_issued: float | None
    grid: tuple[GridPoint, ...]
    log_e_grid: F64
    potentials: F64
    listed: Bits
    log_listed: F64
    marks: tuple[Mark, ...]
    headline: int
    at_least: bool
    look: tuple[int, float] | None
    usable: int
    prompt_known: bool
    model_fingerprint: str

    @property
    def strongest(self) -> Mark | None:
        """The mark that the headline is about; None without usable steps."""
        return self.marks[self.headline] if self.marks else None

    @property
    def log10_e(self) -> float:
        """``log10`` of the e-value."""
        return float(self.log_e / np.log(10))

    def log_ratios(self, bits: Bits, profile: Profile) -> F64:
        """Return the log likelihood ratio of any payloads; their mean over all is the evidence.

        Args:
            bits: uint8 [C, L_m], for example those of a register; millions of rows are scored a
                few thousand at a time.
            profile: The profile of the decision.

        Returns:
            float64 [C], in nats. No prior is in it.
        """
        parts = []
        for start in range(0, len(bits), _SCORED_AT_ONCE):
            some = bits[start : start + _SCORED_AT_ONCE]
            parts.append(log_ratios(some, self.potentials, self.listed, self.log_listed, profile))
        return np.concatenate(parts) if parts else np.zeros(0)

    def log_shares(self, bits: Bits, profile: Profile) -> F64:
        """Return the log of what payloads add to the e-value; uint8 [C, L_m] to float64 [C]."""
        return self.log_ratios(bits, profile) + log_prior(bits, self.prior, self.issued)


@dataclass(frozen=True, kw_only=True, eq=False)
class TextWeights:
    """What a text as a whole says of payloads (a ``PayloadWeights``).

    Attributes:
        decision: What the decoder makes of the text.
        profile: The profile.
    """

    decision: ExactDecision
    profile: Profile

    @property
    def log_e(self) -> float:
        """Natural log of the e-value."""
        return self.decision.log_e

    @property
    def posterior(self) -> PayloadPosterior:
        """How the e-value is spread over the payloads."""
        return self.decision.whole

    def log_ratios(self, bits: Bits) -> F64:
        """Return the log likelihood ratios of payloads; uint8 [C, L_m] to float64 [C]."""
        return self.decision.log_ratios(bits, self.profile)

    def log_shares(self, bits: Bits) -> F64:
        """Return the log of what payloads add to the e-value; uint8 [C, L_m] to float64 [C]."""
        return self.decision.log_shares(bits, self.profile)


def weigh_steps(seen: Intervals, rows: I64, decision: ExactDecision) -> StepWeights:
    """Return what some steps of a text say of payloads, by the payload that fits them best.

    Args:
        seen: The text.
        rows: int64 [R], the steps; at least one.
        decision: What the decoder made of the whole of it.
    """
    grid, profile = decision.grid, seen.profile
    phi = np.zeros((len(grid), profile.codeword_length, 8))
    for first in range(0, rows.size, _STEPS_AT_ONCE):
        some = rows[first : first + _STEPS_AT_ONCE]
        steps = step_likelihoods(seen, grid, rows=some)
        log_f = log_likelihoods(steps, window_likelihoods(steps))
        phi += window_potentials(log_f, seen.schedule.index[some], profile.codeword_length)
    prior = decision.prior
    # The ring left open, the sums are cheap, and no less than those that they stand for.
    likeliest = int(np.argmax(prior.most(phi)))
    near = prior.k_best(phi[likeliest], 1)[0]
    return StepWeights(phi=phi, near=near, prior=prior, profile=profile, issued=decision.issued)


def decide(
    seen: Intervals,
    *,
    candidates: int = 8,
    issuable: Issuable | None = None,
    issued: Issued | None = None,
    one_of_many: bool = False,
    level: float = LEVEL,
    least: float = -math.inf,
    checkpoint: Callable[[], None] = never_cancelled,
) -> ExactDecision:
    """Weigh the evidence of a text and decode it.

    Args:
        seen: The text.
        candidates: How many payloads to list, at least 1.
        issuable: Payloads within limits, which weigh more; None takes all alike.
        issued: Payloads that were issued before the text was seen, and weigh more than that.
        one_of_many: The key is one of many: where no payload is of use at a first look, its
            evidence is bounded from below at a fraction of the cost.
        level: Natural log of what the e-value of a passage must reach, over all passages of the
            text, for it to be a mark.
        least: Natural log of the evidence below which no marks are looked for.
        checkpoint: Called often; may raise :class:`~pura.base.errors.Cancelled`.

    Returns:
        The decision. When no step carries bits, ``log_e`` is exactly 0 and every bit posterior
        one half: the text says nothing.
    """
    profile = seen.profile
    weighed = sum_evidence(
        seen,
        issuable=issuable,
        issued=issued,
        checkpoint=checkpoint,
        one_of_many=one_of_many,
        named_each=max(NAMED, candidates),
    )
    named = _candidates(weighed)
    said = whole = PayloadPosterior(named, _bit_posteriors(weighed, named))
    marks = StatedMarks((), 0, at_least=False)
    if weighed.log_e >= least:
        marks = state_marks(weighed, whole, level, checkpoint)
    if marks.marks and not marks.marks[marks.headline].of_text:
        # The text as a whole mixes several marks, or foreign steps, into what it says of one.
        own = marks.marks[marks.headline]
        said = PayloadPosterior(own.candidates, own.bit_posteriors)
    return ExactDecision(
        payload=said.payload,
        codeword=encode(said.payload, profile),
        candidates=said.candidates[: max(1, candidates)],
        bit_posteriors=said.bit_posteriors,
        whole=whole,
        prior=weighed.prior,
        issued=None if weighed.issued is None else weighed.issued.issued,
        log_e=weighed.log_e,
        log_e_whole=weighed.log_e_whole,
        log_e_list=weighed.log_e_list,
        log_e_alike=mean_of_halves(*weighed.alike),
        log_e_issued=None if weighed.of_issued is None else mean_of_halves(*weighed.of_issued),
        grid=seen.model.grids[seen.prompt_known],
        log_e_grid=weighed.log_e_grid,
        potentials=weighed.phi,
        listed=weighed.listed,
        log_listed=weighed.log_listed,
        marks=marks.marks,
        headline=marks.headline,
        at_least=marks.at_least,
        look=weighed.look,
        usable=len(seen.schedule),
        prompt_known=seen.prompt_known,
        model_fingerprint=seen.model.fingerprint,
    )


def _candidates(weighed: EvidenceSums) -> tuple[Candidate, ...]:
    """Return all payloads that were named, by their share in the e-value."""
    bits = np.unique(np.concatenate([weighed.named, weighed.listed]), axis=0)
    log_posterior = np.minimum(weighed.log_shares(bits) - weighed.log_e, 0.0)
    order = np.argsort(-log_posterior, kind="stable")
    return tuple(
        Candidate(payload=Payload.from_bits(bits[i]), log_posterior=float(log_posterior[i]))
        for i in order
    )


def _bit_posteriors(weighed: EvidenceSums, found: tuple[Candidate, ...]) -> F64:
    """Return the bits' posteriors, averaged over grid and list."""
    prior, phi, log_sums = weighed.prior, weighed.phi, weighed.log_weighted
    if not weighed.usable:
        return np.full(prior.trellis.payload_bits, 0.5)
    weight = np.exp([c.log_posterior for c in found])
    bits = np.stack([c.payload.array for c in found]).astype(np.float64)
    rest = 1.0 - float(weight.sum())
    if rest <= _NEGLIGIBLE_REST:
        # The list holds all that matters; no bit is further from its posterior than the rest.
        return np.asarray(np.clip(weight @ bits + max(rest, 0.0) / 2, 0.0, 1.0))
    members = strong_members(log_sums)
    share = np.exp(log_sums[members] - np.logaddexp.reduce(log_sums[members]))
    whole = share @ np.stack([prior.posteriors(phi[g]) for g in members])
    if weighed.issued is not None:
        log_weight = math.log(weighed.issued.issued.weight)
        of_issued = math.exp(log_weight + weighed.issued.log_mean - weighed.log_e_whole)
        whole = (1 - of_issued) * whole + of_issued * weighed.issued.mean_bits()
    shares = weighed.log_listed + weighed.log_prior(weighed.listed)
    chained = np.exp(shares - np.logaddexp.reduce(shares)) @ weighed.listed
    of_list = np.exp(weighed.log_e_list - np.log(2) - weighed.log_e)
    return np.asarray(np.clip((1 - of_list) * whole + of_list * chained, 0.0, 1.0))
