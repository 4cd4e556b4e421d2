"""``pura model`` and ``pura profile`` in this process, with a tiny store."""

import json
from pathlib import Path

import pytest
from tests.core.cli.conftest import pura, refusal
from tests.core.programs import lend

from pura.base.paths import user_paths
from pura.scheme import Profile


@pytest.fixture
def installed(small_models) -> None:
    lend(small_models, user_paths().models)


@pytest.mark.usefixtures("installed")
def test_a_model_is_listed_shown_and_verified():
    (line,) = pura("model", "list", "--json").stdout.splitlines()
    facts = json.loads(line)
    assert facts["name"] == "small"
    folder = user_paths().models / "small"
    assert Path(facts["path"]) == folder
    assert Path(pura("model", "path", "small").stdout.rstrip("\n")) == folder
    assert refusal(pura("model", "path", "none")) == "model-missing"
    assert facts["memory"]["need_bytes"] > 4 * facts["parameters"]
    shown = pura("model", "show", "small").stdout
    for part in (
        facts["tokenizer_fingerprint"],
        f"Licence: {facts['licence']}",
        "parameters as float32",
    ):
        assert part in shown
    done = pura("model", "verify", "small")
    assert done.exit_code == 0
    assert "is what was installed" in done.stdout
    assert refusal(pura("model", "verify", "none")) == "model-missing"


@pytest.mark.usefixtures("installed")
def test_fitness_reads_samples_and_prints_its_rule(small_samples, tmp_path):
    data = small_samples["marked-tbcc"]
    profile, key, marked = tmp_path / "p.json", tmp_path / "k.key", tmp_path / "s.jsonl"
    profile.write_text(json.dumps(data["profile"]))
    key.write_text(data["key_hex"])
    text = data["texts"][0]
    marked.write_text(json.dumps({"text": text["text"], "payload": text["payload"]}) + "\n")
    options = ("--profile", profile, "--key-file", key, "--samples", marked, "--device", "cpu")
    done = pura("model", "fitness", "small", *options)
    assert done.exit_code == 0, done.output
    assert "Whole payload found" in done.stdout
    assert "Too few texts for a word" in done.stdout
    assert "Rule: good: at least 90 %" in done.stdout
    assert data["key_hex"] not in done.output
    refused = pura("model", "fitness", "small", *options, "--dtype", "float16")
    assert refusal(refused) == "device"


def test_profiles_come_in_go_out_and_go_away(samples, tmp_path):
    file = tmp_path / "given.json"
    file.write_text(json.dumps(samples["marked-tbcc"]["profile"]))  # version 1: no number
    assert pura("profile", "import", file, "--name", "House").exit_code == 0
    assert pura("profile", "list").stdout == "House\n"
    shown = pura("profile", "show", "House")
    assert json.loads(shown.stdout)["version"] == 2
    assert "about 56 tokens" in shown.stderr
    assert "names no key" in shown.stderr
    target = tmp_path / "out.json"
    assert pura("profile", "export", "House", "-o", target).exit_code == 0
    assert Profile.load(target) == Profile.load(file)
    assert refusal(pura("profile", "export", "House", "-o", target)) == "file-exists"
    assert pura("profile", "remove", "House", "--yes").exit_code == 0
    assert pura("profile", "list").stdout == ""
    assert refusal(pura("profile", "remove", "House", "--yes")) == "profile-not-found"
