"""The server of llama.cpp: OpenAI's routes and Ollama's, over one model that writes for the marker.

What a request may hold stands in :mod:`pura.embed.serving.routes.llama_cpp`, also where no gateway
is in front.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from typing import Any, Final

import llama_cpp
from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from llama_cpp.llama_chat_format import Jinja2ChatFormatter

from pura.base.errors import GenerationError, PuraError
from pura.base.json_text import read_json
from pura.embed.serving.answers import answers_plainly, error_body, status_of
from pura.embed.serving.llama_answers import (
    ChatAnswer,
    CompletionAnswer,
    OllamaChatAnswer,
    OllamaGenerateAnswer,
    TextAnswer,
)
from pura.embed.serving.llama_writing import MOST_LOGPROBS, TextWriter
from pura.embed.serving.ollama import OllamaModel
from pura.embed.serving.pieces import WritingRequest
from pura.embed.serving.requests import (
    Reason,
    RequestRefusedError,
    Route,
    rebuild,
    refused,
)
from pura.embed.serving.routes.forms import TOKENS
from pura.embed.serving.routes.llama_cpp import OWN_FIELD, ROUTES
from pura.embed.serving.tickets import TICKET, ticket_in
from pura.version import __version__

_TEMPLATE: Final = "tokenizer.chat_template"
# A template that ends so has opened the model's thinking.
_THINK_BEGINS: Final = "<think>"
# What OpenAI's interface takes where a request to complete a text names no number.
_USUAL_TOKENS: Final = 16

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class ServedModel:
    """The model as clients see it.

    Attributes:
        name: Under which requests ask for it.
        model: The loaded model.
        ollama: Its entry in Ollama's store; None for a file.
    """

    name: str
    model: llama_cpp.Llama
    ollama: OllamaModel | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """All names under which requests may ask for it."""
        return (self.name, self.name.removesuffix(":latest"))


Draft = Callable[[Mapping[str, Any]], WritingRequest]
"""Reads what is written from a request's checked fields."""


