"""``pura report sign`` and ``verify`` in this process."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import typst
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, pkcs12
from cryptography.x509.oid import NameOID
from typer.testing import CliRunner

from pura.base.errors import PuraError
from pura.base.paths import user_paths
from pura.cli.__main__ import app
from pura.verdict.policy import default_policy


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder with a PDF, a certificate, its public part and its passphrase."""
    now = datetime.now(UTC)
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Reports Desk")])
    cert = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=9))
        .sign(key, hashes.SHA256())
    )
    lock = serialization.BestAvailableEncryption(b"a long one")
    (tmp_path / "org.p12").write_bytes(
        pkcs12.serialize_key_and_certificates(b"x", key, cert, None, lock)
    )
    (tmp_path / "org.pem").write_bytes(cert.public_bytes(Encoding.PEM))
    (tmp_path / "pass.txt").write_text("a long one\n")
    (tmp_path / "r.pdf").write_bytes(typst.compile(b"#set document(date: none)\nHello"))
    return tmp_path


def pura(*words: object) -> Any:
    return CliRunner().invoke(app, ["report", *map(str, words)])


def sign(desk: Path) -> Any:
    return pura(
        "sign",
        desk / "r.pdf",
        desk / "s.pdf",
        "--certificate",
        desk / "org.p12",
        "--passphrase-file",
        desk / "pass.txt",
        "--seal",
    )


@pytest.mark.slow
def test_sign_then_verify(desk: Path, rows: Any) -> None:
    done = sign(desk)
    assert done.exit_code == 0, done.output
    assert "Signed as Reports Desk (ECDSA secp256r1" in done.output
    checked = pura("verify", desk / "s.pdf", "--trust", desk / "org.pem", "--json")
    [row] = rows(checked.output)
    found = {row["name"]: row for row in row["checks"]}
    assert checked.exit_code == 1
    assert found["record"]["finding"] == "record.none"
    for name in ("file", "integrity", "trust", "coverage", "changes"):
        assert found[name]["state"] == "good", found[name]
    # The policy asks for signatures, so that nobody has to name a certificate to miss one.
    replace(default_policy(), signed=True).save(user_paths().policy)
    [row] = rows(pura("verify", desk / "r.pdf", "--json").output)
    assert "integrity.policy" in {check["finding"] for check in row["checks"]}


@pytest.mark.slow
def test_the_words_are_for_people_in_both_languages(desk: Path) -> None:
    english = pura("verify", desk / "r.pdf")
    german = pura("verify", desk / "r.pdf", "--language", "de")
    assert "Embedded record: not as it should be" in english.output
    assert "kein Protokoll eingebettet" in german.output
    assert pura("verify", desk / "r.pdf", "--language", "fr").exit_code == 2


def test_nothing_is_overwritten_and_a_wrong_passphrase_writes_nothing(desk: Path) -> None:
    (desk / "pass.txt").write_text("another one\n")
    refused = sign(desk)
    assert isinstance(refused.exception, PuraError)
    assert refused.exception.code == "signing-passphrase"
    assert not (desk / "s.pdf").exists()
    (desk / "s.pdf").write_text("mine")
    again = sign(desk)
    assert isinstance(again.exception, PuraError)
    assert again.exception.code == "file-exists"
    assert (desk / "s.pdf").read_text() == "mine"


def test_a_missing_file_is_named(desk: Path) -> None:
    gone = pura("verify", desk / "gone.pdf")
    assert isinstance(gone.exception, PuraError)
    assert gone.exception.code == "file-unreadable"
