"""Whether marked texts can be distinguished from plain ones, by statistics and by quality."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from pura.measure.attacks.base import log_likelihoods
from pura.measure.attacks.rewrite import model_tools
from pura.measure.corpora import corpus
from pura.measure.evaluate import wilson
from pura.scheme import F64, I64, Payload, Profile, SecretKey
from pura.scheme.keys import KEY_BYTES
from pura_lab.compare.methods import METHODS
from pura_lab.compare.methods import Bench as Schemes
from pura_lab.experiments.bench import Cell, ExperimentBench, Number, Row

if TYPE_CHECKING:
    from pura.model.load import LanguageModel


KEYS: Final = 1000
"""Keys that together count as one text of the experiment."""
TOKENS: Final = 4  # length of the tiny texts, of which there are 8^4
_VOCABULARY: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight")
_PROMPT: Final = (3, 1)
_MIN_EXPECTED: Final = 8.0
"""Smallest expected count of a cell of the test; rarer texts are counted together."""
_CHANCE: Final = 50
"""Samples of the exact law, to estimate the distance by chance."""


def frequencies(bench: ExperimentBench, cell: Cell, number: int) -> Row:
    """Write a text with each of a thousand keys.

    Returns:
        ``drawn``, the number of the text that each key gave; with the first thousand also ``law``,
        the probability of every text.
    """
    rng = bench.rng("keys", number)
    keys = [SecretKey(rng.bytes(KEY_BYTES)) for _ in range(KEYS)]
    bits = bench.rng("payload").integers(0, 2, 12)
    payload, mark = Payload.from_bits(bits), str(cell["mark"])
    ids = (_by_others if mark in METHODS else _by_pura)(mark, keys, payload, rng)
    drawn = ids @ len(_VOCABULARY) ** np.arange(TOKENS - 1, -1, -1)
    return {"drawn": drawn.tolist()} | ({"law": exact_law().tolist()} if number == 0 else {})


def chi_square(rows: Sequence[Row]) -> dict[str, float]:
    """Compare the frequencies of all texts with the law.

    Returns:
        ``keys``; ``p`` of Pearson's test; ``distance``, the total variation distance between the
        two; ``by_chance``, its mean by chance alone.
    """
    from scipy.stats import chisquare

    law = np.asarray(rows[0]["law"])
    drawn = np.concatenate([np.asarray(row["drawn"]) for row in rows])
    counts, expected = np.bincount(drawn, minlength=law.size), law * drawn.size
    rare = expected < _MIN_EXPECTED
    observed = np.append(counts[~rare], counts[rare].sum())
    want = np.append(expected[~rare], expected[rare].sum())
    chance = np.random.default_rng(1).multinomial(drawn.size, law, _CHANCE) / drawn.size
    return {
        "keys": float(drawn.size),
        "p": float(chisquare(observed[want > 0], want[want > 0]).pvalue),
        "distance": float(np.abs(counts / drawn.size - law).sum() / 2),
        "by_chance": float(np.abs(chance - law).sum(axis=1).mean() / 2),
    }


@cache
def tiny_model() -> LanguageModel:
    """Return a model with random weights and a vocabulary of eight words."""
    from pura.model import libraries

    libraries.prepare()
    import torch
    from tokenizers import Tokenizer, models
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    from pura.model.device import choose_device
    from pura.model.load import wrap

    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(5)
        network: Any = LlamaForCausalLM(
            LlamaConfig(
                vocab_size=len(_VOCABULARY),
                hidden_size=32,
                intermediate_size=48,
                num_hidden_layers=2,
                num_attention_heads=4,
                max_position_embeddings=32,
                bos_token_id=None,
                eos_token_id=None,
            )
        )
        network.eval()
        for weight in network.parameters():
            if weight.ndim > 1:
                weight.normal_(0.0, 0.35)
    bare = Tokenizer(
        models.WordLevel({w: i for i, w in enumerate(_VOCABULARY)}, unk_token=_VOCABULARY[0])
    )
    tokenizer: Any = PreTrainedTokenizerFast
    word_tokenizer = tokenizer(tokenizer_object=bare)
    return wrap(network, word_tokenizer, choose_device("cpu"), name="eight words")


@cache
def exact_law() -> F64:
    """Return the probability of every text of :data:`TOKENS` tokens; float64 [8^TOKENS]."""
    law = np.ones(1)
    for length in range(TOKENS):
        before = list(product(range(len(_VOCABULARY)), repeat=length))
        law = (law[:, None] * _next(np.array(before, dtype=np.int64))).ravel()
    return law


def _next(before: I64) -> F64:
    """Return the law of the token after the prompt and some texts; float64 [N, 8]."""
    import torch

    fed = np.concatenate([np.tile(np.array(_PROMPT), (len(before), 1)), before], axis=1)
    with torch.inference_mode():
        logits = tiny_model().network(input_ids=torch.from_numpy(fed.astype(np.int64))).logits
        out: F64 = torch.softmax(logits[:, -1].double(), dim=1).numpy()
    return out


def _by_pura(
    mark: str, keys: Sequence[SecretKey], payload: Payload, rng: np.random.Generator
) -> I64:
    from pura.embed.generate import generate_batch

    generated = generate_batch(
        tiny_model(),
        [list(_PROMPT)] * len(keys),
        [payload] * len(keys),
        keys,
        Profile(
            payload_bits=len(payload),
            blocks=3,
            vocab_size=len(_VOCABULARY),
            # All arities occur below the three bits that eight tokens can have.
            entropy_thresholds_bits=(0.8, 1.5, 2.2),
        ),
        tokens=TOKENS,
        seed=int(rng.integers(1 << 62)),
        batch_size=len(keys),
    )
    return np.stack([text.ids for text in generated])


def _by_others(
    mark: str, keys: Sequence[SecretKey], payload: Payload, rng: np.random.Generator
) -> I64:
    make = METHODS[mark].make
    assert make is not None
    setting = Schemes(
        vocab_size=len(_VOCABULARY), segments=lambda _: np.arange(len(_VOCABULARY)) % 3
    )
    schemes = [make(setting, key, len(payload)) for key in keys]
    rows = [scheme.start(payload, rng) for scheme in schemes]
    ids = np.zeros((len(keys), 0), dtype=np.int64)
    for _ in range(TOKENS):
        laws = _next(ids)
        tokens = [s.embed(r, law) for s, r, law in zip(schemes, rows, laws, strict=True)]
        ids = np.concatenate([ids, np.array(tokens)[:, None]], axis=1)
    return ids


Truth = npt.NDArray[np.bool_]

FOLDS: Final = 5
SWAPS: Final = 999
_FEATURE_WORDS: Final = 4096
_EPOCHS: Final = 12
_BATCH: Final = 32
_WIDTH: Final = 64


def told_by_words(marked: Sequence[str], plain: Sequence[str]) -> Truth:
    """Classify texts by words, pairs of words and runs of letters (logistic regression).

    Args:
        marked: The marked text of each pair.
        plain: The plain text of each pair.

    Returns:
        bool [2 P], whether each text was classified correctly, the marked ones first.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline, make_union

    def classify(training: Sequence[str], marks: Truth, tested: Sequence[str]) -> Truth:
        features = make_union(
            TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True),
            TfidfVectorizer(analyzer="char", ngram_range=(2, 4), sublinear_tf=True),
        )
        model = make_pipeline(features, LogisticRegression(C=10.0, max_iter=1000))
        return np.asarray(model.fit(training, marks).predict(tested), dtype=np.bool_)

    return _crossed(list(marked), list(plain), classify)


