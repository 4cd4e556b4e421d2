"""What a batch costs around the reading of texts: memory, rows a second, kills, workers, nodes.

    python bench/batch.py                 # memory and rows a second, local workers
    python bench/batch.py --kills 50      # kills a batch at random moments; same bytes?
    python bench/batch.py --nodes 1 2     # Ray clusters on this machine
    python bench/batch.py --model 24      # with the built-in model: texts one by one and together

Texts are short and foreign to the keys. Without ``--model`` a reader stands in for the model, so
that what is measured is the batch alone: inputs, journal, workers, result.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psutil

from _common import print_facts, print_table
from _fast_reader import FastPlan, lend, work
from pura.batch.engine import local
from pura.batch.inputs import Inputs
from pura.batch.journal import BatchStatus

HERE = Path(__file__).resolve().parent
# Workers are told what to do by a module of this folder.
os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE), *filter(None, sys.path)])


def table(path: Path, rows: int) -> Inputs:
    """Write rows of some words, every tenth of them one that was there before."""
    rng = random.Random(14)  # noqa: S311 - words, no secrets
    words = [f"word{n}" for n in range(500)]
    with path.open("w", encoding="utf-8") as file:
        kept: list[str] = []
        for number in range(rows):
            again = number % 10 == 9
            text = rng.choice(kept) if again else " ".join(rng.choices(words, k=12)) + f" {number}"
            kept = [*kept[-99:], text]
            file.write(json.dumps({"id": number, "text": text}) + "\n")
    return Inputs(names=(str(path),))


def cpu_seconds() -> float:
    """Return the processor's time of this process and of those that it ended."""
    return sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def memory(folder: Path, rows: int) -> None:
    """Print memory and time over the rows."""
    inputs = table(folder / "rows.jsonl", rows)
    process = psutil.Process()
    found: list[tuple[str, ...]] = []
    begun, step = cpu_seconds(), rows // 10

    def tell(status: BatchStatus) -> None:
        if status.rows >= step * (len(found) + 1):
            held = process.memory_info().rss / 2**20
            found.append((f"{status.rows:,}", f"{held:.1f}", f"{cpu_seconds() - begun:.1f}"))

    work(str(folder / "out.jsonl"), folder / "journal", inputs, tell=tell)
    held = process.memory_info().rss / 2**20
    found.append(("written", f"{held:.1f}", f"{cpu_seconds() - begun:.1f}"))
    print_table(("rows", "memory, MiB", "CPU seconds"), found)
    begun = cpu_seconds()
    work(str(folder / "again.jsonl"), folder / "journal", inputs)
    same = (folder / "again.jsonl").read_bytes() == (folder / "out.jsonl").read_bytes()
    seconds = cpu_seconds() - begun
    size = (folder / "journal").stat().st_size / rows
    print(f"Again, nothing to read: {seconds:.1f} CPU seconds, same bytes: {same}.")
    print(f"Journal: {size:.0f} bytes a row.\n", flush=True)


def kills(folder: Path, wanted: int, jobs: int) -> None:
    """Kill a batch at random moments, then compare its result with that of one in one go."""
    inputs = table(folder / "rows.jsonl", 20_000)
    work(str(folder / "whole.jsonl"), folder / "whole", inputs)
    rng = random.Random(50)  # noqa: S311 - moments
    out, journal = folder / "out.jsonl", folder / "journal"
    program = [sys.executable, HERE / "_fast_reader.py", out, journal, "0.001", str(jobs)]
    killed = 0
    while not out.exists():
        child = psutil.Popen([*map(str, program), *inputs.names])
        # In its own seconds, or a busy machine would never let it get anywhere.
        moment = rng.uniform(0.2, 1.5)
        while child.poll() is None:
            time.sleep(0.005)
            with suppress(psutil.NoSuchProcess):
                spent = child.cpu_times()
                if killed < wanted and spent.user + spent.system > moment:
                    child.send_signal(signal.SIGKILL)
                    child.wait()
                    killed += 1
        if child.returncode not in (0, -signal.SIGKILL):
            sys.exit("the batch failed")
    same = out.read_bytes() == (folder / "whole.jsonl").read_bytes()
    print(f"{killed} kills, {jobs} jobs, 20,000 rows: same bytes as in one go: {same}.", flush=True)
    if not same:
        sys.exit(1)


