"""Export of rows as CSV and XLSX, safe from formulas and rounding, or as batch results."""

from __future__ import annotations

import csv
import datetime as dt
import hashlib
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pura.base.catalogue import catalogue
from pura.base.files import write_or_refuse
from pura.record.audit import Audit
from pura.record.finding import VALUES, Finding
from pura.usecases.cases import open_saved
from pura.usecases.environment import Environment
from pura.version import __version__
from pura.words.sentences import title
from pura_audit.jobs.queue import JobContext
from pura_audit.platform.i18n import language, translate
from pura_audit.session.results import COLUMNS, NUMBERS, ResultRow, headers

if TYPE_CHECKING:
    from pura.batch.results import Row

Cell = str | int | float | None
"""The content of a cell: a number stays a number, and a text a text, in the spreadsheet."""

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_EXACT: Final = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d{1,15})?([eE][-+]?\d{1,3})?")
"""A number that a spreadsheet reads as it stands: not the digits of a payload, say."""
_UNPRINTABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_MAX_CHARACTERS: Final = 32_000  # characters; a cell of XLSX holds 32,767
_WIDTHS: Final = (10, 60)  # smallest and largest width of a column, in characters


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
        name: Title of the tab, at most 31 characters.
        head: Headers of the columns; empty for none.
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
        for column_number, column in enumerate(zip(*table, strict=True), start=1):
            width = max(len(str(cell)) for cell in column if cell is not None)
            narrowest, widest = _WIDTHS
            page.column_dimensions[get_column_letter(column_number)].width = min(
                widest, max(narrowest, width)
            )
        if sheet.head:
            page.freeze_panes = "A2"
        for number, row in enumerate(table):
            cells = []
            for content in row:
                cell = WriteOnlyCell(page, value=None if isinstance(content, str) else content)
                if isinstance(content, str):
                    cell.value = _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", content)[
                        :_MAX_CHARACTERS
                    ]
                    cell.data_type = "s"  # "=…" would be a formula
                    cell.number_format = "@"
                cell.font = Font(bold=bool(sheet.head) and number == 0)
                cell.alignment = Alignment(vertical="top")
                cells.append(cell)
            page.append(cells)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


# Decimals of the numbers in the exported table.
_DIGITS: Final = {"evidence": 2, "share": 4}

Table = tuple[tuple[str, ...], list[tuple[Cell, ...]]]


def export_rows(
    environment: Environment, rows: Sequence[ResultRow], path: Path, context: JobContext
) -> int:
    """Write rows in the format that the file's suffix names. Runs in the thread of the cases.

    Returns:
        Number of written rows: the format of ``pura batch`` holds findings only.

    Raises:
        PuraError: The file cannot be written, or a record cannot be read.
    """
    ending = path.suffix.lower()
    if ending in (".csv", ".xlsx"):
        head, cells = exported_table(environment, rows, context)
        if ending == ".csv":
            write_or_refuse(path, csv_text(head, cells).encode("utf-8-sig"))
        else:
            texts = Sheet(name=translate("Results", "Texts"), head=head, rows=cells)
            write_or_refuse(path, xlsx_bytes([texts, _about(head, cells)]))
        return len(cells)
    from pura.batch.results import format_of, write_rows

    return write_rows(str(path), _findings(environment, rows, context), format_of(str(path)))


def exported_table(
    environment: Environment, rows: Sequence[ResultRow], context: JobContext
) -> Table:
    """Return the headers and the cells: the columns of the table, then the facts behind them."""
    names = headers()
    head = (*(names[column] for column in COLUMNS), *_facts_headers())
    cells = []
    first: dict[str, ResultRow] = {}
    for row in rows:
        context.checkpoint()
        row_cells = (_number(row, c) if c in NUMBERS else row.cell(c) for c in COLUMNS)
        same = first.setdefault(row.digest, row) if row.digest else row
        cells.append((*row_cells, *_facts(environment, row, "" if same is row else same.name)))
    return head, cells


def _number(row: ResultRow, column: str) -> Cell:
    """Return the number in a column, rounded as in the table; None if the table shows none."""
    value = row.number(column) if row.cell(column) else None
    return value if value is None or column == "tokens" else round(value, _DIGITS[column])


