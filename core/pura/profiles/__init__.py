"""Stored profiles."""
