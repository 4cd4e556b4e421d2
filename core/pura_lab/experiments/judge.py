"""A judge of text that is not the model which wrote it: a small model of letters.

Where no other language model is at hand this one is independent of the source: runs of up to six
bytes of human prose, each order smoothed by the next shorter one (Witten and Bell 1991). It knows
spelling, words and how they join, not sense.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Final

import numpy as np

ORDER: Final = 5


class Letters:
    """Says how many bits a byte of text takes.

    Args:
        texts: What it learns from.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._after: dict[bytes, Counter[int]] = defaultdict(Counter)
        for text in texts:
            data = text.encode()
            for at, byte in enumerate(data):
                for order in range(min(ORDER, at) + 1):
                    self._after[data[at - order : at]][byte] += 1
        self._sums = {context: counts.total() for context, counts in self._after.items()}

    def bits(self, text: str) -> float:
        """Return the mean bits a byte; 0 for an empty text."""
        data = text.encode()
        said = [self._probability(data[max(0, at - ORDER) : at], b) for at, b in enumerate(data)]
        return float(-np.log2(said).mean()) if said else 0.0

    def _probability(self, context: bytes, byte: int) -> float:
        p = 1 / 256
        for start in range(len(context), -1, -1):
            counts = self._after.get(context[start:])
            if counts is None:
                break
            kinds, total = len(counts), self._sums[context[start:]]
            p = (counts[byte] + kinds * p) / (total + kinds)
        return p
