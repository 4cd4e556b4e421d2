"""The identity of a mark: its key, the epoch of the key, its profile and its payload.

A payload alone identifies nobody: number 417 under one key and number 417 under another are two
marks. Every look-up of a recipient therefore takes a :class:`MarkIdentity`, and no function takes
only bits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from pura.scheme.keys import SecretKey
from pura.scheme.payload import Payload
from pura.scheme.profile import Profile

_FINGERPRINT: Final = re.compile(r"[0-9a-f]{16}")
_EPOCH: Final = re.compile(r"|[0-9]{4}-(W[0-9]{2}|[0-9]{2}(-[0-9]{2})?)")


@dataclass(frozen=True, kw_only=True)
class PayloadSeries:
    """The payloads of one key, epoch and profile, which could be confused with each other.

    Within a series every payload is issued only once. Equal payloads of different series are not
    related.

    Attributes:
        key: Fingerprint of the secret key, 16 hexadecimal digits. If the marking key was derived
            for an epoch, the fingerprint of the key that it was derived from.
        epoch: Day ``2026-11-28``, ISO week ``2026-W48`` or month ``2026-11`` that the marking key
            was derived for; empty if it was not derived for an epoch.
        profile: Fingerprint of the profile, 16 hexadecimal digits.
    """

    key: str
    epoch: str = ""
    profile: str

    def __post_init__(self) -> None:
        for name in ("key", "profile"):
            if not _FINGERPRINT.fullmatch(getattr(self, name)):
                raise ValueError(f"the {name} of a mark is not a fingerprint of 16 hex digits")
        if not _EPOCH.fullmatch(self.epoch):
            raise ValueError("the epoch of a mark is no day, ISO week or month")

    @classmethod
    def of(cls, key: SecretKey, profile: Profile) -> PayloadSeries:
        """Return the series of texts that are marked with a key under a profile."""
        origin = key.origin
        if origin is None:
            return cls(key=key.fingerprint, profile=profile.fingerprint)
        return cls(key=origin.parent, epoch=origin.epoch, profile=profile.fingerprint)

    def mark(self, payload: Payload) -> MarkIdentity:
        """Return the mark of this series that carries a payload."""
        return MarkIdentity(key=self.key, epoch=self.epoch, profile=self.profile, payload=payload)


@dataclass(frozen=True, kw_only=True)
class MarkIdentity(PayloadSeries):
    """The complete identity of a mark.

    Attributes:
        payload: The bits that the text carries.
    """

    payload: Payload

    @property
    def series(self) -> PayloadSeries:
        """The series of payloads with the same key, epoch and profile."""
        return PayloadSeries(key=self.key, epoch=self.epoch, profile=self.profile)

    def with_payload(self, payload: Payload) -> MarkIdentity:
        """Return the mark of the same key, epoch and profile that carries another payload."""
        return self.series.mark(payload)
