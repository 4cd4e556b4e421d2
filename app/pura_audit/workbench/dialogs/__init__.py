"""Dialogs of the workbench."""
