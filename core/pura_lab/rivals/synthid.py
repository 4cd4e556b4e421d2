"""SynthID-Text (Dathathri et al. 2024), the non-distortionary tournament.

Thirty layers, each with a keyed coin ``g`` for every context and token; a layer moves probability
from tokens with tails to tokens with heads, and the mean over the coins is the distribution itself.
Tokens after a context that came before are plain. With ``window`` 4 a layer sees n-grams of 5.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from pura.decode import bets
from pura.extract.foreign import synthid_entries, synthid_table
from pura_lab.rivals.base import (
    F64,
    I64,
    Decoded,
    Observed,
    Reweighting,
    context_seed,
    context_seeds,
    words,
)

U8 = npt.NDArray[np.uint8]

DEPTH: Final = 30


def tournament(probabilities: F64, g: npt.NDArray[np.number]) -> F64:
    """Return the law of the tournament's winner, two entrants a layer.

    Args:
        probabilities: float64 [V].
        g: [layers, V], in [0, 1].
    """
    out = probabilities.copy()
    for layer in g:
        values = layer.astype(np.float64)
        out *= 1.0 + values - out @ values
    return out


@dataclass(frozen=True, kw_only=True, eq=False)
class SynthId(Reweighting):
    """The tournament with coins from the secret key.

    Attributes:
        depth: Layers, at most 64.
    """

    window: int = 4
    depth: int = DEPTH

    def law(self, code: I64, probabilities: F64, context: I64) -> F64:
        """Return the distribution of the winner."""
        return tournament(probabilities, self.coins(np.arange(self.vocab_size), context[None]))

    def coins(self, ids: I64, contexts: I64) -> U8:
        """Return the coins of tokens [N] after contexts [N, W] or [1, W]; uint8 [layers, N]."""
        if contexts.shape[0] == 1:
            drawn = words(context_seed(self.key, contexts[0], b"synthid"), ids)
        else:
            drawn = words(context_seeds(self.key, contexts, b"synthid"), ids)
        layers = np.arange(self.depth, dtype=np.uint64)
        return ((drawn >> layers[:, None]) & np.uint64(1)).astype(np.uint8)

    def observe(self, ids: I64) -> Observed:
        """Return the coins of each token that follows a new context; uint8 [N, layers]."""
        token, contexts = self.counted(ids)
        g = self.coins(ids[token], contexts) if token.size else np.zeros((self.depth, 0), np.uint8)
        return Observed(token=token, position=np.zeros_like(token), draws=g.T)

    def decode(self, observed: Observed) -> Decoded:
        """Return the weighted mean of the coins, weights falling from 10 to 1 over the layers."""
        weights = np.linspace(10.0, 1.0, self.depth)
        means = observed.draws.mean(axis=0) if observed.draws.size else np.full(self.depth, 0.5)
        score = float(means @ weights / weights.sum())
        return Decoded(bits=np.zeros(0, dtype=np.int8), statistic=score)

    def log_e(self, observed: Observed) -> float:
        """Return the evidence, in nats; mean one for a text without the key."""
        return float(bets.layered_coins(observed.draws).sum())

    def printed_p(self, ids: I64) -> float:
        """Return the binomial tail of all coins, which is exact: repeated contexts are masked."""
        draws = self.observe(ids).draws
        return binomial_tail(int(draws.sum()), draws.size)


@dataclass(frozen=True, kw_only=True, eq=False)
class SynthIdPublished(SynthId):
    """The tournament with the hash, the table and the keys of the public code.

    The secret key is not used. Coins come from a table of random bits, drawn by torch's generator,
    so two coins may be the same entry; what is proved of keyed coins holds for these as far as the
    table and the hash are as good as random.

    Attributes:
        keys: One number a layer.
        table_size: Entries of the table.
        table_seed: Of torch's generator.
    """

    keys: tuple[int, ...] = field(default=())
    table_size: int = 1 << 16
    table_seed: int = 0

    @cached_property
    def _table(self) -> U8:
        return synthid_table(self.table_seed, self.table_size)

    def coins(self, ids: I64, contexts: I64) -> U8:
        """Return the coins of tokens [N] after contexts [N, W] or [1, W]; uint8 [layers, N]."""
        return self._table[synthid_entries(self.keys, self.table_size, ids, contexts)]


def binomial_tail(count: int, total: int) -> float:
    """Return the probability of ``count`` heads or more among ``total`` fair coins."""
    from scipy.stats import binom

    return float(binom.sf(count - 1, total, 0.5))
