"""BiMark (Feng et al. 2025): layers of halves, boosted or not by a masked bit of the message.

A context chooses a bit of the message and a fair coin for each layer; the layer boosts one half of
the vocabulary if bit and coin differ, else the other. The coins make every layer unbiased.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pura.scheme import SecretKey
from pura.scheme.keys import KEY_BYTES
from pura_lab.rivals.base import (
    F64,
    I64,
    Decoded,
    Observed,
    Reweighting,
    add_up,
    below,
    bits_of,
    context_seed,
    context_seeds,
    largest,
    layer_seeds,
    spare,
    words,
)
from pura_lab.rivals.greens import normal_tail

_EDGE = 1e-12


def flip(probabilities: F64, zero: F64, boost: bool, alpha: float, delta: float) -> F64:
    """Return a distribution after one layer.

    Args:
        probabilities: float64 [V].
        zero: float64 [V], 1 in the half that ``boost`` makes likelier, else 0.
        boost: Which of the halves.
        alpha: Most that the half may weigh afterwards, as a share.
        delta: Most by which it grows, as a share.
    """
    mass = float(probabilities @ zero)
    if not _EDGE < mass < 1 - _EDGE:
        return probabilities
    up = max(min(alpha / mass, 1 + delta), 1.0) - 1.0
    down = min(up * mass / (1 - mass), 1.0)
    inside, outside = (1 + up, 1 - down) if boost else (1 - up, 1 + down)
    return probabilities * (outside + (inside - outside) * zero)


@dataclass(frozen=True, kw_only=True, eq=False)
class BiMark(Reweighting):
    """The scheme.

    Attributes:
        layers: How many halves.
        alpha: As published.
        delta: As published.
    """

    layers: int = 10
    alpha: float = 1.0
    delta: float = 1.0

    @cached_property
    def halves(self) -> npt.NDArray[np.bool_]:
        """Which tokens are in the first half of each layer; bool [layers, V]."""
        seeds = layer_seeds(context_seed(self.key, [], b"bimark"), self.layers)
        order = words(seeds[:, None], np.arange(self.vocab_size)).argsort(axis=1)
        out = np.zeros((self.layers, self.vocab_size), dtype=bool)
        np.put_along_axis(out, order[:, : self.vocab_size // 2], values=True, axis=1)
        return out

    @cached_property
    def _weights(self) -> F64:
        return self.halves.astype(np.float64)

    def law(self, code: I64, probabilities: F64, context: I64) -> F64:
        """Return the distribution after all layers."""
        seed = np.array([context_seed(self.key, context, b"bimark")], dtype=np.uint64)
        bit = int(code[below(spare(seed), self.payload_bits)[0]])
        out = probabilities
        for half, coin in zip(self._weights, self._coins(seed)[0].tolist(), strict=True):
            out = flip(out, half, bool(bit ^ coin), self.alpha, self.delta)
        return out

    def _coins(self, seeds: npt.NDArray[np.uint64]) -> I64:
        return below(layer_seeds(seeds, self.layers), 2)

    def observe(self, ids: I64) -> Observed:
        """Return each layer's vote for the bit of a token; int64 [N, layers]."""
        token, contexts = self.counted(ids)
        seeds = context_seeds(self.key, contexts, b"bimark")
        return Observed(
            token=token,
            position=below(spare(seeds), self.payload_bits),
            draws=self.halves[:, ids[token]].T ^ self._coins(seeds),
        )

    def null_draw(self, ids: I64, rng: np.random.Generator) -> Observed:
        """Draw contexts anew and keep the halves: the votes are fair coins for any halves."""
        other = replace(self, key=SecretKey(rng.bytes(KEY_BYTES)))
        other.__dict__["halves"] = self.halves
        return other.observe(ids)

    def decode(self, observed: Observed) -> Decoded:
        """Return the majority of all votes for each bit."""
        ones = observed.draws.sum(axis=1)
        votes = np.stack([self.layers - ones, ones], axis=1).astype(np.float64)
        sums = add_up(observed, votes, self.payload_bits)
        return Decoded(bits=bits_of(largest(sums), 1), statistic=float(sums.max(axis=1).sum()))

    def printed_p(self, ids: I64) -> float:
        """Take the majorities, chosen afterwards, for votes on a given message."""
        observed = self.observe(ids)
        count = observed.draws.size
        excess = self.decode(observed).statistic - count / 2
        return normal_tail(excess / np.sqrt(max(count, 1) / 4))
