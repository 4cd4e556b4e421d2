"""Widgets and dialog parts that know no feature."""
