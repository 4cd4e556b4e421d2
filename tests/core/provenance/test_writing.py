"""Signed texts, read by verifiers of others."""

from __future__ import annotations

import base64
import os
import subprocess
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.certificates import DAY, authority, key_pem, manifest_signer, pem, self_signed
from tests.core.manifest_stores import store as unsigned_store

from pura.base.errors import InputError, SigningError
from pura.base.identity import Identity, load_identity
from pura.documents.manifests import verified_store
from pura.provenance import reading
from pura.provenance.binding import FINGERPRINT, binding_value, text_fingerprint
from pura.provenance.jumbf import active
from pura.provenance.reading import StoreFacts
from pura.provenance.writing import (
    COMMENT,
    DETACHED,
    FORMS,
    MAX_TEXT_BYTES,
    WRAPPER,
    assertions,
    check_ready,
    sign_manifest,
    sign_text,
)
from pura.record.provenance import INVALID, UNTRUSTED, VALID

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


TSA = """
[tsa]
default_tsa = desk
[desk]
serial = serial
signer_cert = tsa.pem
signer_key = tsa.key
signer_digest = sha256
default_policy = 1.2.3.4
digests = sha256
ess_cert_id_alg = sha256
"""


def identity_of(key: Any = None, **more: Any) -> Identity:
    key, certificate = manifest_signer(ROOT, key, **more)
    return load_identity(pem(certificate, ROOT[1]), None, now=NOW, key=key_pem(key))


IDENTITY = identity_of()
TRUST = pem(ROOT[1]).decode()
"""The list of trusted signers that the tests' signer is on."""


def signed(text: str, form: str, identity: Identity = IDENTITY) -> Any:
    said = assertions(text, PAYLOAD, PROFILE, ALGORITHM, now=NOW)
    return sign_text(text, identity, said, form=form)


def codes_of(data: bytes, form: str, store: bytes, trust: str) -> set[str]:
    """The codes of what encypher-c2pa found to be as it should be."""
    import encypher_c2pa

    found = encypher_c2pa.verify(
        data,
        MEDIA[form],
        manifest_store=store if form == DETACHED else None,
        trust_pem=trust,
        tsa_trust_pem=trust,
        no_default_trust=True,
    )
    return {one["code"] for one in found["validation_results"]["success"]}


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


def test_no_byte_of_text_claim_or_assertions_can_change() -> None:
    """The manifest's identifier, which is before them, is not signed: so C2PA has it."""
    form = DETACHED
    made = signed(PROSE, form)
    data, store = made.text.encode(), made.store
    assert verdict(data, form, store) == GOOD
    for place in range(store.index(b"c2pa.assertions"), store.index(b"c2pa.signature\0")):
        other = bytearray(store)
        other[place] ^= 1
        try:
            found = verdict(data, form, bytes(other))
        except ValueError:
            continue
        assert found[0] != "valid" or found[1] != "valid", place


