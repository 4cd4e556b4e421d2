"""Readings of a text with what was done to it undone: layout, case, punctuation, spelling."""
