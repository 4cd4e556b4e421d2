"""Our manifests before the readers of others that do not go beside our own packages.

c2patxt pins an older cryptography; c2pa-python is the reference implementation's binding, which
reads and signs no text: it reads our manifest stores, and signs a picture with our assertions.
"""

from __future__ import annotations

import io
import json
import struct
import zlib
from datetime import UTC, datetime
from typing import Any

import c2pa
import c2patxt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from tests.core.certificates import authority, key_pem, manifest_signer, pem

from pura.base.identity import Identity, load_identity
from pura.provenance.binding import FINGERPRINT
from pura.provenance.writing import FORMS, WRAPPER, assertions, definition, sign_text

NOW = datetime.now(UTC)
NAME = "org.example.pura.1"
ROOT = authority()
PROSE = "The council met on Tuesday and put the question of the bridge off again.\n" * 6
TEXTS = (
    PROSE,
    PROSE.replace("\n", "\r\n"),
    "cafe\u0301 \u1e9b\u0323 " * 9,
    "\ufeffwith a byte order mark",
    "\u2764\ufe0f and \ufe0e\U000e0101\ufeff",
    "x",
)
KEYS = (
    ec.generate_private_key(ec.SECP256R1()),
    ec.generate_private_key(ec.SECP384R1()),
    ec.generate_private_key(ec.SECP521R1()),
    rsa.generate_private_key(65537, 2048),
    ed25519.Ed25519PrivateKey.generate(),
)


def identity_of(key: Any = KEYS[0]) -> Identity:
    key, certificate = manifest_signer(ROOT, key)
    return load_identity(pem(certificate, ROOT[1]), None, now=NOW, key=key_pem(key))


def said(text: str) -> dict[str, Any]:
    return assertions(text, "1011" * 9, "0123456789abcdef", NAME, now=NOW)


def state(text: str) -> Any:
    return c2patxt.verify(text).state


def test_c2patxt_finds_a_signed_text_valid_and_a_changed_one_not() -> None:
    identity = identity_of()
    for text in TEXTS:
        made = sign_text(text, identity, said(text)).text
        assert state(made) is c2patxt.Provenance.VALID, text[:20]
        assert c2patxt.strip(made) == text
        place = len(text) // 2
        other = made[:place] + "?" + made[place + 1 :]
        assert state(other) is c2patxt.Provenance.INVALID, text[:20]


def test_c2patxt_finds_every_changed_byte_of_assertions_and_claim() -> None:
    signed = sign_text(PROSE, identity_of(), said(PROSE))
    made, store = signed.text, signed.store
    for at in range(store.index(b"c2pa.assertions"), store.index(b"c2pa.signature\0")):
        place = len(PROSE) + 14 + at  # behind U+FEFF and the 13 bytes before a manifest
        other = made[:place] + chr(ord(made[place]) ^ 1) + made[place + 1 :]
        try:
            found = state(other)
        except c2patxt.C2paTextError:
            continue
        assert found is not c2patxt.Provenance.VALID, place


@pytest.mark.parametrize("key", KEYS, ids=["ES256", "ES384", "ES512", "PS256", "EdDSA"])
def test_both_know_every_kind_of_key(key: Any) -> None:
    identity = identity_of(key)
    for form in FORMS:
        made = sign_text(PROSE, identity, said(PROSE), form=form)
        if form == WRAPPER:
            assert state(made.text) is c2patxt.Provenance.VALID
        found = json.loads(c2pa.Reader("application/c2pa", io.BytesIO(made.store)).json())
        assert found["active_manifest"] == made.manifest
        results = found["validation_results"]["activeManifest"]
        good = [one["code"] for one in results["success"]]
        assert "claimSignature.validated" in good
        assert good.count("assertion.hashedURI.match") == 4
        # A store alone holds no text to compare with, and its root is not on the list.
        bad = {one["code"] for one in results["failure"]}
        assert bad == {"signingCredential.untrusted", "assertion.dataHash.mismatch"}


def picture() -> bytes:
    """One grey pixel, PNG."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        whole = kind + data
        return struct.pack(">I", len(data)) + whole + struct.pack(">I", zlib.crc32(whole))

    size = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    parts = chunk(b"IHDR", size), chunk(b"IDAT", zlib.compress(b"\0\x80")), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def test_another_signer_takes_our_assertions_as_they_are_printed() -> None:
    key, certificate = manifest_signer(ROOT)
    printed = json.loads(json.dumps(definition(said(PROSE))))
    info = c2pa.C2paSignerInfo(b"es256", pem(certificate, ROOT[1]), key_pem(key), None)
    signed = io.BytesIO()
    with c2pa.Signer.from_info(info) as signer, c2pa.Builder(printed) as builder:
        builder.sign(signer, "image/png", io.BytesIO(picture()), signed)
    signed.seek(0)
    found = json.loads(c2pa.Reader("image/png", signed).json())
    held = found["manifests"][found["active_manifest"]]["assertions"]
    bindings = [one["data"] for one in held if one["label"] == "c2pa.soft-binding"]
    assert [one["alg"] for one in bindings] == [NAME, FINGERPRINT]
    assert bindings == [one["data"] for one in printed["assertions"][1:]]