@pytest.fixture
def authority_of_time(tmp_path: Path) -> Iterator[tuple[str, list[int]]]:
    """A time-stamp authority, OpenSSL's: its address, and the sizes of what it was asked."""
    key = rsa.generate_private_key(65537, 2048)
    key, certificate = manifest_signer(ROOT, key, purposes=("1.3.6.1.5.5.7.3.8",))
    (tmp_path / "tsa.pem").write_bytes(pem(certificate))
    (tmp_path / "tsa.key").write_bytes(key_pem(key))
    (tmp_path / "tsa.cnf").write_text(TSA)
    command = ("openssl", "ts", "-reply", "-config", "tsa.cnf", "-queryfile", "query")
    asked: list[int] = []

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            query = self.rfile.read(int(self.headers["content-length"]))
            asked.append(len(query))
            (tmp_path / "query").write_bytes(query)
            reply = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True).stdout
            self.send_response(200)
            self.send_header("content-type", "application/timestamp-reply")
            self.send_header("content-length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_said: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/", asked
        server.shutdown()
        thread.join()


@pytest.mark.programs("openssl")
def test_a_time_stamp_is_put_in_and_asked_for_no_more_than_it_takes(
    authority_of_time: tuple[str, list[int]],
) -> None:
    address, asked = authority_of_time
    said = {"payload": PAYLOAD, "profile": PROFILE, "soft_binding": ALGORITHM}
    for form, least in ((WRAPPER, 2), (COMMENT, 2), (DETACHED, 1)):
        made = sign_manifest(PROSE, IDENTITY, **said, form=form, timestamp=address)
        codes = codes_of(made.text.encode(), form, made.store, pem(ROOT[1]).decode())
        assert {"timeStamp.validated", "timeStamp.trusted"} <= codes, codes
        assert len(asked) == least, "once for its length, where that is signed, and once for good"
        asked.clear()


def test_an_authority_that_gives_no_time_stamp_is_named() -> None:
    said = {"payload": PAYLOAD, "profile": PROFILE, "soft_binding": ALGORITHM}
    with pytest.raises(SigningError, match="gave no time stamp"):
        sign_manifest(PROSE, IDENTITY, **said, timestamp="http://127.0.0.1:9/")
    with pytest.raises(SigningError, match="not a web address"):
        sign_manifest(PROSE, IDENTITY, **said, timestamp="file:///etc")


def test_a_certificate_that_is_not_fit_is_refused_for_what_it_is() -> None:
    key, certificate = manifest_signer(ROOT)
    old = {"since": -9 * DAY, "until": -DAY}
    own, other = authority("Own"), manifest_signer(ROOT)
    curve = ec.generate_private_key(ec.SECP256K1())
    for (its_key, its), key_file, code in (
        ((key, certificate), other[0], "signing-match"),
        (manifest_signer(ROOT, **old), None, "signing-expired"),
        (manifest_signer(ROOT, since=DAY), None, "signing-not-yet-valid"),
        (manifest_signer(ROOT, purposes=()), None, "manifest-purpose"),
        (manifest_signer(ROOT, purposes=("1.3.6.1.5.5.7.3.1",)), None, "manifest-purpose"),
        (manifest_signer(ROOT, curve), None, "manifest-curve"),
        (own, None, "manifest-authority"),
        (self_signed("Nobody"), None, "signing-usage"),
    ):
        data = key_pem(key_file or its_key)
        with pytest.raises(SigningError) as caught:
            check_ready(load_identity(pem(its), None, now=NOW, key=data), ALGORITHM)
        assert caught.value.code == code
        assert all(caught.value.words(language)[1] for language in ("en", "de")), code


def test_what_is_too_long_signed_or_no_text_is_refused() -> None:
    for text, code in (
        ("x" * (MAX_TEXT_BYTES + 1), "input"),
        ("half \ud800", "input"),
        (signed(PROSE, WRAPPER).text, "usage"),
        (signed(PROSE, COMMENT).text, "usage"),
    ):
        with pytest.raises(InputError) as caught:
            signed(text, WRAPPER)
        assert caught.value.code == code
    longest = "word " * (MAX_TEXT_BYTES // 5)
    assert verdict(signed(longest, WRAPPER).text.encode(), WRAPPER) == GOOD


def test_only_certificates_between_the_signer_and_its_root_go_along() -> None:
    usage = x509.KeyUsage(True, False, False, False, False, True, True, False, False)
    basic = x509.BasicConstraints(ca=True, path_length=0)
    key = ec.generate_private_key(ec.SECP256R1())
    own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    above = x509.AuthorityKeyIdentifier.from_issuer_public_key(ROOT[0].public_key())
    middle = self_signed("Middle", key, basic, usage, own, above, by=ROOT)
    key, certificate = manifest_signer(middle)
    given = pem(certificate, ROOT[1], manifest_signer(ROOT)[1], middle[1])
    identity = load_identity(given, None, now=NOW, key=key_pem(key))
    made = signed(PROSE, WRAPPER, identity)
    assert verdict(made.text.encode(), WRAPPER) == GOOD
    der = serialization.Encoding.DER
    assert middle[1].public_bytes(der) in made.store
    assert ROOT[1].public_bytes(der) not in made.store


def test_our_own_readers_see_what_was_signed() -> None:
    verify = reading.load(pem(ROOT[1]).decode())
    for text in TEXTS:
        for form in (WRAPPER, COMMENT):
            made = signed(text, form)
            assert reading.without(made.text) == text, (form, text[:20])
            asset = reading.Asset(form="text", data=made.text.encode(), text=text)
            (facts,) = verify(asset)
            assert (facts.state, facts.form, facts.manifest) == ("valid", form, made.manifest)
            assert facts.values == (binding_value(PAYLOAD, PROFILE),)
            assert facts.fingerprint_distance in (0, None), "none of a text without words"
            assert active(made.store) == (made.manifest, made.store)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_store_is_verified_without_its_text(form: str, text: str) -> None:
    store = signed(text, form).store
    fingerprint = text_fingerprint(text)
    verify, verify_unlisted = (reading.load_for_stores(trust) for trust in (TRUST, ""))
    assert verify(store) == StoreFacts(state=VALID, fingerprint=fingerprint)
    assert verify_unlisted(store) == StoreFacts(state=UNTRUSTED, fingerprint=fingerprint)


@pytest.mark.parametrize("form", FORMS)
def test_a_store_whose_fingerprint_was_changed_tells_none(form: str) -> None:
    store, fingerprint = signed(PROSE, form).store, text_fingerprint(PROSE)
    stated = fingerprint.encode()
    assert stated in store
    changed = store.replace(stated, text_fingerprint("Another text altogether. " * 9).encode())
    verify = reading.load_for_stores(TRUST)
    assert verify(store).fingerprint == fingerprint
    assert verify(changed) == StoreFacts(state=INVALID)


@pytest.mark.parametrize(
    "store", [b"", b"no store", unsigned_store(), unsigned_store(fingerprint="8f" * 32)]
)
def test_a_store_without_a_signature_that_holds_tells_nothing(store: bytes) -> None:
    assert reading.load_for_stores("")(store) == StoreFacts(state=INVALID)


FINGERPRINT_OF_ANOTHER = "8f9a0976ad88460e6a6ce21eb0a99439a85b23b2a85a2abe6d513e892ba4f92d"
IN_BASE64 = base64.b64encode(bytes.fromhex(FINGERPRINT_OF_ANOTHER)).decode()


def fingerprint_block(value: Any, **changed: Any) -> dict[str, Any]:
    """Return a block of a soft binding's assertion that states a fingerprint of the whole text."""
    return {"scope": {}, "value": value} | changed


@pytest.mark.parametrize(
    ("blocks", "algorithm", "expected"),
    [
        ([fingerprint_block(FINGERPRINT_OF_ANOTHER)], FINGERPRINT, FINGERPRINT_OF_ANOTHER),
        ([fingerprint_block(FINGERPRINT_OF_ANOTHER.upper())], FINGERPRINT, FINGERPRINT_OF_ANOTHER),
        ([fingerprint_block(IN_BASE64)], FINGERPRINT, FINGERPRINT_OF_ANOTHER),
        # The fingerprint of a part of the text.
        ([fingerprint_block(FINGERPRINT_OF_ANOTHER, scope={"region": 1})], FINGERPRINT, ""),
        ([fingerprint_block(FINGERPRINT_OF_ANOTHER)], "org.example.other", ""),
        ([fingerprint_block(FINGERPRINT_OF_ANOTHER[2:])], FINGERPRINT, ""),
        ([fingerprint_block("g" * 64)], FINGERPRINT, ""),
        ([fingerprint_block(7)], FINGERPRINT, ""),
        ({}, FINGERPRINT, ""),
        ([7], FINGERPRINT, ""),
    ],
)
def test_a_signed_fingerprint_is_taken_where_it_is_one(
    blocks: Any, algorithm: str, expected: str
) -> None:
    stated = assertions(PROSE, PAYLOAD, PROFILE, ALGORITHM, now=NOW)
    stated["c2pa.soft-binding__1"] = {"alg": algorithm, "blocks": blocks}
    store = sign_text(PROSE, IDENTITY, stated, form=DETACHED).store
    assert reading.load_for_stores(TRUST)(store) == StoreFacts(state=VALID, fingerprint=expected)


def test_a_store_is_verified_in_the_sandboxed_child() -> None:
    store = signed(PROSE, DETACHED).store
    facts = StoreFacts(state=VALID, fingerprint=text_fingerprint(PROSE))
    assert verified_store(store, TRUST) == facts
    assert verified_store(store[:-1], TRUST) == StoreFacts(state=INVALID)
