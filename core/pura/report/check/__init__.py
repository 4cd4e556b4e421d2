"""Checking a report: single checks with results in words (reports.md).

The file is a stranger's: it is taken apart in a caged child, and what the child says is judged
here. Nothing is fetched from any network. The names are fetched when they are first used: the child
needs none of them.
"""

from typing import TYPE_CHECKING

from pura.base import lazily

if TYPE_CHECKING:
    from pura.report.check.checking import Again, check_report, compare, load_trust, repeat
    from pura.report.check.verify import BAD, GOOD, NOTICE, OPEN, CheckedPoint, ReportCheck

__getattr__ = lazily(
    __name__,
    {
        "BAD": "pura.report.check.verify",
        "GOOD": "pura.report.check.verify",
        "NOTICE": "pura.report.check.verify",
        "OPEN": "pura.report.check.verify",
        "Again": "pura.report.check.checking",
        "CheckedPoint": "pura.report.check.verify",
        "ReportCheck": "pura.report.check.verify",
        "check_report": "pura.report.check.checking",
        "compare": "pura.report.check.checking",
        "load_trust": "pura.report.check.checking",
        "repeat": "pura.report.check.checking",
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
