"""Boxes of a manifest store (JUMBF, ISO 19566-5): what a repository has to know of one.

Nothing is verified. Boxes lie within boxes to a fixed depth, and every length is checked against
the bytes that are there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_HEAD: Final = 8
_LONG_HEAD: Final = 16
_LABELLED: Final = 0b10
_UUID_BYTES: Final = 16
_IDENTIFIER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9:._-]{0,199}")


class Active(NamedTuple):
    """The active manifest of a store: the last one.

    Attributes:
        identifier: Its label, e.g. ``urn:c2pa:…``.
        alone: A store that holds it and no other.
    """

    identifier: str
    alone: bytes


def active(store: bytes) -> Active:
    """Return the active manifest of a store.

    Raises:
        ValueError: The bytes are no manifest store.
    """
    [(kind, content, _)] = _boxes(store)
    label, manifests = _labelled(kind, content)
    if label != "c2pa" or not manifests:
        raise ValueError("store")
    kind, body, whole = manifests[-1]
    identifier, _ = _labelled(kind, body)
    if not _IDENTIFIER.fullmatch(identifier):
        raise ValueError("identifier")
    description = next(_boxes(content))[2]
    head = (_HEAD + len(description) + len(whole)).to_bytes(4, "big")
    return Active(identifier, head + b"jumb" + description + whole)


class _Box(NamedTuple):
    kind: bytes
    content: bytes
    whole: bytes


def _boxes(data: bytes) -> Iterator[_Box]:
    """Walk over boxes that lie side by side.

    Raises:
        ValueError: A length is wrong.
    """
    at = 0
    while at < len(data):
        size, head = int.from_bytes(data[at : at + 4], "big"), _HEAD
        if size == 1:
            size, head = int.from_bytes(data[at + _HEAD : at + _LONG_HEAD], "big"), _LONG_HEAD
        elif size == 0:  # to the end
            size = len(data) - at
        if not head <= size <= len(data) - at:
            raise ValueError("length")
        yield _Box(data[at + 4 : at + _HEAD], data[at + head : at + size], data[at : at + size])
        at += size


def _labelled(kind: bytes, content: bytes) -> tuple[str, list[_Box]]:
    """Return the label of a superbox and the boxes in it.

    Raises:
        ValueError: It is none, or has no label.
    """
    description, *inner = _boxes(content) if kind == b"jumb" else [_Box(b"", b"", b"")]
    said = description.content
    if description.kind != b"jumd" or len(said) <= _UUID_BYTES or not said[16] & _LABELLED:
        raise ValueError("superbox")
    label, ended, _ = said[_UUID_BYTES + 1 :].partition(b"\0")
    if not ended:
        raise ValueError("label")
    return label.decode("ascii"), inner
