"""Which passages of a text carry the mark (docs/evidence.md §4).

A chain of two states over the tokens, marked and not, with the decoded payload taken as given:
forward-backward gives each token's posterior. Passages were chosen after seeing the data; they
serve orientation and are never evidence of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pura.decode.exact import ExactDecision
from pura.decode.model import ChainModel, default_model

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Passages:
    """Where the mark stands.

    Attributes:
        marked: float64 [L], posterior that the token belongs to a marked passage.
        ranges: First and last token (inclusive) of each passage, in order.
    """

    marked: F64
    ranges: tuple[tuple[int, int], ...]


def passages(decision: ExactDecision, *, chain: ChainModel | None = None) -> Passages:
    """Find the marked passages of a decoded text.

    Args:
        decision: Of the exact decoder.
        chain: Parameters; the shipped ones when absent.

    Returns:
        Posteriors and passages. A text without usable steps keeps the prior and has none.
    """
    chain = default_model().chain if chain is None else chain
    marked = marked_posterior(decision.token_density, chain)
    ranges = runs(marked, chain.least_tokens) if decision.usable else ()
    return Passages(marked=marked, ranges=ranges)


def marked_posterior(density: F64, chain: ChainModel) -> F64:
    """Return the posterior of each token's state.

    Args:
        density: float64 [L], likelihood ratio of each token for the decoded payload, given that
            its step is synchronised; 1 for tokens that carry no bits.
        chain: Parameters.

    Returns:
        float64 [L], in [0, 1].
    """
    size = density.size
    if not size:
        return np.zeros(0)
    # Even a marked passage has edited steps, whose anchor is anywhere.
    ratio = (1 - chain.desynchronised) * density + chain.desynchronised
    leave, enter = 1 / chain.mean_passage, 1 / chain.mean_gap
    move = np.array([[1 - enter, enter], [leave, 1 - leave]])
    start = np.array([leave, enter]) / (leave + enter)
    forward = np.empty((size, 2))
    backward = np.ones((size, 2))
    state = start
    for t in range(size):
        state = (state if t == 0 else state @ move) * (1.0, ratio[t])
        state = state / state.sum()
        forward[t] = state
    future = np.ones(2)
    for t in range(size - 2, -1, -1):
        future = move @ (future * (1.0, ratio[t + 1]))
        future = future / future.sum()
        backward[t] = future
    joint = forward * backward
    return np.asarray(joint[:, 1] / joint.sum(axis=1))


def runs(marked: F64, least: int) -> tuple[tuple[int, int], ...]:
    """Return the stretches of at least ``least`` tokens whose posterior is above one half."""
    inside = np.concatenate([[False], marked > 0.5, [False]])
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    pairs = edges.reshape(-1, 2)
    return tuple((int(a), int(b) - 1) for a, b in pairs if b - a >= least)
