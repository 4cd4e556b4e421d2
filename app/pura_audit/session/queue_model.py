"""The list of texts as a Qt model; a row is a text with the state of its audit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from pura.caselog import CaseStatus
from pura.caselog.cases import UNFILED
from pura.detect.verdict.expect import language_of
from pura.documents import Document
from pura.record.audit import Audit
from pura.record.finding import Finding
from pura.scheme import Profile
from pura_audit.jobs.queue import Failure, Progress
from pura_audit.platform.i18n import filled, language, size, translate
from pura_audit.session.choices import KeyChoice


class ItemState(StrEnum):
    """State of a row."""

    LOADING = "loading"
    READY = "ready"
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"


@dataclass(kw_only=True, eq=False)
class Item:
    """A row of the list; used in the window's thread only.

    Attributes:
        number: Number that is unique within the run.
        name: Name for people.
        path: Path of the file; None for a pasted text.
        part: The single part of the file that the row stands for; None for the usual parts.
        document: The text; None until it was read.
        known_length: Number of characters that an earlier run noted.
        known_digest: Digest of the text that an earlier run noted.
        prompt: The known prompt; empty for none.
        several: Whether the prompt is a list of candidates, one a line.
        key: The key to use instead of the chosen one (samples bring their own).
        profile: The profile to use instead of the chosen one.
        state: State of the row.
        progress: Progress of the running audit.
        looks: Number of tokens read, and log10 evidence, at each interim look.
        wanted: Whether it is audited as soon as its file was read.
        sample: Whether it is the sample text.
        imported: Whether its audit was made elsewhere and opened here.
        audit: The record of the finished audit, if it is in memory.
        finding: The short form of the finding, once the audit is done.
        status: State of the finding in the case log; None if it is not saved.
        report: The report that was last written in this run.
        original: File with the examined bytes, chosen to show its pages.
        failure: Why the audit failed, or the finding could not be saved.
    """

    number: int
    name: str
    path: Path | None = None
    part: str | None = None
    document: Document | None = None
    known_length: int = 0
    known_digest: str = ""
    prompt: str = ""
    several: bool = False
    key: KeyChoice | None = None
    profile: Profile | None = None
    state: ItemState = ItemState.LOADING
    progress: Progress | None = None
    looks: list[tuple[int, float]] = field(default_factory=list)
    wanted: bool = False
    sample: bool = False
    imported: bool = False
    audit: Audit | None = None
    finding: Finding | None = None
    status: CaseStatus | None = None
    report: Path | None = None
    original: Path | None = None
    failure: Failure | None = None

    @property
    def digest(self) -> str:
        """SHA-256 of the text in hexadecimal; empty until the text was read."""
        return self.document.digest if self.document is not None else self.known_digest

    @property
    def runnable(self) -> bool:
        """Whether its audit can be requested; a file without a text is read again first."""
        has_text = self.document is not None or self.path is not None
        return has_text and self.state is not ItemState.LOADING and not self.active

    @property
    def unkept(self) -> bool:
        """Whether its finding could not be saved."""
        return self.audit is not None and self.status is None and not self.imported

    @property
    def examined(self) -> bool:
        """Whether its text was examined and has a finding."""
        finished = self.state is ItemState.DONE
        return finished and (self.finding is None or self.finding.verdict != "not-examinable")

    @property
    def shown(self) -> Audit | None:
        """The audit to show: the last one, even while the text is audited again."""
        return self.audit if self.state is ItemState.DONE or self.active else None

    @property
    def active(self) -> bool:
        """Whether its audit waits or runs."""
        return self.state in (ItemState.WAITING, ItemState.RUNNING)


def listed(audit: Audit) -> Finding:
    """Return the short form of a finding for the list, with the guessed language of the text."""
    return replace(audit.finding.brief(), language=language_of(audit.text or ""))


ITEM_ROLE: Final = Qt.ItemDataRole.UserRole + 1
# Removing more runs of rows than this resets the model: its views then look once, not for each run.
MAX_RUNS: Final = 50
FOR_REVIEW: Final = ("mark", "indication")  # what a second person has to look at
Index = QModelIndex | QPersistentModelIndex


def state_words(state: ItemState) -> str:
    """Return the name of the state of a text without a finding, for list, table and card."""
    return {
        ItemState.LOADING: translate("Queue", "Opening"),
        ItemState.READY: translate("Queue", "Ready"),
        ItemState.WAITING: translate("Queue", "Waiting"),
        ItemState.RUNNING: translate("Queue", "Auditing"),
        ItemState.CANCELLED: translate("Queue", "Cancelled"),
        ItemState.INTERRUPTED: translate("Queue", "Interrupted"),
        ItemState.FAILED: translate("Queue", "Failed"),
    }.get(state, "")


def verdict_words(row: Item) -> str:
    """Return the line below the name of a row."""
    if row.state is ItemState.RUNNING:
        return _running(row)
    if row.state is ItemState.FAILED and row.failure is not None:
        return row.failure.message
    if row.state is ItemState.DONE:
        return row.finding.title(language()) if row.finding is not None else ""
    return state_words(row.state)


def case_words(name: str) -> str:
    """Return the displayed name of a case; that of the case “Unfiled” is translated."""
    return translate("Cases", "Unfiled") if name == UNFILED else name


def saved_words(row: Item) -> str:
    """Return whether a finding is saved."""
    if row.finding is None:
        return ""
    if row.status is None:
        return "" if row.imported else translate("Queue", "not saved")
    return translate("Queue", "saved")


def review_words(row: Item) -> str:
    """Return the state of the review of a finding; empty if none is needed."""
    if row.finding is None or row.status is None:
        return ""
    if row.status.review == "confirmed":
        return translate("Queue", "reviewed")
    if row.status.review == "disputed":
        return translate("Queue", "disputed")
    return translate("Queue", "to review") if row.finding.verdict in FOR_REVIEW else ""


def status_words(row: Item) -> str:
    """Return whether a finding is saved and reviewed."""
    return " · ".join(filter(None, (saved_words(row), review_words(row))))


def _running(row: Item) -> str:
    progress = row.progress
    share = progress.share if progress is not None else None
    if share is None:
        return translate("Queue", "Loading the model")
    percentage = f"{int(100 * share)}\N{NO-BREAK SPACE}%"
    return filled(translate("Queue", "Auditing, {share:text}"), share=percentage)


def measure_words(row: Item) -> str:
    """Return the size of a row's text in tokens, or in bytes while tokens are unknown."""
    if row.finding is not None:
        count = row.finding.tokens
        return filled(translate("Queue", "{n:count} {n:plural(token|tokens)}"), n=count)
    return size(row.document.size_bytes) if row.document is not None else ""


