"""Requests that a gateway passes on: known routes, known fields, each checked and rebuilt.

Nothing of a client's request reaches the engine but what stands in a table of
:mod:`pura.embed.serving.routes`. A field has one of three uses: it is carried over after a check;
it is ruled by the profile, so that any sensible value is accepted and none is passed on; or only
its neutral value is accepted. Fields that the engine knows and no client may use are listed with
the reason, and whatever is in no list is refused as well: a field of a new version of the engine
too, until somebody has looked at it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from pura.base.catalogue import Phrase, Value, phrase
from pura.base.decoder import DecodeError, Form
from pura.base.errors import PuraError

# What the model may be called in a request; longer names are nobody's.
_MAX_MODEL_NAME: Final = 200


class RequestRefusedError(PuraError):
    """A request that does not go on to the engine.

    Attributes:
        status: HTTP's number of the answer.
    """

    code = "request-refused"

    def __init__(self, key: str, /, *, status: int = 400, code: str | None = None, **values: Value):
        super().__init__(key, code=code, **values)
        self.status = status


class Reason(StrEnum):
    """Why a field that an engine knows is not accepted."""

    WORDS = "words"
    """The client's own words would come back as the model's answer."""
    DRAWS = "draws"
    """It changes what tokens are drawn from, or replaces them; the verifier would not know."""
    SEVERAL = "several"
    """An answer is one text with one mark."""
    MARK = "mark"
    """It could name a mark, or code that runs beside the key."""
    INNER = "inner"
    """It is for the parts of the engine among themselves: ids, places, priorities."""
    EXTRA = "extra"
    """It adds to the answer what was not compared with what the marker drew."""
    UNSUPPORTED = "unsupported"
    """The gateway cannot check it."""

    @property
    def phrase(self) -> Phrase:
        """The reason in words."""
        return phrase(f"request.{self.value}")


@dataclass(frozen=True, kw_only=True, eq=False)
class RequestField:
    """What a gateway does with one field of a request.

    Attributes:
        read: Checks the value and returns what is passed on.
        carried: Whether it is passed on at all.
    """

    read: Callable[[Any], Any]
    carried: bool


def carried(form: Form) -> RequestField:
    """Return a field that is passed on after a check; null counts as absent."""
    return RequestField(read=form.read, carried=True)


def ruled(*forms: Form) -> RequestField:
    """Return a field that the profile rules: a value of one of these forms is dropped."""

    def read(value: Any) -> None:
        for form in forms[:-1]:
            try:
                form.read(value)
            except DecodeError:
                continue
            return
        forms[-1].read(value)

    return RequestField(read=read, carried=False)


def only(*neutral: Any, reason: Reason) -> RequestField:
    """Return a field of which only neutral values are accepted, and none is passed on.

    Args:
        *neutral: The values beside null. 0 stands for 0.0 too, but never for false.
        reason: Why no other one is.
    """

    def read(value: Any) -> None:
        if not any(_same(value, one) for one in neutral):
            raise DecodeError(reason.phrase)

    return RequestField(read=read, carried=False)


def _same(value: Any, neutral: Any) -> bool:
    return value == neutral and isinstance(value, bool) == isinstance(neutral, bool)


class AnswerForm(StrEnum):
    """How an engine answers a route that writes a text."""

    COMPLETION = "completion"
    CHAT = "chat"
    OLLAMA_GENERATE = "ollama-generate"
    OLLAMA_CHAT = "ollama-chat"

    @property
    def streams_lines(self) -> bool:
        """Whether a streamed answer is a line of JSON a piece, not an event."""
        return self in (AnswerForm.OLLAMA_GENERATE, AnswerForm.OLLAMA_CHAT)


@dataclass(frozen=True, kw_only=True)
class Route:
    """A route of an engine that a gateway passes on.

    Attributes:
        method: HTTP's.
        path: The whole path; nothing that merely ends in it.
        fields: The fields of its body by name; None: it has no body.
        refused: The fields that the engine knows and no client may use, each with the reason.
        needed: The fields that must be there.
        answer: How a text is answered; None: the route writes no text.
        streams: Whether it streams where the request does not say.
    """

    method: str
    path: str
    fields: Mapping[str, RequestField] | None = None
    refused: Mapping[str, Reason] = field(default_factory=dict)
    needed: tuple[str, ...] = ()
    answer: AnswerForm | None = None
    streams: bool = False


@dataclass(frozen=True, kw_only=True)
class EngineRoutes:
    """All that a gateway passes on to one engine.

    Attributes:
        name: Of the engine, as a policy gives it.
        routes: The routes.
        fixed: Fields of every request for a text, whatever the client says.
        ticket: Returns the fields that carry a ticket to the adapter.
    """

    name: str
    routes: tuple[Route, ...]
    fixed: Mapping[str, Any]
    ticket: Callable[[str], Mapping[str, Any]]

    def find(self, method: str, path: str) -> Route:
        """Return a route.

        Raises:
            RequestRefusedError: There is none of that method and path.
        """
        for route in self.routes:
            if route.method == method and route.path == path:
                return route
        raise RequestRefusedError("gateway.route", status=404, code="unknown-route")


@dataclass(frozen=True, kw_only=True)
class RebuiltRequest:
    """A request as it goes on.

    Attributes:
        body: Its fields.
        stream: Whether the answer is streamed.
        usage: Whether the client asked for the token counts at the end of a stream.
    """

    body: dict[str, Any]
    stream: bool = False
    usage: bool = False


def rebuild(
    route: Route, request: Any, models: tuple[str, ...], least_tokens: int
) -> RebuiltRequest:
    """Return a request that holds nothing but what the table of its route lets through.

    Args:
        route: Its route.
        request: The client's body as parsed JSON.
        models: The names under which the engine serves its model.
        least_tokens: The least that a request may ask for at most: a shorter answer carries no
            mark.

    Raises:
        RequestRefusedError: Names the field, and says why.
    """
    body = checked_fields(route, request)
    _check_model(body, models)
    _check_length(body, least_tokens)
    stream = bool(body.get("stream", route.streams))
    options = body.pop("stream_options", None) or {}
    return RebuiltRequest(body=body, stream=stream, usage=bool(options.get("include_usage")))


def checked_fields(route: Route, request: Any) -> dict[str, Any]:
    """Return the fields of a request that go on, each checked.

    Args:
        route: Its route.
        request: The client's body as parsed JSON.

    Raises:
        RequestRefusedError: Names the field, and says why.
    """
    if not isinstance(request, dict):
        raise RequestRefusedError("gateway.no-object")
    body: dict[str, Any] = {}
    for name, value in request.items():
        checked = _checked(route, name, value)
        if checked is not None:
            body[name] = checked
    for name in route.needed:
        if name not in body:
            raise refused(name, phrase("what.missing"))
    return body


def unmarked_texts(body: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what people and programs wrote in a request, the newest first; no answer of a model.

    Answers in a history may carry a mark of the same key, and no word of theirs may lead to a
    stored question (evidence.md §3, "Stored questions").

    Args:
        body: Of a request that goes on.
    """
    texts = [_words(body.get("prompt")), _words(body.get("system"))]
    for message in body.get("messages") or ():
        if message.get("role") != "assistant":
            texts.insert(0, _words(message.get("content")))
    return tuple(text for text in texts if text)


