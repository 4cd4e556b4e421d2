"""vLLM's own HTTP server, asked as its clients ask it: the library of OpenAI."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import openai
import pytest
from tests.core.embed.serving.hostile import HOSTILE, HostileRequest, send

from conftest import (
    BUILTIN,
    PROMPTS,
    Deployed,
    check_hostile,
    free_port,
    named,
    private,
    rows_in,
    running,
)
from pura.embed.serving.routes import ENGINES
from pura.embed.serving.tickets import TICKET

LENGTH = 200
SECRET = "a secret of proxy and gateway"


def served(
    deployed: Deployed, file: Path, log: Path, *more: str, **variables: str
) -> Iterator[openai.OpenAI]:
    """Start the server with a file of deployments, and end it."""
    port = free_port()
    command = [
        # `vllm serve` of the package for processors asks for a distribution named vllm, and ends.
        *(sys.executable, "-m", "vllm.entrypoints.openai.api_server"),
        *("--model", str(deployed.model)),
        *("--served-model-name", BUILTIN, "--port", str(port), "--host", "127.0.0.1"),
        *("--dtype", "float32", "--enforce-eager", "--max-model-len", "512"),
        *("--logits-processors", "pura.embed.serving.vllm_v1:PuraLogitsProcessor"),
        *more,
    ]
    environment = os.environ | {"PURA_SERVING": str(file)} | variables
    environment.pop("VLLM_ENABLE_V1_MULTIPROCESSING", None)
    url = f"http://127.0.0.1:{port}"
    with (
        running(command, f"{url}/health", log, environment),
        openai.OpenAI(base_url=f"{url}/v1", api_key="none", timeout=300, max_retries=0) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client(deployed: Deployed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[openai.OpenAI]:
    yield from served(deployed, deployed.file, tmp_path_factory.mktemp("log") / "server.log")


def asked(client: openai.OpenAI, prompt: str, arguments: dict[str, str] | None, **more: Any) -> Any:
    body: dict[str, Any] = {"ignore_eos": True}
    if arguments is not None:
        body["vllm_xargs"] = arguments
    settings = {"max_tokens": LENGTH, "temperature": 1.0, **more}
    return client.completions.create(model=BUILTIN, prompt=prompt, extra_body=body, **settings)


def test_many_clients_at_once(client: openai.OpenAI, deployed: Deployed) -> None:
    """32 requests of eight threads, each with a payload of its own; every fourth unmarked."""

    def one(at: int) -> tuple[str | None, int, str]:
        name = (None, "house", "desk", "house")[at % 4]
        payload = at * 61 + 5
        arguments = None if name is None else deployed.arguments(name, payload)
        return name, payload, asked(client, PROMPTS[at % 4], arguments).choices[0].text

    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(one, range(32)))
    marked = [(name, payload, text, None) for name, payload, text in made if name is not None]
    named(deployed, marked)
    for name, _, text in made:
        assert name is not None or deployed.audit(text, "house").verdict != "mark"


def test_a_text_that_is_streamed(client: openai.OpenAI, deployed: Deployed) -> None:
    pieces = asked(client, PROMPTS[0], deployed.arguments("house", 0x7654321), stream=True)
    text = "".join(piece.choices[0].text for piece in pieces)
    deployed.check(text, "house", 0x7654321)


def test_a_client_that_leaves_early_disturbs_nobody(
    client: openai.OpenAI, deployed: Deployed
) -> None:
    leaving = asked(client, PROMPTS[1], deployed.arguments("desk", 9), stream=True)
    next(iter(leaving))
    leaving.close()
    made = asked(client, PROMPTS[1], deployed.arguments("desk", 10))
    deployed.check(made.choices[0].text, "desk", 10)


def test_a_stop_string_and_a_temperature_that_no_profile_has(
    client: openai.OpenAI, deployed: Deployed
) -> None:
    made = client.completions.create(
        model=BUILTIN,
        prompt=PROMPTS[1],
        max_tokens=LENGTH,
        stop=["e"],
        temperature=0.3,
        extra_body={"min_tokens": 120, "vllm_xargs": deployed.arguments("desk", 0x5A3)},
    )
    (one,) = made.choices
    assert one.finish_reason == "stop"
    assert not one.text.endswith("e")
    deployed.check(one.text, "desk", 0x5A3)


def test_a_chat(client: openai.OpenAI, deployed: Deployed) -> None:
    made = client.chat.completions.create(
        model=BUILTIN,
        messages=[{"role": "user", "content": "Write about the harbour of our town."}],
        max_tokens=LENGTH,
        extra_body={"ignore_eos": True, "vllm_xargs": deployed.arguments("house", 0xBEEF)},
    )
    text = made.choices[0].message.content
    assert text is not None
    deployed.check(text, "house", 0xBEEF)


def test_its_next_tokens_are_those_of_the_model_that_reads(client: openai.OpenAI) -> None:
    """As ``pura model fitness`` is asked before anybody relies on the server."""
    pura = str(Path(sys.executable).with_name("pura"))
    asking = [pura, "model", "fitness", BUILTIN, "--engine", str(client.base_url), "--json"]
    asked = subprocess.run(asking, capture_output=True, text=True, check=True)
    found = json.loads(asked.stdout)
    assert (found["engine_model"], found["word"], found["prefix"]) == (BUILTIN, "good", "none")
    assert found["top"] > 15
    assert found["kl_bits"]["value"] < 1e-3  # the same weights, float32 in both


@pytest.mark.parametrize("path", ["/v1/completions", "/v1/chat/completions"])
def test_every_field_that_vllm_knows_stands_in_the_table(client: openai.OpenAI, path: str) -> None:
    """By the document of the running server: a new version's fields are looked at first."""
    url = client.base_url.copy_with(path="/openapi.json")
    with urllib.request.urlopen(str(url), timeout=60) as answer:
        document = json.load(answer)
    body = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]
    named = document["components"]["schemas"][body["schema"]["$ref"].rpartition("/")[2]]
    route = ENGINES["vllm"].find("POST", path)
    assert route.fields is not None
    assert set(named["properties"]) == set(route.fields) | set(route.refused)


