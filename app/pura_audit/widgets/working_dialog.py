"""Tables, and dialogs that run use cases and show what is stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Generic, Literal, TypeVar

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    Qt,
)
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QMenu,
    QPushButton,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from pura_audit.jobs.queue import Done, Failure, Job, Outcome, Progress, Work
from pura_audit.platform.i18n import translate
from pura_audit.session.session import Session
from pura_audit.theme.theme import GAP, GRID
from pura_audit.widgets.card import (
    Scrolled,
    add_parts,
    column_of,
    label,
    progress_bar,
    push_button,
    row_of,
)
from pura_audit.widgets.form_dialog import (
    FittedDialog,
    MainButton,
    PlainDialog,
    Remark,
    button_row,
    close_button,
    dialog_column,
    plain_button,
)

Index = QModelIndex | QPersistentModelIndex


class RowsModel(QAbstractTableModel):
    """A table model of text cells."""

    def __init__(
        self, headers: Sequence[str], rows: Sequence[Sequence[str]], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._headers: tuple[str, ...] = tuple(headers)
        self._rows: Sequence[Sequence[Any]] = rows

    def rowCount(self, parent: Index | None = None) -> int:
        """Return the number of rows."""
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index | None = None) -> int:
        """Return the number of columns."""
        return 0 if parent is not None and parent.isValid() else len(self._headers)

    def cell(self, row: int, column: int) -> str:
        """Return the text of a cell."""
        return str(self._rows[row][column])

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a cell's text or alignment; the tooltip holds the full text."""
        if not index.isValid():
            return None
        cell = self.cell(index.row(), index.column())
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return cell
        if role == Qt.ItemDataRole.TextAlignmentRole and is_number(cell):
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Return a header."""
        if orientation == Qt.Orientation.Horizontal and 0 <= section < len(self._headers):
            if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
                return self._headers[section]
            if role == Qt.ItemDataRole.TextAlignmentRole:
                sides = Qt.AlignmentFlag
                right = bool(self._rows) and is_number(self.cell(0, section))
                return int((sides.AlignRight if right else sides.AlignLeft) | sides.AlignVCenter)
        return None


def is_number(cell: str) -> bool:
    """Return whether a cell holds a number in the format of this program."""
    plain = cell.replace("\N{MINUS SIGN}", "-").replace(",", ".")
    try:
        float(plain)
    except ValueError:
        return False
    return len(cell) < 24 and not (len(cell) > 3 and set(cell) <= {"0", "1"})


def make_table(name: str) -> QTableView:
    """Return a read-only table in which whole rows are selected."""
    table = QTableView()
    table.setAccessibleName(name)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setTabKeyNavigation(False)
    table.setShowGrid(False)
    table.setAlternatingRowColors(True)
    table.setWordWrap(False)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(32)
    table.horizontalHeader().setHighlightSections(False)
    return table


SORT_KEY: Final = "F4"


def let_sort(table: QTableView) -> None:
    """Make a table sortable: with a click on a header, or by keyboard with a menu."""
    table.setSortingEnabled(True)
    table.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
    shortcut = QShortcut(QKeySequence(SORT_KEY), table)
    shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
    shortcut.activated.connect(partial(ask_order, table))


def ask_order(table: QTableView) -> QMenu:
    """Open a menu of the visible columns; the sorting column reverses its order."""
    menu, header, model = QMenu(table), table.horizontalHeader(), table.model()
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    menu.setAccessibleName(translate("Dialog", "Sort the table"))
    orders = Qt.SortOrder
    for column in range(model.columnCount()):
        if table.isColumnHidden(column):
            continue
        now = column == header.sortIndicatorSection()
        rising = now and header.sortIndicatorOrder() == orders.AscendingOrder
        title = str(model.headerData(column, Qt.Orientation.Horizontal))
        entry = menu.addAction(title.replace("&", "&&"))
        entry.setCheckable(True)
        entry.setChecked(now)
        order = orders.DescendingOrder if rising else orders.AscendingOrder
        entry.triggered.connect(
            lambda _, column=column, order=order: table.sortByColumn(column, order)
        )
        if now:
            menu.setActiveAction(entry)
    menu.popup(table.viewport().mapToGlobal(QPoint()))
    return menu


def fill_table(
    table: QTableView, headers: Sequence[str], rows: Sequence[Sequence[str]], widest: int = 220
) -> None:
    """Fill a table; the last column takes the remaining width.

    If little width remains, the other columns lose their padding.
    """
    old = table.model()
    table.setModel(RowsModel(headers, rows, table))
    if old is not None:
        old.deleteLater()
    header = table.horizontalHeader()
    header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
    table.resizeColumnsToContents()
    last = len(headers) - 1
    sizes = [min(header.sectionSize(column), widest) for column in range(last)]
    needed = sum(sizes) + header.sectionSize(last) + GRID * last
    air = 0 if table.isVisible() and needed > header.width() else GRID
    for column, size in enumerate(sizes):
        header.resizeSection(column, min(size + air, widest))
    header.setSectionResizeMode(last, QHeaderView.ResizeMode.Stretch)


class TableDialog(PlainDialog):
    """A dialog with a table that can be copied.

    Args:
        title: Title of the dialog.
        headers: Headers of the columns.
        rows: Cells of every row.
        introduction: Text above the table.
        parent: The window that the dialog belongs to.
        action: Text of a button that closes the dialog, and its action.
    """

    def __init__(
        self,
        title: str,
        headers: Sequence[str],
        rows: Sequence[Sequence[str]],
        introduction: str,
        parent: QWidget | None = None,
        action: tuple[str, Callable[[], object]] | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.resize(640, 560)
        self._headers, self._rows = headers, rows
        layout = dialog_column(self, title, introduction)
        self.table = make_table(title)
        self.table.setModel(RowsModel(headers, rows, self.table))
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.table.setWordWrap(True)
        self.table.verticalHeader().setDefaultSectionSize(28)
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setStretchLastSection(True)
        if len(rows) < 2000:
            self.table.resizeColumnsToContents()
        copy = push_button(translate("Dialog", "Copy table"), self.copy)
        self.act: QPushButton | None = None
        right = [close_button(self, enter=True)]
        if action is not None:
            self.act = MainButton(action[0], self.accept, enter=False)
            self.accepted.connect(action[1])
            right.append(self.act)
        add_parts(layout, (self.table, 1), button_row(*right, left=(copy,)))
        self.table.setFocus()

    def copy(self) -> None:
        """Copy all rows, with tabs between the cells."""
        lines = ["\t".join(row) for row in (self._headers, *self._rows)]
        QGuiApplication.clipboard().setText("\n".join(lines))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy the table with Ctrl+C."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        else:
            super().keyPressEvent(event)


R = TypeVar("R")
T = TypeVar("T")


class WorkingDialog(FittedDialog):
    """A dialog that runs use cases in the session and shows their progress."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self._job: Job | None = None
        self.words = Remark()
        # A widget: Qt takes the width of a layout with nothing in sight for a limit of its column.
        self._moving = QWidget()
        self.bar = progress_bar(translate("Stores", "Progress"))
        self.stop = plain_button(translate("Stores", "Stop"), self._stop)
        session.noticed.connect(self._noticed)
        self._show_progress(None)

    @property
    def busy(self) -> bool:
        """Whether a job of this dialog runs or waits."""
        return self._job is not None

    def begin(
        self,
        work: Work[T],
        *,
        words: Callable[[T], str] | None = None,
        on_result: Callable[[T], None] | None = None,
        queue: Literal["stores", "model", "installs"] = "stores",
    ) -> None:
        """Run a use case in the session.

        Args:
            work: The use case.
            words: Makes the message of a success.
            on_result: Called with the result of a success.
            queue: See :meth:`Session.do`; the dialog shows if audits run first.
        """

        def ended(outcome: Outcome[T]) -> None:
            self._ended(outcome if isinstance(outcome, Failure) else None)
            if on_result is not None and isinstance(outcome, Done):
                on_result(outcome.result)

        waits = queue == "model" and self.session.jobs.model.busy
        self.say(translate("Stores", "This begins when the audits are done.") if waits else "")
        self._show_progress(0.0)
        self._job = self.session.do(
            work,
            ended,
            self,
            words=words,
            progressed=self._progressed,
            started=self._begun,
            queue=queue,
        )
        self.refresh_buttons()

    def say(self, message: Failure | str, *, bad: bool = False) -> None:
        """Show a message; an empty one hides the line."""
        self.words.say(message, role="attention" if bad else "muted")

    def refresh_buttons(self) -> None:
        """Enable the buttons that can be used now."""

    def progress_row(self, *, stays: bool = False) -> QVBoxLayout:
        """Return the message line, and below it the progress bar with its button.

        Args:
            stays: Whether both keep their room while empty, so that no button moves.
        """
        for widget in (self.words, self._moving) if stays else ():
            policy = widget.sizePolicy()
            policy.setRetainSizeWhenHidden(True)
            widget.setSizePolicy(policy)
        if stays:
            self.words.setMinimumHeight(self.words.fontMetrics().height())
        row_of((self.bar, 1), self.stop, spacing=GAP, inside=self._moving)
        return column_of(self.words, self._moving)

    def _show_progress(self, share: float | None) -> None:
        self._moving.setVisible(share is not None)
        if share is not None:
            self.bar.setRange(0, 1000 if share > 0 else 0)
            self.bar.setValue(round(1000 * share))

    def _begun(self) -> None:
        self.say("")

    def _stop(self) -> None:
        if self._job is not None:
            self._job.cancel()

    def _progressed(self, progress: Progress) -> None:
        self._show_progress(progress.done / progress.total if progress.total else 0.0)

    def _ended(self, failure: Failure | None) -> None:
        self._job = None
        self._show_progress(None)
        self.refresh_buttons()
        if failure is not None:
            self.say(failure)

    def _noticed(self, text: str) -> None:
        if self._job is None and self.isVisible():
            self.say(text)


