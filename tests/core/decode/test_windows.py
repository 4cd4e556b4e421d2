"""Window potentials against sums step by step."""

import numpy as np
import pytest

from pura.decode.trellis import codeword_scores, codeword_windows, window_potentials


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
