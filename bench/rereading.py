"""What a second reading of promising windows, with nothing before them, would add (decision 039).

``python bench/rereading.py read --study STUDY --cache DIR --cell 100.10000`` takes the documents of
bench/long_documents.py that were not found, lets the first look at 64 steps name windows, and reads
the tokens from a few starts near them afresh; ``table`` prints what comes of it, ``unmarked`` what
the first look names where there is no mark. Starts stand at every 32nd token, each one member of a
mixture with equal weights, whichever are read: docs/evidence.md §3, Lemma 2.
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
from pura.decode import default_model, exact, listed
from pura.decode.trellis import make_trellis
from pura.decode.walk import open_log_mean
from pura.lab.power.measure import read_as
from pura.lab.shelf import Shelf
from pura.scheme import Schedule, SecretKey, schedule

STRIDE = 32
"""Tokens between two starts of the family."""
SIZE = 128
"""Tokens that are read from a start."""
OFFSETS = (-2, -1, 0, 1)
"""Starts that are read, in strides from the start at or before a named window."""
NAMED = 1
"""Windows that the first look may name: each is four starts, 512 tokens."""
SHARE = 0.25
"""Weight of all second readings together."""
FOUND = 6.0


def first_look(
    steps: Schedule, reading: Any, profile: Any
) -> tuple[list[tuple[float, int]], float]:
    """Return the strongest windows of 64 steps that do not overlap, and the evidence as it is.

    Returns:
        The windows, strongest first: log10 of the evidence, the ring closed in the mean, and the
        first token; and log10 of the document's evidence.
    """
    kept = {}
    plain = exact.window_payloads

    def noted(log_f: Any, *args: Any) -> Any:
        kept["log_f"] = log_f
        return plain(log_f, *args)

    exact.window_payloads = noted
    try:
        decision = documents.decide(
            steps, reading.entropy_bits, reading.lo, reading.hi, profile,
            token_probability=reading.probability,
        )  # fmt: skip
    finally:
        exact.window_payloads = plain
    trellis = make_trellis(profile)
    windows = next(listed.scaled_windows(kept["log_f"], steps.index, trellis.codeword_length))
    values = np.concatenate(
        [
            open_log_mean(trellis, windows[i : i + 256].astype(np.float64))
            for i in range(0, len(windows), 256)
        ]
    ) + listed._closing_nats(trellis)  # noqa: SLF001
    out: list[tuple[float, int]] = []
    taken = np.zeros(len(values), dtype=bool)
    for i in np.argsort(-values).tolist():
        if not taken[i] and len(out) < NAMED:
            out.append((float(values[i] / np.log(10)), int(steps.token[32 * i])))
            taken[max(0, i - 1) : i + 2] = True
    return out, decision.log10_e


def missed(shelf: Shelf, study: Path, wanted: str) -> list[tuple[int, Any]]:
    """Return the documents of a cell that were not found, with their numbers."""
    print_ = default_model().fingerprint
    numbers = []
    for line in (study / "documents.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        fits = row["cell"].startswith(wanted + ".") and row["cell"].endswith(".clean")
        if row["likelihood"] == print_ and fits and row["log10_e"] < FOUND:
            numbers.append(row["number"])
    return [
        (number, document)
        for number in sorted(numbers)
        for document, name in documents.documents(shelf, number, "clean")
        if name.startswith(wanted + ".")
    ]


def read_again(shelf: Shelf, study: Path, folder: Path, wanted: str) -> None:
    """Read the named windows of the missed documents; goes on where it was."""
    from pura.base.paths import user_paths
    from pura.desk.workplace import Workplace

    path = folder / f"rereading.{wanted}.jsonl"
    done = set()
    if path.exists():
        done = {json.loads(line)["number"] for line in path.read_text().splitlines()}
    model = Workplace(paths=user_paths(), device="cpu").model()
    for number, document in missed(shelf, study, wanted):
        if number in done:
            continue
        clock = time.process_time()
        cell, place = documents.numbered()[number]
        profile, key = cell.profile(documents.VOCABULARY), cell.key(place)
        reading = document.reading
        steps = schedule(reading.ids, reading.entropy_bits, key, profile)
        windows, before = first_look(steps, reading, profile)
        entry: dict[str, Any] = {"number": number, "tokens": int(reading.ids.size)}
        entry |= {"begin": document.begin, "before": before, "windows": []}
        for value, token in windows:
            starts = sorted({STRIDE * max(0, token // STRIDE + offset) for offset in OFFSETS})
            rows = []
            for start in starts:
                evidence, right = window_evidence(
                    model, reading.ids[start : start + SIZE], key, profile, cell.payload(place)
                )
                rows.append({"start": start, "log10_e": evidence, "right": right})
            entry["windows"].append({"value": value, "token": token, "read": rows})
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
        print(f"{number}: {time.process_time() - clock:.1f} s of processor", flush=True)


def window_evidence(
    model: Any, ids: Any, key: SecretKey, profile: Any, payload: Any
) -> tuple[float, bool]:
    """Return log10 of the evidence of some tokens read alone, and whether the payload is right."""
    seen = read_as(model, ids, key, profile, lambda: None)
    steps = schedule(seen.ids, seen.entropy_bits, key, profile)
    decision = documents.decide(
        steps, seen.entropy_bits, seen.lo, seen.hi, profile, token_probability=seen.probability
    )
    return decision.log10_e, decision.payload == payload


def print_table(folder: Path) -> None:
    """Print what reading so many windows would have found, of the documents that were missed."""
    rows = []
    for path in sorted(folder.glob("rereading.*.jsonl")):
        entries = [json.loads(line) for line in path.read_text().splitlines()]
        after, right, fed = [], [], []
        for entry in entries:
            members = entry["tokens"] // STRIDE + 1
            read = [r for w in entry["windows"][:NAMED] for r in w["read"]]
            total = np.logaddexp.reduce([np.log(10) * r["log10_e"] for r in read])
            second = (total + np.log(SHARE / members)) / np.log(10)
            first = entry["before"] + np.log10(1 - SHARE)
            after.append(np.logaddexp(first * np.log(10), second * np.log(10)) / np.log(10))
            right.append(max(read, key=lambda r: r["log10_e"])["right"])
            fed.append(len({r["start"] for r in read}) * SIZE / entry["tokens"])
        rows.append(
            [
                path.stem.removeprefix("rereading."), str(len(entries)),
                str(int(np.sum(np.array(after) >= FOUND))), str(int(np.sum(right))),
                f"{np.median([e['before'] for e in entries]):.1f}", f"{np.median(after):.1f}",
                f"{np.mean(fed):.1%}",
            ]
        )  # fmt: skip
    head = ["cell", "missed", "found now", "payload right"]
    more = ["log10 e", "with them", "tokens read again"]
    _common.print_table([*head, *more], rows)


def print_unmarked(shelf: Shelf, wanted: str, count: int) -> None:
    """Print the strongest window of documents that another key is asked about."""
    found = []
    for number in range(count):
        profile = documents.numbered()[number][0].profile(documents.VOCABULARY)
        key = documents.numbered()[number + count][0].key(number + count)
        for document, name in documents.documents(shelf, number, "clean"):
            if name.startswith(wanted + "."):
                reading = document.reading
                steps = schedule(reading.ids, reading.entropy_bits, key, profile)
                windows, _ = first_look(steps, reading, profile)
                found.append([round(value, 1) for value, _ in windows])
                print(found[-1], flush=True)
    for number in range(NAMED):
        values = [row[number] for row in found]
        print(f"window {number + 1}: median {np.median(values):.1f}, most {max(values):.1f}")


def main() -> None:
    """Read, or print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stage", choices=("read", "table", "unmarked"))
    parser.add_argument("--study", type=Path, help="cache of bench/long_documents.py")
    parser.add_argument("--cache", type=Path, help="where second readings are kept")
    parser.add_argument("--cell", default="100.10000", help="marked tokens and tokens in all")
    parser.add_argument("--texts", type=int, default=8, help="documents of unmarked")
    args = parser.parse_args()
    if args.stage == "table":
        print_table(args.cache)
    elif args.stage == "read":
        args.cache.mkdir(parents=True, exist_ok=True)
        read_again(Shelf(args.study), args.study, args.cache, args.cell)
    else:
        print_unmarked(Shelf(args.study), args.cell, args.texts)


if __name__ == "__main__":
    main()
