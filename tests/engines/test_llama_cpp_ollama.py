"""Our server of llama.cpp as Ollama's users meet it: Ollama's own client library, and its store.

Ollama itself is not here. The store is laid out as Ollama's documentation of its files says.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ollama
import pytest
from tests.core.embed.serving.hostile import HOSTILE, HostileRequest, send

from conftest import Deployed, check_hostile, free_port, private, rows_in, running

LENGTH = 200
MODEL = "council"
QUESTION = [{"role": "user", "content": "Write about the harbour of our town, at length."}]
PROMPT = "Write about the city council and the old harbour, at length."


def write_store(folder: Path, weights: Path) -> Path:
    """Lay out a store with one model, its system prompt and its settings."""
    blobs = folder / "blobs"
    blobs.mkdir(parents=True)

    def layer(kind: str, content: bytes) -> dict[str, Any]:
        digest = hashlib.sha256(content).hexdigest()
        (blobs / f"sha256-{digest}").write_bytes(content)
        media = f"application/vnd.ollama.image.{kind}"
        return {"mediaType": media, "digest": f"sha256:{digest}", "size": len(content)}

    manifest = folder / "manifests" / "registry.ollama.ai" / "library" / MODEL / "latest"
    manifest.parent.mkdir(parents=True)
    layers = [
        layer("model", weights.read_bytes()),
        layer("system", b"You write for a local newspaper."),
        layer("params", json.dumps({"stop": ["<|im_end|>"], "temperature": 0.1}).encode()),
        layer("license", b"Apache-2.0"),
    ]
    manifest.write_text(json.dumps({"schemaVersion": 2, "layers": layers}))
    return folder


def contents(folder: Path) -> dict[str, tuple[int, int]]:
    """Return size and time of each file of a folder."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(p): (p.stat().st_size, p.stat().st_mtime_ns) for p in files}


