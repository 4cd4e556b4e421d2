"""The pages of the document on screen, opened, drawn and measured outside the window's thread."""

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
    """The pages of one document at a time; results for an earlier one are dropped.

    Args:
        jobs: The queues: one draws pages, another one locates the characters.

    Attributes:
        sizes: Size of each page in points; empty until known.
        places: Positions of the text's characters on the pages; None while they are unknown.
        measured: Whether the positions were looked up.
        failure: Reason why there are no pages.

    Signals:
        opened: The sizes are known, or opening failed.
        placed: The positions were looked up.
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
            path: Path of the file.
            sha256: SHA-256 of the examined bytes, in hexadecimal.
            text: The examined text.
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
        """Locate the characters on the pages, once a document."""
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
        """Close the document and end its child processes."""
        children, self._held = self._held, ()
        for pages in children:
            pages.close()
        self.sizes, self.places, self.failure = (), None, None
        self.measured = self._measuring = False

    def draw(self, page: int, dpi: int, on_picture: Callable[[int, int, QImage], None]) -> None:
        """Draw a page.

        Args:
            page: Number of the page, from 0.
            dpi: Resolution in dots per inch.
            on_picture: Called with page, resolution and picture, which is empty for a broken page.
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
