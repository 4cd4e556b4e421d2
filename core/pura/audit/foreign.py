"""An audit for marks by others, and one text for several schemes: the same record and verdict."""

from __future__ import annotations

import datetime as dt
import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pura.audit import options as record_facts
from pura.audit.options import (
    AuditText,
    Options,
    StepLog,
    characters_noted,
    input_noted,
    key_facts,
    rule_noted,
    under_policy,
    with_manifests,
)
from pura.audit.prepare import check_language, check_tokenizer, handling_signs, pieces_of
from pura.audit.run import audit_documents
from pura.audit.variants import Variant, prompt_facts, readings_of, without_text
from pura.base.errors import ProfileError, PuraError
from pura.base.progress import Checkpoint, Progress, never_cancelled, no_progress
from pura.decode.bets import log_increments
from pura.decode.significance import combine
from pura.documents.characters import hidden_characters
from pura.extract.foreign import draws_of
from pura.keys.sealed import open_secret
from pura.model.load import BareModel, LanguageModel
from pura.provenance.binding import stated
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
from pura.verdict.findings import FindingContext, cautions, findings
from pura.verdict.outcome import decide_outcome
from pura.words.sentences import sentence

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
class ForeignTrial:
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
) -> ForeignTrial:
    """Return what a mark's key says of the tokens of a reading.

    Args:
        mark: The mark.
        variant: Which reading.
        ids: int64 [L], its tokens.
        probability: float64 [L], of each under a model; None where none was asked.
    """
    settings = mark.profile.foreign
    assert settings is not None  # who opens a mark has seen to it
    draws = draws_of(settings, mark.secret, ids)
    return ForeignTrial(
        mark=mark,
        variant=variant,
        token=draws[0],
        log10_increments=log_increments(settings, draws, probability) / _LN10,
    )


def weighs(mark: OpenMark, options: Options) -> bool:
    """Say whether a model's probabilities take part in the bets on a mark."""
    foreign = mark.profile.foreign
    return options.weigh and foreign is not None and foreign.sharpened


