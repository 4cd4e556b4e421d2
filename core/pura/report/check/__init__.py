"""Checking a report: single checks with results in words (docs/reports.md).

The file is a stranger's: it is taken apart in a caged child, and what the child says is judged
here. Nothing is fetched from any network. The names are fetched when they are first used: the child
needs none of them.
"""

from typing import TYPE_CHECKING

from pura.base.lazily import lazily

if TYPE_CHECKING:
    from pura.report.check.checking import check_report, load_trust
    from pura.report.check.judge import BAD, GOOD, NOTICE, OPEN, CheckedPoint, ReportCheck
    from pura.report.check.repeating import Again, compare, repeat

__getattr__ = lazily(
    __name__,
    {
        "BAD": "pura.report.check.judge",
        "GOOD": "pura.report.check.judge",
        "NOTICE": "pura.report.check.judge",
        "OPEN": "pura.report.check.judge",
        "Again": "pura.report.check.repeating",
        "CheckedPoint": "pura.report.check.judge",
        "ReportCheck": "pura.report.check.judge",
        "check_report": "pura.report.check.checking",
        "compare": "pura.report.check.repeating",
        "load_trust": "pura.report.check.checking",
        "repeat": "pura.report.check.repeating",
    },
)

__all__ = [
    "BAD",
    "GOOD",
    "NOTICE",
    "OPEN",
    "Again",
    "CheckedPoint",
    "ReportCheck",
    "check_report",
    "compare",
    "load_trust",
    "repeat",
]
