"""One document's walk along the twelve numbered steps, before and after the model reads it."""

from __future__ import annotations

import datetime as dt
import math
import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pura.audit import assemble, facts
from pura.audit.early_stopping import EarlyStopping
from pura.audit.fitness import check_fitness, check_language
from pura.audit.handling import handling_signs, pieces_of, unlike_written
from pura.audit.key_reading import (
    KeyReading,
    Strength,
    decode,
    intervals_of,
    strength,
    strongest,
    weigh,
)
from pura.audit.options import AuditText, Notice, Options
from pura.audit.prior import RegisterPrior, issuable, limits_facts, register_prior
from pura.audit.prompts import PromptCandidate, openings_of, prompt_facts, prompt_readings
from pura.audit.rereading import (
    Weights,
    Windows,
    decisive,
    placed,
    rereading_facts,
    windows_of,
)
from pura.audit.steps import StepLog, bytes_noted, characters_noted, rule_noted
from pura.audit.variants import Variant, readings_of, variant_facts, without_text
from pura.base.errors import PolicyError, PuraError
from pura.base.progress import Checkpoint, Progress
from pura.decode.intervals import Intervals
from pura.documents.hidden import hidden_characters
from pura.extract.local import LocalEvidence
from pura.record.audit import (
    Audit,
    LimitsFacts,
    PowerFacts,
    PriorFacts,
    PromptReading,
    RegisterFacts,
    RereadingFacts,
    SchemeFacts,
    StopFacts,
    VariantFacts,
)
from pura.record.naming import NamedPayload, name_payload
from pura.scheme import Profile, SecretKey, contexts_before, unpack
from pura.verdict.expect import kind_of, unlike_study
from pura.verdict.findings import FindingContext, cautions, findings
from pura.verdict.outcome import Outcome, decide_outcome
from pura.verdict.power import Asked
from pura.verdict.power_claim import Claim, claim, likelihood_of
from pura.words.sentence import Sentence, sentence

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from pura.model.evidence import Request
    from pura.model.load import LanguageModel
    from pura.model.reading import Reading
    from pura.model.tokenise import Tokens

FEW_KEYS: Final = 8
"""Beyond so many, keys under which nothing is in sight are weighed by a bound from below."""

_AHEAD: Final = dt.timedelta(hours=14)  # of UTC: no clock is further


def _windows(count: int, model: LanguageModel) -> Sentence:
    if count == 1:
        return sentence("log.window")
    from pura.model.evidence import cut_of

    longest, overlap = cut_of(model)
    return sentence("log.windows", n=count, size=longest, overlap=overlap)


def _signs(signs: Sequence[str]) -> list[Sentence]:
    return [sentence("log.handled", sign=f"log.sign-{sign}") for sign in signs]


def _check_power(options: Options) -> None:
    here = {table.fingerprint for table in options.power_tables}
    for name in options.policy.power_tables:
        if name not in here:
            raise PolicyError("power.absent", name=name[:16], code="power-absent")


