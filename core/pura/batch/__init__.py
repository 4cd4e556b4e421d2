"""Many texts: which inputs there are, what became of each, and who works it off."""
