"""The value that links a mark and a manifest, and the fingerprint of a text."""

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
"""Reasons for which a manifest is not relied on at all."""
FINGERPRINT: Final = "com.writerslogic.text-fingerprint.1"
"""Name of the 256-bit text fingerprint in C2PA's list of algorithms."""
_FINGERPRINT_BYTES: Final = 32


@dataclass(frozen=True, kw_only=True)
class BindingValue:
    """The meaning of a soft binding's value.

    Attributes:
        profile: First 8 hex digits of the profile's fingerprint; empty in the form of version 0.3,
            which names no profile.
        payload: Characters 0 and 1; in the form of version 0.3, padded with zeros to full bytes.
    """

    profile: str
    payload: str

    def names(self, payload: str, profile: str) -> bool:
        """Return whether this value names a payload under a profile's fingerprint."""
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
        PayloadError: The payload is invalid.
    """
    from pura.scheme import Payload  # NumPy, which no page of help waits for

    Payload(text=payload)
    if len(payload) >> _BYTE:
        raise PayloadError("payload.form")
    head = bytes.fromhex(profile)[:_PROFILE_BYTES] + bytes([len(payload)])
    return base64.b64encode(head + _packed(payload)).decode()


def former_binding_value(payload: str) -> str:
    """Return the value of a payload in the form of version 0.3, without profile and width."""
    return base64.b64encode(_packed(payload)).decode()


def binding_values(value: str) -> tuple[BindingValue, ...]:
    """Return the possible meanings of a value: in the present form, if valid, and in that of 0.3.

    Raises:
        ValueError: The value is not base64, or is empty.
    """
    try:
        decoded = base64.b64decode(value, validate=True)
    except binascii.Error:
        raise ValueError("base64") from None
    if not decoded:
        raise ValueError("base64")
    readings = [BindingValue(profile="", payload=_unpacked(decoded, _BYTE * len(decoded)))]
    if len(decoded) > _HEAD_BYTES:
        width, body = decoded[_PROFILE_BYTES], decoded[_HEAD_BYTES:]
        number = int.from_bytes(body, "big")
        if width and len(body) == -(-width // _BYTE) and not number >> width:
            profile = decoded[:_PROFILE_BYTES].hex()
            readings.insert(0, BindingValue(profile=profile, payload=_unpacked(body, width)))
    return tuple(readings)


def compared(
    manifests: Sequence[ManifestFacts], payloads: Sequence[str], profile: str
) -> tuple[ManifestFacts, ...]:
    """Return manifests with the result of comparing each with the marks of a text.

    Args:
        manifests: Manifests of a text.
        payloads: Identified payloads of its marks.
        profile: The profile's fingerprint.
    """

    def binding(manifest: ManifestFacts) -> str:
        if manifest.why in _UNRELIABLE:
            return ABSENT
        if manifest.elsewhere:
            return DIFFERS
        if not manifest.values or not payloads:
            return ABSENT
        values = [value for text in manifest.values for value in binding_values(text)]
        return AGREES if any(v.names(p, profile) for v in values for p in payloads) else DIFFERS

    return tuple(replace(manifest, soft_binding=binding(manifest)) for manifest in manifests)


def stated(audit: Audit, manifests: Sequence[ManifestFacts]) -> Audit:
    """Return a record with the manifests of its text and the binding values of its marks."""
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
        text: The text, without manifests and without lone surrogates.
    """
    try:
        import c2pa_text_binding
    except ImportError:
        return ""
    return str(c2pa_text_binding.text_fingerprint(text))


def fingerprint_of(value: object) -> str:
    """Convert a fingerprint in a manifest to 64 hex digits.

    Args:
        value: Hex digits, as the algorithm's authors write it, base64, as in C2PA, or bytes.

    Raises:
        ValueError: The value is not a fingerprint.
    """
    if isinstance(value, str):
        hexadecimal = len(value) == 2 * _FINGERPRINT_BYTES
        value = bytes.fromhex(value) if hexadecimal else base64.b64decode(value, validate=True)
    if not isinstance(value, bytes) or len(value) != _FINGERPRINT_BYTES:
        raise ValueError("fingerprint")
    return value.hex()


def bits_apart(first: str, second: str) -> int:
    """Return how many bits of two fingerprints differ, about 101 of 256 for unrelated texts."""
    return (int(first, 16) ^ int(second, 16)).bit_count()


def _packed(payload: str) -> bytes:
    return int(payload, 2).to_bytes(-(-len(payload) // _BYTE), "big")


def _unpacked(packed: bytes, width: int) -> str:
    return f"{int.from_bytes(packed, 'big'):0{width}b}"
