"""Where the parts of the window stand: widths, folding, and what is remembered of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QByteArray

from pura_audit.look.theme import GAP
from pura_audit.workbench.evidence_column import NARROW as LEAST
from pura_audit.workbench.queue_view import FOLDED, OPEN

if TYPE_CHECKING:
    from pura_audit.workbench.main_window import MainWindow

SHARE: Final = 0.29  # of the window's width that the right column takes …
MOST: Final = 640  # … up to so many pixels
NARROW: Final = 1400  # below this width the queue folds, unless the user says otherwise


class Placement:
    """Sizes of the window's parts.

    Args:
        window: The window; its columns must exist.
    """

    def __init__(self, window: MainWindow) -> None:
        self._window = window

    def restore(self) -> None:
        """Put everything where it was, or where it suits the size."""
        window, now = self._window, self._window.session.settings.current
        window.resize(1440, 900)
        if now.geometry:
            window.restoreGeometry(QByteArray.fromHex(now.geometry.encode()))
        if len(now.rows) == 3:
            window.evidence.setSizes(list(now.rows))
        if len(now.columns) == 2:
            window.inner.setSizes(list(now.columns))
        window.evidence.setVisible(not now.evidence_hidden)
        window.work.text.view.set_text_size(now.text_size)
        self._fold(folded=self._wants_folded())

    def remember(self) -> None:
        """Write down where everything stands."""
        window = self._window
        changed = window.inner.sizes() != self._placed and window.session.current is not None
        window.session.settings.update(
            geometry=bytes(window.saveGeometry().toHex().data()).decode(),
            **({"columns": tuple(window.inner.sizes())} if changed else {}),
            **({"rows": tuple(window.evidence.sizes())} if window.evidence.isVisible() else {}),
        )

    def resized(self) -> None:
        """Fold or unfold the queue, and share the width."""
        folded = self._wants_folded()
        if folded != self._window.queue.folded:
            self._fold(folded=folded)
        else:
            self._share_out()

    def toggle_queue(self) -> None:
        """Fold or unfold the queue, and remember it."""
        window = self._window
        folded = not window.queue.folded
        window.session.settings.update(queue_folded=folded)
        self._fold(folded=folded)

    def toggle_evidence(self) -> None:
        """Show or hide the right column, and remember it."""
        window = self._window
        hidden = window.evidence.isVisibleTo(window.inner)
        window.evidence.setVisible(not hidden)
        window.session.settings.update(evidence_hidden=hidden)

    def _wants_folded(self) -> bool:
        wish = self._window.session.settings.current.queue_folded
        return wish if wish is not None else self._window.width() < NARROW

    def _fold(self, *, folded: bool) -> None:
        window = self._window
        window.queue.set_folded(folded)
        width = FOLDED + GAP if folded else OPEN
        window.columns.setSizes([width, max(1, window.width() - width)])
        self._share_out()

    _placed: list[int] | None = None

    def _share_out(self) -> None:
        """Give the right column its share, unless the user has moved the divide."""
        window = self._window
        moved = self._placed is not None and window.inner.sizes() != self._placed
        if window.session.settings.current.columns or (moved and window.session.current):
            return
        right = (
            LEAST if window.queue.folded else min(MOST, max(LEAST, round(SHARE * window.width())))
        )
        room = window.width() - window.columns.sizes()[0] - 3 * GAP
        window.inner.setSizes([max(1, room - right), right])
        self._placed = window.inner.sizes()
