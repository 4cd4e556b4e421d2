"""``pura lab`` in this process, on the beginning of a sample text."""

import statistics
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pura.base.errors import InputError
from pura.cli.__main__ import app
from pura.measure.attacks.table import ATTACKS
from pura.measure.corpora import corpus, prompts_of
from pura.scheme import Profile
from pura.usecases.environment import Environment


def pura(*words: object) -> Any:
    done = CliRunner().invoke(app, [*map(str, words)])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def test_the_list_names_every_attack():
    lines = pura("lab", "attacks").stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(ATTACKS)


def test_a_text_is_attacked_and_its_evidence_decomposed(
    tmp_path, small_samples, small_model, monkeypatch, rows
):
    monkeypatch.setattr(Environment, "model", lambda *_, **__: small_model)  # loaded once
    sample = small_samples["marked"]
    (tmp_path / "key").write_text(sample["key_hex"])
    (tmp_path / "profile").write_text(Profile.from_dict(sample["profile"]).to_json())
    text = sample["texts"][0]
    original, edited = tmp_path / "text.txt", tmp_path / "edited.txt"
    original.write_text(text["text"][:420])
    [row] = rows(pura("lab", "attack", "delete", original, "--strength", 0.1, "--json").stdout)
    assert 0.05 < row["tokens"] < 0.2
    assert row["perplexity"] > row["perplexity_before"] > 1
    edited.write_text(row["text"])
    words = [original, edited, "--profile", tmp_path / "profile", "--payload", text["payload"]]
    words += ["--key-file", tmp_path / "key"]
    [found] = rows(pura("lab", "decompose", *words, "--json").stdout)
    paper = found["paper"]
    assert 0.5 < paper["rho"] < 0.95
    assert paper["gamma"] == pytest.approx(sum(found["z"]) / len(found["z"]), abs=0.05)
    assert (
        found["paper_interval"]["gamma"][0] < paper["gamma"] < found["paper_interval"]["gamma"][1]
    )
    assert sum(bit["readings"] for bit in found["paper_bits"]) == len(found["z"])
    assert paper["mu_c"] > 0.5 > abs(paper["mu_adv"])
    assert "bound" in pura("lab", "decompose", *words).stdout


def test_corpora_are_here_without_a_network(tmp_path):
    # Part of the notes whatever was imported before: a module that numpy loads when asked for it.
    assert any(text.startswith("Fourier analysis is fundamentally") for text in corpus("notes"))
    sources = Path(statistics.__file__).is_file()  # a library packed into an archive has none
    for name in ("manual", "notes", *(["code"] * sources), "german", "tasks", "openings"):
        assert len(corpus(name)) >= 12, name
        assert len(prompts_of(name)[0].split()) < 25, name
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"text": "one"}\n\n{"prompt": "two", "text": "no"}\n')
    assert corpus(str(rows)) == ("one", "two")
    for name, content in (("a.jsonl", '{"body": 1}\n'), ("b.txt", "\n"), ("c.parquet", "x")):
        (tmp_path / name).write_text(content)
        with pytest.raises(InputError):
            corpus(str(tmp_path / name))
    with pytest.raises(InputError, match="texts called"):
        corpus("nowhere")
