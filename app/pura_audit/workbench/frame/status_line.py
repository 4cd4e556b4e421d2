"""The status line: what is being done, and that nothing leaves this computer."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from pura.caselog.case import UNFILED
from pura_audit.platform.i18n import duration, filled, translate
from pura_audit.session.items import ItemState
from pura_audit.session.session import Session
from pura_audit.theme.theme import GAP
from pura_audit.widgets.elided import ElidedLabel
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
