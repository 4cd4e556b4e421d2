"""Stage 2 of the study: decode what was read, NumPy only. Outcomes stay on the cache too."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import astuple, fields
from typing import Any

import numpy as np

from pura.detect.decode.evidence_sums import sum_evidence
from pura.detect.decode.likelihood import Intervals, default_model
from pura.measure.cache import Cache
from pura.measure.corpora import CELLS, Cell
from pura.measure.evaluate import MeasuredText, TextReading, decide, evaluate
from pura.scheme import schedule
from pura_lab.design import TRUNCATED, ReadingJob

VOCABULARY = 49_152
COLUMNS = [f.name for f in fields(TextReading)]
TYPES = {"int": int, "bool": bool, "float": float}


def readings(cache: Cache, job: ReadingJob) -> Iterator[tuple[int, TextReading]]:
    """Return the readings of a job with their numbers."""
    stored = cache.get(job.reading)
    for number in range(len(stored["ids"])):
        yield number, TextReading(**{name: stored[name][number] for name in COLUMNS})


def outcomes(cache: Cache, job: ReadingJob, condition: str | None = None) -> list[MeasuredText]:
    """Return the outcomes of a job, decoded now if they have not been.

    Args:
        cache: Has the readings.
        job: Which.
        condition: Name of a truncation; None for the whole texts.
    """
    name = f"outcome.{default_model().fingerprint}.{job.reading}.{condition or 'whole'}"
    if name not in cache:
        start = time.perf_counter()
        rows = list(_decode(cache, job, TRUNCATED.get(condition or "")))
        table = np.array([astuple(r) for r in rows], dtype=np.float64).T
        cache.put(name, {"outcomes": [table]})
        print(f"decoded {name} in {time.perf_counter() - start:.0f} s", flush=True)
    return [
        MeasuredText(
            **{
                f.name: TYPES[str(f.type)](x)
                for f, x in zip(fields(MeasuredText), row, strict=True)
            }
        )
        for row in cache.get(name)["outcomes"][0].T.tolist()
    ]


def _decode(cache: Cache, job: ReadingJob, first: int | None) -> Iterator[MeasuredText]:
    cell = CELLS[job.cell]
    profile = cell.profile(VOCABULARY)
    for number, reading in readings(cache, job):
        yield evaluate(
            reading if first is None else reading.first(first),
            cell.key(number),
            cell.payload(number),
            profile,
            prompt_known="prompt" in job.verifier,
        )


def evidence_at(cache: Cache, job: ReadingJob, usable: list[int]) -> np.ndarray:
    """Return the evidence of every text cut after so many usable positions.

    Args:
        cache: Has the readings.
        job: Which.
        usable: Numbers of usable positions.

    Returns:
        float64 [texts, len(usable)], log10 e; NaN where the text has fewer.
    """
    places = "-".join(map(str, usable))
    name = f"power.{default_model().fingerprint}.{job.reading}.{places}"
    if name not in cache:
        start = time.perf_counter()
        cell = CELLS[job.cell]
        rows = [
            _evidence_at(cell, number, reading, usable, prompt="prompt" in job.verifier)
            for number, reading in readings(cache, job)
        ]
        cache.put(name, {"log10_e": [np.array(rows).T]})
        print(f"cut {job.reading} in {time.perf_counter() - start:.0f} s", flush=True)
    return np.asarray(cache.get(name)["log10_e"][0].T)


def _evidence_at(
    cell: Cell, number: int, reading: TextReading, usable: list[int], *, prompt: bool
) -> list[float]:
    key, profile = cell.key(number), cell.profile(VOCABULARY)
    token = schedule(reading.ids, reading.entropy_bits, key, profile).token
    out = []
    for count in usable:
        if token.size < count:
            out.append(float("nan"))
            continue
        part = reading.first(int(token[count - 1]) + 1)
        steps = schedule(part.ids, part.entropy_bits, key, profile)
        log_e = sum_evidence(
            Intervals.of(
                steps,
                part.entropy_bits,
                part.lo,
                part.hi,
                profile,
                prompt_known=prompt,
                probability=part.probability,
            )
        )
        out.append(log_e.log_e / np.log(10))
    return out


def passage_labels(cache: Cache, job: ReadingJob) -> list[dict[str, Any]]:
    """Return what became of each marked passage inside plain tokens."""
    cell = CELLS[job.cell]
    profile = cell.profile(VOCABULARY)
    origin = cache.get(job.attacked)["origin"]
    out = []
    for number, reading in readings(cache, job):
        steps = schedule(reading.ids, reading.entropy_bits, cell.key(number), profile)
        decision = decide(reading, steps, profile, prompt_known=False)
        found = decision.marks[decision.headline]
        truth = origin[number] >= 0
        ranged = np.zeros(truth.size, dtype=bool)
        for first, last in found.ranges:
            ranged[first : last + 1] = True
        out.append(
            {
                "right": float(((found.marked > 0.5) == truth).mean()),
                "right_ranges": float((ranged == truth).mean()),
                "match": decision.payload == cell.payload(number),
                "log10_e": decision.log10_e,
                "ranges": len(found.ranges),
            }
        )
    return out
