"""Marked text: the sampler, the logits processor and generation."""
