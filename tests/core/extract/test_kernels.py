"""The kernels' integrals against quadrature, and their behaviour where rounding bites."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pura.extract.kernels import circular_distance, hard_vote, kernel_overlap, kernel_value

SMOOTH = ("box", "cosine", "triangular", "epanechnikov", "biweight")
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
    mass = {"box": 2, "cosine": 1, "triangular": 1, "epanechnikov": 4 / 3, "biweight": 16 / 15}
    anchors = np.linspace(0, 1, 17, endpoint=False)
    got = kernel_overlap(kernel, np.array(0.0), np.array(1.0), anchors, 0.0625)
    np.testing.assert_allclose(got, mass[kernel] * 0.0625, rtol=1e-12)


def test_hard_vote_goes_round_the_circle():
    anchors = np.array([[0.02, 0.27, 0.52, 0.77]])
    assert hard_vote(np.array([0.96]), np.array([0.98]), anchors).tolist() == [[1, 0, 0, 0]]
    assert hard_vote(np.array([0.5]), np.array([0.6]), anchors).tolist() == [[0, 0, 1, 0]]


def test_unknown_kernel_is_refused():
    with pytest.raises(KeyError):
        kernel_overlap("gauss", np.array(0.1), np.array(0.2), np.array(0.1), 0.1)
    with pytest.raises(KeyError):
        kernel_value("gauss", np.array(0.1), 0.1)
