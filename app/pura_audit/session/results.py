"""Results: every text of the list, and opened results of a batch, as one table.

Sorting and filtering work on plain values, not through a proxy: ten thousand rows are in order
again before anybody sees it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QFont

from pura.base.catalogue import catalogue
from pura.record.finding import Finding
from pura.record.naming import NamedPayload
from pura.words.sentences import title
from pura_audit.jobs.queue import JobContext
from pura_audit.platform.i18n import decimal, filled, language, number, translate
from pura_audit.session.queue_model import (
    Item,
    ItemState,
    QueueModel,
    case_words,
    review_words,
    saved_words,
    state_words,
    verdict_words,
)

if TYPE_CHECKING:
    from pura.batch.results import Row

Index = QModelIndex | QPersistentModelIndex
ROW_ROLE: Final = Qt.ItemDataRole.UserRole + 1
COLUMNS: Final = (
    "name",
    "part",
    "outcome",
    "payload",
    "error",
    "evidence",
    "share",
    "tokens",
    "language",
    "saved",
    "review",
)
NUMBERS: Final = {"evidence": "log10_e", "share": "share", "tokens": "tokens"}
"""Columns of numbers, with the attribute of a finding behind each."""
KINDS: Final = (
    "mark",
    "indication",
    "no-mark",
    "in-part",
    "insufficient",
    "not-measured",
    "not-examinable",
    "failed",
    "waiting",
)
"""Groups of rows, in the order of the filter."""
BY_OUTCOME: Final = "outcome"
BY_TEXT: Final = "text"
GROUPINGS: Final = (BY_OUTCOME, BY_TEXT)
_ONCE: Final = "once"
_UNKNOWN: Final = "unknown"


@dataclass(frozen=True, kw_only=True)
class Heading:
    """The heading above the rows of a group.

    Attributes:
        group: The group: one of :data:`KINDS`, or the digest of a text.
        words: Title and number of rows.
        folded: Whether the rows are hidden.
    """

    group: str
    words: str
    folded: bool


@dataclass(kw_only=True, eq=False)
class ResultRow:
    """A row of the table: a text of the list, or a row of an opened result.

    Attributes:
        name: Name for people.
        part: Part of its file, or the name of the result file that it comes from.
        item: The text of the list; None for a row of a result.
        finding: The finding of a row of a result, or None.
        error: Why it has no finding or could not be examined.
        row: The row of a result as read.
    """

    name: str
    part: str = ""
    item: Item | None = None
    finding: Finding | None = None
    error: str = ""
    row: Row | None = None

    @property
    def kind(self) -> str:
        """One of :data:`KINDS`."""
        item = self.item
        if item is not None and item.state is not ItemState.DONE:
            return "failed" if item.state is ItemState.FAILED else "waiting"
        finding = self.finding if item is None else item.finding
        return "failed" if finding is None else finding.outcome

    @property
    def digest(self) -> str:
        """SHA-256 of the text in hexadecimal; empty if unknown."""
        if self.row is not None:
            return self.row["digest"] or ""
        return self.item.digest if self.item is not None else ""

    @property
    def found(self) -> Finding | None:
        """The finding, or None."""
        return self.item.finding if self.item is not None else self.finding

    def cell(self, column: str) -> str:
        """Return the text of a column."""
        if column in _FINDING_CELLS:
            return "" if self.found is None else _FINDING_CELLS[column](self.found)
        return _CELLS[column](self)

    def number(self, column: str) -> float | None:
        """Return the value of one of the :data:`NUMBERS`; None without a finding."""
        return None if self.found is None else getattr(self.found, NUMBERS[column])

    def order(self, column: str) -> tuple[bool, Any]:
        """Return the sort key of the row; rows without a value come last."""
        if column == "outcome":
            return False, KINDS.index(self.kind)
        if column in NUMBERS:
            value = self.number(column)
            return value is None, value if value is not None else 0
        text = self.cell(column).casefold()
        return not text, text


def _outcome(row: ResultRow) -> str:
    failed = state_words(ItemState.FAILED)  # why it has stands in a column of its own
    if row.item is not None and row.item.state is not ItemState.DONE:
        return failed if row.item.state is ItemState.FAILED else verdict_words(row.item)
    return row.found.title(language()) if row.found is not None else failed


def _payload(finding: Finding) -> str:
    return "; ".join(_named(m.payload) for m in finding.marks) if finding.verdict == "mark" else ""


def _named(payload: NamedPayload) -> str:
    """Return the name of an identified payload; empty if it is not identified."""
    parts = [f"{field.name} {field.text}" for field in payload.fields if field.identified]
    if not payload.identified:
        parts.append(catalogue("findings").fill("payload.open-unweighed", language(), {}))
    return ", ".join(parts) or payload.best


def _error(row: ResultRow) -> str:
    if row.item is not None and row.item.failure is not None:
        return row.item.failure.message
    return row.error


def _saved(row: ResultRow) -> str:
    if row.item is None:
        return ""
    status = row.item.status
    name = "" if status is None else case_words(status.name or "")
    return name or saved_words(row.item)


def _share(finding: Finding) -> str:
    return "" if finding.share is None else f"{100 * finding.share:.0f}\N{NO-BREAK SPACE}%"


def _evidence(finding: Finding) -> str:
    return "" if finding.verdict == "not-examinable" else decimal(finding.log10_e, 1)


_FINDING_CELLS: Final[dict[str, Callable[[Finding], str]]] = {
    "payload": _payload,
    "evidence": _evidence,
    "share": _share,
    "tokens": lambda finding: number(finding.tokens) if finding.tokens else "",
    "language": lambda finding: finding.language,
}
"""Columns that only a finding fills."""
_CELLS: Final[dict[str, Callable[[ResultRow], str]]] = {
    "name": lambda row: row.name,
    "part": lambda row: row.part,
    "outcome": _outcome,
    "saved": _saved,
    "review": lambda row: review_words(row.item) if row.item is not None else "",
    "error": _error,
}


def headers() -> dict[str, str]:
    """Return the headers of the columns."""
    return {
        "name": translate("Results", "Text"),
        "part": translate("Results", "Part"),
        "outcome": translate("Results", "Outcome"),
        "payload": translate("Results", "For whom, when"),
        "evidence": translate("Results", "Evidence, log₁₀"),
        "share": translate("Results", "Marked"),
        "tokens": translate("Results", "Tokens"),
        "language": translate("Results", "Language"),
        "saved": translate("Results", "Case"),
        "review": translate("Results", "Review"),
        "error": translate("Results", "Reason"),
    }


def kind_words(kind: str) -> str:
    """Return the name of a group of rows."""
    unfinished = {
        "failed": state_words(ItemState.FAILED),
        "waiting": translate("Results", "Still to audit"),
    }
    return unfinished.get(kind) or title(kind, language())


def _by_outcome(rows: Iterable[ResultRow]) -> dict[str, tuple[str, list[ResultRow]]]:
    groups: dict[str, list[ResultRow]] = {kind: [] for kind in KINDS}
    for row in rows:
        groups[row.kind].append(row)
    return {
        kind: (f"{kind_words(kind)}   {number(len(members))}", members)
        for kind, members in groups.items()
        if members
    }


def _by_text(
    rows: Iterable[ResultRow], times: Counter[str]
) -> dict[str, tuple[str, list[ResultRow]]]:
    """Group equal texts; then single texts, then texts that were not read.

    Args:
        rows: The visible rows.
        times: How often each text occurs in the table, visible or not.
    """
    several: dict[str, list[ResultRow]] = {}
    once: list[ResultRow] = []
    unknown: list[ResultRow] = []
    for row in rows:
        if not row.digest:
            unknown.append(row)
        elif times[row.digest] == 1:
            once.append(row)
        else:
            several.setdefault(row.digest, []).append(row)
    groups = {
        digest: (_times_words(members, times[digest]), members)
        for digest, members in several.items()
    }
    if once:
        heading = translate("Results", "Texts that are in the list only once")
        groups[_ONCE] = f"{heading}   {number(len(once))}", once
    if unknown:
        heading = translate("Results", "Text not read")
        groups[_UNKNOWN] = f"{heading}   {number(len(unknown))}", unknown
    return groups


def _times_words(rows: Sequence[ResultRow], times: int) -> str:
    """Return how often a text occurs, and its outcome if all its rows agree."""
    template = translate("Results", "{n:count} times the same text: {name:text}")
    parts = [filled(template, n=times, name=rows[0].name)]
    if len(rows) < times:
        parts.append(filled(translate("Results", "{n:count} shown"), n=len(rows)))
    outcomes = {_outcome(row) for row in rows}
    parts += outcomes if len(outcomes) == 1 else ()
    return " · ".join(parts)


def _row(item: Item) -> ResultRow:
    document = item.document
    return ResultRow(name=item.name, part=document.part if document else "", item=item)


class ResultsModel(QAbstractTableModel):
    """The table of all rows, filtered and sorted.

    Args:
        queue: The list of texts; the table follows it.

    Signals:
        counted: The number of rows in the groups may have changed.
    """

    counted = Signal()

    def __init__(self, queue: QueueModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._queue = queue
        self._rows = [_row(item) for item in queue.items]
        self._opened: list[ResultRow] = []
        self._shown: list[ResultRow | Heading] = []
        self._folded: set[str] = set()
        self._places: dict[int, int] = {}
        self._at: dict[int, int] = {}
        self._marks: dict[int, tuple[str, str]] = {}  # of the rows, when they were arranged
        self._column, self._falling, self._grouping = "", False, ""
        self._kind, self._words = "", ""
        self._empty: dict[str, bool] = {}  # known of columns, until rows change
        queue.rowsInserted.connect(self._inserted)
        queue.rowsRemoved.connect(self._removed)
        queue.dataChanged.connect(self._changed)
        queue.modelReset.connect(self._renewed)
        self._later = QTimer(self, singleShot=True)
        self._later.timeout.connect(self._arrange)
        self._arrange()

    # As Qt asks

    def rowCount(self, parent: Index | None = None) -> int:
        """Return the number of rows that are shown."""
        return 0 if parent is not None and parent.isValid() else len(self._shown)

    def columnCount(self, parent: Index | None = None) -> int:
        """Return the number of columns."""
        return 0 if parent is not None and parent.isValid() else len(COLUMNS)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the text or alignment of a cell, or the row itself."""
        if not index.isValid():
            return None
        row, column = self._shown[index.row()], COLUMNS[index.column()]
        if isinstance(row, Heading):
            return self._heading(row, column, role)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return row.cell(column)
        if role == Qt.ItemDataRole.TextAlignmentRole and column in NUMBERS:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return row if role == ROW_ROLE else None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Return the header of a column."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            sides = Qt.AlignmentFlag
            side = sides.AlignRight if COLUMNS[section] in NUMBERS else sides.AlignLeft
            return int(side | sides.AlignVCenter)
        return headers()[COLUMNS[section]] if role == Qt.ItemDataRole.DisplayRole else None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; -1 restores the order of the list."""
        self._column = COLUMNS[column] if column >= 0 else ""
        self._falling = order == Qt.SortOrder.DescendingOrder
        self._arrange()

    # As the view asks

    @property
    def rows(self) -> Sequence[ResultRow]:
        """The visible rows, in order."""
        return [row for row in self._shown if isinstance(row, ResultRow)]

    @property
    def opened(self) -> Sequence[ResultRow]:
        """The rows of opened results."""
        return tuple(self._opened)

    @property
    def headings(self) -> dict[int, Heading]:
        """The visible headings, by index; empty if rows are not grouped."""
        return {n: row for n, row in enumerate(self._shown) if isinstance(row, Heading)}

    def empty(self, column: str) -> bool:
        """Return whether a column is empty in all rows."""
        if column not in self._empty:
            rows = (*self._rows, *self._opened)
            self._empty[column] = not any(row.cell(column) for row in rows)
        return self._empty[column]

    def place(self, row: ResultRow | Heading | None) -> int:
        """Return the index of a row or of its group's heading; -1 if it is hidden."""
        if isinstance(row, Heading):
            return next(
                (n for n, heading in self.headings.items() if heading.group == row.group), -1
            )
        return self._at.get(id(row), -1)

    def place_of(self, item: Item) -> int | None:
        """Return the index of a text's row; None if it is hidden."""
        return self._places.get(id(item))

    def counts(self) -> Counter[str]:
        """Return the number of rows of each group, visible or not."""
        return Counter(row.kind for row in (*self._rows, *self._opened))

    def show_only(self, kind: str, search: str) -> None:
        """Show the rows of one group ("" for all) that contain all words of a search."""
        self._kind, self._words = kind, search.casefold().strip()
        self._arrange()

    @property
    def grouping(self) -> str:
        """The grouping: one of :data:`GROUPINGS`, or empty for none."""
        return self._grouping

    def group(self, grouping: str) -> None:
        """Group the rows by outcome or by text."""
        self._grouping = grouping
        self._arrange()

    def fold(self, group: str, *, folded: bool) -> None:
        """Fold or unfold a group."""
        if (group in self._folded) is folded:
            return
        (self._folded.add if folded else self._folded.discard)(group)
        self._arrange()

    def open_rows(self, rows: Sequence[ResultRow]) -> None:
        """Add the rows of a result."""
        self._opened += rows
        self._empty.clear()
        self._arrange()

    # Inside

    def _arrange(self) -> None:
        rows = [row for row in (*self._rows, *self._opened) if self._wanted(row)]
        if self._column:
            column = self._column
            keyed = [(row.order(column), row) for row in rows]
            last = [row for (missing, _), row in keyed if missing]
            present = [(key, row) for (missing, key), row in keyed if not missing]
            present.sort(key=lambda pair: pair[0], reverse=self._falling)
            rows = [row for _, row in present] + last
        self._later.stop()
        self.beginResetModel()
        self._shown = self._under_headings(rows) if self._grouping else [*rows]
        self._places = {
            id(row.item): line
            for line, row in enumerate(self._shown)
            if isinstance(row, ResultRow) and row.item
        }
        self._at = {id(row): line for line, row in enumerate(self._shown)}
        if self._grouping == BY_TEXT:
            self._marks = {id(row): self._mark(row) for row in rows}
        self.endResetModel()
        self.counted.emit()

    def _mark(self, row: ResultRow) -> tuple[str, str]:
        """Return what decides the group and the position of a row."""
        return row.kind, row.digest if self._grouping == BY_TEXT else ""

    def _under_headings(self, rows: Sequence[ResultRow]) -> list[ResultRow | Heading]:
        if self._grouping == BY_TEXT:
            groups = _by_text(rows, Counter(r.digest for r in (*self._rows, *self._opened)))
        else:
            groups = _by_outcome(rows)
            by_kind = groups.items()
            self._marks = {id(row): (kind, "") for kind, (_, members) in by_kind for row in members}
        lines: list[ResultRow | Heading] = []
        for group, (heading, row_group) in groups.items():
            folded = group in self._folded
            lines.append(Heading(group=group, words=heading, folded=folded))
            lines += [] if folded else row_group
        return lines

    def _heading(self, row: Heading, column: str, role: int) -> Any:
        if role == ROW_ROLE:
            return row
        if column != COLUMNS[0]:
            return None
        if role == Qt.ItemDataRole.AccessibleTextRole:
            closed = translate("Results", "{words:text}, closed")
            return filled(closed, words=row.words) if row.folded else row.words
        if role == Qt.ItemDataRole.FontRole:
            font = QFont()
            font.setBold(True)
            return font
        arrow = "\N{BLACK RIGHT-POINTING SMALL TRIANGLE}"
        arrow = arrow if row.folded else "\N{BLACK DOWN-POINTING SMALL TRIANGLE}"
        return f"{arrow}  {row.words}" if role == Qt.ItemDataRole.DisplayRole else None

    def _wanted(self, row: ResultRow) -> bool:
        if self._kind and row.kind != self._kind:
            return False
        if not self._words:
            return True
        terms, name = self._words.split(), row.name.casefold()
        if all(word in name for word in terms):  # before what takes longer to write
            return True
        searched = f"{name}\n{row.part}\n{row.cell('payload')}\n{_error(row)}".casefold()
        return all(word in searched for word in terms)

    def _inserted(self, _parent: QModelIndex, first: int, last: int) -> None:
        self._rows[first:first] = map(_row, self._queue.items[first : last + 1])
        self._arrange_soon()

    def _renewed(self) -> None:
        self._rows = [_row(item) for item in self._queue.items]
        self._arrange_soon()

    def _removed(self, _parent: QModelIndex, first: int, last: int) -> None:
        del self._rows[first : last + 1]
        self._arrange_soon()

    def _arrange_soon(self) -> None:
        self._empty.clear()
        self._later.start()

    def _changed(self, first: QModelIndex, last: QModelIndex) -> None:
        """Update changed rows; they keep their positions until the user sorts or filters.

        In a grouped table, a row moves to its group.
        """
        self._empty.clear()
        for index in range(first.row(), last.row() + 1):
            item = self._queue.item(index)
            if item is None:
                continue
            row = self._rows[index]
            row.name = item.name
            row.part = item.document.part if item.document is not None else row.part
            if self._grouping:
                mark = self._mark(row)
                if self._marks.get(id(row), mark) != mark:
                    self._later.start()
            line = self._places.get(id(item))
            if line is not None:
                self.dataChanged.emit(self.index(line, 0), self.index(line, len(COLUMNS) - 1))
        self.counted.emit()


def opened_result(path: Path, context: JobContext) -> list[ResultRow]:
    """Read the result of ``pura batch``.

    Raises:
        PuraError: The file cannot be read or is no result.
    """
    from pura.batch.results import finding_in, read_rows

    rows = []
    for row in read_rows(str(path)):
        context.checkpoint()
        rows.append(
            ResultRow(
                name=row["id"] or Path(row["path"]).name,
                part=" · ".join(filter(None, (row["part"], path.name))),
                finding=finding_in(row),
                error=row["message"] or "",
                row=row,
            )
        )
    return rows
