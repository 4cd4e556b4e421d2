"""What a dialog or a feature may ask of the window that it was opened from."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from pura_audit.session.selection import Selection
from pura_audit.session.session import Session
from pura_audit.theme.theme import Mode, Theme


class Host(Protocol):
    """The window, as its features know it.

    Attributes:
        session: The queue of texts, what is chosen, the jobs and the settings.
        selection: The audit on screen, and what is selected in it.
        actions_by_name: Everything that the menu can do.
        theme: Its colours.
    """

    session: Session
    selection: Selection
    actions_by_name: dict[str, QAction]
    theme: Theme

    @property
    def frame(self) -> QWidget:
        """The widget over which dialogs open."""

    @property
    def text_size(self) -> int:
        """Size of the examined text in pixels."""

    def set_text_size(self, size: int) -> None:
        """Change the size of the examined text."""

    def set_theme(self, mode: Mode) -> None:
        """Change the colours, and remember it."""

    def set_language(self, name: str) -> None:
        """Speak another language from now on; "" is that of the system."""

    def say(self, words: str) -> None:
        """Say something in the status line."""