def told_by_likelihood(marked: Sequence[F64], plain: Sequence[F64]) -> Truth:
    """Classify texts by the likelihood of their tokens under the writing model.

    Only the owner of the model has these numbers, which reveal a biased mark best.

    Args:
        marked: float64 [L], log probabilities of the tokens of the marked text of each pair.
        plain: The same for the plain text of each pair.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    def numbers(log_p: F64) -> list[float]:
        return [float(log_p.mean()), float(log_p.std()), *np.quantile(log_p, (0.1, 0.25, 0.5))]

    def classify(training: Sequence[Any], marks: Truth, tested: Sequence[Any]) -> Truth:
        model = make_pipeline(StandardScaler(), LogisticRegression())
        return np.asarray(model.fit(training, marks).predict(tested), dtype=np.bool_)

    return _crossed([numbers(x) for x in marked], [numbers(x) for x in plain], classify)


def told_by_transformer(marked: Sequence[I64], plain: Sequence[I64], seed: int = 1) -> Truth:
    """Classify texts with a small transformer that learns only from them.

    It has two layers of width 64, over the 4,096 commonest tokens.

    Args:
        marked: int64 [L], tokens of the marked text of each pair; all texts have the same length.
        plain: The same for the plain text of each pair.
        seed: Seed of the initial weights and the order of the texts.
    """
    import torch

    def classify(training: Sequence[I64], marks: Truth, tested: Sequence[I64]) -> Truth:
        common = np.argsort(-np.bincount(np.concatenate(training)), kind="stable")[
            : _FEATURE_WORDS - 1
        ]
        number = np.full(max(int(t.max()) for t in [*training, *tested]) + 1, _FEATURE_WORDS - 1)
        number[common] = np.arange(common.size)
        fed, asked_ids = (torch.from_numpy(number[np.stack(batch)]) for batch in (training, tested))
        right = torch.from_numpy(marks).float()
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            network = _network(fed.shape[1])
            steps = torch.optim.AdamW(network.parameters(), lr=1e-3, weight_decay=0.05)
            for _ in range(_EPOCHS):
                for batch in torch.split(torch.randperm(len(fed)), _BATCH):
                    logits = network(fed[batch])[:, 0]
                    loss = torch.nn.functional.binary_cross_entropy_with_logits(
                        logits, right[batch]
                    )
                    steps.zero_grad()
                    loss.backward()  # type: ignore[no-untyped-call]
                    steps.step()
        network.eval()
        with torch.inference_mode():
            return np.asarray(network(asked_ids)[:, 0].numpy() > 0)

    return _crossed(list(marked), list(plain), classify)


def _network(length: int) -> Any:
    from torch import nn

    class Teller(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(_FEATURE_WORDS, _WIDTH)
            self.places = nn.Embedding(length, _WIDTH)
            layer = nn.TransformerEncoderLayer(_WIDTH, 4, 2 * _WIDTH, 0.1, batch_first=True)
            self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
            self.head = nn.Linear(_WIDTH, 1)

        def forward(self, ids: Any) -> Any:
            embedded = self.words(ids) + self.places.weight
            return self.head(self.layers(embedded).mean(dim=1))

    return Teller()


def _crossed(
    marked: list[Any],
    plain: list[Any],
    classify: Callable[[Sequence[Any], Truth, Sequence[Any]], Truth],
) -> Truth:
    pairs = len(marked)
    fold = np.arange(pairs) % min(FOLDS, pairs)
    right = np.zeros(2 * pairs, dtype=np.bool_)
    for number in range(int(fold.max()) + 1):
        inside = np.flatnonzero(fold != number)
        out = np.flatnonzero(fold == number)
        training = [marked[i] for i in inside] + [plain[i] for i in inside]
        predictions = classify(
            training,
            np.arange(len(training)) < inside.size,
            [marked[i] for i in out] + [plain[i] for i in out],
        )
        right[out], right[pairs + out] = predictions[: out.size], ~predictions[out.size :]
    return right


def two_sample_p(marked: Sequence[I64], plain: Sequence[I64], rng: np.random.Generator) -> float:
    """Test whether two samples of texts have the same law, by maximum mean discrepancy.

    The kernel between texts is Gaussian in their counts of tokens and of pairs and triples of
    neighbouring tokens (hashed, square roots, unit length); its width is the median distance.

    Args:
        marked: int64 [L], the marked text of each pair.
        plain: The plain text of each pair.
        rng: Randomness of the swaps.

    Returns:
        The share of swaps, including the observed one, with at least the same discrepancy.
    """
    from scipy.spatial.distance import pdist, squareform

    pairs = len(marked)
    spectra = np.stack([_spectrum(ids) for ids in [*marked, *plain]])
    square = squareform(pdist(spectra, "sqeuclidean"))
    kernel = np.exp(-square / np.median(square[np.triu_indices(2 * pairs, 1)]))
    m, p = slice(None, pairs), slice(pairs, None)
    # A pair that is swapped changes its sign; the discrepancy is a form of the signs.
    form = kernel[m, m] + kernel[p, p] - kernel[m, p] - kernel[p, m]
    np.fill_diagonal(form, 0.0)
    signs = np.vstack([np.ones(pairs), rng.choice((-1.0, 1.0), (SWAPS, pairs))])
    discrepancies = ((signs @ form) * signs).sum(axis=1)
    return float((discrepancies >= discrepancies[0] - 1e-9).mean())


def _spectrum(ids: I64) -> F64:
    size = 1 << 13
    out = np.zeros(3 * size)
    odd = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], np.uint64)
    for run in (1, 2, 3):
        views = np.lib.stride_tricks.sliding_window_view(ids, run).astype(np.uint64)
        mixed = (views * odd[:run]).sum(axis=1, dtype=np.uint64)
        out[(run - 1) * size :][:size] = np.bincount(
            (mixed >> np.uint64(40)).astype(np.int64) % size, minlength=size
        )
    root = np.sqrt(out)
    return np.asarray(root / np.linalg.norm(root))


ORDER: Final = 5


class Letters:
    """A letter model that measures the bits of each byte of a text.

    Args:
        texts: Texts from which it learns.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._after: dict[bytes, Counter[int]] = defaultdict(Counter)
        for text in texts:
            encoded = text.encode()
            for index, byte in enumerate(encoded):
                for order in range(min(ORDER, index) + 1):
                    self._after[encoded[index - order : index]][byte] += 1
        self._sums = {context: counts.total() for context, counts in self._after.items()}

    def bits(self, text: str) -> float:
        """Return the mean bits a byte; 0 for an empty text."""
        encoded = text.encode()
        probabilities = [
            self._probability(encoded[max(0, index - ORDER) : index], b)
            for index, b in enumerate(encoded)
        ]
        return float(-np.log2(probabilities).mean()) if probabilities else 0.0

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
    """Compare a marked text with the plain one that has the same prompt.

    Differences are marked minus plain: ``nats`` a token under the writing model, ``judged`` in bits
    a byte under the judge, which is independent of that model.
    """
    pair = [bench.written(mark, number) for mark in (str(cell["mark"]), "plain")]
    nats = [-float(text.log_p.mean()) for text in pair]
    judgements = [_judged(bench, text.text) for text in pair]
    bits = [bits for bits, _ in judgements]
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
        **({"judge_log_p": [log_p for _, log_p in judgements]} if bench.judge else {}),
    }


