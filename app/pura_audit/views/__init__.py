"""Widgets that render an audit and emit intentions; they compute nothing."""
