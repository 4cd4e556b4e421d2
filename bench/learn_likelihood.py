"""Learn the frozen numbers of the step likelihood from the study's learning texts.

``python bench/evidence.py generate read --cache DIR`` makes the texts (other prompts, keys,
payloads and seeds than those that results are reported on) and reads them; this writes
``resources/likelihood.json``. NumPy only, seconds. Position bins and blur widths stand
here, grid and passages are kept from the table in use; weights, uniform shares, entropy shifts and
noises are learnt.
"""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from pura.base.paths import resource
from pura.detect.decode.likelihood import LikelihoodModel
from pura.detect.local.evidence import circular_distance
from pura.measure.cache import Cache
from pura.measure.corpora import LEARN, SEED
from pura.measure.learn import KnownSteps, join, known_steps, learn_table, rounded
from pura_lab.design import DROPPED

TABLES = {
    "same-model, prompt unknown": "blind",
    "proxy, prompt unknown": "proxy",
    "same-model, prompt known": "prompt",
    "proxy, prompt known": "proxy-prompt",
}


VOCABULARY = 49_152
WIDTHS = (0.0003, 0.003, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
EDGES = (5, 10, 20, 35, 60, 100)


def steps_of(cache: Cache, verifier: str, vocab_size: int) -> tuple[KnownSteps, int]:
    """Return the known steps of all learning texts that a verifier has read, and their number."""
    texts = cache.get(f"texts.{LEARN.name}")
    reading = cache.get(f"reading.{LEARN.name}.clean.{verifier}")
    profile = LEARN.profile(vocab_size)
    count = len(reading["ids"])
    parts = [
        known_steps(
            texts["ids"][i],
            texts["entropy_bits"][i],
            LEARN.key(i),
            LEARN.payload(i),
            profile,
            entropy_bits=reading["entropy_bits"][i],
            lo=reading["lo"][i],
            hi=reading["hi"][i],
        )
        for i in range(count)
    ]
    return join(parts), count


def print_distances(cache: Cache) -> None:
    """Print how far the true anchors lie from each verifier's intervals, by token position."""
    print("| verifier | tokens | anchor inside % | median distance | 90 % quantile |")
    for name, verifier in TABLES.items():
        steps, _ = steps_of(cache, verifier, VOCABULARY)
        steps = carrying(steps)
        inside = (steps.anchor >= steps.lo) & (steps.anchor < steps.hi)
        ends = [circular_distance(steps.anchor, end) for end in (steps.lo, steps.hi)]
        distance = np.where(inside, 0.0, np.minimum(*ends))
        for first, last in zip((2, 8, 20, 50, 100), (8, 20, 50, 100, 200), strict=True):
            here = (steps.position >= first) & (steps.position < last)
            middle, high = np.quantile(distance[here], [0.5, 0.9]).tolist()
            share = 100 * inside[here].mean()
            print(f"| {name} | {first}-{last} | {share:.0f} | {middle:.3f} | {high:.3f} |")


def carrying(steps: KnownSteps) -> KnownSteps:
    """Return the steps into which the source put bits."""
    chosen = steps.arity > 0
    return KnownSteps(**{name: array[chosen] for name, array in vars(steps).items()})


def learn(cache: Cache, base: LikelihoodModel, version: str) -> LikelihoodModel:
    """Return the model with the tables learnt anew."""
    thresholds = LEARN.profile(VOCABULARY).entropy_thresholds_bits
    base = replace(base, blur_widths=np.array(WIDTHS), position_edges=np.array(EDGES))
    tables, counts = [], []
    for table in base.tables:
        steps, count = steps_of(cache, TABLES[table.name], VOCABULARY)
        tables.append(rounded(learn_table(table.name, steps, base, thresholds)))
        counts.append(f"{table.name}: {count} texts, {int((steps.arity > 0).sum())} steps")
    provenance = (
        "Learnt by EM from texts of SmolLM2-135M-Instruct (200 tokens, temperature 1, code tbcc, "
        f"36 bits) that the study reports no result on: cell {LEARN.name}, seed {SEED}. "
        f"{'; '.join(counts)}. The proxy lacks the layers {', '.join(map(str, DROPPED))} of 30. "
        "Grid, widths, bins and passages are set by hand. "
        "Command: python bench/learn_likelihood.py --cache DIR"
    )
    return replace(base, version=version, provenance=provenance, tables=tuple(tables))


def write(model: LikelihoodModel, path: Path) -> None:
    """Write the table; lists of numbers and grid points stand on one line each."""
    text = json.dumps(model.to_dict(), ensure_ascii=False, indent=1)
    text = re.sub(r"[\[{][^\[\]{}]*[\]}]", lambda m: re.sub(r"\s+", " ", m.group()), text)
    path.write_text(text + "\n", encoding="utf-8")


def main() -> None:
    """Learn and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--out", type=Path, help="default: over the table in use")
    parser.add_argument("--version", default="2")
    args = parser.parse_args()
    path = args.out or resource("likelihood.json")
    model = learn(
        Cache(args.cache), LikelihoodModel.load(resource("likelihood.json")), args.version
    )
    write(model, path)
    print_distances(Cache(args.cache))
    for table in model.tables:
        print(f"\n{table.name}: entropy shift {table.entropy_shift_bits.tolist()}")
        print(f"entropy noise {table.entropy_noise_bits.tolist()}")
        for row, rest in zip(table.weights.tolist(), table.uniform.tolist(), strict=True):
            print("  " + " ".join(f"{x:.3f}" for x in [*row, rest]))


if __name__ == "__main__":
    main()
