"""From evidence to findings: payload, candidates, significance, passages."""
