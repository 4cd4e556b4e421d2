"""The window “Verify a report …”, with the real check behind it."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
import typst
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication
from PySide6.QtWidgets import QLabel
from tests.core.records import RECORD

from pura.record import json_io
from pura.record.audit import Audit
from pura.record.json_io import findings_digest
from pura_audit.widgets.card import Fold
from pura_audit.workbench import opening

SOURCE = b"""
#set document(title: "Report", date: none)
#let d = json(bytes(sys.inputs.data))
#pdf.attach("record.json", bytes(d.json))
= Report
#for line in d.lines [#line #linebreak()]
"""


@pytest.fixture
def audit() -> Audit:
    """A record as an audit wrote it: an invented one does not agree with itself."""
    return RECORD


@pytest.fixture
def report(audit, tmp_path) -> Path:
    record = json_io.to_json(audit)
    lines = [
        audit.input.sha256,
        audit.key.fingerprint,
        audit.payload.bits,
        findings_digest(audit),
        hashlib.sha256(record.encode()).hexdigest(),
    ]
    path = tmp_path / "report.pdf"
    data = json.dumps({"json": record, "lines": lines})
    path.write_bytes(typst.compile(SOURCE, sys_inputs={"data": data}))
    return path


def words_of(dialog: Any) -> str:
    return "\n".join(one.text() for one in dialog.area.findChildren(QLabel))


def test_a_report_is_checked_and_its_audit_shown(window, report, qtbot):
    dialog: Any = opening.verify_report(window, report)
    qtbot.waitUntil(lambda: dialog.checked is not None)
    said = words_of(dialog)
    assert "Printed SHA-256" in said
    assert "The report is not signed." in said
    assert "Not signed" in dialog.summary.text()
    dialog.copy_button.click()
    assert "Embedded record: as it should be." in QGuiApplication.clipboard().text()
    dialog.show_audits.click()
    assert window.session.texts.current.audit.input.name == "letter.txt"
    assert window.session.texts.current.audit.verdict == "mark"


def test_a_tampered_report_that_is_dropped_is_named(window, report, qtbot):
    report.write_bytes(report.read_bytes() + b"more")
    dialog: Any = opening.verify_report(window)
    assert not dialog.start.isEnabled()
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(report))])
    dialog.dropEvent(
        QDropEvent(
            QPointF(9, 9),
            Qt.DropAction.CopyAction,
            data,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
    )
    qtbot.waitUntil(lambda: dialog.checked is not None)
    assert "4 bytes were appended after the end of the PDF." in words_of(dialog)
    assert "Do not rely on this report" in dialog.summary.text()
    assert dialog.summary.property("role") == "banner"
    first = dialog.rows.itemAt(0).widget()
    assert "4 bytes were appended" in " ".join(x.text() for x in first.findChildren(QLabel))
    [fold] = dialog.area.findChildren(Fold)
    assert not fold.opened  # what is well stands folded below


def test_a_file_that_holds_no_certificate_is_named(window, report, qtbot):
    wrong = report.with_name("cert.pem")
    wrong.write_text("hello")
    dialog: Any = opening.verify_report(window)
    dialog.trust(wrong)
    dialog.take(report)
    qtbot.waitUntil(lambda: "no certificate" in dialog.summary.text())
    assert dialog.checked is None
    assert dialog.start.isEnabled()


def test_closing_the_dialog_stops_the_check(window, engine, report):
    dialog: Any = opening.verify_report(window, report)
    dialog.reject()
    assert dialog.checked is None
