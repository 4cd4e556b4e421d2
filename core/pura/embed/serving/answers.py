"""Answers of an engine on their way to a client: compared with what was drawn, and then delivered.

A piece of an answer leaves only when the engine has said which tokens it consists of and the
adapter has reported that it drew exactly these. What an engine adds besides, such as words of the
client's own, has no tokens that were drawn and does not leave. Where the policy says so, the text
is signed when it has ended, with a manifest that is the end of its last piece or a file beside it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from pura.base.errors import PuraError
from pura.embed.serving.manifests import Signer
from pura.embed.serving.requests import AnswerForm, RequestRefusedError
from pura.embed.serving.tickets import Ticket, TicketState

MANIFEST_HEADER: Final = b"x-pura-manifest"

_JSON: Final = b"application/json"
_EVENTS: Final = b"text/event-stream"
_LINES: Final = b"application/x-ndjson"
_DONE: Final = b"[DONE]"
# Larger than any piece of an answer; an engine that sends more at once is not one of ours.
_MAX_PIECE: Final = 1 << 26
# Where engines say which tokens a piece consists of; for the gateway, not for the client.
_TOKEN_IDS: Final = "token_ids"  # noqa: S105
_OK: Final = 200

# What of an answer is handed over: known fields, as of a request.
_ANSWER: Final = (
    *("id", "object", "created", "model", "choices", "usage", "system_fingerprint"),
    *("created_at", "done", "done_reason", "response", "thinking", "message"),
    *("total_duration", "load_duration", "prompt_eval_count", "prompt_eval_duration"),
    *("eval_count", "eval_duration"),
)
_CHOICE: Final = ("index", "text", "delta", "message", "finish_reason", "stop_reason")
# What holds words; in a message beside "role".
_SPEAKING: Final = ("content", "reasoning", "reasoning_content", "thinking", "tool_calls")
_MESSAGE: Final = ("role", *_SPEAKING)
_ERROR: Final = ("message", "type", "code", "param")
# Where Ollama's routes lie, whose errors are a text alone.
_OLLAMA_PATHS: Final = "/api/"

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]

_log = logging.getLogger(__name__)


class Outcome(StrEnum):
    """How an answer ended."""

    DELIVERED = "delivered"
    """All of it was handed over."""
    ABORTED = "aborted"
    """It ended early: the client left, the engine failed, or this process was told to end."""
    WITHHELD = "withheld"
    """It held tokens that the adapter did not draw, or could not be signed."""


class Splitter:
    """Cuts the bytes of a streamed answer into its pieces, wherever they were cut on their way.

    Args:
        lines: Whether a piece is a line (Ollama); else it is an event of ``text/event-stream``.
    """

    def __init__(self, *, lines: bool) -> None:
        self._lines = lines
        self._bytes = b""
        self._data: list[bytes] = []

    def feed(self, part: bytes) -> list[bytes]:
        """Return the contents of the pieces that end in a part.

        Raises:
            ValueError: A piece is too long.
        """
        self._bytes += part
        if len(self._bytes) + sum(map(len, self._data)) > _MAX_PIECE:
            raise ValueError("a piece of an answer is too long")
        # A carriage return at the very end may be the first half of a line's end.
        held = self._bytes.endswith(b"\r")
        text = self._bytes[: len(self._bytes) - held]
        *lines, rest = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._bytes = rest + b"\r" * held
        return [piece for line in lines for piece in self._line(line)]

    def close(self) -> list[bytes]:
        """Return what stands behind the last whole piece."""
        pieces = self.feed(b"\n\n")
        self._bytes, self._data = b"", []
        return pieces

    def _line(self, line: bytes) -> list[bytes]:
        """Return the piece that a line ends, if it ends one."""
        if self._lines:
            return [line] if line.strip() else []
        if not line:
            content, self._data = b"\n".join(self._data), []
            return [content] if content else []
        name, _, value = line.partition(b":")
        if name == b"data":  # comments and other fields of an event say nothing
            self._data.append(value.removeprefix(b" "))
        return []


@dataclass(frozen=True, kw_only=True)
class _Part:
    """One text of an answer, or of a piece of one, in the answer's own objects.

    Attributes:
        choice: What names the tokens and says whether the text ends.
        holder: What holds the words: the choice itself, or its message.
        text: The name in the holder under which the text stands; the rest, such as what a model
            thinks, is not signed.
    """

    choice: dict[str, Any]
    holder: dict[str, Any]
    text: str

    @property
    def speaks(self) -> bool:
        """Whether there are words."""
        return any(self.holder.get(name) for name in (self.text, *_SPEAKING))

    @property
    def ends(self) -> bool:
        """Whether the text ends here."""
        return bool(self.choice.get("finish_reason") or self.choice.get("done"))


def _rebuilt(answer: Any, form: AnswerForm) -> tuple[dict[str, Any], list[_Part], list[int]]:
    """Return an answer of known fields, its texts, and the tokens that the engine names.

    Raises:
        ValueError, KeyError, TypeError, AttributeError: It is no answer of this form.
    """
    kept = {name: answer[name] for name in _ANSWER if name in answer}
    if form is AnswerForm.OLLAMA_GENERATE:
        part = _Part(choice=kept, holder=kept, text="response")
        return kept, [part], _ids(answer)
    if form is AnswerForm.OLLAMA_CHAT:
        kept["message"] = {n: v for n, v in answer["message"].items() if n in _MESSAGE}
        part = _Part(choice=kept, holder=kept["message"], text="content")
        return kept, [part], _ids(answer)
    parts, ids = [], []
    for choice in answer.get("choices") or ():
        own = {name: choice[name] for name in _CHOICE if name in choice}
        holder, text = own, "text"
        for name in ("message", "delta"):
            if name in own:
                own[name] = {n: v for n, v in own[name].items() if n in _MESSAGE}
                holder, text = own[name], "content"
        parts.append(_Part(choice=own, holder=holder, text=text))
        ids += _ids(choice)
    kept["choices"] = [part.choice for part in parts]
    return kept, parts, ids


def _ids(choice: Mapping[str, Any]) -> list[int]:
    return [int(token) for token in choice.get(_TOKEN_IDS) or ()]


class AnswerDelivery:
    """Takes the messages of an ASGI application and hands an answer over piece by piece.

    Args:
        send: What takes the messages.
        form: How the route answers.
        ticket: The ticket of the request.
        signer: Signs the text; None: it is not signed.
        name: What the answer is named; None: as the engine names it.

    Attributes:
        outcome: How the answer ended; aborted as long as it has not.
    """

    def __init__(
        self,
        send: Send,
        form: AnswerForm,
        ticket: Ticket,
        signer: Signer | None,
        name: str | None = None,
    ) -> None:
        self.outcome = Outcome.ABORTED
        self._send, self._form, self._ticket, self._signer = send, form, ticket, signer
        self._name = name
        self._start: Message = {}
        self._started = self._closed = self._text_ended = self._failed = False
        self._take: Callable[[bytes, bool], Awaitable[None]] = self._take_whole
        self._splitter = Splitter(lines=form.streams_lines)
        self._whole = b""
        self._held: list[bytes] = []  # pieces before the first token

    @property
    def left(self) -> int:
        """How many tokens of the text were handed over."""
        return self._ticket.confirmed if self._started else 0

    async def __call__(self, message: Message) -> None:
        """Take one message of the application."""
        if self._closed:
            return
        try:
            if message["type"] == "http.response.start":
                await self._begin(message)
            elif message["type"] == "http.response.body":
                await self._take(message.get("body", b""), bool(message.get("more_body")))
        except PuraError as error:
            await self._withhold(error)
        except (ValueError, KeyError, TypeError, AttributeError):
            _log.error("an answer of the engine is not understood")
            await self._withhold(RequestRefusedError("gateway.answer", status=502))

    async def _begin(self, message: Message) -> None:
        """Choose how the body is taken."""
        headers = {name.lower(): value for name, value in message["headers"]}
        kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        self._start = message
        if message["status"] != _OK:
            self._take = self._pass_error
            await self._send(message)
        elif kind in (_EVENTS, _LINES) and (kind == _LINES) is self._form.streams_lines:
            self._take = self._take_stream
        elif kind != _JSON:
            raise RequestRefusedError("gateway.answer", status=502)

    async def _pass_error(self, part: bytes, more: bool) -> None:
        """Hand over why the engine refused; that holds no text of the model."""
        await self._send({"type": "http.response.body", "body": part, "more_body": more})
        self._closed = not more

    async def _take_whole(self, part: bytes, more: bool) -> None:
        self._whole += part
        if len(self._whole) > _MAX_PIECE:
            raise ValueError("an answer is too long")
        if more:
            return
        answer = await self._checked(json.loads(self._whole), whole=True)
        content = json.dumps(answer, ensure_ascii=False).encode()
        headers = [pair for pair in self._start["headers"] if pair[0].lower() != b"content-length"]
        await self._send_start([*headers, (b"content-length", b"%d" % len(content))])
        await self._finish(content)

    async def _take_stream(self, part: bytes, more: bool) -> None:
        pieces = self._splitter.feed(part)
        for piece in pieces if more else [*pieces, *self._splitter.close()]:
            await self._deliver(piece)
        if more:
            return
        if not self._started:
            raise self._refusal()
        await self._finish(b"")

    async def _deliver(self, piece: bytes) -> None:
        """Hand over a piece of a stream; before the first token it waits."""
        if piece.strip() == _DONE:
            self._held.append(b"data: [DONE]\n\n")
        else:
            answer = json.loads(piece)
            if "error" in answer:
                self._failed = True
                stated = answer["error"]
                if not isinstance(stated, str):  # as Ollama has it
                    stated = {n: v for n, v in stated.items() if n in _ERROR}
                answer = {"error": stated}
            else:
                answer = await self._checked(answer, whole=False)
            self._held.append(self._written(answer))
        if not self._ticket.confirmed and not self._failed:
            return
        if not self._started:
            await self._send_start(list(self._start["headers"]))
        body, self._held = b"".join(self._held), []
        await self._send({"type": "http.response.body", "body": body, "more_body": True})

    async def _checked(self, answer: Any, *, whole: bool) -> dict[str, Any]:
        """Return an answer, or a piece of one, that holds nothing but what was drawn.

        Raises:
            PuraError: Something was not drawn, or the text cannot be signed.
        """
        kept, parts, ids = _rebuilt(answer, self._form)
        if self._name is not None and "id" in kept:
            kept["id"] = self._name
        if len(parts) > 1 or any(part.choice.get("index", 0) for part in parts):
            raise self._refusal()
        if ids and not await self._ticket.confirm(ids):
            raise self._refusal()
        for part in parts:
            unnamed = not ids and (whole or part.speaks)
            if unnamed or (self._text_ended and part.speaks):
                raise self._refusal()
            self._text_ended = whole or part.ends
            if self._signer is not None:
                text = part.holder.get(part.text)
                signed = await self._signer.piece(text, last=self._text_ended)
                if signed is not None:
                    part.holder[part.text] = signed
        return kept

    async def _send_start(self, headers: list[tuple[bytes, bytes]]) -> None:
        if self._signer is not None:
            headers.append((MANIFEST_HEADER, self._signer.manifest.encode()))
        self._started = True
        await self._send({**self._start, "headers": headers})

    async def _finish(self, body: bytes) -> None:
        await self._send({"type": "http.response.body", "body": body})
        self.outcome = Outcome.ABORTED if self._failed else Outcome.DELIVERED
        self._closed = True

    async def _withhold(self, error: PuraError) -> None:
        """Say that the answer, or the rest of one, is not handed over."""
        _log.error("an answer is withheld: %s", error.code)
        self.outcome, self._closed = Outcome.WITHHELD, True
        if self._started:  # the client has the beginning already
            body = self._written(error_body(error, plain=self._form.streams_lines))
            await self._send({"type": "http.response.body", "body": body})
        else:
            await send_error(self._send, error, plain=self._form.streams_lines)

    def _written(self, answer: dict[str, Any]) -> bytes:
        content = json.dumps(answer, ensure_ascii=False).encode()
        if self._form.streams_lines:
            return content + b"\n"
        return b"data: " + content + b"\n\n"

    def _refusal(self) -> PuraError:
        """Return why no mark was drawn, or that the answer holds what the marker did not draw."""
        refusal = self._ticket.refusal
        if self._ticket.state is TicketState.REFUSED and refusal is not None:
            return refusal
        return RequestRefusedError("gateway.undrawn", status=502, code="not-drawn")


def error_body(error: PuraError, *, plain: bool) -> dict[str, Any]:
    """Return an error as an interface has it.

    Args:
        error: The error.
        plain: As Ollama's interface has it, a text alone; else as OpenAI's.
    """
    if plain:
        return {"error": str(error)}
    return {"error": {"message": str(error), "type": "pura", "code": error.code}}


def answers_plainly(path: str) -> bool:
    """Whether the errors of a path are a text alone, as in Ollama's interface."""
    return path.startswith(_OLLAMA_PATHS)


def status_of(error: PuraError) -> int:
    """Return HTTP's number for an error of the gateway's."""
    return error.status if isinstance(error, RequestRefusedError) else 500


async def send_error(send: Send, error: PuraError, *, plain: bool) -> None:
    """Answer with an error in place of the engine; see :func:`error_body`."""
    body = json.dumps(error_body(error, plain=plain), ensure_ascii=False).encode()
    headers = [(b"content-type", _JSON), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status_of(error), "headers": headers})
    await send({"type": "http.response.body", "body": body})
