"""The frozen numbers, and ``f_t``: a density for every interval, width, arity and edit rate."""

import copy
import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pura.detect.decode.likelihood import (
    SECTOR_OFFSETS,
    GridPoint,
    Intervals,
    LikelihoodError,
    LikelihoodModel,
    arity_weights,
    blurred_interval,
    default_model,
    desynchronisation,
    edit_probability,
    log_likelihoods,
    step_likelihoods,
    window_likelihoods,
)
from pura.scheme import Profile, Schedule, anchors
from pura.scheme.gray import label_bits

MODEL = default_model()
ALL_POINTS = MODEL.grids[False] + MODEL.grids[True]
unit = st.floats(0.0, 1.0, allow_nan=False)


def circle_mean(lo, hi, sigma):
    """Mean over the circle by Gauss-Legendre between the kinks of the blurred interval."""
    kinks = {0.0, 1.0}
    sigma = min(max(sigma, 1e-5), 0.5)
    for edge in (lo, hi, (lo + hi) / 2):
        kinks |= {(edge + r) % 1.0 for r in (-sigma, 0.0, sigma)}
    cuts = np.array(sorted(kinks))
    nodes, weights = np.polynomial.legendre.leggauss(32)
    half = np.diff(cuts)[:, None] / 2
    at = ((cuts[1:] + cuts[:-1])[:, None] / 2 + half * nodes) % 1.0
    value = blurred_interval(np.array(lo), np.array(hi), at, np.array(sigma))
    assert np.all(value >= 0)
    return float((half * weights * value).sum())


@settings(max_examples=300)
@given(a=unit, b=unit, sigma=st.floats(1e-4, 0.5))
def test_blurred_interval_integrates_to_one(a, b, sigma):
    assert circle_mean(min(a, b), max(a, b), sigma) == pytest.approx(1.0, abs=1e-9)


def test_extreme_intervals_integrate_to_one():
    starts = (0.0, 1e-300, 1e-9, 0.3, 0.999999, 1.0)
    widths = (0.0, 5e-324, 1e-15, 1e-12, 1e-10, 1e-8, 1e-5, 0.1, 1.0)
    for lo, width, sigma in itertools.product(starts, widths, (1e-5, 0.002, 0.3, 0.5)):
        mean = circle_mean(lo, min(1.0, lo + width), sigma)
        assert mean == pytest.approx(1.0, abs=1e-6), (lo, width, sigma)


def test_zero_width_is_the_limit_of_narrow_ones():
    at = np.linspace(0.2, 0.4, 41)
    point = blurred_interval(np.array(0.3), np.array(0.3), at, np.array(0.05))
    narrow = blurred_interval(np.array(0.3 - 1e-7), np.array(0.3 + 1e-7), at, np.array(0.05))
    np.testing.assert_allclose(point, narrow, rtol=1e-6, atol=1e-6)


def test_whole_circle_says_nothing():
    at = np.linspace(0, 1, 64, endpoint=False)
    value = blurred_interval(np.array(0.0), np.array(1.0), at, np.array(0.02))
    np.testing.assert_allclose(value, 1.0, rtol=1e-12)


