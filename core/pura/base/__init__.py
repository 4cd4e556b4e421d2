"""What every room stands on: errors, folders, resources, crash-safe files, SQLite, locks."""
