"""Third-party marks in a text: what their keys say of it, and the record made of that."""

from __future__ import annotations

import datetime as dt
import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pura.base.errors import ProfileError
from pura.detect import record_facts
from pura.detect.decode.bets import log_increments
from pura.detect.decode.significance import combine
from pura.detect.handling import handling_signs, pieces_of
from pura.detect.local.third_party import draws_of
from pura.detect.options import AuditText, Options
from pura.detect.prompts import prompt_facts
from pura.detect.record_facts import key_facts
from pura.detect.restore.variants import Variant, readings_of, without_text
from pura.detect.step_log import StepLog
from pura.detect.verdict.findings import FindingContext, cautions, findings
from pura.detect.verdict.outcome import Outcome, decide_outcome
from pura.documents.characters import hidden_characters
from pura.keys.sealed import open_secret
from pura.model.load import BareModel, LanguageModel
from pura.record.audit import Audit
from pura.record.evidence import (
    PayloadFacts,
    SchemeFacts,
    StepEvidence,
    TokenEvidence,
    VariantFacts,
)
from pura.record.surroundings import KeyFacts
from pura.scheme import Gate, Profile, SecretKey
from pura.scheme.foreign import ForeignMark
from pura.words.sentences import Sentence, sentence

if TYPE_CHECKING:
    from pura.model.tokenise import Tokens


F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
_LN10 = math.log(10.0)


@dataclass(frozen=True, kw_only=True)
class OpenMark:
    """A mark by others, its secret opened. Hazard: held as long as this is.

    Attributes:
        profile: Names the scheme.
        key: The key that the secret was sealed under.
        secret: The other program's numbers.
    """

    profile: Profile
    key: KeyFacts
    secret: tuple[int, ...] = field(repr=False)


@dataclass(frozen=True, kw_only=True, eq=False)
class ThirdPartyTrial:
    """What one mark's key says of one reading.

    Attributes:
        mark: The mark.
        variant: Which reading.
        token: int64 [N], the tokens that count.
        log10_increments: float64 [N], what each adds to log10 of the evidence.
    """

    mark: OpenMark
    variant: int
    token: I64
    log10_increments: F64

    @property
    def log10_e(self) -> float:
        """log10 of the e-value."""
        return float(self.log10_increments.sum())


def try_mark(
    mark: OpenMark, variant: int, ids: I64, probability: F64 | None = None
) -> ThirdPartyTrial:
    """Return what a mark's key says of the tokens of a reading.

    Args:
        mark: The mark.
        variant: Which reading.
        ids: int64 [L], its tokens.
        probability: float64 [L], of each under a model; None where none was asked.
    """
    settings = settings_of(mark)
    draws = draws_of(settings, mark.secret, ids)
    return ThirdPartyTrial(
        mark=mark,
        variant=variant,
        token=draws[0],
        log10_increments=log_increments(settings, draws, probability) / _LN10,
    )


def settings_of(mark: OpenMark) -> ForeignMark:
    """Return the settings of the other program.

    Raises:
        ProfileError: The profile is that of PURA's own mark.
    """
    if mark.profile.foreign is None:
        raise ProfileError("profile.also", code="usage")
    return mark.profile.foreign


def weighs(mark: OpenMark, options: Options) -> bool:
    """Say whether a model's probabilities take part in the bets on a mark."""
    foreign = mark.profile.foreign
    return options.weigh and foreign is not None and foreign.sharpened


@dataclass(frozen=True, kw_only=True, eq=False)
class ThirdPartyAudit:
    """A text that is looked through for third-party marks.

    Attributes:
        text: The text; its manifests were looked at before.
        options: What else is asked.
        model: Its tokenizer splits the text; its weights are needed only where they weigh bets.
        marks: The marks, their secrets opened.
        log: Of the steps.
    """

    text: AuditText
    options: Options
    model: BareModel
    marks: Sequence[OpenMark]
    log: StepLog

    def tokenise(self, note: list[Sentence]) -> tuple[tuple[Variant, ...], list[Tokens]]:
        """Return the forms of the text and the tokens of each (step 3)."""
        variants, tokens, notes = readings_of(
            self.model,
            self.text.document.text,
            excluded=self.text.document.excluded,
            restored=self.options.restore,
            ids=self.text.ids,
        )
        note += notes
        return variants, tokens


