"""``pura manifest`` in this process, read by another's verifier."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.core.certificates import authority, key_pem, manifest_signer, packed, pem
from tests.core.cli.conftest import pura, refusal
from tests.core.provenance.test_writing import verdict

import pura as package
from pura.base.paths import user_paths
from pura.provenance.binding import FINGERPRINT, binding_value
from pura.provenance.writing import COMMENT, DETACHED, WRAPPER
from pura.register.rows import Issue
from pura.register.store import Register
from pura.scheme import Field, Payload, PayloadSeries, Profile

WORDS = "secret words"
NAME = "org.example.pura.1"
TEXT = "The bridge stays closed.\r\nCafe\u0301.\n" * 5
FIELDS = (Field(name="customer", bits=12, kind="integer"),)
PROFILE = Profile(payload_bits=12, blocks=4, vocab_size=100, fields=FIELDS)
BITS = "000110100001"


HOUSE = "a" * 16
"""Fingerprint of a key; the register needs no secret."""


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    root = authority()
    key, certificate = manifest_signer(root)
    (tmp_path / "desk.p12").write_bytes(packed(key, certificate, WORDS.encode()))
    (tmp_path / "desk.pem").write_bytes(pem(certificate, root[1]))
    (tmp_path / "desk.key").write_bytes(key_pem(key))
    (tmp_path / "locked.key").write_bytes(key_pem(key, WORDS.encode()))
    (tmp_path / "root.pem").write_bytes(pem(root[1]))
    (tmp_path / "words").write_text(WORDS)
    (tmp_path / "words").chmod(0o600)
    (tmp_path / "house.json").write_bytes(PROFILE.to_json().encode())
    for name in ("letter.txt", "letter.md", "letter.docx"):
        (tmp_path / name).write_text(TEXT, encoding="utf-8", newline="")
    (tmp_path / "latin.txt").write_bytes("Café".encode("latin-1"))
    return tmp_path


def options(desk: Path, payload: tuple[str, ...] = ("--payload", "0x1a1")) -> tuple[object, ...]:
    return ("--profile", desk / "house.json", *payload, "--soft-binding", NAME)


def test_a_text_is_signed_in_each_form_and_with_each_kind_of_file(
    desk: Path, rows: Callable[[str], list[dict[str, Any]]]
) -> None:
    pkcs = ("--certificate", desk / "desk.p12", "--passphrase-file", desk / "words")
    plain = ("--certificate", desk / "desk.pem", "--certificate-key", desk / "desk.key")
    locked = (
        "--certificate",
        desk / "desk.pem",
        "--certificate-key",
        desk / "locked.key",
        *pkcs[2:],
    )
    for text, credential, form in (
        ("letter.txt", pkcs, WRAPPER),
        ("letter.md", plain, COMMENT),
        ("letter.md", locked, DETACHED),
    ):
        to, store = desk / f"{form}.out", desk / f"{form}.c2pa"
        more = ("--embed", form) if form == DETACHED else ()
        words = ("manifest", "sign", desk / text, *options(desk), *credential, *more)
        done = pura(*words, "-o", to, "--store", store, "--json")
        assert done.exit_code == 0, (done.output, done.exception)
        (row,) = rows(done.output)
        assert (row["payload"], row["form"], row["signer"]) == (BITS, form, "Press Desk, Test")
        assert row["manifest"].encode() in store.read_bytes()
        if form == DETACHED:
            assert to.read_bytes() == store.read_bytes()
        found = to.read_bytes() if form != DETACHED else TEXT.encode()
        assert TEXT.encode() in found
        assert verdict(found, form, store.read_bytes())[:3] == ("valid", "valid", "match")
        assert refusal(pura(*words, "-o", to)) == "file-exists"


def test_what_cannot_be_signed_is_refused_for_what_it_is(desk: Path) -> None:
    good = (
        "--certificate",
        desk / "desk.pem",
        "--certificate-key",
        desk / "desk.key",
        "-o",
        desk / "out",
    )

    def refused(text: str, *more: object, given: tuple[object, ...] = options(desk)) -> str:
        return refusal(pura("manifest", "sign", desk / text, *given, *good, *more))

    assert refused("letter.docx") == refused("latin.txt") == "input-format"
    assert refused("letter.txt", "--embed", "a9") == "usage"
    assert refused("letter.txt", "--certificate-key", desk / "words") == "signing-pem"
    assert refused("letter.txt", "--certificate", desk / "root.pem") == "signing-match"
    assert refused("letter.txt", "--soft-binding", "pura 1") == "usage"
    assert refused("letter.txt", "--entry", 1) == "register"
    assert refused("letter.txt", given=options(desk, ("--payload", "01"))) == "payload"
    locked = ("--key", desk / "locked.key")
    assert refused("letter.txt", *locked) == "passphrase-missing"
    wrong = ("--passphrase-file", desk / "house.json")
    assert refused("letter.txt", *locked, *wrong) == "signing-passphrase"
    assert not (desk / "out").exists()


def test_the_register_names_the_manifest_of_a_payload(desk: Path) -> None:
    credential = ("--certificate", desk / "desk.pem", "--certificate-key", desk / "desk.key")
    with Register(user_paths().register, create=True) as register:
        series = PayloadSeries(key=HOUSE, profile=PROFILE.fingerprint)
        register.add(Issue(payload=Payload(text=BITS), series=series, who="Anna"))
        register.add(replace(register.entry(1).issue, series=replace(series, profile="d" * 16)))
    words = ("manifest", "sign", desk / "letter.txt", *options(desk, ("--field", "customer=417")))
    other = pura(*words, *credential, "-o", desk / "out", "--entry", 2)
    assert refusal(other) == "register-other-mark"
    done = pura(*words, *credential, "-o", desk / "out", "--entry", 1)
    assert done.exit_code == 0, (done.output, done.exception)
    found = pura("register", "find", "0x1a1", "--profile", desk / "house.json", "--key", HOUSE)
    manifest = json.loads(found.output)["manifest"]
    assert manifest.startswith("urn:c2pa:")
    assert manifest in done.output


def test_the_assertions_are_those_that_are_signed(desk: Path) -> None:
    done = pura("manifest", "assertion", desk / "letter.txt", *options(desk))
    rows = json.loads(done.output)["assertions"]
    labels = ["c2pa.actions.v2", "c2pa.soft-binding", "c2pa.soft-binding"]
    assert [row["label"] for row in rows] == labels
    value = binding_value(BITS, PROFILE.fingerprint)
    assert rows[1]["data"] == {"alg": NAME, "blocks": [{"scope": {}, "value": value}]}
    assert rows[2]["data"]["alg"] == FINGERPRINT


def test_a_program_signs_what_the_command_signs(desk: Path) -> None:
    given: dict[str, Any] = {"payload": {"customer": 417}, "profile": PROFILE, "soft_binding": NAME}
    locked: dict[str, Any] = {"certificate": desk / "desk.pem", "private_key": desk / "locked.key"}
    for text, form in ((TEXT, WRAPPER), (desk / "letter.md", COMMENT)):
        made = package.sign_manifest(text, **given, **locked, passphrase=WORDS)
        assert verdict(made.text.encode(), form)[:3] == ("valid", "valid", "match")
        assert TEXT in made.text
    with pytest.raises(package.PuraError, match="locked"):
        package.sign_manifest(TEXT, **given, **locked)


def test_a_text_is_not_written_where_its_manifest_could_not_be(desk: Path) -> None:
    given = ("generate", *options(desk), "--certificate", desk / "desk.pem")
    key = ("--certificate-key", desk / "desk.key")
    done = pura(*given, *key, "--embed", "none")
    assert done.exit_code == 2, done.output
    assert "--store" in done.output
    assert refusal(pura(*given, *key, "--embed", "a9")) == "usage"
    assert refusal(pura(*given, *key, "--soft-binding", "")) == "usage"
    assert refusal(pura(*given, "--certificate-key", desk / "words")) == "signing-pem"
    assert refusal(pura(*given, *key, "--store", desk / "words")) == "file-exists"
