"""What generation starts from, and whether model, profile and key belong together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pura.base.errors import GenerationError, ProfileError
from pura.model.tokenise import beginning_ids, tokenise, tokenizing
from pura.scheme import Profile, SecretKey

if TYPE_CHECKING:
    from pura.model.load import LanguageModel

Prompt = str | Sequence[int]


def check_fit(model: LanguageModel, profile: Profile, keys: Sequence[SecretKey | None]) -> None:
    """Refuse a profile that was made for another tokenizer or key.

    The model's own fingerprint is not compared: a verifier may read with a proxy.

    Raises:
        ProfileError: Says what does not fit.
    """
    if profile.vocab_size != model.vocab_size:
        raise ProfileError(
            "fitness.vocabulary",
            vocab_size=profile.vocab_size,
            model=model.name,
            there=model.vocab_size,
            code="profile-tokenizer",
        )
    if profile.tokenizer not in (None, model.tokenizer_fingerprint):
        raise ProfileError("fitness.tokenizer", model=model.name, code="profile-tokenizer")
    check_keys(profile, keys)


def check_keys(profile: Profile, keys: Sequence[SecretKey | None]) -> None:
    """Refuse a key that is not the one that the profile names.

    Where keys are those of a day, a week or a month, the profile names the one that they come from:
    a server holds that of the present one only, and cannot tell.

    Raises:
        ProfileError: Names both fingerprints.
    """
    if profile.key_epochs is not None:
        return
    for key in keys:
        if key is not None and profile.key not in (None, key.fingerprint):
            raise ProfileError("fitness.key", key=profile.key, code="profile-key")


def prompt_ids(
    model: LanguageModel, prompt: Prompt, profile: Profile | None = None, *, chat: bool = False
) -> list[int]:
    """Return the token ids that a generation starts from.

    A text is taken as text: control tokens that it quotes stay ordinary characters. Only the
    model's own opening token goes in front, where its tokenizer puts one. A profile with a template
    puts the text into that, as the verifier does. Whoever wants other control tokens asks for
    ``chat``, or passes ids.

    Args:
        model: The generating model.
        prompt: Text, or token ids, which are taken as they are.
        profile: What generator and verifier share.
        chat: Put the text as a user's message into the model's chat template.

    Raises:
        InputError: The text holds half of a surrogate pair.
        GenerationError: Nothing to start from, ids outside the vocabulary, or no chat template.
    """
    if not isinstance(prompt, str):
        ids = [int(v) for v in prompt]
        if any(not 0 <= v < model.vocab_size for v in ids):
            raise GenerationError("audit.ids-range", vocab_size=model.vocab_size)
    elif chat:
        ids = _chat_ids(model, prompt)
    elif profile is not None and profile.chat_template is not None:
        ids = list(beginning_ids(model.tokenizer, profile, prompt))
    else:
        ids = opening_ids(model) + tokenise(model.tokenizer, prompt).ids.tolist()
    if not ids and model.bos_id is not None:
        ids = [model.bos_id]
    if not ids:
        raise GenerationError("generate.no-prompt")
    return ids


def end_ids(model: LanguageModel) -> frozenset[int]:
    """Return the tokens that end a text, by the model's settings and its tokenizer's."""
    found: set[int] = set()
    settings = getattr(model.network, "generation_config", None)
    for value in (getattr(settings, "eos_token_id", None), model.tokenizer.eos_token_id):
        if isinstance(value, int):
            found.add(value)
        elif value is not None:
            found.update(int(v) for v in value)
    return frozenset(found)


def opening_ids(model: LanguageModel) -> list[int]:
    """Return the token that opens every document of a model, where its tokenizer puts one."""
    with tokenizing():
        added: list[int] = model.tokenizer("", add_special_tokens=True)["input_ids"]
    return [model.bos_id] if model.bos_id is not None and added[:1] == [model.bos_id] else []


def _chat_ids(model: LanguageModel, prompt: str) -> list[int]:
    tokenizer: Any = model.tokenizer
    if not getattr(tokenizer, "chat_template", None):
        raise GenerationError("generate.chat", name=model.name)
    with tokenizing():
        encoded = tokenizer.apply_chat_template(
            [{"role": "user", "content": prompt}],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
        )
    return [int(v) for v in encoded["input_ids"]]
