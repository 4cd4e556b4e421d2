"""Colours, sizes, type, icons, and how pictures of them are painted."""
