"""The value that names a mark: which key, which epoch of it, which profile, which payload.

A payload alone names nobody: number 417 under one key and number 417 under another are two marks.
Every look-up of a recipient therefore takes a :class:`MarkIdentity`, and no function takes bits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from pura.scheme.payload import Payload

_FINGERPRINT: Final = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, kw_only=True)
class MarkIdentity:
    """What one mark is, so that it cannot be taken for another.

    Attributes:
        key: Fingerprint of the secret key, 16 hexadecimal digits. Where the marking key was derived
            for an epoch, that of the key it was derived from.
        epoch: Day ``2026-11-28``, ISO week ``2026-W48`` or month ``2026-11`` that the marking key
            was derived for; empty where the key marks by itself.
        profile: Fingerprint of the profile, 16 hexadecimal digits.
        payload: The bits that the text carries.
    """

    key: str
    epoch: str = ""
    profile: str
    payload: Payload

    def __post_init__(self) -> None:
        for name in ("key", "profile"):
            if not _FINGERPRINT.fullmatch(getattr(self, name)):
                raise ValueError(f"the {name} of a mark is not a fingerprint of 16 hex digits")

    def with_payload(self, payload: Payload) -> MarkIdentity:
        """Return the mark of the same key, epoch and profile that carries another payload."""
        return MarkIdentity(key=self.key, epoch=self.epoch, profile=self.profile, payload=payload)
