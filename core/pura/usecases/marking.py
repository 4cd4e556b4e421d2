"""A marked text, written with a local model, and issued to somebody in the register."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pura.base.errors import PayloadError, PuraError, RegisterError
from pura.base.progress import Checkpoint, Progress, counted, never_cancelled, no_progress
from pura.detect.verdict.expect import USABLE_SHARE, readable_bits
from pura.keys import KeyRef
from pura.keys.epochs import today
from pura.questions.store import AnsweredQuestion
from pura.register.rows import Drawn, Issue, Recipient, RegisterEntry
from pura.register.store import Register
from pura.scheme import I64, MarkIdentity, Payload, Profile, fields_outside
from pura.usecases.environment import Environment
from pura.usecases.keys import marking_key
from pura.usecases.questions import begin_questions, questions_path
from pura.usecases.registers import issue_payload, open_register, revoke_issue, series_of

if TYPE_CHECKING:
    from pura.embed.generate import Generated

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class MarkedText:
    """A text that carries a payload, and who it was written for.

    Attributes:
        text: The text.
        ids: int64 [L], its token ids.
        mark: The key, epoch, profile and payload of its mark.
        entry: The entry of the register that says who it was written for; None where nobody was
            named.
        question: Number of its question in the question store; None where it was not kept.
    """

    text: str
    ids: I64
    mark: MarkIdentity
    entry: RegisterEntry | None = None
    question: int | None = None


def carried_bits(profile: Profile, tokens: int) -> int:
    """Return how many payload bits a text of so many tokens can be expected to carry."""
    return readable_bits(round(tokens * USABLE_SHARE), profile.payload_bits)


def refuse_outside(payload: Payload, profile: Profile) -> None:
    """Refuse a payload whose fields lie outside the limits that its profile states.

    The verifier weighs such a payload as one that was hardly ever issued, and says so.

    Raises:
        PayloadError: Names the fields.
    """
    if outside := fields_outside(profile.fields, payload, today()):
        raise PayloadError("payload.outside", fields=", ".join(outside), code="payload-outside")


def mark_text(
    environment: Environment,
    *,
    prompt: str,
    key: KeyRef,
    profile: Profile,
    payload: Payload | None = None,
    recipient: Recipient | None = None,
    model: str | None = None,
    tokens: int = 200,
    epoch: str = "",
    seed: int | None = None,
    keep_question: Path | bool = False,
    outside_limits: bool = False,
    progress: Progress = no_progress,
    checkpoint: Checkpoint = never_cancelled,
) -> MarkedText:
    """Write a text that carries a payload.

    Args:
        environment: Where keys, models and register are.
        prompt: What the text goes on from.
        key: What it is marked with.
        profile: How.
        payload: What it carries. None has the register draw a number that was never issued, which
            needs a recipient and a profile without fields.
        recipient: To whom the text goes, and for what: the register has the row before the text is
            returned. None writes nothing to the register.
        model: As for :meth:`Environment.model`.
        tokens: Length of the text.
        epoch: Mark with the key of this time, not the present one; ``none``: the key as it is.
        seed: Of the ordinary randomness; None takes fresh.
        keep_question: Keep the prompt in the user's question store, or in another file, before the
            text is returned.
        outside_limits: Take a payload outside the limits of the profile, too.
        progress: Told how many tokens are written.
        checkpoint: Called before every token; may raise.

    Raises:
        PuraError: Key, model and profile do not fit; the payload is missing, outside the limits of
            the profile, or was issued to another; or the prompt is too long.
    """
    if payload is not None and not outside_limits:
        refuse_outside(payload, profile)
    marking = marking_key(environment, key, profile, epoch)
    series = series_of(environment, marking, profile)
    if payload is None and (recipient is None or profile.fields):
        raise PayloadError("generate.payload" if profile.fields else "generate.who", code="usage")
    if payload is not None and recipient is not None:  # before the work, not after it
        with open_register(environment, must_exist=False) as register:
            _entry_for(register, series.mark(payload), recipient)
    with environment.opened_keys([marking]) as [(secret, _)]:
        language_model = environment.model(model, profile=profile)
        if recipient is not None:
            recipient = _completed(recipient, language_model.name)

        def written(carried: Payload) -> Generated:
            from pura.embed import generate

            return generate(
                language_model,
                prompt,
                carried,
                secret,
                profile,
                tokens=tokens,
                seed=seed,
                ignore_eos=True,
                progress=counted(progress, "generate"),
                checkpoint=checkpoint,
            )

        if payload is not None:
            made, entry = written(payload), None
            if recipient is not None:
                entry = _issued(environment, series.mark(payload), profile, recipient)
        else:
            assert recipient is not None  # refused above
            entry = issue_payload(environment, series=series, profile=profile, recipient=recipient)
            payload = entry.issue.payload
            try:
                made = written(payload)
            except BaseException:
                _revoke(environment, entry)
                raise
    mark, question = series.mark(payload), None
    if keep_question:
        answered = AnsweredQuestion(
            mark=mark,
            ids=made.prompt_ids,
            texts=(prompt,),
            recipient="" if recipient is None else recipient.who,
        )
        with begin_questions(environment, questions_path(environment, keep_question)) as store:
            question = store.keep(answered)
    return MarkedText(text=made.text, ids=made.ids, mark=mark, entry=entry, question=question)


def _completed(recipient: Recipient, model: str) -> Recipient:
    """Return a recipient with the date and the model of issue, where they were not named."""
    return Recipient(
        who=recipient.who,
        when=recipient.when or today().isoformat(),
        model=recipient.model or model,
        manifest=recipient.manifest,
        note=recipient.note,
    )


def _entry_for(
    register: Register | None, mark: MarkIdentity, recipient: Recipient
) -> RegisterEntry | None:
    """Return the entry of a mark that was issued to a recipient before; None where it was not.

    Raises:
        RegisterError: It was issued to another.
    """
    entry = None if register is None else register.find(mark)
    if entry is not None and entry.issue.who != recipient.who:
        raise RegisterError("register.twice")
    return entry


def _issued(
    environment: Environment, mark: MarkIdentity, profile: Profile, recipient: Recipient
) -> RegisterEntry:
    with Register(environment.paths.register, create=True) as register:
        entry = _entry_for(register, mark, recipient)
        if entry is None:
            entry = register.add(Issue.of(mark, recipient, Drawn.GIVEN), profile)
        return entry


def _revoke(environment: Environment, entry: RegisterEntry) -> None:
    """Revoke the row of a text that was never written."""
    try:
        revoke_issue(environment, number=entry.number, reason="no text was written")
    except PuraError as error:
        # The reason why no text was written is what the caller has to hear of.
        logger.warning("register: entry %d could not be revoked: %s", entry.number, error.code)
