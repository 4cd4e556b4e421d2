"""The worker that walks folders and reads files, in a thread of its own."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, Signal, Slot

from pura.base.errors import Cancelled, PuraError
from pura.documents import (
    FORMATS,
    Extraction,
    Preview,
    ReadOptions,
    preview_encodings,
    read_document,
)
from pura.documents.folders import Summary, WalkOptions, walk
from pura_audit.jobs.messages import Failure

_MARK: Final = b"/F(record.json)"  # how a report's PDF names its attachment
_CHUNK: Final = 1 << 20
_CHUNKS: Final = 64
BATCH: Final = 200  # rows that the window takes in at once
MAX_PARTS: Final = 200  # rows that one file may become


class FileWorker(QObject):
    """Walks and reads, so that a slow disk never stops the window.

    Signals:
        loaded: Job number and its Document.
        parts: Job number and the further Documents of the same file.
        refused: Job number and its Failure.
        found: Files of a folder, a list of paths.
        seen: A path, its Extraction or a Failure, and what it looks like in each encoding.
        report_found: A file that was read carries the record of a report: its path.
        walked: A :class:`~pura.documents.folders.Summary`, when the folder is done.
    """

    loaded = Signal(int, object)
    parts = Signal(int, object)
    refused = Signal(int, object)
    found = Signal(object)
    report_found = Signal(object)
    walked = Signal(object)
    seen = Signal(object, object, object)

    def __init__(self) -> None:
        super().__init__()
        self._stop = threading.Event()

    def stop(self) -> None:
        """End a walk or a read at its next look; called from any thread."""
        self._stop.set()

    @Slot(object, object)
    def walk(self, folder: Path, options: WalkOptions) -> None:
        """Go through a folder; its files are told in batches."""
        summary = Summary()
        batch: list[Path] = []
        try:
            for item in walk(folder, options, checkpoint=self._look):
                summary.add(item)
                if isinstance(item, Path):
                    batch.append(item)
                if len(batch) >= BATCH:
                    self.found.emit(batch)
                    batch = []
        except Cancelled:
            return
        if batch:
            self.found.emit(batch)
        self.walked.emit(summary)

    @Slot(int, object, object)
    def load(self, number: int, path: Path, options: ReadOptions) -> None:
        """Read one file; each of its parts is a text of its own."""
        from pura_audit.jobs.workers import unexpected

        try:
            first, *others = read_document(path, options=options, beat=self._look).chosen
        except Cancelled:
            return
        except PuraError as error:
            self.refused.emit(number, Failure.of(error))
        except Exception as error:
            self.refused.emit(number, unexpected(error))
        else:
            self.loaded.emit(number, first)
            if carries_record(path):
                self.report_found.emit(path)
            if others:
                self.parts.emit(number, tuple(others))

    @Slot(object, object)
    def look_into(self, path: Path, options: ReadOptions) -> None:
        """Read a file for somebody who wants to choose how it is read."""
        from pura_audit.jobs.workers import unexpected

        previews: tuple[Preview, ...] = ()
        found: Extraction | Failure
        try:
            found = read_document(path, options=options, beat=self._look)
        except Cancelled:
            return
        except PuraError as error:
            found = Failure.of(error)
        except Exception as error:
            found = unexpected(error)
        if isinstance(found, Failure) or FORMATS[found.format].textual:
            try:
                previews = preview_encodings(path)
            except PuraError:
                previews = ()
        self.seen.emit(path, found, previews)

    def _look(self) -> None:
        if self._stop.is_set():
            raise Cancelled


def carries_record(path: Path) -> bool:
    """Whether a PDF seems to be one of our reports; only looks for a name, parses nothing."""
    try:
        with path.open("rb") as file:
            held = file.read(_CHUNK)
            if not held.startswith(b"%PDF-"):
                return False
            for _ in range(_CHUNKS):
                if _MARK in held:
                    return True
                more = file.read(_CHUNK)
                if not more:
                    return False
                held = held[-len(_MARK) :] + more
    except OSError:
        return False
    return False
