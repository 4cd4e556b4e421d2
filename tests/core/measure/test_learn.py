"""The learner finds what synthetic data were made of; what it learns keeps the mean at one."""

from dataclasses import replace

import numpy as np
import pytest

from pura.detect.decode.likelihood import LikelihoodModel, default_model, mixture_density
from pura.measure.learn import (
    KnownSteps,
    component_densities,
    entropy_gap,
    join,
    known_steps,
    learn_table,
    mixture_weights,
)
from pura.scheme import Payload, Profile, SecretKey, anchor, encode, schedule
from pura.scheme.gray import sector_of
from pura.scheme.schedule import Gate, Step

THRESHOLDS = (1.0, 3.0, 5.0)


def small_model() -> LikelihoodModel:
    """Three widths far apart and two position bins."""
    return replace(
        default_model(), blur_widths=np.array([0.005, 0.05, 0.3]), position_edges=np.array([50])
    )


def synthetic(size: int, shares: list[float], seed: int) -> KnownSteps:
    """Steps whose anchors are the intervals' blurred by a known mixture."""
    rng = np.random.default_rng(seed)
    middle, width = rng.uniform(0.1, 0.9, size), 10 ** rng.uniform(-4, -1, size)
    lo, hi = np.clip(middle - width / 2, 0, 1), np.clip(middle + width / 2, 0, 1)
    point = rng.uniform(lo, hi)
    centre = (lo + hi) / 2
    scale = 2 * np.sqrt(centre * (1 - centre))
    kind = rng.choice(4, size, p=shares)
    # A raised cosine of half-width σ is a density (1 + cos(πx/σ)) / 2σ; drawn by rejection.
    offset = np.zeros(size)
    left = np.ones(size, dtype=bool)
    while left.any():
        x = rng.uniform(-1, 1, size)
        keep = left & (rng.random(size) < (1 + np.cos(np.pi * x)) / 2)
        offset[keep] = x[keep]
        left &= ~keep
    sigma = np.array([0.005, 0.05, 0.3, 0.0])[kind] * scale
    anchors = np.where(kind == 3, rng.random(size), (point + offset * sigma) % 1.0)
    return KnownSteps(
        position=rng.integers(2, 200, size),
        arity=np.full(size, 2),
        anchor=anchors,
        lo=lo,
        hi=hi,
        entropy_bits=np.full(size, 4.0),
    )


def test_em_recovers_a_known_mixture():
    truth = [0.5, 0.2, 0.2, 0.1]
    steps = synthetic(8000, truth, seed=1)
    found = mixture_weights(component_densities(steps, np.array([0.005, 0.05, 0.3])))
    # Standard error of a share below 0.01 at 8000 steps; five of them.
    np.testing.assert_allclose(found, truth, atol=0.05)
    assert found.sum() == pytest.approx(1.0)


def test_no_share_is_ever_zero_and_the_guess_counts_when_there_is_little_else():
    densities = np.tile([9.0, 1e-9, 1.0], (50, 1))
    assert np.all(mixture_weights(densities) > 0)
    guess = np.array([0.2, 0.7, 0.1])
    np.testing.assert_allclose(mixture_weights(densities[:0], guess, prior=5.0), guess)


def test_em_never_lowers_the_likelihood():
    steps = synthetic(500, [0.1, 0.3, 0.4, 0.2], seed=2)
    densities = component_densities(steps, np.array([0.005, 0.05, 0.3]))
    found = mixture_weights(densities, prior=1e-9)
    best = np.log(densities @ found).sum()
    rng = np.random.default_rng(3)
    for _ in range(200):
        assert np.log(densities @ rng.dirichlet(np.ones(4))).sum() <= best + 1e-3


def test_learnt_table_has_mean_one_for_every_step():
    model = small_model()
    steps = synthetic(2000, [0.4, 0.3, 0.2, 0.1], seed=4)
    table = learn_table("synthetic", steps, model, THRESHOLDS)
    np.testing.assert_allclose(table.weights.sum(axis=1) + table.uniform, 1.0, atol=1e-12)
    learnt = replace(model, tables=(table,))
    bins = learnt.bins(steps.position[:40])
    grid = (np.arange(20_000) + 0.5) / 20_000
    density = mixture_density(
        learnt,
        [(table, bins)],
        steps.lo[:40],
        steps.hi[:40],
        np.broadcast_to(grid, (40, grid.size)),
    )
    np.testing.assert_allclose(density.mean(axis=2), 1.0, atol=2e-3)


def test_entropy_gap_is_found():
    rng = np.random.default_rng(5)
    verifier = rng.uniform(1, 9, 6000)
    # Logistic noise of standard deviation 0.8 around a shift of -1.5.
    source = verifier - 1.5 + rng.logistic(0, 0.8 * np.sqrt(3) / np.pi, verifier.size)
    arity = np.searchsorted(THRESHOLDS, source, side="right")
    steps = KnownSteps(
        position=np.full(verifier.size, 9),
        arity=arity,
        anchor=np.full(verifier.size, 0.5),
        lo=np.zeros(verifier.size),
        hi=np.ones(verifier.size),
        entropy_bits=verifier,
    )
    shift, noise = entropy_gap(steps, THRESHOLDS)
    assert shift == pytest.approx(-1.5, abs=0.13)
    assert noise == pytest.approx(0.8, rel=0.25)


def test_known_steps_hold_the_generators_anchors():
    profile = Profile(payload_bits=12, blocks=3, vocab_size=97)
    key, payload = SecretKey(bytes(range(32))), Payload.from_int(2741, 12)
    rng = np.random.default_rng(6)
    ids = rng.integers(0, 7, 120)  # few tokens, so contexts repeat
    entropy = rng.uniform(0, 7, ids.size)
    lo = rng.random(ids.size) / 2
    steps = known_steps(
        ids, entropy, key, payload, profile, entropy_bits=entropy, lo=lo, hi=lo + 0.1
    )
    walked = schedule(ids, entropy, key, profile)
    assert steps.position.tolist() == list(range(2, ids.size))
    carried = steps.arity > 0
    np.testing.assert_array_equal(steps.position[carried], walked.token)
    np.testing.assert_array_equal(steps.arity[carried], walked.arity)
    repeated = np.flatnonzero(walked.gate == Gate.REPEATED_CONTEXT)
    np.testing.assert_array_equal(steps.position[steps.arity < 0], repeated)
    assert repeated.size
    code = encode(payload, profile)
    for row, (a, u, i) in enumerate(
        zip(walked.arity.tolist(), walked.phase.tolist(), walked.index.tolist(), strict=True)
    ):
        sector = sector_of([int(code[(i + j) % code.size]) for j in range(a)])
        assert steps.anchor[carried][row] == anchor(Step(a, u, i, Gate.CARRIES), sector)
    assert np.all(np.isnan(steps.anchor[~carried]))


def test_join_keeps_the_order():
    a, b = synthetic(5, [1, 0, 0, 0], 1), synthetic(7, [1, 0, 0, 0], 2)
    both = join([a, b])
    np.testing.assert_array_equal(both.lo, np.concatenate([a.lo, b.lo]))
    assert both.position.size == 12
