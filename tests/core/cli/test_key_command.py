"""``pura key`` in this process, on a machine without a keyring."""

import base64
import getpass
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.core.cli.conftest import pura, refusal
from tests.core.programs import for_owner_alone

from pura.base.errors import PuraError
from pura.base.paths import user_paths
from pura.cli import options, terminal
from pura.cli.__main__ import app
from pura.scheme import Profile, SecretKey

WORDS = "four words in a row"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pass.txt").write_text(WORDS + "\nnot this line\n")
    return tmp_path


def read_key(name: str) -> str:
    at = options.environment()
    with at.opened_keys(options.find_keys(at, [name], None)) as [(key, _)]:
        return key.fingerprint


@pytest.mark.slow
def test_a_key_lives_in_an_encrypted_file_where_there_is_no_keyring(folder):
    passphrase = folder / "pass.txt"
    assert refusal(pura("key", "new", "Newsroom")) == "no-keyring"
    assert pura("key", "state").exit_code == 1
    made = pura("key", "new", "Newsroom", "--note", "first", file=passphrase)
    assert made.exit_code == 0, made.output
    fingerprint = made.stdout.split()[1]
    listed = json.loads(pura("key", "list", "--json").stdout)
    assert listed["fingerprint"] == fingerprint
    assert (listed["note"], listed["place"], listed["role"]) == ("first", "files", "single")
    assert json.loads(pura("key", "state", "--json").stdout)["state"] == "locked"
    user_paths().config.joinpath("keys").chmod(0o755)
    told = pura("key", "list")
    assert ("chmod 700" in told.stderr) == (os.name != "nt")  # modes are Unix's
    assert "chmod" not in told.stdout
    # Without the passphrase the folder is locked; with a wrong one it says so.
    with pytest.raises(PuraError, check=lambda e: e.code == "keyring-locked"):
        read_key("Newsroom")
    (folder / "wrong.txt").write_text("four words in a raw")
    checked = pura("key", "state", "--check", file=folder / "wrong.txt")
    assert refusal(checked) == "key-file-passphrase"
    checked = pura("key", "state", "--check", file=passphrase)
    assert checked.exit_code == 0
    assert "locked" not in checked.stdout, "reading the keys has opened the folder"
    assert "can be read" in checked.stdout
    assert read_key("Newsroom") == fingerprint, "the file is remembered for the run"


@pytest.mark.parametrize("form", ["hex", "base64"])
@pytest.mark.parametrize("way", ["stdin", "file", "prompt"])
def test_import_by_each_way_and_form(folder, monkeypatch, form, way):
    key = SecretKey.generate()
    text = key.to_hex() if form == "hex" else base64.b64encode(key.copy_secret()).decode()
    words: list[object] = ["key", "import", "Newsroom"]
    if way == "file":
        (folder / "key").write_text(text)
        words += ["--file", folder / "key"]
    elif way == "prompt":
        from pura.cli import keys

        monkeypatch.setattr(keys, "interactive", lambda: True)
        monkeypatch.setattr(getpass, "getpass", lambda _: text)
    done = pura(*words, stdin=text if way == "stdin" else "", file=folder / "pass.txt")
    assert done.exit_code == 0, done.output
    assert done.stdout.split() == ["Newsroom", key.fingerprint]
    assert text not in done.output


