"""What the attacks need, from a local model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pura.base.errors import ModelError
from pura.embed.generate import opening_ids
from pura.measure.attacks.base import F64, I64, MYTHES, Paraphraser, Tools, read_mythes
from pura.model.tokenise import decode, tokenise, tokenizing
from pura.scheme import Profile

if TYPE_CHECKING:
    from pura.model.load import LanguageModel


def model_tools(
    model: LanguageModel,
    *,
    foreign: Sequence[str] = (),
    thesaurus: Path | None = None,
    dipper: Path | None = None,
    translators: Sequence[Path] = (),
    reference: LanguageModel | None = None,
) -> Tools:
    """Return the tools that a model gives.

    Args:
        model: Tokenizer, proposals and rewriting.
        foreign: Sentences by somebody else.
        thesaurus: A file of MyThes; None takes the system's, where there is one.
        dipper: Folder of DIPPER's model.
        translators: Folders of models that translate, there and back.
        reference: The other model of the smoothing attack; None takes ``model``.
    """
    tools = Tools(
        vocab_size=model.vocab_size,
        decode=lambda ids: decode(model.tokenizer, ids.tolist()),
        tokenise=lambda text: np.asarray(tokenise(model.tokenizer, text).ids),
        propose=lambda ids: logits_of(model, ids),
        foreign=tuple(foreign),
        stepper=lambda: ModelStepper(reference or model),
        writer=ModelWriter(model),
        paraphraser=None if dipper is None else Seq2Seq(dipper, top_p=0.75),
        translators=tuple(Seq2Seq(folder) for folder in translators),
    )
    path = thesaurus or MYTHES
    if thesaurus is not None or path.is_file():
        tools = replace(tools, thesaurus=lambda word: read_mythes(path).get(word, ()))
    return tools


def logits_of(model: LanguageModel, ids: I64) -> npt.NDArray[np.floating[Any]]:
    """Return float32 [L, V]; row ``t`` predicts token ``t``, the first knows nothing.

    Where the model's tokenizer opens every document with a token, it is read before the text.
    """
    import torch

    if ids.size < 2:
        return np.zeros((ids.size, model.vocab_size), dtype=np.float32)
    opening = opening_ids(model)
    before = np.array([] if ids[:1].tolist() == opening else opening, dtype=np.int64)
    fed = torch.from_numpy(np.concatenate([before, ids[:-1]]))[None].to(model.device.torch_device)
    with torch.inference_mode():
        out = model.network(input_ids=fed, use_cache=False).logits[0, before.size :]
    rows = out[:, : model.vocab_size].float().cpu().numpy()
    return np.concatenate([np.zeros((1, rows.shape[1]), dtype=rows.dtype), rows])


class ModelStepper:
    """A local model that is fed texts side by side, one token of each at a time."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._cache: Any = None

    def __call__(self, tokens: I64) -> npt.NDArray[np.floating[Any]]:
        """Take the next tokens, int64 [B], and return what they predict; float32 [B, V]."""
        import torch

        fed = tokens[:, None]
        if self._cache is None:
            opening = np.array(opening_ids(self._model), dtype=np.int64)
            fed = np.concatenate([np.tile(opening, (tokens.size, 1)), fed], axis=1)
        with torch.inference_mode():
            out = self._model.network(
                input_ids=torch.from_numpy(fed).to(self._model.device.torch_device),
                past_key_values=self._cache,
                use_cache=True,
                logits_to_keep=1,
            )
        self._cache = out.past_key_values
        rows: npt.NDArray[np.floating[Any]] = out.logits[:, -1].float().cpu().numpy()
        return rows[:, : self._model.vocab_size]

    def go_on_as(self, rows: I64) -> None:
        """Let each text go on as another one; int64 [B]."""
        import torch

        if self._cache is not None:
            self._cache.reorder_cache(torch.from_numpy(rows))


class ModelWriter:
    """A local model that rewrites.

    One without a chat template is no instruct model: it gets the request as the beginning of a
    text that it continues, and what it writes is taken up to the first empty line.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._asked = bool(getattr(model.tokenizer, "chat_template", None))

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._model.name

    def __call__(self, system: str, user: str, *, seed: int, tokens: int) -> str:
        """Answer a request; at most ``tokens`` tokens."""
        from pura.embed.generate import generate

        profile = Profile(
            payload_bits=36,
            code="tbcc",
            vocab_size=self._model.vocab_size,
            temperature=0.7,
            top_p=0.95,
        )
        start = self.request(system, user)
        room = max(1, min(tokens, self._model.context_length - len(start)))
        made = generate(self._model, start, None, None, profile, tokens=room, seed=seed)
        text = made.text.strip()
        return text if self._asked else text.partition("\n\n")[0]

    def log_likelihoods(self, system: str, user: str, answer: str) -> F64:
        """Return the log probability of each token of an answer; float64 [A], nats."""
        start = np.array(self.request(system, user), dtype=np.int64)
        ids = np.concatenate([start, tokenise(self._model.tokenizer, answer).ids])
        logits = logits_of(self._model, ids)[start.size :].astype(np.float64)
        top = logits.max(axis=1, keepdims=True)
        log_z = top[:, 0] + np.log(np.exp(logits - top).sum(axis=1))
        return np.asarray(logits[np.arange(len(logits)), ids[start.size :]] - log_z)

    def request(self, system: str, user: str) -> list[int]:
        """Return the tokens of a request, up to where the answer begins."""
        if not self._asked:
            plain = f"{system}\n\n{user}\n\nAnswer:\n"
            return [*opening_ids(self._model), *tokenise(self._model.tokenizer, plain).ids.tolist()]
        talk = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        with tokenizing():
            text = self._model.tokenizer.apply_chat_template(
                talk, tokenize=False, add_generation_prompt=True
            )
            return [int(i) for i in self._model.tokenizer.encode(text, add_special_tokens=False)]


class Seq2Seq(Paraphraser):
    """A model that makes one text of another, from its folder: DIPPER's T5, a translator.

    Args:
        folder: Model and tokenizer.
        top_p: Of nucleus sampling; 0 takes the likeliest of four beams.

    Raises:
        ModelError: The folder holds no such model.
    """

    def __init__(self, folder: Path, top_p: float = 0.0) -> None:
        from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

        safe = {"local_files_only": True, "trust_remote_code": False}
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(folder, **safe)
            self._network = AutoModelForSeq2SeqLM.from_pretrained(
                folder, use_safetensors=True, **safe
            ).eval()
        except (OSError, ValueError) as error:
            raise ModelError("attack.seq2seq", name=folder.name) from error
        self.name = folder.name
        self._how: dict[str, Any] = {"num_beams": 4}
        if top_p:
            self._how = {"do_sample": True, "top_p": top_p, "top_k": 0}

    def __call__(self, prompt: str, *, seed: int) -> str:
        """Answer a prompt."""
        import torch

        fed = self._tokenizer(prompt, return_tensors="pt")
        with torch.random.fork_rng(), torch.inference_mode():
            torch.manual_seed(seed)
            out = self._network.generate(**fed, **self._how, max_new_tokens=512)
        return str(self._tokenizer.decode(out[0], skip_special_tokens=True))
