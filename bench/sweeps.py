"""How cost grows: with tokens, keys, payload bits, vocabulary and texts side by side.

    python bench/sweeps.py [--only tokens keys payload vocabulary batch] [--most 4000]
                           [--data FILE] [--plot FILE.svg]

One sweep a quantity, the others held: processor seconds of one thread, medians of two, or of one
call where that takes longer than five seconds, with the built-in model. ``--most`` bounds the
tokens; longer texts are the sample again and again. The vocabulary is swept with random tensors in
the place of the output head, as wide as that of the built-in model. ``--data`` keeps the numbers,
so that sweeps may be run one by one; ``--plot`` draws all that are kept. Documents, jobs and nodes
are swept by ``bench/batch.py``, generation over vocabularies by ``bench/generation.py``.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np

import _common
from audit_cost import SEED, first_tokens, sample, taken
from pura.detect.decode.exact import decide
from pura.detect.decode.likelihood import Intervals
from pura.detect.options import Options
from pura.detect.together import audit_text
from pura.model.evidence import Request, read, read_documents
from pura.model.head import Head, Orders
from pura.model.tiles import CPU_TILING, row_sums
from pura.model.tokenise import tokenise
from pura.scheme import Profile, SecretKey, schedule

TOKENS = (100, 300, 1_000, 3_000, 10_000, 20_000, 100_000)
KEYS = (1, 10, 100, 1_000)
BITS = (12, 24, 36, 64, 128, 256)
BATCHES = (1, 4, 16)
VOCABULARIES = (50_000, 100_000, 150_000, 262_144)
ROWS, WIDTH = 256, 576  # tokens of the text, and numbers of a hidden state
HELD = 300  # tokens, where they are not swept
LONG_S = 5.0  # from which on one call is enough
Sweep = dict[str, list[float]]
"""What was measured, by column; the first one is what was swept."""


def seconds(way: Callable[[], Any]) -> float:
    """Return the median of two calls after one that warms up; of a long one the first."""
    first = taken(way)
    if first > LONG_S:
        return first
    return statistics.median(taken(way) for _ in range(2))


def show(found: Sweep) -> None:
    """Print the last row."""
    print(" ".join(f"{column[-1]:,.6g}" for column in found.values()), flush=True)


def by_tokens(model: Any, most: int) -> Sweep:
    """Return what a reading and a whole audit take."""
    words, key, profile = sample()
    found: Sweep = {"tokens": [], "reading, s": [], "audit, s": []}
    for tokens in (count for count in TOKENS if count <= most):
        text = first_tokens(model, words, tokens)
        ids = tokenise(model.tokenizer, text).ids

        def reading(ids: Any = ids) -> Any:
            return read(model, ids, keys=[key], profile=profile)

        def audit(text: str = text) -> Any:
            return audit_text(
                text, model=model, keys=[(key, None)], profile=profile, options=Options()
            )

        for column, value in zip(
            found.values(), (tokens, seconds(reading), seconds(audit)), strict=True
        ):
            column.append(value)
        show(found)
    return found


def by_keys(model: Any) -> Sweep:
    """Return what a reading takes with many keys."""
    words, _, profile = sample()
    ids = tokenise(model.tokenizer, first_tokens(model, words, HELD)).ids
    found: Sweep = {"keys": [], "reading, s": [], "ms a key": []}
    for count in KEYS:
        many = [SecretKey(SEED.to_bytes(28, "big") + i.to_bytes(4, "big")) for i in range(count)]
        spent = seconds(lambda many=many: read(model, ids, keys=many, profile=profile))
        for column, value in zip(found.values(), (count, spent, 1000 * spent / count), strict=True):
            column.append(value)
        show(found)
    return found


def by_bits(model: Any) -> Sweep:
    """Return what the exact decoder takes, both codes, on the intervals of one reading."""
    words, key, shared = sample()
    ids = tokenise(model.tokenizer, first_tokens(model, words, HELD)).ids
    seen = read(model, ids, keys=[key], profile=shared)
    found: Sweep = {"payload bits": [], "tbcc, s": [], "spc, s": []}
    for bits in BITS:
        found["payload bits"].append(bits)
        for code in ("tbcc", "spc"):
            size = next(size for size in (9, 8, 12) if bits % size == 0)
            blocks = bits // size if code == "spc" else None
            profile = Profile(
                payload_bits=bits, code=code, blocks=blocks, vocab_size=shared.vocab_size
            )
            plan = schedule(ids, seen.entropy_bits, key, profile)
            intervals = (seen.entropy_bits, seen.lo[0], seen.hi[0])
            found[f"{code}, s"].append(
                seconds(lambda p=plan, q=profile, i=intervals: decide(Intervals.of(p, *i, q)))
            )
        show(found)
    return found


def by_vocabulary() -> Sweep:
    """Return what reading the output head takes, random tensors in its place."""
    import torch

    rng = torch.Generator().manual_seed(SEED)
    hidden = torch.randn(ROWS, WIDTH, generator=rng)
    found: Sweep = {"vocabulary": [], "1 key, s": [], "10 keys, s": []}
    for size in VOCABULARIES:
        weight = torch.randn(size, WIDTH, generator=rng) / WIDTH**0.5
        head = Head(weight=weight, bias=None, scale=1.0, cap=None)
        targets = torch.randint(0, size, (ROWS,), generator=rng)
        profile = Profile(payload_bits=36, code="tbcc", vocab_size=size)
        found["vocabulary"].append(size)
        for count, column in ((1, "1 key, s"), (10, "10 keys, s")):
            keys = [SecretKey(i.to_bytes(32, "big")) for i in range(count)]
            orders = Orders.of(keys, size, head)
            found[column].append(
                seconds(
                    lambda o=orders, h=head, t=targets, p=profile: row_sums(
                        h, hidden, t, o, p, CPU_TILING, lambda: None
                    )
                )
            )
        show(found)
    return found


def by_batch(model: Any) -> Sweep:
    """Return tokens a processor second of texts side by side."""
    words, key, profile = sample()
    ids = tokenise(model.tokenizer, first_tokens(model, words, 4_000)).ids
    rng = np.random.default_rng(SEED)
    starts = rng.integers(0, ids.size - 200, max(BATCHES))
    found: Sweep = {"texts of 150 tokens": [], "tokens/s": []}
    for count in BATCHES:
        requests = [Request(texts=[ids[start : start + 150]]) for start in starts[:count]]
        spent = seconds(lambda r=requests: read_documents(model, r, keys=[key], profile=profile))
        for column, value in zip(found.values(), (count, 150 * count / spent), strict=True):
            column.append(value)
        show(found)
    return found


def table(found: Sweep) -> None:
    """Print a sweep as a table of Markdown."""
    swept, *rest = found.values()
    rows = [
        [f"{value:,.0f}", *(f"{column[row]:,.3g}" for column in rest)]
        for row, value in enumerate(swept)
    ]
    _common.print_table(list(found), rows)


def plot(kept: dict[str, Sweep], path: Path) -> None:
    """Draw all sweeps into one file, seconds and what is swept on logarithmic axes."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullLocator

    figure = Figure(figsize=(11, 6.4), layout="constrained")
    places = figure.subplots(2, 3)
    for place in places.flat[len(kept) :]:
        place.remove()
    for place, found in zip(places.flat, kept.values(), strict=False):
        (swept, x), *rest = found.items()
        for number, (name, y) in enumerate(rest):
            if name != "ms a key":
                place.plot(x, y, "osD"[number] + "-", label=name)
        place.set_xscale("log")
        place.set_xticks(x, [f"{value:,.0f}" for value in x], rotation=40)
        place.xaxis.set_minor_locator(NullLocator())
        if "tokens/s" in found:
            place.set_ylim(bottom=0)
        else:
            place.set_yscale("log")
            place.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            place.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
            place.yaxis.set_minor_locator(NullLocator())
        place.set_xlabel(swept)
        place.grid(visible=True, alpha=0.3)
        place.legend(frameon=False)
    with rc_context({"svg.hashsalt": "sweeps"}):
        figure.savefig(path, format="svg", metadata={"Date": None})


