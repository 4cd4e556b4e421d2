"""Steps 1 to 4 of an audit: a text, its readings, and whether all that is used belongs together."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pura.audit.early_stopping import EarlyStopping
from pura.audit.handling import handling_signs, pieces_of
from pura.audit.key_reading import issuable
from pura.audit.options import AuditText, Options, latest_day
from pura.audit.rereading import Weights
from pura.audit.steps import StepLog, characters_noted, input_noted
from pura.audit.variants import PromptCandidate, Variant, openings_of, readings_of
from pura.base.errors import InputError, ModelError, PolicyError, ProfileError, PuraError
from pura.base.progress import Checkpoint, Progress
from pura.decode.issuable import Issuable
from pura.decode.model import LikelihoodModel
from pura.scheme import Profile, SecretKey, contexts_before
from pura.verdict.expect import not_among
from pura.verdict.policy import Policy
from pura.verdict.power_claim import likelihood_of
from pura.words.sentences import Sentence, sentence

if TYPE_CHECKING:
    from pura.model.evidence import Request
    from pura.model.load import BareModel, LanguageModel
    from pura.model.tokenise import Tokens


def check_fitness(model: LanguageModel, profile: Profile, keys: Sequence[SecretKey]) -> None:
    """Refuse what cannot work.

    Another model than the profile names is no error: that is what a proxy is, and the record says
    so.

    Raises:
        ProfileError: The tokenizer or the key is not the one that the profile names.
        ModelError: The profile wants a start token and the model has none.
    """
    check_tokenizer(model, profile, [key.fingerprint for key in keys])
    if profile.prefix == "bos" and model.bos_id is None:
        raise ModelError("fitness.start-token", code="model-mismatch")


def check_tokenizer(model: BareModel, profile: Profile, keys: Sequence[str]) -> None:
    """Refuse a tokenizer or a key that is not the one that the profile names.

    Args:
        model: Whose tokenizer.
        profile: The profile.
        keys: Fingerprints.

    Raises:
        ProfileError: It is another.
    """
    found = mismatches(
        profile,
        model=model.name,
        vocab_size=model.vocab_size,
        tokenizer=model.tokenizer_fingerprint,
        keys=keys,
    )
    if found:
        raise found[0]


def check_language(text: str, policy: Policy) -> None:
    """Refuse a text in a language that the policy does not list as validated.

    Raises:
        InputError: It is in another one, as far as its words can tell.
    """
    if not_among(text, policy.languages):
        raise InputError(
            "audit.language",
            rule=policy.rule,
            admitted=", ".join(policy.languages),
            code="language-not-validated",
        )


def mismatches(
    profile: Profile, *, model: str, vocab_size: int, tokenizer: str, keys: Sequence[str]
) -> tuple[PuraError, ...]:
    """Say what does not belong together, from fingerprints alone: nothing is loaded for it.

    Args:
        profile: The profile.
        model: Name of the model.
        vocab_size: Of its tokenizer.
        tokenizer: Fingerprint of its tokenizer.
        keys: Fingerprints of the keys; none chosen is no mismatch.

    Returns:
        One error a mismatch; empty when an audit can begin.
    """
    found: list[PuraError] = []
    if profile.vocab_size != vocab_size or profile.tokenizer not in (None, tokenizer):
        found.append(ProfileError("fitness.tokenizer", model=model, code="tokenizer-mismatch"))
    if profile.key is not None and keys and profile.key not in keys:
        found.append(ProfileError("fitness.key", key=profile.key, code="key-mismatch"))
    return tuple(found)


@dataclass(frozen=True, kw_only=True, eq=False)
class AuditBasis:
    """What all documents of a run are audited with. Make it with :meth:`of`.

    Attributes:
        options: What else is asked.
        model: The model that reads.
        keys: Secret keys and their labels.
        profile: What generator and verifier share; ``today`` in its limits is written out.
        issuable: The payloads within limits; None where all are alike.
        day: What ``today`` in these limits stands for; None where none says it.
        likelihood: The frozen numbers of the decoder, where a power table brings its own.
        progress: Told of every step.
        checkpoint: Called often; may raise.
    """

    options: Options
    model: LanguageModel
    keys: Sequence[tuple[SecretKey, str | None]]
    profile: Profile
    issuable: Issuable | None
    day: dt.date | None
    likelihood: LikelihoodModel | None
    progress: Progress
    checkpoint: Checkpoint

    @classmethod
    def of(
        cls,
        options: Options,
        model: LanguageModel,
        keys: Sequence[tuple[SecretKey, str | None]],
        profile: Profile,
        progress: Progress,
        checkpoint: Checkpoint,
    ) -> AuditBasis:
        """Work out what follows from what a run is given."""
        day = options.day or latest_day()
        dated = profile.on(day)
        return cls(
            options=options,
            model=model,
            keys=keys,
            profile=dated,
            issuable=issuable(dated, options.policy),
            day=day if profile.names_today else None,
            likelihood=likelihood_of(options.power_tables, profile, model.fingerprint),
            progress=progress,
            checkpoint=checkpoint,
        )

    @property
    def beginning(self) -> tuple[int, ...]:
        """What stands before a text of which nothing else is known: the profile's template."""
        from pura.model.tokenise import beginning_ids

        return beginning_ids(self.model.tokenizer, self.profile, "")