@pytest.mark.slow
def test_export_is_encrypted_asks_and_comes_back(folder):
    passphrase, copy = folder / "pass.txt", folder / "copy.purakey"
    (folder / "other.txt").write_text("another set of words")
    pura("key", "new", "House", "--note", "n", file=passphrase)
    pura("key", "derive", "House", "newsroom-2026", file=passphrase)
    daily = pura("key", "derive", "House", "--epoch", "2026-11-22", file=passphrase)
    assert daily.stdout.startswith("House/2026-11-22  ")
    assert pura("key", "derive", "House", "a", "--epoch", "2026-11", file=passphrase).exit_code == 2
    name = "House/newsroom-2026"
    words = ("key", "export", name, "-o", copy, "--passphrase-file", folder / "other.txt")
    refused = pura(*words, stdin="n\n", file=passphrase)
    assert refused.exit_code == 1
    assert "can forge marks" in refused.output
    assert not copy.exists()
    done = pura(*words, stdin="y\n", file=passphrase)
    assert done.exit_code == 0, done.output
    assert for_owner_alone(copy)
    assert refusal(pura(*words, "--yes", file=passphrase)) == "file-exists"
    before = json.loads(pura("key", "list", "--json").stdout.splitlines()[1])
    assert pura("key", "remove", name, "--yes", file=passphrase).exit_code == 0
    again = ("key", "import", "--file", copy, "--passphrase-file")
    assert refusal(pura(*again, passphrase, file=passphrase)) == "key-file-passphrase"
    done = pura(*again, folder / "other.txt", file=passphrase)
    assert done.exit_code == 0, done.output
    after = json.loads(pura("key", "list", "--json").stdout.splitlines()[1])
    assert after == before, "name, date, note, master and label came back"
    short = folder / "short.txt"
    short.write_text("short")
    out = ("key", "export", "House", "-o", "-", "--yes", "--passphrase-file")
    assert refusal(pura(*out, short, file=passphrase)) == "passphrase-short"
    assert pura(*out, folder / "other.txt", file=passphrase).stdout.startswith("-----BEGIN PURA")


def test_rename_note_and_a_deletion_that_names_what_is_lost(folder):
    passphrase = folder / "pass.txt"
    made = pura("key", "new", "House", file=passphrase)
    fingerprint = made.stdout.split()[1]
    assert pura("key", "rename", "House", "Haus").exit_code == 0
    assert pura("key", "note", "Haus", "kept in the safe").exit_code == 0
    assert pura("key", "derive", "Haus", "desk", file=passphrase).exit_code == 0
    profile = Profile(
        payload_bits=24, code="tbcc", vocab_size=50_000, name="Internal", key=fingerprint
    )
    profiles = user_paths().profiles
    profiles.mkdir(parents=True)
    (profiles / "internal.json").write_text(profile.to_json())
    (profiles / "broken.json").write_text("{")
    asked = pura("key", "remove", "Haus", stdin="n\n")
    assert asked.exit_code == 1
    for part in ("Haus", fingerprint, "Internal", "Haus/desk", "cannot be undone", "Audits"):
        assert part in asked.output, part
    assert len(pura("key", "list").stdout.splitlines()) == 2
    asked = pura("key", "remove", "Haus/desk", stdin="n\n")
    assert "“desk”" in asked.output
    assert fingerprint in asked.output
    assert pura("key", "remove", "Haus", stdin="y\n").exit_code == 0
    assert len(pura("key", "list").stdout.splitlines()) == 1


def test_no_command_takes_a_secret_as_an_argument():
    from typer.main import get_command

    group: Any = get_command(app)
    for name, command in group.commands["key"].fetched().commands.items():
        for option in command.params:
            words = {option.name, *getattr(option, "opts", [])}
            assert not words & {"--passphrase", "--key", "--secret", "--hex", "secret"}, name


def test_a_new_passphrase_is_asked_for_twice(monkeypatch):
    answers = iter(["short", WORDS, "not the same at all", WORDS, WORDS])
    monkeypatch.setattr(getpass, "getpass", lambda _: next(answers))
    assert terminal.ask_new("Passphrase") == bytearray(WORDS.encode())
    answers = iter(["short"] * 3)
    with pytest.raises(PuraError, match="No passphrase was chosen"):
        terminal.ask_new("Passphrase")


def test_a_passphrase_file_must_hold_one(folder):
    (folder / "empty").write_text("\nsecond line")
    (folder / "binary").write_bytes(b"\xff\xfe\xff")
    for name in ("empty", "binary", "missing"):
        with pytest.raises(PuraError, check=lambda e: e.code == "passphrase-missing"):
            terminal.read_passphrase(folder / name)
    with pytest.raises(PuraError, match="nobody can be asked"):
        terminal.passphrase(None, "Passphrase")


