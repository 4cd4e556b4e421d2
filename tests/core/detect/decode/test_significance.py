"""Bound, correction for keys, e-BH and the redraw p-value."""

import math

import numpy as np
import pytest
from tests.core.stops import stop_after

from pura.base.errors import Cancelled
from pura.detect.decode import significance
from pura.detect.decode.likelihood import Intervals
from pura.detect.decode.significance import (
    combine,
    correct_p,
    e_bh,
    open_log_mean,
    p_bound,
    redraw_p,
)
from pura.detect.decode.trellis import make_trellis, step_forward
from pura.scheme import Profile, Schedule


def ks_uniform(p):
    """Kolmogorov-Smirnov distance to the uniform, and its 10^-6 quantile (Massart)."""
    p = np.sort(p)
    n = p.size
    gap = max(np.max(np.arange(1, n + 1) / n - p), np.max(p - np.arange(n) / n))
    return gap, math.sqrt(math.log(2 / 1e-6) / (2 * n))


def test_bound():
    assert p_bound(-3.0) == 1.0
    assert p_bound(0.0) == 1.0
    assert p_bound(6.0) == pytest.approx(1e-6)
    assert p_bound(5000.0) == 0.0


def test_mean_over_keys():
    assert combine([2.0]) == pytest.approx(2.0)
    assert combine([3.0, -50.0]) == pytest.approx(3.0 - math.log10(2))
    assert combine([5000.0] * 10) == pytest.approx(5000.0)
    assert combine([4.0], tried=100) == pytest.approx(2.0)
    assert combine([]) == 0.0
    assert combine([], tried=3) == -math.inf
    with pytest.raises(ValueError, match="fewer keys"):
        combine([1.0, 2.0], tried=1)
    assert correct_p(0.01, 5) == pytest.approx(0.05)
    assert correct_p(0.5, 5) == 1.0


def test_e_bh_takes_the_largest_set():
    # N = 4, alpha 0.1: thresholds 40, 20, 13.3, 10. The third document saves the second.
    e = np.log10([15.0, 100.0, 14.0, 1.0])
    assert e_bh(e, 0.1).tolist() == [True, True, True, False]
    assert e_bh(np.log10([15.0, 100.0, 13.0, 1.0]), 0.1).tolist() == [False, True, False, False]
    assert e_bh([], 0.1).tolist() == []
    assert not e_bh(np.zeros(5), 0.05).any()
    with pytest.raises(ValueError, match="alpha"):
        e_bh([1.0], 0.0)


def test_e_bh_controls_false_discoveries():
    """300 batches of 20 plain e-values: the share of batches with a discovery is at most alpha."""
    rng = np.random.default_rng(6)
    e = np.exp(1.5 * rng.standard_normal((300, 20)) - 1.125)  # log-normal of mean one
    found = np.mean([e_bh(np.log10(row), 0.1).any() for row in e])
    assert found <= 0.1 + 5 * math.sqrt(0.09 / 300)


@pytest.mark.sampled
@pytest.mark.slow
def test_p_is_uniform_without_a_mark(spc, text_maker):
    """Fails by chance once in 10^6 runs."""
    rng = np.random.default_rng(17)
    p = np.array(
        [
            redraw_p(text_maker(rng, spc, 40).seen(spc), seed=i, draws=99, stop_after=None).p
            for i in range(80)
        ]
    )
    # Ranks are discrete: spread each over its own step before comparing with the uniform.
    gap, limit = ks_uniform(p - rng.random(p.size) / 100)
    assert gap < limit


@pytest.mark.sampled
@pytest.mark.slow
def test_early_stop_is_valid_too(spc, text_maker):
    """P(p <= α) <= α at 0.05 and 0.2; fails by chance less than once in 10^5 runs."""
    rng = np.random.default_rng(23)
    p = np.array(
        [
            redraw_p(text_maker(rng, spc, 40).seen(spc), seed=i, draws=199, stop_after=10).p
            for i in range(120)
        ]
    )
    for alpha in (0.05, 0.2):
        assert np.mean(p <= alpha) <= alpha + 4.5 * math.sqrt(alpha / p.size)


