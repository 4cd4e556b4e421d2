"""The evidence pass against the bare forward pass and the naive float64 way: time and memory.

Run ``python bench/evidence_pass.py`` for the tables. The bare pass is the model's own
``model(ids).logits``, all of it; the naive way takes those logits to float64 and sums them up.
Peak memory is that of a child process that did nothing else.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np

import _common

SEED = 20_261_121
LENGTHS = (200, 1000, 4000)
ROUNDS = {200: 9, 1000: 5, 4000: 3}
WAYS = ("bare", "evidence", "naive")


def make_way(name: str, model: Any, length: int) -> Callable[[], Any]:
    """Return one way to go over the same tokens."""
    import torch

    from pura.model.evidence import read
    from pura.model.reading import read_logits
    from pura.scheme import Profile, SecretKey

    profile = Profile(payload_bits=36, blocks=4, vocab_size=model.vocab_size)
    key = SecretKey(bytes(range(32)))
    rng = np.random.default_rng(SEED)
    ids = rng.integers(17, model.vocab_size, length)
    tensor = torch.from_numpy(ids)[None].to(model.device.torch_device)

    def bare() -> Any:
        with torch.inference_mode():
            logits = model.network(tensor).logits
        if model.device.kind == "cuda":
            torch.cuda.synchronize()
        return logits

    def naive() -> Any:
        logits = bare()[0, :-1].float().cpu().numpy()
        return read_logits(logits, ids[1:], keys=[key], profile=profile)

    def evidence() -> Any:
        return read(model, ids, keys=[key], profile=profile)

    return {"bare": bare, "naive": naive, "evidence": evidence}[name]


def time_table(device: str, lengths: list[int], rounds: int | None) -> None:
    """Print medians of interleaved runs."""
    model = _common.load_builtin(device)
    rows = []
    for length in lengths:
        ways = {name: make_way(name, model, length) for name in WAYS}
        # The shortest length has warmed everything up that the longer ones use.
        warm_ups = 1 if length == lengths[0] else 0
        times = _common.interleaved(ways, rounds=rounds or ROUNDS[length], warm_ups=warm_ups)
        medians = {name: statistics.median(values) for name, values in times.items()}
        spread = max(times["evidence"]) / min(times["evidence"])
        rows.append(
            [
                str(length),
                *(f"{medians[n]:.3f}" for n in WAYS),
                f"{_common.median_ratio(times, 'evidence', 'bare'):.3f}",
                f"{_common.median_ratio(times, 'naive', 'bare'):.3f}",
                f"{spread:.2f}",
            ]
        )
    print(f"Seconds on {model.device.name} (medians; × = median ratio to the bare pass)")
    heads = ["tokens", "bare", "evidence", "naive", "evidence ×", "naive ×", "slowest/fastest"]
    _common.print_table(heads, rows)


def memory_table(lengths: list[int]) -> None:
    """Print what each way adds to the memory of the loaded model, a child process each."""
    rows = []
    for length in lengths:
        row = [str(length)]
        for name in WAYS:
            command = [sys.executable, __file__, "--child", name, str(length)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            facts = json.loads(done.stdout.splitlines()[-1])
            row.append(f"{(facts['peak'] - facts['before']) / 2**20:.0f}")
        rows.append(row)
    print("Peak memory above the loaded model, MiB (processor)")
    _common.print_table(["tokens", *WAYS], rows)


def child(name: str, length: int) -> None:
    """Go one way once and tell the memory."""
    import psutil

    model = _common.load_builtin()
    # One short pass first, so that buffers of the libraries are not booked on the way itself.
    make_way(name, model, 16)()
    floor_is_peak = _common.peak_memory_bytes()
    before = psutil.Process().memory_info().rss
    make_way(name, model, length)()
    peak = max(_common.peak_memory_bytes(), floor_is_peak)
    print(json.dumps({"before": before, "peak": peak}))


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", nargs=2, metavar=("WAY", "TOKENS"))
    parser.add_argument("--lengths", type=int, nargs="+", choices=ROUNDS, default=list(LENGTHS))
    parser.add_argument("--rounds", type=int)
    options = _common.parse(parser, lengths=[200], rounds=1)
    if options.child:
        child(options.child[0], int(options.child[1]))
        return
    import torch

    _common.print_facts("Evidence pass", SEED)
    time_table("cpu", options.lengths, options.rounds)
    if torch.cuda.is_available():
        time_table("cuda", options.lengths, options.rounds)
    memory_table(options.lengths)


if __name__ == "__main__":
    main()
