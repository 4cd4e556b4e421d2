"""Every entry of ``bench/`` loads, and those that can run on one text do.

A walk over the folder: a new entry is loaded without being named here. Entries outside of ``RUNS``
are not run, for the reason that stands beside them in ``NOT_RUN``: a change of what they call is
seen only where it breaks their imports.
"""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[3] / "bench"
ENTRIES = sorted(path.name for path in BENCH.glob("[a-z]*.py"))

RUNS = {
    "limits.py": ["--real", "1", "--text", "27", "--code", "spc"],
    "rare.py": ["--draws", "1"],
    "reading.py": [str(BENCH.parent / "tests" / "data" / "cases"), "--each", "1"],
    "register.py": ["--rows", "1000", "--drawn", "5", "--look-ups", "20"],
    "structure.py": [],
}

CACHE = "reads what the study generated, which takes hours to make"
LONG = "takes more than 45 s at its smallest"
NOT_RUN = {
    "audit_cost.py": LONG,
    "batch.py": LONG,
    "binomial_paper.py": LONG,
    "calibration.py": LONG,
    "company.py": LONG,
    "device.py": "needs a GPU",
    "documents.py": LONG,
    "drafts.py": LONG,
    "engines.py": "needs a serving engine",
    "every_mark.py": CACHE,
    "evidence.py": CACHE,
    "evidence_pass.py": LONG,
    "false_positives.py": LONG,
    "false_positives_others.py": "rates need more keys than a short run has",
    "forgery.py": CACHE,
    "gaps.py": "needs a file of texts",
    "gates.py": CACHE,
    "gateway.py": "needs a serving engine",
    "generation.py": LONG,
    "handling.py": CACHE,
    "held_out.py": "installs other programs from registries",
    "known_context.py": LONG,
    "learn_likelihood.py": CACHE,
    "long_documents.py": CACHE,
    "no_mark.py": LONG,
    "number_formats.py": LONG,
    "oracle.py": LONG,
    "passage_limits.py": CACHE,
    "power_others.py": LONG,
    "power_tables.py": LONG,
    "register_prior.py": CACHE,
    "replay.py": CACHE,
    "rereading.py": CACHE,
    "retokenise.py": CACHE,
    "serve.py": LONG,
    "serve_attacks.py": LONG,
    "serving_throughput.py": "needs a serving engine",
    "short_answers.py": LONG,
    "startup.py": LONG,
    "stopping.py": LONG,
    "sweeps.py": LONG,
    "train_attacker.py": "trains a model",
    "trellis.py": LONG,
    "two_layers.py": "needs C2PA programs from outside",
    "window.py": LONG,
}


def test_every_entry_runs_or_says_why_not():
    assert set(RUNS) | set(NOT_RUN) <= set(ENTRIES)
    assert not set(RUNS) & set(NOT_RUN)
    assert [name for name in ENTRIES if name not in RUNS and name not in NOT_RUN] == []


@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_loads(name, monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    loaded = runpy.run_path(str(BENCH / name), run_name="bench")
    assert str(loaded["__doc__"]).strip()


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(RUNS))
def test_an_entry_runs_on_one_text(name):
    command = [sys.executable, str(BENCH / name), *RUNS[name]]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, cwd=BENCH.parent)
    # A busy machine may miss a target of time; that the entry ran to its end is what counts.
    assert answer.returncode == 0 or "missed" in answer.stdout, answer.stderr
    assert answer.stdout.strip()
