"""``pura lab score``: what goes in, what is missing, and the packages' own numbers."""

import importlib.util
import json
import os
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pura.base.errors import InputError, ModelError, PuraError
from pura.cli.__main__ import app
from pura_lab.scores import ScoredTexts, read_texts, score

LINES = [
    ("the cat sat on the mat today", "the cat sat on the mat", "a cat was on a mat"),
    ("two dogs ran over the green field", "two dogs ran over a field", "dogs ran over the field"),
    ("it rained all day in the town", "it rained all day", "rain fell in the town all day"),
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "scored.jsonl"
    names = ("reference", "marked", "plain")
    path.write_text("\n".join(json.dumps(dict(zip(names, x, strict=True))) for x in LINES) + "\n\n")
    return path


@pytest.fixture
def packages() -> None:
    names = ("rouge_score", "sacrebleu", "bert_score")
    if any(importlib.util.find_spec(name) is None for name in names):
        if os.environ.get("CI") == "true" and "scores" in os.environ.get("PURA_EXTRAS", ""):
            pytest.fail("not installed: the extra “scores”", pytrace=False)
        pytest.skip("not installed: the extra “scores”")


def test_lines_are_read_by_field_and_bad_ones_are_named(file):
    read = read_texts(file, "reference", ["plain", "marked"])
    assert read.reference == tuple(line[0] for line in LINES)
    assert list(read.systems) == ["plain", "marked"]
    assert read.systems["marked"] == tuple(line[1] for line in LINES)
    with pytest.raises(InputError, match=r"Line 1 .*“other”"):
        read_texts(file, "reference", ["other"])
    with pytest.raises(InputError, match="twice"):
        read_texts(file, "reference", ["plain", "reference"])
    good = file.read_text().splitlines()[0]
    for bad in ("{", "[]", '{"reference": "a", "plain": 1}', "[" * 100_000):
        file.write_text(f"{good}\n\n{bad}\n")
        with pytest.raises(InputError, match="Line 3"):
            read_texts(file, "reference", ["plain"])
    file.write_text(good)
    with pytest.raises(InputError, match="fewer than two"):
        read_texts(file, "reference", ["plain"])


def test_a_missing_package_is_named_with_the_way_out(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "rouge_score.rouge_scorer", None)
    done = CliRunner().invoke(app, ["lab", "score", str(file)])
    assert isinstance(done.exception, PuraError)
    assert done.exception.code == "score-extra"
    assert "rouge-score" in str(done.exception)


@pytest.mark.usefixtures("packages")
def test_the_scores_are_the_packages_own(file, rows):
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu import corpus_bleu

    done = CliRunner().invoke(app, ["lab", "score", str(file), "--json"])
    assert done.exception is None
    found = {(row["metric"], row["system"], row["against"]): row for row in rows(done.stdout)}
    assert len(found) == 6
    references, marked, plain = ([line[n] for line in LINES] for n in range(3))
    bleu = [corpus_bleu(texts, [references]).score for texts in (marked, plain)]
    assert found["bleu", "marked", None]["value"] == pytest.approx(bleu[0])
    assert found["bleu", "marked", "plain"]["value"] == pytest.approx(bleu[0] - bleu[1])
    assert "tok:13a" in found["bleu", "plain", None]["by"]
    scorer = RougeScorer(["rouge1"])
    values = [scorer.score(a, b)["rouge1"].fmeasure for a, b in zip(references, plain, strict=True)]
    assert found["rouge1", "plain", None]["value"] == pytest.approx(sum(values) / len(values))
    for row in found.values():
        assert row["low"] < row["value"] < row["high"]
    same = ScoredTexts(reference=tuple(references), systems={"a": tuple(plain), "b": tuple(plain)})
    for line in score(same):
        if line.against:  # the same texts are drawn for both
            assert line.value == line.low == line.high == 0
    assert (
        "| bleu | marked - plain |" in CliRunner().invoke(app, ["lab", "score", str(file)]).stdout
    )


@pytest.mark.usefixtures("packages")
def test_bertscore_takes_a_model_folder(tmp_path):
    from transformers import BertConfig, BertModel, BertTokenizerFast

    words = {word for line in LINES for text in line for word in text.split()}
    listed = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted(words)]
    folder = tmp_path / "small"
    vocab = {word: number for number, word in enumerate(listed)}
    BertTokenizerFast(vocab=vocab, model_max_length=64).save_pretrained(folder)
    small = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = BertConfig(vocab_size=len(listed), intermediate_size=16, **small)
    BertModel(config).save_pretrained(folder)
    references, marked = (tuple(line[n] for line in LINES) for n in range(2))
    texts = ScoredTexts(reference=references, systems={"same": references, "marked": marked})
    with pytest.raises(InputError, match="Which layer"):
        score(texts, bert=folder)
    with pytest.raises(ModelError, match="BERTScore cannot"):
        score(texts, bert=folder, layer=9)
    found = {(s.system, s.against): s for s in score(texts, bert=folder, layer=1)[6:]}
    assert found["same", None].value == pytest.approx(1, abs=1e-5)
    assert found["marked", None].value < 1
    assert found["same", "marked"].low > 0
    assert str(tmp_path) not in found["same", None].by
