"""The value by which a mark and a manifest name each other, and the text's fingerprint."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pura.base.errors import PayloadError
from pura.record.provenance import ABSENT, AGREES, DIFFERS, ManifestFacts

if TYPE_CHECKING:
    from pura.record.audit import Audit

_PROFILE_BYTES: Final = 4
_HEAD_BYTES: Final = _PROFILE_BYTES + 1
_BYTE: Final = 8
_UNRELIABLE: Final = ("broken", "damaged")
"""Manifests of which nothing is relied on."""
FINGERPRINT: Final = "com.writerslogic.text-fingerprint.1"
"""The registered fingerprint of a text, 256 bits, as C2PA's list of algorithms names it."""
_FINGERPRINT_BYTES: Final = 32


@dataclass(frozen=True, kw_only=True)
class BindingValue:
    """What a soft binding's value says.

    Attributes:
        profile: First 8 hex digits of the profile's fingerprint; empty in the form of 0.3, which
            names none.
        payload: Characters 0 and 1; in the form of 0.3 with zeros in front up to whole bytes.
    """

    profile: str
    payload: str

    def names(self, payload: str, profile: str) -> bool:
        """Whether this is the value of a payload under a profile's fingerprint."""
        if not self.profile:
            return int(self.payload, 2) == int(payload, 2) and len(payload) <= len(self.payload)
        return self.payload == payload and profile.startswith(self.profile)


def binding_value(payload: str, profile: str) -> str:
    """Return a payload as the value of a soft binding.

    Base64 of the first 4 bytes of the profile's fingerprint, the width in bits (1 byte), and the
    payload, big-endian.

    Args:
        payload: Characters 0 and 1, at most 255.
        profile: The profile's fingerprint, 16 hex digits.

    Raises:
        PayloadError: The payload has another form.
    """
    from pura.scheme import Payload  # NumPy, which no page of help waits for

    Payload(text=payload)
    if len(payload) >> _BYTE:
        raise PayloadError("payload.form")
    head = bytes.fromhex(profile)[:_PROFILE_BYTES] + bytes([len(payload)])
    return base64.b64encode(head + _packed(payload)).decode()


def former_binding_value(payload: str) -> str:
    """Return the value that 0.3 gave a payload: without profile and width."""
    return base64.b64encode(_packed(payload)).decode()


def binding_values(value: str) -> tuple[BindingValue, ...]:
    """Return what a value can say: the present form if it is one, and that of 0.3.

    Raises:
        ValueError: It is no base64, or empty.
    """
    try:
        data = base64.b64decode(value, validate=True)
    except binascii.Error:
        raise ValueError("base64") from None
    if not data:
        raise ValueError("base64")
    found = [BindingValue(profile="", payload=_unpacked(data, _BYTE * len(data)))]
    if len(data) > _HEAD_BYTES:
        width, body = data[_PROFILE_BYTES], data[_HEAD_BYTES:]
        number = int.from_bytes(body, "big")
        if width and len(body) == -(-width // _BYTE) and not number >> width:
            profile = data[:_PROFILE_BYTES].hex()
            found.insert(0, BindingValue(profile=profile, payload=_unpacked(body, width)))
    return tuple(found)


def compared(
    manifests: Sequence[ManifestFacts], payloads: Sequence[str], profile: str
) -> tuple[ManifestFacts, ...]:
    """Say of each manifest whether it names one of the marks.

    Args:
        manifests: Those that came with a text.
        payloads: Identified payloads of its marks.
        profile: The profile's fingerprint.
    """

    def binding(one: ManifestFacts) -> str:
        if one.why in _UNRELIABLE:
            return ABSENT
        if one.elsewhere:
            return DIFFERS
        if not one.values or not payloads:
            return ABSENT
        said = [value for text in one.values for value in binding_values(text)]
        return AGREES if any(v.names(p, profile) for v in said for p in payloads) else DIFFERS

    return tuple(replace(one, soft_binding=binding(one)) for one in manifests)


def stated(audit: Audit, manifests: Sequence[ManifestFacts]) -> Audit:
    """Return a record with the manifests that came with the text, and what names its marks."""
    payloads = [bits for mark in audit.named_marks if (bits := mark.payload.bits) is not None]
    profile = audit.profile.fingerprint
    return replace(
        audit,
        provenance=compared(manifests, payloads, profile),
        bindings=tuple(dict.fromkeys(binding_value(bits, profile) for bits in payloads)),
    )


def text_fingerprint(text: str) -> str:
    """Return the registered fingerprint of a text, 64 hex digits; empty without the extra.

    Args:
        text: Without manifests, and without lone surrogates.
    """
    try:
        import c2pa_text_binding
    except ImportError:
        return ""
    return str(c2pa_text_binding.text_fingerprint(text))


def fingerprint_of(value: object) -> str:
    """Return a fingerprint that somebody states, as 64 hex digits.

    Args:
        value: Hex digits, as its makers write it, base64, as C2PA does, or bytes.

    Raises:
        ValueError: It is none.
    """
    if isinstance(value, str):
        hexadecimal = len(value) == 2 * _FINGERPRINT_BYTES
        value = bytes.fromhex(value) if hexadecimal else base64.b64decode(value, validate=True)
    if not isinstance(value, bytes) or len(value) != _FINGERPRINT_BYTES:
        raise ValueError("fingerprint")
    return value.hex()


def bits_apart(one: str, other: str) -> int:
    """Return in how many bits two fingerprints differ: 0 to 256, about 101 for unrelated texts."""
    return (int(one, 16) ^ int(other, 16)).bit_count()


def _packed(payload: str) -> bytes:
    return int(payload, 2).to_bytes(-(-len(payload) // _BYTE), "big")


def _unpacked(data: bytes, width: int) -> str:
    return f"{int.from_bytes(data, 'big'):0{width}b}"
