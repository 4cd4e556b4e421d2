"""Checks of the fields that engines have in common: those of OpenAI's interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pura.base.catalogue import phrase
from pura.base.decoder import DecodeError, Form, Read, form_of, number, one_of, whole
from pura.embed.serving.requests import (
    AnswerForm,
    Reason,
    RequestField,
    Route,
    carried,
    only,
    ruled,
)

# Bounds that no honest request comes near; the body as a whole is bounded by the gateway.
_MOST_TOKENS: Final = 1 << 24
_MOST_MESSAGES: Final = 10_000
_MOST_STOPS: Final = 16
_LONGEST_STOP: Final = 256
_LONGEST_NAME: Final = 200
_ROLES: Final = ("system", "developer", "user", "assistant", "tool")

BOOLEAN: Final = form_of(
    {"type": "boolean"}, (lambda value: isinstance(value, bool), phrase("what.not-bool"))
)
TEXT: Final = form_of(
    {"type": "string"}, (lambda value: isinstance(value, str), phrase("what.not-text"))
)
NAME: Final = form_of(
    {"type": "string", "minLength": 1, "maxLength": _LONGEST_NAME},
    (lambda value: isinstance(value, str), phrase("what.not-text")),
    (lambda value: 0 < len(value) <= _LONGEST_NAME, phrase("what.unfit")),
)
OBJECT: Final = form_of(
    {"type": "object"}, (lambda value: isinstance(value, dict), phrase("what.not-object"))
)
TOKENS: Final = whole(0, _MOST_TOKENS)
ANY_NUMBER: Final = number(-1e9, 1e9)
SEED: Final = whole(-(1 << 63), (1 << 63) - 1)


def object_of(needed: Mapping[str, Form], optional: Mapping[str, Form]) -> Form:
    """Return the form of an object with known names; null counts as absent.

    Args:
        needed: What must be there.
        optional: What may be there.
    """
    forms = {**needed, **optional}

    def read(value: Any) -> dict[str, Any]:
        entries = OBJECT.read(value)
        checked = {}
        for name, part in entries.items():
            if name not in forms:
                raise DecodeError(phrase("what.unknown"), str(name)[:_LONGEST_NAME])
            if part is not None:
                checked[name] = read_at(f".{name}", forms[name].read, part)
        for name in needed:
            if name not in checked:
                raise DecodeError(phrase("what.missing"), name)
        return checked

    return Form(read=read, schema={"type": "object"})


def fields_of(fields: Mapping[str, RequestField]) -> Form:
    """Return the form of an object whose parts have uses, as the fields of a request have."""

    def read(value: Any) -> dict[str, Any]:
        checked = {}
        for name, part in OBJECT.read(value).items():
            if name not in fields:
                raise DecodeError(phrase("what.unknown"), str(name)[:_LONGEST_NAME])
            if part is not None:
                entry = read_at(f".{name}", fields[name].read, part)
                if fields[name].carried:
                    checked[name] = entry
        return checked

    return Form(read=read, schema={"type": "object"})


def list_of(form: Form, most: int) -> Form:
    """Return the form of a list of at least one and at most so many entries."""

    def read(value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise DecodeError(phrase("what.not-list"))
        if not 0 < len(value) <= most:
            raise DecodeError(phrase("what.between", low=1, high=most))
        return [read_at(f"[{index}]", form.read, entry) for index, entry in enumerate(value)]

    return Form(read=read, schema={"type": "array", "items": form.schema})


def either(*forms: Form) -> Form:
    """Return the form of what has one of several forms; the last one says why it has none."""

    def read(value: Any) -> Any:
        for form in forms[:-1]:
            try:
                return form.read(value)
            except DecodeError:
                continue
        return forms[-1].read(value)

    return Form(read=read, schema={"anyOf": [form.schema for form in forms]})


def read_at(where: str, read: Read, value: Any) -> Any:
    """Read a part, and have an error name its place."""
    try:
        return read(value)
    except DecodeError as error:
        raise DecodeError(error.what, error.below(where).removeprefix(".")) from None


STOP: Final = either(
    list_of(
        form_of(
            {"type": "string", "minLength": 1, "maxLength": _LONGEST_STOP},
            (lambda value: isinstance(value, str), phrase("what.not-text")),
            (lambda value: 0 < len(value) <= _LONGEST_STOP, phrase("what.unfit")),
        ),
        _MOST_STOPS,
    ),
    NAME,
)
_FUNCTION: Final = object_of(
    {"name": NAME}, {"description": TEXT, "parameters": OBJECT, "strict": BOOLEAN}
)
_TOOLS: Final = list_of(object_of({"type": one_of("function"), "function": _FUNCTION}, {}), 1000)
_TOOL_CALLS: Final = list_of(
    object_of(
        {"function": object_of({"name": NAME, "arguments": either(OBJECT, TEXT)}, {})},
        {"type": one_of("function"), "id": NAME, "index": TOKENS},
    ),
    1000,
)
_PARTS: Final = list_of(
    either(
        object_of(
            {
                "type": one_of("image_url"),
                "image_url": object_of({"url": TEXT}, {"detail": NAME}),
            },
            {},
        ),
        object_of({"type": one_of("text"), "text": TEXT}, {}),
    ),
    1000,
)
_MESSAGE: Final = object_of(
    {"role": one_of(*_ROLES)},
    {
        "content": either(_PARTS, TEXT),
        "name": NAME,
        "tool_calls": _TOOL_CALLS,
        "tool_call_id": NAME,
        "tool_name": NAME,
        "reasoning_content": TEXT,
        "reasoning": TEXT,
        "thinking": TEXT,
    },
)


def _messages(value: Any) -> list[dict[str, Any]]:
    """Read a conversation; an answer that the client has begun is refused."""
    messages: list[dict[str, Any]] = list_of(_MESSAGE, _MOST_MESSAGES).read(value)
    if messages[-1]["role"] == "assistant":
        raise DecodeError(Reason.WORDS.phrase, f"[{len(messages) - 1}]")
    return messages


def _prompt(value: Any) -> Any:
    """Read a prompt: one text, or its token ids; a list of one text is that text."""
    if isinstance(value, list) and len(value) == 1 and not isinstance(value[0], int):
        return _prompt(value[0])
    if isinstance(value, list):
        if any(not isinstance(entry, int) for entry in value):
            raise DecodeError(Reason.SEVERAL.phrase)
        return list_of(TOKENS, _MOST_TOKENS).read(value)
    return TEXT.read(value)


MESSAGES: Final = Form(read=_messages, schema={"type": "array"})
PROMPT: Final = Form(read=_prompt, schema={"type": ["string", "array"]})
TEMPLATE_SETTINGS: Final = object_of({}, {"enable_thinking": BOOLEAN, "thinking": BOOLEAN})

SHARED: Final[Mapping[str, RequestField]] = {
    "model": carried(NAME),
    "max_tokens": carried(TOKENS),
    "stop": carried(STOP),
    "stream": carried(BOOLEAN),
    "stream_options": carried(
        object_of({}, {"include_usage": BOOLEAN, "include_obfuscation": BOOLEAN})
    ),
    "seed": ruled(SEED),
    "temperature": ruled(ANY_NUMBER),
    "top_p": ruled(ANY_NUMBER),
    "top_k": ruled(ANY_NUMBER),
    "min_p": ruled(ANY_NUMBER),
    "user": ruled(TEXT),
    "frequency_penalty": only(0, reason=Reason.DRAWS),
    "presence_penalty": only(0, reason=Reason.DRAWS),
    "logit_bias": only({}, reason=Reason.DRAWS),
    "n": only(1, reason=Reason.SEVERAL),
    "response_format": only({"type": "text"}, reason=Reason.DRAWS),
}
"""Fields of both kinds of request, in every engine."""

PLAIN: Final[Mapping[str, RequestField]] = {
    **SHARED,
    "prompt": carried(PROMPT),
    "echo": only(False, reason=Reason.WORDS),
    "suffix": only("", reason=Reason.WORDS),
    "logprobs": only(False, reason=Reason.EXTRA),
}
"""Fields of a request to complete a text."""

CHAT: Final[Mapping[str, RequestField]] = {
    **SHARED,
    "messages": carried(MESSAGES),
    "logprobs": only(False, reason=Reason.EXTRA),
    "top_logprobs": only(0, reason=Reason.EXTRA),
}
"""Fields of a request to answer a conversation."""

TOOLS: Final[Mapping[str, RequestField]] = {
    "tools": carried(_TOOLS),
    # A named or required call is forced by a grammar, which the verifier does not know.
    "tool_choice": carried(one_of("auto", "none")),
    "parallel_tool_calls": carried(BOOLEAN),
}
"""Fields by which a model is offered functions."""

ENGINE_EXTENSIONS: Final[Mapping[str, RequestField]] = {
    "repetition_penalty": only(1, reason=Reason.DRAWS),
    "ignore_eos": carried(BOOLEAN),
    "min_tokens": carried(TOKENS),
    "cache_salt": carried(NAME),
    "skip_special_tokens": only(True, reason=Reason.EXTRA),
    "stop_token_ids": only([], reason=Reason.UNSUPPORTED),
    "return_token_ids": only(False, reason=Reason.EXTRA),
}
"""Fields that vLLM and SGLang both add to OpenAI's interface."""

