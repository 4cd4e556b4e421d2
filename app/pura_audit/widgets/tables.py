"""Tables of whole rows, as the dialogs show them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from pura_audit.theme.theme import GRID
from pura_audit.widgets.rows_model import RowsModel


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
