"""Attacks on tokens (paper §6.1, "Attacks"; docs/evidence.md §3).

A rate means an exact number of tokens, drawn without replacement, so that texts of one cell are
hit equally hard.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pura.lab.attacks.base import I64, Attacked, count_of, result


def substitute(ids: I64, rng: np.random.Generator, *, rate: float, vocab_size: int) -> Attacked:
    """Replace tokens by others, uniform over the vocabulary.

    Args:
        ids: int64 [L].
        rng: Randomness.
        rate: Share of tokens.
        vocab_size: ``V``, at least 2.
    """
    places = rng.choice(ids.size, count_of(ids.size, rate), replace=False)
    out, origin = ids.copy(), np.arange(ids.size)
    # A step of 1 … V-1 around the vocabulary never meets the token itself.
    out[places] = (ids[places] + rng.integers(1, vocab_size, places.size)) % vocab_size
    origin[places] = -1
    return result(ids, out, origin)


def substitute_plausible(
    ids: I64,
    rng: np.random.Generator,
    *,
    rate: float,
    logits: npt.NDArray[np.floating],
    top_k: int = 50,
) -> Attacked:
    """Replace tokens by what a model finds likely in their place.

    The new token is drawn from the model's ``top_k`` tokens, the old one left out, their
    probabilities renormalised. The model sees the text as it was before the attack.

    Args:
        ids: int64 [L].
        rng: Randomness.
        rate: Share of tokens. The first token, which nothing predicts, is spared.
        logits: float [L, V]; row ``t`` predicts token ``t``, row 0 is not read.
        top_k: How many tokens the model offers.
    """
    count = min(count_of(ids.size, rate), max(ids.size - 1, 0))
    places = 1 + rng.choice(max(ids.size - 1, 0), count, replace=False)
    out, origin = ids.copy(), np.arange(ids.size)
    for place in places.tolist():
        row = np.array(logits[place], dtype=np.float64)
        row[ids[place]] = -np.inf
        offered = np.argpartition(-row, top_k)[:top_k] if top_k < row.size else np.arange(row.size)
        weight = np.exp(row[offered] - row[offered].max())
        out[place] = rng.choice(offered, p=weight / weight.sum())
    origin[places] = -1
    return result(ids, out, origin)


def insert(ids: I64, rng: np.random.Generator, *, rate: float, vocab_size: int) -> Attacked:
    """Insert tokens, uniform over the vocabulary, at places uniform over the text.

    Args:
        ids: int64 [L].
        rng: Randomness.
        rate: Inserted tokens per token of the text.
        vocab_size: ``V``.
    """
    count = count_of(ids.size, rate)
    places = rng.integers(0, ids.size + 1, count)
    new = rng.integers(0, vocab_size, count)
    origin = np.insert(np.arange(ids.size), places, -1)
    return result(ids, np.insert(ids, places, new), origin)


def delete(ids: I64, rng: np.random.Generator, *, rate: float) -> Attacked:
    """Leave out a share of the tokens."""
    places = rng.choice(ids.size, count_of(ids.size, rate), replace=False)
    origin = np.delete(np.arange(ids.size), places)
    return result(ids, ids[origin], origin)


def truncate(ids: I64, *, tokens: int) -> Attacked:
    """Keep the first tokens only."""
    kept = ids[: max(tokens, 0)]
    return result(ids, kept.copy(), np.arange(kept.size))


def splice(ids: I64, rng: np.random.Generator, *, host: I64, at: int | None = None) -> Attacked:
    """Paste the text as one passage into a host text.

    Args:
        ids: int64 [L], the passage.
        rng: Randomness; chooses the place.
        host: int64 [H], the text around it.
        at: Tokens of the host before the passage; random when None.
    """
    cut = int(rng.integers(0, host.size + 1)) if at is None else at
    origin = np.full(host.size + ids.size, -1)
    origin[cut : cut + ids.size] = np.arange(ids.size)
    return result(ids, np.concatenate([host[:cut], ids, host[cut:]]), origin)
