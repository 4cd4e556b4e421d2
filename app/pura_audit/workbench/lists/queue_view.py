"""The queue: what I have, and what became of it."""

from __future__ import annotations

from PySide6.QtCore import (
    QItemSelectionModel,
    QModelIndex,
    QPoint,
    QSortFilterProxyModel,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeyEvent, QKeySequence, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QListView,
    QMenu,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from pura_audit.platform.i18n import translate
from pura_audit.session.items import Item, ItemState
from pura_audit.session.queue_model import ITEM_ROLE
from pura_audit.session.session import Session
from pura_audit.theme.icons import icon
from pura_audit.theme.theme import GAP, GRID, Theme
from pura_audit.widgets.card import label
from pura_audit.widgets.drop_zone import DropZone
from pura_audit.workbench.lists.queue_delegate import QueueDelegate

FOLDED = 56
OPEN = 256


class QueueList(QListView):
    """The list itself.

    Signals:
        removal_wanted: Delete was pressed.
    """

    removal_wanted = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Delete removes; everything else moves."""
        if event.matches(QKeySequence.StandardKey.Delete):
            self.removal_wanted.emit()
            return
        super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the rows; where there is none that could wear the ring, the list wears it."""
        super().paintEvent(event)
        if self.hasFocus() and not self.currentIndex().isValid():
            painter = QPainter(self.viewport())
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(self.palette().highlight(), 2))
            painter.drawRoundedRect(self.viewport().rect().adjusted(1, 1, -1, -1), 6, 6)
            painter.end()


