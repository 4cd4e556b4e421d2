"""Marked passages inside long documents: what is found, where, and what it costs.

``python bench/long_documents.py read --cache DIR`` reads the parts, ``table`` decodes the documents
and prints the tables of study.md §5; both go on where they were stopped. The marked texts are
those of the study's cells ``tbcc-36`` and ``power`` (``bench/evidence.py generate``). The text
around them is by the model for every other one (the other marked texts, which to the key that is
asked are text without a mark) and by people for the rest. How documents are put together from
readings says :mod:`pura.measure.evaluate`; ``whole`` reads some of them whole, for comparison;
``cost`` sets the decoder beside the model's pass; ``memory`` decodes 450,000 tokens.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np

import _common
import _study_decode
import _study_read
from _study_power import LEAST_TEXTS, THRESHOLDS, write_power
from pura.detect.decode.exact import ExactDecision, decide
from pura.detect.decode.likelihood import Intervals, default_model
from pura.measure.cache import Cache
from pura.measure.corpora import CELLS, POWER, SEED, Cell
from pura.measure.evaluate import (
    PLACES,
    READ_WHOLE,
    PlacedText,
    SplicedDocument,
    TextReading,
    finding,
    joined,
    spliced,
    wilson,
)
from pura.measure.power import power_entry
from pura.scheme import Schedule, SecretKey, schedule
from pura_lab.design import ReadingJob

STUDIED = (CELLS["tbcc-36"], POWER)
MARKED = (60, 100, 200)
TOKENS = (500, 2_000, 10_000, 30_000)
LONGEST = {60: 2_000, 100: 10_000, 200: 30_000}  # documents that a passage is looked for in
EDITS = ("clean", "sub10")
LEAD = 300
PIECE = 1_000
PIECES = 31
FOUND = 6.0
COLUMNS = _study_decode.COLUMNS
VOCABULARY = _study_decode.VOCABULARY
STAGES = ("read", "whole", "table", "cost", "memory")
WHOLE_TOKENS = 1_800
WHOLE_TEXTS = 8
COSTS = {80: 3, 200: 3, 500: 3, 2_000: 2}  # texts by tokens
VERY_LONG = 450_000


def numbered() -> list[tuple[Cell, int]]:
    """Return the marked texts: cell and number."""
    return [(cell, number) for cell in STUDIED for number in range(cell.texts)]


def by_model(number: int) -> bool:
    """Whether the text around a marked one is the model's."""
    return number % 2 == 0


def people(tokenizer: Any) -> Any:
    """Return the tokens of prose by people: excerpts of a novel, and Python's own manual."""
    from pydoc_data.topics import topics

    from pura.model.tokenise import tokenise

    texts = [*_study_read.human_texts(), *(topics[name] for name in sorted(topics))]
    ids = np.zeros(0, dtype=np.int64)
    for text in texts:
        ids = np.concatenate([ids, tokenise(tokenizer, text + "\n\n").ids])
        if ids.size >= PIECES * PIECE:
            break
    return ids[: PIECES * PIECE]


def columns_of(reading: Any) -> dict[str, list[Any]]:
    """Return a model's reading under one key as columns of the cache."""
    return {
        "ids": [reading.ids], "entropy_bits": [reading.entropy_bits],
        "probability": [reading.probability], "lo": [reading.lo[0]], "hi": [reading.hi[0]],
    }  # fmt: skip


def row(columns: dict[str, Any], number: int = 0) -> TextReading:
    """Return one reading of the cache."""
    return TextReading(**{name: columns[name][number] for name in COLUMNS})


def opened(ring: Any, number: int) -> Any:
    """Return the indices of the tokens around a marked text, the lead first."""
    size = ring.size
    if by_model(number):
        # The texts are 200 tokens each; the marked one itself is left out.
        begin = (number + 1) * STUDIED[0].tokens
        return (begin + np.arange(size - STUDIED[0].tokens)) % size
    return (number * 187 + np.arange(size)) % size


@cache
def _ring(cache: Cache, model: bool) -> TextReading:
    """Return the text around, by the model or by people."""
    if not model:
        return joined([row(cache.get(f"people.{i}")) for i in range(PIECES)])
    texts = [
        TextReading(**{name: stored[name][i] for name in COLUMNS})
        for cell in STUDIED
        for stored in [cache.get(f"reading.{cell.name}.clean.blind")]
        for i in range(cell.texts)
    ]
    return joined(texts)


def around(cache: Cache, number: int) -> TextReading:
    """Return the text around a marked one, the lead first."""
    ring = _ring(cache, by_model(number))
    order = opened(ring.ids, number)
    return TextReading(**{name: getattr(ring, name)[order] for name in COLUMNS})