def test_a_mark_reaches_the_least_p(profile, payload, text_maker):
    text = text_maker(np.random.default_rng(4), profile, 100, payload)
    got = redraw_p(text.seen(profile), seed=9, draws=199)
    assert got.p == pytest.approx(1 / 200)
    assert (got.draws, got.seed, got.stopped) == (199, 9, False)


def test_blocks_of_steps_do_not_show(spc, text_maker, monkeypatch):
    """A long text in blocks compares the same statistic as one block."""
    text = text_maker(np.random.default_rng(5), spc, 90)
    observed = []

    class Watched(significance._Redraws):
        def values(self, count, turns):
            still = lambda rows, size: np.zeros((rows, size), dtype=np.int64)  # noqa: E731
            observed.append(float(super().values(1, still)[0]))
            return super().values(count, turns)

    monkeypatch.setattr(significance, "_Redraws", Watched)
    for block in (4096, 7):
        monkeypatch.setattr(significance, "_BLOCK", block)
        got = redraw_p(text.seen(spc), seed=1, draws=99, stop_after=None)
        assert got.draws == 99
    np.testing.assert_allclose(observed, observed[0], rtol=1e-9)


def test_redraws_can_be_stopped(spc, text_maker):
    text = text_maker(np.random.default_rng(5), spc, 60)
    with pytest.raises(Cancelled):
        redraw_p(text.seen(spc), seed=1, draws=999, stop_after=None, checkpoint=stop_after(2))


def test_seed_decides(spc, text_maker):
    text = text_maker(np.random.default_rng(5), spc, 50)
    first, again, other = (
        redraw_p(text.seen(spc), seed=s, draws=99, stop_after=None) for s in (1, 1, 2)
    )
    assert first == again
    assert first.p != other.p
    assert first.p >= 1 / 100


def test_nothing_read_has_p_one(profile):
    empty = np.zeros(0, dtype=np.int64)
    plan = Schedule(
        token=empty, arity=empty, phase=np.zeros(0), index=empty, gate=np.ones(3, dtype=np.uint8)
    )
    got = redraw_p(Intervals.of(plan, np.zeros(3), np.zeros(3), np.ones(3), profile), seed=0)
    assert (got.p, got.draws) == (1.0, 0)


def test_a_text_that_says_nothing_has_p_one(spc):
    """All redraws tie with the observed phases; rounding must not break the tie."""
    plan = Schedule(
        token=np.arange(2, 40),
        arity=np.full(38, 2),
        phase=np.random.default_rng(0).random(38),
        index=np.arange(38),
        gate=np.zeros(40, dtype=np.uint8),
    )
    text = (plan, np.full(40, 4.0), np.zeros(40), np.ones(40))
    assert redraw_p(Intervals.of(*text, spc), seed=0, draws=99, stop_after=None).p == 1.0


def test_wrong_arguments(spc, text_maker):
    text = text_maker(np.random.default_rng(5), spc, 20)
    with pytest.raises(ValueError, match="draw"):
        redraw_p(text.seen(spc), seed=0, draws=0)


@pytest.mark.parametrize(
    "profile",
    [
        Profile(payload_bits=9, code="tbcc", vocab_size=10),
        Profile(payload_bits=8, blocks=2, vocab_size=10),
    ],
    ids=["tbcc", "spc"],
)
def test_open_walk_is_the_mean_over_open_walks(profile):
    """Against the log domain, one start at a time."""
    trellis = make_trellis(profile)
    phi = np.random.default_rng(1).normal(size=(3, profile.codeword_length, 8)) * 3
    windows = trellis.windows(phi)
    states = windows.shape[-1] // 2
    values = np.zeros((3, states, 1))
    for t in range(windows.shape[1]):
        values = step_forward(values, windows[:, t], np.logaddexp)
    want = np.logaddexp.reduce(values[:, :, 0], axis=1)
    want -= np.log(states) + windows.shape[1] * np.log(2)
    np.testing.assert_allclose(open_log_mean(trellis, phi), want, atol=1e-9)