class QueueView(QWidget):
    """List, search and drop corner; folds to signs where the window is narrow.

    Signals:
        open_wanted: The drop corner was clicked.
        fold_wanted: The fold button was pressed.
        audit_wanted: These rows are to be audited.
        table_wanted: All texts are to be shown as a table.
    """

    open_wanted = Signal()
    fold_wanted = Signal()
    audit_wanted = Signal(object)
    table_wanted = Signal()

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self._theme = session, theme
        self.folded = False
        self._heading = label(translate("Queue", "Queue"), "section")
        self._count = label("", "label")
        self.table = QPushButton(translate("Queue", "Table"))
        self.table.setProperty("role", "link")
        self.table.setToolTip(translate("Queue", "Show all texts as a table (Ctrl+T)"))
        self._fold = QToolButton()
        self._fold.setProperty("role", "quiet")
        self.search = QLineEdit()
        self.search.setPlaceholderText(translate("Queue", "Search"))
        self.search.setAccessibleName(translate("Queue", "Search the texts by name"))
        self.search.setClearButtonEnabled(True)
        self.list = QueueList()
        self.list.setAccessibleName(translate("Queue", "Texts"))
        self.drop = DropZone()
        self._delegate = QueueDelegate(theme, self.list)
        self._proxy = QSortFilterProxyModel(self)
        self._set_up_list()
        self._lay_out()
        self._wire()
        self._restyle()
        self._recount()
        self._follow()

    def _set_up_list(self) -> None:
        self._proxy.setSourceModel(self._session.texts.queue)
        self._proxy.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.list.setModel(self._proxy)
        self.list.setItemDelegate(self._delegate)
        self.list.setSelectionMode(QListView.SelectionMode.ExtendedSelection)
        self.list.setMouseTracking(True)
        self.list.setUniformItemSizes(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.list.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)

    def _lay_out(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(GAP, GAP, 0, GAP)
        layout.setSpacing(GRID)
        head = QHBoxLayout()
        head.setContentsMargins(GRID, 0, 0, 0)
        head.addWidget(self._heading)
        head.addStretch(1)
        head.addWidget(self._count)
        head.addWidget(self.table)
        head.addWidget(self._fold)
        layout.addLayout(head)
        layout.addWidget(self.search)
        layout.addWidget(self.list, 1)
        layout.addWidget(self.drop)

    def _wire(self) -> None:
        self.search.textChanged.connect(self._proxy.setFilterFixedString)
        self.drop.open_wanted.connect(self.open_wanted)
        self._fold.clicked.connect(self.fold_wanted)
        self.table.clicked.connect(self.table_wanted)
        self.list.removal_wanted.connect(self.remove_selected)
        self.list.customContextMenuRequested.connect(self._menu)
        self.list.selectionModel().currentChanged.connect(self._picked)
        self._session.texts.current_changed.connect(self._follow)
        self._session.texts.queue.counted.connect(self._recount)
        self._theme.changed.connect(self._restyle)

    def set_folded(self, folded: bool) -> None:
        """Show signs only, or everything."""
        self.folded = self._delegate.folded = folded
        for widget in (self._heading, self._count, self.table, self.drop):
            widget.setVisible(not folded)
        self.setMinimumWidth(FOLDED + GAP if folded else 200)
        self.setMaximumWidth(FOLDED + GAP if folded else 420)
        self._recount()
        self._restyle()
        self.list.doItemsLayout()

    def selected(self) -> list[Item]:
        """Return the selected rows."""
        return [index.data(ITEM_ROLE) for index in self.list.selectionModel().selectedIndexes()]

    def remove_selected(self) -> None:
        """Take the selected rows out; can be undone."""
        self._session.texts.remove(self.selected())

    def _restyle(self) -> None:
        muted = self._theme.tokens.muted
        self._fold.setIcon(icon("unfold" if self.folded else "fold", muted))
        words = (
            translate("Queue", "Show the names of the texts")
            if self.folded
            else translate("Queue", "Fold the list of texts")
        )
        self._fold.setToolTip(words)
        self._fold.setAccessibleName(words)
        self.list.viewport().update()

    def _recount(self) -> None:
        queue = self._session.texts.queue
        self._count.setText(queue.count_words())
        self.search.setVisible(not self.folded and queue.rowCount() > 7)

    def _picked(self, index: QModelIndex) -> None:
        item = index.data(ITEM_ROLE) if index.isValid() else None
        if isinstance(item, Item):
            self._session.texts.show(item)

    def _follow(self) -> None:
        item = self._session.texts.current
        if item is None:
            return
        source = self._session.texts.queue.index(self._session.texts.queue.row(item))
        if not self._proxy.mapFromSource(source).isValid():
            self.search.clear()  # what is on screen is not kept out of the list
        index = self._proxy.mapFromSource(source)
        if index.isValid() and index != self.list.currentIndex():
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect
            self.list.selectionModel().setCurrentIndex(index, flags)

    def _menu(self, place: QPoint) -> None:
        menu = self.build_menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.list.viewport().mapToGlobal(place))

    def build_menu(self) -> QMenu:
        """Return the menu of the selected rows."""
        items = self.selected()
        session = self._session
        menu = QMenu(self)
        again = menu.addAction(translate("Queue", "Audit"))
        again.setEnabled(session.chosen.ready and any(i.runnable for i in items))
        again.triggered.connect(lambda: self.audit_wanted.emit(items))
        stop = menu.addAction(translate("Queue", "Cancel"))
        stop.setEnabled(any(i.active for i in items))
        stop.triggered.connect(lambda: session.audits.stream.stop(items))
        menu.addSeparator()
        waiting = len(items) == 1 and items[0].state is ItemState.WAITING
        for words, by in (
            (translate("Queue", "Audit earlier"), -1),
            (translate("Queue", "Audit later"), 1),
        ):
            action = menu.addAction(words)
            action.setEnabled(waiting)
            action.triggered.connect(lambda _=False, b=by: session.audits.stream.move(items[0], b))
        menu.addSeparator()
        gone = menu.addAction(translate("Queue", "Remove"))
        gone.setEnabled(bool(items))
        gone.triggered.connect(lambda: session.texts.remove(items))
        return menu
