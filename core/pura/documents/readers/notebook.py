"""Jupyter notebooks: the prose of their cells as one text; code and results beside it."""

from __future__ import annotations

from typing import Any

from pura.documents.encodings import DecodedText
from pura.documents.extraction import ALTERNATIVE, MAIN, Extract
from pura.record.left_out import LeftOutKind


def notebook_extracts(value: Any, decoded: DecodedText) -> list[Extract]:
    """Return the texts of a notebook; none of another JSON value.

    Args:
        value: The value.
        decoded: How the file's bytes became text.
    """
    if not (isinstance(value, dict) and "nbformat" in value):
        return []
    texts: dict[str, list[str]] = {"": [], "code": [], "results": []}
    for cell in _cells(value):
        is_code = cell.get("cell_type") == "code"
        texts["code" if is_code else ""].append(_joined(cell.get("source", cell.get("input"))))
        for output in _dicts(cell.get("outputs")):
            shown = output.get("data")
            plain = shown.get("text/plain") if isinstance(shown, dict) else output.get("text")
            texts["results"].append(_joined(plain))
    extracts = []
    for part, pieces in texts.items():
        text = "\n\n".join(piece.strip("\n") for piece in pieces if piece.strip())
        if text:
            extracts.append(
                Extract.of(
                    decoded,
                    text,
                    part,
                    role=ALTERNATIVE if part else MAIN,
                    kind=LeftOutKind.CELL if part else None,
                )
            )
    return extracts


def _cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the cells; up to version 3 they stood on sheets."""
    sheets = _dicts(notebook.get("worksheets"))
    return [cell for sheet in [notebook, *sheets] for cell in _dicts(sheet.get("cells"))]


def _dicts(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _joined(source: object) -> str:
    """Return a string, or the lines of one."""
    if isinstance(source, list):
        return "".join(line for line in source if isinstance(line, str))
    return source if isinstance(source, str) else ""
