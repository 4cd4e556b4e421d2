"""Trellises: counted through, by laws at any length, and the quick way against the slow one."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pura.detect.decode import trellis
from pura.detect.decode.trellis import (
    _safe_log_sum,
    best_starts,
    codeword_scores,
    codeword_windows,
    make_trellis,
    state_posteriors,
    window_potentials,
)
from pura.scheme import Payload, Profile, encode
from pura.scheme.profile import CODES, encode_rows


def slow(log_f, index, length):
    phi = np.zeros((log_f.shape[0], length, 8))
    for s, i in enumerate(index):
        phi[:, i] += log_f[:, s]
    return phi


@pytest.mark.parametrize("length", [2, 3, 15, 108])
def test_sums(length):
    rng = np.random.default_rng(length)
    log_f = rng.normal(size=(3, 70, 8))
    index = rng.integers(0, length, 70)
    got = window_potentials(log_f, index, length)
    np.testing.assert_allclose(got, slow(log_f, index, length), atol=1e-12)
    deep = window_potentials(np.stack([log_f, 2 * log_f]), index, length)
    np.testing.assert_allclose(deep[1], 2 * got, atol=1e-12)


def test_no_steps_no_evidence():
    phi = window_potentials(np.zeros((2, 0, 8)), np.zeros(0, dtype=np.int64), 9)
    assert phi.shape == (2, 9, 8)
    assert not phi.any()


def test_scores_read_the_ring():
    word = np.array([1, 0, 1, 1], dtype=np.uint8)
    assert codeword_windows(word).tolist() == [0b101, 0b011, 0b111, 0b110]
    phi = np.random.default_rng(0).normal(size=(2, 4, 8))
    want = [phi[g, 0, 5] + phi[g, 1, 3] + phi[g, 2, 7] + phi[g, 3, 6] for g in (0, 1)]
    np.testing.assert_allclose(codeword_scores(phi, word[None])[:, 0], want)


def test_ring_of_two():
    assert codeword_windows(np.array([1, 0], dtype=np.uint8)).tolist() == [0b101, 0b010]


BITS = 9  # few enough that all payloads can be tried


def profile_of(code: str) -> Profile:
    blocks = 3 if code == "spc" else None
    return Profile(payload_bits=BITS, blocks=blocks, code=code, vocab_size=64)


def faults_of(code: str, make: Callable[[Profile], Any] = make_trellis) -> list[str]:
    """Say what is wrong with a code: its words, or what its trellis makes of them."""
    profile, rng, faults = profile_of(code), np.random.default_rng(7), list[str]()
    every = np.array(list(itertools.product((0, 1), repeat=BITS)), dtype=np.uint8)
    words = encode_rows(every, profile)
    if words.shape[1] != profile.codeword_length or len(np.unique(words, axis=0)) < len(every):
        faults.append("words")
    a, b = rng.integers(0, len(every), (2, 40))
    if not np.array_equal(encode_rows(every[a] ^ every[b], profile), words[a] ^ words[b]):
        faults.append("linear")
    if any(not np.array_equal(encode(Payload.from_bits(every[n]), profile), words[n]) for n in a):
        faults.append("one by one")
    walk = make(profile)
    for _ in range(5):
        phi = rng.normal(0, 2, (profile.codeword_length, 8))
        read = np.stack([codeword_windows(word) for word in words])
        score = phi[np.arange(phi.shape[0]), read].sum(axis=1)
        best, value = walk.k_best(phi, 1)[0]
        if not np.array_equal(best, every[score.argmax()]) or not np.isclose(value, score.max()):
            faults.append("best")
        # log_sum is the log of the sum, or of the mean, over all payloads.
        whole = np.log(np.exp(score - score.max()).sum()) + score.max()
        if not np.isclose(walk.log_sum(phi[None])[0], whole):
            faults.append("sum")
    return faults


@pytest.mark.parametrize("code", CODES)
def test_the_code_is_linear_and_its_trellis_knows_all_its_words(code):
    assert faults_of(code) == []


class Wrong:
    """A trellis that is off: its sum by a third, or its best walk by one place."""

    def __init__(self, profile: Profile, fault: str) -> None:
        self._right, self._fault = make_trellis(profile), fault

    def k_best(self, phi: Any, k: int) -> Any:
        return self._right.k_best(phi, k + 1)[self._fault == "best" :]

    def log_sum(self, phi: Any) -> Any:
        return self._right.log_sum(phi) + (0.3 if self._fault == "sum" else 0.0)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("fault", ["best", "sum"])
def test_a_wrong_trellis_is_seen(code, fault):
    assert set(faults_of(code, lambda profile: Wrong(profile, fault))) == {fault}


ALL = np.arange(256)


def windows_of(profile, scale, seed=0, ruled_out=0.0):
    rng = np.random.default_rng(seed)
    trellis = make_trellis(profile)
    phi = scale * rng.standard_normal((trellis.codeword_length, 8))
    phi[rng.random(phi.shape) < ruled_out] = -np.inf
    return trellis.windows(phi[None])[0]


@pytest.mark.parametrize("bits", [9, 12, 13, 14, 15, 36])
@pytest.mark.parametrize(("scale", "ruled_out"), [(0.1, 0.0), (3.0, 0.0), (30.0, 0.0), (3.0, 0.1)])
def test_both_domains_agree(make_profile, bits, scale, ruled_out):
    windows = windows_of(make_profile(bits), scale, seed=bits, ruled_out=ruled_out)
    slow = np.logaddexp.reduce(trellis.closings(windows, ALL, np.logaddexp))
    chain = trellis.make_bridges(windows[None])[0]
    quick = trellis.log_return(chain)
    assert quick >= chain.floor
    assert quick == pytest.approx(slow, rel=1e-12)
    assert _safe_log_sum(windows) == pytest.approx(slow, rel=1e-12)
    states = state_posteriors(windows, ALL)
    posteriors = trellis.bit_posteriors(chain)
    np.testing.assert_allclose(posteriors, states[:, 1::2].sum(axis=1), rtol=0, atol=1e-11)


def test_where_underflow_can_be_felt_the_chain_says_so():
    """Two laps of the ring are free, one lap is not: 1500 nats are more than a float64 holds."""
    oldest, newest = np.arange(512) >> 8, np.arange(512) & 1
    windows = np.tile(np.where(oldest == newest, 0.0, -1500.0), (16, 1))
    windows[0] = np.where(oldest == newest, -1500.0, 0.0)
    chain = trellis.make_bridges(windows[None])[0]
    assert trellis.log_return(chain) < chain.floor
    assert trellis.bit_posteriors(chain) is None
    # Seven pairs of bits are free, the eighth pays once whichever of its four values it has.
    assert _safe_log_sum(windows) == pytest.approx(9 * np.log(2.0) - 1500.0, rel=1e-13)


def test_bounds_of_the_starts_hold_and_prune(make_profile):
    windows = windows_of(make_profile(36), 1.0)
    for plus in (np.maximum, np.logaddexp):
        _, bound = trellis.free_futures(windows, plus)
        closing = trellis.closings(windows, ALL, plus)
        assert (closing <= bound + 1e-9).all()
    best = trellis.closings(windows, ALL, np.maximum)
    assert best_starts(windows, 3).tolist() == np.argsort(-best)[:3].tolist()


@pytest.mark.parametrize("plus", [np.maximum, np.logaddexp])
def test_forward_and_backward_meet_everywhere(make_profile, plus):
    windows = windows_of(make_profile(9, 3), 2.0)
    starts = np.arange(8)
    homes = trellis.closings(windows, starts, plus)
    past = trellis.pasts(windows, starts, plus)
    future = trellis.futures(windows, starts, plus)
    for t in range(windows.shape[0] + 1):
        np.testing.assert_allclose(plus.reduce(past[t] + future[t], axis=0), homes, rtol=1e-12)


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


@pytest.mark.parametrize(("bits", "blocks"), [*SPC_SHAPES, *((n, None) for n in range(9, 13))])
@settings(exact, max_examples=25)
@given(make=potentials(), k=st.integers(1, 20))
def test_it_is_counting_through(everything, make_profile, bits, blocks, make, k):
    profile = make_profile(bits, blocks)
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


CODES = [(36, 4), (128, 8), (9, None), (36, None), (37, None), (39, None), (128, None)]
codes = pytest.mark.parametrize(("bits", "blocks"), CODES)


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
