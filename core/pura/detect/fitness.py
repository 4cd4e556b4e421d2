"""Step 4: do model, tokenizer, profile, keys and language belong together?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pura.base.errors import InputError, ModelError, PolicyError, ProfileError, PuraError
from pura.detect.options import Options
from pura.detect.verdict.expect import not_among
from pura.detect.verdict.policy import Policy
from pura.scheme import Profile, SecretKey

if TYPE_CHECKING:
    from pura.model.load import BareModel, LanguageModel
    from pura.scheme import Profile


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


def check_power_tables(options: Options) -> None:
    """Refuse a policy that names a power table which is not here.

    Raises:
        PolicyError: It does.
    """
    here = {table.fingerprint for table in options.power_tables}
    for name in options.policy.power_tables:
        if name not in here:
            raise PolicyError("power.absent", name=name[:16], code="power-absent")
