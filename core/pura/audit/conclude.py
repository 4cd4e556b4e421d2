"""Steps 9 to 12 of an audit: evidence, passages, register and verdict, and the record of it all."""

from __future__ import annotations

import datetime as dt
import math
import secrets
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from pura.audit import assemble
from pura.audit import steps as record_facts
from pura.audit.decoding import WeighedText
from pura.audit.key_reading import KeyReading, Strength, limits_facts, strength, strongest
from pura.audit.rereading import decisive, placed, rereading_facts
from pura.audit.steps import rule_noted
from pura.audit.variants import prompt_facts, prompt_readings, variant_facts, without_text
from pura.documents.characters import hidden_characters
from pura.record.audit import Audit
from pura.record.evidence import PowerFacts, SchemeFacts
from pura.record.naming import NamedPayload, RegisterFacts, name_payload
from pura.scheme import unpack
from pura.verdict.expect import kind_of, unlike_study
from pura.verdict.findings import FindingContext, cautions, findings
from pura.verdict.outcome import Outcome, decide_outcome
from pura.verdict.power import Asked, Claim, claim
from pura.words.sentences import sentence

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


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
            beside=[one.log10_e for one in text.beside],
            seed=policy.seed(text.document.sha256),
            checkpoint=basis.checkpoint,
        )
        note.append(strong.note)
    if window is not None:
        best = placed(window, trials)
    found = assemble.Selected(
        profile=basis.profile,
        spans=prepared.variants[best.variant].spans_in_record(
            prepared.tokens[best.variant].spans[: best.ids.size]
        ),
        trial=best,
        decoder=basis.options.decoder,
    )
    decided = _outcome(decoded, strong.log10_e, best, prepared.parts)
    marks: tuple[assemble.SeparateMark, ...] = ()
    with log.step(10) as note:
        if decided.verdict == "mark" and found.marks:
            marks = assemble.separate_marks(trials, found, policy.t_found)
        note.append(sentence("log.passages", n=sum(len(one.mark.ranges) for one in marks)))
    return _Conclusion(
        decoded=decoded, found=found, strong=strong, decided=decided, marks=marks
    ).record()


def _outcome(decoded: WeighedText, log10_e: float, best: KeyReading, tried: int) -> Outcome:
    """Return what the rule makes of evidence, over so many keys and readings."""
    made = _claim(decoded, best, tried)
    return decide_outcome(
        log10_e,
        len(best.seen.schedule),
        decoded.prepared.basis.options.policy,
        power=made.power,
        needed=made.needed,
    )


def _claim(decoded: WeighedText, best: KeyReading, tried: int) -> Claim:
    """What may be said of how often texts like this one are found."""
    prepared, basis = decoded.prepared, decoded.prepared.basis
    policy = basis.options.policy
    if decoded.handled:
        # Nothing was measured on texts that were handled like this.
        return Claim()
    asked = Asked(
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
        kind=kind_of(prepared.text.document.text),
        likelihood=best.exact.model_fingerprint,
    )
    return claim(basis.options.power_tables, asked, policy.power_needed)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Conclusion:
    """The verdict is fixed; what is left are register, sentences and record.

    Attributes:
        decoded: The text.
        found: What the record is about.
        strong: The evidence.
        decided: The rule's word.
        marks: Those that are reported, in the order of the text.
    """

    decoded: WeighedText
    found: assemble.Selected
    strong: Strength
    decided: Outcome
    marks: tuple[assemble.SeparateMark, ...]

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
            assemble.candidates(found),
            basis.options.policy.single_weight,
            layout=layout,
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
        policy, exact, marks = basis.options.policy, found.trial.exact, self.marks
        if self.named is None or not self.named.identified:
            with log.step(11) as note:
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

        with log.step(11) as note:
            asked = register.posterior(
                profile.payload_bits,
                score,
                exact.log_e_alike,
                policy.prior_none,
                decoded=found.payload,
                checkpoint=basis.checkpoint,
            )
            note.append(sentence("log.register", n=asked.entries))
        return asked

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
        prior = None if decoded.prior is None else decoded.prior.facts(trials)
        limits = None if basis.issuable is None else limits_facts(basis.issuable, basis.day, trials)
        again = rereading_facts(trials, prepared.weights, best)
        outcome = self.decided.tested(
            keys_tried=len(keys) + len(text.beside),
            p_redraw=strong.p_redraw,
            draws=strong.draws,
            seed=strong.seed,
        )
        around = self._context()
        separate = assemble.mark_facts(self.marks, found, [key.fingerprint for key, _ in keys])
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
            weak = cautions(outcome, around)
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
            tokens=assemble.token_evidence(
                found, [one.mark for one in self.marks if one.trial is not best]
            ),
            steps=assemble.step_evidence(found),
            bits=assemble.bits(found),
            decoded=assemble.payload_facts(found),
            decoder=options.decoder,
            candidates=assemble.candidates(found),
            evidence=outcome.evidence,
            power=self.power,
            verdict=outcome.verdict,
            sentences=said,
            cautions=weak,
            # Passages are shown with a finding only: without one they would point at chance.
            passages=assemble.passages(found) if outcome.verdict == "mark" else (),
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
        beside = prepared.text.beside
        if not beside:
            return ()
        best = max(one.log10_e for one in beside)
        own = SchemeFacts(
            profile=prepared.basis.profile,
            keys=tuple(key.fingerprint for key, _ in prepared.basis.keys),
            log10_e=self.strong.own,
            shown=self.strong.own >= best,
        )
        return own, *(replace(one, shown=not own.shown and one.log10_e == best) for one in beside)

    def _context(self) -> FindingContext:
        found, marks, prepared = self.found, self.marks, self.decoded.prepared
        basis, text = prepared.basis, prepared.text
        options, model, profile = basis.options, basis.model, basis.profile
        readings = found.trial.paper.readings
        shown, use = prepared.openings[found.trial.reading], options.use
        return FindingContext(
            tokens=found.spans.shape[0],
            key=basis.keys[found.trial.number][0].fingerprint,
            decoder=options.decoder,
            prompt_known=len(text.prompts) == 1,
            beginning_known=profile.chat_template is not None,
            candidates=len(text.prompts),
            candidate=0 if shown.candidate is None else shown.candidate + 1,
            verifier=model.name,
            generator=profile.model,
            verifier_fingerprint=model.fingerprint,
            retokenised=prepared.variants[found.trial.variant].ids is None,
            readings=len(prepared.variants),
            positions=readings.size,
            # With several marks each has bits of its own, told beside it.
            erasures=int((readings == 0).sum()) if len(marks) < 2 else 0,
            repaired=int(found.repaired.sum()) if len(marks) < 2 else 0,
            gaps=assemble.gaps(found, marks),
            copies=assemble.copies(found, marks, found.profile.context_window),
            created="" if use is None or use.created is None else use.created.isoformat(),
            new_key=use is not None and use.new,
            issued=None if use is None else use.issued,
            # Nothing stands against a rate that was measured on texts of this kind.
            unlike="" if self.power is not None else unlike_study(text.document.text),
            handled=self.decoded.handled,
            hidden=hidden_characters(text.document.text),
            epochs=options.epochs,
            schemes=1 + len(text.beside),
            prior_unused=self.decoded.prior is None and options.policy.register_prior > 0,
            passages=len(found.ranges),
            passage_share=assemble.passage_share(found),
        )
