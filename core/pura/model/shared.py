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


def keeps_states(cache: Any) -> bool:
    """Whether the layers of a cache keep all that they were given."""
    from transformers.cache_utils import DynamicLayer

    return all(type(layer) is DynamicLayer for layer in cache.layers)


def states_of(cache: Any, row: int, first: int, inputs: int) -> States | None:
    """Copy inputs of one row out of a cache; None where its layers forget or fold older ones."""
    if not keeps_states(cache):
        return None
    at = slice(first, first + inputs)
    return [
        (layer.keys[row : row + 1, :, at].clone(), layer.values[row : row + 1, :, at].clone())
        for layer in cache.layers
    ]


def put_states(cache: Any, rows: Sequence[States | None], inputs: Sequence[int]) -> None:
    """Fill an empty cache with the first inputs of kept states, a row each, ending together.

    Args:
        cache: The cache.
        rows: Kept states; None for a row that begins with nothing.
        inputs: How many of the first inputs of each.
    """
    import torch

    width = max(inputs)
    some = next(states for states in rows if states is not None)

    def filled(layer: int, part: int) -> Any:
        like = some[layer][part]
        out = torch.zeros_like(like[:, :, :1]).expand(len(rows), -1, width, -1).clone()
        for row, (states, count) in enumerate(zip(rows, inputs, strict=True)):
            if states is not None:
                out[row, :, width - count :] = states[layer][part][0, :, :count]
        return out

    for number, layer in enumerate(cache.layers):
        layer.update(filled(number, 0), filled(number, 1))
