"""A one-line label that shortens its text instead of pushing its neighbours away."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QStyle, QStyleOption, QWidget


class ElidedLabel(QLabel):
    """Shows ``…`` where there is no room; the whole text is the tool tip and the spoken name."""

    def __init__(
        self,
        text: str = "",
        parent: QWidget | None = None,
        *,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> None:
        super().__init__(parent)
        self._mode = mode
        self._full = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setText(text)

    def setText(self, text: str) -> None:
        """Set the whole text; line breaks become blanks."""
        self._full = " ".join(text.split("\n"))
        super().setText(self._full)
        self.setAccessibleName(self._full)
        self._tip()

    def minimumSizeHint(self) -> QSize:
        """Return a width of a few characters only."""
        hint = super().minimumSizeHint()
        return QSize(min(hint.width(), self.fontMetrics().averageCharWidth() * 4), hint.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show a tool tip when the text is shortened."""
        super().resizeEvent(event)
        self._tip()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the shortened text in the colour of the style sheet."""
        painter = QPainter(self)
        option = QStyleOption()
        option.initFrom(self)
        style = self.style()
        style.drawPrimitive(QStyle.PrimitiveElement.PE_Widget, option, painter, self)
        rect = self.contentsRect()
        text = self.fontMetrics().elidedText(self._full, self._mode, rect.width())
        style.drawItemText(
            painter,
            rect,
            int(self.alignment()),
            option.palette,
            self.isEnabled(),
            text,
            self.foregroundRole(),
        )

    def _tip(self) -> None:
        room = self.contentsRect().width()
        short = self.fontMetrics().horizontalAdvance(self._full) > room > 0
        self.setToolTip(self._full if short else "")
