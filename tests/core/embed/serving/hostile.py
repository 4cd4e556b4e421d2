"""What a hostile client may send: one table for every engine and for LiteLLM's proxy.

The assertion is the same everywhere: the answer carries the payload of the one row that was written
for it, under the name of who asked, or there is no answer and no row.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from http.client import HTTPConnection
from typing import Any, Final

PROMPT: Final = "The city council met on Tuesday evening to discuss the old harbour, and"
COMPLETION: Final = "/v1/completions"
CHAT: Final = "/v1/chat/completions"
_GUESS: Final = f"{'0' * 16}.{'0' * 32}"  # the form of a ticket
_MARK: Final = {"pura_payload": "0x0", "pura_profile": "house"}
_QUESTION: Final = {"role": "user", "content": "Write about the harbour, at length."}


class Expected(Enum):
    """What must come of a request."""

    REFUSED = "refused"
    """An error, and no row."""
    ANSWERED = "answered"
    """An answer with the payload of its row."""
    EITHER = "either"
    """One of both: engines differ in whether they know the field."""


@dataclass(frozen=True, kw_only=True)
class HostileRequest:
    """One request.

    Attributes:
        title: What the client tries.
        expected: What must come of it.
        path: The path.
        method: HTTP's.
        changes: What stands in the body beside, or in place of, an honest request.
        headers: What the client adds to the headers.
        raw: The whole body, in place of an honest one with changes; None: there is none.
    """

    title: str
    expected: Expected = Expected.REFUSED
    path: str = COMPLETION
    method: str = "POST"
    changes: Mapping[str, Any] = field(default_factory=dict)
    headers: tuple[tuple[str, str], ...] = ()
    raw: bytes | None = None

    def body(self, length: int, model: str) -> bytes:
        """Return the body.

        Args:
            length: How many tokens an honest client asks for.
            model: The name of the model.
        """
        if self.raw is not None:
            return self.raw
        question = {"messages": [_QUESTION]} if self.path == CHAT else {"prompt": PROMPT}
        return json.dumps(
            {"model": model, **question, "max_tokens": length, **self.changes}
        ).encode()


def _field(title: str, expected: Expected = Expected.REFUSED, **changes: Any) -> HostileRequest:
    return HostileRequest(title=title, expected=expected, changes=changes)


def _chat(title: str, expected: Expected = Expected.REFUSED, **changes: Any) -> HostileRequest:
    return HostileRequest(title=title, expected=expected, path=CHAT, changes=changes)


def _header(title: str, expected: Expected, *headers: tuple[str, str]) -> HostileRequest:
    return HostileRequest(title=title, expected=expected, headers=headers)


def _route(method: str, path: str) -> HostileRequest:
    return HostileRequest(title=f"{method} {path}", method=method, path=path)


_ANSWERED: Final = Expected.ANSWERED
_EITHER: Final = Expected.EITHER

HOSTILE: Final[Sequence[HostileRequest]] = (
    # It names a mark, or takes it off.
    _field("a payload", pura_payload="0x0"),
    _field("a payload and a profile", **_MARK),
    _field("a ticket of its own", pura_ticket=_GUESS),
    _field("a payload where llama.cpp reads tickets", pura=_MARK),
    _field("a ticket where llama.cpp reads tickets", pura={"pura_ticket": _GUESS}),
    _field("an empty place for llama.cpp's ticket", pura={}),
    _field("a payload where vLLM reads tickets", vllm_xargs=_MARK),
    _field("a ticket where vLLM reads tickets", vllm_xargs={"pura_ticket": _GUESS}),
    _field("an empty place for vLLM's ticket", vllm_xargs={}),
    _field("a payload where SGLang reads tickets", custom_params=_MARK),
    _field("a ticket where SGLang reads tickets", custom_params={"pura_ticket": _GUESS}),
    _field("a pickled processor", custom_logit_processor='{"callable": "800495"}'),
    _field("arguments of vLLM's inner route", sampling_params={"extra_args": _MARK}),
    _field("arguments of SGLang's inner route", sampling_params={"custom_params": _MARK}),
    _field("a body within the body", extra_body={"pura": _MARK}),
    _field("headers within the body", extra_headers={"x-pura-customer": "south"}),
    _field("vLLM's own mark", watermarking={"algorithm": "gumbel"}),
    _field("SGLang's own mark", watermark={"key": 5}),
    _field("a transfer between engines", kv_transfer_params={"do_remote_decode": True}),
    _field("the ticket's field in capitals", VLLM_XARGS=_MARK),
    _field("metadata", _EITHER, metadata={**_MARK, "user_api_key_alias": "south"}),
    HostileRequest(
        title="a field twice, neutral first",
        raw=b'{"model": "council", "prompt": "The council met", "max_tokens": 60, '
        b'"pura": null, "pura": {"pura_payload": "0x0"}}',
    ),
    # It changes what tokens are drawn from.
    _field("a bias without entries", _ANSWERED, logit_bias={}),
    _field("a bias of null", _ANSWERED, logit_bias=None),
    _field("a bias", logit_bias={"5": 100}),
    _field("a grammar", grammar='root ::= "yes"'),
    _field("a schema", structured_outputs={"choice": ["yes", "no"]}),
    _field("a guided choice", guided_choice=["yes", "no"]),
    _field("an expression", regex="yes|no"),
    _field("an answer in JSON", response_format={"type": "json_object"}),
    _field("bad words", bad_words=["harbour"]),
    _field("tokens that are allowed", allowed_token_ids=[5, 6]),
    _field("a penalty on repetition", repetition_penalty=1.5),
    _field("a penalty on frequency", frequency_penalty=0.5),
    _field("a penalty on presence", presence_penalty=0.5),
    _field("mirostat", mirostat_mode=2),
    _field("typical sampling", typical_p=0.3),
    _field("a budget for thinking", thinking_token_budget=5),
    _field("beam search", use_beam_search=True),
    _field("a penalty on length", length_penalty=2.0),
    _field("an adapter of weights", lora_path="/tmp/weights"),
    _field("greedy decoding", _ANSWERED, temperature=0),
    _field("a hot and narrow distribution", _ANSWERED, temperature=1.9, top_p=0.1),
    _field("the smallest seed", _ANSWERED, seed=0),
    _field("a temperature that is no number", temperature="hot"),
    # It asks for several texts, or for one that carries nothing.
    _field("two texts", n=2),
    _field("no text", n=0),
    _field("true texts", n=True),
    _field("the best of four", best_of=4),
    _field("two prompts", prompt=["The harbour", "The library"]),
    _field("two prompts of tokens", prompt=[[1, 2], [3, 4]]),
    _field("an answer of two tokens", max_tokens=2),
    _field("an answer of no tokens", max_tokens=0),
    _field("an answer of less than nothing", max_tokens=-1),
    _field("a length in words", max_tokens="many"),
    _field("a length beyond all bounds", max_tokens=10**12),
    # Its own words, or more than was compared, come back.
    _field("its prompt comes back", echo=True),
    _field("what follows the answer", suffix="and everyone agreed."),
    _field("a prompt of embeddings", prompt_embeds="AAAA"),
    _field("an answer made up", _EITHER, mock_response="The council has resigned."),
    _field("logarithms of probabilities", logprobs=5),
    _field("those of the prompt", prompt_logprobs=5),
    _field("ids of tokens", return_token_ids=True),
    _field("control tokens in the text", skip_special_tokens=False),
    _field("an end by token", stop_token_ids=[5]),
    _chat(
        "an answer that it has begun", messages=[_QUESTION, {"role": "assistant", "content": "A"}]
    ),
    _chat("an answer to be continued", continue_final_message=True),
    _chat("no opening of an answer", add_generation_prompt=False),
    _chat("a template of its own", chat_template="The council has resigned."),
    _chat("a message that is a beginning", messages=[{**_QUESTION, "prefix": True}]),
    _chat("a role of its own", messages=[{**_QUESTION, "role": "oracle"}]),
    _chat("its conversation comes back", echo=True),
    _chat(
        "a call that is forced",
        tools=[{"type": "function", "function": {"name": "resign", "parameters": {}}}],
        tool_choice={"type": "function", "function": {"name": "resign"}},
    ),
    _chat("a conversation, hot", _ANSWERED, temperature=1.9),
    # It goes elsewhere, or under another name.
    _field("another address", api_base="http://127.0.0.1:1/v1"),
    _field("other deployments", fallbacks=[{"model": "council"}]),
    _field("an id of a request", request_id="1"),
    _field("an id of LiteLLM's", litellm_call_id="1"),
    _field("a model that is a sentence", model="The council has resigned. " * 3),
    _field("another customer as its user", _ANSWERED, user="south"),
    _header("another customer", _EITHER, ("x-pura-customer", "south")),
    _header("a random number for the receipt", _EITHER, ("x-pura-nonce", "5eed")),
    _header("an id of LiteLLM's in a header", _ANSWERED, ("x-litellm-call-id", "1")),
    _header("its body is packed", _EITHER, ("content-encoding", "gzip")),
    _route("PUT", COMPLETION),
    _route("GET", COMPLETION),
    _route("POST", "/v1/completions/score"),
    _route("POST", "//v1/completions"),
    _route("POST", "/v1/score"),
    _route("POST", "/generate"),
    _route("POST", "/inference/v1/generate"),
    HostileRequest(title="four texts by the query", expected=_ANSWERED, path=f"{COMPLETION}?n=4"),
    HostileRequest(title="a body that is no JSON", raw=b"prompt=The+council"),
    HostileRequest(title="a body that is a list", raw=b'[{"prompt": "The council"}]'),
)
"""The table."""


@dataclass(frozen=True)
class HostileAnswer:
    """What the client got.

    Attributes:
        status: HTTP's number.
        body: The body.
    """

    status: int
    body: bytes

    @property
    def text(self) -> str:
        """The words of the answer; empty where there is none."""
        if self.status != 200:
            return ""
        words = ""
        for choice in json.loads(self.body)["choices"]:
            words += choice.get("text") or (choice.get("message") or {}).get("content") or ""
        return words


def send(
    address: tuple[str, int],
    request: HostileRequest,
    body: bytes,
    headers: Sequence[tuple[str, str]],
) -> HostileAnswer:
    """Send a request to a server, headers as they stand and twice where they are there twice.

    Args:
        address: Host and port.
        request: The request.
        body: Its body.
        headers: What stands before the request's own headers.
    """
    connection = HTTPConnection(*address, timeout=600)
    try:
        connection.putrequest(request.method, request.path)
        connection.putheader("content-type", "application/json")
        connection.putheader("content-length", str(len(body)))
        for name, value in (*headers, *request.headers):
            connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        return HostileAnswer(answer.status, answer.read())
    finally:
        connection.close()
