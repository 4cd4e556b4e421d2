"""Small words of the command: what it warns of, refuses, and says where there is nothing."""

import io
import sys
from pathlib import Path

import pytest
from tests.core.cli.conftest import pura, refusal
from tests.core.records import RECORD

from pura.cli.generate import _warn_of_few
from pura.cli.terminal import out, write_alike, write_row, write_text
from pura.scheme import Profile, SecretKey

DATA = Path(__file__).resolve().parents[2] / "data"


def test_a_payload_wider_than_texts_are_long_is_warned_of(tmp_path):
    wide = pura("profile", "new", "--bits", 3000, "--vocab-size", 100, "-o", tmp_path / "p.json")
    assert (wide.exit_code, (tmp_path / "p.json").is_file()) == (0, True)
    assert "thousands of tokens" in wide.stderr
    usual = pura("profile", "new", "--vocab-size", 100, "-o", tmp_path / "q.json")
    assert "--bits" not in usual.stderr


def test_too_few_tokens_for_the_payload_are_warned_of(capsys):
    profile = Profile(payload_bits=36, code="tbcc", vocab_size=100)
    _warn_of_few(5, profile)
    said = " ".join(capsys.readouterr().err.split())
    assert "can carry about 2 of the 36 payload bits" in said
    _warn_of_few(200, profile)
    assert not capsys.readouterr().err


def test_no_bits_name_the_way_out_of_who_makes_a_profile():
    for bits in (0, 5000):
        refused = pura("profile", "new", "--bits", bits, "--vocab-size", 100)
        assert refused.exit_code == 2
        assert "1 to 4,096 payload bits" in refused.stderr


def test_a_path_is_no_name(tmp_path):
    for name in ("a/b", "..\\b"):
        assert (
            pura("profile", "new", "--name", name, "--vocab-size", 100).exception.key == "name.path"
        )
    assert pura("profile", "list").stdout == ""
    (tmp_path / "weights.gguf").write_bytes(b"GGUF")
    assert (
        pura("model", "import", tmp_path / "weights.gguf", "--name", "../b").exception.key
        == "name.path"
    )


def test_a_profile_with_a_name_is_called_by_it_its_fingerprint_stands_once():
    from pura.record.finding import compared_of, rendered

    fingerprint = RECORD.profile.fingerprint
    for language in ("en", "de"):
        named, alone = (
            rendered(compared_of(RECORD.profile.with_(name=name), RECORD.key.fingerprint), language)
            for name in ("house", None)
        )
        assert f"house ({fingerprint})" in named[0]
        assert f" {fingerprint}" in alone[0]
        assert named[0].count(fingerprint) == alone[0].count(fingerprint) == 1


def test_a_key_is_derived_for_one_of_two():
    refused = pura("key", "derive", "master")
    assert refused.exit_code == 2
    assert "one of the two" in " ".join(refused.stderr.split())


def test_empty_lists_say_so():
    for group in ("profile", "key", "model"):
        listed = pura(group, "list")
        assert (listed.exit_code, listed.stdout) == (0, "")
        assert f"pura {group}" in listed.stderr


def test_without_keys_the_way_to_one_is_named():
    refused = pura("key", "rename", "house", "mill")
    assert "pura key new NAME" in refused.exception.hint


def test_a_missing_file_is_said_before_a_passphrase_is_asked_for(tmp_path):
    gone = tmp_path / "gone.p12"
    for words in (
        ("bundle", "import", gone),
        ("power", "sign", "house", "--certificate", gone),
        ("caselog", "sign-head", "--certificate", gone),
        ("report", "sign", gone, tmp_path / "to.pdf", "--certificate", gone),
    ):
        refused = pura(*words)
        assert refused.exception.key == "file.read", words


def test_a_file_or_pipe_gets_the_same_bytes_on_windows(monkeypatch):
    text, pipe = "Łódź → 東京\nend", io.BytesIO()
    # As Python opens a pipe there: a code page, and two characters at each line end.
    stream = io.TextIOWrapper(pipe, encoding="cp1252", newline="\r\n")
    monkeypatch.setattr(sys, "stdout", stream)
    with pytest.raises(UnicodeEncodeError):
        write_text(text)
    with monkeypatch.context() as there:
        there.setattr(sys, "platform", "win32")
        write_alike()
    write_text(text)
    out.print("→")
    write_row({"text": "→"})
    stream.flush()
    assert pipe.getvalue() == f'{text}→\n{{"text": "→"}}\n'.encode()


def test_a_payload_outside_the_limits_is_written_on_demand_only(tmp_path):
    """In 0.4.0 it was written without a word; what follows here is that no model is installed."""
    field = {"name": "customer", "bits": 12, "kind": "integer", "limits": ["..400"]}
    profile = Profile.new(vocab_size=100, bits=12, fields=[field])
    profile.save(tmp_path / "house.json")
    (tmp_path / "key.txt").write_text(SecretKey.generate().to_hex())
    words = ("generate", "--profile", tmp_path / "house.json", "--key-file", tmp_path / "key.txt")
    given = (*words, "--prompt", "A", "--tokens", 60)
    assert refusal(pura(*given, "--field", "customer=417")) == "payload-outside"
    assert refusal(pura(*given, "--field", "customer=400")) != "payload-outside"
    wanted = pura(*given, "--field", "customer=417", "--outside-limits")
    assert refusal(wanted) != "payload-outside"
