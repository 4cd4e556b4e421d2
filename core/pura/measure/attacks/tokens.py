"""Attacks on tokens (paper §6.1, "Attacks"; docs/evidence.md §3).

A rate means an exact number of tokens, drawn without replacement, so that texts of one cell are
hit equally hard.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pura.measure.attacks.base import I64, Attacked, count_of, result


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


def truncate(ids: I64, *, tokens: int | None = None, rate: float = 0.5) -> Attacked:
    """Keep the first tokens only: so many, or all but a share."""
    tokens = ids.size - count_of(ids.size, rate) if tokens is None else tokens
    kept = ids[: max(tokens, 0)]
    return result(ids, kept.copy(), np.arange(kept.size))


def paste_spans(
    ids: I64, rng: np.random.Generator, *, host: I64, share: float, spans: int
) -> Attacked:
    """Put pieces of the text, in their order, at random places of a host text.

    Args:
        ids: int64 [L].
        rng: Randomness; cuts the text and chooses the places.
        host: int64 [H], at least as long as its share asks for.
        share: The host's share of the tokens of the result, in [0, 1).
        spans: Pieces, 1 … L.

    Raises:
        ValueError: The host is too short, or there are more pieces than tokens.
    """
    foreign = round(ids.size * share / (1 - share))
    if foreign > host.size or not 1 <= spans <= max(ids.size, 1):
        raise ValueError("the host text is too short, or there are too many pieces")
    cuts = np.sort(rng.choice(max(ids.size - 1, 0), spans - 1, replace=False)) + 1
    places = np.sort(rng.integers(0, foreign + 1, spans))
    own, around = np.split(np.arange(ids.size), cuts), np.split(np.arange(foreign), places)
    origin = np.concatenate(
        [np.full(around[0].size, -1)]
        + [np.concatenate([o, np.full(a.size, -1)]) for o, a in zip(own, around[1:], strict=True)]
    )
    out = np.empty(origin.size, dtype=np.int64)
    out[origin >= 0], out[origin < 0] = ids, host[:foreign]
    return result(ids, out, origin)


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
