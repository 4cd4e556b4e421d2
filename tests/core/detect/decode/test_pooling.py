"""The posterior of the evidence, held against the sum over every reading, key and payload."""

import itertools
import math

import numpy as np
import pytest

from pura.detect.decode.payloads import StepWeights
from pura.detect.decode.pooling import WeighedReading, log_odds_repeated, pool
from pura.detect.decode.prior import PayloadPrior
from pura.detect.decode.trellis import codeword_scores, codeword_windows, make_trellis
from pura.scheme import Profile
from pura.scheme.profile import encode_rows

PROFILES = {
    "tbcc": Profile(payload_bits=9, code="tbcc", vocab_size=50),
    "spc": Profile(payload_bits=8, blocks=2, vocab_size=50),
}
each_code = pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)


def everyone(profile):
    return np.array(list(itertools.product([0, 1], repeat=profile.payload_bits)), dtype=np.uint8)


def steps(profile, rng, *, payload, strength):
    """Steps that speak for a payload, and the log likelihood ratio of every payload."""
    phi = rng.normal(0, 0.3, (1, profile.codeword_length, 8))
    read = codeword_windows(encode_rows(payload[None], profile)[0])
    phi[:, np.arange(profile.codeword_length), read] += strength
    ratios = codeword_scores(phi, encode_rows(everyone(profile), profile))[0]
    best = everyone(profile)[int(np.argmax(ratios))]
    weights = StepWeights(
        phi=phi,
        near=best,
        prior=PayloadPrior(trellis=make_trellis(profile)),
        profile=profile,
        issued=None,
    )
    return weights, ratios


@each_code
def test_two_readings_that_disagree_are_weighed_by_their_evidence(profile):
    """One reading is sure of a payload; the evidence, which is the mean of both, is not."""
    rng = np.random.default_rng(3)
    first, second = everyone(profile)[[70, 133]]
    sure, of_sure = steps(profile, rng, payload=first, strength=2.5)
    other, of_other = steps(profile, rng, payload=second, strength=2.3)
    assert sure.posterior.candidates[0].posterior > 0.999
    assert sure.posterior.payload != other.posterior.payload
    pooled = pool(
        [WeighedReading(key="a", log_weight=math.log(0.5), weights=one) for one in (sure, other)]
    )
    terms = np.logaddexp(of_sure, of_other)
    wanted = np.exp(terms - np.logaddexp.reduce(terms))
    by_payload = {one.payload.text: one.posterior for one in pooled.candidates}
    for bits, share in zip(everyone(profile), wanted, strict=True):
        if share >= 1e-4:
            assert by_payload["".join(map(str, bits))] == pytest.approx(share, rel=1e-6)
    assert pooled.best.payload == sure.posterior.payload
    assert pooled.best.posterior < 0.99
    ones = wanted @ everyone(profile)
    np.testing.assert_allclose(pooled.bit_shares["a"][:, 1], ones, atol=2e-4)
    np.testing.assert_allclose(pooled.bit_shares["a"].sum(axis=1), 1, atol=1e-9)


@each_code
def test_the_same_payload_under_another_key_is_another_mark(profile):
    rng = np.random.default_rng(5)
    payload = everyone(profile)[99]
    readings, terms = [], []
    for key, strength in (("a", 1.2), ("b", 1.1), ("b", 0.4)):
        weights, ratios = steps(profile, rng, payload=payload, strength=strength)
        readings.append(WeighedReading(key=key, log_weight=-1.0, weights=weights))
        terms.append(ratios)
    pooled = pool(readings)
    total = np.logaddexp.reduce(np.concatenate(terms))
    place = 99
    wanted = {
        "a": np.exp(terms[0][place] - total),
        "b": np.exp(np.logaddexp(terms[1][place], terms[2][place]) - total),
    }
    text = "".join(map(str, payload))
    got = {one.key: one.posterior for one in pooled.candidates if one.payload.text == text}
    assert got == pytest.approx(wanted, rel=1e-6)
    assert math.fsum(one.posterior for one in pooled.candidates) <= 1 + 1e-9
    shares = sum(pooled.bit_shares.values())
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-9)


@each_code
def test_a_key_that_was_tried_twice_is_one_key(profile):
    rng = np.random.default_rng(6)
    weights, _ = steps(profile, rng, payload=everyone(profile)[40], strength=1.5)
    once = pool([WeighedReading(key="a", log_weight=0.0, weights=weights)])
    twice = pool([WeighedReading(key="a", log_weight=-1.0, weights=weights) for _ in range(2)])
    assert [one.payload for one in twice.candidates] == [one.payload for one in once.candidates]
    assert twice.best.posterior == pytest.approx(once.best.posterior)


@each_code
@pytest.mark.parametrize("strength", [0.0, 0.5, 1.5])
def test_the_sum_over_payloads_near_another_one_is_exact(profile, strength):
    rng = np.random.default_rng(7)
    weights, ratios = steps(profile, rng, payload=everyone(profile)[21], strength=strength)
    stronger, size = everyone(profile)[23], profile.payload_bits
    apart = (everyone(profile) != stronger).sum(axis=1)
    near = np.array([1 / (size * math.comb(size, d)) if d else 0.0 for d in apart])
    assert near.sum() == pytest.approx(1)
    wanted = math.log(near @ np.exp(ratios))
    assert weights.log_near(stronger) == pytest.approx(wanted, abs=1e-9)


def prior_of_a_piece(profile, stronger):
    """What each payload weighs beforehand where a passage does not repeat the stronger one."""
    size = profile.payload_bits
    apart = (everyone(profile) != stronger).sum(axis=1)
    near = np.array([1 / (size * math.comb(size, d)) if d else 0.0 for d in apart])
    return (near + 2.0**-size) / 2


@each_code
@pytest.mark.parametrize("strength", [0.05, 0.3])
def test_a_repeated_payload_is_held_against_all_others(profile, strength):
    """Against the best of the others alone, the odds of a repetition are too good."""
    rng = np.random.default_rng(8)
    truth, stronger = everyone(profile)[[20, 28]]
    weights, ratios = steps(profile, rng, payload=truth, strength=strength)
    before, repeated = prior_of_a_piece(profile, stronger), float(ratios[28])
    wanted = repeated - math.log(before @ np.exp(ratios))
    best = int(np.argmax(ratios))
    assert wanted < repeated - math.log(before[best]) - float(ratios[best])
    assert wanted > math.log(1e-4)
    got = log_odds_repeated([(0.0, weights)], stronger)
    assert got == pytest.approx(wanted, abs=1e-9)
    # A reading more of the same, and another key that reads nothing there, change nothing.
    assert log_odds_repeated([(-1.0, weights)] * 2, stronger) == pytest.approx(wanted, abs=1e-9)
    assert log_odds_repeated([(0.0, weights)], stronger, elsewhere=-50.0) == pytest.approx(wanted)


@each_code
def test_odds_that_are_out_of_question_are_never_stated_too_small(profile):
    rng = np.random.default_rng(9)
    truth, stronger = everyone(profile)[[20, 200]]
    weights, ratios = steps(profile, rng, payload=truth, strength=2.0)
    before = prior_of_a_piece(profile, stronger)
    wanted = float(ratios[200]) - math.log(before @ np.exp(ratios))
    got = log_odds_repeated([(0.0, weights)], stronger)
    assert wanted - 1e-9 <= got < math.log(1e-4)
