"""What several readings of nearly the same tokens have in common, so that it is read once.

A restored reading often begins like the text as found. Where the windows of two readings begin with
the same inputs, the model's states up to the first difference are the same: their keys and values
are kept and taken over, and so are the results. Windows that are equal throughout are not read.
Prompts that begin alike, by a template and a system prompt, share their states in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pura.model.windows import Window

LEAST: Final = 32  # inputs below which taking over is not worth the copy

States = list[tuple[Any, Any]]
"""Keys and values of every layer, for the first inputs of a window."""


@dataclass(frozen=True, kw_only=True)
class Share:
    """What one window takes over from another.

    Attributes:
        text: The text that was read before; the window is the one with the same number.
        inputs: How many of the first inputs it takes over.
        whole: Everything is equal: nothing is left to read.
    """

    text: int
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
        return Share(text=other, inputs=equal, whole=True)
    # What the last equal input is followed by differs, so its own output is wanted again.
    return Share(text=other, inputs=equal - 1, whole=False) if equal > LEAST else None


def wanted(plan: Sequence[Sequence[Share | None]], text: int, number: int) -> int:
    """Return how many inputs of a window later texts take over; 0 for none."""
    return max(
        (
            share.inputs
            for later in plan[text + 1 :]
            if number < len(later)
            and (share := later[number]) is not None
            and share.text == text
            and not share.whole
        ),
        default=0,
    )


def states_of(cache: Any, inputs: int) -> States | None:
    """Copy the first inputs out of a cache; None where its layers forget or fold older ones."""
    from transformers.cache_utils import DynamicLayer

    if any(type(layer) is not DynamicLayer for layer in cache.layers):
        return None
    return [
        (layer.keys[..., :inputs, :].clone(), layer.values[..., :inputs, :].clone())
        for layer in cache.layers
    ]


def put_states(cache: Any, states: States, inputs: int) -> None:
    """Fill an empty cache with the first inputs of kept states."""
    for layer, (keys, values) in zip(cache.layers, states, strict=True):
        layer.update(keys[..., :inputs, :], values[..., :inputs, :])
