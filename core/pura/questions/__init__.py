"""The question store: what stood before an answer, sealed, for a limited time."""
