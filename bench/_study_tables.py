"""The tables of the study, in plain Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from _common import print_table
from _study_decode import VOCABULARY, evidence_at, outcomes, passage_labels
from _study_power import LEAST_TEXTS, LEVEL, THRESHOLDS
from pura.detect.verdict.power import lower_limit
from pura.measure.cache import Cache
from pura.measure.corpora import CLEAN, LEARN, MAIN, PASSAGE, POWER, Cell
from pura.measure.evaluate import MeasuredText, summarise, wilson
from pura.measure.power import power_entry
from pura_lab.design import ATTACKED, TRUNCATED, VERIFIERS, ReadingJob

VERIFYING = ("blind", "prompt", "proxy", "noise")
USABLE = [5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 60, 70, 80, 90, 100, 120]
PRINTED = (6.0, 9.0, 12.0)
HEAD = [
    "condition",
    "edit rate",
    "usable",
    "paper: match %",
    "exact: match %",
    "only paper / only exact",
    "paper: bits %",
    "exact: bits %",
    "log10 e",
    "e ≥ 10^6 %",
]


def share(successes: int, trials: int) -> str:
    """A share in percent with its 95 % interval (Wilson)."""
    low, high = wilson(successes, trials)
    return f"{100 * successes / trials:.0f} ({100 * low:.0f}-{100 * high:.0f})"


def mean(values: Sequence[float]) -> str:
    """A mean in percent with its 95 % interval (normal, over texts)."""
    half = 1.96 * float(np.std(values, ddof=1)) / np.sqrt(len(values))
    return f"{100 * float(np.mean(values)):.1f} ± {100 * half:.1f}"


def line(label: str, rate: str, rows: Sequence[MeasuredText]) -> list[str]:
    """One line of a table."""
    s = summarise(rows)
    return [
        label,
        rate,
        f"{s.median_usable:.0f}",
        share(s.paper_match, s.texts),
        share(s.exact_match, s.texts),
        f"{s.only_paper} / {s.only_exact}",
        mean([r.paper_bits for r in rows]),
        mean([r.exact_bits for r in rows]),
        f"{s.median_log10_e:.1f}",
        share(s.found, s.texts),
    ]


def edit_rate(cache: Cache, job: ReadingJob) -> str:
    """Mean achieved edit rate of a job's texts."""
    return f"{np.mean([r[0] for r in cache.get(job.attacked)['rate']]):.3f}"


def main_tables(cache: Cache) -> None:
    """36 bits in 200 tokens: every attack, every verifier."""
    for cell in MAIN:
        for verifier in VERIFYING:
            rows = []
            for attack, condition in ATTACKED.items():
                job = ReadingJob(cell=cell.name, attack=attack, verifier=verifier)
                if job.reading not in cache:
                    continue
                rows.append(line(condition.label, edit_rate(cache, job), outcomes(cache, job)))
                if attack == "clean":
                    rows += [
                        line(
                            f"first {n} tokens",
                            f"{1 - n / cell.tokens:.3f}",
                            outcomes(cache, job, name),
                        )
                        for name, n in TRUNCATED.items()
                    ]
            if rows:
                print(f"\n### {cell.code}, {cell.payload_bits} bits: {VERIFIERS[verifier]}\n")
                print_table(HEAD, rows)


def payload_table(cache: Cache) -> None:
    """Payload lengths, unedited, same model without the prompt."""
    print(f"\n### Payload lengths, unedited: {VERIFIERS['blind']}\n")
    rows = []
    for cell in sorted((*MAIN, *CLEAN), key=lambda c: (c.code, c.payload_bits)):
        job = ReadingJob(cell=cell.name, attack="clean", verifier="blind")
        if job.reading in cache:
            rows.append(line(f"{cell.code} {cell.payload_bits}", "0", outcomes(cache, job)))
    print_table(["code, bits", *HEAD[1:]], rows)


