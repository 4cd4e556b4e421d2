"""Cards, labels, buttons and layouts that every view uses."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeVar

from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QColor, QPainter, QPaintEvent, QPalette, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QLayoutItem,
    QLineEdit,
    QMenu,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QStyle,
    QStyleOption,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from pura_audit.platform.accessible import set_role
from pura_audit.platform.i18n import translate
from pura_audit.platform.motion import still
from pura_audit.theme.fonts import icon
from pura_audit.theme.theme import FOCUS_RING, GAP, GRID, PADDING, Theme

Part = QWidget | QLayout | int | None | tuple[QWidget | QLayout, int]
Box = TypeVar("Box", bound=QBoxLayout)


class ElidedLabel(QLabel):
    """A label that elides its text; the full text is the tooltip and the accessible name.

    File names are elided in the middle, because versions differ at their end.
    """

    def __init__(
        self,
        text: str = "",
        role: str = "",
        align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
        *,
        middle: bool = False,
    ) -> None:
        super().__init__()
        self._mode = Qt.TextElideMode.ElideMiddle if middle else Qt.TextElideMode.ElideRight
        if role:
            self.setProperty("role", role)
        if role in _HEADINGS:
            set_role(self, QAccessible.Role.Heading)
        self.setAlignment(align | Qt.AlignmentFlag.AlignVCenter)
        self._full = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setText(text)

    def setText(self, text: str) -> None:
        """Set the whole text; line breaks become blanks."""
        self._full = " ".join(text.split("\n"))
        super().setText(self._full)
        self.setAccessibleName(self._full)
        self._tip()

    def minimumSizeHint(self) -> QSize:
        """Return a width of a few characters only."""
        hint = super().minimumSizeHint()
        return QSize(min(hint.width(), self.fontMetrics().averageCharWidth() * 4), hint.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show a tool tip when the text is shortened."""
        super().resizeEvent(event)
        self._tip()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the shortened text in the colour of the style sheet."""
        painter = QPainter(self)
        option = QStyleOption()
        option.initFrom(self)
        style = self.style()
        style.drawPrimitive(QStyle.PrimitiveElement.PE_Widget, option, painter, self)
        rect = self.contentsRect()
        text = self.fontMetrics().elidedText(self._full, self._mode, rect.width())
        style.drawItemText(
            painter,
            rect,
            int(self.alignment()),
            option.palette,
            self.isEnabled(),
            text,
            self.foregroundRole(),
        )

    def _tip(self) -> None:
        room = self.contentsRect().width()
        short = self.fontMetrics().horizontalAdvance(self._full) > room > 0
        self.setToolTip(self._full if short else "")


_LONG: Final = re.compile(r"(\S{36})\S{28,}(\S{36})")  # no digest is as long


def shortened(text: str) -> str:
    """Return a text whose overlong words, such as file names, are elided in the middle."""
    return _LONG.sub(r"\1…\2", text)


class WrappedLabel(QLabel):
    """A label that wraps its text and shortens overlong words."""

    _full_text = ""

    def setText(self, text: str) -> None:
        """Set the text; what is shortened is whole in the tool tip and in the spoken name."""
        short = shortened(text)
        full_text = text if short != text else ""
        if full_text != self._full_text:
            self._full_text = full_text
            self.setToolTip(full_text)
            self.setAccessibleName(full_text)
        super().setText(short)


class Card(QFrame):
    """A framed part of the window with a title and a body.

    Attributes:
        head: Title row; more widgets may be added at its right end.
        body: Layout for the content.
        frame_layout: Holds both; its margins are those of the card.
    """

    def __init__(self, title: str = "", parent: QWidget | None = None, *, inner: int = PADDING):
        super().__init__(parent)
        self.setProperty("role", "card")
        layout = self.frame_layout = QVBoxLayout(self)
        above = max(GRID, inner - GRID)
        layout.setContentsMargins(inner, above, inner, above)
        layout.setSpacing(GRID)
        self.title = label(title, "title")
        self.side_note = ElidedLabel(role="muted", align=Qt.AlignmentFlag.AlignRight)
        self.head, self.body = row_of(self.title, (self.side_note, 1)), column_of()
        if title:
            layout.addLayout(self.head)
        layout.addLayout(self.body, 1)


class ScrollCard(Card):
    """A card whose content scrolls if the window is too low for it.

    Attributes:
        column: Layout for the content.
        scroll_area: Holds it.

    Args:
        widest: Maximum length of a line in pixels.
        below: Margin below the content, in pixels.
    """

    def __init__(
        self,
        parent: QWidget | None = None,
        *,
        widest: int = 16_777_215,
        below: int = 20,
    ) -> None:
        super().__init__("", parent)
        self._widest = widest
        self.frame_layout.setContentsMargins(0, 0, 0, 0)
        self.frame_layout.setSpacing(0)
        self.body.setSpacing(0)
        inside = QWidget()
        inside.setMaximumWidth(widest)
        self.column = column_of(inside=inside)
        self.column.setContentsMargins(PADDING, 20, PADDING, below)
        self.scroll_area = QScrollArea()
        self.scroll_area.setWidgetResizable(True)
        self.scroll_area.setFrameShape(QScrollArea.Shape.NoFrame)
        self.scroll_area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.scroll_area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.scroll_area.viewport().installEventFilter(self)
        self.scroll_area.setWidget(inside)
        self.body.addWidget(self.scroll_area, 1)

    def _wide(self, width: int) -> int:
        """Return the width of the content, its margins included, in a card of this width."""
        narrow = PADDING - self.column.contentsMargins().right()  # while there is a scroll bar
        return min(self._widest, max(200, width - 2 - 2 * FOCUS_RING)) - narrow

    def natural_height(self, width: int) -> int:
        """Return the height at which nothing scrolls."""
        return self.column.totalHeightForWidth(self._wide(width)) + 4 + 2 * FOCUS_RING

    def heights(self, width: int) -> list[int]:
        """Return the heights that cut no line at the foot, rising; at the last nothing scrolls."""
        ends = list(line_ends(self.column, self._wide(width)))
        full_height = self.natural_height(width)
        return [full_height - ends[-1] + end for end in ends]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take from the margin what the scroll bar takes from the width.

        Else the bar would take the room of a word, the sentence a line more, and that line the
        bar.
        """
        if event.type() == QEvent.Type.Resize:
            area = self.scroll_area
            full_width = min(self._widest, area.maximumViewportSize().width())
            margins = self.column.contentsMargins()
            margins.setRight(max(0, PADDING - max(0, full_width - area.viewport().width())))
            self.column.setContentsMargins(margins)
        return super().eventFilter(watched, event)


