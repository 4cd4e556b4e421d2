"""From intervals to soft evidence: kernels, sector weights, local LLRs (paper §4.2)."""