@settings(max_examples=30)
@given(
    a=unit,
    b=unit,
    entropy=st.floats(0.0, 20.0),
    arity=st.integers(1, 3),
    token=st.integers(2, 399),
    seed=st.integers(0, 2**32 - 1),
)
@pytest.mark.slow
def test_every_grid_point_has_mean_one_for_every_reading(a, b, entropy, arity, token, seed):
    # 16384 equal turns of the phase: the trapezoid rule on a periodic function. The narrowest blur
    # of the narrowest interval is a few turns wide, which leaves an error below 1e-3.
    rng = np.random.default_rng(seed)
    lo, hi = min(a, b), max(a, b)
    # Blurs that the rule resolves; narrower ones are the concern of the quadrature above.
    if hi - lo < 0.02:
        hi = min(1.0, lo + 0.02)
        lo = hi - 0.02
    profile = Profile(payload_bits=12, blocks=3, vocab_size=49152)
    size = 400
    bounds_lo, bounds_hi = rng.random(size) * 0.5, 0.5 + rng.random(size) * 0.5
    bounds_lo[token], bounds_hi[token] = lo, hi
    plan = Schedule(
        token=np.array([token]),
        arity=np.array([arity]),
        phase=rng.random(1),
        index=np.array([3]),
        gate=np.zeros(size, dtype=np.uint8),
    )
    steps = step_likelihoods(
        Intervals.of(plan, np.full(size, entropy), bounds_lo, bounds_hi, profile, model=MODEL),
        ALL_POINTS,
        resolution=16384,
    )
    turn = np.arange(16384)[:, None]
    log_f = log_likelihoods(steps, window_likelihoods(steps, turn))
    assert log_f.shape == (len(ALL_POINTS), 16384, 1, 8)
    np.testing.assert_allclose(np.exp(log_f).mean(axis=1), 1.0, atol=2e-3)


def test_mean_one_needs_no_phase():
    """What ``f_t`` is made of may not depend on the phases: only its argument does."""
    rng = np.random.default_rng(5)
    profile = Profile(payload_bits=12, blocks=3, vocab_size=49152)
    lo = rng.random(50) * 0.5
    hi = lo + 0.3
    made = []
    for phase in (0.0, 0.5):
        plan = Schedule(
            token=np.arange(2, 50),
            arity=rng.integers(1, 4, 48),
            phase=np.full(48, phase),
            index=np.zeros(48, dtype=np.int64),
            gate=np.zeros(50, dtype=np.uint8),
        )
        made.append(
            step_likelihoods(
                Intervals.of(plan, np.full(50, 3.3), lo, hi, profile, model=MODEL), ALL_POINTS
            )
        )
    np.testing.assert_array_equal(made[0].eta, made[1].eta)
    np.testing.assert_array_equal(made[0].arity_weights, made[1].arity_weights)
    np.testing.assert_allclose(made[0].density, np.roll(made[1].density, 8, axis=2), rtol=1e-9)


def test_offsets_are_the_schemes_anchors():
    phase = np.array([0.37])
    for arity in (1, 2, 3):
        places = anchors(phase, arity)[0]
        for sector, bits in enumerate(label_bits(arity)):
            for rest in range(1 << (3 - arity)):
                combo = int("".join(map(str, bits)), 2) << (3 - arity) | rest
                got = (phase[0] + SECTOR_OFFSETS[arity, combo] / 16) % 1.0
                assert got == pytest.approx(places[sector], abs=1e-12)


def test_arity_weights_add_up_and_follow_the_entropy():
    table = MODEL.tables[0]
    expected = np.array([0.0, 1.0, 3.0, 5.0, np.log2(49152), 1e6])
    for bin_, shift in enumerate(table.entropy_shift_bits):
        bins = np.full(expected.size, bin_)
        # The source's entropy is expected at the verifier's plus the learnt shift.
        weights = arity_weights(table, bins, expected - shift, (1.0, 3.0, 5.0))
        np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-12)
        assert np.all(weights >= 0)
        np.testing.assert_allclose(weights[1:4].max(axis=1) <= 0.51, True)
        assert weights[4:, 3].min() > 0.99
    at = np.array([2.0 - table.entropy_shift_bits[0]])
    none = arity_weights(table, np.zeros(1, dtype=int), at, (2.0, 2.0, 2.0))
    np.testing.assert_allclose(none, [[0.5, 0.0, 0.0, 0.5]])


def test_edited_tokens_stand_out():
    q = edit_probability(0.1, np.array([0.0, 1e-8, 1e-3, 1.0]), 49152)
    assert q[0] == 1.0
    assert q[1] > 0.99
    assert q[2] < 0.01
    assert q[3] < 1e-5


