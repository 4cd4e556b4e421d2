"""The text in question: its canvas, its card, the strip of a long document."""
