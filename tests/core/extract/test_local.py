"""Local evidence against the shipped vectors, and at the ends of the intervals' range."""

import json
from pathlib import Path

import numpy as np
import pytest

from pura.decode import paper
from pura.extract import local_evidence
from pura.scheme import Profile, Schedule, SecretKey, ranks, schedule
from pura.scheme.profile import KERNELS

VECTORS = sorted((Path(__file__).parents[2] / "data" / "vectors").glob("extract-*.json"))


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
    assert set(data["expected"]) == set(KERNELS)
    for kernel, expected in data["expected"].items():
        local = local_evidence(plan, lo, hi, profile, kernel=kernel)
        got = paper.decode(plan, local, profile)
        np.testing.assert_allclose(got.llr_nats, expected["llr"], atol=1e-9, rtol=0)
        assert got.hard_bits.tolist() == expected["hard_bits"]
        assert got.codeword.tolist() == expected["repaired_codeword"]
        assert got.payload.bits.tolist() == expected["payload"]


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
