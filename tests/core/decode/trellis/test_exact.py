"""The trellis says what counting through all payloads says; and the stored vectors."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pura.decode.trellis import codeword_scores, make_trellis
from pura.scheme import Payload, encode

VECTORS = Path(__file__).parents[3] / "data" / "vectors"
STORED = sorted(p.stem for p in VECTORS.glob("t*-*.json"))
SPC_SHAPES = [
    (bits, blocks)
    for bits in range(1, 12)
    for blocks in range(1, bits + 1)
    if bits % blocks == 0 and bits + blocks <= 12
]
exact = settings(derandomize=True, database=None)


def score_of(phi, codeword):
    return float(codeword_scores(phi[None], codeword[None])[0, 0])


@st.composite
def potentials(draw):
    """How window potentials may look: size, ties, windows ruled out, positions never read."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scale = draw(st.sampled_from([0.0, 0.1, 1.0, 10.0, 100.0, 4000.0]))
    ruled_out = draw(st.sampled_from([0.0, 0.0, 0.05, 0.3, 0.6]))
    unread = draw(st.sampled_from([0.0, 0.0, 0.4]))
    whole = draw(st.booleans())

    def make(n, grid=None):
        shape = (n, 8) if grid is None else (grid, n, 8)
        phi = scale * rng.standard_normal(shape)
        if whole:
            phi = np.rint(phi)
        phi[rng.random(shape) < ruled_out] = -np.inf
        phi[rng.random(shape[:-1]) < unread] = 0.0
        return phi

    return make


def check(profile, phi, truth, k):
    trellis = make_trellis(profile)
    close = {"rtol": 1e-11, "atol": 1e-9}
    possible = int(np.isfinite(truth.scores).sum())

    np.testing.assert_allclose(trellis.log_sum(phi), truth.log_sum, **close)

    listed = trellis.k_best(phi, k)
    assert len(listed) == max(1, min(k, possible))
    scores = np.array([score for _, score in listed])
    np.testing.assert_allclose(scores, truth.ranked[: len(listed)], **close)
    assert len({bits.tobytes() for bits, _ in listed}) == len(listed)
    for bits, score in listed:
        assert bits.dtype == np.uint8
        codeword = encode(Payload.from_bits(bits), profile)
        np.testing.assert_allclose(score_of(phi, codeword), score, **close)

    bits, score = trellis.best(phi)
    assert bits.tolist() == listed[0][0].tolist()
    assert score == listed[0][1]

    posteriors = trellis.posteriors(phi)
    expected = truth.posteriors if possible else np.full(profile.payload_bits, 0.5)
    np.testing.assert_allclose(posteriors, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("bits", "blocks"), SPC_SHAPES)
@settings(exact, max_examples=25)
@given(make=potentials(), k=st.integers(1, 20))
def test_spc_is_counting_through(everything, make_profile, bits, blocks, make, k):
    profile = make_profile(bits, blocks)
    phi = make(profile.codeword_length)
    check(profile, phi, everything(profile, phi), k)


@pytest.mark.parametrize("bits", [9, 10, 11, 12])
@settings(exact, max_examples=25)
@given(make=potentials(), k=st.integers(1, 20))
def test_tbcc_is_counting_through(everything, make_profile, bits, make, k):
    profile = make_profile(bits)
    phi = make(profile.codeword_length)
    check(profile, phi, everything(profile, phi), k)


@pytest.mark.parametrize(("bits", "blocks"), [(1, 1), (2, 1), (6, 2), (9, None), (10, None)])
@settings(exact, max_examples=10)
@given(make=potentials())
def test_grid_points_do_not_touch_each_other(everything, make_profile, bits, blocks, make):
    profile = make_profile(bits, blocks)
    trellis = make_trellis(profile)
    phi = make(profile.codeword_length, grid=5)
    sums = trellis.log_sum(phi)
    expected = [everything(profile, row).log_sum for row in phi]
    np.testing.assert_allclose(sums, expected, rtol=1e-11, atol=1e-9)
    np.testing.assert_array_equal(trellis.log_sum(phi[::-1]), sums[::-1])


@pytest.mark.parametrize(("bits", "blocks"), [(2, 1), (2, 2), (3, 1), (9, None)])
def test_a_list_longer_than_the_code_holds_all_of_it(everything, make_profile, bits, blocks):
    profile = make_profile(bits, blocks)
    phi = np.random.default_rng(8).standard_normal((profile.codeword_length, 8))
    listed = make_trellis(profile).k_best(phi, 2**bits + 5)
    assert len({payload.tobytes() for payload, _ in listed}) == 2**bits
    truth = everything(profile, phi)
    np.testing.assert_allclose([score for _, score in listed], truth.ranked, atol=1e-9)


@pytest.mark.parametrize("name", STORED)
def test_stored_vectors(make_profile, name):
    vector = json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))
    phi = np.array(vector["window_potentials"])
    if name.startswith("tbcc"):
        profile = make_profile(len(vector["best_payload"]))
    else:
        profile = make_profile(vector["n"] - vector["blocks"], vector["blocks"])
    trellis = make_trellis(profile)

    payload, score = trellis.best(phi)
    if "best_payload" in vector:
        assert payload.tolist() == vector["best_payload"]
    else:
        assert encode(Payload.from_bits(payload), profile).tolist() == vector["best_codeword"]
    log_sum = float(trellis.log_sum(phi))
    log_mean = log_sum - profile.payload_bits * np.log(2.0)
    expected = [vector["best_score"], vector["log_sum"], vector["log_mean"]]
    np.testing.assert_allclose([score, log_sum, log_mean], expected, rtol=1e-9, atol=0)


def test_the_vectors_are_there():
    assert {name.split("-")[0] for name in STORED} == {"tbcc", "trellis"}