def main() -> None:
    """Print the tables that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = ("payload", "keys", "batch", "vocabulary", "tokens")
    parser.add_argument("--only", nargs="*", choices=known, default=known)
    parser.add_argument("--most", type=int, default=4_000)
    parser.add_argument("--data", type=Path, help="keep the numbers here, with those of before")
    parser.add_argument("--plot", type=Path, help="draw all numbers that are kept, as SVG")
    args = parser.parse_args()
    import torch

    torch.set_num_threads(1)
    _common.print_facts("How cost grows", SEED)
    model = _common.load_builtin("cpu") if {*args.only} - {"vocabulary"} else None
    sweeps: dict[str, Callable[[], Sweep]] = {
        "payload": lambda: by_bits(model),
        "keys": lambda: by_keys(model),
        "batch": lambda: by_batch(model),
        "vocabulary": by_vocabulary,
        "tokens": lambda: by_tokens(model, args.most),
    }
    kept: dict[str, Sweep] = {}
    if args.data is not None and args.data.exists():
        kept = json.loads(args.data.read_text(encoding="utf-8"))
    for name in args.only:
        kept[name] = sweeps[name]()
        if args.data is not None:
            args.data.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    kept = {name: kept[name] for name in known if name in kept}
    for found in kept.values():
        table(found)
    if args.plot is not None:
        plot(kept, args.plot)


if __name__ == "__main__":
    main()
