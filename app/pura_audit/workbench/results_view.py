"""The table of all texts: filter, sort, group, audit the rest, export, and open results."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import (
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QRect,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QPainter, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from pura_audit.jobs.queue import by_outcome
from pura_audit.platform.i18n import filled, number, translate
from pura_audit.platform.settings import SettingsFile
from pura_audit.session.export import export_rows
from pura_audit.session.queue_model import Item, ItemState
from pura_audit.session.results import (
    BY_OUTCOME,
    BY_TEXT,
    COLUMNS,
    KINDS,
    ROW_ROLE,
    Heading,
    Index,
    ResultRow,
    ResultsModel,
    headers,
    kind_words,
    opened_result,
)
from pura_audit.session.session import Session
from pura_audit.theme.theme import GAP, GRID, PADDING, Theme
from pura_audit.widgets.card import (
    Card,
    ElidedLabel,
    add_parts,
    label,
    progress_bar,
    push_button,
    row_of,
    search_field,
)
from pura_audit.widgets.form_dialog import ask_file, ask_target, plain_button
from pura_audit.widgets.working_dialog import let_sort, make_table
from pura_audit.workbench.state_views import left_words

MOST_FILTERS: Final = 12  # that the menu stores
Filter = tuple[str, str]
"""A filter: one of :data:`~pura_audit.session.results.KINDS` or "", and search words."""


class ResultsMenu(QMenu):
    """The menu of groupings, stored filters and columns, which is filled each time it opens.

    Args:
        model: The rows.
        settings: The settings, which store filters and columns.
        current: Returns the filter in use.
        use: Applies a filter.
        renewed: Called after the columns have changed.
        parent: Owns the menu.
    """

    def __init__(
        self,
        model: ResultsModel,
        settings: SettingsFile,
        *,
        current: Callable[[], Filter],
        use: Callable[[Filter], None],
        renewed: Callable[[], None],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._model, self._settings, self._current = model, settings, current
        self._use, self._renewed = use, renewed
        self.aboutToShow.connect(self.fill)

    @property
    def filters(self) -> tuple[Filter, ...]:
        """The stored filters."""
        stored = (
            stored_filter.partition(":") for stored_filter in self._settings.current.pile_filters
        )
        return tuple((kind, search) for kind, _, search in stored if kind in ("", *KINDS))

    def fill(self) -> None:
        """Fill the menu."""
        self.clear()
        for grouping, name in grouping_words().items():
            entry = self.addAction(name)
            entry.setCheckable(True)
            entry.setChecked(grouping == self._model.grouping)
            entry.toggled.connect(
                lambda checked, grouping=grouping: self._model.group(grouping if checked else "")
            )
        self.addSeparator()
        now = self._current()
        for filter_ in self.filters:
            entry = self.addAction(filter_words(filter_))
            entry.setCheckable(True)
            entry.setChecked(filter_ == now)
            entry.triggered.connect(partial(self._use, filter_))
        if now in self.filters:
            self.addAction(
                translate("Results", "Forget this filter"), partial(self.keep, now, False)
            )
        else:
            keep = self.addAction(translate("Results", "Keep this filter"), partial(self.keep, now))
            keep.setEnabled(now != ("", "") and len(self.filters) < MOST_FILTERS)
        self.addSeparator()
        hidden, names = self._settings.current.pile_hidden, headers()
        for column in COLUMNS[1:]:
            entry = self.addAction(names[column])
            entry.setCheckable(True)
            entry.setChecked(column not in hidden)
            entry.toggled.connect(partial(self.show_column, column))

    def keep(self, filter_: Filter, keeping: bool = True) -> None:
        """Store a filter, or delete it."""
        remaining = [f for f in self.filters if f != filter_]
        filters = [*remaining, filter_] if keeping else remaining
        self._settings.update(pile_filters=tuple(f"{kind}:{search}" for kind, search in filters))

    def show_column(self, column: str, visible: bool) -> None:
        """Show or hide a column."""
        hidden = set(self._settings.current.pile_hidden) - {column}
        hidden |= set() if visible else {column}
        self._settings.update(pile_hidden=tuple(c for c in COLUMNS if c in hidden))
        self._renewed()


def grouping_words() -> dict[str, str]:
    """Return the names of the groupings."""
    return {
        BY_OUTCOME: translate("Results", "Group by outcome"),
        BY_TEXT: translate("Results", "Group equal texts"),
    }


def filter_words(filter_: Filter) -> str:
    """Return the name of a filter."""
    kind, search = filter_
    parts = (kind_words(kind) if kind else "", search)
    return " · ".join(part.replace("&", "&&") for part in parts if part)


PAUSE_MS: Final = 200  # between two updates of the counts
WIDTHS: Final = {
    "name": 300,
    "part": 64,
    "outcome": 158,
    "payload": 150,
    "evidence": 126,
    "share": 112,
    "tokens": 68,
    "language": 76,
    "saved": 84,
    "review": 76,
    "error": 190,
}
FLEXIBLE: Final = ("name", "payload", "error")
"""Columns of text, which share the width that the others leave."""
SPARSE: Final = ("part", "error")
"""Columns that are hidden while they are empty."""
SMALLEST: Final = 0.5  # of its width that a column of words keeps
FULL: Final = 20.0  # log10 of the evidence at which the short bar is full
BAR: Final = 56  # pixels of the bar in a cell
LAST: Final = len(COLUMNS) - 1
MAX_SELECTED: Final = 200  # chosen rows that stay chosen when rows take another order


class _Cells(QStyledItemDelegate):
    """Paints the evidence as a short bar, and the positions of marks in the text.

    Long names are elided in the middle, because versions differ at their end.
    """

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        """Set how texts are elided."""
        super().initStyleOption(option, index)
        option.textElideMode = Qt.TextElideMode.ElideMiddle

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:  # type: ignore[override]
        """Draw the cell, with a bar at the left of a number."""
        super().paint(painter, option, index)
        row = index.data(ROW_ROLE)
        finding = row.found if isinstance(row, ResultRow) else None
        if finding is None or finding.verdict == "not-examinable":
            return
        box: QRect = option.rect
        track = QRect(box.left() + 6, box.center().y() - 3, BAR, 7)
        colour = self._theme.colour
        ground = colour("muted")
        ground.setAlphaF(0.2)  # fainter than what it shows, in high contrast as well
        if COLUMNS[index.column()] == "evidence":
            painter.fillRect(track, ground)
            part = max(0.0, min(1.0, finding.log10_e / FULL))
            tone = "support" if finding.verdict == "mark" else "against"
            track.setWidth(round(BAR * part))
            painter.fillRect(track, colour(tone))
        elif COLUMNS[index.column()] == "share" and finding.passages:
            painter.fillRect(track, ground)
            for _, passage in finding.passages:
                length = passage.last_token + 1 - passage.first_token
                left = track.left() + round(BAR * passage.first_token / finding.tokens)
                wide = max(2, round(BAR * length / finding.tokens))
                painter.fillRect(QRect(left, track.top(), wide, 7), colour("support"))


class ResultsView(QWidget):
    """The table of all texts, with its filters and actions.

    Signals:
        item_wanted: A text is to be shown; carries its row.
        audit_wanted: Rows are to be audited; carries them.
        report_wanted: A report of rows is to be made; carries them.
        noticed: A message or a failure for the status line.
    """

    item_wanted = Signal(object)
    audit_wanted = Signal(object)
    report_wanted = Signal(object)
    noticed = Signal(object)

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.model = ResultsModel(session.texts.queue, self)
        self.heading = ElidedLabel(role="reading")
        names = translate("Results", "Search names, payloads and reasons")
        self.search = search_field(translate("Results", "Search"), names)
        self.search.setMinimumWidth(140)
        self.menu = ResultsMenu(
            self.model,
            session.settings,
            current=self._filtered,
            use=self.use_filter,
            renewed=self._show_columns,
            parent=self,
        )
        self.look = push_button(translate("Results", "View"))
        self.look.setMenu(self.menu)
        self.kinds = QListWidget()
        self.kinds.setAccessibleName(translate("Results", "Outcome"))
        self.kinds.setFixedWidth(236)  # most names and their counts, on one line
        self.kinds.setWordWrap(True)  # the names of outcomes are long in other languages
        self.kinds.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.table = make_table(translate("Results", "Texts"))
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.table.setModel(self.model)
        let_sort(self.table)
        header = self.table.horizontalHeader()
        header.setStretchLastSection(True)
        self._drawn = self._sharing = False
        for column_number, name in enumerate(COLUMNS):
            self.table.setColumnWidth(column_number, WIDTHS[name])
        cells = _Cells(theme, self.table)
        for name in ("name", "evidence", "share"):
            self.table.setItemDelegateForColumn(COLUMNS.index(name), cells)
        self.bar = progress_bar(translate("Results", "Audited so far"))
        self.progress = ElidedLabel(role="muted")
        self.rest = push_button("", self.audit_rest, role="main")
        self.retry = plain_button("", self.retry_failed)
        self.pause = plain_button("", self._pause)
        self.export = plain_button(translate("Results", "Export …"), self.ask_export)
        self.open = plain_button(translate("Results", "Open results …"), self.ask_open)
        self.report = plain_button(translate("Results", "Report …"), self._report)
        self._lay_out()
        self._timer = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._wire()
        self._count()

    def _count_soon(self) -> None:
        """Update the counts at intervals, even if changes come faster than that."""
        if not self._timer.isActive():
            self._timer.start()

    def _lay_out(self) -> None:
        head = row_of((self.heading, 1), self.export, self.report)
        foot = row_of((self.progress, 1), self.pause, self.retry, self.rest)
        card, side = Card(inner=PADDING - GRID), Card(inner=GAP)
        add_parts(card.body, head, (self.table, 1), self.bar, foot)
        outcome = label(translate("Results", "Outcome"), "section")
        add_parts(side.body, self.search, outcome, (self.kinds, 1), self.look, self.open)
        row = row_of(side, (card, 1), spacing=GAP, inside=self)
        row.setContentsMargins(GAP, GAP, GAP, GAP)

    def _wire(self) -> None:
        self.model.counted.connect(self._count_soon)
        self._timer.timeout.connect(self._count)
        self.search.textChanged.connect(lambda _: self._filter())
        self.kinds.currentRowChanged.connect(lambda _: self._filter())
        self.table.activated.connect(self._activated)
        self.table.clicked.connect(self._clicked)
        self.table.horizontalHeader().sectionResized.connect(self._note_width)
        self.table.installEventFilter(self)
        self.table.viewport().installEventFilter(self)  # its width is what columns share
        self.model.modelAboutToBeReset.connect(self._remember)
        self.model.modelReset.connect(self._arranged)
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._buttons())
        self._session.jobs.model.busy_changed.connect(self._count)
        shortcut = QShortcut(Qt.Key.Key_Return, self.table)
        shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
        shortcut.activated.connect(self._open_current)

    def go_on_from(self, before: ResultsView) -> None:
        """Take over rows, filters and sorting of an earlier view."""
        self.model.open_rows(before.model.opened)
        self.use_filter(before._filtered())
        self.model.group(before.model.grouping)
        header, old = self.table.horizontalHeader(), before.table.horizontalHeader()
        header.setSortIndicator(old.sortIndicatorSection(), old.sortIndicatorOrder())

    # What is chosen

    def chosen(self) -> list[ResultRow]:
        """Return the selected rows, or all visible ones if at most one is selected."""
        picked = self.table.selectionModel().selectedRows()
        rows = [row for index in picked if isinstance(row := index.data(ROW_ROLE), ResultRow)]
        return rows if len(rows) > 1 else list(self.model.rows)

    def show_item(self, item: Item | None) -> None:
        """Make the row of a text the current one."""
        index = None if item is None else self.model.place_of(item)
        if index is not None:
            self._go_to(index)

    def _go_to(self, index: int) -> None:
        flags = QItemSelectionModel.SelectionFlag
        self.table.selectionModel().setCurrentIndex(
            self.model.index(index, 0), flags.ClearAndSelect | flags.Rows
        )

    def _fold(self, heading: Heading, *, folded: bool) -> None:
        """Fold or unfold a group; its heading stays the current row."""
        self.model.fold(heading.group, folded=folded)
        self._go_to(self.model.place(heading))

    def _arranged(self) -> None:
        """Let headings span all columns, and restore selection and scroll position."""
        self.table.clearSpans()
        for index in self.model.headings:
            self.table.setSpan(index, 0, 1, len(COLUMNS))
        current, selected, top = self._held
        flags, selection = QItemSelectionModel.SelectionFlag, self.table.selectionModel()
        if (index := self.model.place(current)) >= 0:
            selection.setCurrentIndex(self.model.index(index, 0), flags.NoUpdate)
        picked = QItemSelection()
        for row in selected:
            if (index := self.model.place(row)) >= 0:
                picked.select(self.model.index(index, 0), self.model.index(index, LAST))
        selection.select(picked, flags.ClearAndSelect)
        self.table.verticalScrollBar().setValue(top)

    def _remember(self) -> None:
        """Store the selection before the order changes; of very many rows, only the current one."""
        picked = self.table.selectionModel().selectedRows()
        rows = [index.data(ROW_ROLE) for index in picked] if len(picked) <= MAX_SELECTED else []
        top = self.table.verticalScrollBar().value()
        self._held = (self.table.currentIndex().data(ROW_ROLE), rows, top)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Fold or unfold the group of the current heading; share the width after a resize."""
        if event.type() == QEvent.Type.Resize:
            self._share_width()
        heading = self.table.currentIndex().data(ROW_ROLE)
        if event.type() == QEvent.Type.KeyPress and isinstance(heading, Heading):
            key = event.key()  # type: ignore[attr-defined]
            if key in (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Space):
                folded = {Qt.Key.Key_Left: True, Qt.Key.Key_Right: False}
                self._fold(heading, folded=folded.get(key, not heading.folded))
                return True
        return super().eventFilter(watched, event)

    def _clicked(self, index: QModelIndex) -> None:
        heading = index.data(ROW_ROLE)
        if isinstance(heading, Heading):
            self._fold(heading, folded=not heading.folded)

    def _open_current(self) -> None:
        index = self.table.currentIndex()
        self._clicked(index)
        self._activated(index)

    def _activated(self, index: QModelIndex) -> None:
        row = index.data(ROW_ROLE) if index.isValid() else None
        if isinstance(row, ResultRow) and row.item is not None:
            self.item_wanted.emit(row.item)
        elif isinstance(row, ResultRow):
            self.noticed.emit(
                translate("Results", "This row comes from a result; its text is not in the list.")
            )

    # What is done

    def audit_rest(self) -> None:
        """Audit all rows that were not audited yet."""
        rows = [i for i in self._session.texts.queue.items if i.runnable and _fresh(i)]
        self.audit_wanted.emit(rows)

    def retry_failed(self) -> None:
        """Read and audit all failed rows again."""
        rows = [i for i in self._session.texts.queue.items if i.state is ItemState.FAILED]
        self.audit_wanted.emit([i for i in rows if i.runnable])

    def _pause(self) -> None:
        self._session.jobs.model.set_paused(not self._session.jobs.model.paused)
        self._count()

    def _report(self) -> None:
        rows = [row.item for row in self.chosen() if row.item is not None]
        self.report_wanted.emit([i for i in rows if i.finding is not None])

    def ask_export(self) -> None:
        """Ask for the file to export to."""
        ask_target(
            self,
            translate("Results", "Export the table"),
            self.export_to,
            translate("Results", "Excel (*.xlsx)"),
            *("CSV (*.csv)", "Parquet (*.parquet)", "JSON lines (*.jsonl)"),
            suffix="xlsx",
        )

    def export_to(self, path: Path) -> None:
        """Export the selected rows in the format that the file's suffix names."""
        rows, environment = self.chosen(), self._session.cases.environment
        self._session.cases.ask(
            lambda context: export_rows(environment, rows, path, context),
            by_outcome(self._exported, self.noticed.emit),
            self,
        )

    def _exported(self, count: int) -> None:
        template = translate("Results", "{n:plural(One row|{n:count} rows)} exported.")
        self.noticed.emit(filled(template, n=count))

    def ask_open(self) -> None:
        """Ask for results of ``pura batch``."""
        ask_file(
            self,
            translate("Results", "Open results of pura batch"),
            self.open_result,
            translate("Results", "Results (*.jsonl *.parquet)"),
        )

    def open_result(self, path: Path) -> None:
        """Add the rows of a result to the table."""
        self._session.jobs.files.do(
            lambda context: opened_result(path, context),
            by_outcome(self.model.open_rows, self.noticed.emit),
            self,
        )

    # What is said

    def _filter(self) -> None:
        self.model.show_only(*self._filtered())

    def _filtered(self) -> Filter:
        item = self.kinds.currentItem()
        kind = item.data(Qt.ItemDataRole.UserRole) if item is not None else ""
        return kind or "", self.search.text().strip()

    def use_filter(self, filter_: Filter) -> None:
        """Show the rows of one outcome that contain all search words."""
        kind, search = filter_
        self.kinds.setCurrentRow(("", *KINDS).index(kind))
        self.search.setText(search)

    def _show_columns(self) -> None:
        hidden = self._session.settings.current.pile_hidden
        self._sharing = True
        for index, column in enumerate(COLUMNS):
            empty = column in SPARSE and self.model.empty(column)
            self.table.setColumnHidden(index, column in hidden or empty)
        self._sharing = False
        self._share_width()

    def _note_width(self, column: int, _old: int, _new: int) -> None:
        """Stop adjusting the columns once the user has resized one; Qt itself resizes the last."""
        last = max(index for index in range(len(COLUMNS)) if not self.table.isColumnHidden(index))
        self._drawn = self._drawn or not (self._sharing or column == last)

    def _share_width(self) -> None:
        """Share the remaining width among text columns; below a minimum the table scrolls."""
        if self._drawn:
            return
        visible = [
            name for index, name in enumerate(COLUMNS) if not self.table.isColumnHidden(index)
        ]
        advance = self.table.fontMetrics().horizontalAdvance
        present = [advance(kind_words(kind)) + PADDING for kind in self.model.counts()]
        widths = WIDTHS | {"outcome": max([WIDTHS["outcome"], *present])}
        flexible = [widths[name] for name in visible if name in FLEXIBLE]
        room = self.table.viewport().width() - sum(widths[name] for name in visible) + sum(flexible)
        share = max(SMALLEST, room / max(1, sum(flexible)))
        self._sharing = True
        for name in visible:
            width = int(share * widths[name]) if name in FLEXIBLE else widths[name]
            self.table.setColumnWidth(COLUMNS.index(name), width)
        self._sharing = False

    def _count(self) -> None:
        counts = self.model.counts()
        total = sum(counts.values())
        entries = [("", translate("Results", "All"), total)]
        entries += [(kind, kind_words(kind), counts[kind]) for kind in KINDS]
        if self.kinds.count() != len(entries):
            self.kinds.blockSignals(True)
            self.kinds.clear()
            for kind, _, _ in entries:
                line = QListWidgetItem()
                line.setData(Qt.ItemDataRole.UserRole, kind)
                self.kinds.addItem(line)
            self.kinds.setCurrentRow(0)
            self.kinds.blockSignals(False)
        for index, (_, text, count) in enumerate(entries):
            line_ = self.kinds.item(index)
            line_.setText(f"{text}   {number(count)}")
            self._give_lines(line_)
        marks = counts["mark"]
        text = translate(
            "Results",
            "{n:count} {n:plural(text|texts)}, {m:plural(one mark|{m:count} with a mark)}",
        )
        self.heading.setText(filled(text, n=total, m=marks))
        waiting, failed = counts["waiting"], counts["failed"]
        finished = total - waiting
        self.bar.setRange(0, max(1, total))
        self.bar.setValue(finished)
        text = translate("Results", "{n:count} of {all:count} done")
        text = filled(text, n=finished, all=total)
        left = self._session.audits.seconds_left if self._session.jobs.model.busy else None
        self.progress.setText(f"{text} · {left_words(left)}" if left is not None else text)
        self._show_columns()
        self._actions(failed)
        self._buttons()

    def _give_lines(self, line: QListWidgetItem) -> None:
        """Set the height of a filter, since Qt ignores margins and cuts off the count."""
        room = QRect(0, 0, self.kinds.width() - 2 * GAP, 1)
        needed = self.kinds.fontMetrics().boundingRect(room, Qt.TextFlag.TextWordWrap, line.text())
        line.setSizeHint(QSize(0, needed.height() + GRID + 2))

    def _actions(self, failed: int) -> None:
        session = self._session
        fresh = sum(i.runnable and _fresh(i) for i in session.texts.queue.items)
        self.rest.setText(filled(translate("Results", "Audit {n:count} remaining"), n=fresh))
        self.rest.setEnabled(bool(fresh) and session.chosen.ready)
        self.retry.setText(filled(translate("Results", "Retry {n:count} failed"), n=failed))
        self.retry.setVisible(bool(failed))
        paused = session.jobs.model.paused
        self.pause.setText(
            translate("Results", "Go on") if paused else translate("Results", "Pause")
        )
        self.pause.setVisible(session.jobs.model.busy)

    def _buttons(self) -> None:
        rows = self.chosen()
        self.export.setEnabled(bool(rows))
        ready = sum(r.item is not None and r.item.finding is not None for r in rows)
        self.report.setText(filled(translate("Results", "Report of {n:count} …"), n=ready))
        self.report.setEnabled(bool(ready))


def _fresh(item: Item) -> bool:
    return item.state in (ItemState.READY, ItemState.INTERRUPTED, ItemState.CANCELLED)
