"""The identity of a mark: four parts, each of which makes another mark."""

from dataclasses import replace

import pytest

from pura.keys.epochs import epoch_key
from pura.scheme import MarkIdentity, Payload, PayloadSeries, Profile, SecretKey

PROFILE = Profile(payload_bits=12, blocks=2, vocab_size=100)
KEY = SecretKey(b"\x07" * 32)
PAYLOAD = Payload.from_int(417, 12)


def test_the_series_of_a_key_is_named_by_its_own_fingerprint():
    series = PayloadSeries.of(KEY, PROFILE)
    assert (series.key, series.epoch) == (KEY.fingerprint, "")
    assert series.profile == PROFILE.fingerprint


@pytest.mark.parametrize("epoch", ["2026-11-22", "2026-W47", "2026-11"])
def test_the_series_of_an_epochs_key_is_named_by_its_parent_and_the_epoch(epoch):
    series = PayloadSeries.of(epoch_key(KEY, epoch), PROFILE)
    assert (series.key, series.epoch) == (KEY.fingerprint, epoch)


def test_each_of_the_four_parts_makes_another_mark():
    mark = PayloadSeries.of(KEY, PROFILE).mark(PAYLOAD)
    others = (
        replace(mark, key="0" * 16),
        replace(mark, epoch="2026-11"),
        replace(mark, profile="0" * 16),
        mark.with_payload(Payload.from_int(418, 12)),
    )
    assert len({mark, *others}) == 5
    assert mark.series == PayloadSeries.of(KEY, PROFILE)
    assert mark.with_payload(PAYLOAD) == mark


@pytest.mark.parametrize(
    "changes",
    [
        {"key": ""},
        {"key": "0" * 15},
        {"key": "A" * 16},
        {"profile": "house"},
        {"epoch": "yesterday"},
        {"epoch": "2026"},
    ],
)
def test_what_is_no_fingerprint_and_no_epoch_names_no_mark(changes):
    with pytest.raises(ValueError, match="of a mark is no"):
        replace(MarkIdentity(key="0" * 16, profile="1" * 16, payload=PAYLOAD), **changes)
