"""What all attacks share: what they need, what they leave behind, how hard they hit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Attacked:
    """A text after an attack.

    Attributes:
        ids: int64 [L'], its tokens.
        origin: int64 [L'], where each token stood before; -1 for tokens from outside. None when
            the attack worked on characters.
        rate: Achieved edit rate (:func:`edit_rate`).
    """

    ids: I64
    origin: I64 | None
    rate: float


class TextWriter(Protocol):
    """A local model that is asked for texts."""

    @property
    def name(self) -> str:
        """What it is called in results."""

    def __call__(self, system: str, user: str, *, seed: int, tokens: int) -> str:
        """Answer a request.

        Args:
            system: The system prompt.
            user: The request.
            seed: Of the sampling.
            tokens: The most tokens of the answer.
        """

    def log_likelihoods(self, system: str, user: str, answer: str) -> F64:
        """Return the log probability of each token of an answer; float64 [A], nats."""


class Paraphraser(Protocol):
    """Text in, text out: DIPPER, whose text begins with control codes, or a translator."""

    name: str

    def __call__(self, prompt: str, *, seed: int) -> str:
        """Answer."""


class Stepper(Protocol):
    """A model that is fed texts side by side, one token of each at a time."""

    def __call__(self, tokens: I64) -> npt.NDArray[np.floating]:
        """Take the next tokens, int64 [B], and return what they predict; logits [B, V]."""

    def go_on_as(self, rows: I64) -> None:
        """Let each text go on as another one: row ``b`` as row ``rows[b]``; int64 [B]."""


@dataclass(frozen=True, kw_only=True)
class Tools:
    """What attacks may need beside the text; each says what it lacks.

    Attributes:
        vocab_size: ``V``, for random tokens.
        decode: Token ids to text.
        tokenise: Text to token ids.
        propose: Token ids [L] to logits float [L, V]; row ``t`` predicts token ``t``. The small
            model that plausible edits are drawn from.
        foreign: Sentences by somebody else.
        thesaurus: A word in small letters to its synonyms.
        writer: A model that rewrites.
        stepper: Begins texts with the model that stands in for another one.
        paraphraser: DIPPER itself.
        translators: Into another language, and back.
    """

    vocab_size: int = 0
    decode: Callable[[I64], str] | None = None
    tokenise: Callable[[str], I64] | None = None
    propose: Callable[[I64], npt.NDArray[np.floating]] | None = None
    foreign: tuple[str, ...] = ()
    thesaurus: Callable[[str], tuple[str, ...]] | None = None
    writer: TextWriter | None = None
    stepper: Callable[[], Stepper] | None = None
    paraphraser: Paraphraser | None = None
    translators: tuple[Paraphraser, ...] = ()


def edit_rate(before: I64, after: I64) -> float:
    """Return the Levenshtein distance between two token sequences per token of the first.

    Args:
        before: int64 [L].
        after: int64 [L'].

    Returns:
        0 for equal sequences; 0 too when both are empty, infinity when only the first is.
    """
    if not before.size:
        return float("inf") if after.size else 0.0
    place = np.arange(after.size + 1)
    row = place.copy()
    for number, token in enumerate(before.tolist(), start=1):
        # Deletion and substitution at once; insertions are a running minimum of row - place.
        best = np.minimum(row[1:] + 1, row[:-1] + (after != token))
        row = np.concatenate([[number], best])
        row = np.minimum.accumulate(row - place) + place
    return float(row[-1] / before.size)


@dataclass(frozen=True, kw_only=True)
class Damage:
    """How hard an attack hit.

    Attributes:
        characters: Edit rate in characters (:func:`edit_rate`).
        words: Edit rate in words.
        tokens: Edit rate in tokens.
        similarity: Cosine of the word counts, 0 … 1: the same words give 1, in any order.
        perplexity_before: Of the text before, under the model at hand; None without one.
        perplexity: Of the text after.
    """

    characters: float
    words: float
    tokens: float
    similarity: float
    perplexity_before: float | None = None
    perplexity: float | None = None


def damage(before: tuple[str, I64], after: tuple[str, I64], tools: Tools) -> Damage:
    """Measure what happened between two texts, each given with its tokens."""
    words = [text.split() for text, _ in (before, after)]
    number = {word: i for i, word in enumerate(dict.fromkeys([*words[0], *words[1]]))}
    old, new = (np.array([number[w] for w in some], dtype=np.int64) for some in words)
    letters = [np.frombuffer(text.encode("utf-32-le"), "<u4") for text, _ in (before, after)]
    return Damage(
        characters=edit_rate(letters[0].astype(np.int64), letters[1].astype(np.int64)),
        words=edit_rate(old, new),
        tokens=edit_rate(before[1], after[1]),
        similarity=_cosine(Counter(old.tolist()), Counter(new.tolist())),
        perplexity_before=perplexity(before[1], tools),
        perplexity=perplexity(after[1], tools),
    )


def perplexity(ids: I64, tools: Tools) -> float | None:
    """Return the perplexity of a text from its second token on; None without a model or tokens."""
    log_p = log_likelihoods(ids, tools)
    return None if log_p is None else float(np.exp(-log_p.mean()))


def log_likelihoods(ids: I64, tools: Tools) -> F64 | None:
    """Return the log probability of each token but the first; float64 [L - 1], nats.

    Returns:
        None without a model, or with fewer than two tokens.
    """
    if tools.propose is None or ids.size < 2:
        return None
    logits = np.asarray(tools.propose(ids)[1:], dtype=np.float64)
    top = logits.max(axis=1)
    log_z = top + np.log(np.exp(logits - top[:, None]).sum(axis=1))
    return np.asarray(logits[np.arange(ids.size - 1), ids[1:]] - log_z)


def _cosine(a: Counter[int], b: Counter[int]) -> float:
    if not a or not b:
        return float(a == b)
    norm = np.sqrt(sum(v * v for v in a.values()) * sum(v * v for v in b.values()))
    return float(sum(v * b[k] for k, v in a.items()) / norm)


def count_of(size: int, rate: float) -> int:
    """Return how many of ``size`` things a rate means, to the nearest.

    Raises:
        ValueError: The rate is not between 0 and 1.
    """
    if not 0 <= rate <= 1:
        raise ValueError("a rate lies between 0 and 1")
    return round(rate * size)


def result(before: I64, ids: I64, origin: I64 | None) -> Attacked:
    """Return the outcome with its edit rate."""
    return Attacked(ids=ids, origin=origin, rate=edit_rate(before, ids))