def _judged(bench: ExperimentBench, text: str) -> tuple[float, list[float]]:
    """Return the judge's bits a byte for a text, and its log probability of each token.

    The letter model has no tokens; another judge has no prediction for the first token.
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
    """Return the accuracy of the classifiers, and the p-value of the two-sample test."""
    if len(rows) < 2:
        return {}

    def both(name: str) -> tuple[list[np.ndarray], list[np.ndarray]]:
        return [np.asarray(r[name][0]) for r in rows], [np.asarray(r[name][1]) for r in rows]

    texts = [r["texts"] for r in rows]
    correct = {
        "words": told_by_words([t[0] for t in texts], [t[1] for t in texts]),
        "transformer": told_by_transformer(*both("ids")),
        "likelihood": told_by_likelihood(*both("log_p")),
    }
    if all("judge_log_p" in r and all(r["judge_log_p"]) for r in rows):
        correct["by_judge"] = told_by_likelihood(*both("judge_log_p"))
    numbers: dict[str, Number | float] = {}
    for name, right in correct.items():
        low, high = wilson(int(right.sum()), right.size)
        numbers[name] = Number(value=float(right.mean()), low=low, high=high)
    numbers["mmd_p"] = two_sample_p(*both("ids"), np.random.default_rng(1))
    return numbers


@cache
def _letters() -> Letters:
    return Letters([*corpus("manual"), *corpus("notes")])
