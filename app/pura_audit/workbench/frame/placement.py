"""Where the parts of the window stand: widths, folding, and what is remembered of them."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QByteArray, QMargins, QPoint
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QSplitter, QWidget

from pura_audit.session.session import Session
from pura_audit.theme.theme import GAP
from pura_audit.workbench.evidence.evidence_column import NARROW as LEAST
from pura_audit.workbench.evidence.evidence_column import EvidenceColumn
from pura_audit.workbench.frame.work_view import WorkView
from pura_audit.workbench.lists.queue_view import FOLDED, OPEN, QueueView

SHARE: Final = 0.29  # of the window's width that the right column takes …
MOST: Final = 640  # … up to so many pixels
TIGHT: Final = 1100  # below this width the answer and the text stand alone
FRAME: Final = QMargins(4, 32, 4, 4)  # what a window manager puts around a window
NARROW: Final = 1400  # below this width the queue folds, unless the user says otherwise


class Placement:
    """Sizes of the window's parts.

    Args:
        window: The window.
        session: Its settings remember; its current row decides whether a divide was moved.
        queue: The list of texts.
        work: The middle, with the text.
        evidence: The right column.
        columns: Holds the list and the rest.
        inner: Holds the middle and the right column.
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
        """Put everything where it was, or where it suits the size."""
        window, now = self._window, self._session.settings.current
        window.resize(1440, 900)
        if now.geometry:
            window.restoreGeometry(QByteArray.fromHex(now.geometry.encode()))
        self._keep_on_screen()
        self.arrange()

    def arrange(self) -> None:
        """Put the parts where they were, in a window that has its size."""
        now = self._session.settings.current
        if len(now.rows) == 3:
            self._evidence.setSizes(list(now.rows))
        if len(now.columns) == 2:
            self._inner.setSizes(list(now.columns))
        self._show_evidence()
        self._work.text.view.set_text_size(now.text_size)
        self._fold(folded=self._wants_folded())

    def _keep_on_screen(self) -> None:
        """Let no part of the window lie outside the screen, its frame included."""
        window = self._window
        room = (window.screen() or QGuiApplication.primaryScreen()).availableGeometry()
        room = room.marginsRemoved(FRAME)
        size = window.size().boundedTo(room.size())
        if size != window.size():
            window.resize(size)
        at = window.geometry()
        x = max(room.left(), min(at.x(), room.right() - size.width()))
        y = max(room.top(), min(at.y(), room.bottom() - size.height()))
        if at.topLeft() != QPoint(x, y) and not room.contains(at):
            # A window is moved by the corner of its frame.
            window.move(x - FRAME.left(), y - FRAME.top())

    def remember(self) -> None:
        """Write down where everything stands."""
        window = self._window
        self._session.settings.update(
            geometry=bytes(window.saveGeometry().toHex().data()).decode(),
            **({"columns": tuple(self._moved)} if self._moved else {}),
            **({"rows": tuple(self._evidence.sizes())} if self._evidence.isVisible() else {}),
        )

    def resized(self) -> None:
        """Fold or unfold the queue, and share the width."""
        self._show_evidence()
        folded = self._wants_folded()
        if folded != self._queue.folded:
            self._fold(folded=folded)
        else:
            self._share_out()

    def toggle_queue(self) -> None:
        """Fold or unfold the queue, and remember it."""
        folded = not self._queue.folded
        self._session.settings.update(queue_folded=folded)
        self._fold(folded=folded)

    def toggle_evidence(self) -> None:
        """Show or hide the right column, and remember it."""
        shown = self._evidence.isVisibleTo(self._inner)
        self._evidence.setVisible(not shown and self._evidence.filled)
        self._session.settings.update(evidence_hidden=shown)

    def _show_evidence(self) -> None:
        """Show the right column if it shows something and has room, unless the user hid it."""
        wanted = self._evidence.filled and not self._session.settings.current.evidence_hidden
        self._evidence.setVisible(wanted and self._window.width() >= TIGHT)
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
        """Give the right column its share, unless the user has moved the divide."""
        window = self._window
        if self._session.settings.current.columns or self._moved:
            return
        right = (
            LEAST if self._queue.folded else min(MOST, max(LEAST, round(SHARE * window.width())))
        )
        room = window.width() - self._columns.sizes()[0] - 3 * GAP
        self._inner.setSizes([max(1, room - right), right])
