"""What a register as prior is worth: the same readings with and without it.

``python bench/register_prior.py --cache DIR`` prints the table of study.md §11. The texts are
those of the study's cell ``tbcc-36`` (``bench/evidence.py generate``); readings that are not in the
cache are made. The register of a text holds its payload and random ones, drawn from the study's
seed and not from the text.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np

import _common
import _study_read
from _study_decode import VOCABULARY, readings
from pura.detect.decode.exact import ExactDecision
from pura.detect.decode.likelihood import default_model
from pura.detect.decode.prior import Issued
from pura.measure.cache import Cache
from pura.measure.corpora import CELLS, SEED
from pura.measure.evaluate import TextReading, decide, wilson
from pura.scheme import schedule
from pura_lab.design import ReadingJob

CELL = CELLS["tbcc-36"]
FOUND = 6.0
WEIGHT = 0.5


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the table.

    Attributes:
        label: For people.
        job: The readings.
        first: Tokens of each; None takes all.
        entries: Size of the register.
    """

    label: str
    job: ReadingJob
    first: int | None = None
    entries: int = 1000


def _job(attack: str, verifier: str) -> ReadingJob:
    return ReadingJob(cell=CELL.name, attack=attack, verifier=verifier)


CLEAN = _job("clean", "blind")
ROWS = (
    *(Row(label=f"first {n} tokens", job=CLEAN, first=n) for n in (35, 60, 100)),
    Row(label="200 tokens", job=CLEAN),
    Row(label="first 35 tokens", job=CLEAN, first=35, entries=100_000),
    Row(label="first 60 tokens", job=CLEAN, first=60, entries=100_000),
    Row(label="plausible substitution 20 %", job=_job("plaus20", "blind")),
    Row(label="the same, proxy", job=_job("plaus20", "proxy")),
)


def register_of(number: int, entries: int) -> Issued:
    """Return a register that holds the text's payload among random ones."""
    rng = CELL.generator("register", number)
    others = rng.integers(0, 2, (entries - 1, CELL.payload_bits)).astype(np.uint8)
    return Issued.of([CELL.payload(number).array[None], others], CELL.payload_bits, WEIGHT)


def weigh(reading: TextReading, number: int, issued: Issued | None) -> tuple[ExactDecision, float]:
    """Return the decision and the processor seconds that it took."""
    profile = CELL.profile(VOCABULARY)
    steps = schedule(reading.ids, reading.entropy_bits, CELL.key(number), profile)
    start = time.process_time()
    decision = decide(reading, steps, profile, prompt_known=False, issued=issued)
    return decision, time.process_time() - start


def row_of(cache: Cache, row: Row) -> list[str]:
    """Weigh the texts of one row twice."""
    log10_e, right, seconds = [], [], []
    for number, whole in readings(cache, row.job):
        reading = whole if row.first is None else whole.first(row.first)
        pair = [weigh(reading, number, i) for i in (None, register_of(number, row.entries))]
        log10_e.append([decision.log10_e for decision, _ in pair])
        right.append([decision.payload == CELL.payload(number) for decision, _ in pair])
        seconds.append([spent for _, spent in pair])
    e, matches, spent = np.array(log10_e), np.array(right), np.array(seconds)
    found = (e >= FOUND).sum(axis=0)
    n = len(e)
    gain = np.quantile(e[:, 1] - e[:, 0], [0.05, 0.5, 0.95])
    return [
        row.label,
        f"{row.entries:,}",
        str(n),
        " → ".join(f"{x:.1f}" for x in np.median(e, axis=0)),
        f"{gain[1]:+.1f} ({gain[0]:+.1f} … {gain[2]:+.1f})",
        " → ".join(_share(k, n) for k in found.tolist()),
        " → ".join(_share(k, n) for k in matches.sum(axis=0).tolist()),
        " → ".join(f"{x:.2f}" for x in np.median(spent, axis=0)),
    ]


def _share(hits: int, texts: int) -> str:
    low, high = wilson(hits, texts)
    return f"{100 * hits / texts:.0f} ({100 * low:.0f}-{100 * high:.0f})"


def main() -> None:
    """Read what is missing, then print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, required=True, help="folder with the study's texts")
    parser.add_argument("--entries", type=int, help="of a register, at most")
    args = _common.parse(parser, entries=1_000)
    cache = Cache(args.cache)
    missing = [job for job in {row.job for row in ROWS} if job.reading not in cache]
    if missing:
        import torch

        torch.set_num_threads(1)
        _study_read.Reader(_common.load_builtin(), cache).run(missing)
    rows = [replace(row, entries=min(row.entries, args.entries or row.entries)) for row in ROWS]
    _common.print_facts("The register as prior", SEED)
    print(f"likelihood table {default_model().fingerprint}\n")
    _common.print_table(
        [
            *("condition", "entries", "texts", "log10 e", "gain (5 % … 95 %)", "e ≥ 10^6 %"),
            *("match %", "seconds"),
        ],
        [row_of(cache, row) for row in rows],
    )


if __name__ == "__main__":
    main()