def test_an_absurd_token_takes_its_followers_with_it():
    profile = Profile(payload_bits=12, blocks=3, vocab_size=49152)
    probability = np.full(12, 0.5)
    probability[5] = 1e-12
    eta = desynchronisation(
        GridPoint(table="", family="plausibility", share=0.1),
        np.arange(2, 12),
        probability,
        profile,
    )
    assert (eta > 0.5).tolist() == [t in (5, 6, 7) for t in range(2, 12)]


@pytest.mark.parametrize("known", [False, True])
def test_extremes_stay_finite(known):
    profile = Profile(payload_bits=12, blocks=3, vocab_size=49152)
    edge = [0.0, 0.0, 0.0, 1.0, 1.0, 0.5, 0.5, 1 - 1e-16, 5e-324, 0.25]
    end = [0.0, 1.0, 5e-324, 1.0, 1.0, 0.5, 0.5 + 1e-16, 1.0, 1e-300, 0.250001]
    size = len(edge)
    for entropy in (0.0, np.log2(49152), 1e9):
        for phase in (0.0, 0.5, 1 - 2**-53):
            plan = Schedule(
                token=np.arange(2, size),
                arity=np.arange(size - 2) % 3 + 1,
                phase=np.full(size - 2, phase),
                index=np.arange(size - 2),
                gate=np.zeros(size, dtype=np.uint8),
            )
            steps = step_likelihoods(
                Intervals.of(
                    plan,
                    np.full(size, entropy),
                    np.array(edge),
                    np.array(end),
                    profile,
                    model=MODEL,
                ),
                MODEL.grids[known],
            )
            log_f = log_likelihoods(steps, window_likelihoods(steps))
            assert np.isfinite(log_f).all()
            assert log_f.min() >= np.log(0.005) - 1e-9


def test_shipped_model_is_sound():
    model = default_model()
    assert all(len(grid) <= 12 for grid in model.grids.values())
    for table in model.tables:
        np.testing.assert_allclose(table.weights.sum(axis=1) + table.uniform, 1.0, atol=1e-6)
    assert "study" in model.provenance


def test_round_trip_keeps_every_number():
    model = default_model()
    again = LikelihoodModel.from_dict(json.loads(json.dumps(model.to_dict())))
    assert again.to_dict() == model.to_dict()
    assert again.fingerprint == model.fingerprint


def test_bins_change_at_the_edges():
    model = default_model()
    edges = model.position_edges
    assert model.bins(np.array([0, edges[0] - 1, edges[0], 10**6])).tolist() == [
        0,
        0,
        1,
        edges.size,
    ]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("blur_widths", 0), 0.0),
        (("blur_widths", 0), 0.7),
        (("position_edges",), [20, 8, 50, 100]),
        (("tables", 0, "uniform", 0), 0.9),
        (("tables", 0, "weights", 0, 0), -0.1),
        (("tables", 0, "entropy_noise_bits", 0), float("nan")),
        (("tables", 1, "name"), "same-model, prompt unknown"),
        (("grids", "prompt-known"), []),
        (("grids", "prompt-known", 0, "family"), "guess"),
        (("grids", "prompt-known", 0, "share"), 1.0),
        (("grids", "prompt-known", 0, "table"), "nobody"),
        (("passages", "least_gap"), 0.5),
        (("passages", "begins_marked"), 1.0),
        (("passages", "members", "prompt-known"), []),
        (("passages", "members", "prompt-unknown", 0, "table"), "nobody"),
        (("passages", "members", "prompt-unknown", 0, "share"), 0.0),
        (("tables",), 5),
    ],
)
def test_damage_is_refused(path, value):
    data = copy.deepcopy(default_model().to_dict())
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(LikelihoodError):
        LikelihoodModel.from_dict(data)


def test_missing_file_is_one_clear_error(tmp_path):
    with pytest.raises(LikelihoodError, match="cannot be read"):
        LikelihoodModel.load(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(LikelihoodError, match="cannot be read"):
        LikelihoodModel.load(tmp_path / "bad.json")
