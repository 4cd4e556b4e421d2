"""The list of texts.

It adds and removes texts, reads their files, holds the row on screen, and supports undo.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack

from pura.base.errors import PuraError
from pura.base.paths import Paths
from pura.documents import (
    FORMATS,
    MAX_CHARACTERS,
    Document,
    Extraction,
    Preview,
    ReadOptions,
    folders,
    from_text,
    parts_of,
    preview_encodings,
    read_document,
)
from pura.documents.folders import Summary, WalkOptions, walk
from pura.documents.leave_out import by_rule
from pura.record.audit import Audit
from pura.record.left_out import LEAVE_OUT, rule_of
from pura.usecases.audits import UnreadFile, unread_file, unread_parts
from pura.usecases.choices import candidates_text, read_candidates, trusted
from pura_audit.jobs.queue import Done, Failure, JobContext, JobQueue, Outcome, by_outcome
from pura_audit.platform.i18n import filled, number, translate
from pura_audit.platform.notices import sample
from pura_audit.platform.settings import SettingsFile
from pura_audit.session.choices import sample_key
from pura_audit.session.queue_model import Item, ItemState, QueueModel, listed

BATCH: Final = 200  # rows that the window takes in at once
MAX_PARTS: Final = 200  # rows that one file may become


@dataclass(frozen=True, kw_only=True)
class FileTexts:
    """The texts of a file.

    Attributes:
        documents: At least one document; each part of the file is a separate text.
        report: Whether the file holds the record of a report.
        unread: Parts that could not be read; each becomes a row too.
    """

    documents: tuple[Document, ...]
    report: bool
    unread: tuple[UnreadFile, ...] = ()


def walk_folder(
    folder: Path,
    options: WalkOptions,
    take: Callable[[Sequence[Path]], None],
    context: JobContext,
) -> Summary:
    """Walk a folder and hand over its files in batches in the window's thread."""
    summary = Summary()

    def files() -> Iterator[Path]:
        for entry in walk(folder, options, checkpoint=context.checkpoint):
            summary.add(entry)
            if isinstance(entry, Path):
                yield entry

    paths = files()
    while batch := list(itertools.islice(paths, BATCH)):
        context.post(partial(take, batch))
    return summary


def read_file(
    path: Path, options: ReadOptions, context: JobContext, part: str | None = None
) -> FileTexts | UnreadFile:
    """Read one file, or return why no text could be extracted.

    Args:
        path: Path of the file.
        options: Options of the extraction.
        context: Context of the job.
        part: Name of the only part to read; None reads the usual parts.

    Raises:
        PuraError: The file is missing or cannot be opened.
    """
    try:
        extraction = read_document(path, options=options, heartbeat=context.checkpoint)
    except PuraError as error:
        unread = unread_file(path, error, checkpoint=context.checkpoint)
        if unread is None:
            raise
        return unread
    documents = extraction.chosen if part is None else _parts_beside(extraction, (part,))
    if not documents:  # it may be a piece that a rule leaves out
        documents = _parts_beside(by_rule(extraction, LEAVE_OUT), (part or "",))
    for document in documents:
        _ = document.digest  # of a long text: worked out here, not in the window's thread
    return FileTexts(
        documents=documents or extraction.chosen[:1],
        report=extraction.format == "pdf" and _is_report(path),
        unread=unread_parts(extraction),
    )


def read_parts(
    path: Path, options: ReadOptions, parts: Sequence[str], context: JobContext
) -> tuple[Document, ...]:
    """Read parts of a file that are examined besides its usual parts.

    Args:
        path: Path of the file.
        options: Options of the extraction, with the rule that leaves pieces out.
        parts: Names of the parts.
        context: Context of the job.

    Raises:
        PuraError: The file cannot be read.
    """
    extraction = read_document(path, options=options, heartbeat=context.checkpoint)
    documents = _parts_beside(extraction, parts)
    for document in documents:
        _ = document.digest
    return documents


