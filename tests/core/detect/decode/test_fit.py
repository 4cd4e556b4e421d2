"""Whether the steps of a mark fit in stretches, as written, or one by one, as put together."""

import itertools
import math

import numpy as np
import pytest

from pura.detect.decode.fit import _in_stretches as in_stretches
from pura.detect.decode.fit import fit_of
from pura.scheme import Payload, Profile, Schedule, encode

PROFILE = Profile(payload_bits=36, vocab_size=100, code="tbcc")
CODEWORD = encode(Payload.from_int(0x123456789, 36), PROFILE)
STRONG = 4.0
"""Nats of a bit that is read with little doubt."""


def steps(fits: np.ndarray) -> tuple[Schedule, np.ndarray]:
    """Make steps of one bit each, of which some agree with the codeword and some oppose it."""
    size = fits.size
    index = np.arange(size) % CODEWORD.size
    plan = Schedule(
        token=np.arange(size),
        arity=np.ones(size, dtype=np.int64),
        phase=np.zeros(size),
        index=index,
        gate=np.zeros(size, dtype=np.uint8),
    )
    llr = np.full((size, 3), np.nan)
    llr[:, 0] = STRONG * np.where(CODEWORD[index] == fits, 1, -1)
    return plan, llr


def agreeing(stretches: list[tuple[int, bool]], rng: np.random.Generator) -> np.ndarray:
    """Return for each step whether it agrees: in a stretch always, outside by chance."""
    return np.concatenate(
        [np.ones(n, dtype=int) if inside else rng.integers(0, 2, n) for n, inside in stretches]
    )


def test_the_chain_is_the_sum_over_all_paths_of_two_states():
    leave, back = 0.1, 0.3
    fitting = np.array([5.0, 0.2, 3.0, 4.0, 0.5])
    start = {True: back / (leave + back), False: leave / (leave + back)}
    move = {(True, True): 1 - leave, (True, False): leave, (False, True): back}
    move[False, False] = 1 - back
    total = 0.0
    for path in itertools.product((True, False), repeat=fitting.size):
        chance = start[path[0]] * math.prod(move[pair] for pair in itertools.pairwise(path))
        total += chance * math.prod(v for v, on in zip(fitting, path, strict=True) if on)
    assert in_stretches(fitting, leave, back) == pytest.approx(math.log(total))


@pytest.mark.parametrize("seed", range(10))
def test_edited_text_fits_in_stretches_and_a_mosaic_one_by_one(seed):
    """Both agree at the same number of steps: only where they stand differs."""
    rng = np.random.default_rng(seed)
    written = agreeing([(16, True), (9, False)] * 10, rng)
    scattered = rng.permutation(written)
    edited = fit_of(*steps(written), CODEWORD, [])
    mosaic = fit_of(*steps(scattered), CODEWORD, [])
    assert edited.steps == mosaic.steps == 250
    assert edited.log10_ratio > mosaic.log10_ratio + 1
    assert edited.log10_ratio > 0
    untouched = fit_of(*steps(np.ones(250, dtype=int)), CODEWORD, [])
    assert untouched.log10_ratio > 5
    assert untouched.log10_per_step > edited.log10_per_step > 0.04


def test_without_the_mark_nothing_fits():
    rng = np.random.default_rng(3)
    found = fit_of(*steps(rng.integers(0, 2, 300)), CODEWORD, [])
    assert found.log10_per_step < 0.04


def test_only_steps_within_the_passages_count():
    rng = np.random.default_rng(5)
    plan, llr = steps(agreeing([(100, False), (60, True), (100, False)], rng))
    inside = fit_of(plan, llr, CODEWORD, [(100, 159)])
    assert inside.steps == 60
    assert inside.log10_per_step > 4 * fit_of(plan, llr, CODEWORD, []).log10_per_step
    assert fit_of(plan, llr, CODEWORD, [(300, 310)]) is None


def test_what_a_step_does_not_read_does_not_count():
    plan, llr = steps(np.ones(50, dtype=int))
    filled = np.where(np.isnan(llr), -99.0, llr)
    assert fit_of(plan, filled, CODEWORD, []) == fit_of(plan, llr, CODEWORD, [])