@pytest.fixture(scope="module")
def server(
    deployed: Deployed, gguf: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The address of the server, with the gateway inside and a model of a store."""
    store = write_store(tmp_path_factory.mktemp("ollama"), gguf)
    folder = deployed.folder
    policy = {
        "deployment": "house",
        "profile": "house.json",
        "engine": "llama.cpp",
        "models": [f"{MODEL}:latest", MODEL],
        "customers": {"north": None, "south": None},
        "proxy": {"addresses": ["127.0.0.1"], "header": "x-openwebui-user-id"},
        "log": "issued",
    }
    private(folder / "gateway.json", json.dumps(policy))
    serving = {"deployments": {"house": {"profile": "house.json", "key": "house.key"}}}
    private(folder / "inside.json", json.dumps(serving))
    files = {"PURA_SERVING": "inside.json", "PURA_GATEWAY": "gateway.json"}
    environment = os.environ | {name: str(folder / file) for name, file in files.items()}
    url = f"http://127.0.0.1:{(port := free_port())}"
    command = [sys.executable, "-m", "pura.embed.serving.llama_cpp", "--ollama", MODEL]
    command += ["--port", str(port), "--threads", "1", "--gateway"]
    before = contents(store)
    with running(
        command,
        f"{url}/api/version",
        folder / "engine.log",
        environment | {"OLLAMA_MODELS": str(store)},
    ):
        yield url
    assert contents(store) == before


def client(server: str, who: str = "north") -> ollama.Client:
    return ollama.Client(server, headers={"x-openwebui-user-id": who}, timeout=300)


@pytest.fixture(scope="module")
def north(server: str) -> ollama.Client:
    return client(server)


def check_newest(text: str, deployed: Deployed, who: str) -> None:
    """Demand that a text carries the payload of the newest row."""
    row = rows_in(deployed.folder)[-1]
    assert row["who"] == who
    deployed.check(text, "house", int(row["payload"], 2))


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("route", ["generate", "chat"])
@pytest.mark.parametrize("who", ["north", "south"])
def test_an_answer_to_ollamas_client_carries_the_payload_of_its_row(
    server: str, deployed: Deployed, who: str, route: str, *, stream: bool
) -> None:
    asking = client(server, who)
    options = {"num_predict": LENGTH, "temperature": 0.2, "seed": 5, "num_ctx": 4096}
    for _ in range(20):  # a text that the model ends at once carries too little
        if route == "chat":
            made: Any = asking.chat(MODEL, QUESTION, stream=stream, options=options)
        else:
            made = asking.generate(MODEL, PROMPT, stream=stream, options=options)
        parts = list(made) if stream else [made]
        text = "".join(p.message.content if route == "chat" else p.response for p in parts)
        last = parts[-1]
        assert (last.done, last.done_reason in ("stop", "length")) == (True, True)
        assert last.prompt_eval_count > 0
        if last.eval_count > LENGTH / 2:
            break
    assert not stream or len(parts) > LENGTH / 2
    check_newest(text, deployed, who)


def test_the_model_is_listed_as_ollama_lists_it(north: ollama.Client, gguf: Path) -> None:
    (listed,) = north.list().models
    assert (listed.model, listed.size) == (f"{MODEL}:latest", gguf.stat().st_size)
    assert listed.details is not None
    assert (listed.details.format, listed.details.family) == ("gguf", "llama")
    shown = north.show(MODEL)
    assert shown.template
    assert shown.modelinfo
    assert [running.model for running in north.ps().models] == [f"{MODEL}:latest"]


REFUSED: dict[str, dict[str, Any]] = {
    "a text to fill in": {"suffix": "and everyone agreed."},
    "a template of its own": {"template": "{{ .Prompt }} yes"},
    "a context of its own": {"context": [1, 2, 3]},
    "no template": {"raw": True},
    "pictures": {"images": [b"\x89PNG"]},
    "an answer in JSON": {"format": "json"},
    "likely tokens": {"logprobs": True},
    "two tokens": {"options": {"num_predict": 2}},
    "a penalty": {"options": {"repeat_penalty": 1.5}},
    "another model": {"model": "mayor"},
}


@pytest.mark.parametrize("changes", REFUSED.values(), ids=REFUSED)
def test_what_is_refused_says_why_and_leaves_no_row(
    north: ollama.Client, deployed: Deployed, changes: dict[str, Any]
) -> None:
    before = rows_in(deployed.folder)
    with pytest.raises(ollama.ResponseError) as refused:
        north.generate(**{"model": MODEL, "prompt": PROMPT, **changes})
    assert refused.value.status_code in (400, 404)
    assert isinstance(refused.value.error, str)
    assert rows_in(deployed.folder) == before


def test_an_answer_that_the_client_has_begun_is_refused(
    north: ollama.Client, deployed: Deployed
) -> None:
    before = rows_in(deployed.folder)
    begun = [*QUESTION, {"role": "assistant", "content": "It began"}]
    with pytest.raises(ollama.ResponseError) as refused:
        north.chat(MODEL, begun)
    assert refused.value.status_code == 400
    assert rows_in(deployed.folder) == before


@pytest.mark.parametrize("name", ["east", ""])
def test_who_is_no_customer_gets_no_answer(server: str, deployed: Deployed, name: str) -> None:
    before = rows_in(deployed.folder)
    with pytest.raises(ollama.ResponseError) as refused:
        client(server, name).generate(MODEL, PROMPT)
    assert refused.value.status_code == 403
    assert rows_in(deployed.folder) == before


@pytest.mark.parametrize("action", ["pull", "push", "delete", "create", "copy", "embed"])
def test_the_store_cannot_be_changed_from_outside(north: ollama.Client, action: str) -> None:
    arguments = {"copy": (MODEL, "mayor"), "embed": (MODEL, "text")}.get(action, (MODEL,))
    with pytest.raises(ollama.ResponseError) as refused:
        getattr(north, action)(*arguments)
    assert refused.value.status_code == 404


@pytest.mark.parametrize("request_", HOSTILE, ids=[request.title for request in HOSTILE])
def test_a_hostile_request_gets_the_payload_of_its_row_or_nothing(
    server: str, deployed: Deployed, request_: HostileRequest
) -> None:
    """The table of OpenAI's routes, which the server answers as well."""
    address = ("127.0.0.1", int(server.rpartition(":")[2]))
    headers = [("x-openwebui-user-id", "north")]
    body = request_.body(LENGTH, MODEL)
    check_hostile(deployed, request_, lambda: send(address, request_, body, headers))
