"""Foundations of all packages: errors, texts, strict decoder, JSON, files, SQLite, processes.

Read :mod:`pura.base.errors` first, then :mod:`pura.base.decoder`.
"""
