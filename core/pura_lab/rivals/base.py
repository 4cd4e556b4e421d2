"""What all rival schemes share: keyed draws, one way in, one way out."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pura.detect.local.third_party import first_contexts
from pura.scheme import F64, I64, Payload, SecretKey
from pura.scheme.keys import KEY_BYTES
from pura.scheme.schedule import context_bytes

U64 = npt.NDArray[np.uint64]

_LABEL: Final = b"pura-rivals"
_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
_SECOND: Final = np.uint64(0x94D049BB133111EB)
_WORD: Final = (1 << 64) - 1


def context_seed(key: SecretKey, context: npt.ArrayLike, purpose: bytes = b"") -> int:
    """Return the 64-bit seed of one context.

    Args:
        key: The secret key.
        context: Token ids, in their order.
        purpose: Keeps draws for different uses apart.
    """
    return key.prf(_LABEL, purpose + b"|" + context_bytes(np.asarray(context).tolist())) & _WORD


def context_seeds(key: SecretKey, contexts: I64, purpose: bytes = b"") -> U64:
    """Return the seeds of contexts [N, W]; uint64 [N]."""
    return np.array([context_seed(key, row, purpose) for row in contexts], dtype=np.uint64)


def mix(words: U64) -> U64:
    """Return the finished words of SplitMix64 for these states."""
    out = words ^ (words >> np.uint64(30))
    with np.errstate(over="ignore"):  # asked of single numbers only; modulo 2^64 is meant
        out *= _FIRST
        out ^= out >> np.uint64(27)
        out *= _SECOND
        out ^= out >> np.uint64(31)
    return out


def layer_seeds(seeds: npt.ArrayLike, layers: int) -> U64:
    """Return one seed a layer for each seed; uint64 [..., layers]."""
    start = np.asarray(seeds, dtype=np.uint64)[..., None]
    return mix(start ^ (np.arange(1, layers + 1, dtype=np.uint64) * _SECOND))


def words(seeds: npt.ArrayLike, ids: npt.ArrayLike) -> U64:
    """Return the word of each token under each seed, broadcast; uint64."""
    with np.errstate(over="ignore"):  # single numbers only are asked about; 2^64 is meant
        counter = (np.asarray(ids).astype(np.uint64) + np.uint64(1)) * _GOLDEN
        return mix(np.asarray(seeds, dtype=np.uint64) + counter)


def spare(seeds: npt.ArrayLike, number: int = 0) -> U64:
    """Return words that belong to no token, one for each seed; uint64 like the seeds."""
    return words(seeds, (1 << 40) + number)


def uniforms(drawn: U64) -> F64:
    """Map words to (0, 1): 53 bits and half a step, so that neither end is ever met."""
    return ((drawn >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53


def below(drawn: U64, count: int) -> I64:
    """Map words to 0 … count-1, uniform up to 2^-32 times ``count``."""
    return (((drawn >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32)).astype(np.int64)


I8 = npt.NDArray[np.int8]
ERASED = -1


@dataclass(kw_only=True)
class RivalRow:
    """One text that is being written.

    Attributes:
        code: What the scheme made of the payload.
        rng: Ordinary randomness, independent of the key.
        tokens: The text so far.
        seen: Contexts that have carried.
        state: What else the scheme keeps along a text.
    """

    code: I64
    rng: np.random.Generator
    tokens: list[int] = field(default_factory=list)
    seen: set[tuple[int, ...]] = field(default_factory=set)
    state: Any = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Observed:
    """What a key draws for the tokens of a text that count.

    Attributes:
        token: int64 [N], their places.
        position: int64 [N], the part of the message that each speaks of; 0 where there is one.
        draws: [N, ...], the keyed draws; what they mean is the scheme's own.
        seeds: uint64 [N], of the contexts, where draws are too many to be held.
    """

    token: I64
    position: I64
    draws: npt.NDArray[Any]
    seeds: U64 = field(default_factory=lambda: np.zeros(0, np.uint64))


@dataclass(frozen=True, kw_only=True, eq=False)
class Decoded:
    """What was read.

    Attributes:
        bits: int8 [L_m], 0 or 1, or :data:`ERASED` where nothing speaks or both sides speak alike.
        statistic: Grows with a mark of the key, whatever its message.
        others: Further candidates, likeliest first.
    """

    bits: I8
    statistic: float
    others: tuple[I8, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Rival(ABC):
    """A scheme with its key.

    Attributes:
        key: The secret key. Hazard: held as long as the scheme.
        vocab_size: ``V``, tokens of the tokenizer; rows of probabilities are exactly that wide.
        payload_bits: ``L_m``; 0 for a mark without a message.
        window: ``W``, tokens of a context.
        marks_repeats: Mark again where a context comes again, as biased schemes do; otherwise such
            a step is plain, without which no scheme is unbiased over a text.
    """

    key: SecretKey
    vocab_size: int
    payload_bits: int = 0
    window: int = 2
    marks_repeats: bool = False

    def start(self, payload: Payload | None, rng: np.random.Generator) -> RivalRow:
        """Begin a text.

        Raises:
            ValueError: The payload is not of the scheme's length.
        """
        bits = np.zeros(0, dtype=np.int64) if payload is None else payload.array.astype(np.int64)
        if bits.size != self.payload_bits:
            raise ValueError(f"a payload of {self.payload_bits} bits is needed, not {bits.size}")
        return RivalRow(code=self.encode(bits), rng=rng)

    def embed(self, row: RivalRow, probabilities: F64) -> int:
        """Choose the next token of a text.

        Args:
            row: The text; it moves on by the token.
            probabilities: float64 [V], sums to 1; after temperature and truncation.
        """
        self.check_width(probabilities)
        context = tuple(row.tokens[len(row.tokens) - self.window :]) if self.window else ()
        enough = len(row.tokens) >= self.first
        if enough and (self.marks_repeats or context not in row.seen):
            row.seen.add(context)
            token = self.choose(row, probabilities, np.array(context, dtype=np.int64))
        else:
            token = draw(probabilities, row.rng.random())
        row.tokens.append(token)
        return token

    @property
    def first(self) -> int:
        """Tokens of a text before the first that is marked."""
        return self.window

    def check_width(self, probabilities: F64) -> None:
        """Refuse a row that is not as wide as the vocabulary.

        Raises:
            ValueError: It is not.
        """
        if probabilities.shape != (self.vocab_size,):
            raise ValueError(f"a row of {self.vocab_size} probabilities is needed")

    def encode(self, bits: I64) -> I64:
        """Return what is embedded of a payload's bits."""
        return bits

    @abstractmethod
    def choose(self, row: RivalRow, probabilities: F64, context: I64) -> int:
        """Return the marked token of a step."""

    @abstractmethod
    def observe(self, ids: I64) -> Observed:
        """Return what the key draws for a text; every context is counted once."""

    @abstractmethod
    def decode(self, observed: Observed) -> Decoded:
        """Read the message."""

    def null_draw(self, ids: I64, rng: np.random.Generator) -> Observed:
        """Return what a key that has nothing to do with the text draws for it."""
        return replace(self, key=SecretKey(rng.bytes(KEY_BYTES))).observe(ids)

    def printed_p(self, ids: I64) -> float | None:
        """Return the p-value as the scheme's public code prints it, faults and all; None: none."""
        return None

    def p_of_excess(self, ids: I64, mean: float, variance: float) -> float:
        """Return the normal tail of the statistic, each counted token adding mean and variance."""
        observed = self.observe(ids)
        count = observed.token.size
        excess = self.decode(observed).statistic - mean * count
        return normal_tail(excess / math.sqrt(max(count, 1) * variance))

    def counted(self, ids: I64) -> tuple[I64, I64]:
        """Return the tokens that count, and their contexts."""
        return first_contexts(ids, self.window)


