"""The binomial mark where the paper measured it: little choice, 32 bits, words deleted.

``python bench/binomial_paper.py --texts 64`` records what the built-in model says along 8 plain
texts, keeps the 50 likeliest tokens of each step, sharpens them to the little choice that a chat
model has, and replays them: 300 tokens, four tokens of context, and the share of bits that are
right after 0 to 50 % of the tokens were deleted. Table 1 of arXiv 2605.11653, as reported by
others, is printed beside it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np

import _common
from pura.scheme import Payload, SecretKey
from pura_lab.compare.methods import record_laws
from pura_lab.rivals.base import ERASED
from pura_lab.rivals.binomial import HORIZONS, Binomial
from pura_lab.rivals.greens import Mpac
from pura_lab.rivals.spread import Mc2Mark

BITS, TOKENS, KEPT, TOP = 32, 300, 4096, 50
PLAIN = 8  # texts along which the model's laws are recorded
DELETED = (0.0, 0.1, 0.2, 0.5)
SCHEMES = {
    "binomial-plus": (Binomial, {"horizons": HORIZONS, "candidates": TOP}, "70.7 / 63.2 / 52.5"),
    "mc2mark": (Mc2Mark, {}, "66.4 / 60.8 / 51.9"),
    "mpac, delta 1": (Mpac, {"delta": 1.0}, "60.9 / 57.2 / 52.4"),
}


def sharpened(laws: np.ndarray, temperature: float) -> np.ndarray:
    """Return the likeliest tokens' laws [..., V] at a temperature, the others left out."""
    least = np.partition(laws, -TOP, axis=-1)[..., -TOP, None]
    out = np.where(laws >= least, laws.astype(np.float64) ** (1 / temperature), 0.0)
    return np.asarray(out / out.sum(axis=-1, keepdims=True))


def right_bits(name: str, laws: np.ndarray, texts: int, seed: int) -> np.ndarray:
    """Return the share of right bits [texts, deletions]; an erased one counts half."""
    scheme, settings, _ = SCHEMES[name]
    out = np.empty((texts, len(DELETED)))
    for number in range(texts):
        rng = np.random.default_rng([seed, number])
        bits = rng.integers(0, 2, BITS)
        key = SecretKey(rng.bytes(32))
        mark = scheme(key=key, vocab_size=laws.shape[2], payload_bits=BITS, window=4, **settings)
        row = mark.start(Payload.from_bits(bits), rng)
        for law in laws[number % len(laws)]:
            mark.embed(row, law)
        ids = np.array(row.tokens)
        for at, share in enumerate(DELETED):
            read = mark.decode(mark.observe(ids[rng.random(ids.size) >= share])).bits
            out[number, at] = np.where(read == ERASED, 0.5, read == bits).mean()
    return out


def main() -> None:
    """Record, replay and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=64)
    parser.add_argument("--temperature", type=float, default=0.25)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plain", type=int, default=PLAIN, help="texts that are recorded")
    parser.add_argument("--tokens", type=int, default=TOKENS, help="of each text")
    asked = _common.parse(parser, texts=1, plain=1, tokens=40)
    model = _common.load_builtin()
    recorded = record_laws(model, asked.plain, asked.tokens, KEPT, asked.seed)
    laws = sharpened(recorded, asked.temperature)
    some = laws[laws > 0]
    entropy = -(some * np.log2(some)).sum() / (laws.shape[0] * laws.shape[1])
    _common.print_facts(f"{entropy:.2f} bits of entropy a token", asked.seed)
    rows = []
    for name in SCHEMES:
        found = 100 * right_bits(name, laws, asked.texts, asked.seed)
        half = 1.96 * found.std(axis=0) / np.sqrt(asked.texts)
        cells = [f"{mean:.1f} ± {h:.1f}" for mean, h in zip(found.mean(axis=0), half, strict=True)]
        rows.append([name, *cells, SCHEMES[name][2]])
    head = [f"{share:.0%} deleted" for share in DELETED]
    _common.print_table(["scheme", *head, "paper, 10 / 20 / 50 %"], rows)


if __name__ == "__main__":
    main()