def _words(content: Any) -> str:
    """Return the words of a prompt or message: a text, or its parts; none of token ids."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [part.get("text") if isinstance(part, dict) else part for part in content]
    return "\n".join(part for part in parts if isinstance(part, str))


def refused(name: str, why: Phrase) -> RequestRefusedError:
    """Return the error of a field."""
    # A name that a client made up is cut, and stands in no log.
    return RequestRefusedError("gateway.field", name=name[:100], why=why)


def _checked(route: Route, name: str, value: Any) -> Any:
    """Return what is passed on of a field; None for nothing."""
    fields = route.fields or {}
    if name not in fields and name not in route.refused:
        raise refused(name, phrase("what.unknown"))
    if value is None:
        return None  # as engines take it: the field is absent
    if name in route.refused:
        raise refused(name, route.refused[name].phrase)
    try:
        checked = fields[name].read(value)
    except DecodeError as error:
        raise refused(error.below(name), error.what) from None
    return checked if fields[name].carried else None


def _check_model(body: dict[str, Any], models: tuple[str, ...]) -> None:
    """Refuse a model that is not served; put the served name where a client gives none."""
    named = body.get("model", models[0])
    if named not in models:
        raise RequestRefusedError("gateway.model", status=404, code="unknown-model")
    body["model"] = named


def _check_length(body: dict[str, Any], least_tokens: int) -> None:
    """Refuse an answer that would be too short to carry a mark."""
    options = body.get("options") or {}
    limits = [body.get("max_tokens"), body.get("max_completion_tokens"), options.get("num_predict")]
    if any(limit is not None and 0 <= limit < least_tokens for limit in limits):
        raise RequestRefusedError("gateway.short", least=least_tokens)
