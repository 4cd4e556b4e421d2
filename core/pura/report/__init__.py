"""Reports: what leaves the tool (docs/report.md).

:func:`build_report` makes one PDF of one or several audits, with the record inside; HTML and
tables are made from the same content. Signing and checking are rooms of their own
(:mod:`pura.report.sign`, :mod:`pura.report.check`).
"""

from pura.report.build import Report, build_report, record_json
from pura.report.compile import page_count, render_pages
from pura.report.pages import html_page
from pura.report.request import ItemNotes, Parties, ReportRequest, check_request
from pura.report.tables import bits_csv, safe_name, table_files, tokens_csv

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
