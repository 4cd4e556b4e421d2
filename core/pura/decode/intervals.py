"""What the decoder weighs: a text as the verifier's model and one key show it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from pura.decode.model import LikelihoodModel, default_model
from pura.scheme.profile import Profile
from pura.scheme.schedule import Schedule

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Intervals:
    """What one key sees of a reading.

    Attributes:
        schedule: The steps that carry bits.
        entropy_bits: float64 [L], the verifier's.
        lo: float64 [L], start of every token's interval in the key's secret order.
        hi: float64 [L], end of it.
        probability: float64 [L], what the model gave each token.
        profile: Code, thresholds, context window.
        prompt_known: The model read the prompt first.
        text_tokens: Tokens of the whole text; more than ``L`` where these are only its first.
        model: The frozen numbers of the likelihood.
    """

    schedule: Schedule
    entropy_bits: F64
    lo: F64
    hi: F64
    probability: F64
    profile: Profile
    prompt_known: bool = False
    text_tokens: int
    model: LikelihoodModel = field(default_factory=default_model)

    @classmethod
    def of(
        cls,
        schedule: Schedule,
        entropy_bits: F64,
        lo: F64,
        hi: F64,
        profile: Profile,
        *,
        probability: F64 | None = None,
        prompt_known: bool = False,
        text_tokens: int | None = None,
        model: LikelihoodModel | None = None,
    ) -> Intervals:
        """Make them of a whole text; ``hi - lo`` is the probability where none is given."""
        return cls(
            schedule=schedule,
            entropy_bits=entropy_bits,
            lo=lo,
            hi=hi,
            probability=hi - lo if probability is None else probability,
            profile=profile,
            prompt_known=prompt_known,
            text_tokens=lo.size if text_tokens is None else text_tokens,
            model=default_model() if model is None else model,
        )

    @property
    def tokens(self) -> int:
        """``L``."""
        return int(self.lo.size)

    @property
    def stopped(self) -> bool:
        """Reading was stopped early."""
        return self.tokens < self.text_tokens
