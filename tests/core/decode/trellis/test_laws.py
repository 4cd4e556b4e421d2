"""What must hold at any length, where nobody can count through: laws and extremes."""

import itertools

import numpy as np
import pytest

from pura.decode.trellis import codeword_scores, make_trellis
from pura.scheme import Payload, encode

CODES = [(36, 4), (128, 8), (9, None), (36, None), (37, None), (39, None), (128, None)]
codes = pytest.mark.parametrize(("bits", "blocks"), CODES)


def score_of(phi, codeword):
    return float(codeword_scores(phi[None], codeword[None])[0, 0])


def pointing_at(codeword, strength, rng, noise=1.0):
    n = codeword.size
    word = codeword.astype(int)
    phi = noise * rng.standard_normal((n, 8))
    window = 4 * word + 2 * np.roll(word, -1) + np.roll(word, -2)
    phi[np.arange(n), window] += strength
    return phi


@codes
def test_nothing_read_leaves_every_payload_as_likely(make_profile, bits, blocks):
    trellis = make_trellis(make_profile(bits, blocks))
    phi = np.zeros((trellis.codeword_length, 8))
    assert trellis.log_sum(phi) == pytest.approx(bits * np.log(2.0), rel=1e-13)
    np.testing.assert_allclose(trellis.posteriors(phi), 0.5, atol=1e-12)
    listed = trellis.k_best(phi, 8)
    assert [score for _, score in listed] == [0.0] * 8
    assert len({payload.tobytes() for payload, _ in listed}) == 8


@codes
@pytest.mark.parametrize("strength", [3.0, 60.0, 4000.0])
def test_evidence_for_a_payload_finds_it(make_profile, bits, blocks, strength):
    profile = make_profile(bits, blocks)
    trellis = make_trellis(profile)
    rng = np.random.default_rng(bits)
    truth = rng.integers(0, 2, bits).astype(np.uint8)
    codeword = encode(Payload.from_bits(truth), profile)
    phi = pointing_at(codeword, strength, rng, noise=0.3)
    payload, score = trellis.best(phi)
    assert payload.tolist() == truth.tolist()
    assert score == pytest.approx(score_of(phi, codeword), rel=1e-12)
    assert (trellis.posteriors(phi).round() == truth).all()
    assert score <= float(trellis.log_sum(phi)) * (1 + 1e-12)


@codes
@pytest.mark.parametrize("scale", [0.01, 1.0, 30.0])
def test_laws_of_best_list_sum_and_posterior(make_profile, bits, blocks, scale):
    profile = make_profile(bits, blocks)
    trellis = make_trellis(profile)
    rng = np.random.default_rng(11)
    phi = scale * rng.standard_normal((trellis.codeword_length, 8))
    listed = trellis.k_best(phi, 12)
    scores = [score for _, score in listed]
    for (payload, score), below in itertools.pairwise([*listed, (None, -np.inf)]):
        codeword = encode(Payload.from_bits(payload), profile)
        assert score == pytest.approx(score_of(phi, codeword), rel=1e-11, abs=1e-9)
        assert score >= below[1]
    log_sum = float(trellis.log_sum(phi))
    assert np.logaddexp.reduce(scores) <= log_sum + 1e-9
    assert log_sum <= scores[0] + bits * np.log(2.0) + 1e-9
    # A shorter list is the beginning of a longer one.
    assert [score for _, score in trellis.k_best(phi, 3)] == pytest.approx(scores[:3])
    # No single flip of a payload bit improves on the best.
    flipped = listed[0][0] ^ np.eye(bits, dtype=np.uint8)
    others = [score_of(phi, encode(Payload.from_bits(p), profile)) for p in flipped]
    assert max(others) <= scores[0] + 1e-9


@pytest.mark.parametrize(("bits", "blocks"), [(36, 4), (128, 8)])
def test_posteriors_are_the_share_of_the_sum(make_profile, bits, blocks):
    profile = make_profile(bits, blocks)
    trellis = make_trellis(profile)
    phi = np.random.default_rng(5).standard_normal((trellis.codeword_length, 8))
    posteriors = trellis.posteriors(phi)
    for position in (0, 1):
        without = phi.copy()
        without[position, 4:] = -np.inf
        zero = np.exp(trellis.log_sum(without) - trellis.log_sum(phi))
        assert posteriors[position] == pytest.approx(1.0 - zero, abs=1e-10)