@dataclass(frozen=True, kw_only=True, eq=False)
class PreparedText:
    """A text after step 4; step 5 reads its :meth:`request`.

    Attributes:
        basis: What it is audited with.
        text: The document, and what is known of it.
        log: Of the steps.
        variants: The forms of the text, as found first.
        tokens: Of each form.
        openings: The readings: a form, behind what may have stood before it.
        before: Contexts that stood before any of them; at these no step carries bits.
        handled: Signs that the text was handled.
    """

    basis: AuditBasis
    text: AuditText
    log: StepLog
    variants: tuple[Variant, ...]
    tokens: tuple[Tokens, ...]
    openings: tuple[PromptCandidate, ...]
    before: frozenset[bytes]
    handled: tuple[str, ...]

    @property
    def weights(self) -> Weights:
        """What each e-value counts in the evidence of the text."""
        return Weights(
            keys=len(self.basis.keys),
            readings=len(self.openings),
            forms=tuple(int(tokens.ids.size) for tokens in self.tokens),
            schemes=1 + len(self.text.beside),
        )

    @property
    def parts(self) -> int:
        """Into how many parts the weight is divided, those of readings not begun as well.

        Keys times readings times schemes: PURA has its share among them.
        """
        return len(self.openings) * len(self.basis.keys) * self.weights.schemes

    def request(self) -> Request:
        """Return what is to be read: every variant, and the first after each candidate."""
        from pura.model.evidence import Request

        basis = self.basis
        texts = [self.tokens[opening.variant].ids for opening in self.openings]
        policy = basis.options.policy
        look = None
        if basis.options.follow or policy.stop_at is not None:
            look = EarlyStopping(
                keys=[key for key, _ in basis.keys],
                profile=basis.profile,
                likelihood=basis.likelihood,
                prompt_known=self.openings[0].candidate is not None,
                text_tokens=int(texts[0].size),
                log10_weight=self.weights.first,
                stop_at=policy.stop_at,
                all_tokens=sum(int(ids.size) for ids in texts),
                before=self.before,
                progress=basis.progress,
                checkpoint=basis.checkpoint,
            )
        return Request(texts=texts, prompts=[opening.ids for opening in self.openings], look=look)


def prepare(basis: AuditBasis, text: AuditText) -> PreparedText:
    """Walk steps 1 to 4.

    Raises:
        PuraError: The text cannot be tokenised, or what is used does not belong together.
    """
    options, model, profile = basis.options, basis.model, basis.profile
    document = text.document
    log = StepLog(reports=text.log, progress=basis.progress, checkpoint=basis.checkpoint)
    _check_power(options)
    with log.step(1) as note:
        note += input_noted(document, alone=text.alone)
    with log.step(2) as note:
        note.append(characters_noted(document))
    with log.step(3) as note:
        variants, tokens, notes = readings_of(
            model, document.text, restored=options.restore, ids=text.ids
        )
        note += notes
        handled = handling_signs(
            variants[0].text,
            pieces_of(model),
            odd=options.policy.odd_characters,
            restored=options.restore,
        )
        note += signs_noted(handled)
        openings = openings_of(model, profile, text.prompts, variants)
        note += _before(openings, profile)
        # In all readings: each text that stood before may quote another one.
        before = contexts_before(
            [one.ids for one in tokens], {opening.ids for opening in openings}, profile
        )
        if before:
            note.append(sentence("log.contexts", n=len(before)))
    with log.step(4):
        check_language(document.text, options.policy)
        check_fitness(model, profile, [key for key, _ in basis.keys])
    return PreparedText(
        basis=basis,
        text=text,
        log=log,
        variants=variants,
        tokens=tuple(tokens),
        openings=openings,
        before=before,
        handled=handled,
    )


def signs_noted(signs: Sequence[str]) -> list[Sentence]:
    """Return how the log says that a text was handled."""
    return [sentence("log.handled", sign=f"log.sign-{sign}") for sign in signs]


def _check_power(options: Options) -> None:
    here = {table.fingerprint for table in options.power_tables}
    for name in options.policy.power_tables:
        if name not in here:
            raise PolicyError("power.absent", name=name[:16], code="power-absent")


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
