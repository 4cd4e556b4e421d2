"""Writes rows of the pile: CSV as they are shown, Parquet and JSON lines as ``pura batch`` does."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pura.base.files import write_or_refuse
from pura.record.audit import Audit
from pura.usecases.cases import open_saved
from pura.usecases.environment import Environment
from pura_audit.jobs.context import JobContext
from pura_audit.platform.spreadsheet import csv_text
from pura_audit.session.results import PileRow, table_text

if TYPE_CHECKING:
    from pura.batch.rows import Row


def export_pile(at: Environment, rows: Sequence[PileRow], path: Path, context: JobContext) -> int:
    """Write rows; the ending of the name decides how. In the thread of the cases.

    Returns:
        How many were written: the columns of ``pura batch`` take findings only.

    Raises:
        PuraError: The file cannot be written, or a record cannot be read.
    """
    if path.suffix.lower() == ".csv":
        head, cells = table_text(rows)
        write_or_refuse(path, csv_text(head, cells).encode("utf-8-sig"))
        return len(cells)
    from pura.batch.write import format_of, write_rows

    return write_rows(str(path), _findings(at, rows, context), format_of(str(path)))


def _findings(at: Environment, rows: Sequence[PileRow], context: JobContext) -> Iterator[Row]:
    from pura.batch.rows import Row, finding_of

    for place, row in enumerate(rows, start=1):
        context.checkpoint()
        item = row.item
        if item is None or item.outline is None:
            continue
        audit = item.audit or open_saved(at, item.outline.audit)
        yield Row.from_dict(
            {
                "input": place,
                "item": 1,
                "piece": 1,
                "id": None,
                "path": str(item.path) if item.path is not None else item.name,
                "part": audit.input.part,
                "digest": _digest(audit),
                "chosen": None,
                **finding_of(audit),
            }
        )


def _digest(audit: Audit) -> str | None:
    return None if audit.text is None else hashlib.sha256(audit.text.encode()).hexdigest()