class Reweighting(Rival):
    """A scheme that changes the distribution and draws from it."""

    @abstractmethod
    def law(self, code: I64, probabilities: F64, context: I64) -> F64:
        """Return the changed distribution; float64 [V]."""

    def choose(self, row: RivalRow, probabilities: F64, context: I64) -> int:
        """Draw from the changed distribution."""
        return draw(self.law(row.code, probabilities, context), row.rng.random())


def normal_tail(z: float) -> float:
    """Return the probability that a standard normal number is ``z`` or more."""
    return 0.5 * math.erfc(z / math.sqrt(2.0))


def draw(probabilities: F64, point: float) -> int:
    """Return the token whose interval in the order of ids holds a point of [0, 1)."""
    mass = np.cumsum(probabilities)
    token = int(np.searchsorted(mass, point * mass[-1], side="right"))
    if token == mass.size:  # rounding left the end of the sum at or below the point
        token = int(np.flatnonzero(probabilities)[-1])
    return token


def shifted(probabilities: F64, favoured: npt.NDArray[np.bool_], delta: float) -> F64:
    """Return the distribution after ``delta`` was added to the logits of the favoured tokens."""
    weights = probabilities * (1.0 + (np.exp(delta) - 1.0) * favoured)
    return np.asarray(weights / weights.sum())


def add_up(observed: Observed, scores: F64, positions: int) -> F64:
    """Return the sums of scores [N, M] over the tokens of each position; float64 [positions, M]."""
    out = np.zeros((positions, scores.shape[1]))
    np.add.at(out, observed.position, scores)
    return out


def largest(sums: F64) -> I64:
    """Return the column with the largest sum of each row; :data:`ERASED` where two share it."""
    best = sums.max(axis=1, keepdims=True)
    alone = (sums == best).sum(axis=1) == 1
    return np.where(alone, sums.argmax(axis=1), ERASED).astype(np.int64)


def bits_of(symbols: I64, width: int) -> I8:
    """Return the bits of symbols, most significant first; erased symbols are erased bits."""
    bits = (symbols[:, None] >> np.arange(width - 1, -1, -1)) & 1
    return np.where(symbols[:, None] == ERASED, ERASED, bits).astype(np.int8).ravel()


def symbols_of(bits: I64, width: int) -> I64:
    """Return the symbols of bits, most significant first; zeros fill up the last one."""
    padded = np.concatenate([bits, np.zeros(-bits.size % width, dtype=np.int64)])
    return np.asarray(padded.reshape(-1, width) @ (1 << np.arange(width - 1, -1, -1)))


def redraw_p(rival: Rival, ids: I64, rng: np.random.Generator, draws: int = 99) -> float:
    """Return the share of keys whose statistic is no smaller than the scheme's, its own included.

    A p-value for "the text was written without the key", exact for every text: under it the key is
    as good as each of those drawn.
    """
    own = rival.decode(rival.observe(ids)).statistic
    above = sum(
        rival.decode(rival.null_draw(ids, rng)).statistic >= own - 1e-12 for _ in range(draws)
    )
    return (1 + above) / (1 + draws)
