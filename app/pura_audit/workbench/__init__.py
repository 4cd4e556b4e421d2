"""The main window and its views."""
