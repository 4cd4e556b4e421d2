"""The gateway in front of an engine: no client chooses its mark, no answer lacks its row."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pura.base.errors import GenerationError, RegisterError
from pura.embed.serving.gateway import Gateway, GatewayMiddleware, Policy, without_marks
from pura.scheme import Payload, Profile, unpack
from pura.scheme.fields import parse_layout

LAYOUT = [
    {"name": "customer", "bits": 10, "kind": "integer"},
    {"name": "day", "bits": 14, "kind": "date"},
    {"name": "text", "bits": 12, "kind": "integer"},
]
PROFILE = Profile(payload_bits=36, vocab_size=300, code="tbcc", fields=parse_layout(LAYOUT, 36))


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    (tmp_path / "house.json").write_text(PROFILE.to_json())
    path = tmp_path / "gateway.json"
    path.write_text(
        json.dumps(
            {
                "deployment": "house",
                "profile": "house.json",
                "payload": {"customer": "@customer", "day": "@today", "text": "@number"},
                "customers": {"north": 417, "south": 9},
                "log": "issued",
            }
        )
    )
    return path


def rows(policy: Path) -> list[dict[str, Any]]:
    files = sorted((policy.parent / "issued").glob("*.issued.jsonl"))
    return [json.loads(line) for f in files for line in f.read_text().splitlines()[1:]]


def changed(policy: Path, **values: Any) -> Policy:
    policy.write_text(json.dumps({**json.loads(policy.read_text()), **values}))
    return Policy.load(policy)


def test_what_a_client_says_of_marks_is_dropped() -> None:
    body = {
        "prompt": "pura_payload",
        "messages": [{"pura_note": "a text of its own"}],
        "pura_payload": "0x1",
        "vllm_xargs": {"pura_payload": "0x1", "other": 1},
        "extra_body": {"vllm_xargs": {"pura_profile": "desk"}, "pura": {"pura_payload": "1"}},
    }
    assert without_marks(body) == {
        "prompt": "pura_payload",
        "messages": [{"pura_note": "a text of its own"}],
        "vllm_xargs": {"other": 1},
        "extra_body": {"vllm_xargs": {}, "pura": {}},
    }


def test_each_request_gets_its_customers_payload_and_a_row(policy: Path) -> None:
    gateway = Gateway(Policy.load(policy))
    ready = gateway.ready({"model": "council-7b", "vllm_xargs": {"pura_payload": "0x1"}}, "north")
    assert ready["vllm_xargs"]["pura_profile"] == "house"
    given = Payload.from_int(int(ready["vllm_xargs"]["pura_payload"], 16), 36)
    assert [value.text for value in unpack(PROFILE.fields, given)][::2] == ["417", "0"]
    gateway.ready({}, "south")
    first, second = rows(policy)
    assert (first["who"], first["model"], second["who"]) == ("north", "council-7b", "south")
    assert first["when"] == unpack(PROFILE.fields, given)[1].text
    gateway.close()


def test_numbers_are_given_once_by_all_threads_and_processes(policy: Path) -> None:
    gateways = [Gateway(Policy.load(policy)) for _ in range(2)]

    def number(at: int) -> int:
        ready = gateways[at % 2].ready({}, "south")
        return int(ready["vllm_xargs"]["pura_payload"], 16) & 0xFFF

    with ThreadPoolExecutor(8) as threads:
        assert sorted(threads.map(number, range(40))) == list(range(40))


def test_who_is_no_customer_is_refused_or_goes_on_unmarked(policy: Path) -> None:
    gateway = Gateway(Policy.load(policy))
    for name in (None, "", "east"):
        with pytest.raises(GenerationError, match="nobody"):
            gateway.ready({}, name)
    open_to_all = Gateway(changed(policy, required=False))
    asked = {"prompt": "a", "vllm_xargs": {"pura_payload": "0x1"}}
    assert open_to_all.ready(asked, "east") == {"prompt": "a", "vllm_xargs": {}}
    assert rows(policy) == []


def test_without_a_row_nothing_goes_on(policy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gateway = Gateway(Policy.load(policy))

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RegisterError):
        gateway.ready({}, "north")


@pytest.mark.parametrize(
    "wrong",
    [
        {"payload": {"customer": 1}},
        {"payload": {"bits": "@number"}},
        {"engine": "none"},
        {"customers": {"north": "x"}},
        {"log": None, "deployment": None, "payload": []},
    ],
)
def test_a_file_that_is_no_policy(policy: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(GenerationError, match=r"gateway\.json"):
        changed(policy, **wrong)


# --- as an ASGI application ---------------------------------------------------------------------


def asked(
    middleware: Any, body: bytes, *headers: tuple[bytes, bytes], path: str = "/v1/completions"
) -> list[dict[str, Any]]:
    """Send a request in two pieces; return what was answered."""
    pieces = [
        {"type": "http.request", "body": body[:5], "more_body": True},
        {"type": "http.request", "body": body[5:], "more_body": False},
    ]
    answered: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return pieces.pop(0)

    async def send(message: dict[str, Any]) -> None:
        answered.append(message)

    scope = {"type": "http", "method": "POST", "path": path, "headers": list(headers)}
    asyncio.run(middleware(scope, receive, send))
    return answered


async def echo(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Answer with the request."""
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message["body"], message["more_body"]
    lengths = [value for name, value in scope["headers"] if name == b"content-length"]
    assert lengths in ([], [b"%d" % len(body)])
    await send({"type": "http.response.start", "status": 200, "headers": scope["headers"]})
    await send({"type": "http.response.body", "body": body})


