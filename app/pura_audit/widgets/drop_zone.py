"""The corner that invites files, and the words for what may be dropped."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from pura_audit.platform.i18n import translate
from pura_audit.widgets.card import label


def dropped_paths(data: QMimeData) -> list[Path]:
    """Return the local files and folders of a drop or a paste."""
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]


def acceptable(data: QMimeData) -> bool:
    """Whether there is something to audit in it."""
    return bool(dropped_paths(data)) or data.hasText()


class DropZone(QFrame):
    """An invitation; the whole window takes drops.

    Signals:
        open_wanted: It was clicked.
    """

    open_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("dropzone")
        self.setAccessibleName(translate("Drop", "Drop files or a folder here"))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 14, 12, 14)
        layout.setSpacing(4)
        first = label(translate("Drop", "Drop files or a folder"), "value")
        second = label(translate("Drop", "or paste a text · text, Word, PDF"), "small")
        for line in (first, second):
            line.setAlignment(Qt.AlignmentFlag.AlignCenter)
            layout.addWidget(line)

    def mousePressEvent(self, event: object) -> None:
        """Open the file dialog."""
        self.open_wanted.emit()
