"""What one pass of the model over a text leaves behind: a few numbers per token."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Entropy and intervals of every token of a text; ``L`` tokens, ``K`` keys.

    A token with nothing before it (the first one, when the prefix is empty) was predicted by
    nothing: its entropy is 0 and its interval the whole circle. It carries no bits anyway, since
    it has no context window.

    Attributes:
        ids: int64 [L], the token ids.
        entropy_bits: float64 [L], of the distribution that predicted the token, in bits.
        probability: float64 [L], what that distribution gave the token; exact where
            ``hi - lo`` would cancel.
        lo: float64 [K, L], start of the token's interval in each key's secret order.
        hi: float64 [K, L], its end.
        taken: Tokens whose numbers are those of another reading, behind a difference from it.
        windows: How many overlapping windows of the model the text took.
        short_of_memory: The memory of the device ran short, so the text was read in smaller pieces.
    """

    ids: npt.NDArray[np.int64]
    entropy_bits: npt.NDArray[np.float64]
    probability: npt.NDArray[np.float64]
    lo: npt.NDArray[np.float64]
    hi: npt.NDArray[np.float64]
    taken: int = 0
    windows: int = 1
    short_of_memory: bool = False

    def __len__(self) -> int:
        return int(self.ids.size)

    def first(self, tokens: int) -> Reading:
        """Return what it says of the first tokens."""
        return replace(
            self,
            ids=self.ids[:tokens],
            entropy_bits=self.entropy_bits[:tokens],
            probability=self.probability[:tokens],
            lo=self.lo[:, :tokens],
            hi=self.hi[:, :tokens],
        )
