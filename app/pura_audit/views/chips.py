"""The choosers of the header: key, model and profile, and the badge of the device."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QMenu, QSizePolicy, QToolButton, QWidget

from pura_audit.theme import Theme

MAX_CHIP = 248


class Chip(QToolButton):
    """A button that says what is chosen and opens the list of choices.

    Signals:
        chosen: Place of the choice in the list.
    """

    chosen = Signal(int)

    def __init__(self, kind: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._kind = kind
        self._value = ""
        self.setProperty("role", "chip")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMaximumWidth(MAX_CHIP)
        self._menu = QMenu(self)
        self._menu.setAccessibleName(kind)
        self.setMenu(self._menu)

    def set_choices(
        self, choices: Sequence[tuple[str, str]], current: int, missing: str, hint: str
    ) -> None:
        """Fill the list.

        Args:
            choices: Title and remark of every choice.
            current: Place of the one in use, -1 for none.
            missing: What the chip says when nothing is chosen.
            hint: What to do about that, shown in the list.
        """
        self._menu.clear()
        group = QActionGroup(self._menu)
        for place, (title, remark) in enumerate(choices):
            text = f"{title}\t{remark}" if remark else title
            action = QAction(text.replace("&", "&&"), group)
            action.setCheckable(True)
            action.setChecked(place == current)
            action.triggered.connect(lambda _checked=False, p=place: self.chosen.emit(p))
            self._menu.addAction(action)
        if not choices:
            self._menu.addAction(hint).setEnabled(False)
        self._value = choices[current][0] if 0 <= current < len(choices) else missing
        self.setProperty("missing", current < 0)
        self.style().unpolish(self)
        self.style().polish(self)
        self.setAccessibleName(f"{self._kind}: {self._value}")
        remark = choices[current][1] if 0 <= current < len(choices) else hint
        self.setToolTip(f"{self._kind}: {self._value}\n{remark}")
        self._fit()

    def sizeHint(self) -> QSize:
        """Return the room that the whole text takes, up to the largest width of a chip."""
        metrics = QFontMetrics(self.font())
        whole = metrics.horizontalAdvance(self._whole()) + 36
        return QSize(min(whole, MAX_CHIP), 32)

    def minimumSizeHint(self) -> QSize:
        """Return a width of a few words."""
        return QSize(88, 32)

    def resizeEvent(self, event: object) -> None:
        """Shorten the text to the room there is."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._fit()

    def _whole(self) -> str:
        return f"{self._kind}  {self._value}  ▾"

    def _fit(self) -> None:
        metrics = QFontMetrics(self.font())
        frame = metrics.horizontalAdvance(f"{self._kind}    ▾") + 28
        value = metrics.elidedText(
            self._value, Qt.TextElideMode.ElideRight, max(24, self.width() - frame)
        )
        self.setText(f"{self._kind}  {value}  ▾".replace("&", "&&"))
        self.updateGeometry()


class DeviceBadge(QLabel):
    """Where the model runs; always on screen. A ring marks the processor, a disc a GPU."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._filled = False
        self._bad = False
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setContentsMargins(18, 0, 0, 0)
        self.setProperty("role", "muted")

    def show_device(self, text: str, tip: str, *, gpu: bool, bad: bool = False) -> None:
        """Say which device is in use and why."""
        self._filled, self._bad = gpu, bad
        self.setText(text)
        self.setToolTip(tip)
        self.setAccessibleName(f"{text}. {tip}")
        self.setProperty("role", "attention" if bad else "muted")
        self.style().unpolish(self)
        self.style().polish(self)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the mark before the words."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour: QColor = self._theme.colour("against" if self._bad else "muted")
        painter.setPen(colour)
        painter.setBrush(colour if self._filled else Qt.BrushStyle.NoBrush)
        painter.drawEllipse(QPointF(8, self.height() / 2), 4, 4)
