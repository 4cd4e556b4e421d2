"""What a repository reads of a manifest store, of ours, of another maker, and of nobody."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.manifest_stores import FIRST, SECOND, box, manifest, store, superbox

from pura.provenance.jumbf import active

ROOT = Path(__file__).resolve().parents[3]
PRINT = "8f9a0976ad88460e6a6ce21eb0a99439a85b23b2a85a2abe6d513e892ba4f92d"


def test_the_last_manifest_is_the_active_one_and_can_stand_alone() -> None:
    whole = superbox("c2pa", manifest(SECOND), manifest(FIRST))
    found = active(whole)
    assert found.identifier == FIRST
    assert len(found.alone) < len(whole)
    assert active(found.alone) == found
    assert active(store(SECOND)).alone == store(SECOND)


def test_a_store_of_another_maker_is_read() -> None:
    other = (ROOT / "tests/data/c2pa/c2patxt-0.2.0.c2pa").read_bytes()
    found = active(other)
    assert found.identifier == "urn:c2pa:01234567-89ab-4def-8123-456789abcdef"
    assert found.alone == other


def test_a_long_length_and_one_to_the_end_are_lengths() -> None:
    content = store()[8:]
    long = (1).to_bytes(4, "big") + b"jumb" + (16 + len(content)).to_bytes(8, "big") + content
    assert active(long).identifier == FIRST
    assert active(bytes(4) + b"jumb" + content).identifier == FIRST


BROKEN: list[bytes] = [
    b"",
    b"no store",
    store() + b"\0",
    store() + store(),
    store()[:-1],
    superbox("other", manifest(FIRST)),
    superbox("c2pa"),
    superbox("c2pa", box(b"cbor", b"\xa0")),
    superbox("c2pa", manifest("../../etc/passwd")),
    superbox("c2pa", manifest("")),
    superbox("c2pa", manifest("u" * 201)),
    superbox("c2pa", superbox("urn:é")),
    box(b"jumb", box(b"jumd", bytes(16) + b"\x02c2pa") + manifest(FIRST)),  # label has no end
    box(b"jumb", box(b"jumd", bytes(16) + b"\x00c2pa\0") + manifest(FIRST)),  # has no label
    (7).to_bytes(4, "big") + store()[4:],
    (1).to_bytes(4, "big") + b"jumb" + (8).to_bytes(8, "big") + store()[8:],
    (1).to_bytes(4, "big") + b"jumb" + b"\xff" * 8,
]


@pytest.mark.parametrize("data", BROKEN)
def test_what_is_no_store_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # whatever is wrong
        active(data)


@given(st.data())
def test_a_changed_store_is_read_or_refused(data: Any) -> None:
    whole = bytearray(store(fingerprint=PRINT))
    for _ in range(data.draw(st.integers(1, 6))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        found = active(bytes(whole))
    except ValueError:
        return
    assert found.identifier
    assert len(found.alone) <= len(whole) + 8
