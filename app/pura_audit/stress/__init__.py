"""What edits do to a mark, tried out on a text whose payload is known."""
