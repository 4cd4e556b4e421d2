"""The state of the window without widgets: the texts, the choices, audits and undo."""
