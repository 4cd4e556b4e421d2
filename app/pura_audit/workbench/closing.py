"""The one question that is asked before something is cut off or lost."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QPushButton, QWidget

from pura_audit.platform.i18n import filled, translate


def closing_question(
    parent: QWidget, *, running: bool, unkept: int
) -> tuple[QMessageBox, QPushButton]:
    """Return the question, opened, and the button that says yes.

    Args:
        parent: The window.
        running: An audit runs or waits.
        unkept: Findings that the case log did not take: these alone are lost.
    """
    box = QMessageBox(parent)
    box.setIcon(QMessageBox.Icon.NoIcon)
    box.setWindowTitle(translate("Window", "Close"))
    kept = translate(
        "Window",
        "What is finished is kept in the case “Unfiled”. The list comes back at the next start, "
        "and the audit that is cancelled can be begun again there.",
    )
    if unkept:
        words = translate(
            "Window",
            "{n:plural(One finding is|{n:count} findings are)} not in the case log and "
            "{n:plural(is|are)} lost when the window closes. Save to a case first (Ctrl+S).",
        )
        kept = filled(words, n=unkept)
    box.setText(
        translate("Window", "An audit is running.")
        if running
        else translate("Window", "Not everything is saved.")
    )
    box.setInformativeText(kept)
    stop = box.addButton(
        translate("Window", "Cancel the audit and close")
        if running
        else translate("Window", "Close and lose it"),
        QMessageBox.ButtonRole.AcceptRole,
    )
    stay = box.addButton(translate("Window", "Stay"), QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(stay)
    box.setEscapeButton(stay)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.open()
    return box, stop
