"""Settings in the window."""
