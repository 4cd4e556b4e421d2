"""What screen readers are told of widgets that draw themselves: their role, what has happened."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAccessibleInterface
from PySide6.QtWidgets import QAccessibleWidget, QLabel, QScrollArea, QWidget

_ROLE: Final = "accessible-role"


def install() -> None:
    """Let Qt ask here first what a widget is."""
    QAccessible.installFactory(_interface)


def set_role(widget: QWidget, role: QAccessible.Role) -> None:
    """Say what a widget is."""
    widget.setProperty(_ROLE, role.value)


def announce(widget: QWidget, words: str) -> None:
    """Have a screen reader say what has happened, wherever its user is."""
    if words and QAccessible.isActive():
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, words))


def _interface(_kind: str, thing: QObject) -> QAccessibleInterface | None:
    if not isinstance(thing, QWidget):
        return None
    if (value := thing.property(_ROLE)) is None:
        area = isinstance(thing, QScrollArea)  # Qt has no role for it
        return QAccessibleWidget(thing, QAccessible.Role.Section) if area else None
    match role := QAccessible.Role(value):
        case QAccessible.Role.Heading:
            return _Heading(thing, role)
        case QAccessible.Role.Chart | QAccessible.Role.Graphic | QAccessible.Role.Document:
            return _Picture(thing, role)
    return QAccessibleWidget(thing, role)


class _Heading(QAccessibleWidget):
    """A label that says what stands below it."""

    def text(self, kind: QAccessible.Text) -> str:
        found = self.widget()
        if kind is QAccessible.Text.Name and isinstance(found, QLabel):
            return found.accessibleName() or found.text()
        return super().text(kind)


class _Picture(QAccessibleWidget):
    """Its name and description say all: what it is drawn with says nothing."""

    def childCount(self) -> int:
        return 0
