"""The exact decoder: evidence, payload, candidates and bit posteriors (docs/evidence.md §2, §3).

The e-value has two halves. For every member of the grid of likelihoods the trellis adds up the
likelihood ratio of all payloads, the text being marked from end to end; and a list of payloads is
weighed by a chain that allows for passages and edits. Decoding averages over both: the strongest
payloads of the grid, and those that windows of the text name, are scored under all of them.
Payloads within limits, or issued ones, may weigh more than others beforehand
(:mod:`pura.decode.issuable`, :mod:`pura.decode.issued`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from pura.decode import chain
from pura.decode.chain import ChainText
from pura.decode.intervals import Intervals
from pura.decode.issuable import Issuable
from pura.decode.issued import Issued, IssuedScores, log_prior, score_issued
from pura.decode.likelihood import log_likelihoods, step_likelihoods, window_likelihoods
from pura.decode.listed import (
    KEPT,
    LISTED,
    FirstLook,
    kept_payloads,
    strongest_payloads,
    window_payloads,
)
from pura.decode.marks import (
    LEAST_POSTERIOR,
    MOST_CANDIDATES,
    Candidate,
    GridText,
    Mark,
    PayloadPosterior,
    limits_of,
    payload_posterior,
    runs,
)
from pura.decode.model import GridPoint
from pura.decode.passages import SCALES, FoundPassage, FoundPassages, find_passages, log_anywhere
from pura.decode.prior import PayloadPrior
from pura.decode.trellis import make_trellis
from pura.decode.trellis.base import RegisterTrellis
from pura.decode.windows import codeword_scores, codeword_windows, window_potentials
from pura.scheme.codeword import encode, encode_rows
from pura.scheme.payload import Payload
from pura.scheme.profile import Profile

__all__ = [
    "LEVEL",
    "Candidate",
    "ExactDecision",
    "LogEvidence",
    "Mark",
    "decide",
    "log_evidence",
]

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint8]

_LEAST_WEIGHT: Final = 0.02  # grid members below this share name no candidates of their own
_MOST_MEMBERS: Final = 3
_NAMED: Final = 32  # payloads that each of them names
_SCORED_AT_ONCE: Final = 2048  # codewords; 20 MB at 12 grid points and 108 positions
_HOPELESS_NATS: Final = -6.0  # share in the evidence of one among many keys, at a first look
_NEGLIGIBLE_REST: Final = 1e-6  # mass outside the list that bit posteriors may leave out
_BLOCK: Final = 8192  # steps whose densities are worked out at a time
_LONG: Final = 1024  # steps from which on windows name most of the list
_LOOK: Final = 0.3  # share of the grid members that windows are looked at with
_NO_USE_NATS: Final = 20.0  # so far behind the best, a payload adds nothing to the sum
_NEARLY_ALL: Final = 0.9  # of the steps: the whole text's posterior is that of the one mark

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
        log_e: Natural log of the e-value, the mean of the next two.
        log_e_whole: Of the text as marked from end to end: mean over payloads and grid.
        log_e_list: Of passages and edits: sum over the listed payloads, each with its prior
            weight, mean over the chains.
        log_e_alike: The e-value with all payloads alike, as it is without limits and issued ones.
        log_e_issued: The e-value of the issued payloads alone; None without them.
        grid: The grid points.
        log_e_grid: float64 [G], natural log of the mean likelihood ratio at each of them, by what
            payloads weigh without a register.
        grid_point: The one with the largest evidence.
        log_sum_grid: float64 [G], log of the sum over payloads.
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
    log_e: float
    log_e_whole: float
    log_e_list: float
    log_e_alike: float
    log_e_issued: float | None
    grid: tuple[GridPoint, ...]
    log_e_grid: F64
    grid_point: int
    log_sum_grid: F64
    potentials: F64
    listed: Bits
    log_listed: F64
    marks: tuple[Mark, ...]
    headline: int
    at_least: bool
    look: FirstLook | None
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
            parts.append(_log_ratios(some, self.potentials, self.listed, self.log_listed, profile))
        return np.concatenate(parts) if parts else np.zeros(0)


@dataclass(frozen=True, kw_only=True)
class _EvidenceSums:
    """The evidence before a payload is chosen; shapes as in :class:`ExactDecision`.

    ``anywhere``, float64 [S, 8], is the log of the one density that a window of the text is looked
    at with: the verifier being as badly off at each step as where a passage begins.
    """

    text: ChainText
    token: I64
    anywhere: F64
    grid_text: GridText
    phi: F64
    prior: PayloadPrior
    log_sums: F64
    log_weighted: F64
    log_e_grid: F64
    named: Bits
    listed: Bits
    log_listed: F64
    member: I64
    look: FirstLook | None
    issued: IssuedScores | None

    @property
    def usable(self) -> int:
        return int(self.text.index.size)

    def log_prior(self, bits: Bits) -> F64:
        """Return what payloads weigh before the text is seen; uint8 [C, L_m] to [C]."""
        issued = None if self.issued is None else self.issued.issued
        return log_prior(bits, self.prior, issued)

    @property
    def alike(self) -> tuple[float, float]:
        """Natural logs of the two halves, all payloads being alike: whole text, list."""
        if not self.usable:
            return 0.0, 0.0
        grid = self.log_sums - self.prior.log_all
        whole = np.logaddexp.reduce(grid) - np.log(grid.size)
        listed = np.logaddexp.reduce(self.log_listed) - self.prior.log_all
        return float(whole), float(listed)

    @property
    def unissued(self) -> tuple[float, float]:
        """The same by what payloads weigh without a register: within limits, or alike."""
        if self.prior.issuable is None or not self.usable:
            return self.alike
        whole = np.logaddexp.reduce(self.log_e_grid) - np.log(self.log_e_grid.size)
        listed = np.logaddexp.reduce(self.log_listed + self.prior.log_weight(self.listed))
        return float(whole), float(listed)

    @property
    def of_issued(self) -> tuple[float, float] | None:
        """The same of the issued payloads alone; None without them."""
        if self.issued is None:
            return None
        if not self.usable:
            return 0.0, 0.0
        held = self.log_listed[self.issued.issued.holds(self.listed)]
        listed = np.logaddexp.reduce(held) - np.log(len(self.issued.issued))
        return self.issued.log_mean, float(listed)

    @property
    def log_e_whole(self) -> float:
        return self._mixed(0)

    @property
    def log_e_list(self) -> float:
        return self._mixed(1)

    @property
    def log_e(self) -> float:
        return _mean(self.log_e_whole, self.log_e_list)

    def _mixed(self, half: int) -> float:
        of_issued = self.of_issued
        if self.issued is None or of_issued is None:
            return self.unissued[half]
        weight = self.issued.issued.weight
        return float(
            np.logaddexp(np.log1p(-weight) + self.unissued[half], np.log(weight) + of_issued[half])
        )


def _mean(whole: float, listed: float) -> float:
    """Return the natural log of the e-value that has these halves."""
    return float(np.logaddexp(whole, listed) - np.log(2))


def _nothing() -> None:
    """The checkpoint of a caller that never stops."""


def _weigh(
    seen: Intervals,
    *,
    issuable: Issuable | None,
    issued: Issued | None,
    checkpoint: Callable[[], None],
    named_each: int = _NAMED,
    one_of_many: bool = False,
) -> _EvidenceSums:
    schedule, profile, model = seen.schedule, seen.profile, seen.model
    grid, chains = model.grids[seen.prompt_known], model.passages.members[seen.prompt_known]
    tables = list(dict.fromkeys([*(p.table for p in grid), *(p.table for p in chains)]))
    length, count = profile.codeword_length, len(schedule)
    phi = np.zeros((len(grid), length, 8))
    windows = np.empty((2 * len(tables), count, 8))
    looks = _looks(grid)
    looked, eta = np.empty((count, 8)), np.empty((len(grid), count))
    anywhere = np.empty((count, 8))
    for first in range(0, count, _BLOCK):
        checkpoint()
        rows = slice(first, first + _BLOCK)
        steps = step_likelihoods(seen, grid, rows=rows, tables=tables, passages=True)
        windows[:, rows] = window_likelihoods(steps)
        eta[:, rows] = steps.eta
        anywhere[rows] = log_anywhere(windows[len(tables) :, rows])
        log_f = log_likelihoods(steps, windows[:, rows])
        phi += window_potentials(log_f, schedule.index[rows], length)
        looked[rows] = np.logaddexp.reduce(log_f[looks], axis=0) - np.log(len(looks))
    prior = PayloadPrior(trellis=make_trellis(profile), issuable=issuable)
    log_payloads = prior.log_all
    # Without a step every payload weighs 1: exactly, not up to rounding.
    log_sums = prior.trellis.log_sum(phi) if count else np.full(len(grid), log_payloads)
    log_weighted = prior.weighted(log_sums, phi) if count else log_sums
    row = np.full(seen.tokens, -1, dtype=np.int64)
    row[schedule.token] = np.arange(count)
    text = ChainText(
        windows=windows,
        index=schedule.index,
        row=row,
        probability=seen.probability,
        members=chains,
        table=np.array([tables.index(p.table) for p in chains], dtype=np.int64),
        model=model.passages,
        context_window=profile.context_window,
        vocab_size=profile.vocab_size,
        whole=seen.text_tokens,
    )
    named = _named(prior, phi, log_weighted, named_each)
    pool = strongest_payloads(phi, named, prior, profile, LISTED if count <= _LONG else LISTED // 4)
    scores = None
    if issued is not None:
        scores = score_issued(issued, phi, looked, schedule.index, profile, checkpoint)
    look = None
    if count:
        others, look = window_payloads(looked, schedule.index, prior, profile, pool, checkpoint)
        chosen = [pool[: LISTED - min(len(others), LISTED // 2)], others]
        chosen += [] if scores is None else [scores.strongest]
        pool = np.unique(np.concatenate(chosen), axis=0)
        least = _HOPELESS_NATS if one_of_many else -math.inf
        weights = log_prior(pool, prior, issued)
        listed, log_listed, member = _score(text, pool, weights, profile, checkpoint, least)
    else:
        listed, log_listed, member = named, np.zeros(len(named)), np.zeros(len(named), np.int64)
    return _EvidenceSums(
        text=text,
        token=schedule.token,
        anywhere=anywhere,
        grid_text=GridText(
            windows=windows,
            table=np.array([tables.index(p.table) for p in grid], dtype=np.int64),
            eta=eta,
            index=schedule.index,
            length=length,
        ),
        phi=phi,
        prior=prior,
        log_sums=log_sums,
        log_weighted=log_weighted,
        log_e_grid=log_weighted - log_payloads,
        named=named,
        listed=listed,
        log_listed=log_listed,
        member=member,
        look=look,
        issued=scores,
    )


def _looks(grid: tuple[GridPoint, ...]) -> list[int]:
    """Return the grid members whose mean windows are looked at with, one of each table.

    After other text the first tokens of a passage are read no better than by a proxy.
    """
    return [
        min(
            (g for g, point in enumerate(grid) if point.table == table),
            key=lambda g: (grid[g].family != "constant", abs(grid[g].share - _LOOK), g),
        )
        for table in dict.fromkeys(point.table for point in grid)
    ]


def _first_members(text: ChainText) -> I64:
    """Return the chains of the first look: of the first table, few edits and many."""
    chosen = [
        m
        for m, point in enumerate(text.members)
        if point.family == "constant" and point.table == text.members[0].table
    ]
    chosen = [m for m in chosen if text.members[m].mean_passage == text.members[0].mean_passage]
    return np.array([chosen[len(chosen) // 3], chosen[-1]] if chosen else [0], dtype=np.int64)


def _score(
    text: ChainText,
    pool: Bits,
    prior: F64,
    profile: Profile,
    checkpoint: Callable[[], None],
    least: float = -math.inf,
) -> tuple[Bits, F64, I64]:
    """Weigh payloads by the chains; those that fall behind at a first look are left out.

    Where none reaches ``least`` at the first look, its chains alone are counted, and the others as
    nothing: no more than the mean over all of them, so that the bound of docs/evidence.md holds.

    Args:
        text: The text.
        pool: uint8 [C, L_m].
        prior: float64 [C], natural log of what each weighs before the text is seen.
        profile: The profile.
        checkpoint: Called often; may raise.
        least: Natural log of a share in the evidence.

    Returns:
        The payloads, strongest first, their log likelihood ratios, mean over the chains, and the
        member that fits each of them best.
    """
    words, every = codeword_windows(encode_rows(pool, profile)), np.arange(len(text.members))
    walked = every
    if len(pool) > KEPT:
        looked = chain.log_likelihoods(text, words, _first_members(text), checkpoint)
        # Of use is what adds to the sum, or what may be a further mark.
        first = looked.max(axis=0) + prior
        floor = min(0.0, float(first.max()) - _NO_USE_NATS)
        kept = kept_payloads(pool, first, floor, _NO_USE_NATS)
        pool, words, prior = pool[kept], words[kept], prior[kept]
        if first.max() < least:
            walked, scores = _first_members(text), looked[:, kept]
    if walked is every:
        scores = chain.log_likelihoods(text, words, every, checkpoint)
    mean = np.logaddexp.reduce(scores, axis=0) - np.log(every.size)
    order = np.argsort(-(mean + prior), kind="stable")
    return pool[order], mean[order], walked[scores.argmax(axis=0)[order]]


class LogEvidence(NamedTuple):
    """The evidence of a text, natural logs: all of it, and its halves."""

    both: float
    whole: float
    listed: float


def log_evidence(
    seen: Intervals,
    *,
    issuable: Issuable | None = None,
    issued: Issued | None = None,
    checkpoint: Callable[[], None] | None = None,
) -> LogEvidence:
    """Return the evidence and decode nothing; arguments as :func:`decide`."""
    weighed = _weigh(seen, issuable=issuable, issued=issued, checkpoint=checkpoint or _nothing)
    return LogEvidence(both=weighed.log_e, whole=weighed.log_e_whole, listed=weighed.log_e_list)


def decide(
    seen: Intervals,
    *,
    candidates: int = 8,
    issuable: Issuable | None = None,
    issued: Issued | None = None,
    one_of_many: bool = False,
    level: float = LEVEL,
    least: float = -math.inf,
    checkpoint: Callable[[], None] | None = None,
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
    checkpoint, profile = checkpoint or _nothing, seen.profile
    weighed = _weigh(
        seen,
        issuable=issuable,
        issued=issued,
        checkpoint=checkpoint,
        one_of_many=one_of_many,
        named_each=max(_NAMED, candidates),
    )
    found = _candidates(weighed, profile)
    bit_posteriors = _bit_posteriors(weighed, found)
    marks = _Marks((), 0, at_least=False)
    if weighed.log_e >= least:
        marks = _marks(weighed, found, bit_posteriors, profile, level, checkpoint)
    if marks.marks and marks.marks[marks.headline].bit_posteriors is not bit_posteriors:
        # The text as a whole mixes several marks, or foreign steps, into what it says of one.
        own = marks.marks[marks.headline]
        found, bit_posteriors = list(own.candidates), own.bit_posteriors
    payload = found[0].payload
    return ExactDecision(
        payload=payload,
        codeword=encode(payload, profile),
        candidates=tuple(found[: max(1, candidates)]),
        bit_posteriors=bit_posteriors,
        log_e=weighed.log_e,
        log_e_whole=weighed.log_e_whole,
        log_e_list=weighed.log_e_list,
        log_e_alike=_mean(*weighed.alike),
        log_e_issued=None if weighed.of_issued is None else _mean(*weighed.of_issued),
        grid=seen.model.grids[seen.prompt_known],
        log_e_grid=weighed.log_e_grid,
        grid_point=int(np.argmax(weighed.log_e_grid)),
        log_sum_grid=weighed.log_sums,
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


class _Marks(NamedTuple):
    """The marks of a text, in its order, and which of them the headline is about."""

    marks: tuple[Mark, ...]
    headline: int
    at_least: bool


def _marks(
    weighed: _EvidenceSums,
    found: list[Candidate],
    bit_posteriors: F64,
    profile: Profile,
    level: float,
    checkpoint: Callable[[], None],
) -> _Marks:
    """Return every mark of a text, each with a statement of its own.

    Where no window states one, the payload that the text as a whole names stands as one mark.
    """
    payload = found[0].payload
    if not weighed.usable:
        return _Marks((), 0, at_least=False)
    passages = FoundPassages(passages=())
    windows = weighed.usable > SCALES[0][0] and weighed.log_e >= 0
    if windows and isinstance(weighed.prior.trellis, RegisterTrellis):
        passages = find_passages(
            weighed.anywhere,
            weighed.text.index,
            weighed.prior,
            profile,
            level,
            payload.bits[None],
            checkpoint,
            steps=None if weighed.text.whole == weighed.text.tokens else weighed.text.whole,
        )
    if not passages.passages:
        rows, member = _member(weighed, payload.bits, profile, checkpoint)
        seen = chain.posteriors(
            weighed.text, codeword_windows(encode_rows(rows, profile)), member, checkpoint
        )
        whole = Mark(
            payload=payload,
            log_e=weighed.log_e,
            candidates=_in_question(found),
            bit_posteriors=bit_posteriors,
            marked=seen.marked[0],
            log_ratio=seen.log_ratio[0],
            ranges=runs(seen.marked[0], weighed.text.model.least_tokens),
        )
        return _Marks((whole,), 0, at_least=passages.at_least)
    marks = _stated(weighed, passages, found, bit_posteriors, profile, checkpoint)
    bits = np.stack([mark.payload.bits for mark in marks])
    headline = int(np.argmax(_log_weights(weighed, bits, profile)))
    return _Marks(marks, headline, at_least=passages.at_least)


def _stated(
    weighed: _EvidenceSums,
    found: FoundPassages,
    candidates: list[Candidate],
    bit_posteriors: F64,
    profile: Profile,
    checkpoint: Callable[[], None],
) -> tuple[Mark, ...]:
    """Make marks of passages: those with one payload are one mark."""
    issued = None if weighed.issued is None else weighed.issued.issued

    def said_of(passages: list[FoundPassage]) -> PayloadPosterior:
        checkpoint()
        rows = np.concatenate([np.arange(p.first, p.after) for p in passages])
        same = passages[0].bits.tobytes() == candidates[0].payload.bits.tobytes()
        if same and rows.size >= _NEARLY_ALL * weighed.usable:
            return PayloadPosterior(_in_question(candidates), bit_posteriors)
        phi = weighed.grid_text.potentials(rows)
        return payload_posterior(phi, passages[0].bits, weighed.prior, profile, issued)

    groups: dict[bytes, list[FoundPassage]] = {}
    for passage in found.passages:
        groups.setdefault(passage.bits.tobytes(), []).append(passage)
    said = {name: said_of(passages) for name, passages in groups.items()}
    while True:
        # Read by themselves, passages may turn out to carry what others carry.
        joined: dict[bytes, list[FoundPassage]] = {}
        for name, passages in groups.items():
            joined.setdefault(said[name].payload.bits.tobytes(), []).extend(passages)
        changed = {name for name, passages in joined.items() if passages != groups.get(name)}
        if not changed or len(joined) == len(groups):
            said = {said[name].payload.bits.tobytes(): said[name] for name in groups}
            groups = joined
            break
        said = {name: said_of(passages) for name, passages in joined.items()}
        groups = joined
    token = weighed.token
    spans = [
        [(int(token[p.first]), int(token[p.after - 1])) for p in passages]
        for passages in groups.values()
    ]
    payloads = np.stack([said[name].payload.bits for name in groups])
    strongest = payloads[int(np.argmax(_log_weights(weighed, payloads, profile)))]
    _, member = _member(weighed, strongest, profile, checkpoint)
    limits = limits_of(weighed.text, payloads, spans, int(member[0]), profile, checkpoint)
    marks = [
        Mark(
            payload=said[name].payload,
            log_e=max(passage.log_e for passage in passages),
            candidates=said[name].candidates,
            bit_posteriors=said[name].bit_posteriors,
            marked=place.marked,
            log_ratio=place.log_ratio,
            ranges=place.ranges,
        )
        for (name, passages), place in zip(groups.items(), limits, strict=True)
    ]
    return tuple(sorted(marks, key=lambda mark: mark.ranges[0]))


def _in_question(found: list[Candidate]) -> tuple[Candidate, ...]:
    """Return the candidates that a mark lists."""
    least = math.log(LEAST_POSTERIOR)
    listed = [c for c in found[:MOST_CANDIDATES] if c.log_posterior >= least]
    return tuple(listed or found[:1])


def _member(
    weighed: _EvidenceSums, bits: Bits, profile: Profile, checkpoint: Callable[[], None]
) -> tuple[Bits, I64]:
    """Return a payload and the chain that fits it best; uint8 [1, L_m] and int64 [1]."""
    same = np.flatnonzero((weighed.listed == bits).all(axis=1))
    if same.size:
        return bits[None], weighed.member[same[:1]]
    rows, _, member = _score(weighed.text, bits[None], np.zeros(1), profile, checkpoint)
    return rows, member


def _log_ratios(bits: Bits, phi: F64, listed: Bits, log_listed: F64, profile: Profile) -> F64:
    """Return the log likelihood ratio of payloads, mean of both halves; uint8 [C, L_m] to [C]."""
    scores = codeword_scores(phi, encode_rows(bits, profile))
    whole = np.logaddexp.reduce(scores, axis=0) - np.log(phi.shape[0])
    rows = {row.tobytes(): float(log_listed[i]) for i, row in enumerate(listed)}
    chained = np.array([rows.get(row.tobytes(), -np.inf) for row in np.ascontiguousarray(bits)])
    return np.asarray(np.logaddexp(whole, chained) - np.log(2))


def _log_weights(weighed: _EvidenceSums, bits: Bits, profile: Profile) -> F64:
    """Return the share of payloads in the e-value, natural log; uint8 [C, L_m] to [C]."""
    ratios = _log_ratios(bits, weighed.phi, weighed.listed, weighed.log_listed, profile)
    return np.asarray(ratios + weighed.log_prior(bits))


def _members(log_sums: F64) -> I64:
    """Return the grid points that carry weight, strongest first; at least one."""
    weight = np.exp(log_sums - np.logaddexp.reduce(log_sums))
    order = np.argsort(-weight, kind="stable")[:_MOST_MEMBERS]
    return np.asarray(order[(weight[order] >= _LEAST_WEIGHT) | (np.arange(order.size) == 0)])


def _named(prior: PayloadPrior, phi: F64, log_sums: F64, count: int) -> Bits:
    """Return the payloads that any strong grid point names; uint8 [C, L_m], all different."""
    rows: dict[bytes, Bits] = {}
    for g in _members(log_sums):
        for bits in prior.k_best(phi[g], count):
            rows.setdefault(bits.tobytes(), bits)
    return np.stack(list(rows.values()))


def _candidates(weighed: _EvidenceSums, profile: Profile) -> list[Candidate]:
    """Return all payloads that were named, by their share in the e-value."""
    bits = np.unique(np.concatenate([weighed.named, weighed.listed]), axis=0)
    log_posterior = np.minimum(_log_weights(weighed, bits, profile) - weighed.log_e, 0.0)
    order = np.argsort(-log_posterior, kind="stable")
    return [
        Candidate(payload=Payload.from_bits(bits[i]), log_posterior=float(log_posterior[i]))
        for i in order
    ]


def _bit_posteriors(weighed: _EvidenceSums, found: list[Candidate]) -> F64:
    """Return the bits' posteriors, averaged over grid and list."""
    prior, phi, log_sums = weighed.prior, weighed.phi, weighed.log_weighted
    if not weighed.usable:
        return np.full(prior.trellis.payload_bits, 0.5)
    weight = np.exp([c.log_posterior for c in found])
    bits = np.stack([c.payload.bits for c in found]).astype(np.float64)
    rest = 1.0 - float(weight.sum())
    if rest <= _NEGLIGIBLE_REST:
        # The list holds all that matters; no bit is further from its posterior than the rest.
        return np.asarray(np.clip(weight @ bits + max(rest, 0.0) / 2, 0.0, 1.0))
    members = _members(log_sums)
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
