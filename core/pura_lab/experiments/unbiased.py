"""Over many keys a fixed payload changes no law: frequencies beside the exact law.

A model of two random layers over eight tokens is small enough for the law of a whole text to be
worked out: every text of four tokens, two of them behind a context that may carry. Texts are
written as all others are, each with a key of its own and all with one payload.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from pura.scheme import Payload, Profile, SecretKey
from pura.scheme.keys import KEY_BYTES
from pura_lab.compare.methods import METHODS
from pura_lab.compare.methods import Bench as Schemes
from pura_lab.experiments.base import Cell, Row
from pura_lab.experiments.bench import ExperimentBench

if TYPE_CHECKING:
    from pura.model.load import LanguageModel

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

KEYS: Final = 1000
"""Keys of what counts as one text of the experiment."""
TOKENS: Final = 4
_WORDS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight")
_PROMPT: Final = (3, 1)
_LEAST: Final = 8.0
"""Expected in each cell of the test; rarer texts are counted together."""
_CHANCE: Final = 50
"""Samples of the law itself, for what chance makes of the distance."""


def frequencies(bench: ExperimentBench, cell: Cell, number: int) -> Row:
    """Write a text with each of a thousand keys.

    Returns:
        ``drawn``, the number of the text that each wrote; with the first thousand also ``law``,
        the probability of every text.
    """
    dice = bench.dice("keys", number)
    keys = [SecretKey(dice.bytes(KEY_BYTES)) for _ in range(KEYS)]
    bits = bench.dice("payload").integers(0, 2, 12)
    payload, mark = Payload.from_bits(bits), str(cell["mark"])
    ids = (_by_others if mark in METHODS else _by_pura)(mark, keys, payload, dice)
    drawn = ids @ len(_WORDS) ** np.arange(TOKENS - 1, -1, -1)
    return {"drawn": drawn.tolist()} | ({"law": exact_law().tolist()} if number == 0 else {})


def chi_square(rows: Sequence[Row]) -> dict[str, float]:
    """Compare the frequencies of all texts with the law.

    Returns:
        ``keys``; ``p``, of Pearson's test; ``distance``, the total variation between the two, of
        which chance alone makes ``by_chance``.
    """
    from scipy.stats import chisquare

    law = np.asarray(rows[0]["law"])
    drawn = np.concatenate([np.asarray(row["drawn"]) for row in rows])
    counts, expected = np.bincount(drawn, minlength=law.size), law * drawn.size
    rare = expected < _LEAST
    seen = np.append(counts[~rare], counts[rare].sum())
    want = np.append(expected[~rare], expected[rare].sum())
    chance = np.random.default_rng(1).multinomial(drawn.size, law, _CHANCE) / drawn.size
    return {
        "keys": float(drawn.size),
        "p": float(chisquare(seen[want > 0], want[want > 0]).pvalue),
        "distance": float(np.abs(counts / drawn.size - law).sum() / 2),
        "by_chance": float(np.abs(chance - law).sum(axis=1).mean() / 2),
    }


@cache
def tiny_model() -> LanguageModel:
    """Return a model of random weights with eight words."""
    from pura.model import offline

    offline.prepare()
    import torch
    from tokenizers import Tokenizer, models
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    from pura.model.device import choose_device
    from pura.model.load import wrap

    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(5)
        network: Any = LlamaForCausalLM(
            LlamaConfig(
                vocab_size=len(_WORDS),
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
    bare = Tokenizer(models.WordLevel({w: i for i, w in enumerate(_WORDS)}, unk_token=_WORDS[0]))
    tokenizer: Any = PreTrainedTokenizerFast
    words = tokenizer(tokenizer_object=bare)
    return wrap(network, words, choose_device("cpu"), name="eight words")


@cache
def exact_law() -> F64:
    """Return the probability of every text of :data:`TOKENS` tokens; float64 [8^TOKENS]."""
    law = np.ones(1)
    for length in range(TOKENS):
        before = list(product(range(len(_WORDS)), repeat=length))
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
    mark: str, keys: Sequence[SecretKey], payload: Payload, dice: np.random.Generator
) -> I64:
    from pura.embed.generate import generate_batch

    made = generate_batch(
        tiny_model(),
        [list(_PROMPT)] * len(keys),
        [payload] * len(keys),
        keys,
        Profile(
            payload_bits=len(payload),
            blocks=3,
            vocab_size=len(_WORDS),
            # All arities occur below the three bits that eight tokens can have.
            entropy_thresholds_bits=(0.8, 1.5, 2.2),
        ),
        tokens=TOKENS,
        seed=int(dice.integers(1 << 62)),
        batch_size=len(keys),
    )
    return np.stack([text.ids for text in made])


def _by_others(
    mark: str, keys: Sequence[SecretKey], payload: Payload, dice: np.random.Generator
) -> I64:
    make = METHODS[mark].make
    assert make is not None
    some = Schemes(vocab_size=len(_WORDS), segments=lambda _: np.arange(len(_WORDS)) % 3)
    schemes = [make(some, key, len(payload)) for key in keys]
    rows = [scheme.start(payload, dice) for scheme in schemes]
    ids = np.zeros((len(keys), 0), dtype=np.int64)
    for _ in range(TOKENS):
        laws = _next(ids)
        tokens = [s.embed(r, law) for s, r, law in zip(schemes, rows, laws, strict=True)]
        ids = np.concatenate([ids, np.array(tokens)[:, None]], axis=1)
    return ids
