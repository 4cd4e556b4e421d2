"""A card: one question, its title, a remark at the right, and what answers it."""

from __future__ import annotations

import html

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from pura_audit.theme.theme import FOCUS_RING, GRID, PADDING
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
        above = max(GRID, inner - GRID)
        layout.setContentsMargins(inner, above, inner, above)
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


class ScrollCard(Card):
    """A card whose content scrolls where the window is too low for it.

    Attributes:
        column: Layout for the content.
        scroll_area: Holds it.

    Args:
        widest: Lines are no longer than this, in pixels.
        above: Margin above the content, in pixels.
        below: Margin below it.
    """

    def __init__(
        self,
        parent: QWidget | None = None,
        *,
        widest: int = 16_777_215,
        above: int = 20,
        below: int = 20,
    ) -> None:
        super().__init__("", parent)
        self._widest = widest
        self.frame_layout.setContentsMargins(0, 0, 0, 0)
        self.frame_layout.setSpacing(0)
        self.body.setSpacing(0)
        inside = QWidget()
        inside.setMaximumWidth(widest)
        self.column = QVBoxLayout(inside)
        self.column.setContentsMargins(PADDING, above, PADDING, below)
        self.column.setSpacing(GRID)
        self.scroll_area = QScrollArea()
        self.scroll_area.setWidgetResizable(True)
        self.scroll_area.setFrameShape(QScrollArea.Shape.NoFrame)
        self.scroll_area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.scroll_area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.scroll_area.viewport().installEventFilter(self)
        self.scroll_area.setWidget(inside)
        self.body.addWidget(self.scroll_area, 1)

    def natural_height(self, width: int) -> int:
        """Return the height at which nothing scrolls."""
        ring = 2 * FOCUS_RING
        narrow = PADDING - self.column.contentsMargins().right()  # while there is a scroll bar
        wide = min(self._widest, max(200, width - 2 - ring)) - narrow
        return self.column.totalHeightForWidth(wide) + 4 + ring

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take from the margin what the scroll bar takes from the width.

        Else the bar would take the room of a word, the sentence a line more, and that line the
        bar.
        """
        if event.type() == QEvent.Type.Resize:
            area = self.scroll_area
            whole = min(self._widest, area.maximumViewportSize().width())
            margins = self.column.contentsMargins()
            margins.setRight(max(0, PADDING - max(0, whole - area.viewport().width())))
            self.column.setContentsMargins(margins)
        return super().eventFilter(watched, event)


def set_tip(widget: QWidget, *paragraphs: str) -> None:
    """Say in a tooltip, and to a screen reader, what a widget shows.

    The tooltip is rich text so that Qt breaks its lines; a screen reader would read the marks.
    """
    widget.setToolTip("".join(f"<p>{html.escape(one, quote=False)}</p>" for one in paragraphs))
    widget.setAccessibleDescription("\n".join(paragraphs))


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
