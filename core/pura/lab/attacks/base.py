"""What all attacks share: what they need, what they leave behind, how hard they hit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
    """

    vocab_size: int = 0
    decode: Callable[[I64], str] | None = None
    tokenise: Callable[[str], I64] | None = None
    propose: Callable[[I64], npt.NDArray[np.floating]] | None = None
    foreign: tuple[str, ...] = ()


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
