"""Generate marked texts (paper, "Embedding: Context-Scheduled Latent Anchoring")."""

from __future__ import annotations

import html
import inspect
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pura.base.errors import GenerationError, ProfileError
from pura.base.progress import Checkpoint, never_cancelled, not_counted
from pura.embed.engine import MarkingEngine, Seed, StepOutcome, check_count, rngs_for
from pura.model import libraries
from pura.model.tokenise import beginning_ids, decode, tokenise, tokenizing
from pura.scheme import F64, I64, Payload, Profile, SecretKey
from pura.words.sentences import say

if TYPE_CHECKING:
    import torch

    from pura.model.load import LanguageModel

_log = logging.getLogger(__name__)


Prompt = str | Sequence[int]


def check_fit(model: LanguageModel, profile: Profile, keys: Sequence[SecretKey | None]) -> None:
    """Refuse a profile that was made for another tokenizer or key.

    The model's own fingerprint is not compared: a verifier may read with a proxy.

    Raises:
        ProfileError: Says what does not fit.
    """
    named = profile.tokenizer not in (None, model.tokenizer_fingerprint)
    if named or profile.vocab_size != model.vocab_size:
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


DEFAULT_BATCH: Final = 16


_SHOWN: Final = 60
"""Characters of a text that its short form shows."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Generated:
    """One generated text.

    Attributes:
        text: What its tokens say, byte for byte: nothing tidied, control tokens spelled out.
        ids: int64 [L], the text's token ids: no prompt, no end token.
        prompt_ids: int64 [P], what the model was given.
        entropy_bits: float64 [L], of the distribution that each token was drawn from.
        arity: int64 [L], bits that each token carries.
        ended: True when the model ended the text, False when it reached its length.
    """

    text: str
    ids: I64
    prompt_ids: I64
    entropy_bits: F64
    arity: I64
    ended: bool

    def __str__(self) -> str:
        """Return the text."""
        return self.text

    def __repr__(self) -> str:
        """Return one line, the text first."""
        short = self.text if len(self.text) <= _SHOWN else f"{self.text[:_SHOWN]}…"
        return f"<Generated {short!r}: {len(self.ids)} tokens>"

    def _repr_html_(self) -> str:
        """Show the text in a notebook, and below it how long it is."""
        count = say("card.tokens", "en", n=len(self.ids))
        return (
            f'<div style="white-space:pre-wrap">{html.escape(self.text)}</div>'
            f"<p><small>{count}</small></p>"
        )


def generate(
    model: LanguageModel,
    prompt: Prompt,
    payload: Payload | None,
    key: SecretKey | None,
    profile: Profile,
    *,
    tokens: int = 200,
    seed: int | None = None,
    ignore_eos: bool = False,
    chat: bool = False,
    progress: Callable[[int, int], None] = not_counted,
    checkpoint: Checkpoint = never_cancelled,
) -> Generated:
    """Generate one text; see :func:`generate_batch`."""
    return generate_batch(
        model,
        [prompt],
        [payload],
        key,
        profile,
        tokens=tokens,
        seed=seed,
        ignore_eos=ignore_eos,
        chat=chat,
        progress=progress,
        checkpoint=checkpoint,
    )[0]


def generate_batch(
    model: LanguageModel,
    prompts: Sequence[Prompt],
    payloads: Sequence[Payload | None],
    keys: SecretKey | Sequence[SecretKey | None] | None,
    profile: Profile,
    *,
    tokens: int = 200,
    seed: Seed = None,
    ignore_eos: bool = False,
    chat: bool = False,
    batch_size: int = DEFAULT_BATCH,
    progress: Callable[[int, int], None] = not_counted,
    checkpoint: Checkpoint = never_cancelled,
) -> list[Generated]:
    """Generate texts that carry payloads, many at a time.

    Args:
        model: The generating model.
        prompts: Texts or token ids.
        payloads: One for each prompt; None for a plain text, drawn from the same distribution.
        keys: One for all, or one for each prompt. Hazard: secrets.
        profile: The profile of all texts.
        tokens: The most tokens of a text.
        seed: Of the ordinary randomness; one for all, or a list with one for each prompt. With one
            the model computes in one thread, so that the text is the same on any number of cores;
            beside other texts, or on another build of torch or processor, rounding may make it
            another text.
        ignore_eos: False: a text ends where the model ends it, and the end token is not part of
            it. True: every text gets exactly ``tokens`` tokens; end tokens have probability zero,
            as with ``min_new_tokens`` of transformers. The verifier, who does not know, then
            reads a distribution that is off by their probability, mostly next to nothing.
        chat: Put each text prompt into the model's own chat template, and not into the profile's.
        batch_size: How many texts step together; the texts do not depend on it, except for the
            rounding of the model's own arithmetic.
        progress: Called with (tokens done, tokens in all) after every step.
        checkpoint: Called before every step; may raise :class:`~pura.base.errors.Cancelled`.

    Raises:
        ProfileError: The profile does not fit the model's tokenizer or the key.
        PayloadError: A payload does not fit the profile.
        GenerationError: Lengths that do not match, an empty prompt, or too many tokens.
    """
    libraries.prepare()
    count = len(prompts)
    keys_each = [keys] * count if keys is None or isinstance(keys, SecretKey) else list(keys)
    check_count(len(keys_each), count, "key")
    check_count(len(payloads), count, "payload")
    check_fit(model, profile, keys_each)
    starts = [prompt_ids(model, prompt, profile, chat=chat) for prompt in prompts]
    _check_lengths(model, starts, tokens, batch_size)
    rngs = rngs_for(seed, count)
    engine = MarkingEngine()
    rows = [
        engine.add(key, payload, profile, rng)
        for key, payload, rng in zip(keys_each, payloads, rngs, strict=True)
    ]
    parts = [
        _Part(model, starts[s], engine, rows[s], ignore_eos)
        for s in (slice(i, i + batch_size) for i in range(0, count, batch_size))
    ]
    _log.info("writing of %d texts of up to %d tokens begins", count, tokens)
    total = len(parts) * tokens
    out: list[Generated] = []
    with nullcontext() if seed is None else _one_thread():
        for number, part in enumerate(parts):
            for step in range(tokens):
                checkpoint()
                part.step()
                if step + 1 < tokens:
                    progress(number * tokens + step + 1, total)
                if part.finished:
                    break
            progress((number + 1) * tokens, total)
            out += part.texts()
    _log.info("%d texts were written", len(out))
    return out


@contextmanager
def _one_thread() -> Iterator[None]:
    """Add up in one order: several threads of torch share sums out, and round them differently."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class _Part:
    """Texts that share the model's passes, from prompts to results."""

    def __init__(
        self,
        model: LanguageModel,
        starts: Sequence[list[int]],
        engine: MarkingEngine,
        rows: Sequence[int],
        ignore_eos: bool,
    ) -> None:
        self._model = model
        self._starts = starts
        self._engine = engine
        self._rows = rows
        self._ends = end_ids(model)
        self._masked = sorted(self._ends) if ignore_eos else []
        self._running = [True] * len(starts)
        self._drawn: list[StepOutcome] = []
        self._lengths = [0] * len(starts)
        self._feed: Feed | None = None

    @property
    def finished(self) -> bool:
        return not any(self._running)

    def step(self) -> None:
        """Add one token to every text that still runs."""
        if self._feed is None:
            self._feed = Feed(self._model, self._starts)
        logits = self._feed.logits(self._drawn[-1].tokens if self._drawn else None)
        if self._masked:
            logits = logits.clone()
            logits[:, self._masked] = float("-inf")
        running = zip(self._rows, self._running, strict=True)
        drawn = self._engine.step(logits, [row if runs else None for row, runs in running])
        if (drawn.tokens < 0).any():
            raise GenerationError("model.not-finite")
        self._drawn.append(drawn)
        for row, token in enumerate(drawn.tokens.tolist()):
            if not self._running[row]:
                continue
            if token in self._ends:
                self._running[row] = False
            else:
                self._lengths[row] += 1

    def texts(self) -> list[Generated]:
        """Return what has been generated, and let go of the model's cache, the large thing."""
        self._feed = None
        tokens = np.stack([d.tokens for d in self._drawn], axis=1)
        entropy = np.stack([d.entropy_bits for d in self._drawn], axis=1)
        arity = np.stack([d.arity for d in self._drawn], axis=1)
        out = []
        for row, (start, length) in enumerate(zip(self._starts, self._lengths, strict=True)):
            ids = tokens[row, :length].copy()
            out.append(
                Generated(
                    ids=ids,
                    text=decode(self._model.tokenizer, ids.tolist()),
                    prompt_ids=np.array(start, dtype=np.int64),
                    entropy_bits=entropy[row, :length].copy(),
                    arity=arity[row, :length].copy(),
                    ended=not self._running[row],
                )
            )
        return out


