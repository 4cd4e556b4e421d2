"""Keys: formats, fingerprints, the keyed functions, and that the secret never shows."""

import copy
import pickle
from hashlib import blake2b, shake_256

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pura.base.errors import KeyFormatError
from pura.scheme import SecretKey, ranks, unit_interval

CANARY = bytes(range(200, 232))


def test_hex_there_and_back():
    key = SecretKey(CANARY)
    assert SecretKey.from_hex(f"  {key.to_hex().upper()}\n") == key
    assert key.to_hex() == CANARY.hex()


@pytest.mark.parametrize(
    "text",
    ["", "ab" * 31, "ab" * 33, "zz" * 32, CANARY.hex()[:-1] + "g", "ab " * 21 + "a", "é" * 64],
)
def test_damaged_keys_are_refused_and_never_repeated(text):
    with pytest.raises(KeyFormatError) as caught:
        SecretKey.from_hex(text)
    if text:
        assert text not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("size", [0, 1, 31, 33, 64])
def test_a_key_has_32_bytes(size):
    with pytest.raises(KeyFormatError, match="32 bytes"):
        SecretKey(bytes(size))


def test_fresh_keys_differ():
    assert len({SecretKey.generate().fingerprint for _ in range(50)}) == 50


def test_the_secret_never_shows():
    key = SecretKey(CANARY)
    for text in (repr(key), str(key), f"{key}", f"{key!r:>40}", repr([key]), repr({"k": key})):
        assert CANARY.hex() not in text
        assert key.fingerprint in text
    for copying in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="not pickled"):
            copying(key)


def test_keys_are_compared_and_hashed_by_their_bytes():
    assert SecretKey(CANARY) == SecretKey(bytearray(CANARY))
    assert SecretKey(CANARY) != SecretKey(CANARY[::-1])
    assert SecretKey(CANARY) != CANARY
    assert len({SecretKey(CANARY), SecretKey(CANARY)}) == 1


def test_a_wiped_key_is_of_no_use():
    key = SecretKey(CANARY)
    fingerprint = key.fingerprint
    key.wipe()
    for use in (
        key.to_hex,
        lambda: key.prf(b"pura1-seed", b"x"),
        lambda: key.vocabulary_order(5),
    ):
        with pytest.raises(KeyFormatError, match="wiped"):
            use()
    assert key.fingerprint == fingerprint
    key.wipe()  # twice does no harm


def test_wiping_leaves_the_callers_bytes_alone():
    mine = bytearray(CANARY)
    SecretKey(mine).wipe()
    assert mine == CANARY


@given(st.binary(min_size=32, max_size=32), st.binary(max_size=40))
def test_keyed_functions_are_those_of_the_scheme(secret, context):
    key = SecretKey(secret)
    digest = blake2b(context, key=secret, person=b"pura1-index", digest_size=16).digest()
    assert key.prf(b"pura1-index", context) == int.from_bytes(digest, "little")
    named = blake2b(key=secret, person=b"pura1-fprint", digest_size=8).hexdigest()
    assert key.fingerprint == named


@given(st.integers(0, 2**128 - 1))
def test_the_unit_interval_takes_the_top_53_bits_exactly(value):
    u = unit_interval(value)
    assert 0 <= u < 1
    assert u * 2**53 == value >> 75


def test_the_largest_phase_stays_below_one():
    assert unit_interval(2**128 - 1) == 1 - 2**-53


@given(st.binary(min_size=32, max_size=32), st.integers(1, 300))
def test_the_secret_order_is_the_schemes_permutation(secret, size):
    order = SecretKey(secret).vocabulary_order(size)
    stream = shake_256(b"pura1-perm" + secret + size.to_bytes(8, "little")).digest(8 * size)
    draws = [int.from_bytes(stream[8 * i : 8 * i + 8], "little") for i in range(size)]
    assert order.tolist() == sorted(range(size), key=lambda i: (draws[i], i))
    assert order.dtype == np.int64
    inverse = ranks(order)
    assert (inverse[order] == np.arange(size)).all()
    assert (order[inverse] == np.arange(size)).all()


def test_the_order_depends_on_key_and_size():
    a, b = SecretKey(CANARY), SecretKey(CANARY[::-1])
    assert a.vocabulary_order(100).tolist() != b.vocabulary_order(100).tolist()
    assert a.vocabulary_order(101)[:100].tolist() != a.vocabulary_order(100).tolist()
