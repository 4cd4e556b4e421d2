"""How fast the register is: import, look-up, drawing and check; exit status 1 when one is missed.

    python bench/register.py [--rows 1000000] [--drawn 500] [--look-ups 2000] [--folder DIR]

Rows are given at random among all payloads of 36 bits, seed 1, under one key and one profile. Then
some of them are looked up by their mark, and as many marks that were never issued; payloads are
drawn one by one and in batches of 64; and the whole chain is checked. Seconds are those of the
clock. The register is written to a fresh folder, on the disk that is named.
"""

from __future__ import annotations

import argparse
import platform
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from _common import parse
from pura.register.rows import Issue, Recipient
from pura.register.store import Register
from pura.register.verification import verify
from pura.scheme import MarkIdentity, Payload, PayloadSeries

BITS = 36
SERIES = PayloadSeries(key="a" * 16, profile="b" * 16)
BATCH = 64
# A look-up stands between two tokens of a gateway's answer, so it has a target; the rest is stated.
LOOK_UP_MS = 1.0


def mark(number: int) -> MarkIdentity:
    return SERIES.mark(Payload.from_int(number, BITS))


def issues(numbers: list[int]) -> Iterator[tuple[int, Issue]]:
    for row, number in enumerate(numbers, start=1):
        recipient = Recipient(who=f"customer-{row}", when="2026-11-28", model="m")
        yield row, Issue.of(mark(number), recipient)


def seconds(action: Callable[[], object]) -> float:
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def look_ups(register: Register, numbers: list[int]) -> list[float]:
    return [1000 * seconds(lambda number=number: register.find(mark(number))) for number in numbers]


def line(name: str, amount: float, unit: str) -> None:
    print(f"{name:34} {amount:12,.3f} {unit}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--drawn", type=int, default=500)
    parser.add_argument("--look-ups", type=int, default=2000)
    parser.add_argument("--folder", type=Path)
    arguments = parse(parser, rows=1000, drawn=5, look_ups=20)
    source = random.Random(1)  # noqa: S311 - which rows there are, no secret
    numbers = source.sample(range(1 << BITS), arguments.rows + arguments.look_ups)
    present, absent = numbers[: arguments.rows], numbers[arguments.rows :]
    print(
        f"{platform.machine()}, Python {platform.python_version()}, SQLite", sqlite3.sqlite_version
    )
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        path = Path(folder) / "register.sqlite3"
        with Register(path, create=True) as register:
            line("import", seconds(lambda: register.add_many(issues(present))), "s")
            asked = source.sample(present, min(arguments.look_ups, len(present)))
            slowest = 0.0
            for name, chosen in (("look-up, issued", asked), ("look-up, never issued", absent)):
                times = sorted(look_ups(register, chosen))
                median, late = statistics.median(times), times[int(0.99 * (len(times) - 1))]
                line(f"{name}: median", median, "ms")
                line(f"{name}: 99 % below", late, "ms")
                slowest = max(slowest, median)
            recipient = Recipient(who="customer", when="2026-11-28")
            single = seconds(
                lambda: [register.draw(SERIES, BITS, recipient) for _ in range(arguments.drawn)]
            )
            line("drawn one by one", arguments.drawn / single, "a second")
            batch = seconds(lambda: register.draw_many(SERIES, BITS, [recipient] * BATCH))
            line(f"drawn {BATCH} at once", BATCH / batch, "a second")
        line("size", path.stat().st_size / 1e6, "MB")
        with Register(path, read_only=True) as register:
            begin = time.perf_counter()
            check = verify(register)
            line("verify", time.perf_counter() - begin, "s")
    if not check.sound:
        print("missed: the register must be sound")
        return 1
    if slowest > LOOK_UP_MS:
        print("missed: a look-up must take less than", LOOK_UP_MS, "ms")
        return 0 if arguments.small else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
