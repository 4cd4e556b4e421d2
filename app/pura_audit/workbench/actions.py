"""Every action of the window, its words and its shortcut; menus and the shortcut list read it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from pura_audit.platform.i18n import translate


@dataclass(frozen=True)
class Command:
    """One thing that can be done.

    Attributes:
        name: For programs.
        words: For people.
        act: What it does.
        keys: Shortcuts, as Qt writes them, spaces between them.
        apart: A line stands above it in the menu.
    """

    name: str
    words: str
    act: Callable[[], object]
    keys: str = ""
    apart: bool = False


def build(parent: QWidget, commands: dict[str, list[Command]]) -> tuple[dict[str, QAction], QMenu]:
    """Make actions of commands and a menu with the submenus that they stand in."""
    actions: dict[str, QAction] = {}
    menu = QMenu(parent)
    menu.setAccessibleName(translate("Menu", "Menu"))
    for title, listed in commands.items():
        submenu = menu.addMenu(title)
        for command in listed:
            action = QAction(command.words, parent)
            action.setObjectName(command.name)
            action.setShortcuts([QKeySequence(k) for k in command.keys.split()])
            action.triggered.connect(lambda _checked=False, act=command.act: act())
            parent.addAction(action)
            actions[command.name] = action
            if command.apart:
                submenu.addSeparator()
            submenu.addAction(action)
    return actions, menu


def shortcut_rows(actions: dict[str, QAction]) -> list[tuple[str, str]]:
    """Return words and keys of every action that has a shortcut."""
    native = QKeySequence.SequenceFormat.NativeText
    return [
        (
            action.text().replace("…", "").replace("&", "").strip(),
            ", ".join(k.toString(native) for k in action.shortcuts()),
        )
        for action in actions.values()
        if action.shortcuts()
    ]
