"""Jupyter notebooks: the prose of their cells as one text; code and results as further parts."""

from __future__ import annotations

from typing import Any

from pura.documents.encodings import DecodedText
from pura.documents.extraction import ALTERNATIVE, MAIN, Extract
from pura.record.left_out import LeftOutKind


def notebook_extracts(json_value: Any, decoded: DecodedText) -> list[Extract]:
    """Return the texts of a notebook; none if the value is not a notebook.

    Args:
        json_value: Any JSON value.
        decoded: The decoded file.
    """
    if not (isinstance(json_value, dict) and "nbformat" in json_value):
        return []
    texts: dict[str, list[str]] = {"": [], "code": [], "results": []}
    for cell in _cells(json_value):
        is_code = cell.get("cell_type") == "code"
        texts["code" if is_code else ""].append(_joined(cell.get("source", cell.get("input"))))
        for output in _dicts(cell.get("outputs")):
            display = output.get("data")
            plain = display.get("text/plain") if isinstance(display, dict) else output.get("text")
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
    """Return the cells; up to version 3 of the format they were in worksheets."""
    sheets = _dicts(notebook.get("worksheets"))
    return [cell for sheet in [notebook, *sheets] for cell in _dicts(sheet.get("cells"))]


def _dicts(json_value: object) -> list[dict[str, Any]]:
    return (
        [entry for entry in json_value if isinstance(entry, dict)]
        if isinstance(json_value, list)
        else []
    )


def _joined(source: object) -> str:
    """Return a string that may be stored as a list of lines."""
    if isinstance(source, list):
        return "".join(line for line in source if isinstance(line, str))
    return source if isinstance(source, str) else ""
