"""Throughput of vLLM's server behind the gateway: 1, 8 and 32 streamed requests at once.

Run ``.engines/vllm/bin/python bench/serving_throughput.py`` after ``packaging/weekly.sh engines``.
Two servers run side by side and are asked in turn: vLLM as it is, and vLLM with adapter and
gateway. The second one answers unmarked requests too, which cost the gateway alone. With
``--manifests`` marked answers are signed. The processor's time is that of all processes of a
server, so that other programs hardly count; the time to the first token is the clock's, and they
do.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import psutil

import _common

SEED = 20_261_129
ROOT = Path(__file__).resolve().parents[1]
MODEL = "smollm2-135m"
PROMPT = "The city council met on Tuesday evening to discuss the new plan for the harbour and"
BATCHES = (1, 8, 32)
CUSTOMER = "north"
# A server loads weights and compiles before it answers.
STARTS_S = 900.0


@dataclass(kw_only=True)
class Way:
    """One way to have texts written.

    Attributes:
        port: Of the server.
        process: The server's number.
        headers: Of each request.
        seconds: Of the processor's time, a round each.
        first: Seconds to the first token, a request each.
    """

    port: int
    process: int
    headers: dict[str, str]
    seconds: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)


def write_files(folder: Path, vocab_size: int, *, manifests: bool) -> None:
    """Write key, profile, deployments and policy."""
    from pura.scheme import Profile, SecretKey

    write = _common.write_private
    write(
        folder / "house.json",
        Profile(payload_bits=36, code="tbcc", vocab_size=vocab_size).to_json(),
    )
    write(folder / "house.key", SecretKey(bytes(range(32))).to_hex())
    house = {"profile": "house.json", "key": "house.key"}
    serving = {"deployments": {"house": house}, "required": False, "tickets": "tickets"}
    write(folder / "serving.json", json.dumps(serving))
    policy: dict[str, object] = {
        "deployment": "house",
        "profile": "house.json",
        "models": [MODEL],
        "customers": {CUSTOMER: None},
        "proxy": {"addresses": ["127.0.0.1"]},
        "log": "issued",
        "tickets": "tickets",
        "required": False,
    }
    if manifests:
        policy["manifest"] = _common.write_signer(folder)
    write(folder / "gateway.json", json.dumps(policy))


@contextmanager
def serving(model: Path, folder: Path, *, marked: bool) -> Iterator[tuple[int, int]]:
    """Run a server; yields port and process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(model)]
    command += ["--served-model-name", MODEL, "--port", str(port), "--host", "127.0.0.1"]
    command += ["--dtype", "float32", "--enforce-eager", "--max-model-len", "512"]
    command += ["--max-num-seqs", str(max(BATCHES))]
    if marked:
        command += ["--logits-processors", "pura.embed.serving.vllm_v1:PuraLogitsProcessor"]
        command += ["--middleware", "pura.embed.serving.gateway.GatewayMiddleware"]
    environment = os.environ | {
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_USE_V2_MODEL_RUNNER": "0",
        "VLLM_NO_USAGE_STATS": "1",
        "PURA_SERVING": str(folder / "serving.json"),
        "PURA_GATEWAY": str(folder / "gateway.json"),
    }
    environment.pop("VLLM_ENABLE_V1_MULTIPROCESSING", None)
    with (folder / f"{port}.log").open("wb") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        end = time.monotonic() + STARTS_S
        while True:
            if server.poll() is not None or time.monotonic() > end:
                raise RuntimeError((folder / f"{port}.log").read_text()[-4000:])
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
                    break
            except OSError:
                time.sleep(0.5)  # until it is asked again whether it is up
        yield port, server.pid
    finally:
        server.terminate()
        server.wait(60)


def processor_seconds(process: int) -> float:
    """Return what a server and its processes have used of the processor."""
    server = psutil.Process(process)
    return sum(sum(one.cpu_times()[:2]) for one in (server, *server.children(recursive=True)))


def ask(way: Way, tokens: int) -> float:
    """Have one text written, streamed; returns the seconds to its first token."""
    body = {"model": MODEL, "prompt": PROMPT, "max_tokens": tokens, "stream": True}
    content = json.dumps({**body, "ignore_eos": True})
    connection = HTTPConnection("127.0.0.1", way.port, timeout=600)
    headers = {"content-type": "application/json", **way.headers}
    start = time.monotonic()
    connection.request("POST", "/v1/completions", content, headers)
    answer = connection.getresponse()
    answer.readline()
    first = time.monotonic() - start
    rest = answer.read()
    connection.close()
    if answer.status != 200 or b"[DONE]" not in rest or b'"error"' in rest:
        at = max(0, rest.find(b'"error"') - 200)
        raise RuntimeError(f"status {answer.status}: {rest[at : at + 1000].decode()}")
    return first


def measure(ways: dict[str, Way], batch: int, tokens: int, rounds: int) -> list[list[str]]:
    """Return the rows of a number of requests at once."""

    def write(way: Way) -> None:
        start = processor_seconds(way.process)
        with ThreadPoolExecutor(batch) as clients:
            way.first += clients.map(lambda _: ask(way, tokens), range(batch))
        way.seconds.append(processor_seconds(way.process) - start)

    def warmed(way: Way) -> None:
        write(way)
        way.seconds.clear()
        way.first.clear()

    for way in ways.values():
        warmed(way)
    calls: dict[str, Callable[[], None]] = {
        name: (lambda way=way: write(way)) for name, way in ways.items()
    }
    _common.interleaved(calls, rounds=rounds, warm_ups=0)
    seconds = {name: way.seconds for name, way in ways.items()}
    base = next(iter(ways))
    return [
        [
            name,
            str(batch),
            f"{1000 * statistics.median(way.seconds) / batch / tokens:.1f}",
            f"{_common.median_ratio(seconds, name, base):.3f}",
            f"{max(way.seconds) / min(way.seconds):.2f}",
            f"{1000 * statistics.median(way.first):.0f}",
            f"{1000 * sorted(way.first)[int(0.99 * (len(way.first) - 1))]:.0f}",
        ]
        for name, way in ways.items()
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--manifests", action="store_true", help="sign each marked text")
    options = _common.parse(parser, tokens=5, rounds=1)
    from pura.base.paths import user_paths

    model = user_paths().models / MODEL
    size = json.loads((model / "pura-model.json").read_text())["vocab_size"]
    _common.print_facts("vLLM's server behind the gateway", SEED)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, size, manifests=options.manifests)
        with (
            serving(model, folder, marked=False) as (plain, one),
            serving(model, folder, marked=True) as (marked, two),
        ):
            rows = []
            for batch in BATCHES:
                ways = {
                    "vLLM alone": Way(port=plain, process=one, headers={}),
                    "gateway, unmarked": Way(port=marked, process=two, headers={}),
                    "gateway, marked": Way(
                        port=marked, process=two, headers={"x-pura-customer": CUSTOMER}
                    ),
                }
                rows += measure(ways, batch, options.tokens, options.rounds)
    _common.print_table(
        [
            "way",
            "requests",
            "processor, ms a token",
            "× alone",
            "noise",
            "first token, ms",
            "p99",
        ],
        rows,
    )


if __name__ == "__main__":
    main()