def passage_table(cache: Cache) -> None:
    """Marked passages inside plain text."""
    job = ReadingJob(cell=PASSAGE.name, attack="splice", verifier="blind")
    if job.reading not in cache:
        return
    labels = passage_labels(cache, job)
    print(f"\n### Passages: {PASSAGE.tokens} marked tokens inside 400 plain ones\n")
    rows = []
    groups = {"hosts by the model": labels[::2], "hosts by a person": labels[1::2], "all": labels}
    for name, chosen in groups.items():
        right = [r["right"] for r in chosen]
        rows.append(
            [
                name,
                str(len(chosen)),
                mean(right),
                f"{100 * min(right):.1f}",
                mean([r["right_ranges"] for r in chosen]),
                f"{sum(r['ranges'] == 1 for r in chosen)}",
                share(sum(r["match"] for r in chosen), len(chosen)),
                f"{np.median([r['log10_e'] for r in chosen]):.1f}",
            ]
        )
    head = ["", "texts", "tokens labelled right %", "worst text %", "by reported passages %"]
    print_table([*head, "exactly one passage", "payload %", "log10 e"], rows)


def power_entries(cache: Cache) -> list[dict[str, Any]]:
    """Measure the power by usable positions; print it and return the entries of the file."""
    print("\n### Power: unedited marked texts cut after so many usable positions\n")
    entries, rows = [], []
    for cell in sorted((*MAIN, *CLEAN), key=lambda c: (c.code, c.payload_bits)):
        for verifier in ("blind", "prompt"):
            values = power_values(cache, cell, verifier)
            if values is None:
                continue
            texts = np.isfinite(values).sum(axis=0)
            kept = texts >= LEAST_TEXTS
            usable = [u for u, k in zip(USABLE, kept, strict=True) if k]
            for threshold in THRESHOLDS:
                found = (values >= threshold).sum(axis=0)
                profile = cell.profile(VOCABULARY)
                entry = power_entry(profile, threshold, usable, found[kept], texts[kept])
                entries.append(entry | {"prompt": verifier == "prompt"})
                if threshold not in PRINTED:
                    continue
                cells = [
                    f"{f}/{n}" if k else "" for f, n, k in zip(found, texts, kept, strict=True)
                ]
                known = "known" if verifier == "prompt" else "unknown"
                rows.append([f"{cell.code} {cell.payload_bits}", known, f"{threshold:g}", *cells])
    print_table(["code, bits", "prompt", "log10 e ≥", *map(str, USABLE)], rows)
    return entries


def power_values(cache: Cache, cell: Cell, verifier: str) -> Any:
    """Return log10 e of all texts of a cell at :data:`USABLE`, or None when not read."""
    parts = [ReadingJob(cell=cell.name, attack="clean", verifier=verifier)]
    if cell.name == "tbcc-36":
        parts.append(ReadingJob(cell=POWER.name, attack="clean", verifier=verifier))
    values = [evidence_at(cache, job, USABLE) for job in parts if job.reading in cache]
    return np.concatenate(values) if values else None


def needed_table(entries: list[dict[str, Any]]) -> None:
    """Print from how many usable positions on the power is proven to be 0.8 and 0.95."""
    print("\n### Usable positions from which the power is at least 0.80, 0.90, 0.95\n")
    rows = []
    for entry in (e for e in entries if e["threshold"] in PRINTED):
        limits, lowest = [], 1.0
        for found, texts in zip(entry["found"][::-1], entry["texts"][::-1], strict=True):
            lowest = min(lowest, lower_limit(found, texts, LEVEL))
            limits.append(lowest)
        limits.reverse()
        reached = [
            next((str(u) for u, x in zip(entry["usable"], limits, strict=True) if x >= power), "-")
            for power in (0.8, 0.9, 0.95)
        ]
        known = "known" if entry["prompt"] else "unknown"
        name = f"{entry['code']} {entry['payload_bits']}"
        rows.append([name, known, f"{entry['threshold']:g}", *reached, f"{limits[-1]:.3f}"])
    print_table(["code, bits", "prompt", "log10 e ≥", "0.80", "0.90", "0.95", "last class"], rows)


def source_facts(cache: Cache) -> None:
    """Print what the texts are like."""
    rows = []
    for cell in (*MAIN, *CLEAN, POWER, LEARN, PASSAGE):
        if f"texts.{cell.name}" not in cache:
            continue
        texts = cache.get(f"texts.{cell.name}")
        arity, entropy = np.concatenate(texts["arity"]), np.concatenate(texts["entropy_bits"])
        rows.append(
            [
                cell.name,
                str(cell.texts),
                f"{np.median([(a > 0).sum() for a in texts['arity']]):.0f}",
                f"{arity[arity > 0].mean():.2f}",
                f"{entropy.mean():.2f}",
            ]
        )
    print_table(
        ["cell", "texts", "carrying steps (median)", "mean arity", "mean entropy, bits"], rows
    )
