"""Green tokens: KGW (Kirchenbauer et al. 2023) and Unigram (Zhao et al. 2024).

Both add ``delta`` to the logits of a keyed share ``gamma`` of the vocabulary: KGW draws a new share
for each context, Unigram keeps one for all. A token is green by its own keyed draw, so the draws
are independent; lists of an exact length are the variant of the transformers library, built here
for the comparison with it.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pura.decode import bets
from pura.extract.foreign import in_shuffled_front, shuffled_front
from pura_lab.rivals.base import (
    F64,
    I64,
    Decoded,
    Observed,
    Reweighting,
    context_seed,
    context_seeds,
    shifted,
    uniforms,
    words,
)

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Greens(Reweighting):
    """What both have in common.

    Attributes:
        gamma: Share of green tokens.
        delta: Added to their logits.
    """

    gamma: float = 0.5
    delta: float = 2.0
    marks_repeats: bool = True

    def law(self, code: I64, probabilities: F64, context: I64) -> F64:
        """Return the distribution with green tokens made likelier."""
        return shifted(probabilities, self.green_list(context), self.delta)

    @abstractmethod
    def green_list(self, context: I64) -> Flags:
        """Return which tokens are green after a context; bool [V]."""

    def decode(self, observed: Observed) -> Decoded:
        """Return how many more tokens are green than ``gamma`` would have it, in sigmas."""
        z = _z(int(observed.draws.sum()), observed.draws.size, self.gamma)
        return Decoded(bits=np.zeros(0, dtype=np.int8), statistic=z)

    def log_e(self, observed: Observed) -> float:
        """Return the evidence, in nats; mean one at most for a text without the key."""
        return float(bets.coins(observed.draws.astype(bool), self.gamma).sum())


@dataclass(frozen=True, kw_only=True, eq=False)
class Kgw(_Greens):
    """KGW with a keyed draw for every context and token."""

    def green_list(self, context: I64) -> Flags:
        """Return which tokens are green after a context; bool [V]."""
        seed = context_seed(self.key, context, b"kgw")
        return np.asarray(uniforms(words(seed, np.arange(self.vocab_size))) < self.gamma)

    def observe(self, ids: I64) -> Observed:
        """Return whether each token that follows a new context is green."""
        token, contexts = self.counted(ids)
        return Observed(
            token=token,
            position=np.zeros_like(token),
            draws=self.greens(ids[token], contexts),
        )

    def greens(self, ids: I64, contexts: I64) -> Flags:
        """Return whether tokens [N] are green after contexts [N, W]."""
        seeds = context_seeds(self.key, contexts, b"kgw")
        return np.asarray(uniforms(words(seeds, ids)) < self.gamma)

    def printed_p(self, ids: I64) -> float:
        """Count every token, repeated contexts too, as the usual detectors do."""
        if ids.size <= self.window:
            return 1.0
        contexts = np.lib.stride_tricks.sliding_window_view(ids[:-1], self.window)
        greens = self.greens(ids[self.window :], contexts)
        return normal_tail(_z(int(greens.sum()), greens.size, self.gamma))


@dataclass(frozen=True, kw_only=True, eq=False)
class KgwOfTransformers(Kgw):
    """KGW as the transformers library draws its lists: exact lengths, from torch's generator.

    Only the last token of the context is hashed (``lefthash``), with the library's public key; the
    secret key is not used.

    Attributes:
        hashing_key: The library's.
    """

    window: int = 1
    gamma: float = 0.25
    hashing_key: int = 15_485_863

    def green_list(self, context: I64) -> Flags:
        """Return which tokens are green after a context; bool [V]."""
        out = np.zeros(self.vocab_size, dtype=bool)
        out[shuffled_front(self._seed(int(context[-1])), self.vocab_size, self._size)] = True
        return out

    def greens(self, ids: I64, contexts: I64) -> Flags:
        """Return whether tokens [N] are green after contexts [N, 1]."""
        pairs = zip(ids.tolist(), contexts[:, -1].tolist(), strict=True)
        size, count = self.vocab_size, self._size
        green = [in_shuffled_front(self._seed(last), size, count, token) for token, last in pairs]
        return np.array(green, dtype=bool)

    @property
    def _size(self) -> int:
        return int(self.vocab_size * self.gamma)

    def _seed(self, last: int) -> int:
        return last * self.hashing_key % (2**64 - 1)


@dataclass(frozen=True, kw_only=True, eq=False)
class Unigram(_Greens):
    """Unigram: the same green half for every context; each kind of token is counted once."""

    window: int = 0

    @cached_property
    def _greens(self) -> Flags:
        seed = context_seed(self.key, [], b"unigram")
        return np.asarray(uniforms(words(seed, np.arange(self.vocab_size))) < self.gamma)

    def green_list(self, context: I64) -> Flags:
        """Return which tokens are green; bool [V]."""
        return self._greens

    def observe(self, ids: I64) -> Observed:
        """Return whether each token, where it stands for the first time, is green."""
        token = np.sort(np.unique(ids, return_index=True)[1]).astype(np.int64)
        return Observed(token=token, position=np.zeros_like(token), draws=self._greens[ids[token]])

    def printed_p(self, ids: I64) -> float:
        """Count every token, as the usual detectors do."""
        return normal_tail(_z(int(self._greens[ids].sum()), ids.size, self.gamma))


def _z(count: int, total: int, chance: float) -> float:
    if not total:
        return 0.0
    return float((count - chance * total) / np.sqrt(total * chance * (1 - chance)))


def normal_tail(z: float) -> float:
    """Return the probability that a standard normal number is ``z`` or more."""
    return 0.5 * math.erfc(z / math.sqrt(2.0))