def _parts_beside(extraction: Extraction, parts: Sequence[str]) -> tuple[Document, ...]:
    """Return parts by name, without what the usual parts already contain."""
    usual = extraction.usual
    further = [
        document
        for document in extraction.documents
        if document.part in parts and document not in usual
    ]
    return tuple(
        document for document in extraction.selected([*usual, *further]) if document.part in parts
    )


def _is_report(path: Path) -> bool:
    from pura.usecases.reports import (
        carries_record,  # signing comes with it; the window starts without
    )

    return carries_record(path)


def look_into(
    path: Path, options: ReadOptions, context: JobContext
) -> tuple[Extraction | Failure, tuple[Preview, ...]]:
    """Read a file, and return previews of its encodings.

    Returns:
        What comes out of it, or why nothing does; previews, empty where its format leaves no
        choice.
    """
    extraction: Extraction | Failure
    try:
        extraction = read_document(path, options=options, heartbeat=context.checkpoint)
    except PuraError as error:
        extraction = Failure.of(error)
    previews: tuple[Preview, ...] = ()
    if isinstance(extraction, Failure) or FORMATS[extraction.format].textual:
        with suppress(PuraError):
            previews = preview_encodings(path)
    return extraction, previews


def folder_words(summary: Summary) -> str:
    """Return how many files of a folder were added and left out."""
    if not summary.found:
        sentence = translate("Folder", "There is no file in that folder that can be read.")
    else:
        sentence = filled(
            translate("Folder", "{n:count} {n:plural(file|files)} taken from the folder."),
            n=summary.found,
        )
    if not summary.total_skipped:
        return sentence
    left = filled(
        translate(
            "Folder",
            "{n:count} {n:plural(name was|names were)} left out (File, What was left out).",
        ),
        n=summary.total_skipped,
    )
    return f"{sentence} {left}"


def reason_words(reason: str) -> str:
    """Return why a name was left out."""
    reasons = {
        folders.HIDDEN: translate("Folder", "hidden"),
        folders.LINK: translate("Folder", "symbolic link"),
        folders.PATTERN: translate("Folder", "the filter leaves it out"),
        folders.FORMAT: translate("Folder", "not a format that is read"),
        folders.LOCK: translate("Folder", "lock file of an office program"),
        folders.EMPTY: translate("Folder", "empty"),
        folders.SPECIAL: translate("Folder", "pipe, device or socket"),
        folders.UNREADABLE: translate("Folder", "cannot be read"),
        folders.LOOP: translate("Folder", "reached a second time through a link"),
        folders.DEEP: translate("Folder", "too many levels down"),
        folders.SUBFOLDER: translate("Folder", "subfolder, not asked for"),
        folders.LIMIT: translate("Folder", "beyond the most files that are taken"),
    }
    return reasons[reason]


def left_out_table(summary: Summary) -> tuple[tuple[str, ...], list[tuple[str, ...]], str]:
    """Return headers, rows and the sentence above them."""
    headers = (
        translate("Folder", "Name"),
        translate("Folder", "Why"),
        translate("Folder", "Where"),
    )
    rows: list[tuple[str, ...]] = [
        (s.path.name, reason_words(s.reason), str(s.path.parent)) for s in summary.examples
    ]
    counts = ", ".join(f"{number(n)} × {reason_words(r)}" for r, n in summary.skipped.most_common())
    return headers, rows, counts


class AddRows(QUndoCommand):
    """Undo step: add rows, and show the first one."""

    def __init__(self, texts: TextList, rows: Sequence[Item], description: str) -> None:
        super().__init__(description)
        self._texts, self._items = texts, tuple(rows)

    def redo(self) -> None:
        """Add the rows."""
        self._texts.queue.insert(self._items)
        self._texts.show(self._items[0])

    def undo(self) -> None:
        """Remove the rows again."""
        _take_out(self._texts, self._items)