class DocumentAudit:
    """The walk along the steps; keeps their log.

    Args:
        text: The document, and what is known of it.
        options: What else is asked.
        model: The model that reads it.
        keys: Secret keys and their labels.
        profile: What generator and verifier share.
        progress: Told of every step.
        checkpoint: Called often; may raise.
    """

    def __init__(
        self,
        text: AuditText,
        options: Options,
        model: LanguageModel,
        keys: Sequence[tuple[SecretKey, str | None]],
        profile: Profile,
        progress: Progress,
        checkpoint: Checkpoint,
    ) -> None:
        self._text, self._document, self._options = text, text.document, options
        self._log = StepLog(reports=text.log, progress=progress, checkpoint=checkpoint)
        # A limit at the day of the audit is one at the latest day that it is anywhere.
        self._profile = profile.on((dt.datetime.now(dt.UTC) + _AHEAD).date())
        self._issuable = issuable(self._profile, options.policy)
        self._model, self._keys = model, keys
        self._progress, self._checkpoint = progress, checkpoint
        self._variants: tuple[Variant, ...] = ()
        self._tokens: list[Tokens] = []
        self._openings: tuple[PromptCandidate, ...] = ()
        self._before: frozenset[bytes] = frozenset()
        self._handled: tuple[str, ...] = ()
        self._prior: RegisterPrior | None = None
        self._stopped: StopFacts | None = None
        self._trials: list[KeyReading] = []
        self._likelihood = likelihood_of(options.power_tables, profile, model.fingerprint)

    def prepare(self) -> Request:
        """Walk the steps before the reading; returns what is to be read."""
        document, options = self._document, self._options
        _check_power(options)
        with self._log.step(1) as note:
            note.append(bytes_noted(document.size_bytes, document.sha256))
        with self._log.step(2) as note:
            note.append(characters_noted(document))
        self._tokens = self._tokenise()
        with self._log.step(4):
            check_language(document.text, options.policy)
            check_fitness(self._model, self._profile, [key for key, _ in self._keys])
        return self._request()

    @property
    def beginning(self) -> tuple[int, ...]:
        """What stands before a text of which nothing else is known: the profile's template."""
        from pura.model.tokenise import beginning_ids

        return beginning_ids(self._model.tokenizer, self._profile, "")

    def decode(self, readings: list[Reading] | PuraError, seconds: float) -> Windows | None:
        """Walk the steps up to the decoders; returns what is to be read again, if anything is.

        Args:
            readings: What was read, or why it could not be.
            seconds: How long that took.

        Raises:
            PuraError: It could not be read, or the register cannot be.
        """
        self._trials = self._try_keys(self._read(readings, seconds))
        return windows_of(self._trials, self._weights, self._options.policy.t_found)

    def decode_again(
        self, again: Windows, readings: list[Reading] | PuraError, row: int, seconds: float
    ) -> None:
        """Weigh windows that were read a second time.

        Args:
            again: Which they are.
            readings: What was read, or why it could not be.
            row: Which of the readings' rows is that of the windows' key.
            seconds: How long that took.

        Raises:
            PuraError: It could not be read.
        """
        with self._log.resumed(seconds) as note:
            if isinstance(readings, PuraError):
                raise readings
            first = again.trial
            for begin, reading in zip(again.begins, readings, strict=True):
                seen = self._seen(reading, row, first.number)
                self._trials.append(
                    self._decoded(
                        first.number,
                        reading.ids,
                        seen,
                        weigh(seen),
                        variant=first.variant,
                        reading=first.reading,
                        log10_weight=self._weights.second(first.variant),
                        begin=begin,
                    )
                )
            note.append(again.note)

    def finish(self) -> Audit:
        """Walk the other steps.

        Raises:
            PuraError: The register cannot be read.
        """
        document, options, tokens = self._document, self._options, self._tokens
        trials = self._trials
        best = strongest(trials)
        window = decisive(trials, options.policy.t_found)
        with self._log.step(9) as note:
            strong = strength(
                trials,
                best,
                options.policy,
                window=window,
                tried=self._parts,
                beside=[one.log10_e for one in self._text.beside],
                seed=options.policy.seed(document.sha256),
                checkpoint=self._checkpoint,
            )
            note.append(strong.note)
        if window is not None:
            best = placed(window, trials)
        found = assemble.Selected(
            profile=self._profile,
            spans=self._variants[best.variant].spans_in_record(
                tokens[best.variant].spans[: best.ids.size]
            ),
            trial=best,
            decoder=options.decoder,
        )
        with self._log.step(10) as note:
            note.append(sentence("log.passages", n=len(found.ranges)))
        outcome = self._decide(strong, best)
        marks = self._marks(found, trials, outcome)
        register = self._ask_register(found, outcome, marks)
        power = facts.power_facts(self._claim(best, self._parts))
        variants = variant_facts(
            self._variants, tokens, trials, best, self._weights, self._verdict_alone
        )
        prior = None if self._prior is None else self._prior.facts(trials)
        limits = None if self._issuable is None else limits_facts(self._issuable, trials)
        again = rereading_facts(trials, self._weights, best)
        prompts = prompt_readings(self._text.prompts, self._openings, trials, best)
        return self._record(
            found, outcome, power, marks, strong, prior, limits, again, register, variants, prompts
        )

    def _tokenise(self) -> list[Tokens]:
        options = self._options
        with self._log.step(3) as note:
            self._variants, tokens, notes = readings_of(
                self._model,
                self._document.text,
                restored=options.restore,
                ids=self._text.ids,
            )
            note += notes
            self._handled = handling_signs(
                self._document.text,
                pieces_of(self._model),
                odd=options.policy.odd_characters,
                restored=options.restore,
            )
            note += _signs(self._handled)
            self._openings = openings_of(
                self._model, self._profile, self._text.prompts, self._variants
            )
            note += _before(self._openings, self._profile)
            # In all readings: each text that stood before may quote another one.
            self._before = contexts_before(
                [one.ids for one in tokens],
                {opening.ids for opening in self._openings},
                self._profile,
            )
            if self._before:
                note.append(sentence("log.contexts", n=len(self._before)))
            return tokens

    def _request(self) -> Request:
        """Every variant is read, and the first after each candidate."""
        from pura.model.evidence import Request

        texts = [self._tokens[opening.variant].ids for opening in self._openings]
        options = self._options
        look = None
        if options.follow or options.policy.stop_at is not None:
            look = EarlyStopping(
                keys=[key for key, _ in self._keys],
                profile=self._profile,
                likelihood=self._likelihood,
                prompt_known=self._openings[0].candidate is not None,
                text_tokens=int(texts[0].size),
                log10_weight=self._weights.first,
                stop_at=options.policy.stop_at,
                all_tokens=sum(int(ids.size) for ids in texts),
                before=self._before,
                progress=self._progress,
                checkpoint=self._checkpoint,
            )
        return Request(texts=texts, prompts=[opening.ids for opening in self._openings], look=look)

    def _read(self, readings: list[Reading] | PuraError, seconds: float) -> list[Reading]:
        """Note what was read (step 5)."""
        sizes = [int(self._tokens[opening.variant].ids.size) for opening in self._openings]
        with self._log.logged(5, seconds) as note:
            if isinstance(readings, PuraError):
                raise readings
            note += self._note_stop(len(readings[0]), sizes[0])
            prompt = "with-prompt" if self._text.prompts else "without-prompt"
            note.append(sentence(f"log.{prompt}"))
            note += [_windows(n, self._model) for n in dict.fromkeys(r.windows for r in readings)]
            for opening, reading in zip(self._openings, readings, strict=False):
                if reading.taken:
                    note.append(
                        sentence(
                            "log.anew",
                            n=len(reading) - reading.taken,
                            all=len(reading),
                            reading=f"log.from-{self._variants[opening.variant].name}",
                        )
                    )
            unlike = unlike_written(readings, self._profile)
            note += _signs(unlike)
            self._handled += unlike
            if any(reading.short_of_memory for reading in readings):
                note.append(sentence("log.memory"))
                self._text.notice(Notice.SHORT_OF_MEMORY)
        return readings

    def _note_stop(self, read: int, tokens: int) -> list[Sentence]:
        """Keep where reading was stopped early, if it was."""
        stop_at = self._options.policy.stop_at
        if stop_at is None or read == tokens:
            return []
        self._stopped = StopFacts(
            read=read, tokens=tokens, log10_e=stop_at, unread=len(self._openings) - 1
        )
        return [sentence("log.stopped", n=read, all=tokens, log10_e=f"{stop_at:g}")]

    @property
    def _tried(self) -> int:
        """Keys times readings, those that were not begun as well."""
        return len(self._openings) * len(self._keys)

    @property
    def _parts(self) -> int:
        """Into how many parts the weight is divided: PURA has its share among the schemes."""
        return self._tried * self._weights.schemes

    @property
    def _weights(self) -> Weights:
        return Weights(
            keys=len(self._keys),
            readings=len(self._openings),
            forms=tuple(int(tokens.ids.size) for tokens in self._tokens),
            schemes=1 + len(self._text.beside),
        )

    def _try_keys(self, readings: list[Reading]) -> list[KeyReading]:
        """Try every key on every reading."""
        profile = self._profile
        tried = [(place, n) for place in range(len(readings)) for n in range(len(self._keys))]
        with self._log.step(6) as note:
            seen = [
                self._seen(readings[place], number, number, self._openings[place])
                for place, number in tried
            ]
            note.append(sentence("log.carrying", n=max(len(one.schedule) for one in seen)))
        with self._log.step(7) as note:
            local = [weigh(one) for one in seen]
            note.append(sentence("log.kernel", name=profile.kernel))
        with self._log.step(8) as note:
            self._prior = register_prior(
                self._options.register, profile, self._options.policy, self._checkpoint
            )
            if self._prior is not None:
                note.append(sentence("log.prior", n=len(self._prior.issued)))
            elif self._options.policy.register_prior:
                note.append(sentence("log.prior-none"))
            if self._issuable is not None:
                note.append(sentence("log.limits", n=self._issuable.count))
            trials: list[KeyReading] = []
            # The marks of the strongest reading are told; those of other keys on it, and around a
            # window that is read again, as well.
            only_one = len(self._keys) == 1 and not self._weights.again
            for (place, number), one, weights in reversed(
                list(zip(tried, seen, local, strict=True))
            ):
                self._checkpoint()
                known = max((trial.exact.log_e for trial in trials), default=-math.inf)
                trials.insert(
                    0,
                    self._decoded(
                        number,
                        readings[place].ids,
                        one,
                        weights,
                        variant=self._openings[place].variant,
                        reading=place,
                        log10_weight=self._weights.first,
                        least=known if only_one else -math.inf,
                    ),
                )
            note.append(sentence("log.decoder", name=self._options.decoder))
            note.append(sentence("log.likelihood", fingerprint=trials[0].exact.model_fingerprint))
        return trials

    def _seen(
        self, reading: Reading, row: int, number: int, opening: PromptCandidate | None = None
    ) -> Intervals:
        """Return what a key sees of a reading; of a window, where no opening is given."""
        return intervals_of(
            reading,
            row,
            self._keys[number][0],
            self._profile,
            self._checkpoint,
            prompt_known=opening is not None and opening.candidate is not None,
            text_tokens=None if opening is None else int(self._tokens[opening.variant].ids.size),
            before=self._before,
            likelihood=self._likelihood,
        )

    def _decoded(
        self,
        number: int,
        ids: npt.NDArray[np.int64],
        seen: Intervals,
        local: LocalEvidence,
        *,
        variant: int,
        reading: int,
        log10_weight: float,
        begin: int | None = None,
        least: float = -math.inf,
    ) -> KeyReading:
        return decode(
            number,
            ids,
            seen,
            local,
            self._options.candidates,
            log10_weight=log10_weight,
            variant=variant,
            reading=reading,
            begin=begin,
            issuable=self._issuable,
            issued=None if self._prior is None else self._prior.issued,
            one_of_many=len(self._keys) > FEW_KEYS,
            threshold=self._options.policy.t_found,
            least=least,
            checkpoint=self._checkpoint,
        )

    def _verdict_alone(self, log10_e: float, trial: KeyReading) -> str:
        """What the rule would make of one reading alone."""
        return self._outcome(log10_e, trial, len(self._keys)).verdict

    def _decide(self, strong: Strength, best: KeyReading) -> Outcome:
        return self._outcome(strong.log10_e, best, self._parts)

    def _outcome(self, log10_e: float, best: KeyReading, tried: int) -> Outcome:
        made = self._claim(best, tried)
        return decide_outcome(
            log10_e,
            len(best.seen.schedule),
            self._options.policy,
            power=made.power,
            needed=made.needed,
        )

    def _claim(self, best: KeyReading, tried: int) -> Claim:
        """What may be said of how often texts like this one are found."""
        policy = self._options.policy
        if self._handled:
            # Nothing was measured on texts that were handled like this.
            return Claim()
        asked = Asked(
            profile=self._profile,
            usable=len(best.seen.schedule),
            # The evidence of one marked reading is divided by the number of those tried, by the
            # part that windows do not take, and what all payloads alike say by the part that
            # issued ones do not take.
            threshold=policy.t_found
            + math.log10(tried)
            + self._weights.cost
            + (0.0 if self._prior is None else policy.prior_cost)
            + (0.0 if self._issuable is None else policy.limits_cost),
            # Of several candidates none may be the right one.
            prompt_known=len(self._text.prompts) == 1,
            reader=self._model.fingerprint,
            dtype=self._model.device.dtype,
            kind=kind_of(self._document.text),
            likelihood=best.exact.model_fingerprint,
        )
        return claim(self._options.power_tables, asked, policy.power_needed)

    def _marks(
        self, found: assemble.Selected, trials: Sequence[KeyReading], outcome: Outcome
    ) -> tuple[assemble.SeparateMark, ...]:
        if outcome.verdict != "mark" or not found.marks:
            return ()
        return assemble.separate_marks(trials, found, self._options.policy.t_found)

    def _named(
        self, found: assemble.Selected, marks: Sequence[assemble.SeparateMark]
    ) -> NamedPayload | None:
        """Say what may be said of the payload of a text with one mark."""
        if len(marks) != 1:
            return None
        listed = assemble.candidates(found)
        fields = unpack(self._profile.fields, found.payload)
        level = self._options.policy.single_weight
        layout = self._profile.fields
        return name_payload(found.payload.text, fields, listed, level, layout=layout)

    def _ask_register(
        self,
        found: assemble.Selected,
        outcome: Outcome,
        marks: Sequence[assemble.SeparateMark],
    ) -> RegisterFacts | None:
        register, profile = self._options.register, self._profile
        if register is None:
            self._log.skip(11, "log.register-off")
            return None
        if outcome.verdict != "mark":
            self._log.skip(11, "log.register-no-mark")
            return None
        policy, exact = self._options.policy, found.trial.exact
        named = self._named(found, marks)
        if named is None or not named.identified:
            with self._log.step(11) as note:
                best = [one.mark.candidates[0] for one in marks] if len(marks) > 1 else []
                asked = register.entries_of(
                    [(c.payload, c.posterior) for c in best if c.posterior >= policy.single_weight],
                    profile.payload_bits,
                    policy.prior_none,
                )
                note.append(sentence("log.register-some", n=asked.entries))
            return asked

        def score(rows: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
            return exact.log_ratios(rows, profile)

        with self._log.step(11) as note:
            facts_found = register.posterior(
                profile.payload_bits,
                score,
                exact.log_e_alike,
                policy.prior_none,
                decoded=found.payload,
                checkpoint=self._checkpoint,
            )
            note.append(sentence("log.register", n=facts_found.entries))
        return facts_found

    def _record(
        self,
        found: assemble.Selected,
        outcome: Outcome,
        power: PowerFacts | None,
        marks: tuple[assemble.SeparateMark, ...],
        strong: Strength,
        prior: PriorFacts | None,
        limits: LimitsFacts | None,
        again: RereadingFacts | None,
        register: RegisterFacts | None,
        readings: tuple[VariantFacts, ...],
        prompts: tuple[PromptReading, ...],
    ) -> Audit:
        options, policy = self._options, self._options.policy
        shown = self._variants[found.trial.variant]
        outcome = outcome.tested(
            keys_tried=len(self._keys) + len(self._text.beside),
            p_redraw=strong.p_redraw,
            draws=strong.draws,
            seed=strong.seed,
        )
        around = self._circumstances(found, power, marks)
        keys = [key.fingerprint for key, _ in self._keys]
        separate = assemble.mark_facts(marks, found, keys)
        more = len(separate) > 1 and found.trial.exact.at_least
        with self._log.step(12) as note:
            said = findings(
                outcome,
                policy,
                around,
                payload=self._named(found, marks),
                power=power,
                prior=prior,
                limits=limits,
                register=register,
                marks=separate,
                more_marks=more,
                stopped=self._stopped,
                again=again,
            )
            weak = cautions(outcome, around)
            note.append(rule_noted(policy, outcome))
        return Audit(
            id=secrets.token_hex(16),
            created=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            input=facts.input_facts(self._document, found.trial.seen.text_tokens),
            text=shown.in_record(self._document.text) if options.keep_text else None,
            prompt=prompt_facts(self._text.prompts, self._openings[found.trial.reading]),
            key=facts.key_facts(*self._keys[found.trial.number]),
            keys=tuple(facts.key_facts(*key) for key in self._keys),
            profile=self._profile,
            model=facts.model_facts(self._model),
            device=facts.device_facts(self._model.device),
            tokens=assemble.token_evidence(
                found, [one.mark for one in marks if one.trial is not found.trial]
            ),
            steps=assemble.step_evidence(found),
            bits=assemble.bits(found),
            decoded=assemble.payload_facts(found),
            decoder=options.decoder,
            candidates=assemble.candidates(found),
            evidence=outcome.evidence,
            power=power,
            verdict=outcome.verdict,
            sentences=said,
            cautions=weak,
            # Passages are shown with a finding only: without one they would point at chance.
            passages=assemble.passages(found) if outcome.verdict == "mark" else (),
            marks=separate,
            more_marks=more,
            variants=readings if options.keep_text else without_text(readings),
            prompts=prompts,
            prior=prior,
            limits=limits,
            stopped=self._stopped,
            rereading=again,
            epochs=options.epochs or None,
            schemes=self._schemes(strong.own),
            register=register,
            policy=policy.to_dict(),
            log=tuple(self._log.reports),
            versions=facts.versions(),
        )

    def _schemes(self, log10_e: float) -> tuple[SchemeFacts, ...]:
        """Return what each scheme says by itself, where others stand beside PURA's."""
        beside = self._text.beside
        if not beside:
            return ()
        best = max(one.log10_e for one in beside)
        own = SchemeFacts(
            profile=self._profile,
            keys=tuple(key.fingerprint for key, _ in self._keys),
            log10_e=log10_e,
            shown=log10_e >= best,
        )
        return own, *(replace(one, shown=not own.shown and one.log10_e == best) for one in beside)

    def _circumstances(
        self,
        found: assemble.Selected,
        power: PowerFacts | None,
        marks: Sequence[assemble.SeparateMark],
    ) -> FindingContext:
        readings = found.trial.paper.readings
        shown = self._openings[found.trial.reading]
        return FindingContext(
            tokens=found.spans.shape[0],
            key=self._keys[found.trial.number][0].fingerprint,
            decoder=self._options.decoder,
            prompt_known=len(self._text.prompts) == 1,
            beginning_known=self._profile.chat_template is not None,
            candidates=len(self._text.prompts),
            candidate=0 if shown.candidate is None else shown.candidate + 1,
            verifier=self._model.name,
            generator=self._profile.model,
            verifier_fingerprint=self._model.fingerprint,
            retokenised=self._variants[found.trial.variant].ids is None,
            readings=len(self._variants),
            positions=readings.size,
            # With several marks each has bits of its own, told beside it.
            erasures=int((readings == 0).sum()) if len(marks) < 2 else 0,
            repaired=int(found.repaired.sum()) if len(marks) < 2 else 0,
            edited=assemble.edited(found, marks),
            # Nothing stands against a rate that was measured on texts of this kind.
            unlike="" if power is not None else unlike_study(self._document.text),
            handled=self._handled,
            hidden=hidden_characters(self._document.text),
            epochs=self._options.epochs,
            schemes=1 + len(self._text.beside),
            prior_unused=self._prior is None and self._options.policy.register_prior > 0,
            passages=len(found.ranges),
            passage_share=assemble.passage_share(found),
        )


def _before(openings: Sequence[PromptCandidate], profile: Profile) -> list[Sentence]:
    """Say what stands before the readings."""
    note = [] if profile.chat_template is None else [sentence("log.template")]
    given = [opening for opening in openings if opening.candidate is not None]
    if len({opening.candidate for opening in given}) > 1:
        sizes = [len(opening.ids) for opening in given]
        note.append(sentence("log.prompts", n=len(given), least=min(sizes), most=max(sizes)))
    elif given:
        note.append(sentence("log.prompt", n=len(given[0].ids)))
    return note
