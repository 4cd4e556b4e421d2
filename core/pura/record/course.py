"""How the evidence adds up along a text."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from pura.record.evidence import TokenEvidence
from pura.scheme import F64, Profile


class ReadText(Protocol):
    """A record, as far as its course is concerned."""

    @property
    def tokens(self) -> TokenEvidence:
        """Evidence per token."""

    @property
    def profile(self) -> Profile:
        """The profile that was used."""


def course(audit: ReadText) -> F64:
    """Return the cumulative evidence along the text, corrected for the choice of the payload.

    The token's likelihood ratios are for the decoded payload, which was chosen after seeing the
    text among ``2**L_m``; the course therefore starts at ``-L_m log10 2``. Since the e-value is
    the mean over all payloads, its logarithm is never below the course's end for the same
    likelihood (evidence.md §3), so the decision threshold can stand in the same picture.

    Returns:
        float64 [L + 1], in log₁₀; entry ``t`` is the evidence of the first ``t`` tokens.
    """
    price = audit.profile.payload_bits * math.log10(2.0)
    sums: F64 = np.concatenate(([0.0], np.cumsum(audit.tokens.log10_evidence)))
    return sums - price
