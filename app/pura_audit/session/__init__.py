"""The queue of texts, what is chosen, undo."""
