"""The middle of the window, and the sizes of its parts: widths, folding and stored sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QByteArray, QMargins, QPoint, QTimer
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QWidget

from pura_audit.session.pages import DocumentPages
from pura_audit.session.queue_model import Item, ItemState
from pura_audit.session.selection import Selection
from pura_audit.session.session import Session
from pura_audit.theme.theme import GAP, Theme
from pura_audit.widgets.card import ScrollCard, column_of
from pura_audit.workbench.answer import AnswerView
from pura_audit.workbench.course_card import NARROW as MIN_COLUMN
from pura_audit.workbench.course_card import EvidenceColumn
from pura_audit.workbench.queue_view import FOLDED, OPEN, QueueView
from pura_audit.workbench.state_views import BusyView, ErrorView, ReadyView
from pura_audit.workbench.text_card import TextCard

SHARE = 0.5  # of the height that the answer may take


class WorkView(QWidget):
    """Shows one row: its answer or its state, and its text."""

    def __init__(self, selection: Selection, theme: Theme, pages: DocumentPages) -> None:
        super().__init__()
        self.answer = AnswerView(selection, theme)
        self.ready, self.busy, self.error = ReadyView(), BusyView(), ErrorView()
        self.stack = QStackedWidget()
        for view in (self.answer, self.ready, self.busy, self.error):
            self.stack.addWidget(view)
        self.text = TextCard(selection, theme, pages)
        column_of(self.stack, (self.text, 1), spacing=GAP, inside=self)
        self.setMinimumWidth(420)
        self.answer.resized.connect(self._fit)
        self.text.find_bar.toggled.connect(self._fit)
        self.text.resized.connect(self._fit)

    def show_item(
        self,
        item: Item,
        *,
        paused: bool,
        expected: float | None,
        missing: Sequence[str] = (),
        installing: bool = False,
    ) -> None:
        """Show a row in its present state.

        Args:
            item: The row.
            paused: Whether all audits are paused.
            expected: Expected duration of its audit in seconds, or None.
            missing: Those of key, model and profile that are not chosen.
            installing: Whether a model is being installed.
        """
        match item.state:
            case _ if item.shown is not None:
                self.answer.show_item(item, item.shown)
                self.stack.setCurrentWidget(self.answer)
            case ItemState.RUNNING:
                self.busy.show_item(item, paused=paused, expected=expected)
                self.stack.setCurrentWidget(self.busy)
            case ItemState.FAILED if item.failure is not None:
                retry = item.document is not None or item.path is not None
                self.error.show_failure(item.failure, item.name, can_retry=retry)
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
        self.text.offer_pages(item)
        self._fit()
        QTimer.singleShot(0, self, self._fit)  # once more when the new words have their fonts

    def heading(self) -> str:
        """Return the heading: the answer, or the state of the text."""
        view = self.stack.currentWidget()
        assert isinstance(view, AnswerView | ReadyView | BusyView | ErrorView)  # no others are in
        return view.heading.text()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the height again."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        view = self.stack.currentWidget()
        if not isinstance(view, ScrollCard) or not self.text.isVisibleTo(self):
            self.stack.setMaximumHeight(16_777_215)
            return
        self.answer.document.setVisible(self.height() >= LOW)  # the title of the window has it
        heights = view.heights(self.stack.width())
        desired = smallest = heights[-1]
        if view is self.answer:
            smallest = self.answer.least_height(self.stack.width())
        # What the text needs at least is left to it; what an answer says below the payload scrolls.
        highest = self.height() - GAP - self.text.minimumSizeHint().height()
        share = max(smallest, min(desired, round(self.height() * SHARE)))
        if view is self.answer and self.answer.limits.opened:
            share = desired  # the text gives way: the answer stays where it is
        fitting = [height for height in heights if height <= highest] or [max(1, highest)]
        share = next((height for height in fitting if height >= share), fitting[-1])
        if share in heights[-2:-1]:  # for the margin below the last line alone nothing scrolls
            share = fitting[-1]
        self.stack.setFixedHeight(share)
        if (layout := self.layout()) is not None:
            layout.activate()  # at once: the text opens at a place, and needs its height for it


LOW: Final = 440  # below this height the answer does not name its document
COLUMN_SHARE: Final = 0.29  # of the window's width that the right column takes …
WIDEST: Final = 640  # … up to so many pixels
TIGHT: Final = 1100  # below this width the answer and the text stand alone
FRAME: Final = QMargins(4, 32, 4, 4)  # what a window manager puts around a window
NARROW: Final = 1400  # below this width the queue folds, unless the user says otherwise


class Placement:
    """Manages the sizes of the window's parts.

    Args:
        window: The window.
        session: The session, whose settings store the sizes.
        queue: The list of texts.
        work: The middle, with the text.
        evidence: The right column.
        columns: The splitter of the list and the rest.
        inner: The splitter of the middle and the right column.
    """

    def __init__(
        self,
        window: QWidget,
        session: Session,
        *,
        queue: QueueView,
        work: WorkView,
        evidence: EvidenceColumn,
        columns: QSplitter,
        inner: QSplitter,
    ) -> None:
        self._window, self._session = window, session
        self._queue, self._work, self._evidence = queue, work, evidence
        self._columns, self._inner = columns, inner
        self._moved: list[int] = []  # widths that the user gave
        inner.splitterMoved.connect(self._note_move)
        evidence.filled_changed.connect(self._show_evidence)

    def restore(self) -> None:
        """Restore the stored sizes, or sizes that suit the window."""
        window, now = self._window, self._session.settings.current
        window.resize(1440, 900)
        if now.geometry:
            window.restoreGeometry(QByteArray.fromHex(now.geometry.encode()))
        self._keep_on_screen()
        self.arrange()

    def arrange(self) -> None:
        """Restore the sizes of the parts."""
        now = self._session.settings.current
        if len(now.rows) == 3:
            self._evidence.setSizes(list(now.rows))
        if len(now.columns) == 2:
            self._inner.setSizes(list(now.columns))
        self._show_evidence()
        self._work.text.view.set_text_size(now.text_size)
        self._fold(folded=self._wants_folded())

    def _keep_on_screen(self) -> None:
        """Move the window, with its frame, completely onto the screen."""
        window = self._window
        screen = (window.screen() or QGuiApplication.primaryScreen()).availableGeometry()
        screen = screen.marginsRemoved(FRAME)
        size = window.size().boundedTo(screen.size())
        if size != window.size():
            window.resize(size)
        rect = window.geometry()
        x = max(screen.left(), min(rect.x(), screen.right() - size.width()))
        y = max(screen.top(), min(rect.y(), screen.bottom() - size.height()))
        if rect.topLeft() != QPoint(x, y) and not screen.contains(rect):
            # A window is moved by the corner of its frame.
            window.move(x - FRAME.left(), y - FRAME.top())

    def remember(self) -> None:
        """Store all sizes."""
        window = self._window
        self._session.settings.update(
            geometry=bytes(window.saveGeometry().toHex().data()).decode(),
            **({"columns": tuple(self._moved)} if self._moved else {}),
            **({"rows": tuple(self._evidence.sizes())} if self._evidence.isVisible() else {}),
        )

    def resized(self) -> None:
        """Fold or unfold the list of texts, and share the width."""
        self._show_evidence()
        folded = self._wants_folded()
        if folded != self._queue.folded:
            self._fold(folded=folded)
        else:
            self._share_out()

    def toggle_queue(self) -> None:
        """Fold or unfold the list of texts, and store the choice."""
        folded = not self._queue.folded
        self._session.settings.update(queue_folded=folded)
        self._fold(folded=folded)

    def toggle_evidence(self) -> None:
        """Show or hide the right column, and store the choice."""
        visible = self._evidence.isVisibleTo(self._inner)
        self._evidence.setVisible(not visible and self._evidence.filled)
        self._session.settings.update(evidence_hidden=visible)

    def _show_evidence(self) -> None:
        """Show the right column if it has content and room, unless the user hid it."""
        visible = self._evidence.filled and not self._session.settings.current.evidence_hidden
        self._evidence.setVisible(visible and self._window.width() >= TIGHT)
        self._inner.refresh()  # at once: the text opens at a place, and needs its width for it

    def _note_move(self) -> None:
        self._moved = self._inner.sizes()

    def _wants_folded(self) -> bool:
        wish = self._session.settings.current.queue_folded
        return wish if wish is not None else self._window.width() < NARROW

    def _fold(self, *, folded: bool) -> None:
        window = self._window
        self._queue.set_folded(folded)
        width = FOLDED + GAP if folded else OPEN
        self._columns.setSizes([width, max(1, window.width() - width)])
        self._share_out()

    def _share_out(self) -> None:
        """Give the right column its share, unless the user has moved the splitter."""
        window = self._window
        if self._session.settings.current.columns or self._moved:
            return
        right = (
            MIN_COLUMN
            if self._queue.folded
            else min(WIDEST, max(MIN_COLUMN, round(COLUMN_SHARE * window.width())))
        )
        available = window.width() - self._columns.sizes()[0] - 3 * GAP
        self._inner.setSizes([max(1, available - right), right])
