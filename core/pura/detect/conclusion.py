"""What follows from decoded readings: strength, verdict, marks, register, sentences, record."""

from __future__ import annotations

import datetime as dt
import math
import secrets
from dataclasses import dataclass, replace
from functools import cached_property

from pura.detect import record_facts
from pura.detect.decode.pooling import PooledPosterior
from pura.detect.decoding import TextDecoding
from pura.detect.key_reading import (
    KeyReading,
    Strength,
    evidence,
    limits_facts,
    strength,
    strongest,
    unasked,
)
from pura.detect.pooling import TextPooling
from pura.detect.prompts import PromptCandidate, prompt_facts, prompt_readings
from pura.detect.reported_marks import SeparateMark, copies, mark_facts, passages_of, separate_marks
from pura.detect.restore.variants import without_text
from pura.detect.selected import (
    NO_PAYLOAD,
    Selected,
    candidates,
    payload_facts,
    step_evidence,
    token_evidence,
)
from pura.detect.step_log import StepLog
from pura.detect.variant_facts import variant_facts
from pura.detect.verdict.attribution import withhold
from pura.detect.verdict.expect import kind_of, unlike_study
from pura.detect.verdict.findings import FindingContext, cautions, findings
from pura.detect.verdict.outcome import Outcome, decide_outcome
from pura.detect.verdict.power import Claim, PowerQuery, claim
from pura.detect.windows import decisive, placed, rereading_facts
from pura.documents.characters import hidden_characters
from pura.record.audit import Audit
from pura.record.evidence import (
    LimitsFacts,
    MarkFacts,
    PowerFacts,
    PriorFacts,
    QuestionFacts,
    RereadingFacts,
    SchemeFacts,
)
from pura.record.gaps import gaps_between
from pura.record.left_out import left_out_share
from pura.record.marks import bit_evidence
from pura.record.naming import (
    CandidateFacts,
    NamedPayload,
    RegisterFacts,
    name_payload,
    token_share,
)
from pura.scheme import F64, U8, PayloadSeries, unpack
from pura.words.sentences import Sentence, sentence


def strength_of(decoded: TextDecoding) -> Strength:
    """Return the evidence over all keys, readings and windows of a text (step 9)."""
    prepared, trials = decoded.prepared, decoded.trials
    policy, text = prepared.basis.options.policy, prepared.text
    return strength(
        trials,
        # Which question a text is read after may follow from phases: these are not redrawn.
        strongest(unasked(trials)),
        policy,
        window=decisive(trials, policy.t_found),
        tried=prepared.parts,
        other_schemes=[one.log10_e for one in text.other_schemes],
        seed=policy.seed(text.document.sha256),
        checkpoint=prepared.basis.checkpoint,
    )


def find_marks(
    decoded: TextDecoding, pooling: TextPooling, selected: Selected, outcome: Outcome
) -> tuple[SeparateMark, ...]:
    """Return the marks that are reported, in the order of the text (step 10).

    Args:
        decoded: The text.
        pooling: Spreads its evidence over marks.
        selected: What the record is about.
        outcome: The rule's word; without a mark none is reported.
    """
    if outcome.verdict != "mark" or not selected.marks:
        return ()
    marks = separate_marks(decoded.trials, selected, decoded.prepared.basis.options.policy.t_found)
    if len(marks) < 2:  # of one mark the record says the payload as of the text
        return marks
    strongest_mark = selected.trial.exact.strongest
    return tuple(
        replace(
            one,
            posterior=selected.posterior
            if one.mark is strongest_mark
            else pooling.of_mark(one.mark, one.trial),
        )
        for one in marks
    )


