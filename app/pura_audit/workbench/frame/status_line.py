"""The status line, the word when a long run has ended, and the menu of recent files."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLabel, QMenu, QSystemTrayIcon, QWidget

from pura.caselog.cases import UNFILED
from pura_audit.platform.i18n import duration, filled, translate
from pura_audit.platform.settings import SettingsFile
from pura_audit.session.queue_model import ItemState
from pura_audit.session.session import Session
from pura_audit.theme.theme import GAP
from pura_audit.widgets.card import ElidedLabel
from pura_audit.workbench.states.state_views import progress_words

HEIGHT = 28
STAY_MS = 8000


class StatusLine(QWidget):
    """Foot of the window."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("statusline")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedHeight(HEIGHT)
        self._session = session
        self.words = ElidedLabel()
        self._notice = ""
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(STAY_MS)
        self._timer.timeout.connect(self._forget)
        self._network = QLabel()
        self._say_network()
        session.jobs.installs.busy_changed.connect(self._say_network)
        row = QHBoxLayout(self)
        row.setContentsMargins(20, 0, 20, 0)
        row.setSpacing(GAP)
        row.addWidget(self.words, 1)
        row.addWidget(self._network)
        session.texts.queue.dataChanged.connect(self._told)
        session.texts.queue.counted.connect(self._told)
        session.noticed.connect(self.say)
        self.refresh()

    def _say_network(self) -> None:
        self._network.setText(
            translate("Status", "A model is being installed · no text leaves this computer")
            if self._session.jobs.installs.busy
            else translate("Status", "Offline · nothing leaves this computer")
        )

    def say(self, words: str) -> None:
        """Show a remark for a while."""
        self._notice = words
        self._timer.start()
        self.refresh()

    def _told(self, *_: object) -> None:
        self.refresh()

    def refresh(self) -> None:
        """Show what the queue does."""
        items = self._session.texts.queue.items
        running = next((i for i in items if i.state is ItemState.RUNNING), None)
        if self._notice:
            self.words.setText(self._notice)
        elif running is not None:
            parts = [running.name]
            if self._session.jobs.model.paused:
                parts.append(translate("Status", "paused"))
            elif running.progress is not None:
                parts.append(progress_words(running.progress))
            parts += self._others()
            self.words.setText(" · ".join(parts))
        else:
            self.words.setText(self._idle())

    def _others(self) -> list[str]:
        """Say how many others are read or wait, and how long it takes until all are done."""
        waiting = sum(item.active for item in self._session.texts.queue.items) - 1
        left = self._session.audits.seconds_left
        if not waiting or left is None:
            return []
        words = translate("Status", "{n:count} more, all done in {time:text}")
        return [filled(words, n=waiting, time=duration(left))]

    def _idle(self) -> str:
        items = self._session.texts.queue.items
        done = sum(i.examined for i in items)
        bad = sum(i.state in (ItemState.DONE, ItemState.FAILED) for i in items) - done
        parts = []
        if done:
            parts.append(
                filled(translate("Status", "{n:count} {n:plural(text|texts)} audited"), n=done)
            )
        if bad:
            parts.append(filled(translate("Status", "{n:count} could not be"), n=bad))
        unkept = self._session.texts.unkept
        if unkept:
            words = translate("Status", "{n:count} not saved: use Save to a case (Ctrl+S)")
            parts.append(filled(words, n=unkept))
        elif any(i.standing is not None and i.standing.name == UNFILED for i in items):
            parts.append(translate("Status", "kept in the case “Unfiled”"))
        return " · ".join(parts) if parts else translate("Status", "Ready")

    def _forget(self) -> None:
        self._notice = ""
        self.refresh()


LONG_S: Final = 60.0
"""A run that took less was waited for."""
_SHOWN_MS: Final = 15_000


class RunNotice(QObject):
    """Tells that a long run has ended while another program was in front.

    It names no text and no outcome: others see the screen too.

    Args:
        session: Whose runs they are.
        window: Asks for attention where the desktop lists its windows.
        clock: Seconds that pass.
    """

    def __init__(
        self, session: Session, window: QWidget, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(window)
        self._window, self._clock = window, clock
        self._begun: float | None = None
        self.tray = QSystemTrayIcon(window.windowIcon(), self)
        self._hide = QTimer(self, singleShot=True, interval=_SHOWN_MS)
        self._hide.timeout.connect(self.tray.hide)
        session.jobs.model.busy_changed.connect(self._changed)

    def _changed(self, busy: bool) -> None:
        if busy:
            self._begun = self._clock() if self._begun is None else self._begun
            return
        begun, self._begun = self._begun, None
        if begun is not None and self._clock() - begun >= LONG_S and not self._in_front():
            self.tell()

    def tell(self) -> None:
        """Tell it."""
        QApplication.alert(self._window)
        if QSystemTrayIcon.isSystemTrayAvailable():
            self.tray.show()
            self.tray.showMessage(
                "PURA Audit", translate("Notice", "The audits are done."), self._window.windowIcon()
            )
            self._hide.start()

    @staticmethod
    def _in_front() -> bool:
        return QApplication.activeWindow() is not None


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
