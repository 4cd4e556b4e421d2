"""Payloads and codes: what fits, and that every payload has a codeword of its own."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pura.base.errors import PayloadError
from pura.scheme import Payload, Profile, encode, parity_mask, spc_data_positions
from pura.scheme.payload import TBCC_GENERATORS


def spc(bits, blocks):
    return Profile(payload_bits=bits, vocab_size=50, blocks=blocks)


def tbcc(bits):
    return Profile(payload_bits=bits, vocab_size=50, code="tbcc")


@given(st.integers(1, 300), st.data())
def test_numbers_bits_and_text_are_one_payload(length, data):
    value = data.draw(st.integers(0, 2**length - 1))
    payload = Payload.from_int(value, length)
    assert int(payload) == value
    assert len(payload) == length
    assert Payload.from_bits(payload.array) == payload
    assert int(payload.hex, 16) == value
    assert len(payload.hex) == 2 + (length + 3) // 4
    assert payload.array.dtype == np.uint8
    assert not payload.array.flags.writeable


@pytest.mark.parametrize("text", ["", "2", "01 1", "0b1", "٠١", "-1"])
def test_what_is_no_payload_is_refused(text):
    with pytest.raises(PayloadError):
        Payload(text=text)


@pytest.mark.parametrize(("value", "length"), [(-1, 4), (16, 4), (2**128, 128)])
def test_numbers_that_do_not_fit_are_refused(value, length):
    with pytest.raises(PayloadError, match="does not fit"):
        Payload.from_int(value, length)


@pytest.mark.parametrize("profile", [spc(12, 3), tbcc(12)])
@pytest.mark.parametrize("length", [11, 13, 1])
def test_a_payload_of_another_length_is_refused(profile, length):
    with pytest.raises(PayloadError, match="12"):
        encode(Payload.from_int(0, length), profile)


@given(st.sampled_from([(12, 3), (36, 4), (7, 1), (5, 5), (24, 2)]), st.data())
def test_spc_puts_the_parity_after_each_block(shape, data):
    bits, blocks = shape
    profile = spc(bits, blocks)
    payload = Payload.from_int(data.draw(st.integers(0, 2**bits - 1)), bits)
    codeword = encode(payload, profile)
    assert codeword.size == profile.codeword_length == bits + blocks
    rows = codeword.reshape(blocks, -1)
    assert (rows.sum(axis=1) % 2 == 0).all()
    assert codeword[spc_data_positions(profile)].tolist() == payload.array.tolist()
    assert codeword[parity_mask(profile)].tolist() == rows[:, -1].tolist()


@given(st.integers(9, 140), st.data())
def test_tbcc_follows_its_definition_term_by_term(bits, data):
    payload = Payload.from_int(data.draw(st.integers(0, 2**bits - 1)), bits)
    codeword = encode(payload, tbcc(bits))
    assert codeword.size == 3 * bits
    assert not parity_mask(tbcc(bits)).any()
    m = payload.array.tolist()
    for s, generator in enumerate(TBCC_GENERATORS):
        taps = [int(b) for b in format(generator, "07b")]  # most significant bit = current bit
        for j in range(bits):
            expected = sum(taps[d] * m[(j - d) % bits] for d in range(7)) % 2
            assert codeword[s * bits + j] == expected


@pytest.mark.parametrize("bits", [9, 10, 12])
def test_tbcc_gives_every_payload_its_own_codeword(bits):
    codewords = {encode(Payload.from_int(v, bits), tbcc(bits)).tobytes() for v in range(2**bits)}
    assert len(codewords) == 2**bits


@given(st.integers(9, 64), st.data())
def test_tbcc_is_linear(bits, data):
    values = [data.draw(st.integers(0, 2**bits - 1)) for _ in range(2)]
    a, b = (encode(Payload.from_int(v, bits), tbcc(bits)) for v in values)
    both = encode(Payload.from_int(values[0] ^ values[1], bits), tbcc(bits))
    assert (a ^ b).tolist() == both.tolist()


def test_tbcc_spreads_each_bit_over_fifteen_positions():
    weights = [int(encode(Payload.from_int(1 << i, 36), tbcc(36)).sum()) for i in range(36)]
    assert weights == [sum(g.bit_count() for g in TBCC_GENERATORS)] * 36


def test_spc_gives_every_payload_its_own_codeword():
    words = {
        encode(Payload.from_bits(bits), spc(6, 2)).tobytes()
        for bits in itertools.product((0, 1), repeat=6)
    }
    assert len(words) == 64
