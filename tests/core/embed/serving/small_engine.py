"""A small engine behind a gateway: random logits, the real marker, answers in every form.

It stands for an engine in the tests of the gateway. Its tokens are drawn by the marker that all
adapters share, its texts have one character a token, and it can be told to do what a real engine
might do wrong: replace a token, leave the ids out, say the client's words, stop in the middle.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from pura.embed.engine import entropy_bits, inverse_transform
from pura.embed.serving.deployments import Deployment, Deployments
from pura.embed.serving.marker import Marker
from pura.embed.serving.policy import Policy
from pura.embed.serving.requests import AnswerForm
from pura.embed.serving.tickets import TicketSource, ticket_in
from pura.model.reading import distribution
from pura.scheme import Payload, Profile, Scheduler, SecretKey, anchor, encode
from pura.scheme.gray import sector_of

VOCABULARY = 300
WIDTH = 304  # four more logits than the profile has tokens
PROFILE = Profile(payload_bits=36, vocab_size=VOCABULARY, code="tbcc", history="all")
KEY = SecretKey(bytes(range(32)))
DEPLOYMENTS = Deployments(named={"house": Deployment(profile=PROFILE, key=KEY)})
PROXY = "10.0.0.7"
SECRET = "a secret of proxy and gateway"
# Where each engine reads a ticket.
TICKET_FIELDS = {"vllm": "vllm_xargs", "sglang": "custom_params", "llama.cpp": "pura"}
LENGTH = 60
PROMPT = [7, 299, 0]
"""What stands before every text, as the engine has it."""

Message = MutableMapping[str, Any]


def private(path: Path, content: str) -> Path:
    """Write a file that only its user may read."""
    path.touch(mode=0o600)
    path.chmod(0o600)
    path.write_text(content)
    return path


def write_policy(folder: Path, **changes: Any) -> Path:
    """Write a policy and what it names; a change of None leaves an entry out."""
    private(folder / "house.json", PROFILE.to_json())
    private(folder / "proxy.secret", SECRET)
    policy: dict[str, Any] = {
        "deployment": "house",
        "profile": "house.json",
        "engine": "llama.cpp",
        "models": ["council-7b"],
        "customers": {"north": None, "south": {"who": "customer 9"}},
        "proxy": {"addresses": ["10.0.0.0/24"], "secret_file": "proxy.secret"},
        "log": "issued",
    }
    policy.update(changes)
    stated = {name: entry for name, entry in policy.items() if entry is not None}
    return private(folder / "gateway.json", json.dumps(stated))


def load_policy(folder: Path, **changes: Any) -> Policy:
    """Return a policy."""
    return Policy.load(write_policy(folder, **changes))


def rows_in(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of a gateway, in the order of their files."""
    files = sorted((folder / "issued").glob("*.issued.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()[1:]]


def outcomes_in(folder: Path) -> dict[str, tuple[str, int]]:
    """Return how the answers ended: by payload, the outcome and the tokens that left."""
    path = folder / "issued" / "outcomes.jsonl"
    lines = map(json.loads, path.read_text().splitlines()) if path.exists() else ()
    return {line["payload"]: (line["outcome"], line["tokens"]) for line in lines}


def logits_behind(tokens: Sequence[int]) -> np.ndarray:
    """Return the model's logits behind these tokens; contexts come back every now and then."""
    last = tokens[-1] if tokens else 0
    rng = np.random.default_rng([len(tokens) % 50, last])
    return rng.normal(size=WIDTH, scale=3).astype(np.float32)


def text_of(tokens: Sequence[int]) -> str:
    """Return the text of some tokens, a letter each."""
    return "".join(chr(0x100 + token) for token in tokens)


def tokens_of(text: str) -> list[int]:
    """Return the tokens of a text."""
    return [ord(letter) - 0x100 for letter in text]


def misplaced(
    tokens: Sequence[int],
    payload: Payload,
    key: SecretKey = KEY,
    profile: Profile = PROFILE,
) -> list[int] | None:
    """Return the positions that carry bits and do not hold the token at their anchor.

    Returns:
        An empty list for a text that carries this payload; None for one in which fewer than a
        quarter of the tokens carry anything.
    """
    code = encode(payload, profile)
    order = np.concatenate(
        [key.vocabulary_order(profile.vocab_size), np.arange(profile.vocab_size, WIDTH)]
    )
    walk, carrying, wrong = Scheduler(key, profile), 0, []
    for position, token in enumerate(tokens):
        pi = distribution(logits_behind(tokens[:position]), temperature=profile.temperature)
        step = walk.step(entropy_bits(pi))
        if step.arity:
            carrying += 1
            bits = [int(code[(step.index + j) % code.size]) for j in range(step.arity)]
            if inverse_transform(pi, order, anchor(step, sector_of(bits))) != token:
                wrong.append(position)
        walk.push(token)
    return wrong if carrying >= len(tokens) / 4 else None


@dataclass
class Fault:
    """What an engine does wrong.

    Attributes:
        replaces: Positions at which it puts another token than the marker chose.
        unreported: Positions at which it does not ask the marker at all.
        unnamed: Whether it leaves the ids of the tokens out.
        prefix: Words that it puts in front of the answer.
        tail: Words that it puts behind the end of the answer.
        texts: How many texts it answers with.
        fails_at: Position at which it fails.
        redeems: Whether it redeems the ticket.
        refuses: Status of a refusal before anything is written; 0: it does not refuse.
        media_type: What it says that its answer is; empty: what it is.
    """

    replaces: frozenset[int] = frozenset()
    unreported: frozenset[int] = frozenset()
    unnamed: bool = False
    prefix: str = ""
    tail: str = ""
    texts: int = 1
    fails_at: int = -1
    redeems: bool = True
    refuses: int = 0
    media_type: str = ""


@dataclass(eq=False)
class SmallEngine:
    """An ASGI application that answers as engines do.

    Attributes:
        tickets: Where tickets are redeemed.
        engine: Whose requests it understands.
        fault: What it does wrong.
        requests: The bodies that it got.
        scopes: And what came with them.
    """

    tickets: TicketSource
    engine: str = "llama.cpp"
    fault: Fault = field(default_factory=Fault)
    requests: list[dict[str, Any]] = field(default_factory=list)
    scopes: list[Mapping[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.marker = Marker(DEPLOYMENTS, 2**100, self.tickets, end_token=0)

    async def __call__(self, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        self.scopes.append(scope)
        message = await receive()
        if not message["body"]:
            await respond(send, 200, json.dumps({"status": "ok"}).encode())
            return
        body = json.loads(message["body"])
        self.requests.append(body)
        if self.fault.refuses:
            await respond(send, self.fault.refuses, b'{"error": {"message": "the engine"}}')
            return
        form = answer_form(scope["path"])
        length = body.get("max_tokens", body.get("options", {}).get("num_predict")) or LENGTH
        ticket = ticket_in(body.get(TICKET_FIELDS[self.engine]))
        streams = body.get("stream", form.streams_lines)
        pieces = self._write(ticket, min(length, LENGTH))
        if streams:
            await self._stream(send, form, pieces)
        else:
            tokens = list(pieces)
            content = json.dumps(self._whole(form, tokens)).encode()
            await respond(send, 200, content, self.fault.media_type or "application/json")

    def _write(self, ticket: str | None, length: int) -> Iterator[int]:
        """Yield the tokens of a text."""
        marked = ticket is not None and self.fault.redeems
        text = self.marker.begin(str(ticket), lambda: PROMPT) if marked else None
        tokens: list[int] = []
        rng = np.random.default_rng(1)
        try:
            for position in range(length):
                if position == self.fault.fails_at:
                    raise RuntimeError("the engine failed")
                token = int(rng.integers(VOCABULARY))
                if text is not None and position not in self.fault.unreported:
                    self.marker.prepare([text])
                    self.marker.agree(
                        text, len(tokens), tokens[-1] if tokens else None, lambda: tokens
                    )
                    logits = torch.from_numpy(logits_behind(tokens))[None]
                    token = int(self.marker.mark(logits, [text])[0])
                if position in self.fault.replaces:
                    token = (token + 1) % VOCABULARY
                tokens.append(token)
                yield token
        finally:
            if text is not None:
                self.marker.end(text)

    def _choice(self, words: dict[str, Any], ids: list[int], finish: str | None) -> dict[str, Any]:
        named = {} if self.fault.unnamed else {"token_ids": ids}
        return {"index": 0, **words, "finish_reason": finish, **named, "logprobs": None}

    def _whole(self, form: AnswerForm, tokens: list[int]) -> dict[str, Any]:
        text = self.fault.prefix + text_of(tokens) + self.fault.tail
        named = {} if self.fault.unnamed else {"token_ids": tokens}
        if form is AnswerForm.OLLAMA_GENERATE:
            return {"model": "m", "response": text, "done": True, **named, "secret": 1}
        if form is AnswerForm.OLLAMA_CHAT:
            message = {"role": "assistant", "content": text, "secret": 1}
            return {"model": "m", "message": message, "done": True, **named}
        words: dict[str, Any] = {"text": text}
        if form is AnswerForm.CHAT:
            words = {"message": {"role": "assistant", "content": text, "secret": 1}}
        choices = [
            {**self._choice(words, tokens, "length"), "index": index}
            for index in range(self.fault.texts)
        ]
        usage = {"completion_tokens": len(tokens)}
        return {"id": "engine-1", "choices": choices, "usage": usage, "prompt_text": "secret"}

    async def _stream(self, send: Any, form: AnswerForm, pieces: Iterator[int]) -> None:
        kind = "application/x-ndjson" if form.streams_lines else "text/event-stream"
        headers = [(b"content-type", (self.fault.media_type or kind).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        async for part in self._parts(form, pieces):
            written = json.dumps(part, ensure_ascii=False)
            line = f"{written}\n" if form.streams_lines else f"data: {written}\n\n"
            await send_in_parts(send, line.encode())
        if not form.streams_lines:
            await send_in_parts(send, b"data: [DONE]\n\n")
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _parts(
        self, form: AnswerForm, pieces: Iterator[int]
    ) -> AsyncIterator[dict[str, Any]]:
        if form is AnswerForm.CHAT:
            yield {"id": "engine-1", "choices": [{"index": 0, "delta": {"role": "assistant"}}]}
        if self.fault.prefix:
            yield self._part(form, self.fault.prefix, [], None)
        count = 0
        token = await asyncio.to_thread(next, pieces, None)
        while token is not None:
            following = await asyncio.to_thread(next, pieces, None)
            finish = "length" if following is None else None
            yield self._part(form, text_of([token]), [token], finish)
            token, count = following, count + 1
        if self.fault.tail:
            yield self._part(form, self.fault.tail, [], None)
        if form in (AnswerForm.CHAT, AnswerForm.COMPLETION):
            yield {"id": "engine-1", "choices": [], "usage": {"completion_tokens": count}}

    def _part(
        self, form: AnswerForm, words: str, ids: list[int], finish: str | None
    ) -> dict[str, Any]:
        named = {} if self.fault.unnamed else {"token_ids": ids}
        if form is AnswerForm.OLLAMA_GENERATE:
            return {"model": "m", "response": words, "done": finish is not None, **named}
        if form is AnswerForm.OLLAMA_CHAT:
            message = {"role": "assistant", "content": words}
            return {"model": "m", "message": message, "done": finish is not None, **named}
        spoken = {"delta": {"content": words}} if form is AnswerForm.CHAT else {"text": words}
        return {"id": "engine-1", "choices": [self._choice(spoken, ids, finish)]}


def answer_form(path: str) -> AnswerForm:
    """Return how a path answers."""
    return {
        "/v1/completions": AnswerForm.COMPLETION,
        "/v1/chat/completions": AnswerForm.CHAT,
        "/api/generate": AnswerForm.OLLAMA_GENERATE,
        "/api/chat": AnswerForm.OLLAMA_CHAT,
    }[path]


async def respond(send: Any, status: int, body: bytes, kind: str = "application/json") -> None:
    """Send a response in one go."""
    headers = [(b"content-type", kind.encode()), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def send_in_parts(send: Any, body: bytes, size: int = 37) -> None:
    """Send a piece in several messages, cut wherever it happens to be."""
    for start in range(0, len(body), size):
        part = body[start : start + size]
        await send({"type": "http.response.body", "body": part, "more_body": True})


# --- a client ------------------------------------------------------------------------------------

Header = tuple[bytes, bytes]
CUSTOMER: Header = (b"x-pura-customer", b"north")
TOKEN: Header = (b"authorization", b"Bearer " + SECRET.encode())


@dataclass(frozen=True)
class Answer:
    """What a client got.

    Attributes:
        status: HTTP's number.
        headers: The headers.
        body: The whole body.
    """

    status: int
    headers: dict[bytes, bytes]
    body: bytes

    @property
    def error(self) -> dict[str, Any]:
        """The error of a refusal, or at the end of a stream; Ollama's has a message alone."""
        for piece in self.pieces:
            if "error" in piece:
                stated = piece["error"]
                return {"message": stated} if isinstance(stated, str) else dict(stated)
        raise AssertionError(self.body)

    @property
    def pieces(self) -> list[dict[str, Any]]:
        """The pieces of a stream, or the one of a whole answer."""
        pieces = []
        for line in self.body.decode().splitlines():
            content = line.removeprefix("data: ").strip()
            if content and content != "[DONE]":
                pieces.append(json.loads(content))
        return pieces

    @property
    def text(self) -> str:
        """The text of the answer."""
        return "".join(spoken(piece) for piece in self.pieces)


def spoken(piece: Mapping[str, Any]) -> str:
    """Return the words of an answer, or of a piece of one."""
    if "response" in piece:
        return str(piece["response"])
    if "message" in piece:
        return str(piece["message"].get("content", ""))
    words = ""
    for choice in piece.get("choices", ()):
        holder = choice.get("message") or choice.get("delta") or choice
        words += holder.get("content") or holder.get("text") or ""
    return words


async def asked(
    app: Any,
    body: bytes | Mapping[str, Any],
    *,
    path: str = "/v1/completions",
    method: str = "POST",
    headers: Sequence[Header] = (CUSTOMER, TOKEN),
    client: tuple[str, int] | None = (PROXY, 40_000),
    leaves_after: int | None = None,
    query: bytes = b"",
) -> Answer:
    """Send a request to an ASGI application, in two pieces, and return what it answered.

    Args:
        app: The application.
        body: JSON, or an object.
        path: The path.
        method: HTTP's.
        headers: The headers.
        client: Address of the other end; None for a Unix socket.
        leaves_after: The client leaves after so many messages with a body.
        query: The query string.
    """
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    pieces = [
        {"type": "http.request", "body": content[:5], "more_body": True},
        {"type": "http.request", "body": content[5:], "more_body": False},
    ]
    sent: list[Message] = []

    async def receive() -> Message:
        if pieces:
            return pieces.pop(0)
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)
        bodies = [one for one in sent if one["type"] == "http.response.body"]
        if leaves_after is not None and len(bodies) >= leaves_after:
            raise ConnectionResetError("the client has left")

    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": query,
        "headers": list(headers),
        "client": client,
    }
    try:
        await app(scope, receive, send)
    except ConnectionResetError:
        if leaves_after is None:
            raise
    start = sent[0]
    assert start["type"] == "http.response.start"
    parts = [message["body"] for message in sent[1:]]
    return Answer(start["status"], dict(start["headers"]), b"".join(parts))


def ask(app: Any, body: bytes | Mapping[str, Any], **settings: Any) -> Answer:
    """Send a request from a program without an event loop; see :func:`asked`."""
    return asyncio.run(asked(app, body, **settings))


REQUESTS: dict[str, dict[str, Any]] = {
    "/v1/completions": {"prompt": "The council met"},
    "/v1/chat/completions": {"messages": [{"role": "user", "content": "Write about the council."}]},
    "/api/generate": {"prompt": "The council met"},
    "/api/chat": {"messages": [{"role": "user", "content": "Write about the council."}]},
}
"""An honest request to each route that writes a text."""