@pytest.mark.parametrize(
    "arguments",
    [
        {"pura_payload": "0x1", "pura_profile": "house"},
        {TICKET: "guessed"},
        {TICKET: f"{'0' * 16}.{'0' * 32}", "pura_payload": "0x1"},
    ],
)
def test_a_request_that_names_a_mark_by_itself_is_answered_with_400(
    client: openai.OpenAI, arguments: dict[str, str]
) -> None:
    with pytest.raises(openai.BadRequestError, match=TICKET):
        asked(client, PROMPTS[0], arguments)


def test_several_answers_to_one_request_are_refused(
    client: openai.OpenAI, deployed: Deployed
) -> None:
    with pytest.raises(openai.BadRequestError):
        asked(client, PROMPTS[2], deployed.arguments("house", 42), n=4)


def test_where_marks_are_required_a_request_without_a_ticket_is_refused(
    deployed: Deployed, tmp_path: Path
) -> None:
    stated = {**json.loads(deployed.file.read_text()), "required": True}
    strict = private(deployed.folder / "strict.json", json.dumps(stated))
    for client in served(deployed, strict, tmp_path / "server.log"):
        with pytest.raises(openai.BadRequestError, match=TICKET):
            asked(client, PROMPTS[0], None)
        made = asked(client, PROMPTS[0], deployed.arguments("house", 3))
        deployed.check(made.choices[0].text, "house", 3)


# --- the gateway inside the server, as ``--middleware`` ---------------------------------------


@pytest.fixture(scope="module")
def gateway(
    deployed: Deployed, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[openai.OpenAI]:
    """The server with the gateway in front; engine and adapter are a process of their own."""
    folder = deployed.folder
    private(folder / "proxy.secret", SECRET)
    policy = {
        "deployment": "house",
        "profile": "house.json",
        "models": ["council", BUILTIN],
        "customers": {"north": None, "south": None},
        "proxy": {"addresses": ["127.0.0.1"], "secret_file": "proxy.secret"},
        "log": "issued",
        "tickets": "tickets",
    }
    private(folder / "gateway.json", json.dumps(policy))
    stated = {**json.loads(deployed.file.read_text()), "required": True}
    inside = private(folder / "inside.json", json.dumps(stated))
    middleware = ("--middleware", "pura.embed.serving.gateway.GatewayMiddleware")
    yield from served(
        deployed,
        inside,
        tmp_path_factory.mktemp("log") / "server.log",
        *middleware,
        PURA_GATEWAY=str(folder / "gateway.json"),
    )


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("who", ["north", "south"])
def test_an_answer_through_the_gateway_carries_the_payload_of_its_row(
    gateway: openai.OpenAI, deployed: Deployed, who: str, *, stream: bool
) -> None:
    headers = {"x-pura-customer": who, "authorization": f"Bearer {SECRET}"}
    made = gateway.chat.completions.create(
        model=BUILTIN,
        messages=[{"role": "user", "content": "Write about the harbour of our town."}],
        max_tokens=LENGTH,
        stream=stream,
        extra_headers=headers,
        extra_body={"ignore_eos": True},
    )
    if stream:
        parts = [piece.choices[0].delta.content or "" for piece in made if piece.choices]
        assert len(parts) > LENGTH / 2
        text = "".join(parts)
    else:
        text = made.choices[0].message.content or ""
    row = rows_in(deployed.folder)[-1]
    assert row["who"] == who
    deployed.check(text, "house", int(row["payload"], 2))


@pytest.mark.parametrize("request_", HOSTILE, ids=[request.title for request in HOSTILE])
def test_a_hostile_request_gets_the_payload_of_its_row_or_nothing(
    gateway: openai.OpenAI, deployed: Deployed, request_: HostileRequest
) -> None:
    address = (str(gateway.base_url.host), int(gateway.base_url.port or 0))
    headers = [("x-pura-customer", "north"), ("authorization", f"Bearer {SECRET}")]
    body = request_.body(LENGTH, BUILTIN)
    check_hostile(deployed, request_, lambda: send(address, request_, body, headers))
