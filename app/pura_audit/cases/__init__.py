"""Cases in the window."""
