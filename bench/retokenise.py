"""How often text → ids differs from the generated ids, from a study's cache.

    python bench/retokenise.py --cache DIR

Needs the stages ``generate`` and ``read`` of ``bench/evidence.py``. The cost in evidence stands in
the rows "tokenised anew" of study.md, section 2 and 3.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from _common import parse, print_table
from pura.measure.cache import Cache

CELLS = ("tbcc-36", "spc-36")


def row(cache: Cache, cell: str) -> tuple[str, ...]:
    """Count one cell's texts and tokens."""
    made = cache.get(f"attacked.{cell}.clean")["ids"]
    anew = cache.get(f"attacked.{cell}.clean-text")
    differ = sum(not np.array_equal(a, b) for a, b in zip(made, anew["ids"], strict=True))
    rates = np.concatenate([np.ravel(rate) for rate in anew["rate"]])
    return (
        cell,
        str(len(made)),
        f"{differ} ({100 * differ / len(made):.0f} %)",
        f"{100 * rates.mean():.1f} %",
        f"{100 * rates.max():.1f} %",
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, required=True)
    cache = Cache(parse(parser).cache)
    columns = ("texts", "number", "split differently", "tokens that differ, mean", "worst text")
    print_table(columns, [row(cache, cell) for cell in CELLS])


if __name__ == "__main__":
    main()
