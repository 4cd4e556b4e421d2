"""How our server of llama.cpp answers: as OpenAI's interface does, and as Ollama does.

Beside its text every answer, and every piece of one, names the ids of its tokens, which a gateway
compares with what the marker drew.
"""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar, Final
from uuid import uuid4

from pura.embed.serving.pieces import WritingRequest, WrittenPiece

_THINK_BEGINS: Final = "<think>"
_THINK_ENDS: Final = "</think>"


class ThinkingSplit:
    """Tells what a model thinks from what it answers, piece by piece.

    Args:
        begun: Whether the template has opened the thinking already.
    """

    def __init__(self, *, begun: bool) -> None:
        self._thinks = begun
        self._begun = begun
        self._held = ""

    def add(self, text: str, *, last: bool) -> tuple[str, str]:
        """Return what of a piece is thought and what is answered; half a tag waits for the rest."""
        self._held += text
        thought, answered = "", ""
        while self._held:
            tag = _THINK_ENDS if self._thinks else _THINK_BEGINS
            may_begin = self._thinks or not self._begun
            at = self._held.find(tag) if may_begin else -1
            if at < 0:
                kept = 0 if last or not may_begin else _overlap(self._held, tag)
                spoken, self._held = (
                    self._held[: len(self._held) - kept],
                    self._held[len(self._held) - kept :],
                )
            else:
                spoken, self._held = self._held[:at], self._held[at + len(tag) :]
            thought, answered = (
                (thought + spoken, answered) if self._thinks else (thought, answered + spoken)
            )
            if at < 0:
                break
            self._thinks, self._begun = not self._thinks, True
        return thought, answered


def _overlap(text: str, tag: str) -> int:
    """Return how many characters at the end of a text may be the beginning of a tag."""
    return next((n for n in range(len(tag) - 1, 0, -1) if text.endswith(tag[:n])), 0)


class TextAnswer(ABC):
    """The answers to one request.

    Args:
        model: The model's name.
        body: The request's checked fields.
        writing: What is written.
        thinks: Whether the template has opened the model's thinking.
    """

    media_type: ClassVar[str] = "text/event-stream"

    def __init__(
        self, model: str, body: Mapping[str, Any], writing: WritingRequest, *, thinks: bool
    ) -> None:
        self._model, self._body, self._writing = model, body, writing
        self._thinks = thinks
        self._begun = time.monotonic_ns()

    def whole(self, pieces: Sequence[WrittenPiece]) -> dict[str, Any]:
        """Return an answer that is not streamed."""
        return self._whole(
            WrittenPiece(
                text="".join(piece.text for piece in pieces),
                ids=tuple(token for piece in pieces for token in piece.ids),
                finish=pieces[-1].finish,
                logprobs=pieces[0].logprobs,
            )
        )

    def stream(self, pieces: Iterable[WrittenPiece]) -> Iterator[str]:
        """Yield a streamed answer."""
        count = 0
        for piece in pieces:
            count += len(piece.ids)
            yield from map(self._framed, self._pieces(piece, count))
        yield from self._closing(count)

    def _framed(self, answer: Mapping[str, Any]) -> str:
        return f"data: {json.dumps(answer)}\n\n"

    @abstractmethod
    def _whole(self, text: WrittenPiece) -> dict[str, Any]:
        """Return the answer with a whole text."""

    @abstractmethod
    def _pieces(self, piece: WrittenPiece, count: int) -> Iterator[dict[str, Any]]:
        """Yield what is sent of a piece; ``count`` tokens were written by now."""

    @abstractmethod
    def _closing(self, count: int) -> Iterator[str]:
        """Yield what is sent behind the last piece."""


class _OpenAIAnswer(TextAnswer):
    """What the two routes of OpenAI's interface have in common."""

    prefix: ClassVar[str]
    noun: ClassVar[str]

    def __init__(
        self, model: str, body: Mapping[str, Any], writing: WritingRequest, *, thinks: bool
    ) -> None:
        super().__init__(model, body, writing, thinks=thinks)
        self._id = f"{self.prefix}-{uuid4().hex}"
        self._created = int(time.time())

    def _answer(self, noun: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "id": self._id,
            "object": noun,
            "created": self._created,
            "model": self._model,
            "choices": choices,
        }

    def _usage(self, count: int) -> dict[str, int]:
        prompt = len(self._writing.prompt)
        return {
            "prompt_tokens": prompt,
            "completion_tokens": count,
            "total_tokens": prompt + count,
        }

    def _closing(self, count: int) -> Iterator[str]:
        options = self._body.get("stream_options") or {}
        if options.get("include_usage"):
            yield self._framed({**self._answer(self.noun, []), "usage": self._usage(count)})
        yield "data: [DONE]\n\n"


