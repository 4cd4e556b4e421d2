"""The view of the list of texts, which paints each row."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import (
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    QSortFilterProxyModel,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import (
    QListView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from pura_audit.platform.i18n import translate
from pura_audit.session.queue_model import (
    ITEM_ROLE,
    Item,
    ItemState,
    measure_words,
    review_words,
    saved_words,
    status_words,
    verdict_words,
)
from pura_audit.session.session import Session
from pura_audit.theme import fonts
from pura_audit.theme.theme import GAP, GRID, Theme
from pura_audit.widgets.card import (
    DropZone,
    IconButton,
    column_of,
    focus_ring,
    label,
    push_button,
    ringed,
    row_of,
    search_field,
)

ROW: Final = 56  # pixels of a row
_OUTCOMES: Final = {
    "mark": ("✓", "found"),
    "indication": ("!", "against"),
    "no-mark": ("–", "muted"),
    "in-part": ("?", "muted"),
    "insufficient": ("?", "muted"),
    "not-measured": ("?", "muted"),
    "not-examinable": ("✕", "muted"),
}
_STATES: Final = {
    ItemState.LOADING: ("…", "muted"),
    ItemState.READY: ("·", "muted"),
    ItemState.WAITING: ("·", "muted"),
    ItemState.RUNNING: ("…", "accent"),
    ItemState.FAILED: ("!", "against"),
    ItemState.CANCELLED: ("✕", "muted"),
    ItemState.INTERRUPTED: ("‖", "against"),
}


def _to_do() -> tuple[str, str]:
    return translate("Queue", "to review"), translate("Queue", "disputed")


def glyph(item: Item) -> tuple[str, str]:
    """Return the sign and the colour token of a row; the sign alone identifies the state."""
    if item.state is ItemState.DONE and item.finding is not None:
        return _OUTCOMES[item.finding.outcome]
    return _STATES.get(item.state, ("·", "muted"))


class QueueDelegate(QStyledItemDelegate):
    """Paints rows, or only their signs in a folded list."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.folded = False

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        """Return the height of a row."""
        return QSize(48, 48 if self.folded else ROW)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Draw one row."""
        item = index.data(ITEM_ROLE)
        if not isinstance(item, Item):
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._ground(painter, option)
        sign, tone = glyph(item)
        box: QRect = option.rect
        painter.setFont(fonts.face(fonts.READING, strong=True))
        painter.setPen(self._theme.colour(tone))
        width = box.width() if self.folded else 40
        painter.drawText(
            QRect(box.left(), box.top(), width, box.height()), Qt.AlignmentFlag.AlignCenter, sign
        )
        if not self.folded:
            self._words(painter, box.adjusted(40, 9, -12, -9), item, tone)
        painter.restore()

    def _ground(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        box = option.rect.adjusted(0, 1, 0, -1)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        if selected or option.state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.colour("accent_soft" if selected else "card"))
            painter.drawRoundedRect(box, 6, 6)
        if selected:
            painter.setBrush(self._theme.colour("accent"))
            painter.drawRoundedRect(box.left(), box.top() + 8, 3, box.height() - 16, 1.5, 1.5)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(self._theme.colour("accent"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), 6, 6)

    def _words(self, painter: QPainter, box: QRect, item: Item, tone: str) -> None:
        top, bottom = box.adjusted(0, 0, 0, -20), box.adjusted(0, 19, 0, 0)
        self._line(
            painter, top, item.name, fonts.face(fonts.BODY, medium=True), "text", middle=True
        )
        small = fonts.face(fonts.LABEL)
        measure = status_words(item) or measure_words(item)
        verdict = verdict_words(item)
        metrics = QFontMetrics(small)
        room = metrics.horizontalAdvance(measure) + 8 if measure else 0
        if metrics.horizontalAdvance(verdict) > bottom.width() - room:
            # The verdict goes first; beside a finding stands at least what is still to be done.
            measure = review_words(item) or saved_words(item)
            room = metrics.horizontalAdvance(measure) + 8 if measure else 0
        self._line(painter, bottom.adjusted(0, 0, -room, 0), verdict, small, tone)
        left = item.finding is not None and (item.unkept or review_words(item) in _to_do())
        painter.setPen(self._theme.colour("against" if left else "muted"))
        painter.drawText(
            bottom, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, measure
        )
        progress = item.progress
        if item.state is ItemState.RUNNING and progress is not None and progress.total:
            self._bar(painter, bottom, progress.done / progress.total)

    def _line(
        self,
        painter: QPainter,
        box: QRect,
        text: str,
        font: QFont,
        tone: str,
        *,
        middle: bool = False,
    ) -> None:
        painter.setFont(font)
        painter.setPen(self._theme.colour(tone))
        mode = Qt.TextElideMode.ElideMiddle if middle else Qt.TextElideMode.ElideRight
        elided = painter.fontMetrics().elidedText(text, mode, box.width())
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, elided)

    def _bar(self, painter: QPainter, box: QRect, share: float) -> None:
        track = QRect(box.left(), box.bottom() + 4, box.width(), 2)
        ground = QColor(self._theme.tokens.muted)
        ground.setAlphaF(0.35)  # seen on a selected row as well
        painter.fillRect(track, ground)
        track.setWidth(max(4, round(track.width() * max(0.0, min(1.0, share)))))
        painter.fillRect(track, self._theme.colour("accent"))


FOLDED = 56  # pixels of the folded list
OPEN = 256  # pixels of the unfolded list, until the user resizes it


class QueueList(QListView):
    """The list of rows.

    Signals:
        removal_wanted: The user pressed Delete.
    """

    removal_wanted = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Remove rows with Delete, or move the selection."""
        if event.matches(QKeySequence.StandardKey.Delete):
            self.removal_wanted.emit()
            return
        super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the rows, and the focus ring around the list if no row can have it."""
        super().paintEvent(event)
        if ringed(self) and not self.currentIndex().isValid():
            painter = QPainter(self.viewport())
            focus_ring(painter, self.palette().highlight().color(), self.viewport().rect())
            painter.end()


class QueueView(QWidget):
    """The list of texts with search and drop field; it folds to signs in a narrow window.

    Signals:
        audit_wanted: Rows are to be audited; carries them.
    """

    audit_wanted = Signal(object)

    def __init__(self, session: Session, theme: Theme) -> None:
        super().__init__()
        self._session, self._theme = session, theme
        self.folded = False
        self._heading = label(translate("Queue", "Queue"), "section")
        self._count = label("", "label")
        self.table = push_button(translate("Queue", "Table"), role="link")
        self.table.setToolTip(translate("Queue", "Show all texts as a table (Ctrl+T)"))
        self.fold = IconButton(theme, "fold", translate("Queue", "Fold the list of texts"))
        names = translate("Queue", "Search the texts by name")
        self.search = search_field(translate("Queue", "Search"), names)
        self.list = QueueList()
        self.list.setAccessibleName(translate("Queue", "Texts"))
        self.drop = DropZone()
        self._delegate = QueueDelegate(theme, self.list)
        self._proxy = QSortFilterProxyModel(self)
        self._set_up_list()
        head = row_of(self._heading, None, self._count, self.table, self.fold, spacing=-1)
        head.setContentsMargins(GRID, 0, 0, 0)
        column = column_of(head, self.search, (self.list, 1), self.drop, inside=self)
        column.setContentsMargins(GAP, GAP, 0, GAP)
        self._wire()
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

    def _wire(self) -> None:
        self.search.textChanged.connect(self._proxy.setFilterFixedString)
        self.list.removal_wanted.connect(self.remove_selected)
        self.list.customContextMenuRequested.connect(self._menu)
        self.list.selectionModel().currentChanged.connect(self._picked)
        self._session.texts.current_changed.connect(self._follow)
        self._session.texts.queue.counted.connect(self._recount)
        self._theme.changed.connect(self.list.viewport().update)

    def set_folded(self, folded: bool) -> None:
        """Fold the list to signs, or unfold it."""
        self.folded = self._delegate.folded = folded
        for widget in (self._heading, self._count, self.table, self.drop):
            widget.setVisible(not folded)
        self.setMinimumWidth(FOLDED + GAP if folded else 200)
        self.setMaximumWidth(FOLDED + GAP if folded else 420)
        self._recount()
        caption = (
            translate("Queue", "Show the names of the texts")
            if folded
            else translate("Queue", "Fold the list of texts")
        )
        self.fold.name(caption, "unfold" if folded else "fold")
        self.list.doItemsLayout()

    def selected(self) -> list[Item]:
        """Return the selected rows."""
        return [index.data(ITEM_ROLE) for index in self.list.selectionModel().selectedIndexes()]

    def remove_selected(self) -> None:
        """Remove the selected rows, with undo."""
        self._session.texts.remove(self.selected())

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

    def _menu(self, position: QPoint) -> None:
        menu = self.build_menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.list.viewport().mapToGlobal(position))

    def build_menu(self) -> QMenu:
        """Return the menu of the selected rows."""
        rows = self.selected()
        session = self._session
        menu = QMenu(self)
        stream, waiting = session.audits.stream, len(rows) == 1
        waiting = waiting and rows[0].state is ItemState.WAITING
        ready = session.chosen.ready and any(i.runnable for i in rows)
        active = any(i.active for i in rows)
        for text, enabled, action in (
            (translate("Queue", "Audit"), ready, lambda: self.audit_wanted.emit(rows)),
            (translate("Queue", "Cancel"), active, lambda: stream.stop(rows)),
            ("", False, None),
            (translate("Queue", "Audit earlier"), waiting, lambda: stream.move(rows[0], -1)),
            (translate("Queue", "Audit later"), waiting, lambda: stream.move(rows[0], 1)),
            ("", False, None),
            (translate("Queue", "Remove"), bool(rows), lambda: session.texts.remove(rows)),
        ):
            if action is None:
                menu.addSeparator()
            else:
                menu.addAction(text, action).setEnabled(enabled)
        return menu
