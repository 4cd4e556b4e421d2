"""The value that names a mark: which key, which epoch of it, which profile, which payload.

A payload alone names nobody: number 417 under one key and number 417 under another are two marks.
Every look-up of a recipient therefore takes a :class:`MarkIdentity`, and no function takes bits.
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
    """Payloads that could be taken for each other: those of one key, epoch and profile.

    Within a series every payload is issued once; between series a payload means nothing.

    Attributes:
        key: Fingerprint of the secret key, 16 hexadecimal digits. Where the marking key was derived
            for an epoch, that of the key it was derived from.
        epoch: Day ``2026-11-28``, ISO week ``2026-W48`` or month ``2026-11`` that the marking key
            was derived for; empty where the key marks by itself.
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
    """What one mark is, so that it cannot be taken for another.

    Attributes:
        payload: The bits that the text carries.
    """

    payload: Payload

    @property
    def series(self) -> PayloadSeries:
        """The payloads that it could be taken for: same key, epoch and profile."""
        return PayloadSeries(key=self.key, epoch=self.epoch, profile=self.profile)

    def with_payload(self, payload: Payload) -> MarkIdentity:
        """Return the mark of the same key, epoch and profile that carries another payload."""
        return self.series.mark(payload)
