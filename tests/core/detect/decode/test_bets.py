"""Bets on keyed draws have mean one, whatever the text; their increments add up."""

import itertools
from dataclasses import MISSING, fields
from typing import Any

import numpy as np
import pytest

from pura.detect.decode import bets
from pura.detect.local.third_party import REPEATED, draws_of
from pura.scheme.foreign import FOREIGN, FOREIGN_NAMES, ForeignMark


def test_evidence_has_mean_one():
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
    for shares in np.array([[0.8, 0.2], [1, 0]]):
        mean = [
            [np.exp(bets.high_uniforms(np.array([[a, b]]), shares)[0]) for a in node] for b in node
        ]
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


def test_increments_add_up_to_the_evidence_of_the_whole():
    u = np.random.default_rng(1).random(50) ** 0.3
    whole = bets.high_uniforms(u)
    assert np.allclose(np.cumsum(whole)[:20], np.cumsum(bets.high_uniforms(u[:20])))
    assert bets.coins(np.zeros(0, dtype=bool), 0.25).size == 0


# Every scheme of the table

VOCABULARY = 64
NEEDED: dict[str, Any] = {"sealed": "x", "list_width": VOCABULARY}
"""What a mark has no default for."""


def mark_of(scheme: str) -> ForeignMark:
    kind = FOREIGN[scheme]
    given = {f.name: NEEDED[f.name] for f in fields(kind) if f.default is MISSING}
    return kind(**given)


def log_e(mark: ForeignMark, key: list[int], ids: np.ndarray, told: Any = None) -> float:
    return float(bets.log_increments(mark, draws_of(mark, key, ids), told).sum())


def mean_of(mark: ForeignMark, numbers: int = 9) -> tuple[float, float]:
    """Return the mean of e over keys for one text, and the deviation of that mean."""
    rng = np.random.default_rng(6)
    ids = rng.integers(0, VOCABULARY, mark.context_width + 3)
    told = rng.uniform(0.3, 0.9, ids.size)
    keys = rng.integers(1, 1 << 32, (1500, numbers)).tolist()
    found = np.exp([log_e(mark, key, ids, told) for key in keys])
    return float(found.mean()), float(found.std() / np.sqrt(found.size))


@pytest.mark.parametrize("scheme", FOREIGN)
def test_every_scheme_has_a_mean_of_one_and_finds_what_was_chosen_for_it(scheme, monkeypatch):
    assert FOREIGN_NAMES.keys() == FOREIGN.keys()
    mark = mark_of(scheme)
    for numbers in (9, 1):
        mean, deviation = mean_of(mark, numbers)
        assert deviation < 0.05
        assert abs(mean - 1) < 5 * deviation  # by chance once in a million
    # A bet that gives a third too much is seen.
    usual = bets.log_increments
    with monkeypatch.context() as patch:
        patch.setattr(bets, "log_increments", lambda *given: usual(*given) + np.log(1.3))
        mean, deviation = mean_of(mark)
        assert mean > 1 + 5 * deviation
    # A text that ends before the first draw says nothing, with a model's numbers and without.
    for size in range(mark.context_width + 1):
        for told in (None, np.full(size, 0.5)):
            assert log_e(mark, list(range(1, 10)), np.arange(size), told) == 0
    # Whoever chooses each of forty tokens for its draw, of six, is found, and by that key alone.
    rng = np.random.default_rng(7)
    key, other = rng.integers(1, 1 << 32, (2, 9)).tolist()
    ids = rng.integers(0, VOCABULARY, mark.context_width)
    for _ in range(40):
        some = [np.append(ids, token) for token in rng.choice(VOCABULARY, 6, replace=False)]
        ids = max(some, key=lambda text: log_e(mark, key, text))
    assert log_e(mark, key, ids) > np.log(1e4)
    assert log_e(mark, other, ids) < np.log(1e3)
