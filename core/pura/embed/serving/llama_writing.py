"""Texts written by llama.cpp with the marker as the only sampler.

llama-cpp-python would call a processor through C, which drops whatever that raises and draws from
the model's own distribution instead. Here the model only computes logits, and the token that the
marker chooses is the next token: no setting of a request comes between them.
"""

from __future__ import annotations

import ctypes
import secrets
import threading
from collections.abc import Iterator, Sequence
from typing import Final

import llama_cpp
import numpy as np
import torch

from pura.base.errors import GenerationError
from pura.embed.serving.deployments import Deployments
from pura.embed.serving.marker import Marker
from pura.embed.serving.pieces import CertainWords, WritingRequest, WrittenPiece
from pura.embed.serving.tickets import TicketSource
from pura.model.reading import distribution

# As many next tokens as OpenAI's interface names at most, for `pura model fitness`.
MOST_LOGPROBS: Final = 20


class TextWriter:
    """Writes texts with one model, one at a time.

    Args:
        model: The loaded model.
        deployments: What it may mark with. Unmarked texts are drawn with the settings of the first.
        tickets: Where tickets are redeemed.
    """

    def __init__(
        self, model: llama_cpp.Llama, deployments: Deployments, tickets: TicketSource
    ) -> None:
        self._model = model
        self._end = model.token_eos()
        self._marker = Marker(deployments, secrets.randbits(128), tickets, end_token=self._end)
        self._profile = next(iter(deployments.named.values())).profile
        self._vocabulary = llama_cpp.llama_model_get_vocab(model.model)
        self._recurrent = llama_cpp.llama_model_is_recurrent(
            model.model
        ) or llama_cpp.llama_model_is_hybrid(model.model)
        self._turn = threading.Lock()
        self._rng = np.random.default_rng()

    def tokenise(self, text: str, *, special: bool, opening: bool) -> list[int]:
        """Return the token ids of a prompt.

        Args:
            text: The prompt.
            special: Whether it may spell control tokens, as a filled template does.
            opening: Whether the model's opening token goes in front, where it has one.
        """
        ids = self._model.tokenize(text.encode(), add_bos=opening, special=special)
        return [int(token) for token in ids]

    def refuse_long(self, prompt: Sequence[int]) -> None:
        """Refuse a prompt that leaves no room for an answer.

        Raises:
            GenerationError: It fills the context, or is empty.
        """
        room = self._model.n_ctx()
        if not prompt:
            raise GenerationError("generate.no-prompt")
        if len(prompt) >= room:
            raise GenerationError(
                "generate.long",
                longest=len(prompt),
                tokens=1,
                context_length=room,
                name="llama.cpp",
            )

    def write(self, request: WritingRequest) -> Iterator[WrittenPiece]:
        """Write a text; a reader that leaves ends it.

        Yields:
            A piece for each token.
        """
        with self._turn:
            text = None
            if request.ticket is not None:
                text = self._marker.begin(request.ticket, lambda: request.prompt)
            try:
                yield from self._write(request, text)
            finally:
                if text is not None:
                    self._marker.end(text)

    def _write(self, request: WritingRequest, text: int | None) -> Iterator[WrittenPiece]:
        words = CertainWords(request.stop)
        ids: list[int] = []
        fed = self._reuse(request.prompt)
        most = self._model.n_ctx() - len(request.prompt)
        if request.most_tokens is not None:
            most = min(most, request.most_tokens)
        while True:
            self._model.eval(fed)
            logits = self._logits()
            logprobs = self._logprobs(logits, request.logprobs) if request.logprobs else None
            token = self._next(logits, text, ids)
            ids.append(token)
            fed = [token]
            ended = not request.ignore_end and llama_cpp.llama_vocab_is_eog(self._vocabulary, token)
            spoken = words.add(b"" if ended else self._bytes(token, ids[:-1]))
            finish = "stop" if ended or words.stopped else None
            if finish is None and len(ids) >= most:
                finish = "length"
            if finish is not None:
                spoken += words.close()
            yield WrittenPiece(text=spoken, ids=(token,), finish=finish, logprobs=logprobs)
            if finish is not None:
                return

    def _reuse(self, prompt: Sequence[int]) -> list[int]:
        """Keep what the model has read of this prompt; return the tokens that it has not."""
        model, tokens = self._model, list(prompt)
        read = model.input_ids[: model.n_tokens].tolist()
        common = next(
            (i for i, (a, b) in enumerate(zip(read, tokens, strict=False)) if a != b),
            min(len(read), len(tokens)),
        )
        # The last token is read again: it predicts the first of the answer.
        common = 0 if self._recurrent else min(common, len(tokens) - 1)
        if common:
            model.n_tokens = common
        else:
            model.reset()
        return tokens[common:]

    def _logits(self) -> torch.Tensor:
        """Return the logits behind the last token; float32 [V]."""
        row = llama_cpp.llama_get_logits_ith(self._model.ctx, -1)
        address = ctypes.cast(row, ctypes.POINTER(ctypes.c_float))
        values = np.ctypeslib.as_array(address, shape=(self._model.n_vocab(),))
        return torch.from_numpy(values.copy())

    def _next(self, logits: torch.Tensor, text: int | None, ids: list[int]) -> int:
        """Return the next token: the marker's, or of an unmarked text one drawn at random.

        Raises:
            GenerationError: The logits hold no distribution.
        """
        if text is None:
            weights = distribution(
                logits.numpy(),
                temperature=self._profile.temperature,
                top_k=self._profile.top_k,
                top_p=self._profile.top_p,
            )
            return int(self._rng.choice(len(weights), p=weights / weights.sum()))
        self._marker.prepare([text])
        self._marker.agree(text, len(ids), ids[-1] if ids else None, lambda: ids)
        token = int(self._marker.mark(logits[None], [text])[0])
        if token < 0:
            raise GenerationError("model.not-finite")
        return token

    def _bytes(self, token: int, before: list[int]) -> bytes:
        # Only the words before say whether a blank opens this one.
        return bytes(self._model.detokenize([token], prev_tokens=before[-8:] or None))

    def _logprobs(self, logits: torch.Tensor, most: int) -> dict[str, float]:
        """Return the log-probabilities of the likeliest tokens, by their words."""
        likely = torch.log_softmax(logits.double(), dim=0).topk(min(most, MOST_LOGPROBS))
        named: dict[str, float] = {}
        for logprob, token in zip(likely.values.tolist(), likely.indices.tolist(), strict=True):
            words = self._bytes(token, [0]).decode("utf-8", "replace")
            named.setdefault(words, logprob)
        return named
