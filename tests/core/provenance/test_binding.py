"""The value of a soft binding."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pura.base.errors import PayloadError
from pura.provenance.binding import binding_value, binding_values, former_binding_value

PROFILE = "00a1b2c3d4e5f607"
payloads = st.text("01", min_size=1, max_size=255)


@given(payloads, st.integers(0, 2**64 - 1).map("{:016x}".format))
def test_a_value_names_its_payload_and_its_profile(payload: str, profile: str) -> None:
    said = binding_values(binding_value(payload, profile))[0]
    assert (said.payload, said.profile) == (payload, profile[:8])
    assert said.names(payload, profile)
    assert not said.names(payload + "0", profile)
    other = f"{int(profile, 16) ^ 1 << 63:016x}"
    assert not said.names(payload, other)


def test_the_bytes_are_profile_width_and_payload() -> None:
    value = binding_value("000110100001", PROFILE)
    assert base64.b64decode(value) == bytes.fromhex("00a1b2c3 0c 01a1")


@given(payloads, payloads)
def test_a_value_of_the_former_form_is_still_taken(payload: str, other: str) -> None:
    said = binding_values(former_binding_value(payload))[-1]
    assert said.names(payload, PROFILE)
    assert said.names(other, PROFILE) <= (int(other, 2) == int(payload, 2))


@pytest.mark.parametrize("value", ["", "*", "a", "AA=A"])
def test_what_is_no_value_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="base64"):
        binding_values(value)


@pytest.mark.parametrize("payload", ["", "012", "0" * 256])
def test_what_is_no_payload_has_no_value(payload: str) -> None:
    with pytest.raises(PayloadError):
        binding_value(payload, PROFILE)
