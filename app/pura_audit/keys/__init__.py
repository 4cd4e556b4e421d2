"""Keys in the window."""
