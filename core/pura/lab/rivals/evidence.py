"""E-values of marks without a message: bets on the keyed draws of a text.

Where a text was written without the key, its contexts each counted once, the draws are independent
with a law that does not depend on the text. A product of bets that each have mean one under that
law has mean one, and so has a weighted mean of such products: an e-value, which exceeds ``x`` with
probability at most ``1/x`` (Markov). What the bets assume about marked texts costs power if wrong,
and nothing else.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from pura.lab.rivals.keyed import F64

_SHARES: Final = np.array([0.05, 0.15, 0.3, 0.5, 0.75])
_POWERS: Final = np.array([1.5, 2.5, 5.0, 10.0, 25.0, 100.0])
_STRENGTHS: Final = np.array([0.02, 0.05, 0.1, 0.2, 0.35])
_DECAYS: Final = np.array([1.0, 0.9, 0.75])


def log_mean_exp(logs: F64) -> float:
    """Return ``log(mean(exp(logs)))``."""
    top = float(logs.max())
    return top + float(np.log(np.exp(logs - top).mean()))


def coins(hits: NDArray[np.bool_], chance: float) -> float:
    """Return ``log e`` of independent draws that are hits with probability ``chance``.

    Bets: a hit has probability ``chance + s (1 - chance)``, for a few ``s``.

    Args:
        hits: bool [N].
        chance: Under the null hypothesis, in (0, 1).
    """
    raised = chance + _SHARES * (1 - chance)
    count, n = int(hits.sum()), hits.size
    logs = count * np.log(raised / chance) + (n - count) * np.log((1 - raised) / (1 - chance))
    return log_mean_exp(logs)


def high_uniforms(u: F64) -> float:
    """Return ``log e`` of independent uniform numbers that a mark makes large.

    Under a Gumbel-max mark the number of a token of probability ``p`` has the density
    ``u^(1/p - 1) / p``. Bets: such densities for a few ``p``, mixed with the uniform one.

    Args:
        u: float64 [N], in (0, 1).
    """
    logs = np.log(u)[:, None]
    bets = (_POWERS * np.exp((_POWERS - 1) * logs)).mean(axis=1)
    return log_mean_exp(np.log1p(_SHARES[:, None] * (bets - 1)).sum(axis=1))


def layered_coins(g: npt.NDArray[np.uint8]) -> float:
    """Return ``log e`` of fair coins that a tournament makes ones, in early layers most.

    Bets: ``1 + s d^l (2g - 1)`` at layer ``l``, for a few strengths ``s`` and decays ``d``.

    Args:
        g: uint8 [N, layers], 0 or 1.
    """
    ones = g.sum(axis=0).astype(np.float64)
    strength = (_STRENGTHS[:, None, None] * _DECAYS[:, None] ** np.arange(g.shape[1])).reshape(
        -1, g.shape[1]
    )
    logs = np.log1p(strength) @ ones + np.log1p(-strength) @ (g.shape[0] - ones)
    return log_mean_exp(logs)