def _facts_headers() -> tuple[str, ...]:
    return (
        translate("Results", "File"),
        translate("Results", "SHA-256 of the file"),
        translate("Results", "SHA-256 of the text"),
        translate("Results", "Same text as"),
        translate("Results", "Number of the audit"),
        translate("Results", "Examined (UTC)"),
        *_made_with(),
        *(
            catalogue("findings").fill(f"value.{name}", language(), {})
            for name, value in VALUES.items()
            if value.words is not None
        ),
    )


def _made_with() -> tuple[str, ...]:
    return (
        translate("Results", "Key"),
        translate("Results", "Profile"),
        translate("Results", "Model"),
    )


def _facts(at: Environment, row: ResultRow, same: str) -> tuple[str, ...]:
    """Return the facts behind the finding of a row."""
    if row.row is not None:
        result_row = row.row
        made_with = (result_row[name] or "" for name in ("key", "profile", "model"))
        return (result_row["path"], "", row.digest, same, "", "", *made_with, *_notes(row.found))
    item = row.item
    path = "" if item is None or item.path is None else str(item.path)
    if item is None or item.finding is None:
        return (path, "", row.digest, same, *[""] * 5, *_notes(None))
    audit = open_saved(at, item.finding.id) if item.audit is None else item.audit
    return (
        path,
        audit.input.sha256,
        row.digest or _digest(audit) or "",
        same,
        audit.id,
        audit.created,
        _named(audit.key.label or "", audit.key.fingerprint),
        audit.profile.fingerprint,
        _named(audit.model.name, audit.model.fingerprint),
        *_notes(audit.finding),
    )


def _notes(finding: Finding | None) -> tuple[str, ...]:
    """Return the remarks of a finding, one cell each."""
    rows = (value.words for value in VALUES.values() if value.words is not None)
    return tuple("" if finding is None else " ".join(words(finding, language())) for words in rows)


def _named(name: str, fingerprint: str) -> str:
    return f"{name} ({fingerprint})" if name else fingerprint


def _about(head: Sequence[str], cells: Sequence[tuple[Cell, ...]]) -> Sheet:
    """Return the sheet that explains how the table was made and how to read it."""

    def distinct(values: Iterable[Cell]) -> str:
        return "; ".join(dict.fromkeys(str(value) for value in values if value))

    key, profile, model = (
        distinct(row[head.index(header)] for row in cells) for header in _made_with()
    )
    now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    return Sheet(
        name=translate("Results", "What was done"),
        rows=[
            (translate("Results", "Written by"), f"PURA Audit {__version__}"),
            (translate("Results", "Written on (UTC)"), now),
            (translate("Results", "Texts"), len(cells)),
            (translate("Results", "Keys"), key),
            (translate("Results", "Profiles"), profile),
            (translate("Results", "Models"), model),
            (
                translate("Results", "Evidence, log₁₀"),
                translate(
                    "Results",
                    "At 6 or more, a text that has nothing to do with the key reaches it at most"
                    " once in a million times. It says nothing about who wrote the rest of a text.",
                ),
            ),
            (
                "; ".join(
                    title(kind, language()) for kind in ("in-part", "insufficient", "not-measured")
                ),
                translate(
                    "Results",
                    "Neither a mark nor its absence could be shown: it is no statement that the"
                    " text is unmarked.",
                ),
            ),
            (
                translate("Results", "The records"),
                translate(
                    "Results",
                    "This table is only an overview. Rely on the report and the record of each "
                    "audit.",
                ),
            ),
        ],
    )


def _findings(at: Environment, rows: Sequence[ResultRow], context: JobContext) -> Iterator[Row]:
    from pura.batch.results import finding_of, row_of

    for number, row in enumerate(rows, start=1):
        context.checkpoint()
        item = row.item
        if item is None or item.finding is None:
            continue
        audit = open_saved(at, item.finding.id) if item.audit is None else item.audit
        at_place = {
            "input": number,
            "item": 1,
            "piece": 1,
            "path": str(item.path) if item.path is not None else item.name,
            "part": audit.input.part,
            "digest": row.digest or _digest(audit),
        }
        yield row_of(at_place, finding_of(audit.finding))


def _digest(audit: Audit) -> str | None:
    return None if audit.text is None else hashlib.sha256(audit.text.encode()).hexdigest()
