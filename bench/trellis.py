"""How long a decision on the trellis takes; exit status 1 when a target is missed.

    python bench/trellis.py [--repeat 5]

A decision is: the log-sum over all payloads at every grid point, the best payload, the eight best
and the bit posteriors at the strongest one. One core; the median of the repetitions counts.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy

import argparse
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

from pura.decode.trellis import Trellis, make_trellis
from pura.scheme import Payload, Profile, encode

# code, payload bits, blocks, grid points, target in milliseconds
CASES = [
    ("spc", 36, 4, 40, 20.0),
    ("spc", 128, 8, 40, 100.0),
    ("tbcc", 36, None, 12, 150.0),
    ("tbcc", 36, None, 40, 150.0),
    ("tbcc", 128, None, 12, 600.0),
    ("tbcc", 128, None, 40, 600.0),
]
# Mean evidence for the true window and noise on all, in nats: none, of a text, beyond the
# linear domain.
EVIDENCE = {"none": (0.0, 0.5), "text": (4.0, 2.0), "extreme": (0.0, 4000.0)}


def potentials(profile: Profile, grid: int, signal: float, noise: float) -> np.ndarray:
    rng = np.random.default_rng(profile.payload_bits)
    payload = Payload.from_bits(rng.integers(0, 2, profile.payload_bits))
    word = encode(payload, profile).astype(int)
    phi = noise * rng.standard_normal((grid, word.size, 8))
    window = 4 * word + 2 * np.roll(word, -1) + np.roll(word, -2)
    phi[:, np.arange(word.size), window] += signal
    return phi


def median_ms(ask: Callable[[], object], repeat: int) -> float:
    ask()
    times = []
    for _ in range(repeat):
        began = time.perf_counter()
        ask()
        times.append(1e3 * (time.perf_counter() - began))
    return statistics.median(times)


def measure(trellis: Trellis, phi: np.ndarray, repeat: int) -> dict[str, float]:
    at = phi[int(np.argmax(trellis.log_sum(phi)))]
    parts: dict[str, Callable[[], object]] = {
        "sums": lambda: trellis.log_sum(phi),
        "best": lambda: trellis.best(at),
        "8 best": lambda: trellis.k_best(at, 8),
        "bits": lambda: trellis.posteriors(at),
    }
    return {name: median_ms(ask, repeat) for name, ask in parts.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    print("code  bits  grid  evidence     sums    best  8 best    bits   whole  target  (ms)")
    missed = 0
    for code, bits, blocks, grid, target in CASES:
        profile = Profile(payload_bits=bits, code=code, blocks=blocks, vocab_size=50)
        trellis = make_trellis(profile)
        for name, (signal, noise) in EVIDENCE.items():
            parts = measure(trellis, potentials(profile, grid, signal, noise), repeat)
            whole = sum(parts.values())
            # No text has such evidence; its time is for knowing, not for judging.
            late = whole > target and name != "extreme"
            missed += late
            row = "".join(f"{value:8.1f}" for value in (*parts.values(), whole, target))
            print(f"{code:5} {bits:4} {grid:5}  {name:8}{row}{'  MISSED' if late else ''}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