class RemoveRows(QUndoCommand):
    """Undo step: remove rows."""

    def __init__(self, texts: TextList, rows: Sequence[Item], description: str) -> None:
        super().__init__(description)
        queue = texts.queue
        self._texts = texts
        self._items = sorted(rows, key=queue.row)
        self._rows = [queue.row(row) for row in self._items]

    def redo(self) -> None:
        """Remove the rows."""
        _take_out(self._texts, self._items)

    def undo(self) -> None:
        """Insert the rows where they were."""
        for row, item in zip(self._rows, self._items, strict=True):
            if item.active:
                item.state = ItemState.CANCELLED
            self._texts.queue.insert([item], row)
            if item.state is ItemState.LOADING:
                self._texts.load(item)
        self._texts.show(self._items[0])


def _take_out(texts: TextList, rows: Sequence[Item]) -> None:
    queue = texts.queue
    row = min(queue.row(item) for item in rows)
    texts.leaving.emit(rows)
    queue.remove(rows)
    if texts.current in rows:
        texts.show(queue.item(row) or queue.item(row - 1))


_CUT = (ItemState.CANCELLED, ItemState.INTERRUPTED)


class TextList(QObject):
    """The list of texts, used in the window's thread; files are read in a worker thread.

    Args:
        files: The queue that reads files.
        settings: The settings, which store recent files.

    Attributes:
        queue: The rows as a Qt model.
        current: The row on screen.
        dropped: Dropped rows whose audit was not yet decided on.
        undo: The undo stack.
        folder_options: Options for walking folders.
        left_out: Names that were left out of the last folder.

    Signals:
        current_changed: Another row is on screen, or none.
        item_changed: The row on screen has changed.
        prompted: The prompt of a row has changed; carries the row.
        wanted: A row to be audited has been read; carries the row.
        unreadable: A row could not be read; carries the row and the UnreadFile.
        leaving: Rows are about to be removed, so their audits must end; carries the rows.
        report_seen: A file holds the record of a report; carries its path.
        noticed: A message for the status line.
    """

    current_changed = Signal()
    item_changed = Signal()
    prompted = Signal(object)
    wanted = Signal(object)
    unreadable = Signal(object, object)
    leaving = Signal(object)
    report_seen = Signal(object)
    noticed = Signal(str)

    def __init__(
        self, files: JobQueue, settings: SettingsFile, paths: Paths, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._paths = paths
        self._files, self._settings = files, settings
        self.queue = QueueModel(self)
        self.undo = QUndoStack(self)
        self.current: Item | None = None
        self.dropped: list[Item] = []
        self.folder_options = WalkOptions()
        self.left_out: Summary | None = None
        self._numbers = itertools.count(1)
        self._pastes = itertools.count(1)

    def new_row(self, name: str, *, state: ItemState = ItemState.READY, **values: Any) -> Item:
        """Return a row that is not yet in the list."""
        return Item(number=next(self._numbers), name=name, state=state, **values)

    # Texts come in

    def add_paths(self, paths: Iterable[Path], *, dropped: bool = False) -> None:
        """Add files, and the files inside folders; each becomes a row.

        Args:
            paths: Files and folders.
            dropped: Whether the files were dropped and may be audited at once.
        """
        files = []
        remembered = self._settings.current
        for path in paths:
            if path.is_dir():
                self._walk(path, self.folder_options)
                continue
            files.append(path)
            remembered = remembered.with_recent(path)
        if files:
            self._settings.replace(remembered)  # once: every write waits for the disk
        self._add_files(files, dropped=dropped)

    def _add_batch(self, paths: Sequence[Path]) -> None:
        """Add a batch of files from a folder; later batches do not change the row on screen."""
        current = self.current
        self._add_files(paths)
        if current is not None and len(self.queue.items) > BATCH:
            self.show(current)

    def _add_files(self, paths: Sequence[Path], *, dropped: bool = False) -> None:
        if not paths:
            return
        loading = ItemState.LOADING
        rows = [self.new_row(p.name or str(p), state=loading, path=p) for p in paths]
        self.dropped += rows if dropped else ()
        self._add(rows, translate("Session", "opening"))
        for row in rows:
            self.load(row)

    def _walk(self, folder: Path, options: WalkOptions) -> None:
        self._files.do(
            lambda context: walk_folder(folder, options, self._add_batch, context),
            by_outcome(self._walked, self._failed),
            self,
        )

    def _walked(self, summary: Summary) -> None:
        self.left_out = summary
        self.noticed.emit(folder_words(summary))

    def _failed(self, failure: Failure) -> None:
        self.noticed.emit(failure.words)

    def load(self, row: Item) -> None:
        """Read the file of a row; an interrupted or cancelled row keeps its state."""
        path = row.path
        if path is not None:
            if row.state not in _CUT:
                row.state = ItemState.LOADING
            self._files.do(
                lambda context: read_file(path, self.options(), context, row.part),
                lambda outcome: self._loaded(row, outcome),
                self,
            )

    def options(self, encoding: str | None = None) -> ReadOptions:
        """Return the options of the extraction; called in a job, since it reads a file."""
        return ReadOptions(encoding=encoding, trust=trusted(self._paths))

    def _loaded(self, row: Item, outcome: Outcome[FileTexts | UnreadFile]) -> None:
        if row.document is not None or row.state not in (ItemState.LOADING, *_CUT):
            return  # it was taken out and put back meanwhile, and read twice
        audit_wanted, row.wanted = row.wanted, False
        match outcome:
            case Done(UnreadFile() as unread):
                row.state, row.failure = ItemState.FAILED, Failure.of(unread.error)
                self.touch(row)
                self.unreadable.emit(row, unread)
            case Done(FileTexts() as texts):
                first, *further = texts.documents
                row.name = first.title if first.part else row.name
                row.document = first
                row.state = row.state if row.state in _CUT else ItemState.READY
                self.touch(row)
                if texts.report:  # what is meant by it is asked
                    self.dropped = [dropped for dropped in self.dropped if dropped is not row]
                    self.report_seen.emit(row.path)
                self._add_parts(row, further)
                if row.part is None:
                    self._add_unread(row, texts.unread)
                if audit_wanted:
                    self.wanted.emit(row)
            case Failure():
                row.state, row.failure = ItemState.FAILED, outcome
                self.touch(row)

    def _add_parts(self, item: Item, documents: Sequence[Document]) -> None:
        """Insert the further texts of a file after its row."""
        if not documents or self.queue.row(item) < 0:
            return
        rows = [
            self.new_row(d.title, path=item.path, part=d.part, document=d)
            for d in documents[: MAX_PARTS - 1]
        ]
        self.dropped += rows if item in self.dropped else ()
        self.queue.insert(rows, self.queue.row(item) + 1)
        if len(documents) > len(rows):
            template = translate(
                "Session", "Only the first {most:text} parts of that file were taken."
            )
            self.noticed.emit(filled(template, most=MAX_PARTS))

    def examine_left_out(self, item: Item) -> None:
        """Read the parts of a row's file that were left out, and request their audits."""
        path, audit = item.path, item.audit
        if audit is None:
            return
        parts = [entry.part for entry in audit.input.left_out if entry.part][: MAX_PARTS - 1]
        rule = rule_of(audit.input.excluded)

        def read(documents: tuple[Document, ...]) -> None:
            rows = [self.new_row(d.title, path=path, part=d.part, document=d) for d in documents]
            if not rows or self.queue.row(item) < 0:
                return
            self.queue.insert(rows, self.queue.row(item) + 1)
            self.show(rows[0])
            for row in rows:
                self.wanted.emit(row)

        if path is None:  # a text that never was a file: what a rule left out is in it
            if item.document is not None:
                pieces = parts_of(item.document, rule)
                read(tuple(piece for piece in pieces if piece.part in parts))
            return
        self._files.do(
            lambda context: read_parts(
                path, replace(self.options(), leave_out=rule), parts, context
            ),
            by_outcome(read, self._failed),
            self,
        )

    def _add_unread(self, item: Item, parts: Sequence[UnreadFile]) -> None:
        """Insert rows for the unreadable parts of a file: unexamined parts are findings too."""
        if not parts or self.queue.row(item) < 0:
            return
        rows = [
            self.new_row(
                f"{unread.name} · {unread.part}" if unread.part else unread.name,
                path=item.path,
                part=unread.part,
                state=ItemState.FAILED,
                failure=Failure.of(unread.error),
            )
            for unread in parts[: MAX_PARTS - 1]
        ]
        self.queue.insert(rows, self.queue.row(item) + 1)
        for row, unread_part in zip(rows, parts, strict=False):
            self.unreadable.emit(row, unread_part)

    def take_documents(self, row: Item, documents: tuple[Document, ...]) -> None:
        """Replace the text of a row by another reading of its file; further parts become rows."""
        if not documents or row.active:
            return
        first, *further = documents
        row.document, row.state, row.name = first, ItemState.READY, first.title
        row.audit, row.failure, row.progress = None, None, None
        row.finding, row.status = None, None
        self.touch(row)
        self._add_parts(row, further)

    def add_text(self, text: str, name: str | None = None, *, dropped: bool = False) -> None:
        """Add a text that was pasted or dropped; see :meth:`add_paths`."""
        label = name or filled(translate("Session", "Pasted text {n:text}"), n=next(self._pastes))
        row = self.new_row(label)
        try:
            row.document = from_text(text[: MAX_CHARACTERS + 1], name=label)
        except PuraError as error:
            row.state, row.failure = ItemState.FAILED, Failure.of(error)
        self.dropped += [row] if dropped else ()
        self._add([row], translate("Session", "pasting"))

    def add_sample(self) -> None:
        """Add the sample text, which brings its own key and profile, for an audit."""
        marked = sample()
        label = translate("Session", "Sample text")
        document = from_text(marked.text, name=label)
        row = self.new_row(label, sample=True, document=document, profile=marked.profile)
        row.key = sample_key()
        self.dropped.append(row)
        self._add([row], translate("Session", "opening"))

    def add_audit(self, audit: Audit) -> None:
        """Add an audit that was made elsewhere, and show it."""
        name = audit.input.name
        row = self.new_row(name, state=ItemState.DONE, audit=audit, imported=True)
        row.finding = listed(audit)
        if audit.text is not None:
            with suppress(PuraError):
                row.document = from_text(audit.text, name=name)
        self._add([row], translate("Session", "opening"))

    def add_restored(self, rows: Sequence[Item]) -> None:
        """Insert the rows of an earlier run before the present ones."""
        for row in rows:
            row.number = next(self._numbers)
        self.queue.insert(rows, 0)
        if self.current is None:
            self.show(rows[-1])

    def _add(self, rows: Sequence[Item], description: str) -> None:
        self.undo.push(AddRows(self, rows, description))

    # Rows

    def show(self, row: Item | None) -> None:
        """Show a row."""
        if row is not self.current:
            self.current = row
            self.current_changed.emit()

    def remove(self, rows: Sequence[Item]) -> None:
        """Remove rows, with undo; running audits are cancelled first."""
        if rows:
            self.leaving.emit(rows)
            self.undo.push(RemoveRows(self, rows, translate("Session", "removing")))

    def set_prompt(self, row: Item, prompt: str, *, several: bool) -> None:
        """Set the known prompt of a text, or its list of candidates."""
        row.prompt, row.several = prompt, several
        self.prompted.emit(row)

    def load_prompts(self, row: Item, path: Path) -> None:
        """Read a file of candidate prompts for a text."""

        def loaded(prompts: tuple[str, ...]) -> None:
            self.set_prompt(row, candidates_text(prompts), several=True)
            self.touch(row)

        self._files.do(lambda _: read_candidates(path), by_outcome(loaded, self._failed), self)

    def touch(self, row: Item) -> None:
        """Report that a row has changed."""
        self.queue.touch(row)
        if row is self.current:
            self.item_changed.emit()

    def translate_failures(self) -> None:
        """Translate the failures of rows to the present language."""
        for row in self.queue.items:
            if row.failure is not None and row.failure.error is not None:
                row.failure = Failure.of(row.failure.error)
                self.touch(row)

    @property
    def unkept(self) -> int:
        """Number of findings that could not be saved to the case log."""
        return sum(item.unkept for item in self.queue.items)
