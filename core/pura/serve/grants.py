"""Which values of soft bindings a publisher may bind: payloads of its own profiles.

Several publishers share a detector. What one of them binds, an asker takes for the issuer's own
statement. The operator therefore says for each token whose values they are; without a grant a
publisher binds nothing, and what it bound earlier is not found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pura.base.errors import PayloadError, ServeError
from pura.base.json_text import is_hex
from pura.provenance.binding import BindingValue
from pura.scheme import Profile, pack, parse_payload

_FINGERPRINT_DIGITS: Final = 16


@dataclass(frozen=True, kw_only=True)
class Grant:
    """A range of payloads of one profile.

    Attributes:
        profile: Fingerprint of the profile, 16 hex digits.
        bits: Width of its payloads.
        first: The least payload, as a number.
        last: The greatest payload.
        key: Fingerprint of the publisher's key, of the one that its keys of epochs were derived
            from; empty: marks under any key of the detector. The value of a soft binding names no
            key, so a key counts only where the detector has read the text itself.
    """

    profile: str
    bits: int
    first: int
    last: int
    key: str = ""

    def __post_init__(self) -> None:
        for fingerprint in (self.profile, *([self.key] if self.key else [])):
            if not is_hex(fingerprint, _FINGERPRINT_DIGITS):
                raise ValueError("profile and key of a grant are fingerprints of 16 hex digits")
        if self.bits < 1 or not 0 <= self.first <= self.last < 1 << self.bits:
            raise ValueError("the payloads of a grant are not a range of its width")

    @classmethod
    def of_profile(cls, profile: Profile, span: str = "", *, key: str = "") -> Grant:
        """Return the grant of a profile's payloads.

        Args:
            profile: The profile.
            span: ``FROM..TO``: payloads as bits or in hex, or ``FIELD=FROM..TO`` with values of the
                first field of the layout, which the payload begins with; empty for all payloads.
            key: Fingerprint of the publisher's key; empty: any key of the detector.

        Raises:
            ServeError: The range cannot be read, or its field is not the first of the layout.
        """
        bits = profile.payload_bits
        if not span:
            last = (1 << bits) - 1
            return cls(profile=profile.fingerprint, bits=bits, first=0, last=last, key=key)
        name, equals, ends = span.rpartition("=")
        low, dots, high = ends.partition("..")
        try:
            if not dots:
                raise ValueError("a range has two ends")
            if equals:
                first, last = _field_range(profile, name, low, high)
            else:
                first, last = (int(parse_payload(end, bits).text, 2) for end in (low, high))
            return cls(profile=profile.fingerprint, bits=bits, first=first, last=last, key=key)
        except (PayloadError, ValueError):
            raise ServeError("serve.range", span=span[:80], code="usage") from None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Grant:
        """Read a grant as the file of tokens has it.

        Raises:
            ValueError: It is none.
            TypeError: A part is missing or of another type.
        """
        return cls(**data)

    def admits(self, value: BindingValue, *, key: str = "") -> bool:
        """Whether a value of a soft binding is one of these payloads of this profile.

        Args:
            value: The value; it names profile and payload.
            key: Fingerprint of the key that the mark was read with; empty where there is nothing
                but the value.
        """
        return (
            len(value.profile) > 0
            and self.profile.startswith(value.profile)
            and len(value.payload) == self.bits
            and self.first <= int(value.payload, 2) <= self.last
            and not (key and self.key and key != self.key)
        )


def _field_range(profile: Profile, name: str, low: str, high: str) -> tuple[int, int]:
    """Return the payloads that begin with a range of values of the layout's first field.

    Raises:
        ValueError: The layout begins with another field.
        PayloadError: A value is none of the field.
    """
    if not profile.fields or profile.fields[0].name != name:
        raise ValueError("only the first field makes a range of payloads")
    leading = profile.fields[0]
    rest = profile.payload_bits - leading.bits
    first, last = (int(pack([leading], {name: end}).text, 2) for end in (low, high))
    return first << rest, ((last + 1) << rest) - 1


def admitted(grants: Iterable[Grant], value: BindingValue, *, key: str = "") -> bool:
    """Whether one of several grants admits a value; see :meth:`Grant.admits`."""
    return any(grant.admits(value, key=key) for grant in grants)
