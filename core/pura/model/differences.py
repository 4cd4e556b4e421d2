"""Readings of nearly the same tokens: what they share, and reading where they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from pura.model.windows import Window

AROUND: Final = 2
"""Tokens from the first equal one behind a difference on that are read anew: those whose contexts
differ where a context is two tokens. 16 give 1 to 2 % more evidence and cost four times as much
(decision 033)."""

_SAME: Final = 8  # tokens in a row that show that two texts go on alike
_REACH: Final = 48  # tokens of both texts that a difference may span
_WORTH: Final = 6  # so many times less must be fed than from the first difference on

I64 = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Patch:
    """A stretch that differs.

    Attributes:
        window: What it is fed after, and itself; it may want nothing.
        source: The other text's window that begins alike …
        shared: … with so many inputs.
        asked: The output of the last of them predicts the token before those that are wanted.
    """

    window: Window
    source: int
    shared: int
    asked: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class Patches:
    """How a text is read that differs from another one here and there.

    Attributes:
        stretches: What is fed.
        mine: int64 [M], tokens whose numbers are taken over …
        theirs: int64 [M] … from these tokens of the other text.
    """

    stretches: tuple[Patch, ...]
    mine: I64
    theirs: I64


def patches(
    mine: I64,
    theirs: I64,
    my_windows: Sequence[Window],
    their_windows: Sequence[Window],
    *,
    context: int,
) -> Patches | None:
    """Say how a text is read beside another one; None where little would be saved.

    Args:
        mine: int64 [L], the text.
        theirs: int64 [M], the other one.
        my_windows: How the text is cut; the same has to stand before both.
        their_windows: How the other one is cut.
        context: Longest input in tokens.
    """
    if not my_windows or not their_windows or np.array_equal(mine, theirs):
        return None
    own, first = my_windows[0], their_windows[0]
    opening = first.inputs[: first.first + 1] if first.target == 0 else first.inputs[:0]
    if (own.first, own.target) != (first.first, first.target) or not np.array_equal(
        own.inputs[: opening.size], opening
    ):
        return None
    place = aligned(mine, theirs)
    before = np.concatenate([[-1], place[:-1]])
    fresh = (place < 0) | (place != before + 1)
    number = np.arange(mine.size)
    last = np.maximum.accumulate(np.where(fresh, number, -AROUND))
    again = number - last < AROUND
    edges = np.flatnonzero(np.diff(np.concatenate([[False], again, [False]])))
    stretches = []
    for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        if end <= first.target:
            continue  # a first token that nothing predicts
        token = int(place[begin - 1]) if begin else -1
        stretches.append(_after(token, mine[:end], begin, their_windows, context))
    fed = int(again.sum())
    rest = mine.size - int(np.argmax(fresh)) if fresh.any() else 0
    if fed * _WORTH > rest or None in stretches:
        return None
    kept = np.flatnonzero(~again)
    return Patches(
        stretches=tuple(one for one in stretches if one is not None),
        mine=kept,
        theirs=place[kept],
    )


def _after(
    token: int, mine: I64, begin: int, windows: Sequence[Window], context: int
) -> Patch | None:
    """Return how the last tokens of a text are fed behind a token of the other one.

    The window that predicts what follows that token is taken, or the next one, if the stretch
    reaches beyond the longest input.

    Args:
        token: Of the other text; -1 for what stands before it.
        mine: int64 [N], the text up to the end of the stretch.
        begin: Where the stretch begins.
        windows: Of the other text.
        context: Longest input in tokens.
    """
    number = max(n for n, w in enumerate(windows) if n == 0 or w.target <= token + 1)
    for source in range(number, min(number + 2, len(windows))):
        window = windows[source]
        # Inputs up to that token. The last one of a text is none; before the first there is none.
        upto = window.first + token + 2 - window.target
        shared = min(upto, int(window.inputs.size))
        fed = mine[begin - (upto - shared) : -1]
        # A later window may begin behind the token.
        if shared + fed.size <= context and (source == number or upto > 1):
            target = begin + 1 - (upto - shared)
            found = Window(
                inputs=np.concatenate([window.inputs[:shared], fed]), first=shared, target=target
            )
            return Patch(window=found, source=source, shared=shared, asked=0 < shared == upto)
    return None


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


LEAST: Final = 32  # inputs below which taking over is not worth the copy


@dataclass(frozen=True, kw_only=True)
class Share:
    """What one window takes over from another.

    Attributes:
        text: The text that was read before.
        window: Its window.
        inputs: How many of the first inputs it takes over.
        whole: Everything is equal: nothing is left to read.
    """

    text: int
    window: int
    inputs: int
    whole: bool


def shares(
    ids: Sequence[npt.NDArray[np.int64]], windows: Sequence[Sequence[Window]]
) -> list[list[Share | None]]:
    """Find for each window of each text what an earlier text has in common with it.

    Args:
        ids: int64 [L] of each text.
        windows: Of each text.
    """
    return [
        [
            max(
                (
                    share
                    for other in range(text)
                    if number < len(windows[other])
                    and (share := _share(ids, windows, text, other, number)) is not None
                ),
                # The earliest of about the best, so that few states are kept at a time.
                key=lambda share: (share.whole, share.inputs // LEAST, -share.text),
                default=None,
            )
            for number in range(len(windows[text]))
        ]
        for text in range(len(ids))
    ]


def _share(
    ids: Sequence[npt.NDArray[np.int64]],
    windows: Sequence[Sequence[Window]],
    text: int,
    other: int,
    number: int,
) -> Share | None:
    mine, theirs = windows[text][number], windows[other][number]
    alike = (mine.first, mine.target) == (theirs.first, theirs.target)
    if not alike and number:
        return None  # windows that begin at other tokens of the text
    size = min(mine.inputs.size, theirs.inputs.size)
    differs = np.flatnonzero(mine.inputs[:size] != theirs.inputs[:size])
    equal = int(differs[0]) if differs.size else size
    if not alike:
        # Prompts of other lengths: no result is taken over, so the states end before the text.
        equal = min(equal, mine.first, theirs.first)
    aims = slice(mine.target, mine.target + mine.count)
    if (
        alike
        and equal == mine.inputs.size == theirs.inputs.size
        and np.array_equal(ids[text][aims], ids[other][aims])
    ):
        return Share(text=other, window=number, inputs=equal, whole=True)
    # What the last equal input is followed by differs, so its own output is wanted again.
    if equal <= LEAST:
        return None
    return Share(text=other, window=number, inputs=equal - 1, whole=False)
