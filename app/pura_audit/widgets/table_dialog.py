"""A table with a sentence above it: the twin of a plot, the candidates, the shortcuts."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QPushButton,
    QTableView,
    QWidget,
)

from pura_audit.platform.i18n import translate
from pura_audit.widgets.form_dialog import PlainDialog, button_row, close_button, dialog_column
from pura_audit.widgets.rows_model import RowsModel


class TableDialog(PlainDialog):
    """Shows rows; they can be copied."""

    def __init__(
        self,
        title: str,
        headers: Sequence[str],
        rows: Sequence[Sequence[str]],
        words: str,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.resize(640, 560)
        self._headers, self._rows = headers, rows
        layout = dialog_column(self, title, words)
        self.table = QTableView()
        self.table.setModel(RowsModel(headers, rows, self.table))
        self.table.setAccessibleName(title)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setTabKeyNavigation(False)
        self.table.setShowGrid(False)
        self.table.setAlternatingRowColors(True)
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setDefaultSectionSize(28)
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setStretchLastSection(True)
        header.setHighlightSections(False)
        self.table.resizeColumnsToContents() if len(rows) < 2000 else None
        layout.addWidget(self.table, 1)
        copy = QPushButton(translate("Dialog", "Copy table"))
        copy.clicked.connect(self.copy)
        layout.addLayout(button_row(close_button(self, enter=True), left=(copy,)))
        self.table.setFocus()

    def copy(self) -> None:
        """Copy everything, tabs between the cells."""
        lines = ["\t".join(row) for row in (self._headers, *self._rows)]
        QGuiApplication.clipboard().setText("\n".join(lines))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Ctrl+C copies."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        else:
            super().keyPressEvent(event)