class _Walk:
    """The steps of one document; its manifests were looked at before."""

    def __init__(
        self,
        text: AuditText,
        options: Options,
        model: BareModel,
        marks: Sequence[OpenMark],
        progress: Progress,
        checkpoint: Checkpoint,
    ) -> None:
        self._text, self._options = text, options
        self._model, self._marks = model, marks
        self._steps = StepLog(reports=text.log, progress=progress, checkpoint=checkpoint)
        self._variants: tuple[Variant, ...] = ()
        self._tokens: list[Tokens] = []
        self._trials: list[list[ForeignTrial]] = []
        self._logged = 0

    def audit(self, others: tuple[SchemeFacts, ...] = ()) -> Audit | PuraError:
        """Walk the steps; once more, with what ``others`` say, only those from the 9th on."""
        try:
            if not self._trials:
                self._trials = self._try_marks()
                self._logged = len(self._text.log)
            del self._text.log[self._logged :]
            self._text = replace(self._text, other_schemes=others or self._text.other_schemes)
            return stated(self._finish(self._trials), self._text.manifests or ())
        except PuraError as error:
            return error

    def _try_marks(self) -> list[list[ForeignTrial]]:
        document, options = self._text.document, self._options
        with self._steps.step(1) as note:
            note += input_noted(document, alone=self._text.alone)
        with self._steps.step(2) as note:
            note.append(characters_noted(document))
        with self._steps.step(3) as note:
            self._variants, self._tokens, notes = readings_of(
                self._model,
                document.text,
                excluded=document.excluded,
                restored=options.restore,
                ids=self._text.ids,
            )
            note += notes
        with self._steps.step(4):
            check_language(document.examined_text, options.policy)
            for mark in self._marks:
                check_tokenizer(self._model, mark.profile, [mark.key.fingerprint])
        probability = self._probabilities()
        self._steps.skip(6, "log.foreign-schedule")
        with self._steps.step(7) as note:
            trials = [
                [
                    try_mark(mark, i, found.ids, probability[i] if weighs(mark, options) else None)
                    for i, found in enumerate(self._tokens)
                ]
                for mark in self._marks
            ]
            note += [sentence("log.foreign-count", n=int(row[0].token.size)) for row in trials]
        self._steps.skip(8, "log.foreign-payload")
        return trials

    def _probabilities(self) -> list[F64 | None]:
        """Let the model read the text without its prompt, where a mark can make use of that."""
        from pura.model.evidence import read_many
        from pura.model.load import LanguageModel

        if not any(weighs(mark, self._options) for mark in self._marks):
            self._steps.skip(5, "log.foreign-model")
            return [None] * len(self._tokens)
        assert isinstance(self._model, LanguageModel)  # whoever asks for it has loaded it
        with self._steps.step(5) as note:
            # How the other program sampled is not known: what the model says is taken as it is.
            plain = Profile(payload_bits=36, code="tbcc", vocab_size=self._model.vocab_size)
            texts = [found.ids for found in self._tokens]
            read = read_many(self._model, texts, keys=[], profile=plain)
            note.append(sentence("log.foreign-weighed"))
            return [reading.probability for reading in read]

    def _finish(self, trials: list[list[ForeignTrial]]) -> Audit:
        text, options, policy = self._text, self._options, self._options.policy
        by_mark = [combine([one.log10_e for one in row]) for row in trials]
        best = max((one for row in trials for one in row), key=lambda one: one.log10_e)
        with self._steps.step(9) as note:
            log10_e = combine([*by_mark, *(one.log10_e for one in text.other_schemes)])
            note.append(sentence("log.foreign-mean"))
        self._steps.skip(10, "log.foreign-passages")
        self._steps.skip(11, "log.foreign-register")
        usable = int(best.token.size)
        outcome = decide_outcome(log10_e, usable, policy, power=None)
        outcome = outcome.tested(keys_tried=self._tried)
        around = self._circumstances(best)
        with self._steps.step(12) as note:
            sentences = findings(outcome, policy, around)
            weak = cautions(outcome, around)
            note.append(rule_noted(policy, outcome))
        shown = self._variants[best.variant]
        record_text = shown.in_record(text.document.text)
        readings = self._readings(trials, best)
        keys = tuple(dict.fromkeys(mark.key for mark in self._marks))
        return Audit(
            id=secrets.token_hex(16),
            created=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            input=record_facts.input_facts(
                text.document, int(self._tokens[best.variant].ids.size), record_text
            ),
            text=record_text if options.keep_text else None,
            prompt=prompt_facts(()),
            key=best.mark.key,
            keys=keys,
            profile=best.mark.profile,
            model=record_facts.model_facts(self._model),
            device=record_facts.device_facts(self._model.device),
            tokens=self._token_evidence(best),
            steps=StepEvidence.none(),
            bits=(),
            decoded=PayloadFacts(bits="", posterior=np.zeros(0), repaired=0),
            decoder=options.decoder,
            candidates=(),
            evidence=outcome.evidence,
            verdict=outcome.verdict,
            sentences=sentences,
            cautions=weak,
            passages=(),
            variants=readings if options.keep_text else without_text(readings),
            schemes=(
                *text.other_schemes,
                *(
                    SchemeFacts(
                        profile=mark.profile,
                        keys=(mark.key.fingerprint,),
                        log10_e=own,
                        shown=mark is best.mark,
                        weighed=weighs(mark, options),
                    )
                    for mark, own in zip(self._marks, by_mark, strict=True)
                ),
            ),
            register=None,
            policy=policy.to_dict(),
            log=tuple(text.log),
            versions=record_facts.versions(),
        )

    @property
    def _tried(self) -> int:
        """Keys and profiles that the mean runs over."""
        return len(self._marks) + sum(len(one.keys) for one in self._text.other_schemes)

    def _readings(
        self, trials: list[list[ForeignTrial]], best: ForeignTrial
    ) -> tuple[VariantFacts, ...]:
        own = self._variants[best.variant].in_record(self._variants[0].text)
        rows = []
        for number, (variant, found) in enumerate(zip(self._variants, self._tokens, strict=True)):
            mine = [row[number] for row in trials]
            log10_e = combine([one.log10_e for one in mine])
            usable = max(int(one.token.size) for one in mine)
            policy = self._options.policy
            rows.append(
                variant.facts(
                    found,
                    shown=number == best.variant,
                    own=own,
                    usable=usable,
                    log10_e=log10_e,
                    verdict=decide_outcome(log10_e, usable, policy, power=None).verdict,
                )
            )
        return tuple(rows)

    def _token_evidence(self, best: ForeignTrial) -> TokenEvidence:
        """Return what is known of each token: what the model and a schedule say is not."""
        found, settings = self._tokens[best.variant], best.mark.profile.foreign
        assert settings is not None
        unknown = np.full(found.ids.size, np.nan)
        gate = np.full(found.ids.size, Gate.REPEATED_CONTEXT, dtype=np.uint8)
        gate[: settings.context_width] = Gate.NO_CONTEXT
        gate[best.token] = Gate.CARRIES
        added = np.zeros(found.ids.size)
        added[best.token] = best.log10_increments
        return TokenEvidence(
            ids=found.ids,
            spans=self._variants[best.variant].spans_in_record(found.spans),
            entropy_bits=unknown,
            lo=unknown,
            hi=unknown,
            gate=gate,
            log10_evidence=added,
            marked=np.zeros(found.ids.size),
        )

    def _circumstances(self, best: ForeignTrial) -> FindingContext:
        text = self._text.document.examined_text
        return FindingContext(
            tokens=int(self._tokens[best.variant].ids.size),
            key=best.mark.key.fingerprint,
            scheme=best.mark.profile.scheme,
            schemes=len(self._marks) + len(self._text.other_schemes),
            prompt_known=True,  # the mark has nothing to do with it
            verifier=self._model.name,
            generator=self._model.fingerprint,  # nor with the model
            verifier_fingerprint=self._model.fingerprint,
            retokenised=self._variants[best.variant].ids is None,
            readings=len(self._variants),
            handled=handling_signs(
                self._variants[0].text,
                pieces_of(self._model),
                odd=self._options.policy.odd_characters,
                restored=self._options.restore,
            ),
            hidden=hidden_characters(text),
            left_out=self._text.document.left_out,
            examined_words=self._text.document.examined_words,
        )


