"""The choosers of the header and their menus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

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

from pura_audit.theme.theme import Theme
from pura_audit.widgets.card import restyle

Choice: TypeAlias = tuple[str, str, bool]
"""A choice: its title, a remark, and whether it is ticked."""


class ChoiceMenu(QMenu):
    """A menu of choices with a tick.

    If several choices can be ticked, the menu stays open meanwhile, and the last tick cannot be
    removed.

    Signals:
        chosen: The user made the only possible choice; carries its index.
        several_chosen: The ticks changed; carries the indexes of the ticked choices.
        more_wanted: The user chose the line above the last one, if the menu has it.
        manage_wanted: The user chose the last line, if the menu has it.
    """

    chosen = Signal(int)
    several_chosen = Signal(list)
    more_wanted = Signal()
    manage_wanted = Signal()

    def __init__(
        self,
        parent: QWidget,
        kind: str,
        *,
        further: str = "",
        manage: str = "",
        below: Sequence[QMenu] = (),
    ) -> None:
        super().__init__(kind, parent)
        self.kind = kind
        self.setAccessibleName(kind)
        self._several, self._more, self._manage, self._below = False, further, manage, below
        self._exclusive = True
        self._choices: list[str] = []
        self._ticks: list[QAction] = []

    def fill(
        self, choices: Sequence[Choice], hint: str, *, several: bool = False, instead: str = ""
    ) -> str:
        """Show the choices; if only the ticks changed, update these alone.

        Args:
            choices: The choices.
            hint: Shown if there are no choices.
            several: Whether more than one choice can be ticked.
            instead: Name of the value in use if nothing is ticked.

        Returns:
            What is ticked, or stands in for it; the title of the menu says it.
        """
        lines = [f"{title}\t{remark}" if remark else title for title, remark, _ in choices]
        # A choice replaces all that is ticked, but what was chosen elsewhere can be several.
        exclusive = not several and sum(ticked for *_, ticked in choices) <= 1
        before = (self._choices, self._several, self._exclusive)
        if (lines, several, exclusive) != before or not choices:
            self._several, self._exclusive = several, exclusive
            self._rebuild(lines, hint)
        for action, (*_, ticked) in zip(self._ticks, choices, strict=True):
            action.setChecked(ticked)
        used = ", ".join(title for title, _, ticked in choices if ticked) or instead
        self.setTitle(f"{self.kind}: {used}".replace("&", "&&"))
        return used

    def _rebuild(self, choices: Sequence[str], hint: str) -> None:
        self.clear()
        self._choices = list(choices)
        group = QActionGroup(self)
        group.setExclusive(self._exclusive)
        self._ticks = []
        for index, text in enumerate(choices):
            action = QAction(text.replace("&", "&&"), group)
            action.setCheckable(True)
            action.triggered.connect(lambda _checked=False, p=index: self._triggered(p))
            self.addAction(action)
            self._ticks.append(action)
        if not choices:
            self.addAction(hint).setEnabled(False)
        if self._below:
            self.addSeparator()
            for menu in self._below:
                self.addMenu(menu)
        if self._more or self._manage:
            self.addSeparator()
        if self._more:
            self.addAction(self._more, self.more_wanted.emit)
        if self._manage:
            self.addAction(self._manage, self.manage_wanted.emit)

    def _triggered(self, index: int) -> None:
        if not self._several:
            self.chosen.emit(index)
            return
        ticked = [p for p, action in enumerate(self._ticks) if action.isChecked()]
        if not ticked:
            self._ticks[index].setChecked(True)
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


MAX_CHIP = 420  # pixels of the widest chooser
LEAST_CHIP = 200  # so wide from the beginning: it does not grow when it is known what is chosen
FRAME = 44  # pixels beside the words
LEAST_VALUE = 56  # pixels of the choice beside what is chosen


class Chip(QToolButton):
    """A button that shows a choice and opens its menu.

    Args:
        kind: Name of the kind of choice, for example the model.
    """

    def __init__(self, kind: str) -> None:
        super().__init__()
        self._kind, self._value = kind, ""
        self.setProperty("role", "chip")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMaximumWidth(MAX_CHIP)

    def show_value(self, value: str, details: str, *, attention: bool = False) -> None:
        """Show a choice.

        Args:
            value: The choice in a few words.
            details: One detail a line, for the tooltip and screen readers.
            attention: Whether the choice was changed by hand, is incomplete or contradictory.
        """
        self._value = value
        restyle(self, "missing", attention)
        self.setAccessibleName(f"{self._kind}: {value}")
        self.setAccessibleDescription(details.replace("\n", ". "))
        self.setToolTip(f"{self._kind}: {value}\n{details}")
        self._fit()

    def sizeHint(self) -> QSize:
        """Return the width of the full text, up to the maximum of a chip."""
        metrics = QFontMetrics(self.font())
        full_width = metrics.horizontalAdvance(self._whole()) + FRAME + 8
        return QSize(max(LEAST_CHIP, min(full_width, MAX_CHIP)), 32)

    def minimumSizeHint(self) -> QSize:
        """Return a width of a few words."""
        return QSize(88, 32)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shorten the text to the new width."""
        super().resizeEvent(event)
        self._fit()

    def _whole(self) -> str:
        return f"{self._kind}  {self._value}"

    def _fit(self) -> None:
        metrics = QFontMetrics(self.font())
        kind = f"{self._kind}  "
        smallest = min(LEAST_VALUE, metrics.horizontalAdvance(self._value))
        if self.width() - FRAME - metrics.horizontalAdvance(kind) < smallest:
            kind = ""  # the tool tip has both
        room = self.width() - FRAME - metrics.horizontalAdvance(kind)
        short = metrics.elidedText(self._value, Qt.TextElideMode.ElideRight, max(0, room))
        self.setText(f"{kind}{short}".replace("&", "&&"))
        self.updateGeometry()


class DeviceBadge(QLabel):
    """Shows where the model runs. A ring marks the processor, a disc a GPU."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._filled = False
        self._bad = False
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setContentsMargins(18, 0, 0, 0)
        self.setProperty("role", "muted")

    def show_device(self, text: str, tip: str, *, gpu: bool, bad: bool = False) -> None:
        """Show which device is in use and why."""
        self._filled, self._bad = gpu, bad
        self.setText(text)
        self.setToolTip(tip)
        self.setAccessibleName(text)
        restyle(self, "role", "attention" if bad else "muted")

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the sign before the text."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour: QColor = self._theme.colour("against" if self._bad else "muted")
        painter.setPen(colour)
        painter.setBrush(colour if self._filled else Qt.BrushStyle.NoBrush)
        painter.drawEllipse(QPointF(8, self.height() / 2), 4, 4)
