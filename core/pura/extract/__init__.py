"""Local evidence of each token: kernels, sector weights, bit LLRs (paper §4.3).

Takes arrays of intervals; never loads a model.
"""

from pura.extract.local import (
    LocalEvidence,
    bit_llrs,
    circular_distance,
    hard_vote,
    kernel_overlap,
    kernel_value,
    local_evidence,
    sector_weights,
)

__all__ = [
    "LocalEvidence",
    "bit_llrs",
    "circular_distance",
    "hard_vote",
    "kernel_overlap",
    "kernel_value",
    "local_evidence",
    "sector_weights",
]