@codes
def test_a_constant_on_a_window_moves_scores_and_nothing_else(make_profile, bits, blocks):
    trellis = make_trellis(make_profile(bits, blocks))
    rng = np.random.default_rng(6)
    phi = rng.standard_normal((trellis.codeword_length, 8))
    moved = phi + 1000.0 * rng.standard_normal((trellis.codeword_length, 1))
    by = (moved - phi)[:, 0].sum()
    assert trellis.log_sum(moved) == pytest.approx(trellis.log_sum(phi) + by, abs=1e-7)
    np.testing.assert_allclose(trellis.posteriors(moved), trellis.posteriors(phi), atol=1e-8)
    assert trellis.best(moved)[0].tolist() == trellis.best(phi)[0].tolist()


@codes
@pytest.mark.parametrize("scale", [1000.0, 4000.0])
def test_thousands_of_nats_against_each_other(make_profile, bits, blocks, scale):
    """So large that the sum is its largest term, unless two happen to be close."""
    trellis = make_trellis(make_profile(bits, blocks))
    phi = scale * np.random.default_rng(3).standard_normal((trellis.codeword_length, 8))
    listed = trellis.k_best(phi, 20)
    scores = np.array([score for _, score in listed])
    assert scores[0] - scores[-1] > 45.0
    assert trellis.log_sum(phi) == pytest.approx(np.logaddexp.reduce(scores), rel=1e-12)
    weight = np.exp(scores - scores[0])
    expected = weight @ np.array([payload for payload, _ in listed]) / weight.sum()
    np.testing.assert_allclose(trellis.posteriors(phi), expected, atol=1e-8)


@codes
def test_everything_ruled_out_is_no_payload_and_no_nan(make_profile, bits, blocks):
    trellis = make_trellis(make_profile(bits, blocks))
    phi = np.full((3, trellis.codeword_length, 8), -np.inf)
    phi[1] = 0.0
    phi[2] = 0.0
    phi[2, 4] = -np.inf
    sums = trellis.log_sum(phi)
    assert sums[0] == sums[2] == -np.inf
    assert sums[1] == pytest.approx(bits * np.log(2.0))
    for row in (phi[0], phi[2]):
        payload, score = trellis.best(row)
        assert (payload.any(), score) == (False, -np.inf)
        assert len(trellis.k_best(row, 4)) == 1
        assert (trellis.posteriors(row) == 0.5).all()


@codes
def test_all_but_one_payload_ruled_out(make_profile, bits, blocks):
    profile = make_profile(bits, blocks)
    trellis = make_trellis(profile)
    truth = np.random.default_rng(2).integers(0, 2, bits).astype(np.uint8)
    word = encode(Payload.from_bits(truth), profile).astype(int)
    phi = np.full((word.size, 8), -np.inf)
    phi[np.arange(word.size), 4 * word + 2 * np.roll(word, -1) + np.roll(word, -2)] = -7.0
    listed = trellis.k_best(phi, 5)
    assert len(listed) == 1
    assert listed[0][0].tolist() == truth.tolist()
    assert listed[0][1] == pytest.approx(-7.0 * word.size)
    assert trellis.log_sum(phi) == pytest.approx(-7.0 * word.size)
    np.testing.assert_allclose(trellis.posteriors(phi), truth, atol=1e-12)


@pytest.mark.parametrize("blocks", [2, None])
@pytest.mark.parametrize("lead", [(), (4,), (2, 3), (0,)])
def test_any_leading_axes(make_profile, blocks, lead):
    trellis = make_trellis(make_profile(10, blocks))
    phi = np.random.default_rng(1).standard_normal((*lead, trellis.codeword_length, 8))
    sums = trellis.log_sum(phi)
    assert sums.shape == lead
    for index in np.ndindex(lead):
        assert sums[index] == pytest.approx(float(trellis.log_sum(phi[index])), rel=1e-13)


@pytest.mark.parametrize("blocks", [2, None])
def test_what_is_asked_wrongly_is_refused(make_profile, blocks):
    trellis = make_trellis(make_profile(10, blocks))
    n = trellis.codeword_length
    phi = np.zeros((n, 8))
    for wrong in (np.zeros((n + 1, 8)), np.zeros((n, 4)), np.zeros((1, n, 8)), np.zeros(8)):
        with pytest.raises(ValueError, match="shape"):
            trellis.best(wrong)
    for bad in (np.nan, np.inf):
        poisoned = phi.copy()
        poisoned[3, 3] = bad
        for ask in (trellis.log_sum, trellis.best, trellis.posteriors):
            with pytest.raises(ValueError, match=r"NaN or \+inf"):
                ask(poisoned)
    with pytest.raises(ValueError, match="at least one"):
        trellis.k_best(phi, 0)


def test_the_input_is_left_as_it_was(make_profile):
    for blocks in (2, None):
        trellis = make_trellis(make_profile(10, blocks))
        phi = np.random.default_rng(4).standard_normal((trellis.codeword_length, 8))
        phi.setflags(write=False)
        trellis.k_best(phi, 3), trellis.log_sum(phi), trellis.posteriors(phi)
