"""Marked passages inside plain text."""

import itertools

import numpy as np

from pura.decode.exact import decide
from pura.decode.model import ChainModel, default_model
from pura.decode.passages import marked_posterior, passages, runs

CHAIN = default_model().chain


def test_brute_force_of_the_chain():
    rng = np.random.default_rng(0)
    density = rng.gamma(0.5, 2.0, 9)
    got = marked_posterior(density, CHAIN)
    ratio = (1 - CHAIN.desynchronised) * density + CHAIN.desynchronised
    leave, enter = 1 / CHAIN.mean_passage, 1 / CHAIN.mean_gap
    total, inside = 0.0, np.zeros(9)
    for number in range(512):
        path = [(number >> t) & 1 for t in range(9)]
        weight = (enter if path[0] else leave) / (enter + leave)
        for before, after in itertools.pairwise(path):
            change = leave if before else enter
            weight *= change if before != after else 1 - change
        weight *= np.prod(ratio[np.array(path) == 1])
        total += weight
        inside += weight * np.array(path)
    np.testing.assert_allclose(got, inside / total, rtol=1e-9)


def test_passage_of_150_tokens_in_400_plain_ones(profile, payload, text_maker):
    """At least 90 % of tokens labelled right over eight texts (docs/evidence.md §4)."""
    rng = np.random.default_rng(31)
    right = total = 0
    for _ in range(8):
        first = int(rng.integers(0, 400))
        truth = np.zeros(550, dtype=bool)
        truth[first : first + 150] = True
        text = text_maker(rng, profile, 550, payload, marked=truth)
        decision = decide(*text.arrays(), profile)
        # The parity code may miss a bit that 150 tokens hardly read; the other one does not.
        assert profile.code == "spc" or decision.payload == payload
        assert decision.log10_e > 6
        found = passages(decision)
        right += np.sum((found.marked > 0.5) == truth)
        total += truth.size
    assert right / total >= 0.9


def test_marked_throughout_is_one_passage(profile, payload, text_maker):
    text = text_maker(np.random.default_rng(12), profile, 200, payload)
    found = passages(decide(*text.arrays(), profile))
    assert len(found.ranges) == 1
    first, last = found.ranges[0]
    assert first <= 5
    assert last >= 194


def test_long_and_strong_stays_finite():
    density = np.tile([1e5, 0.0], 20000)
    got = marked_posterior(density, CHAIN)
    assert np.isfinite(got).all()
    assert got.min() >= 0
    assert got.max() <= 1


def test_no_tokens_and_no_steps(spc):
    assert marked_posterior(np.zeros(0), CHAIN).shape == (0,)
    flat = marked_posterior(np.ones(50), CHAIN)
    np.testing.assert_allclose(flat, 0.5, atol=1e-9)


def test_runs():
    marked = np.array([0.9, 0.9, 0.1, 0.9, 0.9, 0.9, 0.1])
    assert runs(marked, 1) == ((0, 1), (3, 5))
    assert runs(marked, 3) == ((3, 5),)
    assert runs(np.ones(4), 4) == ((0, 3),)
    assert runs(np.zeros(0), 1) == ()


def test_chain_of_ones_own():
    chain = ChainModel(mean_passage=10, mean_gap=1000, desynchronised=0.1, least_tokens=1)
    assert marked_posterior(np.ones(5), chain).max() < 0.02