def ring_ids(cache: Cache, number: int, tokenizer: Any) -> Any:
    """Return the tokens that :func:`around` has, before they are read."""
    if by_model(number):
        ring = np.concatenate(
            [ids for cell in STUDIED for ids in cache.get(f"texts.{cell.name}")["ids"]]
        )
    else:
        ring = people(tokenizer)
    return ring[opened(ring, number)]


def read_parts(model: Any, cache: Cache, texts: int) -> None:
    """Read what is not on the cache yet."""
    from pura.model.evidence import read, read_many

    profile = STUDIED[0].profile(model.vocab_size)
    reader = _study_read.Reader(model, cache)
    first, more = STUDIED
    reader.run(ReadingJob(cell=first.name, attack=edit, verifier="blind") for edit in EDITS)
    if texts > first.texts:
        reader.run([ReadingJob(cell=more.name, attack=EDITS[1], verifier="blind")])
    stream = people(model.tokenizer)
    for i in range(PIECES):
        if f"people.{i}" not in cache:
            ids = stream[i * PIECE : (i + 1) * PIECE]
            seen = read(model, ids, keys=[people_key()], profile=profile)
            cache.put(f"people.{i}", columns_of(seen))
    print(f"{PIECES * PIECE} tokens by people are read", flush=True)
    for number, (cell, place) in enumerate(numbered()[:texts]):
        if f"behind.{number}" in cache:
            continue
        start = time.process_time()
        lead = ring_ids(cache, number, model.tokenizer)[:LEAD]
        marked = [cache.get(f"attacked.{cell.name}.{edit}")["ids"][place] for edit in EDITS]
        seen = read_many(
            model, [np.concatenate([lead, ids]) for ids in marked],
            keys=[cell.key(place)], profile=profile,
        )  # fmt: skip
        each = [columns_of(reading) for reading in seen]
        cache.put(f"behind.{number}", {name: [e[name][0] for e in each] for name in COLUMNS})
        print(f"behind.{number}: {time.process_time() - start:.1f} s of processor", flush=True)
    reader.run([ReadingJob(cell=more.name, attack=EDITS[0], verifier="blind")])


def people_key() -> SecretKey:
    """Return the key whose secret order the text by people is read in."""
    return Cell(name="people", code="tbcc", payload_bits=36).key(0)


def passage(cache: Cache, number: int, edit: str) -> PlacedText:
    """Return a marked text as a passage."""
    cell, place = numbered()[number]
    return PlacedText(
        alone=row(cache.get(f"reading.{cell.name}.{edit}.blind"), place),
        behind=row(cache.get(f"behind.{number}"), EDITS.index(edit)),
        lead=LEAD,
    )


