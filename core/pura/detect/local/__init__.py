"""Local evidence of each token: kernels, sector weights, bit LLRs (paper §4.3).

``evidence`` takes arrays of intervals, ``third_party`` the draws of third-party marks; none loads a
model.
"""
