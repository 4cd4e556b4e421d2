"""The main window, which holds all the others."""
