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
        for item in walk(folder, options, checkpoint=context.checkpoint):
            summary.add(item)
            if isinstance(item, Path):
                yield item

    found = files()
    while batch := list(itertools.islice(found, BATCH)):
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
    more = [one for one in extraction.documents if one.part in parts and one not in usual]
    return tuple(one for one in extraction.selected([*usual, *more]) if one.part in parts)


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
        found = translate("Folder", "There is no file in that folder that can be read.")
    else:
        found = filled(
            translate("Folder", "{n:count} {n:plural(file|files)} taken from the folder."),
            n=summary.found,
        )
    if not summary.total_skipped:
        return found
    left = filled(
        translate(
            "Folder",
            "{n:count} {n:plural(name was|names were)} left out (File, What was left out).",
        ),
        n=summary.total_skipped,
    )
    return f"{found} {left}"


def reason_words(reason: str) -> str:
    """Say why a name was left out."""
    words = {
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
    return words[reason]


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

    def __init__(self, texts: TextList, items: Sequence[Item], words: str) -> None:
        super().__init__(words)
        self._texts, self._items = texts, tuple(items)

    def redo(self) -> None:
        """Put the rows in."""
        self._texts.queue.insert(self._items)
        self._texts.show(self._items[0])

    def undo(self) -> None:
        """Take them out again."""
        _take_out(self._texts, self._items)


class RemoveRows(QUndoCommand):
    """Rows go out."""

    def __init__(self, texts: TextList, items: Sequence[Item], words: str) -> None:
        super().__init__(words)
        queue = texts.queue
        self._texts = texts
        self._items = sorted(items, key=queue.row)
        self._rows = [queue.row(item) for item in self._items]

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


def _take_out(texts: TextList, items: Sequence[Item]) -> None:
    queue = texts.queue
    row = min(queue.row(item) for item in items)
    texts.leaving.emit(items)
    queue.remove(items)
    if texts.current in items:
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
        shown = self.current
        self._add_files(paths)
        if shown is not None and len(self.queue.items) > BATCH:
            self.show(shown)

    def _add_files(self, paths: Sequence[Path], *, dropped: bool = False) -> None:
        if not paths:
            return
        loading = ItemState.LOADING
        items = [self.new_row(p.name or str(p), state=loading, path=p) for p in paths]
        self.dropped += items if dropped else ()
        self._add(items, translate("Session", "opening"))
        for item in items:
            self.load(item)

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

    def load(self, item: Item) -> None:
        """Read the file of a row; one that was cut off or cancelled stays so."""
        path = item.path
        if path is not None:
            if item.state not in _CUT:
                item.state = ItemState.LOADING
            self._files.do(
                lambda context: read_file(path, self.options(), context, item.part),
                lambda outcome: self._loaded(item, outcome),
                self,
            )

    def options(self, encoding: str | None = None) -> ReadOptions:
        """Return how files are read; asked in a job, since it reads a list."""
        return ReadOptions(encoding=encoding, trust=trusted(self._paths))

    def _loaded(self, item: Item, outcome: Outcome[FileTexts | UnreadFile]) -> None:
        if item.document is not None or item.state not in (ItemState.LOADING, *_CUT):
            return  # it was taken out and put back meanwhile, and read twice
        wanted, item.wanted = item.wanted, False
        match outcome:
            case Done(UnreadFile() as unread):
                item.state, item.failure = ItemState.FAILED, Failure.of(unread.error)
                self.touch(item)
                self.unreadable.emit(item, unread)
            case Done(FileTexts() as texts):
                first, *others = texts.documents
                item.name = first.title if first.part else item.name
                item.document = first
                item.state = item.state if item.state in _CUT else ItemState.READY
                self.touch(item)
                if texts.report:  # what is meant by it is asked
                    self.dropped = [one for one in self.dropped if one is not item]
                    self.report_seen.emit(item.path)
                self._add_parts(item, others)
                if item.part is None:
                    self._add_unread(item, texts.unread)
                if wanted:
                    self.wanted.emit(item)
            case Failure():
                item.state, item.failure = ItemState.FAILED, outcome
                self.touch(item)

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
            words = translate(
                "Session", "Only the first {most:text} parts of that file were taken."
            )
            self.noticed.emit(filled(words, most=MAX_PARTS))

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
                f"{one.name} · {one.part}" if one.part else one.name,
                path=item.path,
                part=one.part,
                state=ItemState.FAILED,
                failure=Failure.of(one.error),
            )
            for one in parts[: MAX_PARTS - 1]
        ]
        self.queue.insert(rows, self.queue.row(item) + 1)
        for row, one in zip(rows, parts, strict=False):
            self.unreadable.emit(row, one)

    def take_documents(self, item: Item, documents: tuple[Document, ...]) -> None:
        """Let a row hold another reading of its file; further parts become rows behind it."""
        if not documents or item.active:
            return
        first, *others = documents
        item.document, item.state, item.name = first, ItemState.READY, first.title
        item.audit, item.failure, item.progress = None, None, None
        item.finding, item.status = None, None
        self.touch(item)
        self._add_parts(item, others)

    def add_text(self, text: str, name: str | None = None, *, dropped: bool = False) -> None:
        """Add a text that was pasted or dropped; see :meth:`add_paths`."""
        label = name or filled(translate("Session", "Pasted text {n:text}"), n=next(self._pastes))
        item = self.new_row(label)
        try:
            item.document = from_text(text[: MAX_CHARACTERS + 1], name=label)
        except PuraError as error:
            item.state, item.failure = ItemState.FAILED, Failure.of(error)
        self.dropped += [item] if dropped else ()
        self._add([item], translate("Session", "pasting"))

    def add_sample(self) -> None:
        """Add the sample text, which brings its own key and profile, and let it be audited."""
        marked = sample()
        label = translate("Session", "Sample text")
        document = from_text(marked.text, name=label)
        item = self.new_row(label, sample=True, document=document, profile=marked.profile)
        item.key = sample_key()
        self.dropped.append(item)
        self._add([item], translate("Session", "opening"))

    def add_audit(self, audit: Audit) -> None:
        """Add an audit that was made by somebody else, and show it."""
        name = audit.input.name
        item = self.new_row(name, state=ItemState.DONE, audit=audit, imported=True)
        item.finding = listed(audit)
        if audit.text is not None:
            with suppress(PuraError):
                item.document = from_text(audit.text, name=name)
        self._add([item], translate("Session", "opening"))

    def add_restored(self, items: Sequence[Item]) -> None:
        """Put the rows of an earlier run back, before those that are there."""
        for item in items:
            item.number = next(self._numbers)
        self.queue.insert(items, 0)
        if self.current is None:
            self.show(items[-1])

    def _add(self, items: Sequence[Item], words: str) -> None:
        self.undo.push(AddRows(self, items, words))

    # Rows

    def show(self, item: Item | None) -> None:
        """Bring a row on screen."""
        if item is not self.current:
            self.current = item
            self.current_changed.emit()

    def remove(self, items: Sequence[Item]) -> None:
        """Take rows out; can be undone. A running one is cancelled first."""
        if items:
            self.leaving.emit(items)
            self.undo.push(RemoveRows(self, items, translate("Session", "removing")))

    def set_prompt(self, item: Item, prompt: str, *, several: bool) -> None:
        """Note the known prompt of a text, or a list of candidates."""
        item.prompt, item.several = prompt, several
        self.prompted.emit(item)

    def load_prompts(self, item: Item, path: Path) -> None:
        """Read a file of candidate prompts for a text."""

        def loaded(prompts: tuple[str, ...]) -> None:
            self.set_prompt(item, candidates_text(prompts), several=True)
            self.touch(item)

        self._files.do(lambda _: read_candidates(path), by_outcome(loaded, self._failed), self)

    def touch(self, item: Item) -> None:
        """Tell everybody that a row has changed."""
        self.queue.touch(item)
        if item is self.current:
            self.item_changed.emit()

    def translate_failures(self) -> None:
        """Say in the language of now why rows failed."""
        for item in self.queue.items:
            if item.failure is not None and item.failure.error is not None:
                item.failure = Failure.of(item.failure.error)
                self.touch(item)

    @property
    def unkept(self) -> int:
        """How many findings are in memory alone, because the case log did not take them."""
        return sum(item.unkept for item in self.queue.items)
