"""Signed texts, read by verifiers of others."""

from __future__ import annotations

import os
import unicodedata
from datetime import UTC, datetime
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.certificates import authority, key_pem, manifest_signer, pem

from pura.base.identity import Identity, load_identity
from pura.provenance.writing import COMMENT, DETACHED, FORMS, WRAPPER, assertions, sign_text

os.environ["ENCYPHER_C2PA_TELEMETRY"] = "off"
NOW = datetime.now(UTC)
PAYLOAD, PROFILE, ALGORITHM = "1011" * 9, "0123456789abcdef", "org.example.pura.1"
ROOT = authority()
PROSE = "The council met on Tuesday and put the question of the bridge off again.\n" * 6
TEXTS = (
    PROSE,
    PROSE.replace("\n", "\r\n"),
    "cafe\u0301 \u1e9b\u0323 " * 9,
    "\ufeffwith a byte order mark\n",
    "❤️ and 👩‍👩‍👧 and \ufe0e\U000e0101\ufeff",
    "---\ntitle: Bridge\n---\n\n# Bridge\n\n- one\n- two\n",
    "+++\ntitle = 1\n+++\nx",
    "x",
    "",
)
MEDIA = {WRAPPER: "text/plain", COMMENT: "text/markdown", DETACHED: "text/markdown"}


def identity_of(key: Any = None, **more: Any) -> Identity:
    key, certificate = manifest_signer(ROOT, key, **more)
    return load_identity(pem(certificate, ROOT[1]), None, now=NOW, key=key_pem(key))


IDENTITY = identity_of()


def signed(text: str, form: str, identity: Identity = IDENTITY) -> Any:
    said = assertions(text, PAYLOAD, PROFILE, ALGORITHM, now=NOW)
    return sign_text(text, identity, said, form=form)


def verdict(data: bytes, form: str, store: bytes | None = None) -> tuple[str, str, str, str]:
    """What encypher-c2pa says: integrity, signature, binding to the text, trust."""
    import encypher_c2pa

    found = encypher_c2pa.verify(
        data,
        MEDIA[form],
        manifest_store=store if form == DETACHED else None,
        trust_pem=pem(ROOT[1]).decode(),
        no_default_trust=True,
    )
    said = (found[name] for name in ("integrity", "signature", "hard_binding"))
    return (*said, found["trust"]["status"])


GOOD = ("valid", "valid", "match", "valid_for_supplied_material")


@pytest.mark.parametrize("form", FORMS)
def test_another_verifier_finds_a_signed_text_valid_and_a_changed_one_not(form: str) -> None:
    for text in TEXTS:
        made = signed(text, form)
        data = made.text.encode()
        assert verdict(data, form, made.store) == GOOD, text[:20]
        assert text in made.text
        assert (made.text == text) is (form == DETACHED)
        if text:
            place = made.text.index(text) + len(text) // 2
            other = made.text[:place] + "?" + made.text[place + 1 :]
            assert verdict(other.encode(), form, made.store)[0] == "invalid", text[:20]


@pytest.mark.parametrize(
    "key",
    [
        ec.generate_private_key(ec.SECP384R1()),
        ec.generate_private_key(ec.SECP521R1()),
        rsa.generate_private_key(65537, 2048),
        ed25519.Ed25519PrivateKey.generate(),
    ],
    ids=["ES384", "ES512", "PS256", "EdDSA"],
)
def test_every_kind_of_key_signs(key: Any) -> None:
    identity = identity_of(key)
    for form in FORMS:
        made = signed(PROSE, form, identity)
        assert verdict(made.text.encode(), form, made.store) == GOOD


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=400), st.sampled_from((WRAPPER, COMMENT)))
def test_any_text_signs_and_stays_as_it_was(text: str, form: str) -> None:
    made = signed(text, form)
    assert text in made.text
    assert verdict(made.text.encode(), form)[:3] == GOOD[:3]
    assert unicodedata.normalize("NFC", text) in unicodedata.normalize("NFC", made.text)
