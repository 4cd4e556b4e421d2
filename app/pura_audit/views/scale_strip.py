"""The verbal scale with our place on it."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from pura.audit.sentences import scale
from pura_audit import fonts
from pura_audit.i18n import language, translate
from pura_audit.theme import Theme

HEIGHT = 58


class ScaleStrip(QWidget):
    """Seven steps from no support to extremely strong; the reached one is framed and bold."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._place: int | None = None
        self._against = False
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """Return the room that two lines of words need."""
        return QSize(560, HEIGHT)

    def minimumSizeHint(self) -> QSize:
        """Return the least room."""
        return QSize(320, HEIGHT)

    def show_place(self, log10_lr: float) -> None:
        """Mark the step of a reported likelihood ratio (log10)."""
        rows = scale(language())
        size = abs(log10_lr) + 1e-9
        self._place = max(i for i, row in enumerate(rows) if size >= row.low)
        self._against = log10_lr < 0 and self._place > 0
        row = rows[self._place]
        self.setAccessibleName(translate("Answer", "Scale of support"))
        self.setAccessibleDescription(f"{row.word} ({row.range}). {self._heading()}")
        self.setToolTip("\n".join(f"{r.word}: {r.range}" for r in rows))
        self.update()

    def _heading(self) -> str:
        if self._against:
            return translate("Answer", "support for H2 over H1")
        return translate("Answer", "support for H1 over H2")

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the steps."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rows = scale(language())
        width = (self.width() - 1) / len(rows)
        painter.setPen(self._theme.colour("muted"))
        painter.setFont(fonts.face(fonts.LABEL))
        painter.drawText(
            QRectF(0, 0, self.width(), 16), Qt.AlignmentFlag.AlignLeft, self._heading()
        )
        for place, row in enumerate(rows):
            box = QRectF(place * width + 0.5, 20.5, width, HEIGHT - 22)
            reached = place == self._place
            painter.setPen(QPen(self._theme.colour("line"), 1))
            painter.setBrush(self._theme.colour("background"))
            painter.drawRect(box)
            painter.setPen(self._theme.colour("text" if reached else "muted"))
            painter.setFont(fonts.face(fonts.LABEL, strong=reached))
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            if not reached:
                painter.drawText(box.adjusted(3, 1, -3, -1), flags, row.word)
        if self._place is not None:
            box = QRectF(self._place * width + 0.5, 20.5, width, HEIGHT - 22)
            painter.setPen(QPen(self._theme.colour("accent"), 2))
            painter.setBrush(self._theme.colour("accent_soft"))
            painter.drawRoundedRect(box, 3, 3)
            painter.setPen(self._theme.colour("text"))
            painter.setFont(fonts.face(fonts.LABEL, strong=True))
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(box.adjusted(3, 1, -3, -1), flags, rows[self._place].word)