class Feed:
    """Feeds tokens to a model and keeps its key-value cache.

    Args:
        model: The model.
        starts: Prompt ids of each row.
    """

    def __init__(self, model: LanguageModel, starts: Sequence[list[int]]) -> None:
        import torch

        longest = max(len(s) for s in starts)
        ids = torch.zeros((len(starts), longest), dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, start in enumerate(starts):
            ids[row, longest - len(start) :] = torch.tensor(start)
            mask[row, longest - len(start) :] = 1
        device = model.device.torch_device
        self._network = model.network
        self._ids = ids.to(device)
        self._mask = mask.to(device)
        # Padding is masked; its position only has to exist.
        self._positions = (self._mask.cumsum(dim=1) - 1).clamp_(min=0)
        self._cache: Any = None
        accepted = inspect.signature(model.network.forward).parameters
        self._wants_positions = "position_ids" in accepted
        self._last_only = {"logits_to_keep": 1} if "logits_to_keep" in accepted else {}

    def logits(self, tokens: I64 | None) -> torch.Tensor:
        """Feed one token a row and return the logits of the next.

        Args:
            tokens: int64 [B]; None for the first call, which feeds the prompts.

        Returns:
            float [B, V].
        """
        import torch

        if tokens is not None:
            self._ids = torch.from_numpy(tokens)[:, None].to(self._mask.device)
            self._mask = torch.cat([self._mask, self._mask.new_ones((len(tokens), 1))], dim=1)
            self._positions = self._positions[:, -1:] + 1
        positions = {"position_ids": self._positions} if self._wants_positions else {}
        with torch.inference_mode():
            output = self._network(
                input_ids=self._ids,
                attention_mask=self._mask,
                past_key_values=self._cache,
                use_cache=True,
                **positions,
                **self._last_only,
            )
            self._cache = output.past_key_values
            logits = output.logits[:, -1]
        assert isinstance(logits, torch.Tensor)
        return logits


def _check_lengths(
    model: LanguageModel, starts: Sequence[list[int]], tokens: int, batch_size: int
) -> None:
    if tokens < 1 or batch_size < 1:
        raise GenerationError("number.least", name="tokens, batch_size", least=1)
    longest = max((len(s) for s in starts), default=0)
    if longest + tokens > model.context_length:
        raise GenerationError(
            "generate.long",
            longest=longest,
            tokens=tokens,
            context_length=model.context_length,
            name=model.name,
        )
