"""Demo, pictures, packaged check."""
