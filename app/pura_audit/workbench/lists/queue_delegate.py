"""Draws a row of the queue: state glyph, name, what became of it, size, progress."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from pura_audit.platform.i18n import translate
from pura_audit.session.items import Item, ItemState
from pura_audit.session.queue_model import (
    ITEM_ROLE,
    measure_words,
    review_words,
    saved_words,
    standing_words,
    verdict_words,
)
from pura_audit.theme import fonts
from pura_audit.theme.theme import Theme

ROW: Final = 56
_VERDICTS: Final = {
    "mark": ("✓", "found"),
    "indication": ("!", "against"),
    "no-mark": ("–", "muted"),
    "insufficient": ("?", "muted"),
    "not-examinable": ("✕", "muted"),
}
_STATES: Final = {
    ItemState.LOADING: ("…", "muted"),
    ItemState.READY: ("·", "muted"),
    ItemState.WAITING: ("·", "muted"),
    ItemState.RUNNING: ("…", "accent"),
    ItemState.FAILED: ("!", "against"),
    ItemState.CANCELLED: ("✕", "muted"),
    ItemState.INTERRUPTED: ("‖", "against"),
}


def _to_do() -> tuple[str, str]:
    return translate("Queue", "to review"), translate("Queue", "disputed")


def glyph(item: Item) -> tuple[str, str]:
    """Return a row's sign and the token of its colour; the sign alone tells the state."""
    if item.state is ItemState.DONE and item.finding is not None:
        return _VERDICTS[item.finding.verdict]
    return _STATES.get(item.state, ("·", "muted"))


class QueueDelegate(QStyledItemDelegate):
    """Paints rows; folded, only their signs."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.folded = False

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        """Return the height of a row."""
        return QSize(48, 48 if self.folded else ROW)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Draw one row."""
        item = index.data(ITEM_ROLE)
        if not isinstance(item, Item):
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._ground(painter, option)
        sign, tone = glyph(item)
        box: QRect = option.rect
        painter.setFont(fonts.face(fonts.READING, strong=True))
        painter.setPen(self._theme.colour(tone))
        width = box.width() if self.folded else 40
        painter.drawText(
            QRect(box.left(), box.top(), width, box.height()), Qt.AlignmentFlag.AlignCenter, sign
        )
        if not self.folded:
            self._words(painter, box.adjusted(40, 9, -12, -9), item, tone)
        painter.restore()

    def _ground(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        box = option.rect.adjusted(0, 1, 0, -1)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        if selected or option.state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.colour("accent_soft" if selected else "card"))
            painter.drawRoundedRect(box, 6, 6)
        if selected:
            painter.setBrush(self._theme.colour("accent"))
            painter.drawRoundedRect(box.left(), box.top() + 8, 3, box.height() - 16, 1.5, 1.5)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(self._theme.colour("accent"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), 6, 6)

    def _words(self, painter: QPainter, box: QRect, item: Item, tone: str) -> None:
        top, bottom = box.adjusted(0, 0, 0, -20), box.adjusted(0, 19, 0, 0)
        self._line(
            painter, top, item.name, fonts.face(fonts.BODY, medium=True), "text", middle=True
        )
        small = fonts.face(fonts.LABEL)
        measure = standing_words(item) or measure_words(item)
        words = verdict_words(item)
        metrics = QFontMetrics(small)
        room = metrics.horizontalAdvance(measure) + 8 if measure else 0
        if metrics.horizontalAdvance(words) > bottom.width() - room:
            # The verdict goes first; beside a finding stands at least what is still to be done.
            measure = review_words(item) or saved_words(item)
            room = metrics.horizontalAdvance(measure) + 8 if measure else 0
        self._line(painter, bottom.adjusted(0, 0, -room, 0), words, small, tone)
        left = item.finding is not None and (item.unkept or review_words(item) in _to_do())
        painter.setPen(self._theme.colour("against" if left else "muted"))
        painter.drawText(
            bottom, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, measure
        )
        progress = item.progress
        if item.state is ItemState.RUNNING and progress is not None and progress.total:
            self._bar(painter, bottom, progress.done / progress.total)

    def _line(
        self,
        painter: QPainter,
        box: QRect,
        text: str,
        font: QFont,
        tone: str,
        *,
        middle: bool = False,
    ) -> None:
        painter.setFont(font)
        painter.setPen(self._theme.colour(tone))
        mode = Qt.TextElideMode.ElideMiddle if middle else Qt.TextElideMode.ElideRight
        shown = painter.fontMetrics().elidedText(text, mode, box.width())
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)

    def _bar(self, painter: QPainter, box: QRect, share: float) -> None:
        track = QRect(box.left(), box.bottom() + 4, box.width(), 2)
        ground = QColor(self._theme.tokens.muted)
        ground.setAlphaF(0.35)  # seen on a selected row as well
        painter.fillRect(track, ground)
        track.setWidth(max(4, round(track.width() * max(0.0, min(1.0, share)))))
        painter.fillRect(track, self._theme.colour("accent"))
