"""``pura setup``, and commands that take a set-up whole."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.core.cli.conftest import pura, refusal
from tests.core.programs import lend

from pura.base.paths import user_paths
from pura.keys import Place
from pura.scheme import Profile, SecretKey
from pura.usecases.environment import Environment
from pura.usecases.setups import save_setup, setup_folder

WORDS = b"four words in a row"
NAMES = ("house", "contoso")


@pytest.fixture
def passphrase(tmp_path: Path) -> Path:
    """The file with the passphrase of the stored keys."""
    path = tmp_path / "passphrase"
    path.write_bytes(WORDS)
    path.chmod(0o600)
    return path


@pytest.fixture
def letter(tmp_path: Path, small_samples: dict[str, Any]) -> Path:
    """A text that is marked under the set-up “house”."""
    path = tmp_path / "letter.txt"
    path.write_text(small_samples["marked-tbcc"]["texts"][0]["text"], encoding="utf-8")
    return path


@pytest.fixture
def keys(small_models: Path, small_samples: dict[str, Any], lent: None) -> dict[str, str]:
    """Two set-ups that share a profile; only the key of “house” marked the samples."""
    paths = user_paths()
    lend(small_models, paths.models)
    at = Environment(paths=paths, device="cpu", ask_folder=lambda _new: bytearray(WORDS))
    setup_folder(at)  # before there are profiles: none becomes a set-up by itself
    sample = small_samples["marked-tbcc"]
    fingerprints = {}
    for name, key in zip(NAMES, (sample["key_hex"], "5c" * 32), strict=True):
        with SecretKey.from_hex(key) as secret:
            fingerprints[name] = at.keys.add(name, secret, place=Place.FILES).fingerprint
    at.profiles.save("letters", Profile.from_dict(sample["profile"]))
    for name in NAMES:
        save_setup(at, name=name, profile="letters", keys=(fingerprints[name],))
    return fingerprints


@pytest.fixture
def rows() -> Callable[[str], list[dict[str, Any]]]:
    """Read JSON lines."""
    return lambda text: [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def audited(letter: Path, passphrase: Path, *options: str) -> dict[str, Any]:
    """Audit the letter, and return its row."""
    done = pura("verify", letter, "--json", *options, file=passphrase)
    assert done.exit_code == 0, (done.output, done.exception)
    return dict(json.loads(done.stdout.splitlines()[0]))


@pytest.mark.parametrize(("name", "verdict"), [("house", "mark"), ("contoso", "none")])
def test_a_text_is_audited_with_a_set_up(
    keys: dict[str, str], letter: Path, passphrase: Path, name: str, verdict: str
) -> None:
    row = audited(letter, passphrase, "--setup", name)
    assert (row["key"]["fingerprint"], row["verdict"] == "mark") == (keys[name], verdict == "mark")


def test_environment_variables_mix_no_set_ups(
    keys: dict[str, str], letter: Path, passphrase: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In 0.4.0 the set-up “house” was read with the key that was chosen before."""
    monkeypatch.setenv("PURA_KEY", "contoso")
    monkeypatch.setenv("PURA_PROFILE", "nowhere")
    monkeypatch.setenv("PURA_MODEL", "nothing")
    row = audited(letter, passphrase, "--setup", "house")
    assert row["key"]["fingerprint"] == keys["house"]


def test_a_replaced_part_is_said(keys: dict[str, str], letter: Path, passphrase: Path) -> None:
    options = ("verify", letter, "--json", "--setup", "house", "--key", "contoso")
    done = pura(*options, file=passphrase)
    assert json.loads(done.stdout.splitlines()[0])["key"]["fingerprint"] == keys["contoso"]
    assert "“house”" in done.stderr
    assert "--key" in done.stderr


def test_generate_marks_with_a_set_up(
    keys: dict[str, str], passphrase: Path, tmp_path: Path
) -> None:
    text = tmp_path / "made.txt"
    done = pura(
        *("generate", "--setup", "house", "--prompt", "The city", "--tokens", "80"),
        *("--payload", "0x731264FC8", "-o", text),
        file=passphrase,
    )
    assert done.exit_code == 0, (done.output, done.exception)
    row = audited(text, passphrase, "--setup", "house")
    assert row["key"]["fingerprint"] == keys["house"]


@pytest.mark.parametrize("command", ["verify letter.txt", "serve", "generate --prompt x"])
def test_without_set_up_and_profile_nothing_begins(command: str) -> None:
    done = pura(*command.split())
    assert done.exit_code == 2
    assert "--setup" in done.output


def test_set_ups_are_stored_listed_shown_and_removed(
    keys: dict[str, str], rows: Callable[[str], list[dict[str, Any]]]
) -> None:
    both = ("setup", "new", "both", "--profile", "letters")
    done = pura(*both, "--key", "house", "--key", "contoso")
    assert done.exit_code == 0, (done.output, done.exception)
    listed = {row["name"]: row for row in rows(pura("setup", "list", "--json").stdout)}
    assert set(listed) == {"both", "contoso", "house"}
    assert [key["fingerprint"] for key in listed["both"]["keys"]] == [*keys.values()]
    assert all(row["ready"] for row in listed.values())
    assert pura("setup", "show", "both").exit_code == 0
    assert refusal(pura(*both, "--key", "house")) == "setup-exists"
    assert pura(*both, "--key", "house", "--force").exit_code == 0
    assert pura("setup", "remove", "both", "--yes").exit_code == 0
    assert refusal(pura("setup", "show", "both")) == "setup-not-found"


