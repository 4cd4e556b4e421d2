"""What one key makes of a reading: schedule, local evidence, both decoders (steps 6 to 9)."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from pura.base.progress import Checkpoint, never_cancelled
from pura.detect.decode import significance
from pura.detect.decode.exact import ExactDecision, decide
from pura.detect.decode.likelihood import Intervals, LikelihoodModel
from pura.detect.decode.limited import Issuable
from pura.detect.decode.paper import PaperDecoding
from pura.detect.decode.paper import decode as decode_paper
from pura.detect.decode.prior import Issued
from pura.detect.local.evidence import LocalEvidence, local_evidence
from pura.detect.verdict.policy import Policy
from pura.model.reading import Reading
from pura.record.evidence import LimitsFacts, PriorFacts
from pura.register.store import Register
from pura.scheme import I64, U8, PayloadSeries, Profile, SecretKey, schedule
from pura.words.sentences import Sentence, sentence

UNDECIDED: Final = 1.0
"""log10 of the evidence above which, and below the threshold, phases are redrawn."""


@dataclass(frozen=True, kw_only=True)
class KeyTrial:
    """Which key is tried on which reading, and what it counts.

    Attributes:
        number: Which of the keys.
        variant: Which form of the text.
        reading: Which reading: a form of the text after a beginning.
        log10_weight: log10 of what its e-value counts in the evidence of the text.
        begin: The first token of a window that was read again; None for the text.
        question: Row of the stored question after which the text was read; None where it was read
            without one.
    """

    number: int = 0
    variant: int = 0
    reading: int = 0
    log10_weight: float
    begin: int | None = None
    question: int | None = None


@dataclass(frozen=True, kw_only=True)
class KeyReading(KeyTrial):
    """What one key makes of a text.

    Attributes:
        ids: int64 [L], the tokens.
        seen: What it saw.
        local: Their local evidence.
        paper: The published decoder's word.
        exact: The exact decoder's word.
    """

    ids: I64
    seen: Intervals
    local: LocalEvidence
    paper: PaperDecoding
    exact: ExactDecision

    @property
    def log10_share(self) -> float:
        """log10 of what it adds to the evidence of the text."""
        return self.log10_weight + self.exact.log10_e


@dataclass(frozen=True, kw_only=True)
class Strength:
    """The evidence over all keys.

    Attributes:
        log10_e: log10 of the weighted sum of all e-values, those of other schemes with them.
        own: log10 of what this scheme says by itself.
        p_redraw: Redraw p-value, corrected for the number of keys; None when not computed.
        draws: Redraws made.
        seed: Of the redraws.
        note: How the p-value came about.
    """

    log10_e: float
    own: float
    p_redraw: float | None
    draws: int
    seed: int
    note: Sentence


def intervals_of(
    reading: Reading,
    number: int,
    key: SecretKey,
    profile: Profile,
    checkpoint: Callable[[], None],
    *,
    prompt_known: bool = False,
    text_tokens: int | None = None,
    before: frozenset[bytes] = frozenset(),
    likelihood: LikelihoodModel | None = None,
) -> Intervals:
    """Return what a key sees of a reading, and which steps carry bits (step 6).

    Args:
        reading: Of the model.
        number: Which row of its intervals is in this key's secret order.
        key: The key.
        profile: The profile.
        checkpoint: Called often; may raise.
        prompt_known: The model read the prompt first.
        text_tokens: Tokens of the whole text; those that were read when absent.
        before: Contexts that stood before the text; at these no step carries bits.
        likelihood: The frozen numbers; the shipped ones when absent.
    """
    plan = schedule(
        reading.ids, reading.entropy_bits, key, profile, before=before, checkpoint=checkpoint
    )
    return Intervals.of(
        plan,
        reading.entropy_bits,
        reading.lo[number],
        reading.hi[number],
        profile,
        probability=reading.probability,
        prompt_known=prompt_known,
        text_tokens=text_tokens,
        model=likelihood,
    )


def weigh(seen: Intervals) -> LocalEvidence:
    """Return what each step says about its bits (step 7)."""
    return local_evidence(seen.schedule, seen.lo, seen.hi, seen.profile)


def decode(
    tried: KeyTrial,
    ids: I64,
    seen: Intervals,
    local: LocalEvidence,
    *,
    candidates: int = 1,
    issuable: Issuable | None = None,
    issued: Issued | None = None,
    one_of_many: bool = False,
    threshold: float = 6.0,
    least: float = -math.inf,
    checkpoint: Callable[[], None] = never_cancelled,
) -> KeyReading:
    """Decode with the published and with the exact decoder (step 8).

    A mark must reach ``threshold``, log10, with the weight that its trial has among all. None is
    looked for where the evidence, natural log, is below ``least``.
    """
    exact = decide(
        seen,
        candidates=candidates,
        issuable=issuable,
        issued=issued,
        one_of_many=one_of_many,
        level=(threshold - tried.log10_weight) * math.log(10),
        least=least,
        checkpoint=checkpoint,
    )
    return KeyReading(
        **vars(tried),
        ids=ids,
        seen=seen,
        local=local,
        paper=decode_paper(seen.schedule, local, seen.profile),
        exact=exact,
    )


def evidence(
    trials: Sequence[KeyReading], of: Callable[[ExactDecision], float] = lambda exact: exact.log10_e
) -> float:
    """Return log10 of the weighted sum of the e-values; what was not read counts as 0.

    Args:
        trials: All of a text, or some of them.
        of: log10 of an e-value that a decision holds.
    """
    if not trials:
        return -math.inf
    values = np.array([trial.log10_weight + of(trial.exact) for trial in trials])
    return float(np.logaddexp.reduce(values * math.log(10)) / math.log(10))


def total_evidence(
    trials: Sequence[KeyReading], other_schemes: Sequence[float] = ()
) -> tuple[float, float]:
    """Return log10 of what this scheme says by itself, and of the evidence of the text.

    Args:
        trials: All of a text.
        other_schemes: log10 of what other schemes say of it.
    """
    own = evidence(trials) + math.log10(1 + len(other_schemes))
    return own, significance.combine([own, *other_schemes])


def unasked(trials: Sequence[KeyReading]) -> list[KeyReading]:
    """Return the trials of a text that was read without a stored question."""
    return [trial for trial in trials if trial.question is None]


def strength(
    trials: Sequence[KeyReading],
    best: KeyReading,
    policy: Policy,
    *,
    window: KeyReading | None,
    tried: int,
    seed: int,
    other_schemes: Sequence[float] = (),
    checkpoint: Checkpoint = never_cancelled,
) -> Strength:
    """Add up the evidence; where it decides something, redraw the strongest trial's phases.

    The headline is the weighted sum over all trials, never the best one. The redraw p-value of the
    best trial is multiplied by the number of first readings (Bonferroni). Where the bound has
    settled the matter already, redraws would add minutes and no insight; a policy may ask for them
    all the same.

    Args:
        trials: Every key on every reading that was read, and the windows that were read again.
        best: The strongest of those that are no windows.
        policy: The decision rule.
        window: The one that a finding rests on, if it does on one.
        tried: Keys times readings, times schemes.
        seed: Of the redraws.
        other_schemes: log10 of what other schemes say of the text.
        checkpoint: Called often; may raise.
    """
    own, log10_e = total_evidence(trials, other_schemes)
    if why := _needless(log10_e, best, window, policy):
        note = sentence(f"log.redraw-{why}")
        return Strength(log10_e=log10_e, own=own, p_redraw=None, draws=0, seed=seed, note=note)
    test = significance.redraw_p(best.seen, seed=seed, draws=policy.draws, checkpoint=checkpoint)
    return Strength(
        log10_e=log10_e,
        own=own,
        p_redraw=significance.correct_p(test.p, tried),
        draws=test.draws,
        seed=seed,
        note=sentence("log.redrawn", n=test.draws, statistic="walk", seed=str(seed)),
    )


def _needless(log10_e: float, best: KeyReading, window: KeyReading | None, policy: Policy) -> str:
    """Say why no phases are redrawn; empty where they are."""
    if not policy.draws:
        return "policy"
    if best.seen.stopped:
        # Turned phases would have stopped elsewhere.
        return "stopped"
    if window is not None:
        return "again"
    if not len(best.seen.schedule):
        return "usable"
    if policy.redraw == "always" or UNDECIDED < log10_e < policy.t_found:
        return ""
    if log10_e >= policy.t_found:
        return "reached"
    return "weak"


def strongest(trials: Sequence[KeyReading]) -> KeyReading:
    """Return the trial with the largest evidence, of those that are no windows."""
    return max((t for t in trials if t.begin is None), key=lambda trial: trial.exact.log_e)


@dataclass(frozen=True, kw_only=True)
class RegisterPrior:
    """Issued payloads as a prior, and the state of the register that they come from.

    Attributes:
        issued: For each key in order the payloads that were issued under it and the profile; None
            where none were.
        version: Version of the register.
        head: Hash of its newest row, hex.
        date: When it was last changed, ISO 8601; empty when it never was.
    """

    issued: tuple[Issued | None, ...]
    version: str
    head: str
    date: str

    @property
    def entries(self) -> int:
        """How many payloads were issued, under all keys together."""
        return sum(len(payloads) for payloads in self.issued if payloads is not None)

    def facts(self, trials: Sequence[KeyReading], weight: float) -> PriorFacts:
        """Return what the record says of it: the evidence with and without the issued payloads.

        Args:
            trials: All of a text.
            weight: Part of the prior weight that issued payloads share.
        """
        ten = math.log(10)
        alike = evidence(trials, lambda exact: exact.log_e_alike / ten)
        # A key under which nothing was issued weighs all payloads alike.
        issued = evidence(
            trials,
            lambda exact: (
                (exact.log_e_alike if exact.log_e_issued is None else exact.log_e_issued) / ten
            ),
        )
        return PriorFacts(
            version=self.version,
            digest=self.head,
            date=self.date,
            entries=self.entries,
            weight=weight,
            log10_alike=alike,
            log10_issued=issued,
        )


def issuable(profile: Profile, policy: Policy) -> Issuable | None:
    """Return the payloads within the limits of a profile; None where it has none.

    Args:
        profile: With the day of the audit written out.
        policy: Says what payloads outside weigh.
    """
    if not profile.limited:
        return None
    return Issuable.of([(f.bits, f.ranges) for f in profile.fields], policy.outside_limits)


def limits_facts(
    within: Issuable, day: dt.date | None, trials: Sequence[KeyReading]
) -> LimitsFacts:
    """Return what the record says of limits: their weight, and the evidence without them.

    Args:
        within: The payloads within.
        day: What ``today`` in them stood for; None where none says it.
        trials: All of a text.
    """
    ten = math.log(10)
    return LimitsFacts(
        weight=within.outside,
        day="" if day is None else day.isoformat(),
        log10_share=within.log_share / ten,
        log10_alike=evidence(trials, lambda exact: exact.log_e_alike / ten),
    )


def register_prior(
    register: Register | None,
    keys: Sequence[SecretKey],
    profile: Profile,
    policy: Policy,
    checkpoint: Callable[[], None],
) -> RegisterPrior | None:
    """Read the register as a prior; None where the policy or the register offers none.

    Each key has the payloads that were issued under it, its epoch and the profile. Which they are
    is fixed before a text is read, so that the evidence under each key keeps its mean of one.
    """
    if register is None or not policy.register_prior:
        return None

    def blocks(series: PayloadSeries) -> Iterator[U8]:
        for _, bits in register.chunks(series, profile.payload_bits):
            checkpoint()
            yield bits

    with register.held():
        issued = tuple(
            Issued.of(blocks(series), profile.payload_bits, policy.register_prior)
            if register.count(series, profile.payload_bits)
            else None
            for series in (PayloadSeries.of(key, profile) for key in keys)
        )
        if not any(issued):
            return None
        return RegisterPrior(
            issued=issued,
            version=register.version(),
            head=register.head(),
            date=register.changed(),
        )
