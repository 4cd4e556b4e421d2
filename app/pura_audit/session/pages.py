"""The pages of the document on screen: opened, drawn and measured away from the window's thread."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, QSizeF, Signal
from PySide6.QtGui import QImage

from pura.documents.pages import Pages, Places, examined_bytes
from pura_audit.jobs.queue import Done, Failure, Jobs, Outcome

A4: Final = QSizeF(595.28, 841.89)  # stands for a page that is broken


class DocumentPages(QObject):
    """The pages of one document at a time; what belongs to the one before it is forgotten.

    Args:
        jobs: The queues: pages are drawn in one, places are found in another.

    Attributes:
        sizes: Of each page, in points; empty until they are known.
        places: Where the characters of the text stand; None while, and where, that is not known.
        measured: It was looked for them.
        failure: Why there are no pages to show.

    Signals:
        opened: There are sizes, or a failure.
        placed: The places are known, or it is known that there are none.
    """

    opened = Signal()
    placed = Signal()

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._held: tuple[Pages, ...] = ()
        self.sizes: tuple[QSizeF, ...] = ()
        self.places: Places | None = None
        self.failure: Failure | None = None
        self.measured = self._measuring = False
        self._text = ""

    def open(self, path: Path, sha256: str, text: str) -> None:
        """Open a document.

        Args:
            path: Where the file is.
            sha256: Of its bytes when it was examined, hex.
            text: What was examined.
        """
        self.close()
        read = partial(examined_bytes, path, sha256)
        # Two children: finding the places of a long text takes seconds, drawing a page must not.
        self._held = pages, _ = Pages(read), Pages(read)
        self._text = text

        def opened(outcome: Outcome[tuple[tuple[float, float], ...]]) -> None:
            if self._held[:1] != (pages,):
                return
            if isinstance(outcome, Done):
                self.sizes = tuple(QSizeF(*size) if all(size) else A4 for size in outcome.result)
            elif isinstance(outcome, Failure):
                self.failure = outcome
            self.opened.emit()

        self._jobs.pages.do(lambda _: pages.sizes(), opened, self, urgent=True)

    def measure(self) -> None:
        """Find the places, where nobody has asked for that yet."""
        if not self._held or self._measuring:
            return
        self._measuring = True
        measured, text = self._held[1], self._text

        def placed(outcome: Outcome[Places | None]) -> None:
            if self._held[1:] == (measured,):
                self.places = outcome.result if isinstance(outcome, Done) else None
                self.measured = True
                self.placed.emit()

        self._jobs.files.do(lambda _: _places_once(measured, text), placed, self, urgent=True)

    def close(self) -> None:
        """Forget the document, and end the children that hold it."""
        children, self._held = self._held, ()
        for pages in children:
            pages.close()
        self.sizes, self.places, self.failure = (), None, None
        self.measured = self._measuring = False

    def draw(self, page: int, dpi: int, on_picture: Callable[[int, int, QImage], None]) -> None:
        """Draw a page.

        Args:
            page: From 0.
            dpi: How fine.
            on_picture: Gets both and the picture; an empty one where the page is broken.
        """
        if not self._held:
            return
        pages, size = self._held[0], self.sizes[page]
        wide, high = (max(1, round(v * dpi / 72)) for v in (size.width(), size.height()))

        def drawn(outcome: Outcome[QImage]) -> None:
            if self._held[:1] == (pages,):
                on_picture(page, dpi, outcome.result if isinstance(outcome, Done) else QImage())

        self._jobs.pages.do(lambda _: _picture(pages, page, wide, high), drawn, self, urgent=True)


def _picture(pages: Pages, page: int, wide: int, high: int) -> QImage:
    pixels = pages.draw(page, wide, high)
    # The bytes belong to this call, so the picture is copied.
    return QImage(pixels, wide, high, 4 * wide, QImage.Format.Format_RGB32).copy()


def _places_once(pages: Pages, text: str) -> Places | None:
    try:
        return pages.places(text)
    finally:
        pages.close()