def probabilities(audit: ThirdPartyAudit, tokens: Sequence[Tokens]) -> list[F64 | None]:
    """Let the model read the text without its prompt, where a mark can make use of that (step 5).

    Returns:
        For each form the probability of every token, float64 [L]; None where none is needed.
    """
    from pura.model.evidence import read_many

    model = audit.model
    if not any(weighs(mark, audit.options) for mark in audit.marks):
        audit.log.skip(5, "log.foreign-model")
        return [None] * len(tokens)
    if not isinstance(model, LanguageModel):
        raise TypeError("this audit needs a model with weights")
    with audit.log.step(5) as note:
        # How the other program sampled is not known: what the model says is taken as it is.
        plain = Profile(payload_bits=36, code="tbcc", vocab_size=model.vocab_size)
        readings = read_many(model, [one.ids for one in tokens], keys=[], profile=plain)
        note.append(sentence("log.foreign-weighed"))
        return [reading.probability for reading in readings]


def try_marks(
    audit: ThirdPartyAudit,
    tokens: Sequence[Tokens],
    probability: Sequence[F64 | None],
    note: list[Sentence],
) -> list[list[ThirdPartyTrial]]:
    """Return for each mark what its key says of each form of the text (step 7)."""
    trials = [
        [
            try_mark(
                mark,
                variant,
                one.ids,
                probability[variant] if weighs(mark, audit.options) else None,
            )
            for variant, one in enumerate(tokens)
        ]
        for mark in audit.marks
    ]
    note += [sentence("log.foreign-count", n=int(row[0].token.size)) for row in trials]
    return trials


@dataclass(frozen=True, kw_only=True, eq=False)
class ThirdPartyEvidence:
    """What a text says of third-party marks, after the eighth step.

    Attributes:
        audit: The text and what it is looked through for.
        variants: The forms of the text.
        tokens: Of each form.
        trials: For each mark what its key says of each form.
        steps: How many reports the log had when it was gathered.
    """

    audit: ThirdPartyAudit
    variants: tuple[Variant, ...]
    tokens: list[Tokens]
    trials: list[list[ThirdPartyTrial]]
    steps: int

    @classmethod
    def of(
        cls,
        audit: ThirdPartyAudit,
        variants: tuple[Variant, ...],
        tokens: list[Tokens],
        trials: list[list[ThirdPartyTrial]],
    ) -> ThirdPartyEvidence:
        """Return what the first eight steps gathered, and where the log stood after them."""
        steps = len(audit.log.reports)
        return cls(audit=audit, variants=variants, tokens=tokens, trials=trials, steps=steps)

    def resumed_log(self) -> StepLog:
        """Return the log of the text as it was after the eighth step.

        The conclusion may be drawn twice: alone, and with what other schemes say.
        """
        log = self.audit.log
        del log.reports[self.steps :]
        return log

    @cached_property
    def by_mark(self) -> list[float]:
        """log10 of the mean e-value of each mark over the forms of the text."""
        return [combine([trial.log10_e for trial in row]) for row in self.trials]

    @cached_property
    def best(self) -> ThirdPartyTrial:
        """The trial with the largest evidence."""
        return max((trial for row in self.trials for trial in row), key=lambda one: one.log10_e)


