"""Experiments on a bench of made-up texts: every row that needs no language model, the files."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from pura.measure.attacks.base import Attacked, Tools
from pura.measure.attacks.table import ATTACKS, attack_ids, named_strength
from pura.measure.cache import Cache
from pura.measure.evaluate import TextReading
from pura.scheme import Profile
from pura_lab.attacks.oracle import _look, aligned_evidence, oracle
from pura_lab.experiments import rows, telling
from pura_lab.experiments.bench import (
    Cell,
    Experiment,
    ExperimentBench,
    PlainText,
    Row,
    Scale,
    WrittenText,
    summarise,
)
from pura_lab.experiments.run import run, write_results
from pura_lab.experiments.table import EXPERIMENTS
from pura_lab.experiments.telling import Letters

VOCABULARY = 300


class MadeUp(ExperimentBench):
    """Texts with random distributions; every verifier sees what the generator saw."""

    def __init__(self, write: Any, folder: Path, length: int = 120) -> None:
        model = SimpleNamespace(vocab_size=VOCABULARY, fingerprint="0" * 16)
        super().__init__(model, Cache(folder))  # type: ignore[arg-type]
        self._write_text, self._length = write, length
        self._made: dict[int, PlainText] = {}

    def text(self, number: int, *, domain: str = "openings", tokens: int = 200) -> PlainText:
        if number not in self._made:
            profile, length = Profile.new(vocab_size=VOCABULARY), self._length
            seen = self._write_text(profile, None, length, number)
            points = seen.lo + (seen.hi - seen.lo) * self.rng("points", number).random(length)
            self._made[number] = PlainText(
                number=number, prompt_ids=np.arange(3), generator=seen, points=points
            )
        return self._made[number]

    def attacked(self, text: PlainText, attack: str, **params: Any) -> Attacked:
        tools = Tools(vocab_size=VOCABULARY)
        if attack not in ATTACKS:
            return super().attacked(text, attack, **params)
        return attack_ids(attack, text.ids, self.rng(attack, text.number), tools, **params)

    def reading(self, text: PlainText, ids: Any, verifier: str = "same") -> TextReading:
        columns = {k: np.resize(v, ids.size) for k, v in vars(text.generator).items()}
        return TextReading(**{**columns, "ids": ids})

    def written(self, mark: str, number: int) -> WrittenText:
        rng, plain = self.rng("written", mark, number), np.arange(1, 81) ** -1.0
        law = np.where(np.arange(80) >= 20, 4 if mark == "mpac-3" else 1, 1) * plain
        ids = rng.choice(80, 40, p=law / law.sum())
        words = ["".join("etaxzq"[min(5, i // 10)] for _ in range(i % 10 + 1)) for i in ids]
        return WrittenText(text=" ".join(words), ids=ids, log_p=np.log(plain / plain.sum())[ids])

    def seconds(self, text: PlainText, ids: Any, verifier: str = "same") -> float:
        return 1.0

    def divergence(self, text: PlainText, verifier: str) -> float:
        return 0.0


class Asked(dict[str, Any]):
    """A cell that remembers what it was asked for."""

    def __init__(self, cell: Cell) -> None:
        super().__init__(cell)
        self.asked: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.asked.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.asked.add(name)
        return super().get(name, default)


OF_OTHERS = {"attack": "clean", "verifier": "same"}
"""What takes a model, and what stands for it on this bench."""
UNASKED = {"gate", "judge", "r", "k"}
"""Names for people, and what only the oracle is told."""


def faults_of(experiment: Experiment, bench: ExperimentBench) -> list[str]:
    """Say what is wrong with an experiment: its cells, its figure, or what it reads in a text."""
    small, full = experiment.cells(Scale()), experiment.cells(Scale(full=True))
    shown, faults = experiment, list[str]()
    columns = {shown.x, *shown.lines, *filter(None, [shown.panels])}
    if not small or any(cell not in full for cell in small):
        faults.append("cells")
    if any(not columns <= cell.keys() or cell.keys() != full[0].keys() for cell in full):
        faults.append("columns of the cells")
    seen = list[Cell]()
    for every in full:
        cell = Asked({name: OF_OTHERS.get(name, value) for name, value in every.items()})
        if cell in seen or cell.get("bits", 0) > 36:  # more than so short a text holds
            continue
        seen.append(cell)
        row = experiment.row(bench, cell, 0)
        if cell.keys() - cell.asked - UNASKED:
            faults.append(f"asks nothing of {cell}")
        if not all(value for name, value in row.items() if name.endswith("match")):
            faults.append(f"does not read a clean text: {cell}")
        pooled = {} if experiment.pooled is None else experiment.pooled([row])
        known = row.keys() | pooled.keys()
        one_by_one = experiment.pooled is None or pooled
        if one_by_one and not {*experiment.columns, *shown.y} <= known:
            faults.append("columns of the table")
    for attack in {str(cell.get("attack", "clean")) for cell in full} - {"clean", "oracle"}:
        assert named_strength(attack)
    return faults


@pytest.mark.sampled
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_clean_text_is_read_in_every_cell_of_every_experiment(
    marked_text, tmp_path, name, monkeypatch
):
    monkeypatch.setattr(telling, "KEYS", 20)
    bench = MadeUp(marked_text, tmp_path, length=400)
    assert faults_of(EXPERIMENTS[name], bench) == []


def test_a_wrong_experiment_is_seen(marked_text, tmp_path):
    bench, right = MadeUp(marked_text, tmp_path, length=400), EXPERIMENTS["clip"]

    def misread(bench: ExperimentBench, cell: Cell, number: int) -> Row:
        return {**right.row(bench, cell, number), "exact_match": False}

    cells = [{"llr_clipp": 0.1, "bits": 36}]
    for changes, fault in (
        ({"row": misread}, "does not read"),
        ({"cells": lambda _: cells, "x": "bits"}, "asks nothing of"),
        ({"x": "clip"}, "columns of the cells"),
        ({"columns": ("paper_bit",)}, "columns of the table"),
        ({"cells": lambda scale: [{"llr_clip": 0.1 + scale.full / 10}]}, "cells"),
    ):
        assert any(fault in found for found in faults_of(replace(right, **changes), bench)), fault


def test_margins_of_a_clean_text_and_of_an_edited_one(marked_text, tmp_path):
    bench = MadeUp(marked_text, tmp_path)
    clean = EXPERIMENTS["adaptive"].row(bench, {"attack": "clean", "verifier": "same"}, 0)
    assert (clean["rho"], clean["mu_adv"]) == (1, 0)
    cell = {"attack": "substitute:0.1", "tokens": 400, "pool": 3, "verifier": "same"}
    edited = EXPERIMENTS["length"].row(bench, cell, 0)
    assert edited["match"]
    assert 0.5 < edited["rho"] < 0.95
    assert edited["readings"] > 20


def test_results_are_kept_added_up_and_written(marked_text, tmp_path):
    calls: list[int] = []

    def row(bench: ExperimentBench, cell: Cell, number: int) -> Row:
        calls.append(number)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return rows.density(bench, cell, number) | {"paper_match": number == 0}

    cells = [{"bits": 24, "attack": a, "verifier": "same"} for a in ("clean", "substitute:0.3")]
    small = replace(EXPERIMENTS["density"], row=row, cells=lambda _: cells)
    bench = MadeUp(marked_text, tmp_path / "shelf")
    with pytest.raises(KeyboardInterrupt):
        run(small, bench, Scale(texts=2), tmp_path)
    with (tmp_path / "density.jsonl").open("a") as file:
        file.write('{"name": "cut sho')
    results = run(small, bench, Scale(texts=2), tmp_path)
    assert calls == [0, 1, 0, 1, 1]  # the fourth was lost, nothing else
    assert results[0].numbers["paper_match"].value == 0.5
    assert 0.09 < results[0].numbers["paper_match"].low < 0.1  # Wilson, 1 of 2
    assert 0.5 < results[1].numbers["auc"].value <= 1
    parquet, table, figure = write_results(small, results, tmp_path)
    assert pq.read_table(parquet).num_rows == 4
    assert "| clean | 2 |" in table.read_text()
    drawn = figure.read_text()
    assert "substitute:0.3" in drawn  # text stays text
    lines = replace(EXPERIMENTS["capacity"], columns=("paper_bits",))
    some = [replace(r, cell={"verifier": "same", "code": "spc", "bits": 24}) for r in results[:1]]
    assert write_results(lines, some, tmp_path)[2].stat().st_size > 4000


@pytest.mark.weekly
def test_a_mark_that_shows_is_told_and_one_that_does_not_is_not(marked_text, tmp_path, monkeypatch):
    """30 pairs; without a mark a share off by 0.2 or such a p-value is seen once in 100 seeds."""
    monkeypatch.setattr(telling, "FOLDS", 2)
    judge = Letters(["the cat sat on the mat", "the dog sat on the cat"])
    monkeypatch.setattr(telling, "_letters", lambda: judge)
    bench = MadeUp(marked_text, tmp_path)
    found = {}
    for mark in ("pura", "mpac-3"):
        cell = {"mark": mark, "judge": "letters"}
        pairs = [EXPERIMENTS["quality"].row(bench, cell, number) for number in range(30)]
        found[mark] = summarise(EXPERIMENTS["quality"], cell, pairs).numbers
    same, biased = found["pura"], found["mpac-3"]
    for name in ("words", "transformer", "likelihood"):
        assert abs(same[name].value - 0.5) < 0.2, name
        assert biased[name].low > 0.5, name
    assert same["mmd_p"].value > 0.01 > biased["mmd_p"].value
    assert same["nats"].low < 0 < same["nats"].high
    assert biased["nats"].low > 0 < biased["judged"].low
    assert judge.bits("the cat sat") < judge.bits("tac eht tas") < judge.bits("qqq zzz xxx")
    letters = [bytes([i]).decode("latin-1") for i in range(128)]
    assert sum(judge._probability(b"the c", i) for i in range(256)) == pytest.approx(1)
    assert all(judge.bits(letter) > 0 for letter in letters)


@pytest.mark.weekly
def test_over_keys_texts_have_the_law_of_the_model(marked_text, tmp_path):
    """2,000 keys, one payload; the p-value of a law that holds is below 1e-3 once in 1,000."""
    bench = MadeUp(marked_text, tmp_path)
    found = {
        mark: telling.chi_square([telling.frequencies(bench, {"mark": mark}, i) for i in (0, 1)])
        for mark in ("pura", "mpac-3")
    }
    assert found["pura"]["keys"] == 2000
    assert found["pura"]["p"] > 1e-3
    assert found["pura"]["distance"] < 1.2 * found["pura"]["by_chance"]
    assert found["mpac-3"]["p"] < 1e-12


def test_codes_correct_what_they_can():
    bits = np.random.default_rng(1).integers(0, 2, 36).astype(np.uint8)
    for name, (encode, decode) in rows.CODES.items():
        word = encode(bits)
        assert word.size == (63 if "hamming" in name else 54)
        llr = np.where(word == 1, 4.0, -4.0)
        assert (decode(llr) == bits).all()
        llr[5] *= -0.25  # one weak wrong bit
        assert (decode(llr) == bits).all(), name
    both = rows.CODES["rs-hard"][0](bits)
    llr = np.where(both == 1, 4.0, -4.0)
    llr[[0, 4]] *= -0.1  # two wrong symbols: beyond two parities, unless they are known to be weak
    assert (rows.CODES["rs-soft"][1](llr) == bits).all()
    assert not (rows.CODES["rs-hard"][1](llr) == bits).all()


def test_the_oracle_takes_evidence_away_and_exactly_is_never_worse(marked_text, tmp_path):
    bench = MadeUp(marked_text, tmp_path)
    text, profile = bench.text(1), rows.carrier(bench, 18)
    logits = np.log(np.random.default_rng(2).dirichlet(np.ones(VOCABULARY), 120))

    def seen(ids: Any, key: Any) -> TextReading:
        return _look(logits[: ids.size], ids, ids[:, None], key, profile)[0]

    own = seen(text.ids, bench.order)
    text = replace(text, generator=own, points=(own.lo + own.hi) / 2)
    word = bench.rng("word").integers(0, 2, 18).astype(np.uint8)
    key = rows._laid(bench, text, word, profile)

    def left(ids: Any) -> float:
        return float(aligned_evidence(seen(ids, key), key, profile, word).sum())

    how: dict[str, Any] = {
        "key": key,
        "profile": profile,
        "codeword": word,
        "propose": lambda ids: logits[: ids.size],
    }
    hit = oracle(text.ids, rate=0.1, width=4, **how)
    assert np.count_nonzero(hit.ids != text.ids) == 12
    assert hit.origin is not None
    assert np.array_equal(hit.ids != text.ids, hit.origin < 0)
    random = bench.attacked(text, "substitute", rate=0.1)
    assert left(hit.ids) < left(random.ids) < left(text.ids)
    once = oracle(text.ids[:30], rate=1 / 30, width=2, exact=True, **how)
    cheap = oracle(text.ids[:30], rate=1 / 30, width=2, **how)
    assert left(once.ids) <= left(cheap.ids) < left(text.ids[:30])
