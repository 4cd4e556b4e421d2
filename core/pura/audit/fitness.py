"""Do model, key and profile belong together? Asked before any work is done (audit step 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pura.base.errors import ModelError, ProfileError, PuraError
from pura.scheme import Profile, SecretKey

if TYPE_CHECKING:
    from pura.model.load import LanguageModel


def check_fitness(model: LanguageModel, profile: Profile, keys: Sequence[SecretKey]) -> None:
    """Refuse what cannot work.

    Another model than the profile names is no error: that is what a proxy is, and the record says
    so.

    Raises:
        ProfileError: The tokenizer or the key is not the one that the profile names.
        ModelError: The profile wants a start token and the model has none.
    """
    found = mismatches(
        profile,
        model=model.name,
        vocab_size=model.vocab_size,
        tokenizer=model.tokenizer_fingerprint,
        keys=[key.fingerprint for key in keys],
    )
    if found:
        raise found[0]
    if profile.prefix == "bos" and model.bos_id is None:
        raise ModelError("fitness.start-token")


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
    if profile.vocab_size != vocab_size:
        found.append(
            ProfileError(
                "fitness.vocabulary",
                vocab_size=profile.vocab_size,
                model=model,
                there=vocab_size,
                code="tokenizer-mismatch",
            )
        )
    elif profile.tokenizer is not None and profile.tokenizer != tokenizer:
        found.append(ProfileError("fitness.tokenizer", model=model, code="tokenizer-mismatch"))
    if profile.key is not None and keys and profile.key not in keys:
        found.append(ProfileError("fitness.key", key=profile.key, code="key-mismatch"))
    return tuple(found)
