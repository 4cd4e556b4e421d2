"""The list of texts.

What comes in and goes out, how files are read, the row on screen, and undo.
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
        documents: At least one; each of its parts is a text of its own.
        report: The file carries the record of a report.
        unread: Parts that no text could be made of; each is a row as well.
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
    """Go through a folder; its files are handed over in batches, in the window's thread."""
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
    """Read one file, or say that no text can be made of it.

    Args:
        path: Where it is.
        options: How it is read.
        context: Of the job.
        part: The one part that is wanted; None takes the usual ones.

    Raises:
        PuraError: It cannot be read for a reason that is not its own: it is not there.
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
    """Read parts of a file that are examined beside its usual ones.

    Args:
        path: Where it is.
        options: How it is read, with the rule that leaves pieces out.
        parts: Their names.
        context: Of the job.

    Raises:
        PuraError: It cannot be read.
    """
    extraction = read_document(path, options=options, heartbeat=context.checkpoint)
    documents = _parts_beside(extraction, parts)
    for document in documents:
        _ = document.digest
    return documents


def _parts_beside(extraction: Extraction, parts: Sequence[str]) -> tuple[Document, ...]:
    """Return parts by name; what the usual parts hold does not count as left out by them."""
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
    """Read a file, and show what it looks like in each encoding.

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
    """Say in one line how many files were taken and left out."""
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
    """Say why a name was left out."""
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
    """Rows come in; the first of them goes on screen."""

    def __init__(self, texts: TextList, rows: Sequence[Item], description: str) -> None:
        super().__init__(description)
        self._texts, self._items = texts, tuple(rows)

    def redo(self) -> None:
        """Put the rows in."""
        self._texts.queue.insert(self._items)
        self._texts.show(self._items[0])

    def undo(self) -> None:
        """Take them out again."""
        _take_out(self._texts, self._items)


class RemoveRows(QUndoCommand):
    """Rows go out."""

    def __init__(self, texts: TextList, rows: Sequence[Item], description: str) -> None:
        super().__init__(description)
        queue = texts.queue
        self._texts = texts
        self._items = sorted(rows, key=queue.row)
        self._rows = [queue.row(row) for row in self._items]

    def redo(self) -> None:
        """Take the rows out."""
        _take_out(self._texts, self._items)

    def undo(self) -> None:
        """Put them back where they were."""
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
    """The rows, in the window's thread; files are read in a worker thread.

    Args:
        files: The queue that reads files.
        settings: Remember which files were opened.

    Attributes:
        queue: The rows, as a model of Qt's.
        current: The row on screen.
        dropped: Rows that were dropped, as long as nobody has asked what becomes of them.
        undo: What can be taken back.
        folder_options: How folders are gone through.
        left_out: What the last folder held that was not taken.

    Signals:
        current_changed: Another row is on screen, or none.
        item_changed: The row on screen has changed.
        prompted: What is known of a row's prompt has changed: the row.
        wanted: A row that is to be audited has been read: the row.
        unreadable: No text could be made of a row: the row, and the UnreadFile.
        leaving: Rows go out, so whatever reads them ends: the rows.
        report_seen: A file that was read carries the record of a report: its path.
        noticed: Something to say in the status line.
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
            paths: Where they are.
            dropped: Those that are no folders are examined by themselves, where that is wanted.
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
        """Add what a walk through a folder found; later batches leave the screen alone."""
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
        """Read the file of a row; one that was cut off or cancelled stays so."""
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
        """Return how files are read; asked in a job, since it reads a list."""
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
        """Put the further texts of a file behind its row."""
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
        """Read the parts of a row's file that its finding left out, and have them audited."""
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
        """Put what could not be read of a file behind its row: that it was not is a finding."""
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
        """Let a row hold another reading of its file; further parts become rows behind it."""
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
        """Add the sample text, which brings its own key and profile, and let it be audited."""
        marked = sample()
        label = translate("Session", "Sample text")
        document = from_text(marked.text, name=label)
        row = self.new_row(label, sample=True, document=document, profile=marked.profile)
        row.key = sample_key()
        self.dropped.append(row)
        self._add([row], translate("Session", "opening"))

    def add_audit(self, audit: Audit) -> None:
        """Add an audit that was made by somebody else, and show it."""
        name = audit.input.name
        row = self.new_row(name, state=ItemState.DONE, audit=audit, imported=True)
        row.finding = listed(audit)
        if audit.text is not None:
            with suppress(PuraError):
                row.document = from_text(audit.text, name=name)
        self._add([row], translate("Session", "opening"))

    def add_restored(self, rows: Sequence[Item]) -> None:
        """Put the rows of an earlier run back, before those that are there."""
        for row in rows:
            row.number = next(self._numbers)
        self.queue.insert(rows, 0)
        if self.current is None:
            self.show(rows[-1])

    def _add(self, rows: Sequence[Item], description: str) -> None:
        self.undo.push(AddRows(self, rows, description))

    # Rows

    def show(self, row: Item | None) -> None:
        """Bring a row on screen."""
        if row is not self.current:
            self.current = row
            self.current_changed.emit()

    def remove(self, rows: Sequence[Item]) -> None:
        """Take rows out; can be undone. A running one is cancelled first."""
        if rows:
            self.leaving.emit(rows)
            self.undo.push(RemoveRows(self, rows, translate("Session", "removing")))

    def set_prompt(self, row: Item, prompt: str, *, several: bool) -> None:
        """Note the known prompt of a text, or a list of candidates."""
        row.prompt, row.several = prompt, several
        self.prompted.emit(row)

    def load_prompts(self, row: Item, path: Path) -> None:
        """Read a file of candidate prompts for a text."""

        def loaded(prompts: tuple[str, ...]) -> None:
            self.set_prompt(row, candidates_text(prompts), several=True)
            self.touch(row)

        self._files.do(lambda _: read_candidates(path), by_outcome(loaded, self._failed), self)

    def touch(self, row: Item) -> None:
        """Tell everybody that a row has changed."""
        self.queue.touch(row)
        if row is self.current:
            self.item_changed.emit()

    def translate_failures(self) -> None:
        """Say in the language of now why rows failed."""
        for row in self.queue.items:
            if row.failure is not None and row.failure.error is not None:
                row.failure = Failure.of(row.failure.error)
                self.touch(row)

    @property
    def unkept(self) -> int:
        """How many findings are in memory alone, because the case log did not take them."""
        return sum(item.unkept for item in self.queue.items)
