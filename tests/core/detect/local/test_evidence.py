"""Local evidence against the shipped vectors.

Kernels against quadrature and where rounding bites.

kernels against quadrature and where rounding bites.
"""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pura.detect.decode import paper
from pura.detect.local import evidence as local
from pura.detect.local.evidence import (
    FORMS,
    Kernel,
    circular_distance,
    hard_vote,
    kernel_overlap,
    kernel_value,
    local_evidence,
)
from pura.scheme import Profile, Schedule, SecretKey, ranks, schedule
from pura.scheme.profile import KERNELS

SMOOTH = tuple(FORMS)
unit = st.floats(0.0, 1.0, allow_nan=False)


def quadrature(kernel: str, lo: float, hi: float, anchor: float, radius: float) -> float:
    """Gauss-Legendre on the pieces between the kernel's kinks: exact for polynomials."""
    kinks = [anchor + r + k for k in (-1, 0, 1) for r in (-radius, 0.0, radius)]
    cuts = np.array(sorted({lo, hi, *(k for k in kinks if lo < k < hi)}))
    nodes, weights = np.polynomial.legendre.leggauss(24)
    total = 0.0
    for a, b in itertools.pairwise(cuts):
        u = (a + b) / 2 + (b - a) / 2 * nodes
        value = kernel_value(kernel, circular_distance(u, np.float64(anchor)), radius)
        total += (b - a) / 2 * float(weights @ value)
    return total


@pytest.mark.parametrize("kernel", SMOOTH)
@settings(max_examples=150)
@given(a=unit, b=unit, anchor=st.floats(0.0, 1.0, exclude_max=True), arity=st.integers(1, 3))
def test_overlap_is_the_integral(kernel, a, b, anchor, arity):
    lo, hi = min(a, b), max(a, b)
    radius = 0.5 ** (arity + 1)
    got = kernel_overlap(kernel, np.array(lo), np.array(hi), np.array(anchor), radius)
    assert float(got) == pytest.approx(quadrature(kernel, lo, hi, anchor, radius), abs=1e-13)


@pytest.mark.parametrize("kernel", SMOOTH)
def test_tiny_interval_keeps_its_digits(kernel):
    lo = np.array([0.4, 0.4, 0.4])
    width = np.array([1e-9, 1e-12, 1e-14])
    hi = lo + width
    got = kernel_overlap(kernel, lo, hi, np.array(0.45), 0.125)
    value = kernel_value(kernel, np.array(0.05), 0.125)
    np.testing.assert_allclose(got, value * (hi - lo), rtol=1e-7)


@pytest.mark.parametrize("kernel", SMOOTH)
def test_overlap_is_exactly_zero_out_of_reach(kernel):
    got = kernel_overlap(kernel, np.array([0.5, 0.0]), np.array([0.6, 0.0]), np.array(0.0), 0.25)
    assert got.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("kernel", SMOOTH)
def test_whole_circle_gives_the_kernels_mass(kernel):
    radius = 0.0625
    mass = quadrature(kernel, 0.0, 1.0, 0.5, radius)
    anchors = np.linspace(0, 1, 17, endpoint=False)
    got = kernel_overlap(kernel, np.array(0.0), np.array(1.0), anchors, radius)
    np.testing.assert_allclose(got, mass, rtol=1e-12)


def faults_of(kernel: str) -> list[str]:
    """Say what is wrong with a kernel, by what scheme.md §5 asks of each."""
    faults = []
    y = np.linspace(0.0, 0.999, 400)
    value = FORMS[kernel].value(y)
    if value[0] != 1.0 or (np.diff(value) > 0).any() or (value < 0).any():
        faults.append("value")
    # As a weight of a uniform phase each interval has the mean that its width gives it.
    phase = (np.arange(4096) + 0.5) / 4096
    for lo, hi in ((0.0, 1.0), (0.1, 0.13), (0.4, 0.9)):
        overlap = kernel_overlap(kernel, np.array(lo), np.array(hi), phase, 0.125)
        mass = quadrature(kernel, 0.0, 1.0, 0.5, 0.125)
        if not np.isclose(overlap.mean(), mass * (hi - lo), rtol=1e-4):
            faults.append(f"mean over [{lo}, {hi})")
    return faults


def test_every_kernel_of_a_profile_has_a_form_and_is_one():
    assert {*FORMS, "hard"} == set(KERNELS)
    assert {name: faults_of(name) for name in FORMS} == {name: [] for name in FORMS}


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        (Kernel(lambda y: 1 - y, lambda m, w: 1.3 * FORMS["triangular"].integral(m, w)), "mean"),
        (Kernel(lambda y: 0.7 * (1 - y), FORMS["triangular"].integral), "value"),
        (Kernel(lambda y: y, FORMS["box"].integral), "value"),
    ],
)
def test_a_wrong_kernel_is_seen(wrong, fault, monkeypatch):
    monkeypatch.setitem(local.FORMS, "seventh", wrong)
    assert any(one.startswith(fault) for one in faults_of("seventh"))


def test_hard_vote_goes_round_the_circle():
    anchors = np.array([[0.02, 0.27, 0.52, 0.77]])
    assert hard_vote(np.array([0.96]), np.array([0.98]), anchors).tolist() == [[1, 0, 0, 0]]
    assert hard_vote(np.array([0.5]), np.array([0.6]), anchors).tolist() == [[0, 0, 1, 0]]


