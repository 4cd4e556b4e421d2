"""The verbal scale with our place on it."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from pura.words.sentences import scale
from pura_audit.platform.i18n import language, number, translate
from pura_audit.theme import fonts
from pura_audit.theme.theme import Theme

TOP, BAND = 20, 34
HEIGHT = TOP + BAND + 18


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

    def show_place(self, word: str, log10_lr: float) -> None:
        """Mark our place.

        Args:
            word: Word of the scale in the record, English.
            log10_lr: Reported likelihood ratio; below 0 it supports H2.
        """
        rows = scale(language())
        words = [row.word for row in scale("en")]
        self._place = words.index(word) if word in words else None
        if self._place is None:
            self.update()
            return
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
        """Draw the steps, and the likelihood ratios at which they begin."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rows = scale(language())
        painter.setPen(self._theme.colour("muted"))
        painter.setFont(fonts.face(fonts.LABEL))
        painter.drawText(
            QRectF(0, 0, self.width(), 16), Qt.AlignmentFlag.AlignLeft, self._heading()
        )
        boxes = self._boxes([row.word for row in rows])
        order = [i for i in range(len(rows)) if i != self._place]
        # The reached step comes last: its frame lies over its neighbours'.
        for place in order + ([self._place] if self._place is not None else []):
            self._step(painter, boxes[place], rows[place].word, reached=place == self._place)
        painter.setPen(self._theme.colour("muted"))
        painter.setFont(fonts.face(fonts.LABEL))
        for box, row in zip(boxes[1:], rows[1:], strict=True):
            mark = QRectF(box.left() - 40, TOP + BAND + 3, 80, 14)
            painter.drawText(mark, Qt.AlignmentFlag.AlignCenter, number(round(10**row.low)))

    def _boxes(self, words: list[str]) -> list[QRectF]:
        """Share the width so that every word has its two lines, the rest in equal parts."""
        metrics = QFontMetricsF(fonts.face(fonts.LABEL, strong=True))
        least = []
        for word in words:
            parts = [metrics.horizontalAdvance(part) for part in word.split()]
            least.append(max(*parts, 0.6 * metrics.horizontalAdvance(word)) + 12)
        share = max(0.0, self.width() - 1 - sum(least)) / len(words)
        shrink = min(1.0, (self.width() - 1) / sum(least))
        boxes, x = [], 0.5
        for width in least:
            boxes.append(QRectF(x, TOP + 0.5, width * shrink + share, BAND))
            x += width * shrink + share
        return boxes

    def _step(self, painter: QPainter, box: QRectF, word: str, *, reached: bool) -> None:
        painter.setPen(QPen(self._theme.colour("accent" if reached else "line"), 1 + reached))
        painter.setBrush(self._theme.colour("accent_soft" if reached else "background"))
        painter.drawRoundedRect(box, 3 * reached, 3 * reached)
        painter.setPen(self._theme.colour("text" if reached else "muted"))
        painter.setFont(fonts.face(fonts.LABEL, strong=reached))
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(box.adjusted(3, 1, -3, -1), flags, word)
