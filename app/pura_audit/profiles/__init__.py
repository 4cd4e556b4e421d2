"""Profiles in the window."""