def documents(cache: Cache, number: int, edit: str) -> Iterator[tuple[SplicedDocument, str]]:
    """Yield the documents of one marked text, shortest first, with the name of their cell."""
    part, rest = passage(cache, number, edit), around(cache, number)
    # Every cell of a place gets a third of the texts, half of them by the model.
    place = PLACES[number // 2 % 3]
    for tokens in TOKENS:
        for marked in (m for m in MARKED if tokens <= LONGEST[m]):
            yield (
                spliced(part, rest, marked=marked, tokens=tokens, place=place),
                f"{marked}.{tokens}.{place}.{edit}",
            )


def weigh(
    reading: TextReading, number: int, checkpoint: Callable[[], None] | None = None
) -> tuple[ExactDecision, Schedule, float]:
    """Return what is decided, the schedule, and the processor seconds of the decoder."""
    cell, place = numbered()[number]
    profile = cell.profile(VOCABULARY)
    steps = schedule(reading.ids, reading.entropy_bits, cell.key(place), profile)
    start = time.process_time()
    decision = decide(
        Intervals.of(
            steps,
            reading.entropy_bits,
            reading.lo,
            reading.hi,
            profile,
            probability=reading.probability,
        ),
        checkpoint=checkpoint,
    )
    return decision, steps, time.process_time() - start


def compare_whole(model: Any, cache: Cache) -> None:
    """Print documents that were read whole beside the same ones put together from parts."""
    from pura.model.evidence import read

    rows = []
    for number in range(WHOLE_TEXTS):
        document = spliced(
            passage(cache, number, "clean"), around(cache, number),
            marked=200, tokens=WHOLE_TOKENS, place="middle",
        )  # fmt: skip
        cell, place = numbered()[number]
        if f"whole.{number}" not in cache:
            seen = read(
                model, document.reading.ids,
                keys=[cell.key(place)], profile=cell.profile(VOCABULARY),
            )  # fmt: skip
            cache.put(f"whole.{number}", columns_of(seen))
        cells_ = [f"{number}", "the model" if by_model(number) else "people"]
        for reading in (row(cache.get(f"whole.{number}")), document.reading):
            decision, steps, _ = weigh(reading, number)
            marks = [f"{a}-{b}" for a, b in decision.marks[decision.headline].ranges]
            right = "yes" if decision.payload == cell.payload(place) else "no"
            cells_ += [
                str(len(steps)), f"{decision.log_e_whole / np.log(10):.1f}",
                f"{decision.log10_e:.1f}", right, ", ".join(marks),
            ]  # fmt: skip
        rows.append(cells_)
    head = ["usable", "log10 e whole", "log10 e", "payload right", "passage"]
    _common.print_table(
        ["text", "around", *(f"read whole: {h}" for h in head), *(f"parts: {h}" for h in head)],
        rows,
    )


def print_costs(model: Any, cache: Cache) -> None:
    """Print the decoder's processor time beside that of the model's pass, text by text."""
    from pura.model.evidence import read

    rows = []
    for tokens, texts in COSTS.items():
        passes, decoders = [], []
        for number in range(texts):
            cell, place = numbered()[number]
            if tokens <= STUDIED[0].tokens:
                ids = cache.get(f"texts.{cell.name}")["ids"][place][:tokens]
            else:
                ids = spliced(
                    passage(cache, number, "clean"), around(cache, number),
                    marked=200, tokens=tokens, place="middle",
                ).reading.ids  # fmt: skip
            start = time.process_time()
            seen = read(model, ids, keys=[cell.key(place)], profile=cell.profile(VOCABULARY))
            passes.append(time.process_time() - start)
            reading = TextReading(**{name: v[0] for name, v in columns_of(seen).items()})
            decoders.append(min(weigh(reading, number)[2] for _ in range(2)))
        share = np.median(np.array(decoders) / np.array(passes))
        rows.append(
            [
                str(tokens), str(texts), f"{np.median(passes):.2f}", f"{np.median(decoders):.3f}",
                f"{share:.1%}",
            ]
        )  # fmt: skip
    _common.print_table(["tokens", "texts", "model's pass, s", "decoder, s", "share"], rows)


def print_memory(cache: Cache) -> None:
    """Decode a very long text and print its memory, its time and the longest wait for a stop."""
    document = spliced(
        passage(cache, 0, "clean"), around(cache, 0), marked=200, tokens=30_000, place="middle"
    )
    reading, laps = document.reading, VERY_LONG // 30_000
    every = joined([reading] * laps)
    # Each lap has tokens of its own, so that no context is a repetition; the first one is marked.
    shift = np.repeat(np.arange(laps), reading.ids.size) * VOCABULARY
    every = dataclasses.replace(every, ids=every.ids + shift)
    before, waits = _common.peak_memory_bytes(), [time.perf_counter()]

    def checkpoint() -> None:
        waits.append(time.perf_counter())

    decision, steps, seconds = weigh(every, 0, checkpoint)
    waits.append(time.perf_counter())
    print(f"{every.ids.size} tokens, {len(steps)} usable; log10 e {decision.log10_e:.1f}")
    print(f"decoder: {seconds:.1f} s of processor; peak of memory {before / 1e6:.0f} MB before,")
    print(f"{_common.peak_memory_bytes() / 1e6:.0f} MB after")
    print(f"longest time between two checkpoints: {max(np.diff(waits[1:])):.2f} s on the wall")


def outcomes(
    cache: Cache, folder: Path, texts: int, most: int, edits: Sequence[str]
) -> list[dict[str, Any]]:
    """Return how the documents came out, deciding those that were not decided yet.

    Args:
        cache: Has the readings.
        folder: Where outcomes are kept, a line each.
        texts: How many of the marked texts.
        most: Longest documents in tokens.
        edits: Which of :data:`EDITS`.
    """
    path = folder / "documents.jsonl"
    done = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            done[entry["likelihood"], entry["cell"], entry["number"]] = entry
    likelihood = default_model().fingerprint
    out = []
    with path.open("a", encoding="utf-8") as file:
        for number in range(texts):
            if f"behind.{number}" not in cache:
                continue
            if by_model(number) and f"reading.{POWER.name}.clean.blind" not in cache:
                continue
            for edit in edits:
                for document, cell in documents(cache, number, edit):
                    if document.reading.ids.size > most:
                        continue
                    entry = done.get((likelihood, cell, number))
                    if entry is None:
                        cell_, place = numbered()[number]
                        decision, steps, seconds = weigh(document.reading, number)
                        found = finding(document, steps.token, decision, cell_.payload(place))
                        entry = {
                            "likelihood": likelihood, "cell": cell, "number": number,
                            "seconds": seconds, **dataclasses.asdict(found),
                        }  # fmt: skip
                        file.write(json.dumps(entry) + "\n")
                        file.flush()
                    out.append(entry)
    return out


def power_entries(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the entries of the power table: unedited passages in texts of some length.

    A class begins at the most usable positions that a passage of it had, and an entry speaks of
    texts with no more usable positions than the shortest text had: neither flatters. Nor does the
    splicing: a passage is found where what would be left of its evidence is enough.
    """
    sizes: dict[int, dict[int, list[dict[str, Any]]]] = {}
    for entry in entries:
        marked, tokens, _, edit = entry["cell"].split(".")
        if edit == EDITS[0]:
            sizes.setdefault(int(tokens), {}).setdefault(int(marked), []).append(entry)
    out, rows = [], []
    for tokens, groups in sorted(sizes.items()):
        some = {m: e for m, e in sorted(groups.items()) if len(e) >= LEAST_TEXTS}
        if not some:
            continue
        text_usable = min(e["usable"] for group in some.values() for e in group)
        usable = [max(e["marked_usable"] for e in group) for group in some.values()]
        texts = [len(group) for group in some.values()]
        for threshold in THRESHOLDS:
            found = [sum(READ_WHOLE * e["log10_e"] >= threshold for e in g) for g in some.values()]
            profile = STUDIED[0].profile(VOCABULARY)
            entry = power_entry(profile, threshold, usable, found, texts)
            out.append(entry | {"text_usable": text_usable})
            shares = [f"{u}: {f}/{n}" for u, f, n in zip(usable, found, texts, strict=True)]
            rows.append([str(tokens), str(text_usable), f"{threshold:g}", ", ".join(shares)])
    _common.print_table(["tokens", "usable at least", "log10 e ≥", "marked in a row: found"], rows)
    return out


def share(hits: int, of: int) -> str:
    """A share in percent with its 95 % interval (Wilson)."""
    low, high = wilson(hits, of)
    return f"{100 * hits / of:.0f} ({100 * low:.0f}-{100 * high:.0f})"


def cells(entries: list[dict[str, Any]], *, by: str) -> None:
    """Print a line a cell; ``by`` is what a cell has besides its sizes and edits."""
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for entry in entries:
        marked, tokens, place, edit = entry["cell"].split(".")
        host = "the model" if by_model(entry["number"]) else "people"
        other = {"": "all", "place": place, "around": host}[by]
        groups.setdefault((edit, tokens, marked, other), []).append(entry)
    order = {name: i for i, name in enumerate([*EDITS, "all", *PLACES, "the model", "people"])}
    rows = []
    for key in sorted(groups, key=lambda k: (order[k[0]], int(k[2]), int(k[1]), order[k[3]])):
        edit, tokens, marked, other = key
        some = groups[key]
        values = [e["log10_e"] for e in some]
        off = [x for e in some for x in e["off"] if e["log10_e"] >= FOUND]
        rows.append(
            [
                marked, tokens, "10 %" if edit == "sub10" else "none", other, str(len(some)),
                share(sum(v >= FOUND for v in values), len(some)),
                share(sum(e["right"] for e in some), len(some)),
                f"{np.median([e['log10_e_whole'] for e in some]):.1f}",
                f"{np.median(values):.1f}", f"{min(values):.1f}",
                f"{np.median(off):.0f}" if off else "-",
                f"{np.median([e['seconds'] for e in some]):.2f}",
            ]
        )  # fmt: skip
    head = [
        "marked", "in", "edited", by or "place", "texts", "found %", "payload %",
        "log10 e whole", "log10 e", "least", "limits off", "seconds",
    ]  # fmt: skip
    _common.print_table(head, rows)


def main() -> None:
    """Run one stage."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stage", choices=STAGES)
    parser.add_argument("--cache", type=Path, required=True, help="folder with the study's texts")
    parser.add_argument("--texts", type=int, default=len(numbered()), help="only the first ones")
    parser.add_argument("--edits", choices=EDITS, action="append", help="only these")
    parser.add_argument("--write", action="store_true", help="into resources/power/study.json")
    parser.add_argument("--tokens", type=int, default=max(TOKENS), help="no longer documents")
    args = parser.parse_args()
    cache = Cache(args.cache)
    if args.stage == "read":
        read_parts(_common.load_builtin(), cache, args.texts)
        return
    if args.stage != "table":
        _common.print_facts(f"Long documents: {args.stage}", SEED)
    if args.stage == "memory":
        print_memory(cache)
        return
    if args.stage in ("whole", "cost"):
        model = _common.load_builtin()
        (compare_whole if args.stage == "whole" else print_costs)(model, cache)
        return
    entries = outcomes(cache, args.cache, args.texts, args.tokens, args.edits or EDITS)
    _common.print_facts("Long documents", SEED)
    print(f"likelihood table {default_model().fingerprint}\n")
    for by in ("", "place", "around"):
        cells(entries, by=by)
    power = power_entries(entries)
    if args.write:
        command = " ".join(["python bench/long_documents.py", *sys.argv[1:]])
        command = command.replace(str(args.cache), "DIR")
        write_power(power, default_model().fingerprint, command, passages=True)


if __name__ == "__main__":
    main()