def test_unknown_kernel_is_refused():
    with pytest.raises(KeyError):
        kernel_overlap("gauss", np.array(0.1), np.array(0.2), np.array(0.1), 0.1)
    with pytest.raises(KeyError):
        kernel_value("gauss", np.array(0.1), 0.1)


VECTORS = sorted((Path(__file__).parents[3] / "data" / "vectors").glob("extract-*.json"))


def load(path):
    data = json.loads(path.read_text())
    profile = Profile.from_dict({**data["profile"], "llr_clip": data["llr_clip"]})
    return data, profile, SecretKey.from_hex(data["key_hex"])


def naive_intervals(data, profile, key):
    """Softmax and CDF as scheme.md §4 says, one token at a time."""
    order = key.vocabulary_order(profile.vocab_size)
    rank = ranks(order)
    rows = []
    for token, logits in zip(data["tokens"], data["logits"], strict=True):
        z = np.array(logits, dtype=np.float64) / profile.temperature
        p = np.exp(z - z.max())
        p /= p.sum()
        cdf = np.concatenate([[0.0], np.cumsum(p[order])])
        entropy = -np.sum(p * np.log2(p))
        rows.append((entropy, cdf[rank[token]], cdf[rank[token] + 1]))
    return np.array(rows).T


@pytest.mark.parametrize("path", VECTORS, ids=lambda p: p.stem)
def test_vectors(path):
    data, profile, key = load(path)
    entropy, lo, hi = naive_intervals(data, profile, key)
    np.testing.assert_allclose(entropy, data["entropy_bits"], atol=1e-9, rtol=0)
    np.testing.assert_allclose(lo, data["lo"], atol=1e-9, rtol=0)
    np.testing.assert_allclose(hi, data["hi"], atol=1e-9, rtol=0)
    lo, hi = np.array(data["lo"]), np.array(data["hi"])
    plan = schedule(np.array(data["tokens"]), np.array(data["entropy_bits"]), key, profile)
    steps = [
        dict(zip(("t", "arity", "U", "index"), row, strict=True))
        for row in zip(
            plan.token.tolist(),
            plan.arity.tolist(),
            plan.phase.tolist(),
            plan.index.tolist(),
            strict=True,
        )
    ]
    assert steps == data["steps"]
    assert set(data["expected"]) <= set(KERNELS)
    for kernel, expected in data["expected"].items():
        local = local_evidence(plan, lo, hi, profile, kernel=kernel)
        got = paper.decode(plan, local, profile)
        np.testing.assert_allclose(got.llr_nats, expected["llr"], atol=1e-9, rtol=0)
        assert got.hard_bits.tolist() == expected["hard_bits"]
        assert got.codeword.tolist() == expected["repaired_codeword"]
        assert got.payload.array.tolist() == expected["payload"]


def plan_of(arity, phase=0.3):
    arity = np.asarray(arity)
    steps = np.arange(arity.size)
    return Schedule(
        token=steps,
        arity=arity,
        phase=np.full(arity.size, phase),
        index=steps,
        gate=np.zeros(arity.size, dtype=np.uint8),
    )


PROFILE = Profile(payload_bits=12, blocks=3, vocab_size=50)


def test_shape_and_nan_beyond_arity():
    lo, hi = np.full(3, 0.2), np.full(3, 0.6)
    local = local_evidence(plan_of([1, 2, 3]), lo, hi, PROFILE)
    assert np.isfinite(local.weights).sum(axis=1).tolist() == [2, 4, 8]
    assert np.isfinite(local.llr_nats).sum(axis=1).tolist() == [1, 2, 3]


def test_no_weight_is_no_evidence():
    # Zero width everywhere: no kernel has any overlap, so every bit is a coin.
    lo = np.array([0.0, 0.5, 1.0])
    local = local_evidence(plan_of([1, 2, 3]), lo, lo, PROFILE)
    assert np.nansum(local.weights) == 0.0
    assert np.nanmax(np.abs(local.llr_nats)) == 0.0


def test_whole_circle_is_no_evidence():
    local = local_evidence(plan_of([1, 2, 3]), np.zeros(3), np.ones(3), PROFILE)
    assert np.nanmax(np.abs(local.llr_nats)) < 1e-12


def test_clip_bounds_every_llr():
    rng = np.random.default_rng(7)
    lo = rng.random(400)
    hi = lo + (1 - lo) * rng.random(400) ** 8
    plan = plan_of(rng.integers(1, 4, 400))
    for kernel in KERNELS:
        llr = local_evidence(plan, lo, hi, PROFILE, kernel=kernel).llr_nats
        bound = np.log(0.999 / 0.001)
        assert np.nanmax(np.abs(llr)) <= bound * (1 + 1e-12)


def test_arity_order_does_not_matter():
    rng = np.random.default_rng(3)
    lo = rng.random(60)
    hi = np.minimum(1.0, lo + 0.1)
    arity = rng.integers(1, 4, 60)
    mixed = local_evidence(plan_of(arity), lo, hi, PROFILE)
    for a in (1, 2, 3):
        alone = local_evidence(plan_of(np.full(60, a)), lo, hi, PROFILE)
        rows = arity == a
        np.testing.assert_array_equal(mixed.llr_nats[rows], alone.llr_nats[rows])


def test_empty_schedule():
    local = local_evidence(plan_of(np.zeros(0, dtype=np.int64)), np.zeros(0), np.zeros(0), PROFILE)
    assert local.weights.shape == (0, 8)
    assert local.llr_nats.shape == (0, 3)
