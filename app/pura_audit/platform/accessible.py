"""Accessibility of widgets that paint themselves: their roles, and announcements."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAccessibleInterface
from PySide6.QtWidgets import QAccessibleWidget, QLabel, QScrollArea, QWidget

_ROLE: Final = "accessible-role"


def install() -> None:
    """Register the roles of this module with Qt."""
    QAccessible.installFactory(_interface)


def set_role(widget: QWidget, role: QAccessible.Role) -> None:
    """Set the accessible role of a widget."""
    widget.setProperty(_ROLE, role.value)


def announce(widget: QWidget, message: str) -> None:
    """Let a screen reader announce a message."""
    if message and QAccessible.isActive():
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, message))


def _interface(_kind: str, widget: QObject) -> QAccessibleInterface | None:
    if not isinstance(widget, QWidget):
        return None
    if (role_code := widget.property(_ROLE)) is None:
        area = isinstance(widget, QScrollArea)  # Qt has no role for it
        return QAccessibleWidget(widget, QAccessible.Role.Section) if area else None
    match role := QAccessible.Role(role_code):
        case QAccessible.Role.Heading:
            return _Heading(widget, role)
        case QAccessible.Role.Chart | QAccessible.Role.Graphic | QAccessible.Role.Document:
            return _Picture(widget, role)
    return QAccessibleWidget(widget, role)


class _Heading(QAccessibleWidget):
    """The accessible interface of a heading."""

    def text(self, kind: QAccessible.Text) -> str:
        heading = self.widget()
        if kind is QAccessible.Text.Name and isinstance(heading, QLabel):
            return heading.accessibleName() or heading.text()
        return super().text(kind)


class _Picture(QAccessibleWidget):
    """The accessible interface of a picture, whose child widgets are left out."""

    def childCount(self) -> int:
        return 0
