"""The ``pura`` command."""
