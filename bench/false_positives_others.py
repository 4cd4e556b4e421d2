"""How often an unmarked text looks marked by others' marks: many keys over plain texts.

``python bench/false_positives_others.py --keys 20000`` reads the texts that ship with the tests
under random keys of every scheme that an audit can look for, and prints the table of
study.md. The model reads each text once, for the row that it weighs: minutes.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np

import _common
from false_positives import DATA, LEVELS
from pura.detect.decode.bets import log_increments
from pura.detect.local.third_party import draws_of
from pura.measure.corpora import SEED
from pura.measure.evaluate import wilson
from pura.scheme import Profile
from pura.scheme.foreign import ForeignMark, GumbelMark, KgwMark, MurmurMark, SynthIdMark

WEIGHED = ", weighed"


def plain_texts(tokenizer: Any) -> dict[str, Any]:
    """Return token ids by name; the part of the name before the dot says the kind."""
    from pura.model.tokenise import tokenise

    texts: dict[str, Any] = {}
    samples = json.loads((DATA / "samples" / "plain.json").read_text(encoding="utf-8"))["texts"]
    for i, sample in enumerate(samples):
        texts[f"model.{i}"] = np.array(sample["tokens"])
    for kind, file in (("human", "human.txt"), ("repeated", "boilerplate.txt")):
        for i, text in enumerate((DATA / file).read_text(encoding="utf-8").split("\n%\n")):
            texts[f"{kind}.{i}"] = tokenise(tokenizer, text.strip()).ids
    return texts


def weigh(
    mark: ForeignMark,
    numbers: int,
    texts: dict[str, Any],
    keys: int,
    rng: np.random.Generator,
    probabilities: dict[str, Any],
) -> dict[str, Any]:
    """Return log e of every text under keys of its own; float64 [keys a text].

    Args:
        mark: The scheme.
        numbers: How many its secret has.
        texts: Token ids by name.
        keys: Over all texts together.
        rng: Draws the keys.
        probabilities: Of the tokens under a model, by name; empty where none weighs the bets.
    """
    each = -(-keys // len(texts))
    found = {}
    for name, ids in texts.items():
        secrets = rng.integers(1, 1 << 62, (each, numbers)).tolist()
        found[name] = np.array(
            [
                log_increments(mark, draws_of(mark, secret, ids), probabilities.get(name)).sum()
                for secret in secrets
            ]
        )
    return found


def probabilities_of(model: Any, texts: dict[str, Any]) -> dict[str, Any]:
    """Return what a model gives every token of the texts, as an audit asks it."""
    from pura.model.evidence import read

    plain = Profile(payload_bits=36, code="tbcc", vocab_size=model.vocab_size)
    return {
        name: read(model, ids, keys=[], profile=plain).probability for name, ids in texts.items()
    }


def main() -> None:
    """Weigh every scheme, then print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keys", type=int, default=20_000, help="a scheme; green lists a tenth")
    parser.add_argument("--scheme", help="only this row")
    args = parser.parse_args()
    model = _common.load_builtin()
    texts = plain_texts(model.tokenizer)
    width = 1 + max(int(ids.max()) for ids in texts.values())
    marks = (
        ("gumbel-max", GumbelMark(sealed="x"), 1, args.keys),
        ("gumbel-max, two keys", GumbelMark(sealed="x", alpha=0.1), 1, args.keys),
        ("synthid-text", SynthIdMark(sealed="x"), 30, args.keys),
        ("kgw", KgwMark(sealed="x", list_width=width), 1, args.keys // 10),
        (f"gumbel-max{WEIGHED}", GumbelMark(sealed="x"), 1, args.keys),
        ("gumbel-max-murmur3", MurmurMark(sealed="x"), 1, args.keys),
        ("gumbel-max-murmur3, two keys", MurmurMark(sealed="x"), 2, args.keys),
        (f"gumbel-max-murmur3{WEIGHED}", MurmurMark(sealed="x"), 2, args.keys),
    )
    rng, rows = np.random.default_rng(SEED), []
    kinds = [*dict.fromkeys(name.split(".")[0] for name in texts), "all"]
    for scheme, mark, numbers, keys in marks:
        if args.scheme not in (None, scheme):
            continue
        told = probabilities_of(model, texts) if scheme.endswith(WEIGHED) else {}
        found = weigh(mark, numbers, texts, keys, rng, told)
        for kind in kinds:
            chosen = [v for name, v in found.items() if kind in ("all", name.split(".")[0])]
            values = np.concatenate(chosen)
            e = np.exp(values)
            error = e.std(ddof=1) / np.sqrt(e.size)
            row = [scheme, kind, str(len(chosen)), str(e.size), f"{e.mean():.3f} ± {error:.3f}"]
            for level in LEVELS:
                hits = int((values >= -np.log(level)).sum())
                low, high = wilson(hits, e.size)
                row.append(f"{hits / e.size:.5f} ({low:.5f}-{high:.5f})")
            rows.append([*row, f"{values.max() / np.log(10):.2f}"])
    _common.print_facts("False positives of marks by others", SEED)
    head = ["scheme", "texts of", "texts", "keys", "mean e ± s.e."]
    head += [f"P(e ≥ {1 / x:g})" for x in LEVELS] + ["max log10 e"]
    _common.print_table(head, rows)


if __name__ == "__main__":
    main()
