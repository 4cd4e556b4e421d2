"""The question for a file that is there, asked without standing in the way of the window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget


def ask_file(
    parent: QWidget, title: str, take: Callable[[Path], object], *kinds: str
) -> QFileDialog:
    """Ask for one file.

    Args:
        parent: The window or dialog that asks.
        title: Of the question.
        take: Gets the file that was chosen, and is not called when none was.
        kinds: What is offered, as ``Profiles (*.json)``; left out: every file.

    Returns:
        The open question; it is deleted when it closes.
    """
    dialog = QFileDialog(parent, title)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    if kinds:
        dialog.setNameFilters(kinds)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.fileSelected.connect(lambda name: take(Path(name)))
    dialog.open()
    return dialog