def select_reading(decoded: TextDecoding, pooling: TextPooling) -> Selected:
    """Return what the record is about: a reading that speaks for the most probable mark.

    Args:
        decoded: The text.
        pooling: Spreads its evidence over marks.
    """
    prepared, keys = decoded.prepared, decoded.prepared.basis.keys
    threshold = prepared.basis.options.policy.t_found
    window = decisive(decoded.trials, threshold)
    trials = decoded.trials
    plain = unasked(trials)
    # Without a finding the record is about the text as it is, not after a question it may answer.
    # After a question one key is tried; marks of others are told where several are.
    if evidence(trials) < threshold or (len(keys) > 1 and evidence(plain) >= threshold):
        trials = tuple(plain)
    shown = strongest(trials) if window is None else placed(window, decoded.trials)
    posterior = _of_strongest(pooling, shown)
    if shown.begin is None:
        # Readings may disagree: the one is shown that reads what all of them together say.
        agreeing = [
            trial
            for trial in trials
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


def decide(
    decoded: TextDecoding, log10_e: float, best: KeyReading, tried: int | None = None
) -> Outcome:
    """Return what the decision rule makes of evidence.

    Args:
        decoded: The text.
        log10_e: log10 of the evidence.
        best: The reading that it rests on.
        tried: Over how many keys and readings the evidence is the mean; None counts all of them.
    """
    made = _claim(decoded, best, decoded.prepared.parts if tried is None else tried)
    document = decoded.prepared.text.document
    return decide_outcome(
        log10_e,
        len(best.seen.schedule),
        decoded.prepared.basis.options.policy,
        power=made.power,
        needed=made.needed,
        left_out=left_out_share(document.left_out, document.examined_words),
    )


def _claim(decoded: TextDecoding, best: KeyReading, tried: int) -> Claim:
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
class Conclusion:
    """The verdict is fixed; what is left are register, sentences and record.

    Attributes:
        decoded: The text.
        pooling: Spreads its evidence over marks.
        selected: What the record is about.
        strength: The evidence.
        outcome: The rule's word.
        marks: Those that are reported, in the order of the text.
    """

    decoded: TextDecoding
    pooling: TextPooling
    selected: Selected
    strength: Strength
    outcome: Outcome
    marks: tuple[SeparateMark, ...]

    @classmethod
    def of(
        cls,
        pooling: TextPooling,
        selected: Selected,
        strength: Strength,
        outcome: Outcome,
        marks: tuple[SeparateMark, ...],
    ) -> Conclusion:
        """Return the conclusion on the text whose evidence is pooled."""
        return cls(
            decoded=pooling.decoded,
            pooling=pooling,
            selected=selected,
            strength=strength,
            outcome=outcome,
            marks=marks,
        )

    @cached_property
    def candidates(self) -> tuple[CandidateFacts, ...]:
        """The most probable payloads of the strongest mark; none where nothing was read."""
        selected = self.selected
        if not selected.trial.exact.usable:
            return ()
        most = self.decoded.prepared.basis.options.candidates
        return candidates(selected.posterior, selected.key, selected.profile, most)

    @cached_property
    def facts(self) -> tuple[MarkFacts, ...]:
        """What the record holds of each mark; whether its payload is withheld is settled here."""
        basis = self.decoded.prepared.basis
        keys = [key.fingerprint for key, _ in basis.keys]
        most = basis.options.candidates
        facts = mark_facts(self.marks, self.selected, keys, most)
        if self.outcome.verdict != "mark":  # no payload is stated in any case
            return facts
        return withhold(facts, self.selected.profile, basis.options.policy)

    @property
    def withheld(self) -> bool:
        """The payload of the mark that the record is about is withheld."""
        strongest = self.selected.trial.exact.strongest
        return any(
            facts.withheld and one.mark is strongest
            for one, facts in zip(self.marks, self.facts, strict=True)
        )

    @cached_property
    def named(self) -> NamedPayload | None:
        """What may be said of the payload of a text with one mark."""
        if len(self.marks) != 1:
            return None
        selected, basis = self.selected, self.decoded.prepared.basis
        layout = basis.profile.fields
        return name_payload(
            selected.payload.text,
            unpack(layout, selected.payload),
            self.candidates,
            basis.options.policy.single_weight,
            layout=layout,
            withheld=self.facts[0].withheld,
        )

    @cached_property
    def power(self) -> PowerFacts | None:
        """Where the power comes from."""
        tried = self.decoded.prepared.parts
        return record_facts.power_facts(_claim(self.decoded, self.selected.trial, tried))

    @cached_property
    def prior(self) -> PriorFacts | None:
        """What the register weighs as a prior; None where it is none."""
        prior, policy = self.decoded.prior, self.decoded.prepared.basis.options.policy
        trials = unasked(self.decoded.trials)
        return None if prior is None else prior.facts(trials, policy.register_prior)

    @cached_property
    def limits(self) -> LimitsFacts | None:
        """What the limits of the profile's fields weigh; None where it has none."""
        basis = self.decoded.prepared.basis
        if basis.issuable is None:
            return None
        return limits_facts(basis.issuable, basis.day, unasked(self.decoded.trials))

    @cached_property
    def questions(self) -> QuestionFacts | None:
        """How stored questions entered the evidence; None without a store."""
        facts = self.decoded.questions
        if facts is None:
            return None
        facts = replace(facts, shown=self.selected.trial.question)
        nameless = self.outcome.verdict != "mark" or self.withheld
        return replace(facts, same_payload=None, gain=None, fits="") if nameless else facts

    @property
    def _opening(self) -> PromptCandidate:
        """What the shown reading began with; of one after a stored question its record says it."""
        prepared, trial = self.decoded.prepared, self.selected.trial
        if trial.question is None:
            return prepared.openings[trial.reading]
        return PromptCandidate(variant=trial.variant, ids=(), candidate=None)

    @cached_property
    def rereading(self) -> RereadingFacts | None:
        """What was read a second time; None of a text that is too short for it."""
        decoded = self.decoded
        return rereading_facts(decoded.trials, decoded.prepared.weights, self.selected.trial)

    @property
    def more_marks(self) -> bool:
        """There may be more marks than are reported."""
        return len(self.facts) > 1 and self.selected.trial.exact.at_least

    def ask_register(self, log: StepLog) -> RegisterFacts | None:
        """Look identified payloads up in the register, after a mark was found only (step 11).

        Args:
            log: Of the text's steps.
        """
        selected, basis = self.selected, self.decoded.prepared.basis
        register, profile = basis.options.register, basis.profile
        if register is None:
            log.skip(11, "log.register-off")
            return None
        if self.outcome.verdict != "mark":
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
                    for one, facts in zip(self.marks, self.facts, strict=True)
                    if one.posterior is not None
                    and not facts.withheld
                    and (best := one.posterior.best_of(basis.keys[one.trial.number][0].fingerprint))
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
            return self.pooling.log_ratios(rows, selected.key)

        with log.step(11) as note:
            asked = register.posterior(
                self._series(selected.trial).mark(selected.payload),
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

    def findings(
        self, register: RegisterFacts | None
    ) -> tuple[tuple[Sentence, ...], tuple[Sentence, ...]]:
        """Return the sentences of the findings, and the cautions (step 12).

        Args:
            register: What the register says; None where it was not asked.
        """
        policy, around = self.decoded.prepared.basis.options.policy, self._context()
        outcome = self._tested
        said = findings(
            outcome,
            policy,
            around,
            payload=self.named,
            power=self.power,
            prior=self.prior,
            limits=self.limits,
            questions=self.questions,
            register=register,
            marks=self.facts,
            more_marks=self.more_marks,
            stopped=self.decoded.stopped,
            again=self.rereading,
        )
        return said, cautions(outcome, around, register)

    @cached_property
    def _tested(self) -> Outcome:
        """The outcome, with how it was tested."""
        prepared, strength = self.decoded.prepared, self.strength
        return self.outcome.tested(
            keys_tried=len(prepared.basis.keys) + len(prepared.text.other_schemes),
            p_redraw=strength.p_redraw,
            draws=strength.draws,
            seed=strength.seed,
        )

    def record(
        self,
        register: RegisterFacts | None,
        said: tuple[tuple[Sentence, ...], tuple[Sentence, ...]],
    ) -> Audit:
        """Return the record.

        Args:
            register: What the register says; None where it was not asked.
            said: The sentences of the findings, and the cautions.
        """
        decoded, selected = self.decoded, self.selected
        prepared, trials, best = decoded.prepared, decoded.trials, selected.trial
        basis, text, openings = prepared.basis, prepared.text, prepared.openings
        options, keys = basis.options, basis.keys
        record_text = prepared.variants[best.variant].in_record(text.document.text)
        readings = variant_facts(
            prepared.variants,
            prepared.tokens,
            trials,
            best,
            prepared.weights,
            lambda log10_e, trial: decide(decoded, log10_e, trial, len(keys)).verdict,
        )
        outcome = self._tested
        sentences, weak = said
        return Audit(
            id=secrets.token_hex(16),
            created=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            input=record_facts.input_facts(text.document, best.seen.text_tokens, record_text),
            text=record_text if options.keep_text else None,
            prompt=prompt_facts(text.prompts, self._opening),
            key=record_facts.key_facts(*keys[best.number]),
            keys=tuple(record_facts.key_facts(*key) for key in keys),
            profile=basis.profile,
            model=record_facts.model_facts(basis.model),
            device=record_facts.device_facts(basis.model.device),
            tokens=token_evidence(
                selected, [one.mark for one in self.marks if one.trial is not best]
            ),
            steps=step_evidence(selected),
            bits=()
            if self.withheld
            else bit_evidence(
                best.paper.llr_nats, best.paper.readings, selected.payload, selected.profile
            ),
            decoded=NO_PAYLOAD if self.withheld else payload_facts(selected),
            decoder=options.decoder,
            candidates=() if self.withheld else self.candidates,
            evidence=outcome.evidence,
            power=self.power,
            verdict=outcome.verdict,
            sentences=sentences,
            cautions=weak,
            # Passages are shown with a finding only: without one they would point at chance.
            passages=passages_of(selected.extents, selected.spans)
            if outcome.verdict == "mark"
            else (),
            marks=self.facts,
            more_marks=self.more_marks,
            variants=readings if options.keep_text else without_text(readings),
            prompts=prompt_readings(text.prompts, openings, trials, best),
            questions=self.questions,
            prior=self.prior,
            limits=self.limits,
            stopped=decoded.stopped,
            rereading=self.rereading,
            epochs=options.epochs or None,
            schemes=self._schemes(),
            register=register,
            policy=options.policy.to_dict(),
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
            log10_e=self.strength.own,
            shown=self.strength.own >= best,
        )
        return own, *(replace(one, shown=not own.shown and one.log10_e == best) for one in others)

    def _context(self) -> FindingContext:
        selected, marks, prepared = self.selected, self.marks, self.decoded.prepared
        basis, text = prepared.basis, prepared.text
        options, model, profile = basis.options, basis.model, basis.profile
        readings = selected.trial.paper.readings
        stated = len(marks) < 2 and not self.withheld
        shown, use = self._opening, options.use
        return FindingContext(
            tokens=selected.spans.shape[0],
            key=basis.keys[selected.trial.number][0].fingerprint,
            mark=self._series(selected.trial).mark(selected.payload) if len(marks) == 1 else None,
            decoder=options.decoder,
            prompt_known=len(text.prompts) == 1,
            beginning_known=profile.chat_template is not None,
            candidates=len(text.prompts),
            candidate=0 if shown.candidate is None else shown.candidate + 1,
            questions=self.questions,
            verifier=model.name,
            generator=profile.model,
            verifier_fingerprint=model.fingerprint,
            retokenised=prepared.variants[selected.trial.variant].ids is None,
            readings=sum(variant.read for variant in prepared.variants),
            positions=readings.size,
            # With several marks each has bits of its own, told beside it.
            erasures=int((readings == 0).sum()) if stated else 0,
            repaired=int(selected.repaired.sum()) if stated else 0,
            gaps=gaps_between(passages_of(one.mark.extents, selected.spans) for one in marks),
            copies=copies(selected, marks, selected.profile.context_window),
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
            passages=len(selected.ranges),
            passage_share=token_share(selected.ranges, selected.trial.seen.text_tokens),
        )
