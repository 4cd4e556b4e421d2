"""What a second reading of promising windows, with nothing before them, adds to long documents.

``python bench/rereading.py read --study STUDY --cache DIR --cell 100.10000`` takes the documents of
bench/long_documents.py, decides them as an audit does (:mod:`pura.detect.windows`) and has the
model read the windows that it names; ``table`` prints what comes of it, ``unmarked`` asks another
key, ``cost`` sets the second reading beside the first. Goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np

import _common
import long_documents as documents
from pura.detect.decode.likelihood import Intervals, default_model
from pura.detect.key_reading import (
    KeyReading,
    KeyTrial,
    decode,
    evidence,
    intervals_of,
    strongest,
    weigh,
)
from pura.detect.windows import SIZE, Weights, decisive, placed, windows_of
from pura.measure.cache import Cache
from pura.measure.evaluate import TextReading, finding
from pura.measure.evaluate import intervals_of as intervals_seen
from pura.model.evidence import Request, read, read_documents
from pura.scheme import Profile, SecretKey, schedule

FOUND = 6.0
COSTS = (2_500, 5_000, 10_000)


def tried(ids: Any, seen: Intervals, log10_weight: float, begin: int | None = None) -> KeyReading:
    """Decode a reading as an audit does."""
    return decode(KeyTrial(log10_weight=log10_weight, begin=begin), ids, seen, weigh(seen))


def audited(
    model: Any, reading: TextReading, key: SecretKey, profile: Profile
) -> tuple[list[KeyReading], dict[str, float]]:
    """Return the first reading of a document and the windows that were read again, and the costs.

    Args:
        model: Reads the windows.
        reading: Of the document, put together from parts.
        key: The only key.
        profile: The profile.
    """
    steps = schedule(reading.ids, reading.entropy_bits, key, profile)
    seen = intervals_seen(reading, steps, profile)
    weights = Weights(keys=1, readings=1, forms=(reading.ids.size,))
    clock = time.process_time()
    trials = [tried(reading.ids, seen, weights.first)]
    again = windows_of(trials, weights, FOUND)
    first, clock = time.process_time() - clock, time.process_time()
    if again is None:
        return trials, {"decoder": first, "pass": 0.0, "again": 0.0}
    requests = [Request(texts=[ids]) for ids in again.texts]
    windows = read_documents(model, requests, keys=[key], profile=profile)
    passed, clock = time.process_time() - clock, time.process_time()
    for begin, found in zip(again.begins, windows, strict=True):
        assert isinstance(found, list)
        own = intervals_of(found[0], 0, key, profile, lambda: None)
        trials.append(tried(found[0].ids, own, weights.second(0), begin))
    return trials, {"decoder": first, "pass": passed, "again": time.process_time() - clock}


def entry_of(
    model: Any, cache: Cache, number: int, wanted: str, asked: int
) -> dict[str, Any] | None:
    """Decide one document under the key of a text, its own or another's."""
    cell, place = documents.numbered()[asked]
    profile, key = cell.profile(documents.VOCABULARY), cell.key(place)
    for document, name in documents.documents(cache, number, "clean"):
        if not name.startswith(wanted + "."):
            continue
        trials, seconds = audited(model, document.reading, key, profile)
        window = decisive(trials, FOUND)
        best = strongest(trials) if window is None else placed(window, trials)
        found = finding(document, best.seen.schedule.token, best.exact, cell.payload(place))
        return {
            "likelihood": default_model().fingerprint,
            "cell": name,
            "number": number,
            "asked": asked,
            "tokens": int(document.reading.ids.size),
            "once": trials[0].exact.log10_e,
            "log10_e": evidence(trials),
            "windows": [[t.begin, t.exact.log10_e] for t in trials[1:]],
            "begin": document.begin,
            "right": found.right,
            "off": list(found.off),
            "by_window": window is not None,
            "seconds": seconds,
        }
    return None


