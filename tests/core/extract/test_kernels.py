"""The kernels' integrals against quadrature, and their behaviour where rounding bites."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pura.extract import local
from pura.extract.local import (
    FORMS,
    Kernel,
    circular_distance,
    hard_vote,
    kernel_overlap,
    kernel_value,
)
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


def test_every_kernel_of_a_profile_has_a_form_and_is_one() -> None:
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
def test_a_wrong_kernel_is_seen(wrong: Kernel, fault: str, monkeypatch) -> None:
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
