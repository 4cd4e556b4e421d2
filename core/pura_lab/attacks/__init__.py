"""Attacks that only experiments mount: an oracle with the key, and learning from a detector."""
