"""The use cases that command and window both call."""