class LlamaServer:
    """Answers requests of one model.

    Args:
        served: The model.
        writer: Writes its texts.
        required: Refuse a request that brings no ticket.
    """

    def __init__(self, served: ServedModel, writer: TextWriter, *, required: bool) -> None:
        self._served, self._writer, self._required = served, writer, required
        model = served.model
        self._formatter: Jinja2ChatFormatter | None = None
        if _TEMPLATE in model.metadata:
            self._formatter = Jinja2ChatFormatter(
                template=model.metadata[_TEMPLATE],
                eos_token=_words_of(model, model.token_eos()),
                bos_token=_words_of(model, model.token_bos()),
            )

    def application(self) -> FastAPI:
        """Return the server."""
        app = FastAPI(title="PURA in llama.cpp", docs_url=None, redoc_url=None, openapi_url=None)
        app.add_api_route("/health", lambda: {"status": "ok"})
        app.add_api_route("/", lambda: PlainTextResponse("Ollama is running"))
        app.add_api_route("/v1/models", self._models)
        app.add_api_route("/api/version", lambda: {"version": __version__})
        app.add_api_route("/api/tags", self._tags)
        app.add_api_route("/api/ps", self._tags)
        app.add_api_route("/api/show", self._show, methods=["POST"])
        answers: dict[str, tuple[Draft, type[TextAnswer]]] = {
            "/v1/completions": (self._of_prompt, CompletionAnswer),
            "/v1/chat/completions": (self._of_chat, ChatAnswer),
            "/api/generate": (self._of_generate, OllamaGenerateAnswer),
            "/api/chat": (self._of_ollama_chat, OllamaChatAnswer),
        }
        for route in ROUTES.routes:
            if route.answer is not None:
                handler = self._handler(route, *answers[route.path])
                app.add_api_route(route.path, handler, methods=["POST"])
        app.add_exception_handler(PuraError, _answer_error)
        return app

    def _handler(self, route: Route, draft: Draft, answer: type[TextAnswer]) -> Any:
        """Return the function of a route that writes a text."""

        async def handle(request: Request) -> Response:
            body, ticket, logprobs = await self._read(request, route)
            writing = draft({**body, TICKET: ticket, "logprobs": logprobs})
            self._writer.refuse_long(writing.prompt)
            made = answer(self._served.name, body, writing, thinks=self._thinks(writing))
            stream = bool(body.get("stream", route.streams))
            if not stream:
                pieces = await run_in_threadpool(lambda: list(self._writer.write(writing)))
                return JSONResponse(made.whole(pieces))
            # The first piece is written before anything is answered: what fails is an error then.
            writes = self._writer.write(writing)
            first = await run_in_threadpool(next, writes)
            return StreamingResponse(
                made.stream(chain([first], writes)), media_type=made.media_type
            )

        return handle

    async def _read(self, request: Request, route: Route) -> tuple[dict[str, Any], str | None, int]:
        """Return the checked fields of a request, its ticket, and how many tokens it wants named.

        Raises:
            PuraError: A field is not accepted, or there is no ticket though one is required.
        """
        try:
            body = read_json(await request.body())
            own = body.pop(OWN_FIELD, None)
            ticket = ticket_in(own)
        except (ValueError, AttributeError, TypeError):
            raise RequestRefusedError("gateway.no-object") from None
        if ticket is None and self._required:
            raise RequestRefusedError("serving.no-ticket", name=TICKET)
        # Without a ticket the operator asks, for instance to compare this engine with a model.
        logprobs = body.pop("logprobs", None) if ticket is None else None
        checked = rebuild(route, body, self._served.names, 0).body
        return checked, ticket, _count(logprobs)

    def _thinks(self, writing: WritingRequest) -> bool:
        """Whether the template has opened the model's thinking at the end of the prompt."""
        end = self._served.model.detokenize(list(writing.prompt[-8:]), special=True)
        return bool(end.decode("utf-8", "replace").rstrip().endswith(_THINK_BEGINS))

    def _models(self) -> dict[str, Any]:
        entry = {"id": self._served.name, "object": "model", "owned_by": "llama.cpp"}
        return {"object": "list", "data": [entry]}

    def _tags(self) -> dict[str, Any]:
        return {"models": [self._tag()]}

    def _tag(self) -> dict[str, Any]:
        """Return the model as Ollama lists it."""
        metadata, ollama = self._served.model.metadata, self._served.ollama
        family = metadata.get("general.architecture", "")
        modified = datetime.fromtimestamp(0 if ollama is None else ollama.modified, UTC)
        return {
            "name": self._served.name,
            "model": self._served.name,
            "modified_at": modified.isoformat(),
            "size": 0 if ollama is None else ollama.size,
            "digest": "" if ollama is None else ollama.digest,
            "details": {
                "parent_model": "",
                "format": "gguf",
                "family": family,
                "families": [family],
                "parameter_size": metadata.get("general.size_label", ""),
                "quantization_level": metadata.get("general.file_type", ""),
            },
        }

    async def _show(self, request: Request) -> dict[str, Any]:
        try:
            body = read_json(await request.body())
        except ValueError:
            raise RequestRefusedError("gateway.no-object") from None
        named = body.get("model", body.get("name")) if isinstance(body, dict) else None
        if named not in self._served.names:
            raise RequestRefusedError("gateway.model", status=404, code="unknown-model")
        metadata = self._served.model.metadata
        kept = {name: value for name, value in metadata.items() if not name.startswith("tokenizer")}
        return {
            "modelfile": "",
            "parameters": "",
            "template": metadata.get(_TEMPLATE, ""),
            "details": self._tag()["details"],
            "model_info": kept,
            "capabilities": ["completion"],
        }

    def _of_prompt(self, body: Mapping[str, Any]) -> WritingRequest:
        prompt = body["prompt"]
        if isinstance(prompt, str):
            prompt = self._writer.tokenise(prompt, special=False, opening=True)
        elif any(token >= self._served.model.n_vocab() for token in prompt):
            raise refused("prompt", Reason.UNSUPPORTED.phrase)
        return self._writing(body, prompt, most=body.get("max_tokens", _USUAL_TOKENS))

    def _of_chat(self, body: Mapping[str, Any]) -> WritingRequest:
        most = body.get("max_completion_tokens", body.get("max_tokens"))
        settings = body.get("chat_template_kwargs") or {}
        return self._writing(body, self._filled(body["messages"], settings), most=most)

    def _of_generate(self, body: Mapping[str, Any]) -> WritingRequest:
        messages = [{"role": "user", "content": body["prompt"]}]
        if body.get("system"):
            messages.insert(0, {"role": "system", "content": body["system"]})
        return self._of_ollama_chat({**body, "messages": messages})

    def _of_ollama_chat(self, body: Mapping[str, Any]) -> WritingRequest:
        options = body.get("options") or {}
        most = options.get("num_predict")
        think = body.get("think")
        settings = (
            {} if think is None else {"enable_thinking": bool(think), "thinking": bool(think)}
        )
        prompt = self._filled(body["messages"], settings)
        return self._writing(
            {**body, "stop": options.get("stop")},
            prompt,
            most=None if most is None or most < 0 else most,
        )

    def _writing(
        self, body: Mapping[str, Any], prompt: list[int], *, most: int | None
    ) -> WritingRequest:
        stop = body.get("stop") or ()
        listed = (stop,) if isinstance(stop, str) else tuple(stop)
        own = () if self._served.ollama is None else self._served.ollama.stop
        return WritingRequest(
            prompt=prompt,
            ticket=body[TICKET],
            most_tokens=most,
            stop=(*listed, *own),
            ignore_end=bool(body.get("ignore_eos")),
            logprobs=body["logprobs"],
        )

    def _filled(self, messages: list[dict[str, Any]], settings: Mapping[str, Any]) -> list[int]:
        """Return the tokens of a conversation in the model's template.

        Raises:
            GenerationError: The model has no template.
            RequestRefusedError: The template refuses the conversation.
        """
        if self._formatter is None:
            raise GenerationError("generate.chat", name=self._served.name)
        ollama = self._served.ollama
        if ollama is not None and ollama.system and messages[0]["role"] != "system":
            messages = [{"role": "system", "content": ollama.system}, *messages]
        plain: Any = [{**message, "content": _plain(message)} for message in messages]
        try:
            prompt = self._formatter(messages=plain, **settings).prompt
        except Exception as error:
            _log.info("a template refused a conversation: %s", type(error).__name__)
            raise refused("messages", Reason.UNSUPPORTED.phrase) from None
        return self._writer.tokenise(prompt, special=True, opening=False)


def _plain(message: Mapping[str, Any]) -> str:
    """Return the text of a message, whose parts may be listed."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    if any(part["type"] != "text" for part in content):
        raise refused("messages", Reason.UNSUPPORTED.phrase)
    return "".join(part["text"] for part in content)


def _count(logprobs: Any) -> int:
    """Return how many likely tokens are asked for."""
    if logprobs is None or logprobs is False:
        return 0
    try:
        return min(1 if logprobs is True else int(TOKENS.read(logprobs)), MOST_LOGPROBS)
    except ValueError:
        raise refused("logprobs", Reason.EXTRA.phrase) from None


def _words_of(model: llama_cpp.Llama, token: int) -> str:
    return "" if token < 0 else model.detokenize([token], special=True).decode("utf-8", "replace")


async def _answer_error(request: Request, error: Exception) -> Response:
    known = error if isinstance(error, PuraError) else GenerationError("gateway.answer")
    status = 400 if isinstance(known, GenerationError) else status_of(known)
    body = error_body(known, plain=answers_plainly(request.url.path))
    return JSONResponse(body, status_code=status)