class QueueModel(QAbstractListModel):
    """The rows of the list, in order.

    Signals:
        counted: The number of rows has changed.
    """

    counted = Signal(int)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._items: list[Item] = []
        self._places: dict[int, int] | None = None  # by the row's identity, until rows move

    def rowCount(self, parent: Index | None = None) -> int:
        """Return the number of rows."""
        return 0 if parent is not None and parent.isValid() else len(self._items)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the name of a row, its description, or the row itself."""
        if not index.isValid() or not 0 <= index.row() < len(self._items):
            return None
        item = self._items[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return item.name
            case Qt.ItemDataRole.AccessibleTextRole | Qt.ItemDataRole.ToolTipRole:
                lines = [item.name, verdict_words(item)]
                if item.failure is not None and item.state is ItemState.FAILED:
                    lines.append(item.failure.hint)
                lines += [status_words(item), measure_words(item)]
                joint = "\n" if role == Qt.ItemDataRole.ToolTipRole else ". "
                return joint.join(w for w in lines if w)
            case _ if role == ITEM_ROLE:
                return item
        return None

    @property
    def items(self) -> tuple[Item, ...]:
        """All rows."""
        return tuple(self._items)

    def item(self, row: int) -> Item | None:
        """Return a row, or None."""
        return self._items[row] if 0 <= row < len(self._items) else None

    def find(self, number: int) -> Item | None:
        """Return the row with a number, or None if it was removed."""
        return next((item for item in self._items if item.number == number), None)

    def row(self, item: Item) -> int:
        """Return the index of a row; -1 if it is not in the list."""
        if self._places is None:
            self._places = {id(item): i for i, item in enumerate(self._items)}
        return self._places.get(id(item), -1)

    def insert(self, rows: Iterable[Item], row: int | None = None) -> None:
        """Insert rows at an index, or at the end."""
        new = list(rows)
        if not new:
            return
        index = len(self._items) if row is None else min(row, len(self._items))
        self.beginInsertRows(QModelIndex(), index, index + len(new) - 1)
        self._items[index:index] = new
        self._places = None
        self.endInsertRows()
        self.counted.emit(len(self._items))

    def remove(self, items: Iterable[Item]) -> None:
        """Remove rows."""
        rows = sorted({row for item in items if (row := self.row(item)) >= 0}, reverse=True)
        runs = _runs(rows)
        if len(runs) > MAX_RUNS:  # one word for all of them: whoever listens looks once
            removed = set(rows)
            self.beginResetModel()
            self._items = [item for row, item in enumerate(self._items) if row not in removed]
            self._places = None
            self.endResetModel()
            runs = []
        for last, first in runs:
            self.beginRemoveRows(QModelIndex(), first, last)
            del self._items[first : last + 1]
            self._places = None
            self.endRemoveRows()
        self.counted.emit(len(self._items))

    def touch(self, item: Item) -> None:
        """Report that a row has changed."""
        row = self.row(item)
        if row >= 0:
            index = self.index(row)
            self.dataChanged.emit(index, index)

    def count_words(self) -> str:
        """Return the number of rows in words."""
        count = len(self._items)
        if count == 0:
            return ""
        return filled(translate("Queue", "{n:count} {n:plural(text|texts)}"), n=count)


def _runs(falling: list[int]) -> list[tuple[int, int]]:
    """Return runs of neighbouring rows as (last, first), the last run first."""
    runs: list[tuple[int, int]] = []
    for row in falling:
        if runs and runs[-1][1] == row + 1:
            runs[-1] = (runs[-1][0], row)
        else:
            runs.append((row, row))
    return runs