def part_height(part: QLayoutItem, width: int) -> int:
    """Return the height that a part of a layout needs at a width."""
    return part.heightForWidth(width) if part.hasHeightForWidth() else part.sizeHint().height()


def line_ends(part: QLayoutItem, width: int, top: int = 0) -> Iterator[int]:
    """Yield the vertical positions, in pixels, at which the lines of a part end.

    Args:
        part: The part of a layout.
        width: Its width in pixels.
        top: Its vertical position in pixels.
    """
    widget = part.widget()
    column = part.layout() if widget is None else widget.layout()
    if isinstance(column, QVBoxLayout):
        margins = column.contentsMargins()
        top, width = top + margins.top(), width - margins.left() - margins.right()
        parts = [column.itemAt(index) for index in range(column.count())]
        for child in parts:
            if child is not None and not child.isEmpty():
                yield from line_ends(child, width, top)
                top += part_height(child, width) + column.spacing()
        yield top - column.spacing() + margins.bottom()
    else:
        tall, lines = part_height(part, width), 1
        if isinstance(widget, QLabel):
            lines = max(1, round(tall / widget.fontMetrics().lineSpacing()))
        yield from (top + round(tall * line / lines) for line in range(1, lines + 1))


_HEADINGS: Final = ("answer", "title", "section")


