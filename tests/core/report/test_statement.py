"""Statements of a detector: signed, found again in an answer, and changed by somebody."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, pkcs12
from cryptography.x509.oid import NameOID
from typer.testing import CliRunner

from pura.base.errors import ReportFileError, ServeError
from pura.cli.__main__ import app
from pura.report.sign import load_identity
from pura.report.statement import Statement, StatementKey, Trust, check_statement, find_statement
from pura.words.sentence import sentence

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
TEXT = b"The council met on Tuesday."
SAID = Statement(
    detector="House",
    version="0.3.0",
    role="trusted",
    created="2026-11-23T12:00:00Z",
    sha256=hashlib.sha256(TEXT).hexdigest(),
    verdict="mark",
    headline=sentence("headline.mark"),
    strength="very strong",
    supports="mark",
    policy="ab" * 32,
    policy_name="house 1",
)


@pytest.fixture
def own(tmp_path: Path) -> StatementKey:
    """The key of a detector, read again as it was made."""
    made = StatementKey.of(tmp_path / "key")
    assert (tmp_path / "key").stat().st_mode & 0o77 == 0
    assert StatementKey.of(tmp_path / "key") == made
    return made


def certified(key: Any) -> tuple[StatementKey, bytes]:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Detector Desk")])
    cert = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(NOW - timedelta(days=1))
        .not_valid_after(NOW + timedelta(days=9))
        .sign(key, None if isinstance(key, ed25519.Ed25519PrivateKey) else hashes.SHA256())
    )
    lock = serialization.NoEncryption()
    packed = pkcs12.serialize_key_and_certificates(b"x", key, cert, None, lock)
    signer = StatementKey.of_identity(load_identity(packed, None, now=NOW))
    return signer, cert.public_bytes(Encoding.PEM)


def test_who_signed_is_told_apart_from_that_nothing_changed(own: StatementKey) -> None:
    made = own.sign(SAID)
    known = Trust.read(own.public_pem().encode())
    found = check_statement(made, moment=NOW, sha256=SAID.sha256)
    assert (found.standing, found.statement) == ("signed", SAID)
    assert check_statement(made, moment=NOW, trust=known, sha256=SAID.sha256).standing == "trusted"
    assert check_statement(made, moment=NOW, trust=known, sha256="0" * 64).standing == "amiss"
    _, stranger = certified(ec.generate_private_key(ec.SECP256R1()))
    assert check_statement(made, moment=NOW, trust=Trust.read(stranger)).standing == "amiss"


def test_certificates_of_every_kind_sign(own: StatementKey) -> None:
    keys = (
        ec.generate_private_key(ec.SECP256R1()),
        ec.generate_private_key(ec.SECP384R1()),
        rsa.generate_private_key(public_exponent=65537, key_size=2048),
        ed25519.Ed25519PrivateKey.generate(),
    )
    for key in keys:
        signer, cert = certified(key)
        made, trust = signer.sign(SAID), Trust.read(cert)
        found = check_statement(made, moment=NOW, trust=trust)
        assert found.standing == "trusted", signer.header["alg"]
        assert "Detector Desk" in found.checks[1].text("de")
        late = check_statement(made, moment=NOW + timedelta(days=20), trust=trust)
        assert [c.key for c in late.checks if c.name == "trust"] == ["trust.expired"]
    with pytest.raises(ServeError):
        certified(ec.generate_private_key(ec.BrainpoolP256R1()))


def test_nothing_of_what_nobody_signed_is_shown(own: StatementKey, tmp_path: Path) -> None:
    head, body, signature = own.sign(SAID).split(".")
    other = StatementKey.of(tmp_path / "other")

    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    plain = {"typ": "pura-statement+jws"}
    jwk = {**own.header["jwk"]}
    secret = base64.urlsafe_b64encode(b"x" * 32).decode().rstrip("=")
    forged = [
        f"{head}.{part({'verdict': 'no-mark'})}.{signature}",
        f"{head}.{body}.{signature[:-4]}AAAA",
        f"{part(plain | {'alg': 'none', 'jwk': jwk})}.{body}.",
        f"{part(plain | {'alg': 'HS256', 'jwk': {'kty': 'oct', 'k': secret}})}.{body}.{signature}",
        f"{part(plain | {'alg': 'Ed25519', 'jwk': other.header['jwk']})}.{body}.{signature}",
        f"{part(plain | {'alg': 'Ed25519', 'jwk': jwk, 'crit': ['b64']})}.{body}.{signature}",
        f"{part(plain | {'alg': 'ES256', 'x5c': []})}.{body}.{signature}",
        f"{part([])}.{body}.{signature}",
        own.sign(replace(SAID, schema="pura-statement/9")),
        "..",
    ]
    for one in forged:
        found = check_statement(one, moment=NOW)
        assert (found.standing, found.statement) == ("amiss", None), one[:60]


def test_a_statement_is_found_in_an_answer(own: StatementKey, tmp_path: Path) -> None:
    made = own.sign(SAID)
    answer = {"id": "x", "status": "done", "answer": {"verdict": "mark", "statement": made}}
    for data in (f"{made}\n".encode(), json.dumps(answer).encode()):
        assert find_statement(data) == made
    for data in (b"", b"{", b"[]", b'{"answer": 3}', b"a.b", b"\xff.a.b", b"{" * 9999):
        with pytest.raises(ReportFileError):
            find_statement(data)
    (tmp_path / "damaged").write_bytes(b"no key")
    with pytest.raises(ServeError):
        StatementKey.of(tmp_path / "damaged")


def test_the_command_checks_a_statement(own: StatementKey, tmp_path: Path, rows: Any) -> None:
    answer, text, key = (tmp_path / name for name in ("a.json", "t.txt", "k.pem"))
    answer.write_text(own.sign(SAID))
    text.write_bytes(TEXT)
    key.write_text(own.public_pem())

    def verify(*words: object) -> Any:
        command = ["serve", "statement", "verify", str(answer), *map(str, words)]
        return CliRunner().invoke(app, command)

    shown = verify("--text", text, "--language", "de")
    assert shown.exit_code == 4
    assert "sehr stark für eine Markierung" in " ".join(shown.output.split())
    assert verify("--text", text, "--trust", key).exit_code == 0
    assert verify("--text", key).exit_code == 1
    [row] = rows(verify("--json").output)
    assert (row["standing"], row["statement"]["sha256"]) == ("signed", SAID.sha256)
