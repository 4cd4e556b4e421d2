"""Local evidence of each token: kernels, sector weights, bit LLRs (paper §4.3).

``local`` takes arrays of intervals, ``foreign`` the draws of marks by others; none loads a model.
"""
