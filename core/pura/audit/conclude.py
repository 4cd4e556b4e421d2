"""Steps 9 to 12: significance, passages, candidates, verdict, and the record made of them."""

from __future__ import annotations

import datetime as dt
import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from pura.audit import options as record_facts
from pura.audit.decoding import WeighedText
from pura.audit.key_reading import KeyReading, Strength, limits_facts, strength, strongest
from pura.audit.options import rule_noted
from pura.audit.pooling import TextPooling
from pura.audit.variants import (
    decisive,
    placed,
    prompt_facts,
    prompt_readings,
    rereading_facts,
    variant_facts,
    without_text,
)
from pura.decode.fit import fit_of
from pura.decode.marks import Extent, Mark
from pura.decode.pooling import PooledPosterior
from pura.documents.characters import hidden_characters
from pura.record.audit import Audit
from pura.record.evidence import (
    FitFacts,
    MarkFacts,
    PayloadFacts,
    PowerFacts,
    PriorFacts,
    SchemeFacts,
    StepEvidence,
    TokenEvidence,
)
from pura.record.gaps import gaps_between
from pura.record.left_out import left_out_share
from pura.record.marks import bit_evidence
from pura.record.naming import (
    CandidateFacts,
    NamedPayload,
    Passage,
    RegisterFacts,
    name_payload,
    token_share,
)
from pura.scheme import F64, I64, U8, Payload, PayloadSeries, Profile, encode, unpack
from pura.verdict.attribution import withhold
from pura.verdict.expect import kind_of, unlike_study
from pura.verdict.findings import FindingContext, cautions, findings
from pura.verdict.outcome import Outcome, decide_outcome
from pura.verdict.power import Claim, PowerQuery, claim
from pura.words.sentences import sentence

_FEW_CANDIDATES: Final = 8
_LEAST_COPIED: Final = 20  # tokens
_NEARLY_ALL: Final = 0.9999  # of the weight; what is left changes no marginal of a field
_NO_PAYLOAD: Final = PayloadFacts(bits="", posterior=np.zeros(0), repaired=0)


@dataclass(frozen=True, kw_only=True)
class Selected:
    """What the record's arrays are made of.

    Attributes:
        profile: The profile.
        spans: int64 [L, 2], characters of each token.
        trial: The key that the findings are about.
        key: Its fingerprint.
        decoder: Whose payload is reported: ``exact`` or ``paper``.
        posterior: How the evidence is spread over marks, for the strongest mark.
    """

    profile: Profile
    spans: I64
    trial: KeyReading
    key: str
    decoder: str
    posterior: PooledPosterior

    @property
    def payload(self) -> Payload:
        """The reported payload."""
        if self.decoder == "paper":
            return self.trial.paper.payload
        best = self.posterior.best_of(self.key)
        return self.trial.exact.payload if best is None else best.payload

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


def payload_facts(found: Selected) -> PayloadFacts:
    """Return the reported payload, how sure each bit is, and what its layout makes of it."""
    payload = found.payload
    shares = found.posterior.bit_shares[found.key]
    return PayloadFacts(
        bits=payload.text,
        posterior=shares[np.arange(payload.bits.size), payload.bits],
        repaired=int(found.repaired.sum()),
        fields=unpack(found.profile.fields, payload),
    )


