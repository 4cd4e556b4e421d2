"""How the detector stands load: texts come at a rate, whatever became of those before them.

``python bench/serve.py`` reads texts as a batch does, which gives the capacity of this machine,
then starts the service as a process and asks it at 0.5, 1 and 3 times that rate: texts answered a
second against the batch, seconds from question to answer, memory, and what was accepted and not
answered.
The texts are random words, each another one. ``--checks 20000 --words 8`` asks that many short ones
as fast as they are answered, and prints the memory on the way.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import httpx2 as httpx
import psutil

import _common
from pura.base.paths import user_paths
from pura.detect.options import AuditText
from pura.documents import from_text
from pura.keys import KeyRef
from pura.scheme import Profile, SecretKey
from pura.usecases.audits import Setup, prepared
from pura.usecases.environment import Environment

SEED = 31
SAMPLE = Path(__file__).resolve().parent.parent / "tests" / "data" / "samples" / "marked-tbcc.json"


@dataclass
class Run:
    """What came of one rate.

    Attributes:
        asked: Texts that were sent.
        refused: Those that were told to come again (429).
        seconds: Of each that was answered, from question to answer.
        lost: Accepted and not answered.
        wall: From the first question to the last answer.
        memory: MiB of the service before and after.
    """

    asked: int = 0
    refused: int = 0
    seconds: list[float] = field(default_factory=list)
    lost: int = 0
    wall: float = 0.0
    memory: tuple[float, float] = (0.0, 0.0)


def words(rng: random.Random, count: int) -> str:
    """Return a text of random words."""
    return " ".join(f"{rng.choice('bdfgklmnprst')}{rng.choice('aeiou')}t" for _ in range(count))


def batch(setup: Setup, at: Environment, texts: list[str]) -> float:
    """Return how many texts a second are read as a batch reads them."""
    items = [(n, AuditText(document=from_text(t, name="t"))) for n, t in enumerate(texts)]
    with prepared(at, setup) as ready:
        list(ready.stream(items[:2]))
        begun = time.perf_counter()
        list(ready.stream(items))
        return len(items) / (time.perf_counter() - begun)


async def one(client: httpx.AsyncClient, text: str, run: Run) -> None:
    """Ask one question and wait for its answer."""
    begun = time.perf_counter()
    told = await client.post("/v1/checks", json={"text": text})
    if told.status_code == 429:
        run.refused += 1
        return
    place = told.headers["location"]
    shown = told.json()
    while shown["status"] == "waiting":  # who has a token may wait for the answer
        found = await client.get(place)
        if found.status_code != 200:
            break
        shown = found.json()
    if shown["status"] == "done":
        run.seconds.append(time.perf_counter() - begun)
    else:
        run.lost += 1


async def load(where: str, token: str, rate: float, texts: list[str], process: Any) -> Run:
    """Ask at a rate, with gaps as chance makes them."""
    run, rng = Run(asked=len(texts)), random.Random(SEED)  # noqa: S311 - gaps, no secrets
    before = process.memory_info().rss / 2**20
    limits = httpx.Limits(max_connections=400)
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(
        base_url=where, timeout=600, limits=limits, headers=headers, trust_env=False
    ) as client:
        begun, tasks = time.perf_counter(), []
        for text in texts:
            tasks.append(asyncio.create_task(one(client, text, run)))
            await asyncio.sleep(rng.expovariate(rate))
        await asyncio.gather(*tasks)
        run.wall = time.perf_counter() - begun
    run.memory = before, process.memory_info().rss / 2**20
    return run


async def many(where: str, token: str, count: int, size: int, process: Any) -> None:
    """Ask many short questions, eight at a time, and print the memory after each tenth of them."""
    rng = random.Random(SEED)  # noqa: S311 - words, no secrets
    run, headers = Run(asked=count), {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(
        base_url=where, timeout=600, headers=headers, trust_env=False
    ) as client:
        for _ in range(10):
            left = [words(rng, size) for _ in range(count // 10)]

            async def asker(left: list[str] = left) -> None:
                while left:
                    await one(client, left.pop(), run)

            await asyncio.gather(*(asker() for _ in range(8)))
            held = process.memory_info().rss / 2**20
            print(f"{len(run.seconds)} checks: {held:.0f} MiB", flush=True)
    print(f"answered {len(run.seconds)}, refused {run.refused}, lost {run.lost}")


@contextmanager
def service(sample: dict[str, Any], *options: str) -> Iterator[tuple[str, str, psutil.Process]]:
    """Run the service as a process; lend its address, a token, and the process."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        (home / "data").mkdir()
        (home / "data" / "models").symlink_to(user_paths().models, target_is_directory=True)
        (home / "p.json").write_text(json.dumps(sample["profile"]))
        (home / "k.hex").write_text(sample["key_hex"])
        (home / "k.hex").chmod(0o600)
        there = os.environ | {"PURA_HOME": name}
        pura = [sys.executable, "-m", "pura.cli", "--quiet", "serve"]
        made = [*pura, "token", "new", "bench", "--role", "trusted", "--per-day", "1000000"]
        token = subprocess.check_output(made, env=there, text=True).strip()
        with closing(socket.create_server(("127.0.0.1", 0))) as free:
            listen = f"127.0.0.1:{free.getsockname()[1]}"
        given = ["--profile", home / "p.json", "--key-file", home / "k.hex", "--listen", listen]
        running = subprocess.Popen([*pura, *given, *options], env=there, stderr=subprocess.DEVNULL)
        try:
            while running.poll() is None:
                try:
                    httpx.get(f"http://{listen}/readyz", trust_env=False)
                    break
                except httpx.TransportError:
                    time.sleep(0.2)
            yield f"http://{listen}", token, psutil.Process(running.pid)
        finally:
            running.kill()
            running.wait()


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=40.0, help="of questions at each rate")
    parser.add_argument("--words", type=int, default=60, help="of a text")
    parser.add_argument("--texts", type=int, default=32, help="of the batch")
    parser.add_argument("--checks", type=int, help="only the memory over so many checks")
    chosen = parser.parse_args()
    _common.print_facts("The detector under load", SEED)
    rng = random.Random(SEED)  # noqa: S311 - words, no secrets
    sample = json.loads(SAMPLE.read_text("utf-8"))
    if chosen.checks:
        with service(sample) as (where, token, process):
            asyncio.run(many(where, token, chosen.checks, chosen.words, process))
        return
    key = SecretKey.from_hex(sample["key_hex"])
    profile = Profile.from_dict(sample["profile"])
    at = Environment(paths=user_paths(), device="auto", lent_keys={key.fingerprint: key})
    setup = Setup(keys=(KeyRef(fingerprint=key.fingerprint),), profile=profile)

    def texts(count: int) -> list[str]:
        return [words(rng, chosen.words) for _ in range(count)]

    capacity = batch(setup, at, texts(chosen.texts))
    at.held.drop()
    print(f"as a batch: {capacity:.2f} texts a second\n", flush=True)
    rows = []
    with service(sample) as (where, token, process):
        for factor in (0.5, 1.0, 3.0):
            rate = factor * capacity
            some = texts(max(8, round(rate * chosen.seconds)))
            run = asyncio.run(load(where, token, rate, some, process))
            ordered = sorted(run.seconds)
            rate_found = len(ordered) / run.wall
            rows.append(
                [
                    f"{factor:g}",
                    str(run.asked),
                    str(run.refused),
                    str(run.lost),
                    f"{rate_found:.2f}",
                    f"{rate_found / capacity:.2f}",
                    f"{statistics.median(ordered):.1f}",
                    f"{ordered[int(0.99 * (len(ordered) - 1))]:.1f}",
                    f"{run.memory[0]:.0f} → {run.memory[1]:.0f}",
                ]
            )
            print(rows[-1], flush=True)
    again = batch(setup, at, texts(chosen.texts))
    print(f"\nas a batch, afterwards: {again:.2f} texts a second\n")
    _common.print_table(
        (
            "rate / capacity",
            "asked",
            "429",
            "lost",
            "answered / s",
            "of the batch",
            "p50, s",
            "p99, s",
            "memory, MiB",
        ),
        rows,
    )


if __name__ == "__main__":
    main()
