"""``pura questions``, and the commands that keep questions or read after them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.core.cli.conftest import pura
from tests.core.programs import lend

from pura import api
from pura.base.paths import user_paths
from pura.keys import Place
from pura.register.store import Register
from pura.scheme import Profile, SecretKey
from pura.usecases.environment import Environment
from pura.usecases.questions import KEY_NAME
from pura.usecases.registers import select_issued
from pura.usecases.setups import save_setup, setup_folder

WORDS = b"four words in a row"
PROMPT = "The plimosa council met on Tuesday"


@pytest.fixture
def passphrase(tmp_path: Path) -> Path:
    """The file with the passphrase of the stored keys."""
    path = tmp_path / "passphrase"
    path.write_bytes(WORDS)
    path.chmod(0o600)
    return path


@pytest.fixture
def desk(small_models: Path, small_samples: dict[str, Any], lent: None) -> Environment:
    """A set-up “house”, and nothing kept yet."""
    lend(small_models, user_paths().models)
    at = Environment(paths=user_paths(), device="cpu", ask_folder=lambda _new: bytearray(WORDS))
    setup_folder(at)
    sample = small_samples["marked-tbcc"]
    with SecretKey.from_hex(sample["key_hex"]) as secret:
        key = at.keys.add("newsroom", secret, place=Place.FILES)
    at.profiles.save("letters", Profile.from_dict(sample["profile"]))
    save_setup(at, name="house", profile="letters", keys=(key.fingerprint,))
    return at


@pytest.fixture
def letter(desk: Environment, passphrase: Path, tmp_path: Path) -> Path:
    """A text whose question is kept."""
    path = tmp_path / "made.txt"
    done = pura(
        *("generate", "--setup", "house", "--prompt", PROMPT, "--tokens", "60"),
        *("--who", "City paper", "--keep-question", "-o", path),
        file=passphrase,
    )
    assert done.exit_code == 0, (done.output, done.exception)
    assert "The question is kept as number 1." in done.stderr
    return path


def test_a_question_is_kept_used_shown_and_erased(
    desk: Environment, letter: Path, passphrase: Path, tmp_path: Path, rows: Any
) -> None:
    """One life of one question."""
    assert KEY_NAME in {entry.name for entry in desk.keys.list()}
    status = json.loads(pura("questions", "status", "--json").stdout)
    assert (status["there"], status["questions"], status["days"]) == (True, 1, 30)
    shown = pura("questions", "status").stdout
    assert "One question is kept, each for 30 days." in " ".join(shown.split())
    # An audit reads after it; without --questions the record does not speak of any.
    plain = pura("verify", letter, "--setup", "house", "--json", file=passphrase)
    assert "questions" not in json.loads(plain.stdout.splitlines()[0])
    done = pura("verify", letter, "--setup", "house", "--json", "--questions", file=passphrase)
    (line, *_) = done.stdout.splitlines()
    row = json.loads(line)
    assert row["verdict"] == "mark"
    assert (row["questions"]["tried"][0]["number"], row["questions"]["fits"]) == (1, "yes")
    words = pura("verify", letter, "--setup", "house", "--questions", file=passphrase).output
    assert "The text fits the question that was asked" in " ".join(words.split())
    german = pura(
        "--language", "de", "verify", letter, "--setup", "house", "--questions", file=passphrase
    )
    pura("--language", "en", "questions", "status")
    assert "Der Text passt zu der gestellten Frage" in " ".join(german.output.split())
    # In a batch, and by a set-up that says so.
    out = tmp_path / "rows.jsonl"
    done = pura(
        "batch", "run", letter, "--setup", "house", "--questions", "-o", out, file=passphrase
    )
    assert done.exit_code == 0, (done.output, done.exception)
    done = pura(
        *("setup", "new", "asked", "--profile", "letters", "--key", "newsroom", "--questions")
    )
    assert done.exit_code == 0, (done.output, done.exception)
    assert "reads after stored questions" in pura("setup", "list").stdout
    done = pura("verify", letter, "--setup", "asked", "--json", file=passphrase)
    assert json.loads(done.stdout.splitlines()[0])["questions"]["stored"] == 1
    # What was issued says until when it is kept, once its key can be read.
    desk.keys.files.unlock(bytearray(WORDS))
    (until,) = select_issued(desk, profile=None).kept.values()
    assert until.isoformat() > status["newest"]
    # Nothing of it is in an export of the register.
    table = tmp_path / "issued.csv"
    pura("register", "export", table)
    assert "plimosa" not in table.read_text(encoding="utf-8")
    # Checked, then erased.
    (check,) = rows(pura("questions", "verify", "--json", file=passphrase).stdout)
    assert check["sound"]
    (nothing,) = rows(pura("questions", "erase", "--json", file=passphrase).stdout)
    assert nothing["erased"] == 0
    gone = pura("questions", "erase", "--who", "City paper", "--yes", file=passphrase)
    assert "One question was erased" in gone.stdout
    assert json.loads(pura("questions", "status", "--json").stdout)["questions"] == 0


def test_a_bundle_takes_no_question_along(
    desk: Environment, letter: Path, passphrase: Path, tmp_path: Path
) -> None:
    team = tmp_path / "house.purateam"
    words = (
        "bundle",
        "create",
        "--key",
        "newsroom",
        "--profile",
        "letters",
        "--output",
        team,
        "--passphrase-file",
        passphrase,
    )
    done = pura(*words, file=passphrase)
    assert done.exit_code == 0, (done.output, done.exception)
    store = desk.paths.questions.read_bytes()
    with closing(sqlite3.connect(desk.paths.questions)) as db:
        sealed = [blob for (blob,) in db.execute("SELECT sealed FROM questions")]
    assert sealed
    assert not any(blob in team.read_bytes() for blob in (store, *sealed))
    fingerprint = json.loads(pura("questions", "status", "--json").stdout)["key"].encode()
    assert fingerprint not in team.read_bytes()


def test_without_a_store_it_is_said(desk: Environment, passphrase: Path, tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_text("Some words.")
    assert "no question is kept" in " ".join(pura("questions", "status").stdout.split())
    for words in (
        ("questions", "verify"),
        ("questions", "erase"),
        ("verify", text, "--setup", "house", "--questions"),
    ):
        done = pura(*words, file=passphrase)
        assert done.exit_code == 1
        assert "There is no question store" in f"{done.output}{done.exception}"
    assert not desk.paths.questions.exists()


def test_a_store_of_another_key_is_not_opened(
    desk: Environment, letter: Path, passphrase: Path
) -> None:
    desk.keys.files.unlock(bytearray(WORDS))
    desk.keys.delete(KEY_NAME)
    done = pura("verify", letter, "--setup", "house", "--questions", file=passphrase)
    assert done.exit_code == 1
    assert "which is not here" in done.output


def test_a_store_that_was_changed_fails_the_check(
    desk: Environment, letter: Path, passphrase: Path
) -> None:
    with closing(sqlite3.connect(desk.paths.questions)) as db, db:
        db.execute("UPDATE questions SET until = until + 1")
    done = pura("questions", "verify", file=passphrase)
    assert done.exit_code == 1
    assert "FAILED" in done.stdout


@pytest.mark.parametrize("words", [("--before", "yesterday"), ("--number", "0")])
def test_what_is_no_day_or_number_is_refused(words: tuple[str, ...]) -> None:
    assert pura("questions", "erase", *words, "--yes").exit_code == 2


def test_a_program_reads_after_questions(
    desk: Environment, letter: Path, passphrase: Path, small_model: Any, monkeypatch: Any
) -> None:
    """``pura.verify``: the user's store, or another file."""
    monkeypatch.setattr(api, "_environment", lambda _paths: desk)
    for questions in (True, desk.paths.questions):
        audit = api.verify(letter, setup="house", model=small_model, questions=questions)
        assert audit.questions is not None
        assert audit.questions.fits == "yes"
    assert api.verify(letter, setup="house", model=small_model).questions is None
    with Register(desk.paths.register, read_only=True) as register:
        assert len(register) == 1
