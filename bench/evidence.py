"""The study of study.md: both decoders on the same texts, edited or not, three verifiers.

Stage 1 needs the model and hours of one core; what it makes goes into the cache, piece by piece,
so it can be stopped, go on, and run in several processes at a time::

    python bench/evidence.py generate --cache DIR
    python bench/evidence.py read --cache DIR
    python bench/evidence.py proxy --cache DIR        # how far the proxy is from the source

Stage 2 is NumPy alone and can be run again whenever the decoder changes::

    python bench/evidence.py tables --cache DIR [--write]

``--write`` puts the power table into ``resources/power/study.json``. The texts are made from the
seed in ``pura.measure.corpora``; the likelihood's numbers are learnt by
``bench/learn_likelihood.py`` from the cell ``learn``, whose texts appear in no table.
"""

from __future__ import annotations

import argparse
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np

import _common
import _study_generate
import _study_power
import _study_read
import _study_tables
from pura.detect.decode.likelihood import default_model
from pura.measure.cache import Cache
from pura.measure.corpora import CELLS, MAIN, SEED
from pura.model.evidence import divergence_bits
from pura_lab.design import DROPPED, NOISE, jobs

STAGES = ("generate", "read", "proxy", "tables")


def load() -> Any:
    """Load the built-in model; one thread, several processes share a machine better."""
    import torch

    torch.set_num_threads(1)
    return _common.load_builtin()


def read_all(cache: Cache, only: str) -> None:
    """Do the jobs one by one, the most important first."""
    reader = _study_read.Reader(load(), cache)
    for job in jobs():
        if fnmatch(job.reading, f"reading.{only}"):
            reader.run([job])


def print_proxy(cache: Cache) -> None:
    """Print how far the proxy is from the source, on the first 16 texts of the default code."""
    source = load()
    texts = cache.get(f"texts.{MAIN[0].name}")["ids"][:16]
    print(f"proxy: without the layers {', '.join(map(str, DROPPED))} of 30")
    print(f"noise: normal noise of {NOISE:g} of each matrix's spread on the weights")
    for kind in ("proxy", "noise"):
        bits = divergence_bits(source, _study_read.make_proxy(source, kind), texts)
        median, high = np.quantile(bits, [0.5, 0.9]).tolist()
        print(
            f"{kind}: KL(source ‖ proxy), bits a token, over {bits.size} tokens: mean "
            f"{bits.mean():.2f}, median {median:.2f}, 90 % quantile {high:.2f}"
        )


def print_tables(cache: Cache, *, write: bool) -> None:
    """Decode what was read and print everything."""
    _common.print_facts("Evidence", SEED)
    print(f"likelihood table {default_model().fingerprint}\n")
    _study_tables.source_facts(cache)
    _study_tables.main_tables(cache)
    _study_tables.payload_table(cache)
    _study_tables.passage_table(cache)
    entries = _study_tables.power_entries(cache)
    _study_tables.needed_table(entries)
    if write:
        command = "python bench/evidence.py tables --cache DIR --write"
        _study_power.write_power(entries, default_model().fingerprint, command)


def main() -> None:
    """Run one stage."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stage", choices=STAGES)
    parser.add_argument("--cache", type=Path, required=True, help="folder for texts and readings")
    parser.add_argument("--only", default="*", help="cells (generate) or readings, with wildcards")
    parser.add_argument("--write", action="store_true", help="write resources/power/study.json")
    args = parser.parse_args()
    cache = Cache(args.cache)
    if args.stage == "generate":
        cells = [name for name in CELLS if fnmatch(name, args.only)]
        _study_generate.generate_cells(load(), cache, cells)
    elif args.stage == "read":
        read_all(cache, args.only)
    elif args.stage == "proxy":
        print_proxy(cache)
    else:
        print_tables(cache, write=args.write)


if __name__ == "__main__":
    main()
