"""A reading that differs from another one in a few places only is read in those places only.

A restored text has straight quotes where the text as found has curly ones, and is the same
otherwise. Each stretch that differs is fed after the beginning of the *other* text, whose states
are known, together with the tokens that follow; from :data:`AROUND` tokens behind a difference
on, the other text's numbers are taken over. They were predicted from the same words but for a few
far back, which moves them less than a prompt that nobody knows. What is weighed is a function of
the text and the secret order as before, so the bound holds as before (docs/evidence.md §3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from pura.model.windows import Window

AROUND: Final = 16
"""Tokens from a difference on that are read. Measured on the sample texts, the entropies of the
first eight move by 0.15 bits on average, of all later ones by 0.1 or less."""

_SAME: Final = 8  # tokens in a row that show that two texts go on alike
_REACH: Final = 48  # tokens of both texts that a difference may span
_WORTH: Final = 2  # so many times less must be fed than from the first difference on

I64 = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Patches:
    """How a text is read that differs from another one here and there.

    Attributes:
        windows: A window a stretch that differs.
        shared: How many of each one's first inputs are those of the other text's window.
        mine: int64 [M], tokens whose numbers are taken over …
        theirs: int64 [M] … from these tokens of the other text.
    """

    windows: tuple[Window, ...]
    shared: tuple[int, ...]
    mine: I64
    theirs: I64


def patches(mine: I64, theirs: I64, window: Window, *, context: int) -> Patches | None:
    """Say how a text is read beside another one; None where little would be saved.

    Args:
        mine: int64 [L], the text.
        theirs: int64 [M], the other one.
        window: The only window that the other one takes; the same stands before both texts.
        context: Longest input in tokens.
    """
    place = aligned(mine, theirs)
    before = np.concatenate([[-1], place[:-1]])
    fresh = (place < 0) | (place != before + 1)
    number = np.arange(mine.size)
    last = np.maximum.accumulate(np.where(fresh, number, -AROUND))
    again = number - last < AROUND
    edges = np.flatnonzero(np.diff(np.concatenate([[False], again, [False]])))
    head = window.inputs[: window.first + 1] if window.target == 0 else window.inputs[:0]
    windows, shared = [], []
    for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        if end <= window.target:
            continue  # a first token that nothing predicts
        if begin == 0:
            inputs = np.concatenate([head, mine[: end - 1]])
            windows.append(Window(inputs=inputs, first=window.first, target=window.target))
            shared.append(0)
        else:
            taken = int(head.size + place[begin - 1])
            inputs = np.concatenate([window.inputs[:taken], mine[begin - 1 : end - 1]])
            windows.append(Window(inputs=inputs, first=taken, target=begin))
            shared.append(taken)
    fed = sum(int(w.inputs.size) - s for w, s in zip(windows, shared, strict=True))
    rest = mine.size - int(np.argmax(fresh)) if fresh.any() else 0
    if fed * _WORTH > rest or any(w.inputs.size > context for w in windows):
        return None
    kept = np.flatnonzero(~again)
    return Patches(windows=tuple(windows), shared=tuple(shared), mine=kept, theirs=place[kept])


def aligned(mine: I64, theirs: I64) -> I64:
    """Return for every token of a text which token of another one it is, or -1; rising.

    Greedy: after a difference both go on at the nearest places from which on some tokens in a row
    are the same; where there are none, the rest is different.
    """
    place = np.full(mine.size, -1, dtype=np.int64)
    i = j = 0
    while i < mine.size and j < theirs.size:
        size = min(mine.size - i, theirs.size - j)
        unequal = np.flatnonzero(mine[i : i + size] != theirs[j : j + size])
        equal = int(unequal[0]) if unequal.size else size
        place[i : i + equal] = np.arange(j, j + equal)
        i, j = i + equal, j + equal
        step = _step(mine[i : i + _REACH + _SAME], theirs[j : j + _REACH + _SAME])
        if step is None:
            break
        i, j = i + step[0], j + step[1]
    return place


def _step(mine: I64, theirs: I64) -> tuple[int, int] | None:
    """Return how far both are from where they go on alike; None where they do not."""
    ours, others = (
        [x[k : k + _SAME].tobytes() for k in range(x.size - _SAME + 1)] for x in (mine, theirs)
    )
    for far in range(1, len(ours) + len(others)):
        for i in range(max(0, far - len(others) + 1), min(far + 1, len(ours))):
            if ours[i] == others[far - i]:
                return i, far - i
    return None
