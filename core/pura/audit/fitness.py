"""Do model, key and profile belong together? Asked before any work is done (audit step 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pura.errors import ModelError, ProfileError
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
    if profile.vocab_size != model.vocab_size:
        raise ProfileError(
            f"The profile is for a tokenizer of {profile.vocab_size:,} tokens; that of the model "
            f"“{model.name}” has {model.vocab_size:,}.",
            "Use a model with the tokenizer of the generating model.",
            code="tokenizer-mismatch",
        )
    if profile.tokenizer is not None and profile.tokenizer != model.tokenizer_fingerprint:
        raise ProfileError(
            f"The tokenizer of the model “{model.name}” is not the one that the profile names.",
            "Use a model with the tokenizer of the generating model.",
            code="tokenizer-mismatch",
        )
    if profile.key is not None and all(key.fingerprint != profile.key for key in keys):
        raise ProfileError(
            f"The profile belongs to the key {profile.key}, which was not given.",
            "Choose that key, or the profile of the key that you have.",
            code="key-mismatch",
        )
    if profile.prefix == "bos" and model.bos_id is None:
        raise ModelError(
            "The profile asks for a start token, and this model has none.",
            "Use a model of the generating model's family.",
        )
