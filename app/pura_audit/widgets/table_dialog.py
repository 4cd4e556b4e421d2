"""Tables of whole rows as a Qt model and in a dialog, with a sentence above."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QPushButton,
    QTableView,
    QWidget,
)

from pura_audit.platform.i18n import translate
from pura_audit.theme.theme import GRID
from pura_audit.widgets.form_dialog import PlainDialog, button_row, close_button, dialog_column

Index = QModelIndex | QPersistentModelIndex


class RowsModel(QAbstractTableModel):
    """Rows of cells that are shown as they are."""

    def __init__(
        self, headers: Sequence[str], rows: Sequence[Sequence[str]], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._headers, self._rows = tuple(headers), rows

    def rowCount(self, parent: Index | None = None) -> int:
        """Return the number of rows."""
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index | None = None) -> int:
        """Return the number of columns."""
        return 0 if parent is not None and parent.isValid() else len(self._headers)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a cell, or where it is set."""
        if not index.isValid():
            return None
        cell = self._rows[index.row()][index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return cell
        if role == Qt.ItemDataRole.TextAlignmentRole and is_number(cell):
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Return a header."""
        if orientation == Qt.Orientation.Horizontal and 0 <= section < len(self._headers):
            if role == Qt.ItemDataRole.DisplayRole:
                return self._headers[section]
            if role == Qt.ItemDataRole.TextAlignmentRole:
                sides = Qt.AlignmentFlag
                right = bool(self._rows) and is_number(self._rows[0][section])
                return int((sides.AlignRight if right else sides.AlignLeft) | sides.AlignVCenter)
        return None


def is_number(cell: str) -> bool:
    """Whether a cell is a number as this program writes them."""
    plain = cell.replace("\N{MINUS SIGN}", "-").replace(",", ".")
    try:
        float(plain)
    except ValueError:
        return False
    return len(cell) < 24 and not (len(cell) > 3 and set(cell) <= {"0", "1"})


def make_table(name: str) -> QTableView:
    """Return a table of whole rows that can be chosen and not edited."""
    table = QTableView()
    table.setAccessibleName(name)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setTabKeyNavigation(False)
    table.setShowGrid(False)
    table.setAlternatingRowColors(True)
    table.setWordWrap(False)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(32)
    table.horizontalHeader().setHighlightSections(False)
    return table


def fill_table(
    table: QTableView, headers: Sequence[str], rows: Sequence[Sequence[str]], widest: int = 220
) -> None:
    """Put rows into a table; the last column takes the room that is left."""
    old = table.model()
    table.setModel(RowsModel(headers, rows, table))
    if old is not None:
        old.deleteLater()
    header = table.horizontalHeader()
    header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
    table.resizeColumnsToContents()
    for column in range(len(headers) - 1):
        header.resizeSection(column, min(header.sectionSize(column) + GRID, widest))
    header.setSectionResizeMode(len(headers) - 1, QHeaderView.ResizeMode.Stretch)


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
