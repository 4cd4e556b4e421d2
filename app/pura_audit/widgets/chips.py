"""The choosers of the header and the list behind each of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAction,
    QActionGroup,
    QColor,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QLabel, QMenu, QSizePolicy, QToolButton, QWidget

from pura_audit.platform.i18n import filled
from pura_audit.theme.theme import Theme
from pura_audit.widgets.card import restyle


class ChoiceMenu(QMenu):
    """Choices with a tick.

    Where several can be ticked the list stays open while they are, and the last one stays ticked.

    Signals:
        chosen: Place of the choice that was made, where only one can be.
        several_chosen: Places of all that are ticked, whenever that changes.
        manage_wanted: The last line, if there is one.
    """

    chosen = Signal(int)
    several_chosen = Signal(list)
    manage_wanted = Signal()

    def __init__(self, parent: QWidget, *, manage: str = "") -> None:
        super().__init__(parent)
        self._several, self._manage = False, manage
        self._choices: list[str] = []
        self._ticks: list[QAction] = []

    def fill(
        self, choices: Sequence[str], ticked: Collection[int], hint: str, *, several: bool
    ) -> None:
        """Show the choices; where they are the same as before only the ticks are set."""
        if list(choices) != self._choices or several != self._several or not choices:
            self._several = several
            self._rebuild(choices, hint)
        for place, action in enumerate(self._ticks):
            action.setChecked(place in ticked)

    def _rebuild(self, choices: Sequence[str], hint: str) -> None:
        self.clear()
        self._choices = list(choices)
        group = QActionGroup(self)
        group.setExclusive(not self._several)
        self._ticks = []
        for place, text in enumerate(choices):
            action = QAction(text.replace("&", "&&"), group)
            action.setCheckable(True)
            action.triggered.connect(lambda _checked=False, p=place: self._triggered(p))
            self.addAction(action)
            self._ticks.append(action)
        if not choices:
            self.addAction(hint).setEnabled(False)
        if self._manage:
            self.addSeparator()
            self.addAction(self._manage, self.manage_wanted.emit)

    def _triggered(self, place: int) -> None:
        if not self._several:
            self.chosen.emit(place)
            return
        ticked = [p for p, action in enumerate(self._ticks) if action.isChecked()]
        if not ticked:
            self._ticks[place].setChecked(True)
            return
        self.several_chosen.emit(ticked)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Tick without closing where several can be ticked."""
        action = self.actionAt(event.position().toPoint())
        if not self._tick(action):
            super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Tick with the space bar without closing."""
        space = event.key() == Qt.Key.Key_Space and event.type() == QEvent.Type.KeyPress
        if not (space and self._tick(self.activeAction())):
            super().keyPressEvent(event)

    def _tick(self, action: QAction | None) -> bool:
        if not self._several or action is None or action not in self._ticks:
            return False
        action.trigger()
        return True


MAX_CHIP = 248
FRAME = 28  # pixels beside the words
LEAST_VALUE = 56  # pixels of the choice beside what is chosen


class Chip(QToolButton):
    """A button that says what is chosen and opens the list of choices.

    Args:
        kind: What is chosen here.
        several: How the chip names several choices, ``{n:text}`` for their number; empty where
            only one can be made.
        manage: Last line of the list.

    Attributes:
        choices: The list; it tells what was chosen.
    """

    def __init__(self, kind: str, *, several: str = "", manage: str = "") -> None:
        super().__init__()
        self._kind, self._several = kind, several
        self._value, self._lacks = "", False
        self.setProperty("role", "chip")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMaximumWidth(MAX_CHIP)
        self.choices = ChoiceMenu(self, manage=manage)
        self.choices.setAccessibleName(kind)
        self.setMenu(self.choices)

    def set_choices(
        self,
        choices: Sequence[tuple[str, str]],
        current: Collection[int],
        missing: str,
        hint: str,
        *,
        lacking: bool = True,
        one: bool = False,
    ) -> None:
        """Fill the list.

        Args:
            choices: Title and remark of every choice.
            current: Places of those in use.
            missing: What the chip says when nothing is chosen.
            hint: What to do about that, shown in the list.
            lacking: Nothing chosen is a lack, and asks for attention.
            one: Of these choices only one can be made, also where several could be.
        """
        used = [choices[place] for place in sorted(current)]
        lines = [f"{title}\t{remark}" if remark else title for title, remark in choices]
        self.choices.fill(lines, current, hint, several=bool(self._several) and not one)
        self._value, self._lacks = missing, not used
        if used:
            self._value = used[0][0]
        if len(used) > 1:
            self._value = filled(self._several, n=len(used))
        restyle(self, "missing", lacking and not used)
        named = [f"{title} {remark}".strip() for title, remark in used] if len(used) > 1 else []
        self.setAccessibleName(f"{self._kind}: {', '.join(named) or self._value}")
        below = "\n".join(named) if named else used[0][1] if used else hint
        self.setToolTip(f"{self._kind}: {self._value}\n{below}")
        self._fit()

    def set_attention(self, *, attention: bool) -> None:
        """Mark a choice that does not go with the others."""
        if attention:
            restyle(self, "missing", True)

    def sizeHint(self) -> QSize:
        """Return the room that the whole text takes, up to the largest width of a chip."""
        metrics = QFontMetrics(self.font())
        whole = metrics.horizontalAdvance(self._whole()) + 36
        return QSize(min(whole, MAX_CHIP), 32)

    def minimumSizeHint(self) -> QSize:
        """Return a width of a few words."""
        return QSize(88, 32)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shorten the text to the room there is."""
        super().resizeEvent(event)
        self._fit()

    def _whole(self) -> str:
        return f"{self._kind}  {self._value}  ▾"

    def _fit(self) -> None:
        metrics = QFontMetrics(self.font())
        kind = f"{self._kind}  "
        least = min(LEAST_VALUE, metrics.horizontalAdvance(self._value))
        if self.width() - FRAME - metrics.horizontalAdvance(f"{kind}  ▾") < least:
            kind = ""  # the tool tip has both
        room = self.width() - FRAME - metrics.horizontalAdvance(f"{kind}  ▾")
        # What is chosen says more than of what kind it is; that nothing is chosen says less.
        words = self._kind if self._lacks and not kind else self._value
        value = metrics.elidedText(words, Qt.TextElideMode.ElideRight, max(0, room))
        self.setText(f"{kind}{value}  ▾".replace("&", "&&"))
        self.updateGeometry()


class DeviceBadge(QLabel):
    """Where the model runs; always on screen. A ring marks the processor, a disc a GPU."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
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
        restyle(self, "role", "attention" if bad else "muted")

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the mark before the words."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour: QColor = self._theme.colour("against" if self._bad else "muted")
        painter.setPen(colour)
        painter.setBrush(colour if self._filled else Qt.BrushStyle.NoBrush)
        painter.drawEllipse(QPointF(8, self.height() / 2), 4, 4)
