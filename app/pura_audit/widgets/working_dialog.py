"""Tables, and dialogs that hand use cases to the session and show what is stored."""

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
    """Rows of cells that are shown as they are."""

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
        """Return what a cell shows."""
        return str(self._rows[row][column])

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a cell, or where it is set; what is cut is read whole below the pointer."""
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
    """Whether a cell is a number as this program writes them."""
    plain = cell.replace("\N{MINUS SIGN}", "-").replace(",", ".")
    try:
        float(plain)
    except ValueError:
        return False
    return len(cell) < 24 and not (len(cell) > 3 and set(cell) <= {"0", "1"})


def make_table(name: str) -> QTableView:
    """Return a table of whole rows that can be chosen and not edited."""
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
    """Let a table be sorted: by a click on a header, or with a key from a menu of the columns."""
    table.setSortingEnabled(True)
    table.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
    shortcut = QShortcut(QKeySequence(SORT_KEY), table)
    shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
    shortcut.activated.connect(partial(ask_order, table))


def ask_order(table: QTableView) -> QMenu:
    """Offer the columns that are shown; the one that sorts now turns its order round."""
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
    """Put rows into a table; the last column takes what is left.

    Where that is little, the others have no air beside their words.
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
    """Shows rows; they can be copied.

    Args:
        title: Of the window.
        headers: Of the columns.
        rows: What is shown.
        words: Above the table.
        parent: The window that it belongs to.
        act: A button that closes the table, and what it does then.
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
        """Copy everything, tabs between the cells."""
        lines = ["\t".join(row) for row in (self._headers, *self._rows)]
        QGuiApplication.clipboard().setText("\n".join(lines))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Ctrl+C copies."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        else:
            super().keyPressEvent(event)


R = TypeVar("R")
T = TypeVar("T")


class WorkingDialog(FittedDialog):
    """A dialog that hands use cases to the session, and shows how they go."""

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
        """Whether something of this dialog runs or waits."""
        return self._job is not None

    def begin(
        self,
        work: Work[T],
        *,
        words: Callable[[T], str] | None = None,
        on_result: Callable[[T], None] | None = None,
        queue: Literal["stores", "model", "installs"] = "stores",
    ) -> None:
        """Hand a use case over.

        Args:
            work: The use case.
            words: What is said of it when it is done.
            on_result: Gets what came of it when it is done.
            queue: As for :meth:`Session.do`; where audits run before it, that is said.
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
            at=queue,
        )
        self.refresh_buttons()

    def say(self, message: Failure | str, *, bad: bool = False) -> None:
        """Say how it went; nothing hides the line."""
        self.words.say(message, role="attention" if bad else "muted")

    def refresh_buttons(self) -> None:
        """Enable what can be done now."""

    def progress_row(self, *, stays: bool = False) -> QVBoxLayout:
        """Return the line of words, and below it the bar with its button.

        Args:
            stays: Both keep their room while they show nothing: no button below them moves.
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
    """A title, a table, and one button for everything that can be done to its rows.

    A subclass names the key of a row, by which the choice is kept, and its cells.
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
        """Return what tells a row from all others."""
        raise NotImplementedError

    def cells(self, row: R) -> Sequence[str]:
        """Return a row of the table."""
        raise NotImplementedError

    def lay_out(self, name: str, buttons: Mapping[str, tuple[str, Callable[[], object]]]) -> None:
        """Put it together; a button whose name starts with a dash stands apart."""
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
        """Show rows, and choose the one of this key; without one the choice stays."""
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
        """The chosen row."""
        model = self.table.selectionModel()
        indexes = model.selectedRows() if model is not None else []
        index = indexes[0].row() if indexes else -1
        return self.rows[index] if 0 <= index < len(self.rows) else None
