"""Manifest stores as small as they can be: boxes and labels, with nothing signed in them."""

from __future__ import annotations

from typing import Any

import cbor2

from pura.provenance.binding import FINGERPRINT

FIRST = "urn:c2pa:00000000-0000-4000-8000-000000000001"
SECOND = "urn:c2pa:00000000-0000-4000-8000-000000000002"


def box(kind: bytes, content: bytes) -> bytes:
    """Return a box."""
    return (8 + len(content)).to_bytes(4, "big") + kind + content


def superbox(label: str, *inner: bytes) -> bytes:
    """Return a box of boxes, which has a label."""
    described = box(b"jumd", bytes(16) + b"\x03" + label.encode() + b"\0")
    return box(b"jumb", described + b"".join(inner))


def said(fingerprint: Any, scope: Any = None, alg: str = FINGERPRINT) -> bytes:
    """Return what an assertion says of a text's fingerprint."""
    blocks = [{"scope": scope or {}, "value": fingerprint}]
    return box(b"cbor", cbor2.dumps({"alg": alg, "blocks": blocks}))


def manifest(identifier: str, *assertions: tuple[str, bytes]) -> bytes:
    """Return one manifest."""
    held = [superbox(label, content) for label, content in assertions]
    return superbox(identifier, superbox("c2pa.assertions", *held), superbox("c2pa.signature"))


def store(identifier: str = FIRST, fingerprint: str = "") -> bytes:
    """Return a store with one manifest, which names a fingerprint or none."""
    named = [("c2pa.soft-binding__1", said(fingerprint))] if fingerprint else []
    mark = ("c2pa.soft-binding", said("AaE=", alg="org.example.pura.1"))
    return superbox("c2pa", manifest(identifier, mark, *named))