def test_a_request_through_the_middleware(policy: Path) -> None:
    middleware = GatewayMiddleware(echo, Gateway(Policy.load(policy)))
    north, length = (b"x-pura-customer", b"north"), (b"content-length", b"16")
    start, end = asked(middleware, b'{"prompt": "ab"}', length, north)
    assert start["status"] == 200
    assert b"x-pura-customer" not in dict(start["headers"])
    assert json.loads(end["body"])["vllm_xargs"]["pura_profile"] == "house"
    cases = [
        (b'{"prompt": "ab"}', (), 403),
        (b'{"prompt": "ab"}', (north, north), 403),  # the client's beside the proxy's
        (b"[1, 2, 3, 4, 5]", (north,), 400),
        (b"no JSON at all", (north,), 400),
    ]
    for body, headers, status in cases:
        start, end = asked(middleware, body, *headers)
        assert start["status"] == status
        assert json.loads(end["body"])["error"]["code"] == status
    start, end = asked(middleware, b'{"prompt": "ab"}', path="/v1/embeddings")
    assert end["body"] == b'{"prompt": "ab"}'


def test_a_socket_that_nobody_looks_into_is_closed(policy: Path) -> None:
    middleware = GatewayMiddleware(echo, Gateway(Policy.load(policy)))
    answered: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        answered.append(message)

    asyncio.run(middleware({"type": "websocket", "path": "/v1/realtime"}, None, send))
    assert answered == [{"type": "websocket.close"}]


KILLED = """
import os, sys
from pathlib import Path
from pura.embed.serving.gateway import Gateway, Policy
gateway = Gateway(Policy.load(Path(sys.argv[1])))
for at in range(1000):
    ready = gateway.ready({"model": "m"}, "north")
    print(ready["vllm_xargs"]["pura_payload"], flush=True)  # the answer leaves
"""


@pytest.mark.skipif(os.name != "posix", reason="kill -9 is of POSIX")
def test_killed_between_row_and_answer_no_answer_lacks_its_row(policy: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(policy)], stdout=subprocess.PIPE, text=True
    )
    answers = [child.stdout.readline().strip() for _ in range(20)]
    child.send_signal(signal.SIGKILL)
    answers += child.stdout.read().split()
    child.wait()
    child.stdout.close()
    written = {Payload(text=row["payload"]).hex for row in rows(policy)}
    assert len(answers) >= 20
    assert set(answers) <= written
