"""The part of a dialog that scrolls where the screen is too low for all of it."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtWidgets import QLayout, QScrollArea, QSizePolicy, QWidget

LEAST: Final = 120  # pixels that stay in sight


class Scrolled(QScrollArea):
    """Takes the height that its content needs, and less where there is less.

    Args:
        content: What stands in it.
    """

    def __init__(self, content: QLayout) -> None:
        super().__init__()
        self._content = content
        inside = QWidget()
        inside.setLayout(content)
        content.setContentsMargins(0, 0, 0, 0)
        inside.installEventFilter(self)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidgetResizable(True)
        self.setWidget(inside)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Hear that the content needs another height."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)

    def heightForWidth(self, width: int) -> int:
        """Return the height that the content needs at a width."""
        if self._content.hasHeightForWidth():
            return self._content.totalHeightForWidth(width)
        return self._content.totalSizeHint().height()

    def sizeHint(self) -> QSize:
        """Return what the content needs."""
        return self._content.totalSizeHint()

    def minimumSizeHint(self) -> QSize:
        """Return the width that the content needs beside a bar, and a height to scroll in."""
        least = self._content.totalMinimumSize()
        bar = self.verticalScrollBar().sizeHint().width()
        return QSize(least.width() + bar, min(least.height(), LEAST))
