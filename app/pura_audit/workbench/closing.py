"""The one question that is asked before a running audit is lost."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QPushButton, QWidget

from pura_audit.platform.i18n import translate


def closing_question(parent: QWidget) -> tuple[QMessageBox, QPushButton]:
    """Return the question, opened, and the button that says yes."""
    box = QMessageBox(parent)
    box.setIcon(QMessageBox.Icon.NoIcon)
    box.setWindowTitle(translate("Window", "Close"))
    box.setText(translate("Window", "An audit is running."))
    box.setInformativeText(
        translate("Window", "Close the window and cancel it? Finished results are lost too.")
    )
    stop = box.addButton(
        translate("Window", "Cancel the audit and close"), QMessageBox.ButtonRole.AcceptRole
    )
    stay = box.addButton(translate("Window", "Stay"), QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(stay)
    box.setEscapeButton(stay)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.open()
    return box, stop