def test_a_set_up_that_cannot_be_used_says_so(
    keys: dict[str, str], rows: Callable[[str], list[dict[str, Any]]]
) -> None:
    assert pura("profile", "remove", "letters", "--yes").exit_code == 0
    shown = pura("setup", "show", "house")
    assert shown.exit_code == 1
    assert "letters" in shown.stderr
    assert [row["ready"] for row in rows(pura("setup", "list", "--json").stdout)] == [False, False]
    audited = pura("verify", "x.txt", "--setup", "house")
    assert audited.exit_code == 1
    assert "letters" in audited.stderr


def test_a_new_set_up_needs_parts_that_are_here(keys: dict[str, str]) -> None:
    new = ("setup", "new", "other")
    assert refusal(pura(*new, "--profile", "nowhere", "--key", "house")) == "profile-not-found"
    assert refusal(pura(*new, "--profile", "letters", "--key", "nobody")) == "key-not-found"
    missing = pura(*new, "--profile", "letters", "--key", "house", "--model", "gone")
    assert refusal(missing) == "model-missing"
    assert setup_folder(Environment(paths=user_paths())).names() == ("contoso", "house")


def test_doctor_names_set_ups_that_cannot_be_used(
    keys: dict[str, str], rows: Callable[[str], list[dict[str, Any]]]
) -> None:
    def grades() -> list[str]:
        checks = rows(pura("doctor", "--json").stdout)
        return [row["grade"] for row in checks if row["check"] == "setup"]

    assert grades() == ["ok"]
    assert pura("key", "remove", "contoso", "--yes").exit_code == 0
    assert grades() == ["warning", "ok"]
    (user_paths().setups / "house.json").write_text("{")
    assert grades() == ["warning", "fault", "ok"]


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_is_audited_with_a_set_up(
    keys: dict[str, str], letter: Path, passphrase: Path, tmp_path: Path, name: str
) -> None:
    table = tmp_path / "found.jsonl"
    done = pura("batch", "run", letter, "--setup", name, "-o", table, file=passphrase)
    assert done.exit_code == 0, (done.output, done.exception)
    [row] = [json.loads(line) for line in table.read_text(encoding="utf-8").splitlines()]
    assert (row["verdict"] == "mark") is (name == "house")


QUOTED = " ".join(["Nobody who had seen the harbour that morning would have believed it."] * 3)


def test_a_set_up_leaves_quotations_out_and_a_part_takes_them(
    keys: dict[str, str], letter: Path, passphrase: Path, tmp_path: Path
) -> None:
    made = pura(
        *("setup", "new", "essays", "--profile", "letters", "--key", "house"),
        *("--leave-out", "quotations"),
        file=passphrase,
    )
    assert made.exit_code == 0, made.output
    shown = pura("setup", "show", "essays", file=passphrase)
    assert "leaves out: quotations" in shown.stdout
    marked = letter.read_text(encoding="utf-8")
    middle = marked.index(" ", len(marked) // 2)
    essay = tmp_path / "essay.txt"
    essay.write_text(f"{marked[:middle]} “{QUOTED}”{marked[middle:]}", encoding="utf-8")
    found = audited(essay, passphrase, "--setup", "essays")
    assert found["verdict"] == "mark"
    (entry,) = found["left_out"]
    assert (entry["kind"], entry["words"], entry["part"]) == ("quotation", 36, "quotation 1")
    whole = audited(essay, passphrase, "--setup", "house")
    assert whole["left_out"] == []
    # The option adds to what the set-up says.
    both = audited(essay, passphrase, "--setup", "house", "--leave-out", "quotations")
    assert both["left_out"] == found["left_out"]
    piece = audited(essay, passphrase, "--setup", "essays", "--part", "quotation 1")
    assert piece["verdict"] != "mark"
    assert [one["kind"] for one in piece["left_out"]] == ["main-text"]


def test_a_batch_leaves_the_same_out_of_files_and_rows(
    keys: dict[str, str],
    letter: Path,
    passphrase: Path,
    tmp_path: Path,
    rows: Callable[[str], list[dict[str, Any]]],
) -> None:
    text = f"{letter.read_text(encoding='utf-8')} “{QUOTED}”"
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    (tmp_path / "b.jsonl").write_text(json.dumps({"text": text}) + "\n", encoding="utf-8")
    out = tmp_path / "found.jsonl"
    done = pura(
        *("batch", "run", tmp_path / "a.txt", tmp_path / "b.jsonl", "-o", out),
        *("--setup", "house", "--leave-out", "quotations"),
        file=passphrase,
    )
    assert done.exit_code == 0, (done.output, done.exception)
    found = rows(out.read_text(encoding="utf-8"))
    assert [row["left_out_kinds"] for row in found] == [["quotation"], ["quotation"]]
    assert [row["left_out_words"] for row in found] == [36, 36]
    assert found[0]["log10_e"] == pytest.approx(found[1]["log10_e"], abs=0.01)


def test_what_no_rule_leaves_out_is_refused(
    keys: dict[str, str], letter: Path, passphrase: Path
) -> None:
    done = pura("verify", letter, "--setup", "house", "--leave-out", "jokes", file=passphrase)
    assert refusal(done) == "usage"
    words = ("setup", "new", "x", "--profile", "letters", "--key", "house", "--leave-out", "jokes")
    assert refusal(pura(*words, file=passphrase)) == "usage"
