"""The middle: what the text on screen is, the answer to it, and the text."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from pura_audit.session.queue_model import Item, ItemState
from pura_audit.session.selection import Selection
from pura_audit.theme.theme import GAP, Theme
from pura_audit.widgets.card import ScrollCard
from pura_audit.workbench.answer.answer_view import AnswerView
from pura_audit.workbench.states.state_views import BusyView, ErrorView, ReadyView
from pura_audit.workbench.text.text_card import TextCard

SHARE = 0.56  # of the height that the answer may take


class WorkView(QWidget):
    """Shows one row of the queue.

    Signals:
        prompt_changed: The known prompt of the row, and whether it is a list of candidates.
        prompts_wanted: Candidates from a file; without a path somebody is to choose one.
        again_wanted: Audit the row again.
        remove_wanted: Take the row out.
        cancel_wanted: Stop the audit.
        pause_wanted: Let all audits wait, or go on.
    """

    prompt_changed = Signal(str, bool)
    prompts_wanted = Signal(object)
    again_wanted = Signal()
    remove_wanted = Signal()
    cancel_wanted = Signal()
    pause_wanted = Signal()

    def __init__(self, selection: Selection, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.answer = AnswerView(selection, theme)
        self.ready, self.busy, self.error = ReadyView(), BusyView(), ErrorView()
        self.stack = QStackedWidget()
        for view in (self.answer, self.ready, self.busy, self.error):
            self.stack.addWidget(view)
        self.text = TextCard(selection, theme)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GAP)
        layout.addWidget(self.stack)
        layout.addWidget(self.text, 1)
        self.setMinimumWidth(420)
        self.answer.resized.connect(self._fit)
        self.text.find_bar.toggled.connect(self._fit)
        self.ready.prompt_changed.connect(self.prompt_changed)
        self.ready.prompts_wanted.connect(self.prompts_wanted)
        self.error.again_wanted.connect(self.again_wanted)
        self.error.remove_wanted.connect(self.remove_wanted)
        self.busy.cancel_wanted.connect(self.cancel_wanted)
        self.busy.pause_wanted.connect(self.pause_wanted)

    def show_item(
        self,
        item: Item,
        *,
        paused: bool,
        expected: float | None,
        missing: Sequence[str] = (),
        installing: bool = False,
    ) -> None:
        """Show a row as it stands.

        Args:
            item: The row.
            paused: All audits wait.
            expected: Seconds that its audit takes, where that is known.
            missing: Which of key, model and profile are not chosen.
            installing: A model is being installed.
        """
        match item.state:
            case _ if item.shown is not None:
                self.answer.show_item(item, item.shown)
                self.stack.setCurrentWidget(self.answer)
            case ItemState.RUNNING:
                self.busy.show_item(item, paused=paused, expected=expected)
                self.stack.setCurrentWidget(self.busy)
            case ItemState.FAILED if item.failure is not None:
                self.error.show_failure(item.failure, item.name)
                self.error.again.setVisible(item.document is not None or item.path is not None)
                self.stack.setCurrentWidget(self.error)
            case _:
                self.ready.show_item(item, missing, installing=installing)
                self.stack.setCurrentWidget(self.ready)
        audit = item.shown
        text = item.document.text if item.document is not None else ""
        if audit is not None and audit.text is not None:
            text = audit.text
        self.text.setVisible(bool(text))
        self.text.show_text(text, audit)
        self._fit()
        QTimer.singleShot(0, self, self._fit)  # once more when the new words have their fonts

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the height anew."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        view = self.stack.currentWidget()
        if not isinstance(view, ScrollCard) or not self.text.isVisibleTo(self):
            self.stack.setMaximumHeight(16_777_215)
            return
        wanted = least = view.natural_height(self.stack.width())
        if view is self.answer:
            least = self.answer.least_height(self.stack.width())
        # What the text needs at least is left to it; what an answer says below the payload scrolls.
        room = self.height() - GAP - self.text.minimumSizeHint().height()
        share = max(least, min(wanted, round(self.height() * SHARE)))
        self.stack.setFixedHeight(max(1, min(share, room)))
        if (layout := self.layout()) is not None:
            layout.activate()  # at once: the text opens at a place, and needs its height for it
