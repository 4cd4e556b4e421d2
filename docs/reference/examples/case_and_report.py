"""Save an audit to a case of the case log, and build a report of it.

Beyond ``pura.verify`` this uses modules of the package that may move between versions.
"""

from pathlib import Path

import pura
from pura.base.paths import user_paths
from pura.caselog import CaseLog, find_case, open_case, save_audit
from pura.report.build import build_report
from pura.report.request import Parties, ReportRequest

key = pura.SecretKey.from_hex(Path("desk.key").read_text())
audit = pura.verify(Path("letter.txt"), key=key, profile=Path("house.json"))

with CaseLog(user_paths().caselog, create=True) as log:
    examiner = log.person("A. Example")
    case = find_case(log, "Letter 17") or open_case(log, "Letter 17", examiner)
    save_audit(log, case.id, audit, examiner)
    head = log.head()

request = ReportRequest(
    case="Letter 17", log=str(head), parties=Parties(examiner="A. Example", organisation="Desk")
)
report = build_report([audit], request)
Path("letter.pdf").write_bytes(report.pdf)
print(f"{report.number}: {len(report.pdf)} bytes, record {report.digest}")
