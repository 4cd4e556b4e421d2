"""The one question that is asked before something is cut off or lost."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QPushButton, QWidget

from pura_audit.platform.i18n import filled, translate


def closing_question(
    parent: QWidget, *, running: bool, installing: bool, unkept: int
) -> tuple[QMessageBox, QPushButton]:
    """Return the question, opened, and the button that says yes.

    Args:
        parent: The window.
        running: An audit runs or waits.
        installing: A model is fetched or added.
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
    if installing:
        words = translate(
            "Window",
            "A model that is not fetched to its end is not installed; nothing of it is used.",
        )
        kept = f"{words} {kept}" if running or unkept else words
    box.setText(_what(running=running, installing=installing))
    box.setInformativeText(kept)
    stop = box.addButton(
        translate("Window", "Cancel it and close")
        if running or installing
        else translate("Window", "Close and lose it"),
        QMessageBox.ButtonRole.AcceptRole,
    )
    stay = box.addButton(translate("Window", "Stay"), QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(stay)
    box.setEscapeButton(stay)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.open()
    return box, stop


def _what(*, running: bool, installing: bool) -> str:
    if running and installing:
        return translate("Window", "An audit is running, and a model is being installed.")
    if running:
        return translate("Window", "An audit is running.")
    if installing:
        return translate("Window", "A model is being installed.")
    return translate("Window", "Not everything is saved.")
