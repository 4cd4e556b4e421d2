"""How long decoders take; exit status 1 when a target is missed.

    python bench/trellis.py [--repeat 5] [--tokens 200 1000 4000 20000 100000]

First a decision on the trellis: the log-sum over all payloads at every grid point, the best
payload, the eight best and the bit posteriors at the strongest one. Then both decoders over texts
of some lengths, without a mark and with one of 300 tokens in the middle; peaks are of memory that
Python and NumPy took on top. Processor seconds of one core; the median of the repetitions counts.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy

import argparse
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from tests.core.detect.decode.conftest import make_text

from pura.detect.decode.exact import decide
from pura.detect.decode.likelihood import Intervals
from pura.detect.decode.paper import decode
from pura.detect.decode.trellis import Trellis, make_trellis
from pura.detect.local.evidence import local_evidence
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
TOKENS = (200, 1000, 4000, 20_000, 100_000)
MARKED = 300
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
        began = time.process_time()
        ask()
        times.append(1e3 * (time.process_time() - began))
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


def decoder_rows(tokens: int, repeat: int) -> Iterator[list[str]]:
    """Yield what each decoder takes for a text, by code and tokens that carry a mark."""
    for code, blocks in (("spc", 4), ("tbcc", None)):
        profile = Profile(payload_bits=36, code=code, blocks=blocks, vocab_size=50)
        for marked in (0, min(tokens, MARKED)):
            rng = np.random.default_rng(tokens)
            carries = np.arange(tokens) // MARKED == tokens // MARKED // 2
            text = make_text(
                rng, profile, tokens, Payload.from_int(7, 36), marked=carries & (marked > 0)
            )
            seen = text.seen(profile)

            def paper(seen: Intervals = seen) -> object:
                local = local_evidence(seen.schedule, seen.lo, seen.hi, seen.profile)
                return decode(seen.schedule, local, seen.profile)

            def exact(seen: Intervals = seen) -> object:
                return decide(seen)

            for name, way in (("paper", paper), ("exact", exact)):
                took = median_ms(way, repeat)
                tracemalloc.start()
                way()
                peak = tracemalloc.get_traced_memory()[1]
                tracemalloc.stop()
                per = took / tokens
                yield [
                    str(tokens),
                    code,
                    str(marked),
                    name,
                    f"{took:.1f}",
                    f"{per:.4f}",
                    f"{peak / 1e6:.1f}",
                ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--tokens", type=int, nargs="*", default=list(TOKENS))
    arguments = parser.parse_args()
    repeat = arguments.repeat
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
    print("tokens  code  marked  decoder  ms  ms a token  peak, MB")
    for tokens in arguments.tokens:
        for row in decoder_rows(tokens, repeat):
            print("  ".join(row), flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
