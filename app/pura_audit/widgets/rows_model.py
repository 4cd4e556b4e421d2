"""A table of texts as a Qt model; numbers are set flush right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

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