def set_tip(widget: QWidget, *paragraphs: str) -> None:
    """Set a widget's tooltip and its description for screen readers.

    The tooltip is rich text so that Qt breaks its lines; a screen reader would read the marks.
    """
    widget.setToolTip(
        "".join(f"<p>{html.escape(paragraph, quote=False)}</p>" for paragraph in paragraphs)
    )
    widget.setAccessibleDescription("\n".join(paragraphs))


def label(text: str = "", role: str = "", *, wrap: bool = False) -> QLabel:
    """Return a plain-text label with a role of the style sheet."""
    text_label = WrappedLabel() if wrap else QLabel()
    text_label.setText(text)
    text_label.setTextFormat(Qt.TextFormat.PlainText)
    if role:
        text_label.setProperty("role", role)
    if role in _HEADINGS:
        set_role(text_label, QAccessible.Role.Heading)
    text_label.setWordWrap(wrap)
    return text_label


def add_parts(layout: Box, *parts: Part) -> Box:
    """Put parts into a layout, and return it.

    A pair is a part and its share of the room that is left, a number so many pixels of air, and
    None takes the room that is left.
    """
    for part in parts:
        widget, share = part if isinstance(part, tuple) else (part, 0)
        if widget is None:
            layout.addStretch(1)
        elif isinstance(widget, int):
            layout.addSpacing(widget)
        elif isinstance(widget, QWidget):
            layout.addWidget(widget, share)
        else:
            layout.addLayout(widget, share)
    return layout


def row_of(*parts: Part, spacing: int = GRID, inside: QWidget | None = None) -> QHBoxLayout:
    """Return parts from left to right (:func:`add_parts`), without margins.

    Args:
        parts: Its parts; see :func:`add_parts`.
        spacing: Pixels between them; -1 leaves it to the style.
        inside: The widget that gets the layout.
    """
    return add_parts(_bare(QHBoxLayout(), spacing, inside), *parts)


def column_of(*parts: Part, spacing: int = GRID, inside: QWidget | None = None) -> QVBoxLayout:
    """Return parts from top to bottom; see :func:`row_of`."""
    return add_parts(_bare(QVBoxLayout(), spacing, inside), *parts)


def clear_layout(layout: Box) -> None:
    """Take all widgets out of a layout and delete them; their names can be used again at once."""
    while (child := layout.takeAt(0)) is not None:
        if (widget := child.widget()) is not None:
            widget.setObjectName("")
            widget.hide()
            widget.deleteLater()


def _bare(layout: Box, spacing: int, inside: QWidget | None) -> Box:
    layout.setContentsMargins(0, 0, 0, 0)
    if spacing >= 0:
        layout.setSpacing(spacing)
    if inside is not None:
        inside.setLayout(layout)
    return layout


def push_button(
    text: str, on_click: Callable[..., object] | None = None, role: str = ""
) -> QPushButton:
    """Return a button in one of the style sheet's roles; ``on_click`` gets no arguments."""
    button = QPushButton(text)
    if role:
        button.setProperty("role", role)
    if on_click is not None:
        button.clicked.connect(lambda _=False: on_click())
    return button


def rule() -> QFrame:
    """Return a horizontal rule, one pixel high."""
    line = QFrame()
    line.setProperty("role", "rule")
    return line


def search_field(hint: str, name: str = "") -> QLineEdit:
    """Return a line that can be cleared; its name is the hint, unless it has one of its own."""
    field = QLineEdit()
    field.setPlaceholderText(hint)
    field.setAccessibleName(name or hint)
    field.setClearButtonEnabled(True)
    if (clear := field.findChild(QToolButton)) is not None:
        clear.setAccessibleName(translate("Find", "Clear the field"))
    return field


def progress_bar(name: str, *, endless: bool = False) -> QProgressBar:
    """Return a bar without a number in it."""
    bar = QProgressBar()
    bar.setTextVisible(False)
    bar.setAccessibleName(name)
    if endless:
        run_endless(bar)
    return bar


