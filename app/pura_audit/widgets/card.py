"""A card: one question, its title, a remark at the right, and what answers it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from pura_audit.theme.theme import GRID, PADDING
from pura_audit.widgets.elided import ElidedLabel


class Card(QFrame):
    """A framed part of the window.

    Attributes:
        head: Title row; more widgets may be added at its right end.
        body: Layout for the content.
        frame_layout: Holds both; its margins are those of the card.
    """

    def __init__(self, title: str = "", parent: QWidget | None = None, *, inner: int = PADDING):
        super().__init__(parent)
        self.setProperty("role", "card")
        layout = self.frame_layout = QVBoxLayout(self)
        layout.setContentsMargins(inner, inner - GRID, inner, inner - GRID)
        layout.setSpacing(GRID)
        self.title, self.aside = QLabel(title), ElidedLabel()
        self.title.setProperty("role", "title")
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.aside.setProperty("role", "muted")
        self.aside.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.head = QHBoxLayout()
        self.head.setSpacing(GRID)
        self.head.addWidget(self.title)
        self.head.addWidget(self.aside, 1)
        if title:
            layout.addLayout(self.head)
        self.body = QVBoxLayout()
        self.body.setSpacing(GRID)
        layout.addLayout(self.body, 1)


def label(text: str = "", role: str = "", *, wrap: bool = False) -> QLabel:
    """Return a plain-text label in one of the style sheet's roles."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    if role:
        made.setProperty("role", role)
    made.setWordWrap(wrap)
    return made


def restyle(widget: QWidget, name: str, value: object) -> None:
    """Set a property that the style sheet looks at, and let it take effect."""
    widget.setProperty(name, value)
    widget.style().unpolish(widget)
    widget.style().polish(widget)
