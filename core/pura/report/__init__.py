"""Reports: what leaves the tool (reports.md).

:func:`build_report` makes one PDF of one or several audits, with the record inside; HTML and
tables are made from the same content; read :mod:`pura.report.build` first. :mod:`.signing` signs,
:mod:`.check` checks. The names are fetched when they are first used: the children that look at a
stranger's report need few of them.
"""

from typing import TYPE_CHECKING

from pura.base import lazily

if TYPE_CHECKING:
    from pura.report.annexes import bits_csv, safe_name, table_files, tokens_csv
    from pura.report.blocks import html_page, page_count, render_pages
    from pura.report.build import Report, build_report, record_json
    from pura.report.request import ItemNotes, Parties, ReportRequest, check_request

__getattr__ = lazily(
    __name__,
    {
        "ItemNotes": "pura.report.request",
        "Parties": "pura.report.request",
        "Report": "pura.report.build",
        "ReportRequest": "pura.report.request",
        "bits_csv": "pura.report.annexes",
        "build_report": "pura.report.build",
        "check_request": "pura.report.request",
        "html_page": "pura.report.blocks",
        "page_count": "pura.report.blocks",
        "record_json": "pura.report.build",
        "render_pages": "pura.report.blocks",
        "safe_name": "pura.report.annexes",
        "table_files": "pura.report.annexes",
        "tokens_csv": "pura.report.annexes",
    },
)

__all__ = [
    "ItemNotes",
    "Parties",
    "Report",
    "ReportRequest",
    "bits_csv",
    "build_report",
    "check_request",
    "html_page",
    "page_count",
    "record_json",
    "render_pages",
    "safe_name",
    "table_files",
    "tokens_csv",
]
