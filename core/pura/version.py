"""The version of the tool, in one place."""

__version__ = "0.4.0"
