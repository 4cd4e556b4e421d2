"""JSON lines: one record a line (:mod:`.json_rows` does the work)."""

from pura.documents.readers.json_rows import read_lines as read

__all__ = ["read"]
