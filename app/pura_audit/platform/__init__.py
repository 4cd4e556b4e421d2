"""Logs, single instance, translation, settings, stall meter."""