OpenKey = tuple[SecretKey, str | None]


def audit_schemes(
    texts: Sequence[AuditText],
    *,
    model: BareModel,
    keys: Sequence[OpenKey],
    seals: Sequence[OpenKey],
    profile: Profile,
    also: Sequence[Profile] = (),
    options: Options,
    progress: Progress = no_progress,
    checkpoint: Checkpoint = never_cancelled,
) -> list[Audit | PuraError]:
    """Audit documents; see :func:`pura.audit.run.audit_documents`.

    Args:
        texts: The documents.
        model: Needs weights only where PURA's mark is looked for.
        keys: Of PURA's mark.
        seals: Under which the secrets of marks by others are sealed.
        profile: PURA's, or that of a mark by others.
        also: Profiles of marks by others that are tried as well.
        options: What else is asked.
        progress: Told of every step.
        checkpoint: Called often; may raise.

    Raises:
        PuraError: A key is missing, or not the one that a secret is sealed under.
    """
    foreign = [one for one in (profile, *also) if one.foreign is not None]
    if len(foreign) < len(also) + (profile.foreign is not None):
        raise ProfileError("profile.also", code="usage")
    marks = [_opened(one, seals) for one in foreign]
    texts = under_policy(with_manifests(texts, options, checkpoint), options)
    if profile.foreign is not None:
        return [_Walk(one, options, model, marks, progress, checkpoint).audit() for one in texts]
    assert isinstance(model, LanguageModel)  # whoever chose the profile loaded it
    quiet = [replace(text, log=[]) for text in texts] if marks else []
    walks = [_Walk(one, options, model, marks, no_progress, checkpoint) for one in quiet]
    beside = list(texts)
    for number, walk in enumerate(walks):
        # An error is of the text itself: the audit will say so, too.
        if isinstance(theirs := walk.audit(), Audit):
            beside[number] = replace(texts[number], other_schemes=theirs.schemes)
    found = audit_documents(
        beside,
        model=model,
        keys=keys,
        profile=profile,
        options=options,
        progress=progress,
        checkpoint=checkpoint,
    )
    for number, walk in enumerate(walks):
        mine = found[number]
        if isinstance(mine, Audit) and mine.schemes and not mine.schemes[0].shown:
            found[number] = walk.audit(mine.schemes[:1])
    return found


def _opened(profile: Profile, keys: Sequence[OpenKey]) -> OpenMark:
    """Open the secret of a mark by others.

    Raises:
        ProfileError: The key that sealed it is not among the keys.
        KeyFormatError: It does not open it.
    """
    for key, label in keys:
        if key.fingerprint == profile.key:
            assert profile.foreign is not None
            secret = open_secret(key, profile.scheme, profile.foreign.sealed)
            return OpenMark(profile=profile, key=key_facts(key, label), secret=secret)
    raise ProfileError("fitness.key", key=profile.key or "", code="key-mismatch")
