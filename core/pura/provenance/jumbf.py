"""Parsing the boxes of a manifest store (JUMBF, ISO 19566-5), as far as a repository needs it.

Nothing is verified. Boxes are nested to a fixed depth, and every length is checked against the
available bytes.
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
        alone: A store that contains only this manifest.
    """

    identifier: str
    alone: bytes


def active(store: bytes) -> Active:
    """Return the active manifest of a store.

    Raises:
        ValueError: The bytes are not a manifest store.
    """
    [(kind, store_body, _)] = _boxes(store)
    label, manifests = _labelled(kind, store_body)
    if label != "c2pa" or not manifests:
        raise ValueError("store")
    kind, body, manifest_box = manifests[-1]
    identifier, _ = _labelled(kind, body)
    if not _IDENTIFIER.fullmatch(identifier):
        raise ValueError("identifier")
    description = next(_boxes(store_body))[2]
    head = (_HEAD + len(description) + len(manifest_box)).to_bytes(4, "big")
    return Active(identifier, head + b"jumb" + description + manifest_box)


class _Box(NamedTuple):
    kind: bytes
    content: bytes
    whole: bytes


def _boxes(encoded: bytes) -> Iterator[_Box]:
    """Yield consecutive boxes.

    Raises:
        ValueError: A length is wrong.
    """
    offset = 0
    while offset < len(encoded):
        size, head = int.from_bytes(encoded[offset : offset + 4], "big"), _HEAD
        if size == 1:
            size, head = (
                int.from_bytes(encoded[offset + _HEAD : offset + _LONG_HEAD], "big"),
                _LONG_HEAD,
            )
        elif size == 0:  # to the end
            size = len(encoded) - offset
        if not head <= size <= len(encoded) - offset:
            raise ValueError("length")
        yield _Box(
            encoded[offset + 4 : offset + _HEAD],
            encoded[offset + head : offset + size],
            encoded[offset : offset + size],
        )
        offset += size


def _labelled(kind: bytes, body: bytes) -> tuple[str, list[_Box]]:
    """Return the label of a superbox and the boxes in it.

    Raises:
        ValueError: The box is not a superbox, or has no label.
    """
    description, *inner = _boxes(body) if kind == b"jumb" else [_Box(b"", b"", b"")]
    header = description.content
    if description.kind != b"jumd" or len(header) <= _UUID_BYTES or not header[16] & _LABELLED:
        raise ValueError("superbox")
    label, ended, _ = header[_UUID_BYTES + 1 :].partition(b"\0")
    if not ended:
        raise ValueError("label")
    return label.decode("ascii"), inner
