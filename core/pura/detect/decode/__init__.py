"""From evidence to findings: payload, candidates, significance, passages.

``exact`` is our decoder and what to read first, ``paper`` the published one; evidence.md is
the page. Takes arrays and frozen numbers; never loads a model, never sees the truth.
"""
