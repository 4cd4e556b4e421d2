"""How cost grows: with tokens, keys, payload bits and texts side by side.

    python bench/sweeps.py [--only tokens keys payload batch] [--most 4000]

One sweep a quantity, the others held: processor seconds of one thread, medians of two, with the
built-in model. ``--most`` bounds the tokens; 100,000 take an hour. Documents, jobs and nodes are
swept by ``bench/batch.py``, vocabularies by ``bench/generation.py`` and ``bench/evidence_pass.py``.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np

import _common
from audit_cost import SEED, first_tokens, sample, taken
from pura.audit.options import Options
from pura.audit.run import audit_text
from pura.decode.exact import decide
from pura.model.evidence import Request, read, read_documents
from pura.model.tokenise import tokenise
from pura.scheme import Profile, SecretKey, schedule

TOKENS = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
KEYS = (1, 10, 100, 1_000)
BITS = (12, 24, 36, 64, 128, 256)
BATCHES = (1, 4, 16, 64)
HELD = 300  # tokens, where they are not swept


def seconds(way: Callable[[], Any]) -> float:
    """Return the median of two calls after one that warms up."""
    way()
    return statistics.median(taken(way) for _ in range(2))


def by_tokens(model: Any, most: int) -> None:
    """Print what a reading and a whole audit take."""
    words, key, profile = sample()
    rows = []
    for tokens in (count for count in TOKENS if count <= most):
        text = first_tokens(model, words, tokens)
        ids = tokenise(model.tokenizer, text).ids

        def reading(ids: Any = ids) -> Any:
            return read(model, ids, keys=[key], profile=profile)

        def audit(text: str = text) -> Any:
            return audit_text(
                text, model=model, keys=[(key, None)], profile=profile, options=Options()
            )

        rows.append([f"{tokens:,}", f"{seconds(reading):.2f}", f"{seconds(audit):.2f}"])
        print(" ".join(rows[-1]), flush=True)
    _common.print_table(["tokens", "reading, s", "audit, s"], rows)


def by_keys(model: Any) -> None:
    """Print what a reading takes with many keys."""
    words, _, profile = sample()
    ids = tokenise(model.tokenizer, first_tokens(model, words, HELD)).ids
    rows = []
    for count in KEYS:
        many = [SecretKey(SEED.to_bytes(28, "big") + i.to_bytes(4, "big")) for i in range(count)]
        spent = seconds(lambda many=many: read(model, ids, keys=many, profile=profile))
        rows.append([f"{count:,}", f"{spent:.2f}", f"{1000 * spent / count:.1f}"])
        print(" ".join(rows[-1]), flush=True)
    _common.print_table(["keys", "reading, s", "ms a key"], rows)


def by_bits(model: Any) -> None:
    """Print what the exact decoder takes, both codes, on the intervals of one reading."""
    words, key, shared = sample()
    ids = tokenise(model.tokenizer, first_tokens(model, words, HELD)).ids
    found = read(model, ids, keys=[key], profile=shared)
    rows = []
    for bits in BITS:
        row = [str(bits)]
        for code in ("tbcc", "spc"):
            size = next(size for size in (9, 8, 12) if bits % size == 0)
            blocks = bits // size if code == "spc" else None
            profile = Profile(
                payload_bits=bits, code=code, blocks=blocks, vocab_size=shared.vocab_size
            )
            plan = schedule(ids, found.entropy_bits, key, profile)
            intervals = (found.entropy_bits, found.lo[0], found.hi[0])
            row.append(f"{seconds(lambda p=plan, q=profile, i=intervals: decide(p, *i, q)):.3f}")
        rows.append(row)
        print(" ".join(row), flush=True)
    _common.print_table(["payload bits", "tbcc, s", "spc, s"], rows)


def by_batch(model: Any) -> None:
    """Print tokens a processor second of texts side by side."""
    words, key, profile = sample()
    ids = tokenise(model.tokenizer, first_tokens(model, words, 4_000)).ids
    rng = np.random.default_rng(SEED)
    starts = rng.integers(0, ids.size - 200, max(BATCHES))
    rows = []
    for count in BATCHES:
        requests = [Request(texts=[ids[start : start + 150]]) for start in starts[:count]]
        spent = seconds(lambda r=requests: read_documents(model, r, keys=[key], profile=profile))
        rows.append([str(count), f"{150 * count / spent:.0f}"])
        print(" ".join(rows[-1]), flush=True)
    _common.print_table(["texts of 150 tokens", "tokens/s"], rows)


def main() -> None:
    """Print the tables that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = ("tokens", "keys", "payload", "batch")
    parser.add_argument("--only", nargs="+", choices=known, default=known)
    parser.add_argument("--most", type=int, default=4_000)
    args = parser.parse_args()
    import torch

    torch.set_num_threads(1)
    _common.print_facts("How cost grows", SEED)
    model = _common.load_builtin("cpu")
    sweeps: dict[str, Callable[[], None]] = {
        "payload": lambda: by_bits(model),
        "keys": lambda: by_keys(model),
        "batch": lambda: by_batch(model),
        "tokens": lambda: by_tokens(model, args.most),
    }
    for name, sweep in sweeps.items():
        if name in args.only:
            sweep()


if __name__ == "__main__":
    main()
