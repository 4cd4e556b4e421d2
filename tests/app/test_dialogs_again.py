"""Every dialog is opened, used and closed again and again, and nothing that Qt holds goes away.

``PURA_ROUNDS=200`` makes it the long search for what crashes once in a while; with
``PYTHONDEVMODE=1`` and ``QT_FATAL_WARNINGS=1`` whatever is amiss ends it at once.
"""

import gc
import os
from typing import Final

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QDialog,
    QFileDialog,
    QLineEdit,
    QMessageBox,
    QTableView,
    QTabWidget,
)
from shiboken6 import isValid
from tests.app.every_dialog import opened_dialogs

ROUNDS: Final = int(os.environ.get("PURA_ROUNDS", "1"))


def use(dialog: QDialog) -> None:
    """Type into the fields, try the choices, walk over the rows."""
    if isinstance(dialog, QFileDialog | QMessageBox):
        return
    for field in dialog.findChildren(QLineEdit):
        if field.isEnabled() and not field.isReadOnly():
            field.setText("Anna")
    for choice in dialog.findChildren(QComboBox):
        for place in (*range(choice.count()), choice.currentIndex()):
            choice.setCurrentIndex(place)
    for tick in dialog.findChildren(QCheckBox):
        tick.toggle()
        tick.toggle()
    for tabs in dialog.findChildren(QTabWidget):
        for place in reversed(range(tabs.count())):
            tabs.setCurrentIndex(place)
    for table in dialog.findChildren(QTableView):
        table.selectAll()
        table.grab()
    QApplication.processEvents()


@pytest.mark.slow
@pytest.mark.weekly
def test_every_dialog_again_and_again(window, audit, qtbot):
    window.session.texts.add_audit(audit)
    for _ in range(ROUNDS):
        for name, act in opened_dialogs(window).items():
            dialog = act()
            assert dialog is not None, name
            QApplication.processEvents()
            use(dialog)
            gc.collect()
            dialog.grab()
            dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            dialog.done(0)
            qtbot.waitUntil(lambda d=dialog: not isValid(d) or not d.isVisible())
        for dialog in window.findChildren(QDialog):
            dialog.close()
        gc.collect()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        QApplication.processEvents()
        gc.collect()
        assert [type(d).__name__ for d in window.findChildren(QDialog) if isValid(d)] == []
