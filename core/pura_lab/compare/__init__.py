"""PURA and the schemes of others on one bench: same prompts, model, tokens, payloads."""
