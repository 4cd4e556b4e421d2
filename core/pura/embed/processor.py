"""A logits processor that marks what ``generate()`` of transformers writes.

It has the last word: it applies the profile's own temperature, top-k and top-p, chooses the token
and leaves nothing else standing, so sampling and greedy search give the same text. Settings of the
call that would have no effect on that are refused. serving.md shows how to plug it in.

This module imports torch and transformers as the serving stack has set them up; it touches no
switch of theirs.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any, Final, NoReturn

import numpy as np
import torch
from transformers import LogitNormalization, LogitsProcessor, LogitsProcessorList
from transformers.generation.configuration_utils import BaseWatermarkingConfig

from pura.base.catalogue import Phrase, phrase
from pura.base.errors import GenerationError
from pura.embed.engine import MarkingEngine, Seed, check_count, rngs_for
from pura.embed.generate import check_keys
from pura.scheme import Payload, Profile, SecretKey, encode

_BEAMS: Final = phrase("decoding.beams")
_ASSISTED: Final = phrase("decoding.assisted")
_CONTRASTIVE: Final = phrase("decoding.contrastive")
_LAYERS: Final = phrase("decoding.layers")
_MIXED: Final = phrase("decoding.mixed")
# They keep a text from ending too soon, end it, or change no probability.
_NEUTRAL: Final = (
    "ForcedEOSTokenLogitsProcessor",
    "InfNanRemoveLogitsProcessor",
    "LogitNormalization",
    "MinLengthLogitsProcessor",
    "MinNewTokensLengthLogitsProcessor",
)
# What the library draws with, by its warper: the profile's setting, and the value that is off.
_SAMPLING: Final = {
    "TemperatureLogitsWarper": ("temperature", 1.0),
    "TopKLogitsWarper": ("top_k", 0),
    "TopPLogitsWarper": ("top_p", 1.0),
}
_NORMALISED: Final = 1e-4  # |log Σ exp(scores)|: beam search hands over log-probabilities


class PuraLogitsProcessor(LogitsProcessor):
    """Marks one call of ``model.generate(…, logits_processor=[processor])``.

    Rows may be padded on the left. Every row keeps its own history. Make a new one for each call.

    Args:
        key: The secret key; one for all rows, or one a row. Hazard: held until it is dropped.
        payload: One for all rows, or one a row; None leaves a row unmarked.
        profile: The profile that the verifier will use.
        seed: Of the ordinary randomness; None takes the operating system's. A list: one a row.
        eos_token_id: The tokens that end a row, as in the generation config. Needed for batches,
            where ended rows are filled up with padding.
        generation_config: Checked with :func:`check_generation_config`; gives ``eos_token_id``.

    Raises:
        PayloadError: A payload does not fit the profile.
        ProfileError: The profile names another key.
        GenerationError: The generation config asks for a decoding that cannot carry a mark.
    """

    def __init__(
        self,
        key: SecretKey | Sequence[SecretKey | None],
        payload: Payload | Sequence[Payload | None],
        profile: Profile,
        *,
        seed: Seed = None,
        eos_token_id: int | Sequence[int] | None = None,
        generation_config: Any = None,
    ) -> None:
        for one in [payload] if isinstance(payload, Payload) else payload:
            if one is not None:
                encode(one, profile)
        check_keys(profile, [key] if isinstance(key, SecretKey) else key)
        if generation_config is not None:
            check_generation_config(generation_config)
            if eos_token_id is None:
                eos_token_id = generation_config.eos_token_id
        self._key = key
        self._payload = payload
        self._profile = self._sampling = profile
        self._seed = seed
        if eos_token_id is None:
            self._ends: frozenset[int] = frozenset()
        else:
            ends = [eos_token_id] if isinstance(eos_token_id, int) else eos_token_id
            self._ends = frozenset(int(v) for v in ends)
        self._engine = MarkingEngine()
        self._rows: list[int | None] = []  # None: the row has ended
        self._seen: torch.Tensor | None = None
        self._chosen: np.ndarray[Any, np.dtype[np.int64]] | None = None
        self._prompt: list[int] | None = None  # of the one row, where drafts are verified

    @property
    def supports_continuous_batching(self) -> bool:  # type: ignore[override]
        """Refuse it: a batch of ``generate_batch()`` does not say whose line is whose.

        The library would leave the processor out, with no more than a warning.
        """
        _refuse(phrase("decoding.continuous"))

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Choose the next token of every row.

        Args:
            input_ids: int64 [B, P + t], prompts and what has been generated.
            scores: float [B, V], the model's logits.

        Returns:
            float [B, V]: 0 for the chosen token, -inf for all others.

        Raises:
            GenerationError: The rows do not go on from where this processor left them, or another
                processor beside it changes the distribution.
        """
        if not self._rows:
            if _looks_like_beams(input_ids, scores):
                _refuse(_BEAMS)
            here = inspect.currentframe()
            caller = None if here is None else here.f_back
            beside = None if caller is None else caller.f_locals.get("self")
            self._sampling = _sampling_left(self, beside, self._profile)
            self._rows = self._begin(input_ids, scores)
            if _drafts(caller):
                self._prompt = input_ids[0].tolist()
        if self._prompt is not None:
            return self._behind_drafts(self._prompt, input_ids, scores)
        if self._chosen is not None:
            self._check_step(input_ids)
            self._retire(input_ids[:, -1])
        drawn = self._engine.step(scores, self._rows)
        if (drawn.tokens < 0).any():
            raise GenerationError("model.not-finite")
        self._seen = input_ids.clone()
        self._chosen = drawn.tokens
        out = torch.full_like(scores, float("-inf"))
        chosen = torch.from_numpy(drawn.tokens).to(scores.device)
        return out.scatter_(1, chosen[:, None], 0.0)

    def _behind_drafts(
        self, prompt: list[int], input_ids: torch.Tensor, scores: torch.Tensor
    ) -> torch.Tensor:
        """Choose one token of assisted decoding, which calls for each position of a draft.

        It calls for a position again when the one in front of it has been settled, and also for
        the draft model's own logits: these draw at the same point, so that they often agree.

        Raises:
            GenerationError: The tokens do not go on from the prompt, as those of a draft model
                with another tokenizer.
        """
        row = self._rows[0]
        written = input_ids[0].tolist()
        if row is None or input_ids.shape[0] != 1 or written[: len(prompt)] != prompt:
            _refuse(_ASSISTED)
        del written[: len(prompt)]
        if scores.shape[-1] < self._profile.vocab_size:
            _refuse(_ASSISTED)
        allowed = scores[torch.isfinite(scores)]
        if len(allowed) > 1 and bool((allowed == allowed[0]).all()):
            return scores  # no model's: prompt lookup asks which tokens are forbidden
        own = self._engine.tokens(row)
        if list(own[: len(written)]) != written:
            # Not what was chosen in front of it, so this position is going to be thrown away.
            return scores
        self._engine.rewind(row, len(written))
        token = int(self._engine.step(scores, [row]).tokens[0])
        if token < 0:
            raise GenerationError("model.not-finite")
        out = torch.full_like(scores, float("-inf"))
        out[0, token] = 0.0
        return out

    def __deepcopy__(self, memo: dict[int, Any]) -> NoReturn:
        """Refuse: a copy would keep a history of its own, and copies the key."""
        raise GenerationError("processor.copied")

    def __repr__(self) -> str:
        return f"<PuraLogitsProcessor of profile {self._profile.fingerprint}>"

    def _begin(self, input_ids: torch.Tensor, scores: torch.Tensor) -> list[int | None]:
        rows = input_ids.shape[0]
        keys = [self._key] * rows if isinstance(self._key, SecretKey) else list(self._key)
        payloads = (
            [self._payload] * rows if isinstance(self._payload, Payload) else list(self._payload)
        )
        check_count(len(keys), rows, "key")
        check_count(len(payloads), rows, "payload")
        if scores.shape[-1] < self._profile.vocab_size:
            raise GenerationError("generate.logits", logits=scores.shape[-1])
        rngs = rngs_for(self._seed, rows)
        return [
            self._engine.add(key, payload, self._sampling, rng)
            for key, payload, rng in zip(keys, payloads, rngs, strict=True)
        ]

    def _check_step(self, input_ids: torch.Tensor) -> None:
        assert self._seen is not None
        rows, length = self._seen.shape
        if input_ids.shape[0] != rows:
            _refuse(_BEAMS)
        if input_ids.shape[1] != length + 1:
            raise GenerationError("processor.grown")
        if not torch.equal(input_ids[:, :-1], self._seen):
            _refuse(phrase("decoding.beams-contrastive"))

    def _retire(self, last: torch.Tensor) -> None:
        """Stop marking rows that have ended; refuse tokens that this processor did not choose."""
        assert self._chosen is not None
        for row, (got, wanted) in enumerate(zip(last.tolist(), self._chosen.tolist(), strict=True)):
            number = self._rows[row]
            if number is None:
                continue
            if got != wanted:
                self._refuse_token()
            if got in self._ends:
                self._engine.remove(number)
                self._rows[row] = None

    def _refuse_token(self) -> NoReturn:
        if not self._ends:
            raise GenerationError("processor.grown")
        _refuse(phrase("decoding.beams-assisted"))


