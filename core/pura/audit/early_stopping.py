"""Looks at the evidence while a text is still being read: to show it, and to stop early.

In the order of the text the evidence is never more than a test martingale (docs/evidence.md §3,
"Stopping early"), so a look may be taken at any token, and reading may end there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from pura.audit.key_reading import intervals_of
from pura.base.progress import Checkpoint, Progress, Stage
from pura.decode.exact import log_evidence
from pura.decode.model import LikelihoodModel
from pura.model.reading import Reading
from pura.scheme import Profile, SecretKey

CHUNK: Final = 512
"""Tokens between two looks at least, where reading may stop early."""

_GROWTH: Final = 1.5  # a look weighs all that was read, so they grow rarer


@dataclass(kw_only=True)
class EarlyStopping:
    """Weighs what was read of the first reading of a text.

    Attributes:
        keys: The keys.
        profile: The profile.
        likelihood: The frozen numbers; None for the shipped ones.
        prompt_known: The model read the prompt first.
        text_tokens: Tokens of the whole text.
        log10_weight: log10 of what an e-value of this reading counts in the evidence of the text.
        stop_at: log10 of the evidence from which no more is read; None reads all.
        all_tokens: Tokens of all readings, as the step counts them.
        progress: Told of the evidence at each look.
        checkpoint: Called often; may raise.
        before: Contexts of the text that stood before it.
    """

    keys: Sequence[SecretKey]
    profile: Profile
    likelihood: LikelihoodModel | None
    prompt_known: bool
    text_tokens: int
    log10_weight: float
    stop_at: float | None
    all_tokens: int
    progress: Progress
    checkpoint: Checkpoint
    before: frozenset[bytes] = frozenset()
    _due: int = field(default=0, init=False)

    def __call__(self, reading: Reading) -> bool:
        """Weigh the first tokens; True where they are enough."""
        if len(reading) < self._due:
            return False
        self._due = math.ceil(len(reading) * _GROWTH)
        each = [self._weigh(reading, *one) for one in enumerate(self.keys)]
        log10_e = self.log10_weight + float(np.logaddexp.reduce(each)) / math.log(10)
        self.progress(
            Stage(
                number=5,
                name="reading",
                done=len(reading),
                total=self.all_tokens,
                log10_e=log10_e,
            )
        )
        return self.stop_at is not None and log10_e >= self.stop_at

    def _weigh(self, reading: Reading, number: int, key: SecretKey) -> float:
        seen = intervals_of(
            reading,
            number,
            key,
            self.profile,
            self.checkpoint,
            prompt_known=self.prompt_known,
            text_tokens=self.text_tokens,
            before=self.before,
            likelihood=self.likelihood,
        )
        return log_evidence(seen, checkpoint=self.checkpoint).both
