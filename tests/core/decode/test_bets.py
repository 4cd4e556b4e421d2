"""Bets on keyed draws have mean one, whatever the text; their increments add up."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pura.decode import bets
from pura.extract.foreign import REPEATED


def test_evidence_has_mean_one() -> None:
    # Coins: all outcomes of six, exactly.
    outcomes = [np.array(c, dtype=bool) for c in itertools.product((0, 1), repeat=6)]
    for chance in (0.25, 0.5):
        weights = [chance ** c.sum() * (1 - chance) ** (6 - c.sum()) for c in outcomes]
        mean = sum(
            w * np.exp(bets.coins(c, chance).sum()) for w, c in zip(weights, outcomes, strict=True)
        )
        assert mean == pytest.approx(1.0, abs=1e-12)
    layers = [np.array(c, dtype=np.int8).reshape(3, 2) for c in itertools.product((0, 1), repeat=6)]
    assert np.mean([np.exp(bets.layered_coins(g).sum()) for g in layers]) == pytest.approx(1)
    # A coin that was met before is no bet, so the others keep their mean.
    once = [np.where([[0, 0], [0, 1], [1, 0]], REPEATED, g) for g in layers]
    assert np.mean([np.exp(bets.layered_coins(g).sum()) for g in once]) == pytest.approx(1)
    # Uniform numbers: the bets integrate to one, and so do products of two, of one key or of two.
    node, weight = np.polynomial.legendre.leggauss(64)
    node, weight = (node + 1) / 2, weight / 2
    mean = [[np.exp(bets.high_uniforms(np.array([a, b])).sum()) for a in node] for b in node]
    assert weight @ np.array(mean) @ weight == pytest.approx(1.0, abs=1e-6)
    shares = np.array([0.8, 0.2])
    mean = [[np.exp(bets.high_uniforms(np.array([[a, b]]), shares)[0]) for a in node] for b in node]
    assert weight @ np.array(mean) @ weight == pytest.approx(1.0, abs=1e-6)
    # A model's probabilities are as good as any other numbers that do not know the key.
    told = np.array([0.07, 0.8])
    mean = [
        [np.exp(bets.high_uniforms(np.array([a, b]), None, told).sum()) for a in node] for b in node
    ]
    assert weight @ np.array(mean) @ weight == pytest.approx(1.0, abs=2e-4)
    # The numbers are middles of 2^24 intervals: convex bets have a mean of at most one there.
    middles = (np.arange(64) + 0.5) / 64
    assert np.mean([np.exp(bets.high_uniforms(np.array([u]))[0]) for u in middles]) <= 1
    # Those between one and two are concave, and larger on middles: a factor makes up for it.
    middles = (np.arange(1 << 12) + 0.5) / (1 << 12)
    for power in (1.0 + 1e-3, 1.5, 1.99):
        assert (power * middles ** (power - 1)).mean() * (1 - 2.0**-12) <= 1


def test_increments_add_up_to_the_evidence_of_the_whole() -> None:
    u = np.random.default_rng(1).random(50) ** 0.3
    whole = bets.high_uniforms(u)
    assert np.allclose(np.cumsum(whole)[:20], np.cumsum(bets.high_uniforms(u[:20])))
    assert bets.coins(np.zeros(0, dtype=bool), 0.25).size == 0
