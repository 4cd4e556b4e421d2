"""Tables as CSV and XLSX, such that no spreadsheet runs or rounds what stands in a cell."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

Cell = str | int | float | None
"""A number is one for the spreadsheet too; a text stays a text, whatever it looks like."""

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_EXACT: Final = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d{1,15})?([eE][-+]?\d{1,3})?")
"""A number that a spreadsheet reads as it stands: not the digits of a payload, say."""
_UNPRINTABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_MOST: Final = 32_000  # characters; a cell of XLSX holds 32,767
_WIDTHS: Final = (10, 60)


def csv_text(head: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """Return a table as CSV; a cell that a spreadsheet would run or round is quoted."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(head)
    writer.writerows([_safe_cell(cell) for cell in row] for row in rows)
    return out.getvalue()


def _safe_cell(cell: Cell) -> str:
    if cell is None or not isinstance(cell, str):
        return "" if cell is None else repr(cell)
    number = cell.replace("\N{MINUS SIGN}", "-")
    if _EXACT.fullmatch(number):
        return number
    return f"'{cell}" if cell.lstrip().startswith(_FORMULA) or _is_number(number) else cell


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """A sheet of a workbook.

    Attributes:
        name: What stands on its tab, at most 31 characters.
        head: The words above the columns; none where the rows speak for themselves.
        rows: The cells.
    """

    name: str
    head: Sequence[str] = ()
    rows: Sequence[Sequence[Cell]]


def xlsx_bytes(sheets: Sequence[Sheet]) -> bytes:
    """Return a workbook; no cell of it is a formula, and every text is one."""
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Alignment, Font
    from openpyxl.utils import get_column_letter

    book = Workbook(write_only=True)
    for sheet in sheets:
        page = book.create_sheet(sheet.name)
        table = [*([sheet.head] if sheet.head else []), *sheet.rows]
        for place, column in enumerate(zip(*table, strict=True), start=1):
            width = max(len(str(cell)) for cell in column if cell is not None)
            least, most = _WIDTHS
            page.column_dimensions[get_column_letter(place)].width = min(most, max(least, width))
        if sheet.head:
            page.freeze_panes = "A2"
        for number, row in enumerate(table):
            cells = []
            for value in row:
                cell = WriteOnlyCell(page, value=None if isinstance(value, str) else value)
                if isinstance(value, str):
                    cell.value = _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", value)[:_MOST]
                    cell.data_type = "s"  # "=…" would be a formula
                    cell.number_format = "@"
                cell.font = Font(bold=bool(sheet.head) and number == 0)
                cell.alignment = Alignment(vertical="top")
                cells.append(cell)
            page.append(cells)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()
