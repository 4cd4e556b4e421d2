"""E-values of marks by others: bets on the keyed draws of a text.

Where a text was written without the key, its contexts each counted once, the draws are independent
with a law that does not depend on the text. A product of bets that each have mean one under that
law has mean one, and so has a weighted mean of such products: an e-value, which exceeds ``x`` with
probability at most ``1/x`` (Markov). What the bets assume about marked texts costs power if wrong,
and nothing else. The proof stands in evidence.md, "Marks by others".

Every function returns what each draw adds to ``log e``, given those before it; together they are
``log e``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pura.detect.local.third_party import REPEATED, Draws
from pura.scheme import F64
from pura.scheme.foreign import ForeignMark

_SHARES: Final = np.array([0.05, 0.15, 0.3, 0.5, 0.75])
_POWERS: Final = np.array([2.0, 3.0, 5.0, 10.0, 25.0, 100.0])
_EXPONENTS: Final = np.array([1.0, 0.5])
_MOST_POWER: Final = 1e6
_MIDDLES: Final = 1 - 2.0**-24
"""Makes up for middles of intervals, where powers between 0 and 1 are larger than on average."""
_STRENGTHS: Final = np.array([0.02, 0.05, 0.1, 0.2, 0.35])
_DECAYS: Final = np.array([1.0, 0.9, 0.75])


def log_increments(mark: ForeignMark, draws: Draws, probability: F64 | None = None) -> F64:
    """Return what each counted token of a text adds to ``log e``; float64 [N], nats.

    Args:
        mark: The mark that is looked for.
        draws: What its key draws for the text.
        probability: float64 [L], of each token of the text under a model; only the bets on uniform
            numbers make use of it.
    """
    token, values = draws
    if not token.size:  # the text is shorter than a context
        return np.zeros(0)
    if values.dtype == np.float64:
        told = None if probability is None else probability[token]
        return high_uniforms(values, np.array(mark.key_weights), told)
    if values.dtype == np.bool_:
        return coins(values[:, 0], mark.chance)
    return layered_coins(values)


def coins(hits: npt.NDArray[np.bool_], chance: float) -> F64:
    """Bet on independent draws that are hits with probability ``chance``.

    A hit has probability ``chance + s (1 - chance)``, for a few ``s``.

    Args:
        hits: bool [N].
        chance: Under the null hypothesis, in (0, 1).
    """
    raised = chance + _SHARES * (1 - chance)
    bets = np.where(hits[:, None], raised / chance, (1 - raised) / (1 - chance))
    return _increments(np.log(bets))


def high_uniforms(u: F64, weights: F64 | None = None, probability: F64 | None = None) -> F64:
    """Bet on independent uniform numbers that a mark makes large.

    Under a Gumbel-max mark the number of a token of probability ``p`` has the density
    ``u^(1/p - 1) / p``. Bets: such densities for a few ``p``, mixed with the uniform one; where a
    model says what ``p`` may have been, also those for it and for its square root.

    Args:
        u: float64 [N] or [N, keys], in (0, 1); middles of 2^24 equal intervals or more.
        weights: float64 [keys], how often each key chose; adds up to 1.
        probability: float64 [N], in (0, 1], of each token under a model; it does not know the key.
    """
    columns = u.reshape(u.shape[0], -1)
    logs = np.log(columns)[..., None]
    weights = np.ones(1) if weights is None else weights
    bets = np.einsum("nkp,k->n", _POWERS * np.exp((_POWERS - 1) * logs), weights) / _POWERS.size
    mixed = bets[:, None]
    if probability is not None:
        power = np.minimum(probability[:, None] ** -_EXPONENTS, _MOST_POWER)
        told = power[:, None] * np.exp((power[:, None] - 1) * logs) * _MIDDLES
        mixed = np.hstack([mixed, np.einsum("nkp,k->np", told, weights)])
    return _increments(np.log1p(_SHARES * (mixed[..., None] - 1)).reshape(u.shape[0], -1))


def layered_coins(g: npt.NDArray[Any]) -> F64:
    """Bet on fair coins that a tournament makes ones, in early layers most.

    Bets: ``1 + s d^l (2g - 1)`` at layer ``l``, for a few strengths ``s`` and decays ``d``.

    Args:
        g: [N, layers], 0 or 1; or :data:`~pura.detect.local.third_party.REPEATED`, which is no bet.
    """
    strength = (_STRENGTHS[:, None, None] * _DECAYS[:, None] ** np.arange(g.shape[1])).reshape(
        -1, g.shape[1]
    )
    ones = (g == 1).astype(np.float64)
    counted = (g != REPEATED).astype(np.float64)
    return _increments(ones @ np.log1p(strength).T + (counted - ones) @ np.log1p(-strength).T)


def _increments(logs: F64) -> F64:
    """Return what each row adds to the log of the mean over the columns' running products."""
    if not logs.shape[0]:
        return np.zeros(0)
    products = np.cumsum(logs, axis=0)
    mean = np.logaddexp.reduce(products, axis=1) - np.log(logs.shape[1])
    return np.diff(mean, prepend=0.0)