class PuraWatermarkingConfig(BaseWatermarkingConfig):
    """What ``generate(watermarking_config=…)`` takes; serves any number of calls.

    With ``do_sample=True`` the library applies temperature, top-k and top-p of the generation
    config first, so these must be the profile's; else the call is refused.

    Args:
        key: As for :class:`PuraLogitsProcessor`. Hazard: held until the config is dropped.
        payload: As there.
        profile: As there.
        seed: As there.
        eos_token_id: As there.
    """

    def __init__(
        self,
        key: SecretKey | Sequence[SecretKey | None],
        payload: Payload | Sequence[Payload | None],
        profile: Profile,
        *,
        seed: Seed = None,
        eos_token_id: int | Sequence[int] | None = None,
    ) -> None:
        def begun() -> PuraLogitsProcessor:
            return PuraLogitsProcessor(key, payload, profile, seed=seed, eos_token_id=eos_token_id)

        begun()  # refuses at once what does not fit together
        self._begun = begun
        self._profile = profile

    def to_dict(self) -> dict[str, Any]:
        """Return what may be written down: the fingerprint of the profile, never the key."""
        return {"watermark": "pura", "profile": self._profile.fingerprint}

    def to_json_string(self) -> str:
        """Return :meth:`to_dict` as JSON."""
        return json.dumps(self.to_dict())

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return iter(self.to_dict().items())

    def __deepcopy__(self, memo: dict[int, Any]) -> PuraWatermarkingConfig:
        """Return itself: the library copies its settings for each call, and a key is not copied."""
        return self

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled with the key."""
        raise GenerationError("processor.copied")

    def validate(self) -> None:
        """Nothing is left to check: it was when this was made."""

    def construct_processor(self, vocab_size: int, device: Any = None) -> LogitsProcessor:
        """Return a processor for one call; a draft model is marked by that of the call it is in."""
        return LogitNormalization() if _drafts(inspect.currentframe()) else self._begun()


def check_generation_config(config: Any) -> None:
    """Refuse a decoding that cannot carry a mark, before it begins.

    Args:
        config: A ``GenerationConfig`` of transformers.

    Raises:
        GenerationError: Names the decoding.
    """

    def value(name: str) -> Any:
        return getattr(config, name, None)

    if (value("num_beams") or 1) > 1 or value("constraints") or value("force_words_ids"):
        _refuse(_BEAMS)
    if (value("penalty_alpha") or 0) > 0:
        _refuse(_CONTRASTIVE)
    if value("dola_layers") is not None:
        _refuse(_LAYERS)
    if value("watermarking_config") is not None:
        _refuse(_MIXED)


def _sampling_left(own: PuraLogitsProcessor, called_by: object, profile: Profile) -> Profile:
    """Return the profile with the temperature and truncation that scores have not had yet.

    transformers puts the processors of its own settings (``repetition_penalty`` …) before the
    caller's, and temperature, top-k and their like after these, where one token is left standing;
    but before the processor of a ``watermarking_config``. They are compared in either place, and
    where one of them stands also those that are off: whoever sets one expects it to count. With
    ``do_sample=False`` none of them is there.

    Args:
        own: The processor that marks.
        called_by: What calls it; its list tells, where it is one of transformers.
        profile: What the verifier will use.

    Raises:
        GenerationError: One beside it changes the distribution as the profile does not, or what
            was chosen from it.
    """
    if not isinstance(called_by, LogitsProcessorList):
        return profile
    after, before, drawn = False, False, {}
    for one in called_by:
        name = type(one).__name__
        if one is own:
            after = True
        elif name in _SAMPLING:
            setting, _ = _SAMPLING[name]
            drawn[setting] = getattr(one, setting)
            before = before or not after
        elif name not in _NEUTRAL:
            raise GenerationError("processor.beside", name=name)
    if not drawn:
        return profile
    for setting, default in _SAMPLING.values():
        _compare(profile, setting, drawn.get(setting, default))
    if not before:
        return profile
    return profile.with_(**{n: default for n, default in _SAMPLING.values() if n in drawn})


def _compare(profile: Profile, setting: str, value: float) -> None:
    """Refuse a setting of a call that is not the profile's.

    Raises:
        GenerationError: Names both.
    """
    wanted = getattr(profile, setting)
    if value != wanted:
        raise GenerationError(
            "processor.sampling", name=setting, got=str(value), wanted=str(wanted)
        )


def _drafts(frame: FrameType | None) -> bool:
    """Whether a call comes from the library's assisted decoding, its draft model included."""
    while frame is not None:
        if frame.f_code.co_name == "_assisted_decoding":
            return True
        frame = frame.f_back
    return False


def _looks_like_beams(input_ids: torch.Tensor, scores: torch.Tensor) -> bool:
    """Tell beam search by its first step: rows in equal groups, scores already normalised."""
    if input_ids.shape[0] < 2 or not torch.equal(input_ids[0], input_ids[1]):
        return False
    return bool((scores.double().logsumexp(dim=-1).abs() < _NORMALISED).all())


def _refuse(what: Phrase) -> NoReturn:
    raise GenerationError("processor.breaks", what=what)
