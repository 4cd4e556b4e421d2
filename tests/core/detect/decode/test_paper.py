"""The published decoder: sums, erasures, repair."""

import numpy as np
import pytest

from pura.detect.decode.paper import decode, repair_parities, sum_llrs
from pura.detect.local.evidence import LocalEvidence
from pura.scheme import Payload, Profile, Schedule, encode

SPC = Profile(payload_bits=12, blocks=3, vocab_size=50)
TBCC = Profile(payload_bits=12, code="tbcc", vocab_size=50)


def steps(index, arity, llr):
    llr = np.asarray(llr, dtype=np.float64).reshape(-1, 3)
    weights = np.full((llr.shape[0], 8), np.nan)
    plan = Schedule(
        token=np.arange(llr.shape[0]),
        arity=np.array(arity, dtype=np.int64),
        phase=np.zeros(llr.shape[0]),
        index=np.array(index, dtype=np.int64),
        gate=np.zeros(llr.shape[0], dtype=np.uint8),
    )
    return plan, LocalEvidence(weights=weights, llr_nats=llr)


def from_codeword(codeword, strength):
    sign = np.where(codeword == 1, strength, -strength)
    llr = np.full((codeword.size, 3), np.nan)
    llr[:, 0] = sign
    return steps(np.arange(codeword.size), np.ones(codeword.size), llr)


def test_sums_go_round_the_ring():
    plan, local = steps([13, 13], [3, 1], [[1.0, 2.0, 4.0], [0.5, np.nan, np.nan]])
    sums, readings = sum_llrs(plan.index, plan.arity, local.llr_nats, 15)
    assert sums[[13, 14, 0]].tolist() == [1.5, 2.0, 4.0]
    assert readings[[13, 14, 0]].tolist() == [2, 1, 1]
    assert readings.sum() == 4


def test_steps_of_a_ring_shorter_than_the_arity_all_count():
    plan, local = steps([1], [3], [[1.0, 2.0, 4.0]])
    sums, readings = sum_llrs(plan.index, plan.arity, local.llr_nats, 2)
    assert sums.tolist() == [2.0, 5.0]
    assert readings.tolist() == [1, 2]


def test_repair_flips_the_least_reliable_bit_once():
    llr = np.array([3.0, -0.1, 2.0, -5.0])
    bits = np.array([1, 0, 1, 1], dtype=np.uint8)
    repair_parities(llr, bits, 1)
    assert bits.tolist() == [1, 1, 1, 1]
    repair_parities(llr, bits, 1)
    assert bits.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("profile", [SPC, TBCC], ids=["spc", "tbcc"])
def test_one_weak_error_is_repaired(profile):
    payload = Payload(text="011010111001")
    codeword = encode(payload, profile)
    for wrong in range(codeword.size):
        plan, local = from_codeword(codeword, 4.0)
        local.llr_nats[wrong, 0] *= -0.1
        got = decode(plan, local, profile)
        assert got.payload == payload
        assert np.flatnonzero(got.repaired).tolist() == [wrong]
        assert got.method == ("parity-repair" if profile is SPC else "bitwise")


def test_positions_never_read_are_erasures():
    codeword = encode(Payload(text="000000000000"), SPC)
    plan, local = steps(np.arange(1, 15), np.ones(14), [[-2.0, np.nan, np.nan]] * 14)
    got = decode(plan, local, SPC)
    assert got.erased.tolist() == [True] + [False] * 14
    assert got.llr_nats[0] == 0.0
    assert got.hard_bits[0] == 1
    # The parity fills the gap; nothing that was read had to be repaired.
    assert got.codeword.tolist() == codeword.tolist()
    assert not got.repaired.any()


@pytest.mark.parametrize("profile", [SPC, TBCC], ids=["spc", "tbcc"])
def test_nothing_read_is_all_erasures(profile):
    plan, local = steps([], [], np.zeros((0, 3)))
    got = decode(plan, local, profile)
    assert got.erased.all()
    assert not got.repaired.any()
    assert np.abs(got.llr_nats).max() == 0.0
    assert len(got.payload) == 12
