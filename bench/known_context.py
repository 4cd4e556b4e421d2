"""What the verifier gains by knowing template, system prompt, or one of a hundred messages.

``python bench/known_context.py --cache DIR`` prints the table of study.md §13. Texts of the
built-in model, generated after a chat template, a system prompt and a user's message, are read with
nothing known, after template and system prompt, after 100 candidate messages of which one is right,
and after the right one. What is done stays in the cache: a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np

import _common
from pura.detect.decode.evidence_sums import sum_evidence
from pura.detect.decode.likelihood import Intervals, default_model
from pura.detect.decode.significance import combine
from pura.embed.generate import generate_batch
from pura.measure.cache import Cache
from pura.measure.corpora import LEARNING, SEED, STUDY, Cell
from pura.measure.evaluate import TextReading
from pura.model.evidence import read_many
from pura.model.reading import Reading
from pura.model.tokenise import beginning_ids
from pura.scheme import Profile, schedule

CELL = Cell(name="context", code="tbcc", payload_bits=36)
TEMPLATE = (
    "<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{prompt}<|im_end|>\n"
    "<|im_start|>assistant\n"
)
SYSTEM = (
    "You write for the newsletter of a small harbour town. Answer in plain English, in whole "
    "sentences and without lists."
)
MESSAGES = tuple(f"Go on with this text: {opening}" for opening in (*STUDY, *LEARNING))[:100]
NEUTRAL = "Please write a text."
CUTS = (35, 60, 100)
FOUND = 6.0


def profile_of(vocab_size: int) -> Profile:
    """Return the profile that knows template and system prompt."""
    profile = CELL.profile(vocab_size)
    return profile.with_(chat_template=TEMPLATE, system_prompt=SYSTEM)


def right(number: int) -> int:
    """Return which message a text was generated from."""
    return (number * 17) % len(MESSAGES)


def generate(model: Any, cache: Cache, texts: int) -> None:
    """Generate the texts."""
    profile = profile_of(model.vocab_size)
    numbers = range(texts)
    made = generate_batch(
        model,
        [list(beginning_ids(model.tokenizer, profile, MESSAGES[right(i)])) for i in numbers],
        [CELL.payload(i) for i in numbers],
        [CELL.key(i) for i in numbers],
        profile,
        tokens=CUTS[-1],
        seed=[int(CELL.generator("dice", i).integers(1 << 62)) for i in numbers],
        ignore_eos=True,
    )
    cache.put(f"texts.{CELL.name}.{texts}", {"ids": [text.ids for text in made]})


def read_text(model: Any, cache: Cache, number: int, ids: Any) -> None:
    """Read one text in every way and put the evidence on the cache: log10 e [ways, cuts].

    The first three ways are: nothing known, an empty message, a neutral one; then each candidate.
    """
    profile = profile_of(model.vocab_size)
    given = ["", NEUTRAL, *MESSAGES]
    prompts = [(), *(beginning_ids(model.tokenizer, profile, words) for words in given)]
    key = CELL.key(number)
    start = time.perf_counter()
    seen = read_many(model, [ids] * len(prompts), keys=[key], profile=profile, prompts=prompts)
    spent = time.perf_counter() - start
    rows = [
        [weigh(reading, number, cut, prompt_known=way >= 3) for cut in CUTS]
        for way, reading in enumerate(seen)
    ]
    cache.put(f"context.{number}", {"log10_e": [np.array(rows)]})
    print(f"text {number}: read in {spent:.0f} s", flush=True)


def weigh(reading: Reading, number: int, cut: int, *, prompt_known: bool) -> float:
    """Return log10 e of the first tokens of a reading."""
    whole = TextReading(
        ids=reading.ids,
        entropy_bits=reading.entropy_bits,
        probability=reading.probability,
        lo=reading.lo[0],
        hi=reading.hi[0],
    )
    part, profile = whole.first(cut), CELL.profile(49_152)
    found = sum_evidence(
        Intervals.of(
            schedule(part.ids, part.entropy_bits, CELL.key(number), profile),
            part.entropy_bits,
            part.lo,
            part.hi,
            profile,
            prompt_known=prompt_known,
            probability=part.probability,
        )
    )
    return found.log_e / float(np.log(10))


def table(cache: Cache, texts: int) -> None:
    """Print the evidence by what is known and by length."""
    rows: dict[str, list[list[float]]] = {}
    for number in range(texts):
        if f"context.{number}" not in cache:
            continue
        e = cache.get(f"context.{number}")["log10_e"][0][:, : len(CUTS)]
        several = [combine([*e[3:, c], e[1, c]]) for c in range(len(CUTS))]
        wrong = [combine([*np.delete(e[3:, c], right(number)), e[1, c]]) for c in range(len(CUTS))]
        for name, values in (
            ("nothing", e[0]),
            ("template and system prompt, empty message", e[1]),
            ("the same with a neutral message", e[2]),
            ("100 candidates, the right one among them", several),
            ("99 candidates, all wrong", wrong),
            ("the message", e[3 + right(number)]),
        ):
            rows.setdefault(name, []).append(list(values))
    out = []
    for name, found in rows.items():
        values = np.array(found)
        cells = [
            f"{np.median(values[:, c]):.1f} ({(values[:, c] >= FOUND).sum()}/{len(values)})"
            for c in range(len(CUTS))
        ]
        out.append([name, *cells])
    _common.print_table(["known", *(f"{cut} tokens" for cut in CUTS)], out)


def main() -> None:
    """Generate and read what is missing, then print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--texts", type=int, default=8)
    args = parser.parse_args()
    import torch

    torch.set_num_threads(1)
    cache = Cache(args.cache)
    model = _common.load_builtin()
    if f"texts.{CELL.name}.{args.texts}" not in cache:
        generate(model, cache, args.texts)
    for number, ids in enumerate(cache.get(f"texts.{CELL.name}.{args.texts}")["ids"]):
        if f"context.{number}" not in cache:
            read_text(model, cache, number, ids[: CUTS[-1]])
    _common.print_facts("Known context", SEED)
    print(f"likelihood table {default_model().fingerprint}\n")
    table(cache, args.texts)


if __name__ == "__main__":
    main()
