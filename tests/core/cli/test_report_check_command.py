"""``pura report sign`` and ``verify`` in this process."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typst
from tests.core.cli.conftest import pura, refusal

from pura.base.paths import user_paths
from pura.detect.verdict.policy import default_policy


@pytest.fixture
def desk(certificate: Path, tmp_path: Path) -> Path:
    """A folder with a PDF, a certificate, its public part and its passphrase."""
    for path in (certificate, certificate.with_suffix(".pem")):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "pass.txt").write_text("Grüße 7\n", encoding="utf-8")
    (tmp_path / "r.pdf").write_bytes(typst.compile(b"#set document(date: none)\nHello"))
    return tmp_path


def sign(desk: Path) -> Any:
    given = ("--certificate", desk / "org.p12", "--passphrase-file", desk / "pass.txt", "--seal")
    return pura("report", "sign", desk / "r.pdf", desk / "s.pdf", *given)


@pytest.mark.slow
def test_sign_then_verify(desk, rows):
    done = sign(desk)
    assert done.exit_code == 0, done.output
    assert "Signed as Reports Desk (ECDSA secp256r1" in done.output
    checked = pura("report", "verify", desk / "s.pdf", "--trust", desk / "org.pem", "--json")
    [row] = rows(checked.stdout)
    found = {row["name"]: row for row in row["checks"]}
    assert checked.exit_code == 1
    assert found["record"]["finding"] == "record.none"
    for name in ("file", "integrity", "trust", "coverage", "changes"):
        assert found[name]["state"] == "good", found[name]
    # The policy asks for signatures, so that nobody has to name a certificate to miss one.
    replace(default_policy(), signed=True).save(user_paths().policy)
    [row] = rows(pura("report", "verify", desk / "r.pdf", "--json").stdout)
    assert "integrity.policy" in {check["finding"] for check in row["checks"]}


@pytest.mark.slow
def test_the_words_are_for_people_in_both_languages(desk):
    english = pura("report", "verify", desk / "r.pdf")
    german = pura("report", "verify", desk / "r.pdf", "--language", "de")
    assert "Embedded record: not as it should be" in english.output
    assert "kein Protokoll eingebettet" in german.output
    assert pura("report", "verify", desk / "r.pdf", "--language", "fr").exit_code == 2


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="plays other systems on Linux")
def test_a_system_that_confines_no_reader_is_said_once_in_both_languages(desk, monkeypatch, run):
    for system, language, words in (
        ("linux", "en", None),
        ("win32", "en", "which this system does not confine"),
        ("darwin", "de", "den dieses System nicht einschränkt"),
    ):
        asked = ("report", "verify", str(desk / "r.pdf"), "--language", language)
        with monkeypatch.context() as change:
            change.setattr(sys, "platform", system)
            said, quiet = run(*asked)[2], run("--quiet", *asked)[2]
        assert said.count(words or "confine") == (words is not None), (system, said)
        assert (words or "confine") not in quiet


def test_nothing_is_overwritten_and_a_wrong_passphrase_writes_nothing(desk):
    (desk / "pass.txt").write_text("another one\n")
    assert refusal(sign(desk)) == "signing-passphrase"
    assert not (desk / "s.pdf").exists()
    (desk / "s.pdf").write_text("mine")
    assert refusal(sign(desk)) == "file-exists"
    assert (desk / "s.pdf").read_text() == "mine"


def test_a_missing_file_is_named(desk):
    assert refusal(pura("report", "verify", desk / "gone.pdf")) == "file-unreadable"
