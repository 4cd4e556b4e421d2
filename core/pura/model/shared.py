"""What several readings of nearly the same tokens have in common, so that it is read once.

A restored reading often begins like the text as found. Where the windows of two readings begin with
the same inputs, the model's states up to the first difference are the same: their keys and values
are kept and taken over, and so are the results. Windows that are equal throughout are not read.
Prompts that begin alike, by a template and a system prompt, share their states in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from pura.model.windows import Window

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