def run_endless(bar: QProgressBar) -> None:
    """Let a bar show that work goes on; without animation if the desktop asks for that."""
    bar.setRange(0, 1 if still() else 0)
    bar.setValue(0)


class IconButton(QToolButton):
    """A button with an icon in the theme's colours; its text is tooltip and accessible name.

    Args:
        theme: The colours.
        icon: Its name.
        text: What the button does, for the tooltip and screen readers.
        on_click: Called on a press; None if the button opens a menu.
    """

    def __init__(
        self, theme: Theme, icon: str, text: str, on_click: Callable[[], object] | None = None
    ) -> None:
        super().__init__()
        self._theme, self._icon = theme, icon
        self.setProperty("role", "quiet")
        self.name(text)
        if on_click is not None:
            self.clicked.connect(lambda _=False: on_click())
        theme.changed.connect(self._apply_style)
        self._apply_style()

    def name(self, text: str, icon: str = "") -> None:
        """Change the tooltip and accessible name, and the icon if one is given."""
        self.setToolTip(text)
        self.setAccessibleName(text)
        if icon:
            self._icon = icon
            self._apply_style()

    def open_menu(self, menu: QMenu) -> None:
        """Let the button open a menu."""
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setMenu(menu)

    def _apply_style(self) -> None:
        self.setIcon(icon(self._icon, self._theme.tokens.muted))


def ringed(widget: QWidget) -> bool:
    """Return whether a widget has the focus and the keyboard is in use, so that it needs a ring."""
    keys = Qt.WidgetAttribute.WA_KeyboardFocusChange
    return widget.hasFocus() and widget.window().testAttribute(keys)


