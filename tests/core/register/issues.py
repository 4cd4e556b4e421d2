"""What the tests of the register issue: marks of two keys, two epochs and two profiles."""

from __future__ import annotations

from typing import Any

from pura.register.rows import Issue
from pura.register.under import IssuedUnder
from pura.scheme import Field, MarkIdentity, Payload, PayloadSeries, Profile

PROFILE = Profile(payload_bits=36, vocab_size=100, code="spc", blocks=4)
SMALL = PROFILE.with_(payload_bits=8, blocks=2)
FIELDS = PROFILE.with_(
    payload_bits=12,
    blocks=2,
    fields=(
        Field(name="Model", bits=4, kind="enumeration", values=("alpha", "beta")),
        Field(name="user", bits=8, kind="integer"),
    ),
)
HOUSE, CONTOSO = "a" * 16, "b" * 16
"""Fingerprints of two keys."""
SERIES = PayloadSeries(key=HOUSE, profile=PROFILE.fingerprint)
UNDER = IssuedUnder(profile=PROFILE, key=HOUSE)


def payload(number: int, bits: int = 36) -> Payload:
    return Payload.from_int(number, bits)


def mark(number: int, bits: int = 36, series: PayloadSeries = SERIES) -> MarkIdentity:
    return series.mark(payload(number, bits))


def issue(
    number: int,
    who: str = "somebody",
    bits: int = 36,
    series: PayloadSeries | None = SERIES,
    **about: Any,
) -> Issue:
    return Issue(payload=payload(number, bits), who=who, series=series, **about)


def series_of(profile: Profile, key: str = HOUSE, epoch: str = "") -> PayloadSeries:
    return PayloadSeries(key=key, epoch=epoch, profile=profile.fingerprint)