def workers(folder: Path) -> None:
    """Print how the time on the clock falls with workers, where each text takes 10 ms."""
    inputs = table(folder / "few.jsonl", 2000)
    found = []
    for jobs in (1, 2):
        plan = FastPlan(seconds=0.01)
        engine = local(plan, lend, jobs)
        begun, cpu = time.perf_counter(), cpu_seconds()
        name = str(folder / f"{jobs}.jsonl")
        work(name, folder / f"j{jobs}", inputs, engine, plan)
        clock = time.perf_counter() - begun
        found.append((str(jobs), f"{clock:.1f}", f"{cpu_seconds() - cpu:.1f}"))
    print_table(("processes", "seconds", "CPU seconds"), found)


def nodes(folder: Path, count: int) -> None:
    """Print what a cluster of this machine makes of it, where each text takes 10 ms."""
    inputs = table(folder / "cluster.jsonl", 2000)
    with tempfile.TemporaryDirectory(prefix="r") as short:
        done = subprocess.run(
            [
                sys.executable,
                HERE / "_fast_cluster.py",
                folder,
                str(count),
                "0.01",
                str(2 * count),
                *inputs.names,
            ],
            env=os.environ | {"RAY_TEMP": short},
            capture_output=True,
            text=True,
            check=True,
        )
    print(f"{2 * count} actors: {done.stdout.strip()}", flush=True)


def model(folder: Path, texts: int) -> None:
    """Print texts a second with the built-in model, one by one and side by side."""
    from pura.base.paths import resource, user_paths
    from pura.detect.options import AuditText
    from pura.documents import from_text
    from pura.scheme import Profile, SecretKey
    from pura.usecases.audits import Setup, prepared
    from pura.usecases.environment import Environment

    sample = json.loads(resource("samples", "plain.json").read_text(encoding="utf-8"))
    profile = json.loads(resource("samples", "marked.json").read_text(encoding="utf-8"))["profile"]
    at = Environment(paths=user_paths(), device="cpu")
    ref = at.session_keys.add(SecretKey.generate())
    words = " ".join(one["text"] for one in sample["texts"]).split()
    pile = [
        AuditText(document=from_text(" ".join(words[n * 40 : n * 40 + 40]))) for n in range(texts)
    ]
    setup = Setup(keys=(ref,), profile=Profile.from_dict(profile), ask_register=False)
    found = []
    with prepared(at, setup) as ready:
        ready.audit(pile[0])
        for together in (1, 4, 16):
            begun = time.process_time()
            for start in range(0, texts, together):
                ready.audit_many(pile[start : start + together])
            seconds = time.process_time() - begun
            found.append((str(together), f"{seconds:.1f}", f"{texts / seconds:.2f}"))
    print_table(("side by side", "CPU seconds", "texts a CPU second"), found)


def main() -> None:
    """Run what was asked for."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--rows", type=int, default=100_000)
    asked.add_argument("--kills", type=int, default=0)
    asked.add_argument("--jobs", type=int, default=2)
    asked.add_argument("--nodes", type=int, nargs="*", default=[])
    asked.add_argument("--model", type=int, default=0, metavar="TEXTS")
    given = asked.parse_args()
    print_facts("Batch", seed=14)
    with tempfile.TemporaryDirectory(prefix="pura-bench-") as name:
        folder = Path(name)
        if given.kills:
            kills(folder, given.kills, given.jobs)
        elif given.model:
            model(folder, given.model)
        elif given.nodes:
            for count in given.nodes:
                inner = folder / str(count)
                inner.mkdir()
                nodes(inner, count)
        else:
            memory(folder, given.rows)
            workers(folder)


if __name__ == "__main__":
    main()
