"""The window “Compare two audits …”."""

from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from pura.record.comparison import compare_audits
from pura_audit.workbench import opening
from pura_audit.workbench.answer import grouped


def rows(dialog: Any) -> dict[str, tuple[str, ...]]:
    model = dialog.table.model()
    cells = [
        tuple(
            str(model.data(model.index(row, column), Qt.ItemDataRole.DisplayRole))
            for column in range(model.columnCount())
        )
        for row in range(model.rowCount())
    ]
    return {row[1]: row for row in cells}


def test_two_audits_are_compared_line_by_line(window, audit):
    other = replace(
        audit,
        verdict="indication",
        evidence=replace(audit.evidence, log10_e=audit.evidence.log10_e - 7),
        device=replace(audit.device, kind="cuda", dtype="bfloat16"),
    )
    window.session.texts.add_audit(audit)
    window.session.texts.add_audit(other)
    dialog: Any = opening.compare_audits(window)
    assert dialog.words.text() == "5 of 14 lines differ."
    QApplication.processEvents()
    assert dialog.first.width() > dialog.width() / 2  # its names are long
    shown = rows(dialog)
    assert shown["Outcome"] == ("≠", "Outcome", "Indication only", "A mark was found")
    assert shown["Evidence (log₁₀)"][2:] == ("5.000", "12.000")
    # Without a mark nothing that was decoded is shown as a payload.
    assert shown["Payload"][2:] == ("–", grouped(audit.payload.bits))
    dialog.second.setCurrentIndex(0)
    assert "Nothing differs" in dialog.words.text()


def test_with_one_audit_the_dialog_still_opens(window):
    dialog: Any = opening.compare_audits(window)
    assert "Two finished audits are needed" in dialog.words.text()


def test_small_differences_of_the_evidence_are_tolerance(audit):
    near = replace(audit, evidence=replace(audit.evidence, log10_e=audit.evidence.log10_e + 0.04))
    assert all(line.same for line in compare_audits(audit, near))
