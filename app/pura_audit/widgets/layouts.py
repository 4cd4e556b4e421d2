"""Layouts: lines of widgets that break, parts that scroll, groups that fold away."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLayout,
    QLayoutItem,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from pura_audit.platform.i18n import translate
from pura_audit.theme.fonts import icon
from pura_audit.theme.theme import GAP, GRID
from pura_audit.widgets.card import ElidedLabel


class FlowLayout(QLayout):
    """Places widgets from left to right, and on the next line where there is no more room."""

    def __init__(self, parent: QWidget | None = None, spacing: int = GRID) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setSpacing(spacing)
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:
        """Take an item."""
        self._items.append(item)

    def count(self) -> int:
        """Return how many items there are."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """Return an item."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Give an item up."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def clear(self) -> None:
        """Remove all widgets."""
        while self._items:
            widget = self._items.pop().widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()

    def expandingDirections(self) -> Qt.Orientation:
        """Return that no room is asked for."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """Return that the height follows the width."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height at a width."""
        return self._place(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:
        """Place the widgets."""
        super().setGeometry(rect)
        self._place(rect, move=True)

    def sizeHint(self) -> QSize:
        """Return the room of the largest widget."""
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        """Return the room of the largest widget."""
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        return size

    def _place(self, rect: QRect, *, move: bool) -> int:
        x, y, tall = rect.x(), rect.y(), 0
        for item in self._items:
            hint = item.sizeHint()
            if x > rect.x() and x + hint.width() > rect.right() + 1:
                x, y, tall = rect.x(), y + tall + self.spacing(), 0
            if move:
                item.setGeometry(QRect(QPoint(x, y), hint))
            x += hint.width() + self.spacing()
            tall = max(tall, hint.height())
        return y + tall - rect.y()


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


class Fold(QWidget):
    """A heading, and below it what it stands for.

    Attributes:
        head: The heading; pressing it opens or folds.
        body: Layout for the content.

    Signals:
        toggled: It was opened or folded.
    """

    toggled = Signal(bool)

    def __init__(
        self,
        title: str,
        *,
        opened: bool = False,
        ruled: bool = True,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._title = title
        self.head = QPushButton(title)
        self.head.setProperty("role", "fold")
        self.head.setAutoDefault(False)
        self.head.setCheckable(True)
        self.head.setCursor(Qt.CursorShape.PointingHandCursor)
        self.head.toggled.connect(self._toggle)
        self.aside = ElidedLabel()
        self.aside.setProperty("role", "muted")
        self.aside.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._inside = QWidget()
        self.body = QVBoxLayout(self._inside)
        self.body.setContentsMargins(0, GRID // 2, 0, GAP)
        self.body.setSpacing(GRID)
        row = QHBoxLayout()
        row.setSpacing(GAP)
        row.addWidget(self.head)
        row.addWidget(self.aside, 1)
        line = QFrame()
        line.setProperty("role", "rule")
        line.setVisible(ruled)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID // 2)
        layout.addLayout(row)
        layout.addWidget(self._inside)
        layout.addWidget(line)
        self.head.setChecked(opened)
        self._toggle(opened)

    def open(self) -> None:
        """Unfold it."""
        self.head.setChecked(True)

    def fold(self) -> None:
        """Leave only its heading."""
        self.head.setChecked(False)

    def retitle(self, title: str) -> None:
        """Give it another heading."""
        self._title = title
        self.head.setText(title)
        self._name()

    def tell(self, words: str) -> None:
        """Say in a few words what is in it."""
        self.aside.setText(words)
        self._name()

    def changeEvent(self, event: QEvent) -> None:
        """Follow the colours."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._draw()

    def _toggle(self, opened: bool) -> None:
        self._inside.setVisible(opened)
        self._draw()
        self._name()
        self.toggled.emit(opened)

    def _draw(self) -> None:
        colour = self.palette().color(QPalette.ColorRole.PlaceholderText).name()
        self.head.setIcon(icon("up" if self.head.isChecked() else "down", colour))

    def _name(self) -> None:
        opened = (
            translate("Report", "open")
            if self.head.isChecked()
            else (translate("Report", "folded"))
        )
        parts = (self._title, self.aside.text(), opened)
        self.head.setAccessibleName(", ".join(part for part in parts if part))