@dataclass(frozen=True, kw_only=True, eq=False)
class ThirdPartyConclusion:
    """What follows from the evidence of third-party marks. Make it with :meth:`of`.

    Attributes:
        evidence: The evidence.
        other_schemes: What other schemes say of the text.
        outcome: The rule's word.
    """

    evidence: ThirdPartyEvidence
    other_schemes: tuple[SchemeFacts, ...]
    outcome: Outcome

    @classmethod
    def of(
        cls, evidence: ThirdPartyEvidence, other_schemes: tuple[SchemeFacts, ...]
    ) -> ThirdPartyConclusion:
        """Decide on the mean over all marks and schemes (step 9)."""
        audit = evidence.audit
        log10_e = combine([*evidence.by_mark, *(one.log10_e for one in other_schemes)])
        usable = int(evidence.best.token.size)
        outcome = decide_outcome(log10_e, usable, audit.options.policy, power=None)
        # Keys and profiles that the mean runs over.
        tried = len(audit.marks) + sum(len(one.keys) for one in other_schemes)
        return cls(
            evidence=evidence,
            other_schemes=other_schemes,
            outcome=outcome.tested(keys_tried=tried),
        )

    def findings(self) -> tuple[tuple[Sentence, ...], tuple[Sentence, ...]]:
        """Return the sentences of the findings, and the cautions (step 12)."""
        around = self._context()
        said = findings(self.outcome, self.evidence.audit.options.policy, around)
        return said, cautions(self.outcome, around)

    def record(self, said: tuple[tuple[Sentence, ...], tuple[Sentence, ...]]) -> Audit:
        """Return the record.

        Args:
            said: The sentences of the findings, and the cautions.
        """
        evidence, audit, best = self.evidence, self.evidence.audit, self.evidence.best
        text, options, marks = audit.text, audit.options, audit.marks
        shown = evidence.variants[best.variant]
        record_text = shown.in_record(text.document.text)
        readings = self._readings()
        sentences, weak = said
        return Audit(
            id=secrets.token_hex(16),
            created=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            input=record_facts.input_facts(
                text.document, int(evidence.tokens[best.variant].ids.size), record_text
            ),
            text=record_text if options.keep_text else None,
            prompt=prompt_facts(()),
            key=best.mark.key,
            keys=tuple(dict.fromkeys(mark.key for mark in marks)),
            profile=best.mark.profile,
            model=record_facts.model_facts(audit.model),
            device=record_facts.device_facts(audit.model.device),
            tokens=self._token_evidence(),
            steps=StepEvidence.none(),
            bits=(),
            decoded=PayloadFacts(bits="", posterior=np.zeros(0), repaired=0),
            decoder=options.decoder,
            candidates=(),
            evidence=self.outcome.evidence,
            verdict=self.outcome.verdict,
            sentences=sentences,
            cautions=weak,
            passages=(),
            variants=readings if options.keep_text else without_text(readings),
            schemes=(
                *self.other_schemes,
                *(
                    SchemeFacts(
                        profile=mark.profile,
                        keys=(mark.key.fingerprint,),
                        log10_e=own,
                        shown=mark is best.mark,
                        weighed=weighs(mark, options),
                    )
                    for mark, own in zip(marks, evidence.by_mark, strict=True)
                ),
            ),
            register=None,
            policy=options.policy.to_dict(),
            log=tuple(audit.log.reports),
            versions=record_facts.versions(),
        )

    def _readings(self) -> tuple[VariantFacts, ...]:
        """Return what each form of the text says alone."""
        evidence, policy = self.evidence, self.evidence.audit.options.policy
        own = evidence.variants[evidence.best.variant].in_record(evidence.variants[0].text)
        rows = []
        for number, (variant, tokens) in enumerate(
            zip(evidence.variants, evidence.tokens, strict=True)
        ):
            mine = [row[number] for row in evidence.trials]
            log10_e = combine([trial.log10_e for trial in mine])
            usable = max(int(trial.token.size) for trial in mine)
            rows.append(
                variant.facts(
                    tokens,
                    shown=number == evidence.best.variant,
                    own=own,
                    usable=usable,
                    log10_e=log10_e,
                    verdict=decide_outcome(log10_e, usable, policy, power=None).verdict,
                )
            )
        return tuple(rows)

    def _token_evidence(self) -> TokenEvidence:
        """Return what is known of each token: what the model and a schedule say is not."""
        evidence, best = self.evidence, self.evidence.best
        tokens, settings = evidence.tokens[best.variant], settings_of(best.mark)
        unknown = np.full(tokens.ids.size, np.nan)
        gate = np.full(tokens.ids.size, Gate.REPEATED_CONTEXT, dtype=np.uint8)
        gate[: settings.context_width] = Gate.NO_CONTEXT
        gate[best.token] = Gate.CARRIES
        added = np.zeros(tokens.ids.size)
        added[best.token] = best.log10_increments
        return TokenEvidence(
            ids=tokens.ids,
            spans=evidence.variants[best.variant].spans_in_record(tokens.spans),
            entropy_bits=unknown,
            lo=unknown,
            hi=unknown,
            gate=gate,
            log10_evidence=added,
            marked=np.zeros(tokens.ids.size),
        )

    def _context(self) -> FindingContext:
        evidence, audit, best = self.evidence, self.evidence.audit, self.evidence.best
        model, document = audit.model, audit.text.document
        return FindingContext(
            tokens=int(evidence.tokens[best.variant].ids.size),
            key=best.mark.key.fingerprint,
            scheme=best.mark.profile.scheme,
            schemes=len(audit.marks) + len(self.other_schemes),
            prompt_known=True,  # the mark has nothing to do with it
            verifier=model.name,
            generator=model.fingerprint,  # nor with the model
            verifier_fingerprint=model.fingerprint,
            retokenised=evidence.variants[best.variant].ids is None,
            readings=len(evidence.variants),
            handled=handling_signs(
                evidence.variants[0].text,
                pieces_of(model),
                odd=audit.options.policy.odd_characters,
                restored=audit.options.restore,
            ),
            hidden=hidden_characters(document.examined_text),
            left_out=document.left_out,
            examined_words=document.examined_words,
        )


def open_mark(profile: Profile, keys: Sequence[tuple[SecretKey, str | None]]) -> OpenMark:
    """Open the secret of a mark by others.

    Raises:
        ProfileError: The key that sealed it is not among the keys.
        KeyFormatError: It does not open it.
    """
    for key, label in keys:
        if key.fingerprint == profile.key and profile.foreign is not None:
            secret = open_secret(key, profile.scheme, profile.foreign.sealed)
            return OpenMark(profile=profile, key=key_facts(key, label), secret=secret)
    raise ProfileError("fitness.key", key=profile.key or "", code="key-mismatch")