REASONING: Final[Mapping[str, RequestField]] = {
    "max_completion_tokens": carried(TOKENS),
    "chat_template_kwargs": carried(TEMPLATE_SETTINGS),
    "reasoning_effort": carried(one_of("none", "minimal", "low", "medium", "high", "xhigh", "max")),
}
"""Fields by which a conversation says how long and how a model thinks before it answers."""

TOOLS_AND_REASONING: Final[Mapping[str, RequestField]] = {**TOOLS, **REASONING}
"""Fields of a conversation in the engines that know both."""

NEUTRAL_SAMPLING: Final[Mapping[str, float]] = {
    "n": 1,
    "temperature": 1.0,
    "top_p": 1.0,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "frequency_penalty": 0.0,
    "presence_penalty": 0.0,
}
"""Settings that override a server's own defaults, which may come from the model's folder."""


def completion_route(fields: Mapping[str, RequestField], refused: Mapping[str, Reason]) -> Route:
    """Return the route that completes a text.

    Args:
        fields: The engine's fields beside :data:`PLAIN`.
        refused: The fields that no client may use, with the reason.
    """
    return Route(
        method="POST",
        path="/v1/completions",
        fields={**PLAIN, **fields},
        refused=refused,
        needed=("prompt",),
        answer=AnswerForm.COMPLETION,
    )


def chat_route(fields: Mapping[str, RequestField], refused: Mapping[str, Reason]) -> Route:
    """Return the route that answers a conversation.

    Args:
        fields: The engine's fields beside :data:`CHAT`.
        refused: The fields that no client may use, with the reason.
    """
    return Route(
        method="POST",
        path="/v1/chat/completions",
        fields={**CHAT, **fields},
        refused=refused,
        needed=("messages",),
        answer=AnswerForm.CHAT,
    )


def reasons(**names: str) -> dict[str, Reason]:
    """Return the reasons of refused fields.

    Args:
        **names: By reason, the names of the fields, with blanks between them.
    """
    return {name: Reason(reason) for reason, listed in names.items() for name in listed.split()}
