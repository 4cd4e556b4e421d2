"""Bits and tokens as CSV, and file names that do no harm."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence
from typing import Final

from pura.record.audit import Audit
from pura.record.marks import bits_of
from pura.record.textless import NO_ID
from pura.report.hiding import public_audits
from pura.report.request import ReportRequest

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_RESERVED: Final = re.compile(r"^(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)
MAX_STEM: Final = 80


def table_files(audits: Sequence[Audit], request: ReportRequest) -> list[tuple[str, bytes]]:
    """Return name and content of every table of a report; what the report hides, they hide."""
    files = []
    for shown in public_audits(audits, request):
        stem = f"{safe_name(shown.input.name)}-{shown.id[:8]}"
        files.append((f"{stem}-bits.csv", bits_csv(shown).encode("utf-8-sig")))
        files.append((f"{stem}-tokens.csv", tokens_csv(shown).encode("utf-8-sig")))
    return files


def bits_csv(audit: Audit) -> str:
    """Return one row a codeword position."""
    rows = [
        (
            b.position + 1,
            b.bit,
            repr(b.llr_nats),
            b.readings,
            int(b.repaired),
            int(b.weak),
            int(b.parity),
        )
        for b in bits_of(audit, None)
    ]
    return _table(("position", "bit", "llr_nats", "readings", "repaired", "weak", "parity"), rows)


def tokens_csv(audit: Audit) -> str:
    """Return one row a token; cells that a spreadsheet would run are neutralised."""
    tokens = audit.tokens
    rows = []
    for t in range(tokens.ids.size):
        start, end = (int(x) for x in tokens.spans[t])
        words = audit.text[start:end] if audit.text is not None else ""
        hidden = int(tokens.ids[t]) == NO_ID
        rows.append(
            (
                t + 1,
                "" if hidden else int(tokens.ids[t]),
                start,
                end,
                harmless(words),
                _known(tokens.entropy_bits[t]),
                _known(tokens.lo[t]),
                _known(tokens.hi[t]),
                int(tokens.gate[t]),
                repr(float(tokens.log10_evidence[t])),
                repr(float(tokens.marked[t])),
            )
        )
    head = (
        "token",
        "id",
        "start",
        "end",
        "text",
        "entropy_bits",
        "lo",
        "hi",
        "gate",
        "log10_evidence",
        "marked",
    )
    return _table(head, rows)


def harmless(cell: str) -> str:
    """Put an apostrophe before what a spreadsheet would take for a formula."""
    return f"'{cell}" if cell.lstrip(" ").startswith(_FORMULA) or cell.startswith("'") else cell


def safe_name(name: str, ending: str = "") -> str:
    """Return a file name that no system stumbles over."""
    kept = "".join(c if c.isalnum() or c in "-_. " else "-" for c in name)
    kept = re.sub(r"[-\s]{2,}", "-", kept).strip(" .-")[:MAX_STEM].rstrip(" .-")
    if not kept or _RESERVED.match(kept):
        kept = f"report-{kept}".rstrip("-")
    return f"{kept}{ending}"


def _known(value: float) -> str:
    """Return a number with all its digits; nothing where the mark has no such number."""
    return "" if math.isnan(value) else repr(float(value))


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\r\n")
    writer.writerow(head)
    writer.writerows(rows)
    return sink.getvalue()
