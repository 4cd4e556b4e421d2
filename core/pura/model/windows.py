"""How a text is fed to a model that does not read all of it at once.

The text goes in windows that overlap: each window after the first begins with tokens that were read
before, so that what it predicts is predicted from at least so many. With the prefix ``bos`` every
window opens with that token, as the model expects; a known prompt opens the first window only,
since it stands before the text and nowhere else, and does not take from what the window holds of
the text as long as the model reads that much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, kw_only=True)
class Window:
    """One stretch of input.

    Attributes:
        inputs: int64 [N], what the model is fed.
        first: Input place whose output is the first one wanted.
        target: Text token that this output predicts; the next outputs predict the next tokens.
    """

    inputs: npt.NDArray[np.int64]
    first: int
    target: int

    @property
    def count(self) -> int:
        """How many tokens of the text this window predicts."""
        return int(self.inputs.size) - self.first


def plan(
    ids: npt.NDArray[np.int64],
    *,
    context: int,
    window: int | None = None,
    overlap: int | None = None,
    opening: Sequence[int] = (),
    prompt: Sequence[int] = (),
) -> list[Window]:
    """Cut a text into windows.

    Args:
        ids: int64 [L].
        context: Longest input in tokens, at least 4.
        window: Longest input without the prompt; ``context`` when None.
        overlap: Tokens of a window that were read before; half of it when None.
        opening: At most one token that opens every window.
        prompt: Tokens between the opening and the text. A prompt that takes more than half of
            the context, and more than the text leaves, loses its beginning.

    Returns:
        Windows that predict every token once, in order. The first token of a text with neither
        opening nor prompt is predicted by nothing and is left out.
    """
    window = context if window is None else min(window, context)
    overlap = window // 2 if overlap is None else min(overlap, window // 2)
    opened = np.asarray(opening, dtype=np.int64)
    before = np.asarray(prompt, dtype=np.int64)
    total = int(ids.size)
    wanted = min(total - 1, window - opened.size)
    if opened.size + before.size + wanted > context:
        room = max(context // 2, context - opened.size - wanted)
        before = before[max(0, before.size - room) :]
    head = np.concatenate([opened, before])
    start = 0 if head.size else 1
    if total <= start:
        return []
    # Input place p of the first window predicts token p + 1 - len(head).
    stop = min(wanted, context - head.size)
    out = [
        Window(inputs=np.concatenate([head, ids[:stop]]), first=max(head.size - 1, 0), target=start)
    ]
    while stop < total - 1:
        # A long prompt may leave fewer tokens of the text than the overlap.
        keep = min(overlap, stop)
        begin = stop - keep
        fresh = min(total - 1 - stop, window - opened.size - keep)
        inputs = np.concatenate([opened, ids[begin : stop + fresh]])
        out.append(Window(inputs=inputs, first=int(opened.size) + keep, target=stop + 1))
        stop += fresh
    return out
