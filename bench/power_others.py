"""How much text finds marks by others: texts that a model writes under each, and their evidence.

``python bench/power_others.py --texts 16`` lets the model continue the study's prompts under
Gumbel-max (vLLM's numbers), SynthID-Text and green lists of transformers, each text under a key of
its own, and prints after how many tokens how many reach an e-value of a million. Gumbel-max is read
twice: by tokens and key, and with the probabilities that the model gives without the prompt.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np

import _common
from pura.detect.decode.bets import high_uniforms, log_increments
from pura.detect.local.third_party import (
    draws_of,
    philox,
    shuffled_front,
    synthid_entries,
    synthid_table,
)
from pura.measure.corpora import SEED
from pura.measure.evaluate import wilson
from pura.measure.power import read_as
from pura.scheme import Profile, SecretKey
from pura.scheme.foreign import GumbelMark, KgwMark, SynthIdMark
from pura_lab.compare.methods import ModelSource
from pura_lab.rivals.base import draw, shifted
from pura_lab.rivals.tournament import tournament

Chooser = Callable[[np.ndarray, list[int], np.random.Generator], int]
DELTA = 2.0  # of the green lists
LENGTHS = (25, 50, 100, 150, 200)
LEVEL = 6.0


def gumbel(mark: GumbelMark, secret: list[int]) -> Chooser:
    """Choose as vLLM's sampler does: the largest ``u^(1/p)``."""

    def choose(law: np.ndarray, told: list[int], dice: np.random.Generator) -> int:
        ids = np.flatnonzero(law)
        words = philox(secret[0], np.tile(told[-mark.context_width :], (ids.size, 1)), ids)
        u = ((words >> np.uint64(8)).astype(np.float64) + 0.5) * 2.0**-24
        return int(ids[np.argmin(-np.log(u) / law[ids])])

    return choose


def synthid(mark: SynthIdMark, secret: list[int]) -> Chooser:
    """Draw the winner of the tournament with the public code's coins."""
    table = synthid_table(mark.table_seed, mark.table_size)
    seen: set[tuple[int, ...]] = set()

    def choose(law: np.ndarray, told: list[int], dice: np.random.Generator) -> int:
        context = tuple(told[-mark.context_width :])
        if context not in seen:
            seen.add(context)
            ids = np.arange(law.size)
            coins = table[synthid_entries(secret, mark.table_size, ids, np.array([context]))]
            law = tournament(law, coins)
        return draw(law, dice.random())

    return choose


def kgw(mark: KgwMark, secret: list[int]) -> Chooser:
    """Add ``DELTA`` to the logits of the green list."""
    count = int(mark.list_width * mark.gamma)

    def choose(law: np.ndarray, told: list[int], dice: np.random.Generator) -> int:
        seed = secret[0] * told[-1] % (2**64 - 1) & 0xFFFFFFFF
        green = np.zeros(mark.list_width, dtype=bool)
        green[shuffled_front(seed, mark.list_width, count)] = True
        return draw(shifted(law, green[: law.size], DELTA), dice.random())

    return choose


def main() -> None:
    """Write, read, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=int, default=16, help="of each scheme and temperature")
    args = parser.parse_args()
    model = _common.load_builtin()
    source, rng = ModelSource(model), np.random.default_rng(SEED)
    width = source.vocab_size
    gumbel_mark, synthid_mark = GumbelMark(sealed="x"), SynthIdMark(sealed="x")
    kgw_mark = KgwMark(sealed="x", list_width=width)
    kinds: tuple[tuple[str, Any, Any, int, float], ...] = (
        ("gumbel-max", gumbel_mark, gumbel, 1, 1.0),
        ("gumbel-max", gumbel_mark, gumbel, 1, 0.7),
        ("synthid-text", synthid_mark, synthid, 30, 1.0),
        ("kgw", kgw_mark, kgw, 1, 1.0),
    )
    cells = [
        (*kind, number, rng.integers(1, 1 << 40, kind[3]).tolist())
        for kind in kinds
        for number in range(args.texts)
    ]
    choosers = [make(mark, secret) for _, mark, make, _, _, _, secret in cells]
    dice = np.random.default_rng(SEED + 1)
    source.begin([cell[5] for cell in cells])
    told: list[list[int]] = [[] for _ in cells]
    tokens = None
    for _ in range(max(LENGTHS)):
        rows = source.rows(tokens)
        for i, (cell, choose) in enumerate(zip(cells, choosers, strict=True)):
            law = rows[i] ** (1 / cell[4])
            law /= law.sum()
            plain = len(told[i]) < cell[1].context_width
            told[i].append(draw(law, dice.random()) if plain else choose(law, told[i], dice))
        tokens = np.array([text[-1] for text in told])

    found: dict[tuple[str, float], list[list[float]]] = {}
    profile = Profile(payload_bits=36, code="tbcc", vocab_size=width)
    for (name, mark, _, _, temperature, _, secret), text in zip(cells, told, strict=True):
        ids = np.array(text)
        probability = None
        if name == "gumbel-max":
            reading = read_as(model, ids, SecretKey(bytes(32)), profile, lambda: None)
            probability = reading.probability
        for read in ("", " + model") if probability is not None else ("",):
            line = []
            for length in LENGTHS:
                draws = draws_of(mark, secret, ids[:length])
                if read and probability is not None:
                    told_of = probability[draws[0]]
                    nats = high_uniforms(draws[1], probability=told_of).sum()
                else:
                    nats = log_increments(mark, draws).sum()
                line.append(float(nats) / np.log(10))
            found.setdefault((name + read, temperature), []).append(line)

    _common.print_facts("Power of marks by others", SEED)
    head = ["scheme", "temperature", "texts"]
    head += [f"{n} tokens: found [95 %], median log10 e" for n in LENGTHS]
    table = []
    for (name, temperature), lines in found.items():
        row = [name, f"{temperature:g}", str(len(lines))]
        for column in np.array(lines).T:
            hits = int((column >= LEVEL).sum())
            low, high = wilson(hits, column.size)
            row.append(f"{hits} [{100 * low:.0f}-{100 * high:.0f}], {np.median(column):.1f}")
        table.append(row)
    _common.print_table(head, table)


if __name__ == "__main__":
    main()
