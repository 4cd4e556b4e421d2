"""Power of an organisation's own model, sampling, language and prompts (docs/power.md)."""