def candidates(
    posterior: PooledPosterior, key: str, profile: Profile, most: int
) -> tuple[CandidateFacts, ...]:
    """Return the most probable payloads, strongest first, until hardly any weight is left.

    Args:
        posterior: How the evidence is spread over marks.
        key: Fingerprint of the key of the mark that they are candidates for.
        profile: The profile.
        most: How many to list at most.
    """
    kept: list[CandidateFacts] = []
    total = 0.0
    for candidate in posterior.candidates[: max(1, most)]:
        if len(kept) >= _FEW_CANDIDATES and total >= _NEARLY_ALL:
            break
        total += candidate.posterior
        kept.append(
            CandidateFacts(
                bits=candidate.payload.text,
                posterior=candidate.posterior,
                fields=unpack(profile.fields, candidate.payload),
                key="" if candidate.key == key else candidate.key,
            )
        )
    return tuple(kept)


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
    posteriors: Sequence[PooledPosterior],
    found: Selected,
    keys: Sequence[str],
    most: int,
) -> tuple[MarkFacts, ...]:
    """Return what is known of marks, each read from its own passages.

    Args:
        marks: Of :func:`separate_marks`.
        posteriors: How the evidence of each is spread; empty where there is one mark only, of which
            the record says it as of the text.
        found: What the record is about.
        keys: Fingerprints of the keys.
        most: How many candidates to list at most.
    """
    profile, facts = found.profile, []
    for place, one in enumerate(marks):
        key, payload = keys[one.trial.number], one.mark.payload
        listed: tuple[CandidateFacts, ...] = ()
        if posteriors:
            payload = payload_of(one.mark, key, posteriors[place])
            listed = candidates(posteriors[place], key, profile, most)
        elif found.decoder == "exact":
            payload = found.payload
        facts.append(
            MarkFacts(
                key=key,
                bits=payload.text,
                fields=unpack(profile.fields, payload),
                passages=_passages(one.mark.extents, found.spans),
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


def _passages(extents: Sequence[Extent], spans: I64) -> tuple[Passage, ...]:
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


def conclude(decoded: WeighedText) -> Audit:
    """Walk steps 9 to 12 and return the record."""
    prepared, trials = decoded.prepared, decoded.trials
    basis, text, log = prepared.basis, prepared.text, prepared.log
    policy = basis.options.policy
    best = strongest(trials)
    window = decisive(trials, policy.t_found)
    with log.step(9) as note:
        strong = strength(
            trials,
            best,
            policy,
            window=window,
            tried=prepared.parts,
            other_schemes=[one.log10_e for one in text.other_schemes],
            seed=policy.seed(text.document.sha256),
            checkpoint=basis.checkpoint,
        )
        note.append(strong.note)
    pooling = TextPooling(decoded=decoded)
    found = _selected(decoded, pooling, best if window is None else placed(window, trials))
    decided = _outcome(decoded, strong.log10_e, found.trial, prepared.parts)
    marks: tuple[SeparateMark, ...] = ()
    posteriors: tuple[PooledPosterior, ...] = ()
    with log.step(10) as note:
        if decided.verdict == "mark" and found.marks:
            marks = separate_marks(trials, found, policy.t_found)
        if len(marks) > 1:
            posteriors = tuple(
                found.posterior
                if one.mark is found.trial.exact.strongest
                else pooling.of_mark(one.mark, one.trial)
                for one in marks
            )
        note.append(sentence("log.passages", n=sum(len(one.mark.ranges) for one in marks)))
    return _Conclusion(
        decoded=decoded,
        pooling=pooling,
        found=found,
        strong=strong,
        decided=decided,
        marks=marks,
        posteriors=posteriors,
    ).record()


def _selected(decoded: WeighedText, pooling: TextPooling, shown: KeyReading) -> Selected:
    """Return what the record is about: a reading that speaks for the most probable mark.

    Args:
        decoded: The text.
        pooling: Spreads its evidence over marks.
        shown: The reading with the largest evidence.
    """
    prepared, keys = decoded.prepared, decoded.prepared.basis.keys
    posterior = _of_strongest(pooling, shown)
    if shown.begin is None:
        # Readings may disagree: the one is shown that reads what all of them together say.
        agreeing = [
            trial
            for trial in decoded.trials
            if trial.begin is None
            and keys[trial.number][0].fingerprint == posterior.best.key
            and trial.exact.payload == posterior.best.payload
            and (trial.exact.marks or not shown.exact.marks)
        ]
        if agreeing and all(trial is not shown for trial in agreeing):
            shown = max(agreeing, key=lambda trial: trial.log10_share)
            posterior = _of_strongest(pooling, shown)
    tokens = prepared.tokens[shown.variant].spans[: shown.ids.size]
    return Selected(
        profile=prepared.basis.profile,
        spans=prepared.variants[shown.variant].spans_in_record(tokens),
        trial=shown,
        key=keys[shown.number][0].fingerprint,
        decoder=prepared.basis.options.decoder,
        posterior=posterior,
    )


def _of_strongest(pooling: TextPooling, shown: KeyReading) -> PooledPosterior:
    """Return the posterior of a reading's strongest mark; of the text where none was looked for."""
    strongest_mark = shown.exact.strongest
    return pooling.of_text() if strongest_mark is None else pooling.of_mark(strongest_mark, shown)


def _outcome(decoded: WeighedText, log10_e: float, best: KeyReading, tried: int) -> Outcome:
    """Return what the rule makes of evidence, over so many keys and readings."""
    made = _claim(decoded, best, tried)
    document = decoded.prepared.text.document
    return decide_outcome(
        log10_e,
        len(best.seen.schedule),
        decoded.prepared.basis.options.policy,
        power=made.power,
        needed=made.needed,
        left_out=left_out_share(document.left_out, document.examined_words),
    )


def _claim(decoded: WeighedText, best: KeyReading, tried: int) -> Claim:
    """What may be said of how often texts like this one are found."""
    prepared, basis = decoded.prepared, decoded.prepared.basis
    policy = basis.options.policy
    if decoded.handled:
        # Nothing was measured on texts that were handled like this.
        return Claim()
    asked = PowerQuery(
        profile=basis.profile,
        usable=len(best.seen.schedule),
        # The evidence of one marked reading is divided by the number of those tried, by the
        # part that windows do not take, and what all payloads alike say by the part that
        # issued ones do not take.
        threshold=policy.t_found
        + math.log10(tried)
        + prepared.weights.cost
        + (0.0 if decoded.prior is None else policy.prior_cost)
        + (0.0 if basis.issuable is None else policy.limits_cost),
        # Of several candidates none may be the right one.
        prompt_known=len(prepared.text.prompts) == 1,
        reader=basis.model.fingerprint,
        dtype=basis.model.device.dtype,
        kind=kind_of(prepared.text.document.examined_text),
        likelihood=best.exact.model_fingerprint,
    )
    return claim(basis.options.power_tables, asked, policy.power_needed)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Conclusion:
    """The verdict is fixed; what is left are register, sentences and record.

    Attributes:
        decoded: The text.
        pooling: Spreads its evidence over marks.
        found: What the record is about.
        strong: The evidence.
        decided: The rule's word.
        marks: Those that are reported, in the order of the text.
        posteriors: How the evidence of each is spread over payloads; empty where there is one only.
    """

    decoded: WeighedText
    pooling: TextPooling
    found: Selected
    strong: Strength
    decided: Outcome
    marks: tuple[SeparateMark, ...]
    posteriors: tuple[PooledPosterior, ...]

    @cached_property
    def candidates(self) -> tuple[CandidateFacts, ...]:
        """The most probable payloads of the strongest mark; none where nothing was read."""
        found = self.found
        if not found.trial.exact.usable:
            return ()
        most = self.decoded.prepared.basis.options.candidates
        return candidates(found.posterior, found.key, found.profile, most)

    @cached_property
    def facts(self) -> tuple[MarkFacts, ...]:
        """What the record holds of each mark; whether its payload is withheld is settled here."""
        basis = self.decoded.prepared.basis
        keys = [key.fingerprint for key, _ in basis.keys]
        most = basis.options.candidates
        facts = mark_facts(self.marks, self.posteriors, self.found, keys, most)
        if self.decided.verdict != "mark":  # no payload is stated in any case
            return facts
        return withhold(facts, self.found.profile, basis.options.policy)

    @property
    def withheld(self) -> bool:
        """The payload of the mark that the record is about is withheld."""
        strongest = self.found.trial.exact.strongest
        return any(
            facts.withheld and one.mark is strongest
            for one, facts in zip(self.marks, self.facts, strict=True)
        )

    @cached_property
    def named(self) -> NamedPayload | None:
        """What may be said of the payload of a text with one mark."""
        if len(self.marks) != 1:
            return None
        found, basis = self.found, self.decoded.prepared.basis
        layout = basis.profile.fields
        return name_payload(
            found.payload.text,
            unpack(layout, found.payload),
            self.candidates,
            basis.options.policy.single_weight,
            layout=layout,
            withheld=self.facts[0].withheld,
        )

    @cached_property
    def power(self) -> PowerFacts | None:
        """Where the power comes from."""
        tried = self.decoded.prepared.parts
        return record_facts.power_facts(_claim(self.decoded, self.found.trial, tried))

    def ask_register(self) -> RegisterFacts | None:
        """Walk step 11."""
        found, log, basis = self.found, self.decoded.prepared.log, self.decoded.prepared.basis
        register, profile = basis.options.register, basis.profile
        if register is None:
            log.skip(11, "log.register-off")
            return None
        if self.decided.verdict != "mark":
            log.skip(11, "log.register-no-mark")
            return None
        if self.facts and all(one.withheld for one in self.facts):
            log.skip(11, "log.register-withheld")
            return None
        policy = basis.options.policy
        if self.named is None or not self.named.identified:
            with log.step(11) as note:
                identified = [
                    (self._series(one.trial).mark(best.payload), best.posterior)
                    for one, posterior, facts in zip(
                        self.marks, self.posteriors, self.facts, strict=False
                    )
                    if not facts.withheld
                    and (best := posterior.best_of(basis.keys[one.trial.number][0].fingerprint))
                    and best.posterior >= policy.single_weight
                ]
                asked = register.entries_of(
                    identified,
                    policy.prior_none,
                    profile,
                    series=[self._series(one.trial) for one in self.marks],
                )
                note.append(sentence("log.register-some", n=asked.entries))
            return asked

        def score(rows: U8) -> F64:
            return self.pooling.log_ratios(rows, found.key)

        with log.step(11) as note:
            asked = register.posterior(
                self._series(found.trial).mark(found.payload),
                score,
                self.pooling.log_e_alike,
                policy.prior_none,
                profile,
                checkpoint=basis.checkpoint,
            )
            note.append(sentence("log.register", n=asked.entries))
        return asked

    def _series(self, trial: KeyReading) -> PayloadSeries:
        """Return what the payloads belong to that were read with the key of a trial."""
        basis = self.decoded.prepared.basis
        key, _ = basis.keys[trial.number]
        return PayloadSeries.of(key, basis.profile)

    def record(self) -> Audit:
        """Walk steps 11 and 12; returns the record."""
        decoded, found, strong = self.decoded, self.found, self.strong
        prepared, trials, best = decoded.prepared, decoded.trials, found.trial
        basis, text, openings = prepared.basis, prepared.text, prepared.openings
        options, policy, keys = basis.options, basis.options.policy, basis.keys
        register = self.ask_register()
        shown = prepared.variants[best.variant]
        record_text = shown.in_record(text.document.text)
        readings = variant_facts(
            prepared.variants,
            prepared.tokens,
            trials,
            best,
            prepared.weights,
            lambda log10_e, trial: _outcome(decoded, log10_e, trial, len(keys)).verdict,
        )
        prior: PriorFacts | None = None
        if decoded.prior is not None:
            prior = decoded.prior.facts(trials, policy.register_prior)
        limits = None if basis.issuable is None else limits_facts(basis.issuable, basis.day, trials)
        again = rereading_facts(trials, prepared.weights, best)
        outcome = self.decided.tested(
            keys_tried=len(keys) + len(text.other_schemes),
            p_redraw=strong.p_redraw,
            draws=strong.draws,
            seed=strong.seed,
        )
        around = self._context()
        separate = self.facts
        more = len(separate) > 1 and best.exact.at_least
        with prepared.log.step(12) as note:
            said = findings(
                outcome,
                policy,
                around,
                payload=self.named,
                power=self.power,
                prior=prior,
                limits=limits,
                register=register,
                marks=separate,
                more_marks=more,
                stopped=decoded.stopped,
                again=again,
            )
            weak = cautions(outcome, around, register)
            note.append(rule_noted(policy, outcome))
        return Audit(
            id=secrets.token_hex(16),
            created=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            input=record_facts.input_facts(text.document, best.seen.text_tokens, record_text),
            text=record_text if options.keep_text else None,
            prompt=prompt_facts(text.prompts, openings[best.reading]),
            key=record_facts.key_facts(*keys[best.number]),
            keys=tuple(record_facts.key_facts(*key) for key in keys),
            profile=basis.profile,
            model=record_facts.model_facts(basis.model),
            device=record_facts.device_facts(basis.model.device),
            tokens=token_evidence(found, [one.mark for one in self.marks if one.trial is not best]),
            steps=step_evidence(found),
            bits=()
            if self.withheld
            else bit_evidence(
                best.paper.llr_nats, best.paper.readings, found.payload, found.profile
            ),
            decoded=_NO_PAYLOAD if self.withheld else payload_facts(found),
            decoder=options.decoder,
            candidates=() if self.withheld else self.candidates,
            evidence=outcome.evidence,
            power=self.power,
            verdict=outcome.verdict,
            sentences=said,
            cautions=weak,
            # Passages are shown with a finding only: without one they would point at chance.
            passages=_passages(found.extents, found.spans) if outcome.verdict == "mark" else (),
            marks=separate,
            more_marks=more,
            variants=readings if options.keep_text else without_text(readings),
            prompts=prompt_readings(text.prompts, openings, trials, best),
            prior=prior,
            limits=limits,
            stopped=decoded.stopped,
            rereading=again,
            epochs=options.epochs or None,
            schemes=self._schemes(),
            register=register,
            policy=policy.to_dict(),
            log=tuple(prepared.log.reports),
            versions=record_facts.versions(),
        )

    def _schemes(self) -> tuple[SchemeFacts, ...]:
        """Return what each scheme says by itself, where others stand beside PURA's."""
        prepared = self.decoded.prepared
        others = prepared.text.other_schemes
        if not others:
            return ()
        best = max(one.log10_e for one in others)
        own = SchemeFacts(
            profile=prepared.basis.profile,
            keys=tuple(key.fingerprint for key, _ in prepared.basis.keys),
            log10_e=self.strong.own,
            shown=self.strong.own >= best,
        )
        return own, *(replace(one, shown=not own.shown and one.log10_e == best) for one in others)

    def _context(self) -> FindingContext:
        found, marks, prepared = self.found, self.marks, self.decoded.prepared
        basis, text = prepared.basis, prepared.text
        options, model, profile = basis.options, basis.model, basis.profile
        readings = found.trial.paper.readings
        stated = len(marks) < 2 and not self.withheld
        shown, use = prepared.openings[found.trial.reading], options.use
        return FindingContext(
            tokens=found.spans.shape[0],
            key=basis.keys[found.trial.number][0].fingerprint,
            mark=self._series(found.trial).mark(found.payload) if len(marks) == 1 else None,
            decoder=options.decoder,
            prompt_known=len(text.prompts) == 1,
            beginning_known=profile.chat_template is not None,
            candidates=len(text.prompts),
            candidate=0 if shown.candidate is None else shown.candidate + 1,
            verifier=model.name,
            generator=profile.model,
            verifier_fingerprint=model.fingerprint,
            retokenised=prepared.variants[found.trial.variant].ids is None,
            readings=sum(variant.read for variant in prepared.variants),
            positions=readings.size,
            # With several marks each has bits of its own, told beside it.
            erasures=int((readings == 0).sum()) if stated else 0,
            repaired=int(found.repaired.sum()) if stated else 0,
            gaps=gaps_between(_passages(one.mark.extents, found.spans) for one in marks),
            copies=copies(found, marks, found.profile.context_window),
            created="" if use is None or use.created is None else use.created.isoformat(),
            new_key=use is not None and use.new,
            issued=None if use is None else use.issued,
            unassigned=0 if use is None else use.unassigned,
            # Nothing stands against a rate that was measured on texts of this kind.
            unlike="" if self.power is not None else unlike_study(text.document.examined_text),
            handled=self.decoded.handled,
            hidden=hidden_characters(text.document.examined_text),
            left_out=text.document.left_out,
            examined_words=text.document.examined_words,
            epochs=options.epochs,
            schemes=1 + len(text.other_schemes),
            prior_unused=self.decoded.prior is None and options.policy.register_prior > 0,
            passages=len(found.ranges),
            passage_share=token_share(found.ranges, found.trial.seen.text_tokens),
        )
