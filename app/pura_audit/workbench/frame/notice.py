"""A word to whoever has gone on to other work: that a long run has ended."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget

from pura_audit.platform.i18n import translate
from pura_audit.session.session import Session

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