def rows_of(path: Path) -> list[dict[str, Any]]:
    """Return what was decided so far."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def print_table(rows: list[dict[str, Any]]) -> None:
    """Print a line a cell: read once, and with second readings."""
    out = []
    for cell in sorted({row["cell"].rsplit(".", 2)[0] for row in rows}):
        mine = [row for row in rows if row["cell"].startswith(cell + ".")]
        again = [row for row in mine if row["windows"]]
        by_window = [row for row in mine if row["by_window"]]
        off = [x for row in by_window for x in row["off"]]
        fed = sum(tokens_again(row) for row in mine) / sum(row["tokens"] for row in mine)
        out.append(
            [
                cell, str(len(mine)),
                documents.share(sum(r["once"] >= FOUND for r in mine), len(mine)),
                documents.share(sum(r["log10_e"] >= FOUND for r in mine), len(mine)),
                documents.share(sum(r["right"] for r in mine), len(mine)),
                f"{np.median([r['once'] for r in mine]):.1f}",
                f"{np.median([r['log10_e'] for r in mine]):.1f}",
                f"{min(r['log10_e'] for r in mine):.1f}",
                str(len(again)), str(len(by_window)),
                f"{np.median(off):.0f}" if off else "-", f"{fed:.1%}",
            ]
        )  # fmt: skip
    head = [
        "cell", "texts", "read once: found %", "found %", "payload %", "read once: log10 e",
        "log10 e", "least", "read again", "found by it", "limits off", "tokens read again",
    ]  # fmt: skip
    _common.print_table(head, out)


def print_costs(model: Any) -> None:
    """Print what a second reading costs texts by people in which nothing is marked."""
    stream, rows = documents.people(model.tokenizer), []
    cell, place = documents.numbered()[0]
    profile, key = cell.profile(model.vocab_size), cell.key(place)
    for tokens in COSTS:
        clock = time.process_time()
        seen = read(model, stream[:tokens], keys=[key], profile=profile)
        once = time.process_time() - clock
        columns = {name: found[0] for name, found in documents.columns_of(seen).items()}
        trials, seconds = audited(model, TextReading(**columns), key, profile)
        again = seconds["pass"] + seconds["again"]
        rows.append(
            [
                f"{tokens:,}", f"{once:.1f}", f"{seconds['decoder']:.1f}", str(len(trials) - 1),
                f"{seconds['pass']:.1f}", f"{seconds['again']:.1f}", f"{again / once:.1%}",
            ]
        )  # fmt: skip
    head = ["tokens", "pass, s", "decoder, s", "windows", "pass of them, s", "decoder, s", "share"]
    _common.print_table(head, rows)


def tokens_again(row: dict[str, Any]) -> int:
    """Return how many tokens were read again."""
    return sum(min(SIZE, row["tokens"] - begin) for begin, _ in row["windows"])


def main() -> None:
    """Read, or print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stage", choices=("read", "unmarked", "table", "cost"))
    parser.add_argument("--study", type=Path, help="cache of bench/long_documents.py")
    parser.add_argument("--cache", type=Path, required=True, help="where the outcomes are kept")
    parser.add_argument("--cell", default="100.10000", help="marked tokens and tokens in all")
    parser.add_argument("--texts", type=int, default=64)
    args = parser.parse_args()
    name = "unmarked" if args.stage == "unmarked" else "again"
    path = args.cache / f"{name}.{args.cell}.jsonl"
    if args.stage == "table":
        _common.print_facts("Second readings", documents.SEED)
        print_table(rows_of(path))
        return
    args.cache.mkdir(parents=True, exist_ok=True)
    model, cache = _common.load_builtin(), Cache(args.study)
    if args.stage == "cost":
        _common.print_facts("Second readings: cost", documents.SEED)
        print_costs(model)
        return
    done = {row["number"] for row in rows_of(path)}
    for number in range(args.texts):
        if number in done:
            continue
        # Far enough apart for the marked text that is asked about not to stand around this one.
        every = len(documents.numbered())
        asked = (number + every // 2) % every if args.stage == "unmarked" else number
        entry = entry_of(model, cache, number, args.cell, asked)
        if entry is not None:
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")
            print(f"{number}: {entry['once']:.1f}, {entry['log10_e']:.1f}", flush=True)


if __name__ == "__main__":
    main()