class CompletionAnswer(_OpenAIAnswer):
    """Answers of ``/v1/completions``."""

    prefix = "cmpl"
    noun = "text_completion"

    def _choice(self, piece: WrittenPiece) -> dict[str, Any]:
        logprobs = None if piece.logprobs is None else {"top_logprobs": [piece.logprobs]}
        return {
            "index": 0,
            "text": piece.text,
            "finish_reason": piece.finish,
            "logprobs": logprobs,
            "token_ids": list(piece.ids),
        }

    def _whole(self, text: WrittenPiece) -> dict[str, Any]:
        answer = self._answer(self.noun, [self._choice(text)])
        return {**answer, "usage": self._usage(len(text.ids))}

    def _pieces(self, piece: WrittenPiece, count: int) -> Iterator[dict[str, Any]]:
        yield self._answer(self.noun, [self._choice(piece)])


class ChatAnswer(_OpenAIAnswer):
    """Answers of ``/v1/chat/completions``; what a model thinks is a part of its text."""

    prefix = "chatcmpl"
    noun = "chat.completion.chunk"

    def _whole(self, text: WrittenPiece) -> dict[str, Any]:
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": text.text},
            "finish_reason": text.finish,
            "token_ids": list(text.ids),
        }
        return {**self._answer("chat.completion", [choice]), "usage": self._usage(len(text.ids))}

    def _pieces(self, piece: WrittenPiece, count: int) -> Iterator[dict[str, Any]]:
        role = {"role": "assistant"} if count == len(piece.ids) else {}
        choice = {
            "index": 0,
            "delta": {**role, "content": piece.text},
            "finish_reason": piece.finish,
            "token_ids": list(piece.ids),
        }
        yield self._answer(self.noun, [choice])


class _OllamaAnswer(TextAnswer):
    """What Ollama's two routes have in common: a line of JSON a piece, and one at the end."""

    media_type = "application/x-ndjson"

    def __init__(
        self, model: str, body: Mapping[str, Any], writing: WritingRequest, *, thinks: bool
    ) -> None:
        super().__init__(model, body, writing, thinks=thinks)
        # Only who asks for it gets what a model thinks apart from what it answers.
        self._split = ThinkingSplit(begun=thinks) if body.get("think") else None

    def _framed(self, answer: Mapping[str, Any]) -> str:
        return f"{json.dumps(answer)}\n"

    def _words(self, piece: WrittenPiece) -> tuple[str, str]:
        if self._split is None:
            return "", piece.text
        return self._split.add(piece.text, last=piece.finish is not None)

    def _line(self, words: dict[str, Any], ids: Sequence[int]) -> dict[str, Any]:
        return {
            "model": self._model,
            "created_at": datetime.now(UTC).isoformat(),
            **words,
            "done": False,
            "token_ids": list(ids),
        }

    def _end(self, finish: str | None, count: int) -> dict[str, Any]:
        took = time.monotonic_ns() - self._begun
        return {
            "done": True,
            "done_reason": finish or "stop",
            "total_duration": took,
            "load_duration": 0,
            "prompt_eval_count": len(self._writing.prompt),
            "prompt_eval_duration": 0,
            "eval_count": count,
            "eval_duration": took,
        }

    def _whole(self, text: WrittenPiece) -> dict[str, Any]:
        thought, answered = self._words(text)
        line = self._line(self._spoken(thought, answered), text.ids)
        return {**line, **self._end(text.finish, len(text.ids))}

    def _pieces(self, piece: WrittenPiece, count: int) -> Iterator[dict[str, Any]]:
        thought, answered = self._words(piece)
        yield self._line(self._spoken(thought, answered), piece.ids)
        if piece.finish is not None:
            yield {**self._line(self._spoken("", ""), ()), **self._end(piece.finish, count)}

    def _closing(self, count: int) -> Iterator[str]:
        return iter(())

    @abstractmethod
    def _spoken(self, thought: str, answered: str) -> dict[str, Any]:
        """Return the fields with the words of a piece."""


class OllamaGenerateAnswer(_OllamaAnswer):
    """Answers of ``/api/generate``."""

    def _spoken(self, thought: str, answered: str) -> dict[str, Any]:
        return {"response": answered, **({"thinking": thought} if thought else {})}


class OllamaChatAnswer(_OllamaAnswer):
    """Answers of ``/api/chat``."""

    def _spoken(self, thought: str, answered: str) -> dict[str, Any]:
        thinking = {"thinking": thought} if thought else {}
        return {"message": {"role": "assistant", "content": answered, **thinking}}
