"""``pura report sign`` and ``verify`` in this process."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typst
from typer.testing import CliRunner

from pura.base.errors import PuraError
from pura.base.paths import user_paths
from pura.cli.__main__ import app
from pura.verdict.policy import default_policy


@pytest.fixture
def desk(certificate: Path, tmp_path: Path) -> Path:
    """A folder with a PDF, a certificate, its public part and its passphrase."""
    for path in (certificate, certificate.with_suffix(".pem")):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "pass.txt").write_text("Grüße 7\n", encoding="utf-8")
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
