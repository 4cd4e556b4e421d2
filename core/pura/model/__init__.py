"""Models: load one safely, tokenise, and read the evidence in one pass."""
