"""What somebody with a token notices of attacks: seconds to an answer, idle and beside each.

``python bench/serve_attacks.py`` starts the service as a process and asks it one text after the
other, while another process attacks it from many address blocks: eight bodies of 8 MiB at a
trickle; forty texts with a C2PA manifest of 8 kB at a time; four PDFs of 4,000 pages; 2,000
questions of one character; 200 connections. Each attack goes on until the last answer is there.
The texts are random words, each another one.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import multiprocessing
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parent))

import httpx2 as httpx

import _common
from pura.documents import characters
from serve import SAMPLE, SEED, service, words

LONGEST_S: Final = 540.0
"""An attack ends by itself, whatever becomes of whoever began it."""
BODY: Final = 8 << 20
PAGES: Final = 4000
QUESTIONS: Final = 2000
POST: Final = b"POST /v1/checks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"

PROXY: Final = ("--proxy", "127.0.0.1", "--host", "localhost")
OPEN: Final = ("--anyone", *PROXY, "--per-day", "0", "--per-day-block", "0")
"""Without budgets: what is measured is what stands behind them."""

Attack = Callable[[str, int], Coroutine[Any, Any, None]]


def block(number: int) -> dict[str, str]:
    """Return what makes the proxy of this machine somebody from another block."""
    return {"X-Forwarded-For": f"198.{18 + number % 2}.{number // 2 % 250}.1"}


def hostile_pdf() -> bytes:
    """Return a PDF of some kilobytes whose pages are one object with many lines."""
    lines = "".join(f"1 0 0 1 72 {n % 700} Tm (Plain words of a line {n}.) Tj " for n in range(300))
    stream = f"BT /F1 12 Tf {lines} ET"
    box, font = "/MediaBox [0 0 612 792]", "<< /Font << /F1 5 0 R >> >>"
    objects = (
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{'3 0 R ' * PAGES}] /Count {PAGES} >>",
        f"<< /Type /Page /Parent 2 0 R /Contents 4 0 R {box} /Resources {font} >>",
        f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    )
    made = "".join(f"{n} 0 obj\n{body}\nendobj\n" for n, body in enumerate(objects, 1))
    return f"%PDF-1.7\n{made}trailer << /Size 6 /Root 1 0 R >>\n%%EOF\n".encode()


async def repeated(count: int, once: Callable[[int], Coroutine[Any, Any, None]]) -> None:
    """Do something again and again, so many times at once."""
    number = itertools.count()

    async def again() -> None:
        while True:
            with suppress(OSError, httpx.HTTPError):
                await once(next(number))

    await asyncio.gather(*(again() for _ in range(count)))


async def slow_bodies(host: str, port: int) -> None:
    """Send eight large bodies but for their end, and that byte by byte."""

    async def once(number: int) -> None:
        _, writer = await asyncio.open_connection(host, port)
        header = f"X-Forwarded-For: {block(number)['X-Forwarded-For']}\r\n".encode()
        writer.write(POST + header + b"Content-Length: %d\r\n\r\n" % BODY)
        writer.write(b" " * (BODY - 1000))
        for _ in range(100):
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.5)

    await repeated(8, once)


async def posted(
    host: str, port: int, count: int, content: Callable[[int], dict[str, Any]], most: int = 0
) -> None:
    """Ask again and again, so many at once, and fewer than a number in all."""
    limits = httpx.Limits(max_connections=count)
    async with httpx.AsyncClient(
        base_url=f"http://{host}:{port}", timeout=60, limits=limits, trust_env=False
    ) as client:

        async def once(number: int) -> None:
            if most and number >= most:
                await asyncio.sleep(1.0)
                return
            told = await client.post("/v1/checks", headers=block(number), **content(number))
            if told.status_code == 429:
                await asyncio.sleep(0.2)

        await repeated(count, once)


async def manifests(host: str, port: int) -> None:
    """Ask about texts with a manifest, forty at a time."""
    rng = random.Random(SEED)  # noqa: S311 - words, no secrets
    head = b"C2PATXT\0\x01" + (8000).to_bytes(4, "big")
    hidden = "\ufeff" + characters.encode(head + rng.randbytes(8000))
    await posted(host, port, 40, lambda _: {"json": {"text": words(rng, 60) + hidden}})


async def pdfs(host: str, port: int) -> None:
    """Send four hostile PDFs at a time."""
    data = hostile_pdf()
    await posted(host, port, 4, lambda _: {"files": {"file": ("a.pdf", data)}})


async def single_characters(host: str, port: int) -> None:
    """Ask 2,000 questions of one character."""
    await posted(host, port, 20, lambda n: {"json": {"text": chr(0x4E00 + n)}}, most=QUESTIONS)


async def connections(host: str, port: int) -> None:
    """Hold 200 connections that owe something."""
    begun = (b"", b"GET /healthz HTTP/1.1\r\nX: ", POST + b"Content-Length: 9\r\n\r\n{")

    async def once(number: int) -> None:
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(begun[number % 3])
        await writer.drain()
        await reader.read()  # until it is cut off
        writer.close()

    await repeated(200, once)


ATTACKS: Final[dict[str, Attack]] = {
    "8 bodies at a trickle": slow_bodies,
    "40 texts with a manifest": manifests,
    "4 PDFs of 4,000 pages": pdfs,
    "2,000 questions of one character": single_characters,
    "200 connections": connections,
}


def attack(name: str, host: str, port: int) -> None:
    """Attack until somebody ends this process, or its time is over."""

    async def bounded() -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(ATTACKS[name](host, port), LONGEST_S)

    asyncio.run(bounded())


def asked(where: str, token: str, count: int, rng: random.Random) -> tuple[list[float], int]:
    """Ask one text after the other; return the seconds of each answer, and how often refused."""
    seconds, refused = [], 0
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=where, timeout=600, headers=headers, trust_env=False) as client:
        for _ in range(count):
            begun = time.perf_counter()
            told = client.post("/v1/checks", json={"text": words(rng, 60)})
            if told.status_code == 429:
                refused += 1
                continue
            place, shown = told.headers.get("location", ""), told.json()
            while shown["status"] == "waiting":
                time.sleep(0.05)  # a client asks again, not without a pause
                shown = client.get(place).json()
            assert shown["status"] == "done", shown
            seconds.append(time.perf_counter() - begun)
    return seconds, refused


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--questions", type=int, default=40, help="beside each attack")
    parser.add_argument("--attack", action="append", choices=ATTACKS, help="only this one")
    parser.add_argument("--rest", type=float, default=5.0, help="seconds after each attack")
    chosen = _common.parse(parser, questions=1, attack=["200 connections"], rest=0.0)
    _common.print_facts("A detector under attack", SEED)
    sample = json.loads(SAMPLE.read_text("utf-8"))
    rng, rows = random.Random(SEED), []  # noqa: S311 - words, no secrets
    spawn = multiprocessing.get_context("spawn")
    with service(sample, *OPEN) as (where, token, _):
        host, _, port = where.removeprefix("http://").rpartition(":")
        asked(where, token, 3, rng)
        for name in ("idle", *(chosen.attack or ATTACKS), "idle again"):
            attacker = None
            if name in ATTACKS:
                attacker = spawn.Process(target=attack, args=(name, host, int(port)), daemon=True)
                attacker.start()
                time.sleep(3.0)  # the attack is under way before anything is measured
            try:
                seconds, refused = asked(where, token, chosen.questions, rng)
            finally:
                if attacker is not None:
                    attacker.terminate()
                    attacker.join()
            ordered = sorted(seconds)
            p50, p99 = statistics.median(ordered), ordered[int(0.99 * (len(ordered) - 1))]
            load = f"{os.getloadavg()[0]:.1f}"
            rows.append([name, str(len(seconds)), str(refused), f"{p50:.2f}", f"{p99:.2f}", load])
            print(rows[-1], flush=True)
            time.sleep(chosen.rest)
    _common.print_table(("beside", "answered", "refused", "p50, s", "p99, s", "load"), rows)


if __name__ == "__main__":
    main()
