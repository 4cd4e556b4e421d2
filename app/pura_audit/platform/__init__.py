"""Services of the window: logs, single instance, translation, settings, accessibility."""