class StoreDialog(WorkingDialog, Generic[R]):
    """A dialog with a table and a button for every action on its rows.

    A subclass defines the key of a row, which identifies the selected one, and its cells.
    """

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self.resize(1000, 560)
        self.column = dialog_column(self)
        self.title = label("", "answer")
        self.state = label("", "muted", wrap=True)
        self.none = label("", "muted", wrap=True)
        self.detail = label("", "muted", wrap=True)
        self.table = make_table("")
        self.buttons: dict[str, QPushButton] = {}
        self.rows: tuple[R, ...] = ()

    def key(self, row: R) -> str:
        """Return the key that identifies a row."""
        raise NotImplementedError

    def cells(self, row: R) -> Sequence[str]:
        """Return the cells of a row."""
        raise NotImplementedError

    def lay_out(self, name: str, buttons: Mapping[str, tuple[str, Callable[[], object]]]) -> None:
        """Build the dialog; a gap precedes buttons whose names start with a dash."""
        self.setWindowTitle(name)
        self.title.setText(name)
        self.table.setAccessibleName(name)
        button_column = column_of()
        for kind, (text, on_click) in buttons.items():
            button = self.buttons[kind.lstrip("-")] = plain_button(text, on_click)
            add_parts(button_column, *((GRID, button) if kind.startswith("-") else (button,)))
        rows = column_of(self.none, (self.table, 1), self.detail)
        middle = row_of((rows, 1), Scrolled(add_parts(button_column, None)), spacing=GAP)
        add_parts(
            self.column,
            self.title,
            self.state,
            (middle, 1),
            self.progress_row(),
            button_row(close_button(self, enter=True)),
        )

    def fill(self, headers: Sequence[str], rows: Sequence[R], selected_key: str = "") -> None:
        """Show rows and select the one with this key; without a key, keep the selection."""
        if not selected_key and self.selected is not None:
            selected_key = self.key(self.selected)
        self.rows = tuple(rows)
        fill_table(self.table, headers, [self.cells(row) for row in rows])
        self.none.setVisible(not rows)
        self.table.selectionModel().selectionChanged.connect(lambda *_: self.refresh_buttons())
        if rows:
            keys = [self.key(row) for row in rows]
            self.table.selectRow(keys.index(selected_key) if selected_key in keys else 0)
        self.refresh_buttons()

    @property
    def selected(self) -> R | None:
        """The selected row, or None."""
        model = self.table.selectionModel()
        indexes = model.selectedRows() if model is not None else []
        index = indexes[0].row() if indexes else -1
        return self.rows[index] if 0 <= index < len(self.rows) else None
