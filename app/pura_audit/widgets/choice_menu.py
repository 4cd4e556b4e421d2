"""The list behind a chip: one choice of several, or several at once."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QMenu, QWidget


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
            manage = self.addAction(self._manage)
            manage.triggered.connect(lambda _=False: self.manage_wanted.emit())

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
