"""Small dialogs that are as high as their words need, in every language."""

from __future__ import annotations

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog


class FittedDialog(QDialog):
    """A dialog that takes the height its layout needs at its width, when it comes up.

    Qt guesses the height of wrapped words for a width of its own choosing, and forgets the layout's
    smallest width once a dialog has one of its own.
    """

    def showEvent(self, event: QShowEvent) -> None:
        """Take the size that fits."""
        super().showEvent(event)
        layout = self.layout()
        if layout is None:
            return
        width = max(self.width(), layout.totalMinimumSize().width())
        height = layout.totalMinimumSize().height()
        if layout.hasHeightForWidth():
            height = max(height, layout.totalHeightForWidth(width))
        self.resize(width, height)
