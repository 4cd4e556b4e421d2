"""How a text is fed to a model whose context is shorter than the text.

The text goes in windows that overlap by half: each window after the first spends its first half
on tokens that were read before, so that every token but the first ones is predicted from at least
half a context. With the prefix ``bos`` every window opens with that token, as the model expects;
a known prompt opens the first window only, since it stands before the text and nowhere else.
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
    opening: Sequence[int] = (),
    prompt: Sequence[int] = (),
) -> list[Window]:
    """Cut a text into windows.

    Args:
        ids: int64 [L].
        context: Longest input in tokens, at least 4.
        opening: At most one token that opens every window.
        prompt: Tokens between the opening and the text. A prompt that takes more than half of
            the context loses its beginning.

    Returns:
        Windows that predict every token once, in order. The first token of a text with neither
        opening nor prompt is predicted by nothing and is left out.
    """
    opened = np.asarray(opening, dtype=np.int64)
    before = np.asarray(prompt, dtype=np.int64)
    total = int(ids.size)
    if opened.size + before.size + total - 1 > context:
        before = before[max(0, before.size - context // 2) :]
    head = np.concatenate([opened, before])
    start = 0 if head.size else 1
    if total <= start:
        return []
    # Input place p of the first window predicts token p + 1 - len(head).
    stop = min(total - 1, context - head.size)
    out = [
        Window(inputs=np.concatenate([head, ids[:stop]]), first=max(head.size - 1, 0), target=start)
    ]
    while stop < total - 1:
        # A long prompt may leave fewer tokens of the text than half a context.
        keep = min(context // 2, stop)
        begin = stop - keep
        fresh = min(total - 1 - stop, context - opened.size - keep)
        inputs = np.concatenate([opened, ids[begin : stop + fresh]])
        out.append(Window(inputs=inputs, first=int(opened.size) + keep, target=stop + 1))
        stop += fresh
    return out