def test_a_key_that_is_named_twice_counts_once(folder):
    key = SecretKey.generate()
    for name in ("a", "b"):
        (folder / name).write_text(key.to_hex())
    (folder / "c").write_text(SecretKey.generate().to_hex())
    at = options.environment()
    refs = options.find_keys(at, None, [folder / n for n in ("a", "b", "c")])
    with at.opened_keys(refs) as found:
        assert len(found) == 2
        assert found[0][0] == key, "the order is that of the options"


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.slow
def test_a_secret_at_the_prompt_is_not_echoed(folder):
    """The real command on a real terminal: a key and a new passphrase are typed."""
    import pty

    key = SecretKey.generate()
    terminal, inner = pty.openpty()
    # getpass wants the terminal of its session, so the child takes this one as its own.
    lead = (
        "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
        "os.execv(sys.executable, [sys.executable, '-m', 'pura.cli', 'key', 'import', 'Typed'])"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", lead],
        stdin=inner,
        stdout=inner,
        stderr=inner,
        start_new_session=True,
    )
    os.close(inner)
    seen, answers = b"", [key.to_hex(), WORDS, WORDS]
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:
            break
        if not piece:
            break
        seen += piece
        if piece.rstrip().endswith(b":") and answers:
            os.write(terminal, answers.pop(0).encode() + b"\n")
    os.close(terminal)
    assert child.wait(60) == 0, seen.decode()
    assert answers == []
    assert key.fingerprint in seen.decode()
    assert key.to_hex() not in seen.decode()
    assert WORDS not in seen.decode()


@pytest.fixture
def encrypted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An encrypted key file in the working folder, which ``pass.txt`` opens, and a profile."""
    monkeypatch.chdir(folder)
    made = pura("key", "new", "House", file=Path("pass.txt"))
    out = ("key", "export", "House", "--yes", "-o", "house.purakey")
    done = pura(*out, "--passphrase-file", "pass.txt", file=Path("pass.txt"))
    assert (made.exit_code, done.exit_code) == (0, 0), (made.output, done.output)
    pura("key", "remove", "House", "--yes", file=Path("pass.txt"))
    Path("wrong.txt").write_text("four words in a raw")
    Path("house.json").write_text(Profile(payload_bits=36, blocks=4, vocab_size=100).to_json())
    return Path("house.purakey")


def mark_with(key: Path, *, file: Path | None = None) -> PuraError:
    """Mark a text behind a prompt that is missing, and return the error that ends the command."""
    words = ("generate", "--profile", "house.json", "--prompt-file", "gone.txt", "--payload", "0x1")
    done = pura(*words, "--key-file", key, file=file)
    assert isinstance(done.exception, PuraError), (done.output, done.exception)
    return done.exception


def test_an_encrypted_key_file_is_opened_by_the_programs_option(encrypted: Path) -> None:
    assert mark_with(encrypted, file=Path("pass.txt")).code == "input-unreadable"
    assert mark_with(encrypted, file=Path("wrong.txt")).code == "key-file-passphrase"


def test_an_encrypted_key_file_is_opened_by_the_environment(
    encrypted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PURA_PASSPHRASE_FILE", "pass.txt")
    assert mark_with(encrypted).code == "input-unreadable"


def test_a_missing_passphrase_of_a_key_file_points_to_what_gives_it(encrypted: Path) -> None:
    error = mark_with(encrypted)
    assert (error.key, error.code) == ("command.ask-key-file", "passphrase-missing")
    assert "pura --passphrase-file FILE" in error.hint
    assert "PURA_PASSPHRASE_FILE" in error.hint


def test_a_command_with_an_option_of_its_own_points_to_that(encrypted: Path) -> None:
    done = pura("key", "import", "--file", encrypted, file=Path("pass.txt"))
    assert isinstance(done.exception, PuraError)
    assert done.exception.values["option"] == "--passphrase-file"
