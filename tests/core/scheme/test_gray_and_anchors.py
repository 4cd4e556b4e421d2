"""Gray labels and anchors: neighbours differ in one bit, and the sectors nest."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pura.scheme import Gate, Step, anchor, anchors
from pura.scheme.gray import MAX_ARITY, label, label_bits, sector_of

ARITIES = range(1, MAX_ARITY + 1)


@pytest.mark.parametrize("arity", ARITIES)
def test_labels_and_sectors_undo_each_other(arity):
    rows = label_bits(arity)
    assert rows.shape == (2**arity, arity)
    for sector, bits in enumerate(rows):
        assert sector_of(bits.tolist()) == sector
        assert int("".join(map(str, bits)), 2) == label(sector)
    assert len({tuple(r) for r in rows.tolist()}) == 2**arity


@pytest.mark.parametrize("arity", ARITIES)
def test_neighbours_differ_in_one_bit_round_the_circle(arity):
    rows = label_bits(arity)
    changed = (rows != np.roll(rows, 1, axis=0)).sum(axis=1)
    assert changed.tolist() == [1] * 2**arity


@pytest.mark.parametrize("arity", ARITIES[1:])
def test_sectors_nest(arity):
    """Dropping the last bit gives the sector of the lower arity: ``S >> 1``."""
    for bits in itertools.product((0, 1), repeat=arity):
        assert sector_of(bits[:-1]) == sector_of(bits) >> 1


def test_labels_cannot_be_written_over():
    with pytest.raises(ValueError, match="read-only"):
        label_bits(2)[0, 0] = 1


@given(st.floats(0, 1, exclude_max=True), st.sampled_from(list(ARITIES)))
def test_anchors_of_one_step_and_of_many_are_the_same(phase, arity):
    step = Step(arity, phase, 0, Gate.CARRIES)
    rows = anchors(np.array([phase]), arity)
    assert rows.shape == (1, 2**arity)
    single = [anchor(step, s) for s in range(2**arity)]
    assert rows[0].tolist() == single
    assert all(0 <= a < 1 for a in single)
    gaps = np.diff(np.sort([*single, min(single) + 1]))
    assert gaps == pytest.approx(np.full(2**arity, 2.0**-arity), abs=1e-12)


@given(st.floats(0, 1, exclude_max=True), st.integers(0, 7))
def test_a_step_read_one_arity_too_low_is_off_by_a_sixteenth(phase, sector):
    fine = anchor(Step(3, phase, 0, Gate.CARRIES), sector)
    coarse = anchor(Step(2, phase, 0, Gate.CARRIES), sector >> 1)
    gap = abs(fine - coarse)
    assert min(gap, 1 - gap) == pytest.approx(1 / 16, abs=1e-12)
