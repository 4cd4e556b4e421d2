"""Single checks in a dialog: each with a sign, its name, its result and what was found."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from pura.report.check import BAD, GOOD, NOTICE, OPEN
from pura_audit.theme.theme import GAP, GRID
from pura_audit.widgets.card import Card, label

_SIGN: Final = {
    GOOD: ("✓", "done"),
    NOTICE: ("i", "value"),
    BAD: ("✕", "attention"),
    OPEN: ("–", "muted"),
}


def check_card(state: str, title: str, text: str, result: str = "") -> Card:
    """Show one check."""
    card = Card(inner=GAP)
    sign, role = _SIGN[state]
    head = QHBoxLayout()
    head.setSpacing(GRID)
    mark = label(sign, role)
    mark.setFixedWidth(2 * GRID)
    head.addWidget(mark)
    head.addWidget(label(title, "value"))
    head.addStretch(1)
    if result:
        mark.setAlignment(Qt.AlignmentFlag.AlignCenter)
        head.addWidget(label(result, role))
    card.body.addLayout(head)
    found = label(text, "", wrap=True)
    found.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    found.setContentsMargins(3 * GRID, 0, 0, 0)
    card.body.addWidget(found)
    card.setAccessibleName(f"{title}: {result or text}")
    return card


class CheckList:
    """Rows that scroll; the style sheet knows no subclass of their area.

    Args:
        name: For screen readers.
        margins: Around the rows.

    Attributes:
        area: What is put into the dialog.
        rows: What is shown, one below the other.
    """

    def __init__(self, name: str, margins: tuple[int, int, int, int]) -> None:
        self.area = QScrollArea()
        self.area.setWidgetResizable(True)
        self.area.setAccessibleName(name)
        self.rows = QVBoxLayout()
        self.rows.setSpacing(GRID)
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(*margins)
        column.addLayout(self.rows)
        column.addStretch(1)
        self.area.setWidget(inside)

    def clear(self) -> None:
        """Show nothing."""
        while (item := self.rows.takeAt(0)) is not None:
            if (row := item.widget()) is not None:
                row.hide()
                row.deleteLater()
