"""One text for several schemes: PURA's mark, marks by others, or both.

With several, the evidence is the mean over them, each with the same weight, fixed before the text
is looked at. The record is that of the scheme with the most evidence, its verdict that of the mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pura.audit.facts import key_facts
from pura.audit.foreign import OpenMark, audit_foreign
from pura.audit.options import AuditText, Options
from pura.audit.run import audit_documents
from pura.base.errors import ProfileError, PuraError
from pura.base.progress import Checkpoint, Progress
from pura.keys.foreign import open_secret
from pura.model.load import BareModel, LanguageModel
from pura.record.audit import Audit
from pura.scheme import Profile, SecretKey

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
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
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
    if profile.foreign is not None:
        return audit_foreign(
            texts,
            model=model,
            marks=marks,
            options=options,
            progress=progress,
            checkpoint=checkpoint,
        )
    assert isinstance(model, LanguageModel)  # whoever chose the profile loaded it
    others: list[Audit | PuraError] = []
    if marks:
        quiet = [replace(text, log=[]) for text in texts]
        others = audit_foreign(
            quiet, model=model, marks=marks, options=options, checkpoint=checkpoint
        )
        texts = [_beside(text, other) for text, other in zip(texts, others, strict=True)]
    found = audit_documents(
        texts,
        model=model,
        keys=keys,
        profile=profile,
        options=options,
        progress=progress,
        checkpoint=checkpoint,
    )
    for number, (text, mine) in enumerate(zip(texts, found, strict=True)):
        if isinstance(mine, Audit) and mine.schemes and not mine.schemes[0].shown:
            again = [replace(_beside(text, mine), log=[])]
            (found[number],) = audit_foreign(
                again, model=model, marks=marks, options=options, checkpoint=checkpoint
            )
    return found


def _beside(text: AuditText, other: Audit | PuraError) -> AuditText:
    """Let what another scheme says of a text count in the mean."""
    if isinstance(other, PuraError):  # of the text itself: the audit will say so, too
        return text
    pura = tuple(one for one in other.schemes if one.profile.foreign is None)
    return replace(text, beside=pura or other.schemes)


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
