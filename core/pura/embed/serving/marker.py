"""What the adapters share: texts that an engine moves about, marked row by row.

The engine has the last word about the tokens of a text: it may throw a token away (a prompt read in
parts), take a text out and put it back (preemption), or force a token (a budget for thinking). A
row therefore asks at every step what its text consists of; where that is not what it drew, it goes
on from the text as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pura.base.errors import GenerationError
from pura.embed.engine import MarkingEngine
from pura.embed.serving.deployments import Deployments

if TYPE_CHECKING:
    import torch


class Marker:
    """The texts of one process of a serving engine.

    Args:
        deployments: What it may mark with.
        entropy: Fresh random number of at least 128 bits. Processes that compute the same tokens
            side by side (tensor parallelism) must share it, and see requests in the same order.
    """

    def __init__(self, deployments: Deployments, entropy: int) -> None:
        self._deployments = deployments
        self._entropy = entropy
        self._engine = MarkingEngine()
        self._numbers: dict[int, int] = {}  # by row: which request of this process it is
        self._begun = 0

    def __len__(self) -> int:
        return len(self._engine)

    def begin(self, arguments: Mapping[str, Any] | None) -> int | None:
        """Begin a text.

        Args:
            arguments: The request's own; see :meth:`Deployments.mark`.

        Returns:
            Its row; None for a request that wants no mark.

        Raises:
            PuraError: See :meth:`Deployments.mark`.
        """
        mark = self._deployments.mark(arguments)
        if mark is None:
            return None
        self._begun += 1
        key, profile = mark.deployment.key, mark.deployment.profile
        row = self._engine.add(key, mark.payload, profile, self._dice(self._begun, 0))
        self._numbers[row] = self._begun
        return row

    def end(self, row: int) -> None:
        """End a text."""
        self._engine.remove(row)
        del self._numbers[row]

    def drawn(self, row: int) -> Sequence[int]:
        """Return the tokens of a text as its row knows them; to be read only."""
        return self._engine.tokens(row)

    def agree(
        self, row: int, count: int, last: int | None, read: Callable[[], Sequence[int]]
    ) -> None:
        """Let a row go on from its text as it is.

        Args:
            row: The text.
            count: How many tokens it has.
            last: The last of them; None if there is none, or if it is not known here yet.
            read: Returns all of them; called only where they differ.
        """
        own = self._engine.tokens(row)
        if len(own) == count and (not own or last is None or last == own[-1]):
            return
        tokens = list(read())
        # Dice of its own from here on: two processes may have thrown a different number of times.
        self._engine.resume(row, tokens, self._dice(self._numbers[row], len(tokens)))

    def mark(self, logits: torch.Tensor, rows: Sequence[int | None]) -> torch.Tensor:
        """Choose a token for every row and leave nothing else standing, in place.

        Whatever the engine does afterwards, temperature, top-k, top-p or greedy search, it takes
        that token. A line without a distribution is left to the engine.

        Args:
            logits: float [B, V].
            rows: [B], None for a line that is not marked.

        Raises:
            GenerationError: The profile is for more tokens than there are logits.
        """
        import torch

        try:
            drawn = self._engine.step(logits, rows)
        except ValueError:
            raise GenerationError("generate.logits", logits=logits.shape[1]) from None
        taken = np.array([row is not None for row in rows], dtype=bool) & (drawn.tokens >= 0)
        lines = torch.from_numpy(np.flatnonzero(taken)).to(logits.device)
        tokens = torch.from_numpy(drawn.tokens[taken]).to(logits.device)
        logits[lines] = float("-inf")
        logits[lines, tokens] = 0.0
        return logits

    def _dice(self, number: int, position: int) -> np.random.Generator:
        seed = np.random.SeedSequence(self._entropy, spawn_key=(number, position))
        return np.random.default_rng(seed)
