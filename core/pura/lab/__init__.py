"""Attacks, learning and experiments; nothing in the tool imports it."""
