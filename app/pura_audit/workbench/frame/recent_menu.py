"""The menu of recent files; it can be emptied and switched off, since even names may be secret."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu, QWidget

from pura_audit.platform.i18n import translate
from pura_audit.platform.settings import SettingsFile


class RecentMenu(QMenu):
    """Filled anew each time it opens.

    Signals:
        opened: The path that was chosen.
    """

    opened = Signal(Path)

    def __init__(self, settings: SettingsFile, parent: QWidget | None = None) -> None:
        super().__init__(translate("Menu", "Recent files"), parent)
        self._settings = settings
        self.setToolTipsVisible(True)
        self.aboutToShow.connect(self.fill)
        self.fill()

    def fill(self) -> None:
        """Show what is remembered now."""
        self.clear()
        now = self._settings.current
        for number, name in enumerate(now.recent, start=1):
            path = Path(name)
            words = path.name.replace("&", "&&")
            action = self.addAction(f"&{number % 10}  {words}")
            action.setToolTip(name)
            action.triggered.connect(lambda _=False, p=path: self.opened.emit(p))
        if not now.recent:
            none = (
                translate("Menu", "No recent files")
                if now.keep_recent
                else translate("Menu", "Recent files are not remembered")
            )
            self.addAction(none).setEnabled(False)
        self.addSeparator()
        self.clearing = self.addAction(translate("Menu", "Clear the list"))
        self.clearing.setEnabled(bool(now.recent))
        self.clearing.triggered.connect(lambda: self._settings.update(recent=()))
        self.keeping = self.addAction(translate("Menu", "Remember recent files"))
        self.keeping.setCheckable(True)
        self.keeping.setChecked(now.keep_recent)
        self.keeping.triggered.connect(self._keep)

    def _keep(self, on: bool) -> None:
        """Switching off forgets at once."""
        recent = self._settings.current.recent if on else ()
        self._settings.update(keep_recent=on, recent=recent)