def focus_ring(painter: QPainter, colour: QColor, box: QRect) -> None:
    """Draw the focus ring of a widget that paints itself."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(colour, 2))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), 6, 6)


def restyle(widget: QWidget, name: str, value: object) -> None:
    """Set a property that the style sheet uses, and apply the style again."""
    if widget.property(name) == value:
        return
    widget.setProperty(name, value)
    widget.style().unpolish(widget)
    widget.style().polish(widget)


def dropped_paths(mime: QMimeData) -> list[Path]:
    """Return the local files and folders of a drop or a paste."""
    return [Path(url.toLocalFile()) for url in mime.urls() if url.isLocalFile()]


def acceptable(mime: QMimeData) -> bool:
    """Return whether a drop or a paste holds a text or a file."""
    return bool(dropped_paths(mime)) or mime.hasText()


class DropZone(QFrame):
    """A field that invites to drop a text; the whole window accepts drops.

    Signals:
        open_wanted: It was clicked.
    """

    open_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("dropzone")
        self.setAccessibleName(translate("Drop", "Drop files or a folder here"))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        first = label(translate("Drop", "Drop files or a folder"), "value")
        second = label(translate("Drop", "or paste a text · text, Word, PDF"), "small")
        for line in (first, second):
            line.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column_of(first, second, spacing=4, inside=self).setContentsMargins(12, 14, 12, 14)

    def mousePressEvent(self, event: object) -> None:
        """Open the file dialog."""
        self.open_wanted.emit()


class FlowLayout(QLayout):
    """A layout that places widgets from left to right and wraps to the next line."""

    def __init__(self, parent: QWidget | None = None, spacing: int = GRID) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setSpacing(spacing)
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:
        """Add an item."""
        self._items.append(item)

    def count(self) -> int:
        """Return how many items there are."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """Return an item."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Remove an item and return it."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        """Return that no room is asked for."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """Return that the height follows the width."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height at a width."""
        return self._place(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:
        """Place the widgets."""
        super().setGeometry(rect)
        self._place(rect, move=True)

    def sizeHint(self) -> QSize:
        """Return the room of the largest widget."""
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        """Return the room of the largest widget."""
        size = QSize()
        for child in self._items:
            size = size.expandedTo(child.minimumSize())
        return size

    def _place(self, rect: QRect, *, move: bool) -> int:
        x, y, tall = rect.x(), rect.y(), 0
        for child in self._items:
            hint = child.sizeHint()
            if x > rect.x() and x + hint.width() > rect.right() + 1:
                x, y, tall = rect.x(), y + tall + self.spacing(), 0
            if move:
                child.setGeometry(QRect(QPoint(x, y), hint))
            x += hint.width() + self.spacing()
            tall = max(tall, hint.height())
        return y + tall - rect.y()


MIN_HEIGHT: Final = 120  # pixels that stay in sight


class Scrolled(QScrollArea):
    """A scroll area that takes the height of its content, or less if there is less room.

    Args:
        content: The layout of its content.
    """

    def __init__(self, content: QLayout) -> None:
        super().__init__()
        self._content = content
        inside = QWidget()
        inside.setLayout(content)
        content.setContentsMargins(0, 0, 0, 0)
        inside.installEventFilter(self)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidgetResizable(True)
        self.setWidget(inside)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Update the layout when the content needs another height."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)

    def heightForWidth(self, width: int) -> int:
        """Return the height that the content needs at a width."""
        if self._content.hasHeightForWidth():
            return self._content.totalHeightForWidth(width)
        return self._content.totalSizeHint().height()

    def sizeHint(self) -> QSize:
        """Return the size that the content needs."""
        return self._content.totalSizeHint()

    def minimumSizeHint(self) -> QSize:
        """Return the width that the content needs beside a bar, and a height to scroll in."""
        smallest = self._content.totalMinimumSize()
        bar = self.verticalScrollBar().sizeHint().width()
        return QSize(smallest.width() + bar, min(smallest.height(), MIN_HEIGHT))


class Fold(QWidget):
    """A heading whose content folds.

    Attributes:
        head: The heading; pressing it opens or folds. Its name says which of both it is.
        opened: Whether it is open.
        body: Layout for the content.

    Signals:
        toggled: The user opened or folded it.
    """

    toggled = Signal(bool)

    def __init__(
        self,
        title: str,
        *,
        opened: bool = False,
        ruled: bool = True,
    ) -> None:
        super().__init__()
        self._title, self.opened = title, opened
        self.head = push_button(title, role="fold")
        self.head.setAutoDefault(False)
        self.head.setCursor(Qt.CursorShape.PointingHandCursor)
        self.head.clicked.connect(self._press)
        self.side_note = ElidedLabel(role="muted", align=Qt.AlignmentFlag.AlignRight)
        self._inside = QWidget()
        self.body = column_of(inside=self._inside)
        self.body.setContentsMargins(0, GRID // 2, 0, GAP)
        line = rule()
        line.setVisible(ruled)
        head = row_of(self.head, (self.side_note, 1), spacing=GAP)
        column_of(head, self._inside, line, spacing=GRID // 2, inside=self)
        self._toggle(opened)

    def open(self) -> None:
        """Show the content."""
        if not self.opened:
            self._toggle(True)

    def fold(self) -> None:
        """Hide the content."""
        if self.opened:
            self._toggle(False)

    def _press(self) -> None:
        self._toggle(not self.opened)

    def retitle(self, title: str) -> None:
        """Change the heading."""
        self._title = title
        self.head.setText(title)
        self._name()

    def tell(self, text: str) -> None:
        """Show a short summary of the content beside the heading."""
        self.side_note.setText(text)
        self._name()

    def changeEvent(self, event: QEvent) -> None:
        """Follow the colours."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._draw()

    def _toggle(self, opened: bool) -> None:
        self.opened = opened
        self._inside.setVisible(opened)
        self._draw()
        self._name()
        self.toggled.emit(opened)

    def _draw(self) -> None:
        colour = self.palette().color(QPalette.ColorRole.PlaceholderText).name()
        self.head.setIcon(icon("up" if self.opened else "down", colour))

    def _name(self) -> None:
        opened = translate("Report", "open") if self.opened else (translate("Report", "folded"))
        parts = (self._title, self.side_note.text(), opened)
        self.head.setAccessibleName(", ".join(part for part in parts if part))
