"""Stage 1 of the study, first half: the texts."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from pura.embed.generate import generate_batch
from pura.measure.cache import Cache
from pura.measure.corpora import CELLS, SEED, Cell

BATCH = 32


def generate_cells(model: Any, cache: Cache, cells: list[str], texts: int | None = None) -> None:
    """Generate the texts of the cells that are not on the cache yet; or the first ones of each."""
    for name in cells:
        if f"texts.{name}" in cache:
            continue
        start = time.perf_counter()
        generate_cell(model, cache, CELLS[name], texts)
        print(f"generated {name} in {time.perf_counter() - start:.0f} s", flush=True)


def generate_cell(model: Any, cache: Cache, cell: Cell, first: int | None = None) -> None:
    """Generate one cell's texts, all of the same length (end tokens are barred)."""
    numbers = range(cell.texts)[:first]
    texts = generate_batch(
        model,
        cell.prompts()[:first],
        [cell.payload(i) if cell.code else None for i in numbers],
        [cell.key(i) if cell.code else None for i in numbers],
        cell.profile(model.vocab_size),
        tokens=cell.tokens,
        seed=[int(cell.generator("dice", i).integers(1 << 62)) for i in numbers],
        ignore_eos=True,
        batch_size=BATCH,
    )
    cache.put(
        f"texts.{cell.name}",
        {
            "ids": [t.ids for t in texts],
            "prompt_ids": [t.prompt_ids for t in texts],
            "entropy_bits": [t.entropy_bits for t in texts],
            "arity": [t.arity for t in texts],
            "seed": [np.array([SEED])],
        },
    )
