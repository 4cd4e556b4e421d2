"""A list of checks in a dialog, each with a sign, its name, its result and an explanation."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QScrollArea, QVBoxLayout, QWidget

from pura.report.check import BAD, GOOD, NOTICE, OPEN
from pura_audit.theme.theme import GAP, GRID
from pura_audit.widgets.card import Card, column_of, label, row_of

_SIGN: Final = {
    GOOD: ("✓", "done"),
    NOTICE: ("i", "value"),
    BAD: ("✕", "attention"),
    OPEN: ("–", "muted"),
}


def check_card(state: str, title: str, text: str, status: str = "") -> Card:
    """Return the card of one check."""
    card = Card(inner=GAP)
    sign, role = _SIGN[state]
    mark = label(sign, role)
    mark.setFixedWidth(2 * GRID)
    head = row_of(mark, label(title, "value"), None)
    if status:
        mark.setAlignment(Qt.AlignmentFlag.AlignCenter)
        head.addWidget(label(status, role))
    card.body.addLayout(head)
    explanation = label(text, "", wrap=True)
    explanation.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    explanation.setContentsMargins(3 * GRID, 0, 0, 0)
    card.body.addWidget(explanation)
    card.setAccessibleName(f"{title}: {status or text}")
    return card


def check_list(name: str, margins: tuple[int, int, int, int]) -> tuple[QScrollArea, QVBoxLayout]:
    """Return an area that scrolls, and the column of its rows.

    Args:
        name: For screen readers.
        margins: Around the rows.
    """
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setAccessibleName(name)
    inside = QWidget()
    rows = column_of(spacing=GRID)
    column = column_of(rows, None, inside=inside)
    column.setContentsMargins(*margins)
    area.setWidget(inside)
    return area, rows
