"""Marked passages inside long texts by people: what is found, where, and what it costs.

``python bench/long_documents.py --cache DIR`` prints the table of docs/study.md §5. The marked
texts are those of the study's cell ``tbcc-36`` (``bench/evidence.py generate``), the text around
them is ``tests/data/human.txt``; tokens are spliced, so nothing is tokenised again. A text of
5,000 tokens is read once; shorter ones are its beginnings, since no token's reading looks ahead.
What is read stays in the cache: a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np

import _common
from pura.decode import ExactDecision, decide, default_model
from pura.lab.cells import CELLS, SEED
from pura.lab.evaluate import TextReading
from pura.lab.shelf import Shelf
from pura.scheme import Payload, SecretKey, schedule

HUMAN = Path(__file__).resolve().parent.parent / "tests" / "data" / "human.txt"
SOURCE = CELLS["tbcc-36"]
FOUND = 6.0


@dataclass(frozen=True, kw_only=True)
class Job:
    """Documents built alike.

    Attributes:
        passage: Marked tokens of a text that are put in.
        tokens: Length of the document, the passage included.
        texts: How many documents.
    """

    passage: int
    tokens: int
    texts: int

    @property
    def name(self) -> str:
        return f"long.{self.passage}in{self.tokens}"


JOBS = (
    Job(passage=200, tokens=200, texts=8),
    Job(passage=200, tokens=5000, texts=8),
    Job(passage=200, tokens=1800, texts=64),
    Job(passage=100, tokens=1800, texts=8),
    Job(passage=60, tokens=500, texts=8),
)
CUTS = {5000: (500, 1800, 3200, 5000), 200: (40, 60, 80, 100, 200)}


def host(model: Any, job: Job, number: int) -> Any:
    """Return the text around the passages: another beginning for each document."""
    from pura.model.tokenise import tokenise

    parts = [p.strip() for p in HUMAN.read_text(encoding="utf-8").split("\n%\n")]
    parts = parts[number % len(parts) :] + parts[: number % len(parts)]
    return tokenise(model.tokenizer, "\n\n".join(parts)).ids[: job.tokens]


def build(model: Any, job: Job, number: int, texts: Any) -> tuple[Any, int]:
    """Return the token ids of a document and where its passage begins."""
    marked = texts["ids"][number][: job.passage]
    if job.tokens == job.passage:
        return marked, 0
    around = host(model, job, number)
    begin = 40 + (number * 37) % 200
    ids = np.concatenate([around[:begin], marked, around[begin:]])
    return ids[: job.tokens], begin


def read_job(model: Any, job: Job, shelf: Shelf, numbers: range) -> None:
    """Read the documents that are not on the shelf yet."""
    from pura.model.evidence import read

    texts = shelf.get(f"texts.{SOURCE.name}")
    for number in numbers:
        name = f"{job.name}.{number}"
        longer = [j.name for j in JOBS if j.passage == job.passage and j.tokens > job.tokens]
        if name in shelf or any(f"{other}.{number}" in shelf for other in longer):
            continue
        ids, begin = build(model, job, number, texts)
        start = time.process_time()
        seen = read(model, ids, keys=[SOURCE.key(number)], profile=SOURCE.profile(model.vocab_size))
        seconds = time.process_time() - start
        columns = {
            "ids": ids, "entropy_bits": seen.entropy_bits, "probability": seen.probability,
            "lo": seen.lo[0], "hi": seen.hi[0],
        }  # fmt: skip
        columns |= {"begin": np.array([begin]), "seconds": np.array([seconds])}
        columns |= {"vocab_size": np.array([model.vocab_size])}
        shelf.put(name, {key: [value] for key, value in columns.items()})
        print(f"{name}: {ids.size} tokens, {seconds:.1f} s of processor", flush=True)


def readings(shelf: Shelf, job: Job) -> Iterator[tuple[int, TextReading, int, float, int]]:
    """Yield number, reading, begin of the passage, seconds of the pass, vocabulary size."""
    for number in range(job.texts):
        if f"{job.name}.{number}" not in shelf:
            continue
        row = {name: value[0] for name, value in shelf.get(f"{job.name}.{number}").items()}
        arrays = {k: row[k] for k in ("ids", "entropy_bits", "probability", "lo", "hi")}
        yield (
            number, TextReading(**arrays), int(row["begin"][0]), float(row["seconds"][0]),
            int(row["vocab_size"][0]),
        )  # fmt: skip


def weigh(reading: TextReading, key: SecretKey, vocab_size: int) -> tuple[ExactDecision, float]:
    """Return the decision and the processor seconds that it took."""
    profile = SOURCE.profile(vocab_size)
    steps = schedule(reading.ids, reading.entropy_bits, key, profile)
    start = time.process_time()
    decision = decide(
        steps, reading.entropy_bits, reading.lo, reading.hi, profile,
        token_probability=reading.probability,
    )  # fmt: skip
    return decision, time.process_time() - start


def table(shelf: Shelf) -> None:
    """Print what is found, by passage and length."""
    rows = []
    for job in JOBS:
        for cut in CUTS.get(job.tokens, (job.tokens,)):
            rows += row_of(shelf, job, cut)
    _common.print_table(
        [
            "passage", "in", "texts", "found whole", "found now", "log10 e whole",
            "log10 e now", "least", "payload whole", "payload now", "limits off", "cost",
        ],
        rows,
    )  # fmt: skip


def row_of(shelf: Shelf, job: Job, cut: int) -> list[list[str]]:
    """Return the row of one length, or none where nothing was read."""
    whole, now, right_whole, right, off, cost = [], [], [], [], [], []
    for number, reading, begin, seconds, vocab in readings(shelf, job):
        decision, spent = weigh(reading.first(cut), SOURCE.key(number), vocab)
        truth: Payload = SOURCE.payload(number)
        best = decision.grid_point
        from pura.decode.trellis import make_trellis

        bits, _ = make_trellis(SOURCE.profile(vocab)).best(decision.potentials[best])
        whole.append(decision.log_e_whole / np.log(10))
        now.append(decision.log10_e)
        right_whole.append(bool(np.array_equal(bits, truth.bits)))
        right.append(decision.payload == truth)
        cost.append(spent / (seconds * cut / reading.ids.size))
        if job.tokens > job.passage and decision.marks and decision.marks[0].ranges:
            first, last = decision.marks[0].ranges[0][0], decision.marks[0].ranges[-1][1]
            off += [abs(first - begin), abs(last - (begin + job.passage - 1))]
    if not now:
        return []
    n = len(now)
    return [
        [
            str(min(cut, job.passage)), str(cut), str(n),
            f"{np.mean(np.array(whole) >= FOUND):.0%}", f"{np.mean(np.array(now) >= FOUND):.0%}",
            f"{np.median(whole):.1f}", f"{np.median(now):.1f}", f"{min(now):.1f}",
            f"{np.mean(right_whole):.0%}", f"{np.mean(right):.0%}",
            f"{np.median(off):.0f}" if off else "–", f"{np.median(cost):.1%}",
        ]
    ]  # fmt: skip


def main() -> None:
    """Read what is missing, then print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, required=True, help="folder with the study's texts")
    parser.add_argument("--no-reading", action="store_true", help="print what is there")
    args = parser.parse_args()
    shelf = Shelf(args.cache)
    if not args.no_reading:
        import torch

        torch.set_num_threads(1)
        model = _common.load_builtin()
        for job in JOBS:
            read_job(model, job, shelf, range(job.texts))
    _common.print_facts("Long documents", SEED)
    print(f"likelihood table {default_model().fingerprint}\n")
    table(shelf)


if __name__ == "__main__":
    main()
