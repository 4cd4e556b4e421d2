"""One audit, from a text to its record, in the twelve numbered steps of docs/architecture.md.

1 input, 2 text, 3 tokens, 4 fitness of model, key and profile, 5 reading, 6 schedule, 7 local
evidence, 8 decoding, 9 significance, 10 passages, 11 candidates and register, 12 verdict. The
record carries the same numbers: what was done, what was left out and why.
"""

from __future__ import annotations

import datetime as dt
import math
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from pura.audit import assemble, facts
from pura.audit.fitness import check_fitness, check_language
from pura.audit.handling import handling_signs, pieces_of
from pura.audit.looking import CHUNK, Looks
from pura.audit.prior import RegisterPrior, register_prior
from pura.audit.prompts import Opening, openings_of, prompt_facts, prompt_readings
from pura.audit.trial import (
    Intervals,
    Strength,
    Trial,
    decode,
    intervals_of,
    make_schedule,
    strength,
    strongest,
    weigh,
)
from pura.audit.variants import (
    CASE,
    FOUND,
    IDS,
    LAYOUT,
    RESTORED,
    Variant,
    check_ids,
    tokens_of,
    variant_facts,
    variants_of,
    without_text,
)
from pura.base.errors import KeyStoreError, PolicyError, PuraError
from pura.base.progress import Checkpoint, Progress, Stage, unstopped, untold
from pura.documents import Document, from_text
from pura.record.audit import (
    Audit,
    PowerFacts,
    PriorFacts,
    PromptReading,
    RegisterFacts,
    StepReport,
    StopFacts,
    VariantFacts,
)
from pura.register.store import Register
from pura.scheme import Profile, SecretKey
from pura.verdict.expect import kind_of, unlike_study
from pura.verdict.findings import Circumstances, cautions, findings
from pura.verdict.outcome import Outcome, decide_outcome
from pura.verdict.policy import Policy, default_policy
from pura.verdict.power import Asked, Claim, PowerTable, claim, likelihood_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from pura.model.evidence import Request
    from pura.model.load import LanguageModel
    from pura.model.reading import Reading
    from pura.model.tokenise import Tokens

STEPS: Final = (
    "input",
    "text",
    "tokens",
    "fitness",
    "reading",
    "schedule",
    "local-evidence",
    "decoding",
    "significance",
    "passages",
    "candidates",
    "verdict",
)
_READINGS: Final = {
    FOUND: "from the text",
    RESTORED: "from the restored text",
    LAYOUT: "with lines and blanks restored",
    CASE: "with capitals restored",
    IDS: "as saved by the generator",
}


SHORT_OF_MEMORY: Final = "The memory of the device ran short; the text was read in smaller pieces."
"""How the record's log says it."""


class Notice(StrEnum):
    """What a person should hear of at once, not only from the record's log."""

    SHORT_OF_MEMORY = "short-of-memory"


@dataclass(frozen=True, kw_only=True)
class Options:
    """What an audit may be told besides text, key, profile and model.

    Attributes:
        prompts: The prompt, when it is known, which sharpens the evidence; or several candidates,
            all different.
        decoder: Which payload is reported: ``exact`` or ``paper``.
        policy: The decision rule.
        register: The register of issued payloads, asked after the verdict is fixed.
        candidates: How many payloads to list.
        keep_text: Whether the record holds the text itself.
        restore: Also read the text as it was before it was handled, where it shows signs of that.
        alternatives: Name and text of other readings that the document offered.
        ids: int64 [L], token ids that a generator saved; read beside the text.
        power_tables: The power tables that the policy names, all of them.
        epochs: ``FROM..TO`` where the keys are those of a range of epochs.
        follow: Tell of the evidence while a long text is read.
    """

    prompts: tuple[str, ...] = ()
    decoder: str = "exact"
    policy: Policy = field(default_factory=default_policy)
    register: Register | None = None
    candidates: int = 8
    keep_text: bool = True
    restore: bool = True
    alternatives: tuple[tuple[str, str], ...] = ()
    ids: npt.NDArray[np.int64] | None = None
    power_tables: tuple[PowerTable, ...] = ()
    epochs: str = ""
    follow: bool = False


