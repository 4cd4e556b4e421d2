"""The record of an audit, its JSON, and the comparison of two."""
