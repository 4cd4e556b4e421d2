"""What is measured of texts that were written with a mark, by a model that did not write them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

import numpy as np

from pura.measure.attacks.base import log_likelihoods
from pura.measure.attacks.local import model_tools
from pura.measure.corpora import corpus
from pura.measure.evaluate import wilson
from pura_lab.experiments import telling
from pura_lab.experiments.base import Cell, Number, Row
from pura_lab.experiments.bench import ExperimentBench

ORDER: Final = 5


class Letters:
    """Says how many bits a byte of text takes.

    Args:
        texts: What it learns from.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._after: dict[bytes, Counter[int]] = defaultdict(Counter)
        for text in texts:
            data = text.encode()
            for at, byte in enumerate(data):
                for order in range(min(ORDER, at) + 1):
                    self._after[data[at - order : at]][byte] += 1
        self._sums = {context: counts.total() for context, counts in self._after.items()}

    def bits(self, text: str) -> float:
        """Return the mean bits a byte; 0 for an empty text."""
        data = text.encode()
        said = [self._probability(data[max(0, at - ORDER) : at], b) for at, b in enumerate(data)]
        return float(-np.log2(said).mean()) if said else 0.0

    def _probability(self, context: bytes, byte: int) -> float:
        p = 1 / 256
        for start in range(len(context), -1, -1):
            counts = self._after.get(context[start:])
            if counts is None:
                break
            kinds, total = len(counts), self._sums[context[start:]]
            p = (counts[byte] + kinds * p) / (total + kinds)
        return p


def quality(bench: ExperimentBench, cell: Cell, number: int) -> Row:
    """Put a marked text beside the plain one that has the same prompt.

    Differences are marked less plain: ``nats`` a token under the model that wrote both,
    ``judged`` in bits a byte under the judge, who knows nothing of that model.
    """
    pair = [bench.written(mark, number) for mark in (str(cell["mark"]), "plain")]
    nats = [-float(text.log_p.mean()) for text in pair]
    seen = [_judged(bench, text.text) for text in pair]
    bits = [bits for bits, _ in seen]
    return {
        "perplexity": float(np.exp(nats[0])),
        "plain": float(np.exp(nats[1])),
        "nats": nats[0] - nats[1],
        "judge_mark": bits[0],
        "judge_plain": bits[1],
        "judged": bits[0] - bits[1],
        "texts": [text.text for text in pair],
        "ids": [text.ids.tolist() for text in pair],
        "log_p": [text.log_p.tolist() for text in pair],
        **({"judge_log_p": [log_p for _, log_p in seen]} if bench.judge else {}),
    }


def _judged(bench: ExperimentBench, text: str) -> tuple[float, list[float]]:
    """Return what the judge needs for a text, bits a byte, and its log probability of each token.

    The judge of letters has no tokens; of the first token another one says nothing.
    """
    if bench.judge is None:
        return _letters().bits(text), []
    tools = model_tools(bench.judge)
    assert tools.tokenise is not None
    log_p = log_likelihoods(tools.tokenise(text), tools)
    if log_p is None:
        return 0.0, []
    return -float(log_p.sum() / np.log(2)) / len(text.encode()), log_p.tolist()


def telling_apart(rows: Sequence[Row]) -> dict[str, Number | float]:
    """Return how often classifiers tell the two kinds apart, and what the two-sample test says."""
    if len(rows) < 2:
        return {}

    def both(name: str) -> tuple[list[np.ndarray], list[np.ndarray]]:
        return [np.asarray(r[name][0]) for r in rows], [np.asarray(r[name][1]) for r in rows]

    texts = [r["texts"] for r in rows]
    told = {
        "words": telling.told_by_words([t[0] for t in texts], [t[1] for t in texts]),
        "transformer": telling.told_by_transformer(*both("ids")),
        "likelihood": telling.told_by_likelihood(*both("log_p")),
    }
    if all("judge_log_p" in r and all(r["judge_log_p"]) for r in rows):
        told["by_judge"] = telling.told_by_likelihood(*both("judge_log_p"))
    found: dict[str, Number | float] = {}
    for name, right in told.items():
        low, high = wilson(int(right.sum()), right.size)
        found[name] = Number(value=float(right.mean()), low=low, high=high)
    found["mmd_p"] = telling.two_sample_p(*both("ids"), np.random.default_rng(1))
    return found


@cache
def _letters() -> Letters:
    return Letters([*corpus("manual"), *corpus("notes")])