@dataclass(frozen=True, kw_only=True)
class Job:
    """A document to be audited beside others.

    Attributes:
        document: The text and where it came from.
        options: Everything else.
        notice: Told of what a person should hear of at once.
        log: Gets a report of every step as it ends, also of the one that failed.
    """

    document: Document
    options: Options = field(default_factory=Options)
    notice: Callable[[Notice], None] = lambda _: None
    log: list[StepReport] = field(default_factory=list)


def audit_text(
    text: str,
    *,
    model: LanguageModel,
    keys: Sequence[tuple[SecretKey, str | None]],
    profile: Profile,
    name: str = "pasted text",
    options: Options | None = None,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> Audit:
    """Audit a text that is not a file; see :func:`audit_document`."""
    return audit_document(
        from_text(text, name=name),
        model=model,
        keys=keys,
        profile=profile,
        options=options,
        progress=progress,
        checkpoint=checkpoint,
    )


def audit_document(
    document: Document,
    *,
    model: LanguageModel,
    keys: Sequence[tuple[SecretKey, str | None]],
    profile: Profile,
    options: Options | None = None,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> Audit:
    """Audit one document.

    Args:
        document: The text and where it came from.
        model: The model that reads it.
        keys: Secret keys and their labels. All are tried in one pass of the model; the evidence
            is the mean over them.
        profile: What generator and verifier share.
        options: Everything else.
        progress: Told of every step and of the tokens read.
        checkpoint: Called often; may raise :class:`~pura.base.errors.Cancelled`.

    Returns:
        The record.

    Raises:
        ProfileError: Profile, tokenizer and key do not belong together.
        InputError: The text cannot be tokenised, or is in a language that the policy leaves out.
        KeyStoreError: No key was given.
        PolicyError: The policy names a power table that is not among the options.
    """
    (found,) = audit_documents(
        [Job(document=document, options=options or Options())],
        model=model,
        keys=keys,
        profile=profile,
        progress=progress,
        checkpoint=checkpoint,
    )
    if isinstance(found, PuraError):
        raise found
    return found


def audit_documents(
    jobs: Sequence[Job],
    *,
    model: LanguageModel,
    keys: Sequence[tuple[SecretKey, str | None]],
    profile: Profile,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> list[Audit | PuraError]:
    """Audit documents that the model reads side by side; see :func:`audit_document`.

    Everything before and after the reading is done for one after the other.

    Args:
        jobs: The documents; a few thousand tokens together fill a pass.
        model: As there.
        keys: As there.
        profile: As there.
        progress: As there; the tokens are those of all documents.
        checkpoint: As there.

    Returns:
        In the order of ``jobs``: the record, or why there is none. What is wrong with one costs
        the others nothing.

    Raises:
        KeyStoreError: No key was given.
    """
    if not keys:
        raise KeyStoreError("audit.no-key", code="key-missing")
    tell, check = progress or untold, checkpoint or unstopped
    walks = [_Audit(job, model, keys, profile, tell, check) for job in jobs]
    found: dict[int, Audit | PuraError] = {}
    requests: dict[int, Request] = {}
    for number, walk in enumerate(walks):
        try:
            requests[number] = walk.prepare()
        except PuraError as error:
            found[number] = error
    read = _read(list(requests.values()), model, keys, profile, jobs, tell, check)
    for number, (readings, seconds) in zip(requests, read, strict=True):
        try:
            found[number] = walks[number].finish(readings, seconds)
        except PuraError as error:
            found[number] = error
    return [found[number] for number in range(len(walks))]


def _windows(count: int) -> str:
    return "one window" if count == 1 else f"{count} windows"


def _read(
    requests: Sequence[Request],
    model: LanguageModel,
    keys: Sequence[tuple[SecretKey, str | None]],
    profile: Profile,
    jobs: Sequence[Job],
    progress: Progress,
    checkpoint: Checkpoint,
) -> list[tuple[list[Reading] | PuraError, float]]:
    """Read all documents in one go (step 5); with each its share of the seconds."""
    from pura.model.evidence import read_documents

    if not requests:
        return []
    sizes = [sum(int(ids.size) for ids in request.texts) for request in requests]
    tokens = sum(sizes)

    def report(done: int, total: int) -> None:
        # The pass counts layers and tiles of the vocabulary; people count tokens.
        read = tokens * done // total if total else 0
        progress(Stage(number=5, name=STEPS[4], done=read, total=tokens))

    checkpoint()
    progress(Stage(number=5, name=STEPS[4]))
    start = time.perf_counter()
    stops = any(job.options.policy.stop_at is not None for job in jobs)
    try:
        found = read_documents(
            model,
            requests,
            keys=[key for key, _ in keys],
            profile=profile,
            progress=report,
            checkpoint=checkpoint,
            chunk=CHUNK if stops else None,
        )
    except PuraError as error:
        found = [error] * len(requests)
    seconds = time.perf_counter() - start
    shares = [size / tokens if tokens else 1 / len(sizes) for size in sizes]
    return [(one, seconds * share) for one, share in zip(found, shares, strict=True)]


def _check_power(options: Options) -> None:
    here = {table.fingerprint for table in options.power_tables}
    for name in options.policy.power_tables:
        if name not in here:
            raise PolicyError("power.absent", name=name[:16], code="power-absent")


class _Audit:
    """The walk along the steps; keeps their log."""

    def __init__(
        self,
        job: Job,
        model: LanguageModel,
        keys: Sequence[tuple[SecretKey, str | None]],
        profile: Profile,
        progress: Progress,
        checkpoint: Checkpoint,
    ) -> None:
        self._document, self._options = job.document, job.options
        self._notice, self.log = job.notice, job.log
        self._model, self._keys, self._profile = model, keys, profile
        self._progress, self._checkpoint = progress, checkpoint
        self._variants: tuple[Variant, ...] = ()
        self._tokens: list[Tokens] = []
        self._openings: tuple[Opening, ...] = ()
        self._handled: tuple[str, ...] = ()
        self._prior: RegisterPrior | None = None
        self._stopped: StopFacts | None = None
        self._likelihood = likelihood_of(job.options.power_tables, profile, model.fingerprint)

    def prepare(self) -> Request:
        """Walk the steps before the reading; returns what is to be read."""
        document, options = self._document, self._options
        _check_power(options)
        with self._step(1) as note:
            note.append(f"{document.size_bytes} bytes, SHA-256 {document.sha256}")
        with self._step(2) as note:
            note.append(f"{len(document.text)} characters, decoded as {document.encoding}")
        self._tokens = self._tokenise()
        with self._step(4):
            check_language(document.text, options.policy)
            check_fitness(self._model, self._profile, [key for key, _ in self._keys])
        return self._request()

    def finish(self, readings: list[Reading] | PuraError, seconds: float) -> Audit:
        """Walk the other steps.

        Args:
            readings: What was read, or why it could not be.
            seconds: How long that took.

        Raises:
            PuraError: It could not be read, or the register cannot be.
        """
        document, options, tokens = self._document, self._options, self._tokens
        trials = self._try_keys(self._intervals(readings, seconds))
        best = strongest(trials)
        with self._step(9) as note:
            strong = strength(
                trials,
                self._profile,
                options.policy,
                tried=self._tried,
                seed=options.policy.seed(document.sha256),
                likelihood=self._likelihood,
                checkpoint=self._checkpoint,
            )
            note.append(strong.note)
        found = assemble.Findings(
            profile=self._profile,
            spans=self._variants[best.variant].spans_in_record(
                tokens[best.variant].spans[: best.intervals.ids.size]
            ),
            trial=best,
            decoder=options.decoder,
        )
        with self._step(10) as note:
            note.append(f"{len(found.ranges)} found")
        outcome = self._decide(strong, best)
        marks = self._marks(found, trials, outcome)
        register = self._ask_register(found, outcome)
        power = facts.power_facts(self._claim(best, self._tried))
        variants = variant_facts(self._variants, tokens, trials, best, self._verdict_alone)
        prior = None if self._prior is None else self._prior.facts(trials, self._tried)
        prompts = prompt_readings(options.prompts, self._openings, trials, best)
        return self._record(
            found, outcome, power, marks, strong, prior, register, variants, prompts
        )

    @contextmanager
    def _step(self, number: int) -> Iterator[list[str]]:
        self._checkpoint()
        self._progress(Stage(number=number, name=STEPS[number - 1]))
        with self._logged(number) as note:
            yield note

    @contextmanager
    def _logged(self, number: int, spent: float = 0.0) -> Iterator[list[str]]:
        """Put a step into the log; ``spent`` are seconds that it took before."""
        name = STEPS[number - 1]
        note: list[str] = []
        start = time.perf_counter()
        done = False
        try:
            yield note
            done = True
        except PuraError as error:
            note = [str(error)]
            raise
        finally:
            seconds = round(spent + time.perf_counter() - start, 6)
            self.log.append(
                StepReport(
                    number=number, name=name, done=done, note="; ".join(note), seconds=seconds
                )
            )

    def _skip(self, number: int, why: str) -> None:
        name = STEPS[number - 1]
        self.log.append(StepReport(number=number, name=name, done=False, note=why))

    def _tokenise(self) -> list[Tokens]:
        from pura.model.tokenise import usual_spelling

        options = self._options
        with self._step(3) as note:
            ids, words = None, None
            if options.ids is not None:
                ids, words = check_ids(self._model, options.ids)
                if words.strip() != self._document.text.strip():
                    note.append("the saved token ids decode to another text")
            self._variants = variants_of(
                self._document.text,
                restored=options.restore,
                spelt=lambda words: usual_spelling(self._model.tokenizer, words),
                alternatives=options.alternatives,
                ids=ids,
                ids_text=words,
            )
            tokens = [tokens_of(self._model, variant) for variant in self._variants]
            note += [
                f"{found.ids.size} tokens, {_READINGS.get(v.name, v.name)}{_why(v)}"
                for v, found in zip(self._variants, tokens, strict=True)
            ]
            self._handled = handling_signs(
                self._document.text, pieces_of(self._model), restored=options.restore
            )
            note += [f"sign of handling: {sign}" for sign in self._handled]
            self._openings = openings_of(
                self._model, self._profile, options.prompts, self._variants
            )
            note += _before(self._openings, self._profile)
            return tokens

    def _request(self) -> Request:
        """Every variant is read, and the first after each candidate."""
        from pura.model.evidence import Request

        texts = [self._tokens[opening.variant].ids for opening in self._openings]
        options = self._options
        look = None
        if options.follow or options.policy.stop_at is not None:
            look = Looks(
                keys=[key for key, _ in self._keys],
                profile=self._profile,
                likelihood=self._likelihood,
                prompt_known=self._openings[0].candidate is not None,
                text_tokens=int(texts[0].size),
                tried=self._tried,
                stop_at=options.policy.stop_at,
                all_tokens=sum(int(ids.size) for ids in texts),
                progress=self._progress,
                checkpoint=self._checkpoint,
            )
        return Request(texts=texts, prompts=[opening.ids for opening in self._openings], look=look)

    def _intervals(
        self, readings: list[Reading] | PuraError, seconds: float
    ) -> list[list[Intervals]]:
        """Note what was read (step 5); returns for every reading a row of intervals a key."""
        sizes = [int(self._tokens[opening.variant].ids.size) for opening in self._openings]
        with self._logged(5, seconds) as note:
            if isinstance(readings, PuraError):
                raise readings
            note += self._note_stop(len(readings[0]), sizes[0])
            note.append("with the prompt" if self._options.prompts else "without the prompt")
            note += dict.fromkeys(_windows(reading.windows) for reading in readings)
            for opening, reading in zip(self._openings, readings, strict=False):
                if reading.taken:
                    name = self._variants[opening.variant].name
                    read = len(reading) - reading.taken
                    note.append(f"{read} of {len(reading)} tokens of “{name}” read anew")
            if any(reading.short_of_memory for reading in readings):
                note.append(SHORT_OF_MEMORY)
                self._notice(Notice.SHORT_OF_MEMORY)
        return [
            intervals_of(reading, prompt_known=opening.candidate is not None, text_tokens=size)
            for opening, size, reading in zip(self._openings, sizes, readings, strict=False)
        ]

    def _note_stop(self, read: int, tokens: int) -> list[str]:
        """Keep where reading was stopped early, if it was."""
        stop_at = self._options.policy.stop_at
        if stop_at is None or read == tokens:
            return []
        self._stopped = StopFacts(
            read=read, tokens=tokens, log10_e=stop_at, unread=len(self._openings) - 1
        )
        return [f"stopped after {read} of {tokens} tokens, at log10 e {stop_at:g}"]

    @property
    def _tried(self) -> int:
        """Keys times readings, those that were not begun as well."""
        return len(self._openings) * len(self._keys)

    def _try_keys(self, seen: list[list[Intervals]]) -> list[Trial]:
        """Try every key on every reading."""
        profile = self._profile
        tried = [
            (reading, number, one)
            for reading, row in enumerate(seen)
            for number, one in enumerate(row)
        ]
        with self._step(6) as note:
            plans = [
                make_schedule(one, self._keys[number][0], profile, self._checkpoint)
                for _, number, one in tried
            ]
            note.append(f"{max(len(plan) for plan in plans)} steps carry bits")
        with self._step(7) as note:
            local = [weigh(p, one, profile) for p, (*_, one) in zip(plans, tried, strict=True)]
            note.append(f"kernel {profile.kernel}")
        with self._step(8) as note:
            self._prior = register_prior(
                self._options.register, profile, self._options.policy, self._checkpoint
            )
            if self._prior is not None:
                note.append(f"{len(self._prior.issued)} issued payloads as prior")
            elif self._options.policy.register_prior:
                note.append("no register as prior: none was given that holds such payloads")
            trials = []
            for plan, weights, (reading, number, one) in zip(plans, local, tried, strict=True):
                self._checkpoint()
                count = self._options.candidates
                trials.append(
                    decode(
                        number,
                        plan,
                        weights,
                        one,
                        profile,
                        count,
                        variant=self._openings[reading].variant,
                        reading=reading,
                        likelihood=self._likelihood,
                        issued=None if self._prior is None else self._prior.issued,
                        checkpoint=self._checkpoint,
                    )
                )
            note.append(f"payload by the decoder “{self._options.decoder}”")
            note.append(f"likelihood {trials[0].exact.model_fingerprint}")
        return trials

    def _verdict_alone(self, log10_e: float, trial: Trial) -> str:
        """What the rule would make of one reading alone."""
        return self._outcome(log10_e, trial, len(self._keys)).verdict

    def _decide(self, strong: Strength, best: Trial) -> Outcome:
        return self._outcome(strong.log10_e, best, self._tried)

    def _outcome(self, log10_e: float, best: Trial, tried: int) -> Outcome:
        made = self._claim(best, tried)
        return decide_outcome(
            log10_e,
            len(best.schedule),
            self._options.policy,
            power=made.power,
            needed=made.needed,
        )

    def _claim(self, best: Trial, tried: int) -> Claim:
        """What may be said of how often texts like this one are found."""
        policy = self._options.policy
        if self._handled:
            # Nothing was measured on texts that were handled like this.
            return Claim()
        asked = Asked(
            profile=self._profile,
            usable=len(best.schedule),
            # The evidence of one marked reading is divided by the number of those tried, and
            # what all payloads alike say by the part that issued ones do not take.
            threshold=policy.t_found
            + math.log10(tried)
            + (0.0 if self._prior is None else policy.prior_cost),
            # Of several candidates none may be the right one.
            prompt_known=len(self._options.prompts) == 1,
            reader=self._model.fingerprint,
            dtype=self._model.device.dtype,
            kind=kind_of(self._document.text),
            likelihood=best.exact.model_fingerprint,
        )
        return claim(self._options.power_tables, asked, policy.power_needed)

    def _marks(
        self, found: assemble.Findings, trials: Sequence[Trial], outcome: Outcome
    ) -> tuple[assemble.SeparateMark, ...]:
        if outcome.verdict != "mark" or not found.marks:
            return ()
        return assemble.separate_marks(trials, found, self._options.policy.t_found, self._tried)

    def _ask_register(self, found: assemble.Findings, outcome: Outcome) -> RegisterFacts | None:
        register, profile = self._options.register, self._profile
        if register is None:
            self._skip(11, "the register was not asked")
            return None
        if outcome.verdict != "mark":
            self._skip(11, "without a mark there is no payload to look up")
            return None
        exact = found.trial.exact

        def score(rows: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
            return exact.log_ratios(rows, profile)

        with self._step(11) as note:
            facts_found = register.posterior(
                profile.payload_bits,
                score,
                exact.log_e_alike,
                self._options.policy.prior_none,
                decoded=found.payload,
                checkpoint=self._checkpoint,
            )
            note.append(f"{facts_found.entries} entries")
        return facts_found

    def _record(
        self,
        found: assemble.Findings,
        outcome: Outcome,
        power: PowerFacts | None,
        marks: tuple[assemble.SeparateMark, ...],
        strong: Strength,
        prior: PriorFacts | None,
        register: RegisterFacts | None,
        readings: tuple[VariantFacts, ...],
        prompts: tuple[PromptReading, ...],
    ) -> Audit:
        options, policy = self._options, self._options.policy
        shown = self._variants[found.trial.variant]
        evidence = outcome.facts(
            keys_tried=len(self._keys),
            p_redraw=strong.p_redraw,
            draws=strong.draws,
            seed=strong.seed,
        )
        listed = assemble.candidates(found)
        around = self._circumstances(found, power)
        keys = [key.fingerprint for key, _ in self._keys]
        separate = assemble.mark_facts(marks, found, keys, outcome.log10_e)
        with self._step(12) as note:
            said = findings(
                outcome,
                evidence,
                policy,
                around,
                candidates=listed,
                power=power,
                prior=prior,
                register=register,
                marks=separate,
                stopped=self._stopped,
            )
            weak = cautions(outcome, evidence, around)
            note.append(f"decision rule {policy.rule}: {outcome.verdict}")
        return Audit(
            id=secrets.token_hex(16),
            created=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            input=facts.input_facts(self._document, found.trial.intervals.text_tokens),
            text=shown.in_record(self._document.text) if options.keep_text else None,
            prompt=prompt_facts(options.prompts, self._openings[found.trial.reading]),
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
            payload=assemble.payload_facts(found),
            decoder=options.decoder,
            candidates=listed,
            evidence=evidence,
            power=power,
            verdict=outcome.verdict,
            sentences=said,
            cautions=weak,
            # Passages are shown with a finding only: without one they would point at chance.
            passages=assemble.passages(found) if outcome.verdict == "mark" else (),
            marks=separate,
            variants=readings if options.keep_text else without_text(readings),
            prompts=prompts,
            prior=prior,
            stopped=self._stopped,
            epochs=options.epochs or None,
            register=register,
            policy=policy.to_dict(),
            log=tuple(self.log),
            versions=facts.versions(),
        )

    def _circumstances(self, found: assemble.Findings, power: PowerFacts | None) -> Circumstances:
        readings = found.trial.paper.readings
        shown = self._openings[found.trial.reading]
        return Circumstances(
            tokens=found.spans.shape[0],
            key=self._keys[found.trial.number][0].fingerprint,
            payload=found.payload.text,
            decoder=self._options.decoder,
            prompt_known=len(self._options.prompts) == 1,
            beginning_known=self._profile.chat_template is not None,
            candidates=len(self._options.prompts),
            candidate=0 if shown.candidate is None else shown.candidate + 1,
            verifier=self._model.name,
            generator=self._profile.model,
            verifier_fingerprint=self._model.fingerprint,
            retokenised=self._variants[found.trial.variant].ids is None,
            readings=len(self._variants),
            positions=readings.size,
            erasures=int((readings == 0).sum()),
            repaired=int(found.repaired.sum()),
            # Nothing stands against a rate that was measured on texts of this kind.
            unlike="" if power is not None else unlike_study(self._document.text),
            handled=self._handled,
            epochs=self._options.epochs,
            prior_unused=self._prior is None and self._options.policy.register_prior > 0,
            passages=len(found.ranges),
            passage_share=assemble.passage_share(found),
        )


def _before(openings: Sequence[Opening], profile: Profile) -> list[str]:
    """Say what stands before the readings."""
    note = [] if profile.chat_template is None else ["after the profile's template"]
    given = [opening for opening in openings if opening.candidate is not None]
    if len({opening.candidate for opening in given}) > 1:
        sizes = [len(opening.ids) for opening in given]
        note.append(f"{len(given)} candidate prompts, {min(sizes)} to {max(sizes)} tokens each")
    elif given:
        note.append(f"{len(given[0].ids)} tokens of the prompt")
    return note


def _why(variant: Variant) -> str:
    """Say what was undone for a reading."""
    undone = ", ".join(f"{s.count} {s.name}" for s in variant.substitutions)
    return f" ({undone})" if undone else ""
