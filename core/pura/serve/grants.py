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
from pura.keys.epochs import is_epoch
from pura.provenance.binding import BindingValue
from pura.scheme import MarkIdentity, Profile, pack, parse_payload

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
        epoch: The day, ISO week or month that the publisher's key is derived for, where its
            payloads are given again in each epoch; empty: marks of any. It counts where the key
            does.
    """

    profile: str
    bits: int
    first: int
    last: int
    key: str = ""
    epoch: str = ""

    def __post_init__(self) -> None:
        for fingerprint in (self.profile, *([self.key] if self.key else [])):
            if not is_hex(fingerprint, _FINGERPRINT_DIGITS):
                raise ValueError("profile and key of a grant are fingerprints of 16 hex digits")
        if self.epoch and not (self.key and is_epoch(self.epoch)):
            raise ValueError("the epoch of a grant is a day, ISO week or month of its key")
        if self.bits < 1 or not 0 <= self.first <= self.last < 1 << self.bits:
            raise ValueError("the payloads of a grant are not a range of its width")

    @classmethod
    def of_profile(
        cls, profile: Profile, span: str = "", *, key: str = "", epoch: str = ""
    ) -> Grant:
        """Return the grant of a profile's payloads.

        Args:
            profile: The profile.
            span: ``FROM..TO``: payloads as bits or in hex, or ``FIELD=FROM..TO`` with values of the
                first field of the layout, which the payload begins with; empty for all payloads.
            key: Fingerprint of the publisher's key; empty: any key of the detector.
            epoch: The day, ISO week or month that this key is derived for; empty: any.

        Raises:
            ServeError: The range cannot be read, or its field is not the first of the layout.
        """
        bits = profile.payload_bits
        if not span:
            return cls._between(profile, 0, (1 << bits) - 1, key, epoch)
        name, equals, ends = span.rpartition("=")
        low, dots, high = ends.partition("..")
        try:
            if not dots:
                raise ValueError("a range has two ends")
            if equals:
                first, last = _field_range(profile, name, low, high)
            else:
                first, last = (int(parse_payload(end, bits).text, 2) for end in (low, high))
            return cls._between(profile, first, last, key, epoch)
        except (PayloadError, ValueError):
            raise ServeError("serve.range", span=span[:80], code="usage") from None

    @classmethod
    def _between(cls, profile: Profile, first: int, last: int, key: str, epoch: str) -> Grant:
        return cls(
            profile=profile.fingerprint,
            bits=profile.payload_bits,
            first=first,
            last=last,
            key=key,
            epoch=epoch,
        )

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Grant:
        """Read a grant as the file of tokens has it.

        Raises:
            ValueError: It is none.
            TypeError: A part is missing or of another type.
        """
        return cls(**data)

    def admits(self, value: BindingValue, mark: MarkIdentity | None = None) -> bool:
        """Whether a value of a soft binding is one of these payloads of this profile.

        Args:
            value: The value; it names profile and payload.
            mark: What was read in the text; None where there is nothing but the value.
        """
        return (
            len(value.profile) > 0
            and self.profile.startswith(value.profile)
            and len(value.payload) == self.bits
            and self.first <= int(value.payload, 2) <= self.last
            and (mark is None or self._is_of(mark))
        )

    def _is_of(self, mark: MarkIdentity) -> bool:
        """Whether a mark is of the key and the epoch that are granted."""
        return self.key in ("", mark.key) and self.epoch in ("", mark.epoch)


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


def admitted(
    grants: Iterable[Grant], value: BindingValue, mark: MarkIdentity | None = None
) -> bool:
    """Whether one of several grants admits a value; see :meth:`Grant.admits`."""
    return any(grant.admits(value, mark) for grant in grants)
