"""Every entry of ``bench/`` loads, and most run once with as little as possible (``--small``).

A walk over the folder: a new entry is loaded without being named here. Quick ones run daily, the
others weekly. Entries outside of both run nowhere, for the reason that stands beside them in
``NOT_RUN``: a change of what they call is seen only where it breaks their imports.
"""

import os
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from pura.base.paths import user_paths

ROOT = Path(__file__).resolve().parents[3]
BENCH = ROOT / "bench"
ENTRIES = sorted(path.name for path in BENCH.glob("[a-z]*.py"))

# Commands of an entry, each with --small at its end. {new} is a fresh folder, {study} the folder
# of the small study, which all that read it share.
DAILY = {
    "batch.py": ["", "--kills 1"],
    "binomial_paper.py": [""],
    "gaps.py": [""],
    "limits.py": ["--real 1 --text 27 --code spc"],
    "rare.py": [""],
    "reading.py": ["tests/data/cases"],
    "register.py": [""],
    "structure.py": [""],
    "trellis.py": [""],
}
WEEKLY = {
    "audit_cost.py": ["", "--long 60"],
    "batch.py": ["--model 1"],
    "calibration.py": ["--cache {study}"],
    "company.py": [""],
    "documents.py": [""],
    "every_mark.py": ["read --cache {new}", "table --cache {new}"],
    "evidence.py": [
        "generate --cache {new} --only passage --texts 1",
        "proxy --cache {study}",
        "tables --cache {study}",
    ],
    "evidence_pass.py": [""],
    "false_positives.py": [
        "--cache {new} --epochs",
        "--cache {new} --halves",
        "--cache {new} --again",
        "--cache {new} --prompted --keys 2",
        "--cache {new} --handled",
    ],
    "false_positives_others.py": [""],
    "forgery.py": ["--cache {new}", "--cache {new} --stored"],
    "gates.py": ["read --study {study} --cache {new}", "table --cache {new}"],
    "generation.py": [""],
    "handling.py": ["--cache {study}"],
    "held_out.py": ["--log {new}/log.jsonl"],
    "known_context.py": ["--cache {new}"],
    "learn_likelihood.py": ["--cache {study} --out {new}/likelihood.json"],
    "long_documents.py": [
        "read --cache {study}",
        *(f"{stage} --cache {{study}}" for stage in ("whole", "table", "cost", "memory")),
    ],
    "limits.py": ["calibration.py --cache {study}", "--cache {study}", "--cache {study} --null 2"],
    "oracle.py": ["{new}/attacks.jsonl"],
    "power_others.py": [""],
    "power_tables.py": ["--out {new}", "--out {new} --estimate"],
    "questions.py": ["all --cache {new}"],
    "register_prior.py": ["--cache {study}"],
    "replay.py": ["run --study {study} --cache {new}", "table --cache {new}"],
    "rereading.py": [
        "long_documents.py read --cache {study}",
        *(f"{stage} --study {{study}} --cache {{new}}" for stage in ("read", "unmarked", "cost")),
        "table --cache {new}",
    ],
    "retokenise.py": ["--cache {study}"],
    "serve.py": ["", "--checks 20"],
    "serve_attacks.py": [""],
    "short_answers.py": [""],
    "stopping.py": [""],
    "sweeps.py": ["--data {new}/sweeps.json --plot {new}/sweeps.svg"],
    "two_layers.py": ["--cache {new} --ask 1"],
    "window.py": [""],
}
STUDY_TEXTS = ROOT / "tests" / "data" / "study"
"""What ``python bench/evidence.py generate --cache tests/data/study --small`` wrote: minutes."""

UNSEEN = "has --small, but no such run has been seen to its end yet"
NOT_RUN = {
    "device.py": UNSEEN,
    "drafts.py": UNSEEN,
    "engines.py": "needs vLLM",
    "gateway.py": "needs llama.cpp and LiteLLM",
    "no_mark.py": UNSEEN,
    "number_formats.py": UNSEEN,
    "passage_limits.py": UNSEEN,
    "serving_throughput.py": "needs vLLM",
    "startup.py": UNSEEN,
    "train_attacker.py": UNSEEN,
}


def run(name: str, commands: Iterable[str], home: Path, **folders: Path) -> None:
    """Run an entry's commands with ``--small``; each must end well and print something."""
    for command in commands:
        words = shlex.split(command.format(**folders))
        entry = words.pop(0) if words and words[0].endswith(".py") else name
        answer = subprocess.run(
            [sys.executable, str(BENCH / entry), *words, "--small"],
            capture_output=True,
            text=True,
            check=False,
            cwd=ROOT,
            env=os.environ | {"PURA_HOME": str(home), "OMP_NUM_THREADS": "1"},
        )
        assert answer.returncode == 0, f"{entry} {command}\n{answer.stdout}\n{answer.stderr}"
        assert answer.stdout.strip(), f"{entry} {command}"


@pytest.fixture(scope="session")
def home(tmp_path_factory, builtin_files):
    """A home of its own with the user's models, for what an entry stores."""
    folder = tmp_path_factory.mktemp("bench-home")
    (folder / "data").mkdir()
    (folder / "data" / "models").symlink_to(user_paths().models, target_is_directory=True)
    return folder


@pytest.fixture(scope="session")
def study(tmp_path_factory, home):
    """The study of study.md with two texts a cell, written and read by its own generator."""
    folder = tmp_path_factory.mktemp("study")
    shutil.copytree(STUDY_TEXTS, folder, dirs_exist_ok=True)
    run("evidence.py", ["read --cache {study}"], home, study=folder)
    return folder


def test_every_entry_runs_or_says_why_not():
    assert {*DAILY, *WEEKLY, *NOT_RUN} == set(ENTRIES)
    assert not set(NOT_RUN) & {*DAILY, *WEEKLY}


@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_loads(name, monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    loaded = runpy.run_path(str(BENCH / name), run_name="bench")
    assert str(loaded["__doc__"]).strip()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(DAILY))
def test_a_quick_entry_runs(name, home, tmp_path):
    run(name, DAILY[name], home, new=tmp_path)


def reads_study(name: str) -> bool:
    return any("{study}" in command for command in WEEKLY[name])


@pytest.mark.slow
@pytest.mark.weekly
@pytest.mark.parametrize("name", sorted(name for name in WEEKLY if not reads_study(name)))
def test_an_entry_runs(name, home, tmp_path):
    run(name, WEEKLY[name], home, new=tmp_path)


@pytest.mark.slow
@pytest.mark.weekly
@pytest.mark.xdist_group("study")
@pytest.mark.parametrize("name", sorted(filter(reads_study, WEEKLY)))
def test_an_entry_runs_on_a_small_study(name, home, study, tmp_path):
    run(name, WEEKLY[name], home, study=study, new=tmp_path)
