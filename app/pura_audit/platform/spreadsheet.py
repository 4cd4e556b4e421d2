"""Tables as CSV, such that no spreadsheet runs what stands in a cell."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Final

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def csv_text(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as CSV; a cell that a spreadsheet would run is quoted."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(head)
    writer.writerows([_safe_cell(cell) for cell in row] for row in rows)
    return out.getvalue()


def _safe_cell(cell: str) -> str:
    number = cell.replace("\N{MINUS SIGN}", "-")
    try:
        float(number)
    except ValueError:
        return f"'{cell}" if cell.lstrip().startswith(_FORMULA) else cell
    return number
