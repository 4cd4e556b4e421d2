"""Scores of summaries and translations: ROUGE-1, BLEU, BERTScore (decision 002).

Each score is computed by the package that its field uses. Intervals are of the bootstrap over texts
(Efron 1979); systems are compared on the same drawn texts (Koehn 2004).
"""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from pura.base.errors import InputError, ModelError
from pura.base.files import read_bounded
from pura.scheme import F64, I64

MAX_FILE: Final = 256 << 20
DRAWS: Final = 1000
"""Draws of the bootstrap."""

Statistic = Callable[[I64], float]
"""Score of the texts with the given numbers, which may be repeated."""
Measure = Callable[[Sequence[str], Sequence[str]], tuple[Statistic, str]]
"""Returns the statistic for candidates and references, and a description of its computation."""


@dataclass(frozen=True, kw_only=True)
class ScoredTexts:
    """Texts to be scored, line by line.

    Attributes:
        reference: Reference texts, written by people.
        systems: Texts of each system, by its name; as many as references.
    """

    reference: tuple[str, ...]
    systems: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, kw_only=True)
class Score:
    """A score of one system, or its lead over another one, with a 95 % interval.

    Attributes:
        metric: ``rouge1`` and ``bertscore`` from 0 to 1, ``bleu`` from 0 to 100.
        system: The system.
        against: The system whose score is subtracted; None for a plain score.
        texts: Number of texts.
        value: Score of all texts, or the difference.
        low: Lower end of the interval.
        high: Upper end of the interval.
        by: Description of the computation, from the package.
    """

    metric: str
    system: str
    against: str | None
    texts: int
    value: float
    low: float
    high: float
    by: str


def read_texts(path: Path, reference: str, systems: Sequence[str]) -> ScoredTexts:
    """Read JSON lines with one object for each text.

    Args:
        path: The file.
        reference: Field of the reference.
        systems: Field of each system.

    Raises:
        InputError: The file cannot be read, a field is missing, or there are fewer than two texts.
    """
    if len({reference, *systems}) < 1 + len(systems):
        raise InputError("lab.score-twice", code="usage")
    fields: dict[str, list[str]] = {name: [] for name in (reference, *systems)}
    file_bytes = read_bounded(path, MAX_FILE).removeprefix(b"\xef\xbb\xbf")
    for number, line in enumerate(file_bytes.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        for name, texts in fields.items():
            text = row.get(name) if isinstance(row, dict) else None
            if not isinstance(text, str):
                raise InputError("lab.score-field", name=path.name, line=number, field=name)
            texts.append(text)
    if len(fields[reference]) < 2:
        raise InputError("lab.score-few", name=path.name)
    return ScoredTexts(
        reference=tuple(fields[reference]),
        systems={name: tuple(fields[name]) for name in systems},
    )


def score(
    texts: ScoredTexts, *, bert: Path | None = None, layer: int | None = None, seed: int = 1
) -> tuple[Score, ...]:
    """Score every system, and compare each with the last one.

    Args:
        texts: References and systems.
        bert: Folder of the model for BERTScore; None omits that score.
        layer: Layer of that model; None takes the one that bert-score has for a model of this
            name.
        seed: Seed of the bootstrap.

    Raises:
        InputError: A package is not installed, or the layer is unknown.
        ModelError: The model in the folder cannot be used.
    """
    measures: dict[str, Measure] = {"rouge1": _rouge, "bleu": _bleu}
    if bert is not None:
        measures["bertscore"] = _bertscore(bert, layer)
    count = len(texts.reference)
    all_texts = np.arange(count)
    drawn = np.random.default_rng(seed).integers(count, size=(DRAWS, count))
    scores: list[Score] = []
    for metric, measure in measures.items():
        values: dict[str, tuple[float, F64]] = {}
        signature = ""
        for name, candidates in texts.systems.items():
            statistic, signature = measure(candidates, texts.reference)
            values[name] = statistic(all_texts), np.array([statistic(sample) for sample in drawn])
        *compared, last = values

        def row(
            system: str,
            value: float,
            draws: F64,
            against: str | None = None,
            metric: str = metric,
            method: str = signature,
        ) -> Score:
            low, high = np.quantile(draws, [0.025, 0.975])
            return Score(
                metric=metric,
                system=system,
                against=against,
                texts=count,
                value=value,
                low=float(low),
                high=float(high),
                by=method,
            )

        scores += [row(name, *values[name]) for name in values]
        scores += [
            row(name, values[name][0] - values[last][0], values[name][1] - values[last][1], last)
            for name in compared
        ]
    return tuple(scores)


def _mean(values: Sequence[float]) -> Statistic:
    scores = np.asarray(values, dtype=np.float64)
    return lambda selection: float(scores[selection].mean())


def _rouge(candidates: Sequence[str], references: Sequence[str]) -> tuple[Statistic, str]:
    from importlib.metadata import version

    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError:
        raise _missing("rouge-score") from None
    scorer = RougeScorer(["rouge1"])
    pairs = zip(candidates, references, strict=True)
    values = [scorer.score(reference, text)["rouge1"].fmeasure for text, reference in pairs]
    return _mean(values), f"rouge-score {version('rouge-score')}, rouge1 F, no stemmer"


def _bleu(candidates: Sequence[str], references: Sequence[str]) -> tuple[Statistic, str]:
    try:
        from sacrebleu.metrics import BLEU
    except ImportError:
        raise _missing("sacrebleu") from None
    bleu = BLEU()
    # BLEU is defined for a corpus: the counts of the drawn texts are added up, then scored.
    text_scores = [
        bleu.corpus_score([text], [[reference]])
        for text, reference in zip(candidates, references, strict=True)
    ]
    orders = len(text_scores[0].counts)
    table = np.array(
        [
            [*text_score.counts, *text_score.totals, text_score.sys_len, text_score.ref_len]
            for text_score in text_scores
        ]
    )

    def statistic(selection: I64) -> float:
        sums = [int(n) for n in table[selection].sum(axis=0)]
        total = BLEU.compute_bleu(
            correct=sums[:orders],
            total=sums[orders : 2 * orders],
            sys_len=sums[-2],
            ref_len=sums[-1],
            smooth_method=bleu.smooth_method,
            smooth_value=bleu.smooth_value,
        )
        return float(total.score)

    return statistic, f"sacrebleu {bleu.get_signature()}"


def _bertscore(folder: Path, layer: int | None) -> Measure:
    from pura.model.folder import inspect_folder
    from pura.model.libraries import prepare

    inspect_folder(folder)
    prepare()
    try:
        import bert_score
        from bert_score.utils import model2layers
    except ImportError:
        raise _missing("bert-score") from None
    depth = layer or model2layers.get(folder.name)
    if depth is None:
        raise InputError("lab.score-layer", name=folder.name, code="usage")

    def measure(candidates: Sequence[str], references: Sequence[str]) -> tuple[Statistic, str]:
        messages = io.StringIO()
        try:
            with contextlib.redirect_stderr(messages):
                (_, _, f1), signature = bert_score.score(
                    list(candidates),
                    list(references),
                    model_type=str(folder),
                    num_layers=depth,
                    device="cpu",
                    return_hash=True,
                )
        except Exception as error:  # an unknown model may raise anything
            raise ModelError("lab.score-bert", name=folder.name, why=str(error)) from error
        # The package names the full path of the folder, which is private.
        return _mean(f1.tolist()), f"bert-score {signature}".replace(str(folder), folder.name)

    return measure


def _missing(package: str) -> InputError:
    return InputError("extra.missing", name=package, extra="pura-audit[scores]", code="score-extra")
