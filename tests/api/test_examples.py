"""The example scripts run, and find what they should.

Those that read a text that is there read it with the built-in model; those that write one have it
written, and read, by the small model.
"""

import csv
import runpy
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pura.base.paths import user_paths
from pura.batch.inputs import Inputs
from pura.caselog import CaseLog, list_cases
from pura.keys import load_key, passphrase_bytes
from pura.register.store import Register
from pura.report.check import BAD, check_report
from pura.scheme import Profile
from pura.usecases.audits import Setup
from pura.usecases.batch import run_batch
from pura.usecases.environment import Environment
from pura.usecases.keys import open_key_file

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "reference" / "examples"
OLD = ROOT / "tests" / "data" / "v0.1.0"


@pytest.fixture(scope="module")
def key_hex() -> str:
    words = (OLD / "passphrase.txt").read_text().strip()
    with load_key(OLD / "desk.purakey", lambda: passphrase_bytes(words)).key as key:
        return key.to_hex()


@pytest.fixture
def papers(tmp_path, key_hex, lent, monkeypatch) -> Path:
    """A folder with what the examples need."""
    user_paths().models.parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "desk.key").write_text(key_hex)
    for name in ("letter.txt", "house.json"):
        shutil.copy(OLD / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def desk(papers, installed_models) -> Path:
    """The folder, and the built-in model among the user's."""
    user_paths().models.symlink_to(installed_models, target_is_directory=True)
    return papers


@pytest.fixture
def writing_desk(papers, small_models, small_model) -> Path:
    """The folder, and the small model among the user's."""
    user_paths().models.symlink_to(small_models, target_is_directory=True)
    house = Profile.load(papers / "house.json").with_(model=small_model.fingerprint)
    (papers / "house.json").write_text(house.to_json())
    return papers


def run(name: str) -> None:
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")


def test_every_example_is_listed_and_tested():
    listed = (EXAMPLES / "README.md").read_text()
    tests = Path(__file__).read_text()
    for path in EXAMPLES.glob("*.py"):
        assert f"[{path.name}]({path.name})" in listed
        assert f'run("{path.name}")' in tests


def test_verify_a_text(desk, capsys):
    run("verify_text.py")
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("mark ")
    assert told[1:] == ["customer: 417", "issued: 2026-11-21", "release: 1.4"]
    assert "417" in (desk / "letter.html").read_text(encoding="utf-8")


def test_verify_many(desk):
    with (desk / "texts.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerows([["id", "text"], ["a", (OLD / "letter.txt").read_text()], ["b", ""]])
    run("verify_many.py")
    with (desk / "findings.csv").open(newline="", encoding="utf-8") as file:
        first, second = csv.DictReader(file)
    assert (first["id"], first["verdict"], first["error"]) == ("a", "mark", "")
    assert (second["id"], second["verdict"], second["error"]) == ("b", "", "input-empty")


def test_batch_rows(desk, capsys):
    profile = Profile.load(desk / "house.json")
    at = Environment(paths=user_paths())
    ref = open_key_file(at, desk / "desk.key", None)
    done = run_batch(
        at,
        inputs=Inputs(names=("letter.txt", "missing.txt")),
        setup=Setup(keys=(ref,), profile=profile),
        output="found.jsonl",
        records=Path("records"),
    )
    assert done.outcomes == {"mark": 1, "not-examinable": 1}
    run("batch_rows.py")
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("letter.txt mark 0")
    assert first.endswith("steps")
    assert second == "missing.txt input-unreadable"


def test_mark_and_verify(writing_desk, capsys):
    run("mark_and_verify.py")
    assert capsys.readouterr().out == "mark City paper\n"


def test_own_profile(writing_desk, capsys):
    run("own_profile.py")
    assert Profile.load(writing_desk / "newsroom.json").payload_bits == 28
    assert "'verdict': 'mark'" in (told := capsys.readouterr().out)
    assert "'field.newsroom': 'sports'" in told


def test_case_and_report(desk):
    run("case_and_report.py")
    with CaseLog(user_paths().caselog, read_only=True) as log:
        [case] = list_cases(log)
    assert (case.name, len(case.items)) == ("Letter 17", 1)
    found = check_report((desk / "letter.pdf").read_bytes(), moment=datetime.now(UTC))
    assert [check.key for check in found.checks if check.state == BAD] == []


def test_serving(writing_desk, capsys):
    run("serving.py")
    assert capsys.readouterr().out.strip() == f"mark {0x1A127514:036b}"


def test_serving_loop(writing_desk, capsys):
    run("serving_loop.py")
    assert capsys.readouterr().out.strip() == "mark ann"
    with Register(writing_desk / "register.sqlite3", read_only=True) as register:
        assert [entry.issue.who for entry in register.entries()] == ["ann", "bob", "cem"]
