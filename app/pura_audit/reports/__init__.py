"""Reports in the window."""
