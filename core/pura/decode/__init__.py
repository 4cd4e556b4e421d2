"""From evidence to findings: payload, candidates, significance, passages.

``paper`` is the published decoder, ``exact`` ours; docs/evidence.md is the page. Takes arrays and
frozen numbers; never loads a model, never sees the truth.
"""

from pura.decode.evidence_sums import sum_evidence
from pura.decode.exact import Candidate, ExactDecision, Mark, decide
from pura.decode.likelihood import (
    GridPoint,
    Intervals,
    LikelihoodError,
    LikelihoodModel,
    default_model,
)
from pura.decode.limited import Issuable
from pura.decode.paper import PaperDecoding
from pura.decode.prior import Issued
from pura.decode.significance import RedrawTest, combine, correct_p, e_bh, p_bound, redraw_p

__all__ = [
    "Candidate",
    "ExactDecision",
    "GridPoint",
    "Intervals",
    "Issuable",
    "Issued",
    "LikelihoodError",
    "LikelihoodModel",
    "Mark",
    "PaperDecoding",
    "RedrawTest",
    "combine",
    "correct_p",
    "decide",
    "default_model",
    "e_bh",
    "p_bound",
    "redraw_p",
    "sum_evidence",
]
