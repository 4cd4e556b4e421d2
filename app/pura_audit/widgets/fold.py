"""A group of fields that folds away behind its heading, which then says what is in it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from pura_audit.platform.i18n import translate
from pura_audit.theme.icons import icon
from pura_audit.theme.theme import GAP, GRID
from pura_audit.widgets.elided import ElidedLabel


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
