"""Watermarks by others, behind one interface, to be compared with PURA on one bench."""
