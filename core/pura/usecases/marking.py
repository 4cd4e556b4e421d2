"""A marked text, written with a local model, and noted in the register where somebody gets it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pura.base.errors import RegisterError
from pura.base.progress import Checkpoint, Progress, counted, never_cancelled, no_progress
from pura.keys import KeyRef
from pura.keys.epochs import today
from pura.register.rows import Issue
from pura.register.store import Register
from pura.scheme import Payload, Profile
from pura.usecases.environment import Environment
from pura.usecases.keys import marking_key
from pura.usecases.profiles import open_register
from pura.verdict.expect import USABLE_SHARE, readable_bits

if TYPE_CHECKING:
    from pura.embed.generate import Generated


def carried_bits(profile: Profile, tokens: int) -> int:
    """Return how many payload bits a text of so many tokens can be expected to carry."""
    return readable_bits(round(tokens * USABLE_SHARE), profile.payload_bits)


def mark_text(
    environment: Environment,
    *,
    prompt: str,
    payload: Payload,
    key: KeyRef,
    profile: Profile,
    model: str | None = None,
    tokens: int = 200,
    epoch: str = "",
    seed: int | None = None,
    who: str = "",
    progress: Progress = no_progress,
    checkpoint: Checkpoint = never_cancelled,
) -> Generated:
    """Write a text that carries a payload.

    Args:
        environment: Where keys, models and register are.
        prompt: What the text goes on from.
        payload: What it carries.
        key: What it is marked with.
        profile: How.
        model: As for :meth:`Environment.model`.
        tokens: Length of the text.
        epoch: Mark with the key of this time, not the present one; ``none``: the key as it is.
        seed: Of the ordinary randomness; None takes fresh.
        who: To whom the text goes: the register notes it before the text is returned. Empty notes
            nothing.
        progress: Told how many tokens are written.
        checkpoint: Called before every token; may raise.

    Raises:
        PuraError: Key, model and profile do not fit, the payload was issued to another, or the
            prompt is too long.
    """
    if who:  # before the work, not after it
        with open_register(environment, must_exist=False) as issued:
            _noted(issued, payload, who)
    one = marking_key(environment, key, profile, epoch)
    with environment.opened_keys([one]) as [(secret, _)]:
        language_model = environment.model(model, profile=profile)

        from pura.embed import generate

        made = generate(
            language_model,
            prompt,
            payload,
            secret,
            profile,
            tokens=tokens,
            seed=seed,
            ignore_eos=True,
            progress=counted(progress, "generate"),
            checkpoint=checkpoint,
        )
    if who:
        day = today().isoformat()
        with Register(environment.paths.register, create=True) as register:
            if not _noted(register, payload, who):
                issue = Issue(payload=payload, who=who, when=day, model=language_model.name)
                register.add(issue)
    return made


def _noted(register: Register | None, payload: Payload, who: str) -> bool:
    """Return whether a payload was issued to somebody before.

    Raises:
        RegisterError: It was issued to another.
    """
    known = None if register is None else register.find(payload)
    if known is not None and known.issue.who != who:
        raise RegisterError("register.twice")
    return known is not None
