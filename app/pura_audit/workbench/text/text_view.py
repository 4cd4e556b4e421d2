"""The text on screen: mouse, keyboard, search and the shared selection."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QTextLine,
    QWheelEvent,
)
from PySide6.QtWidgets import QMenu, QToolTip, QWidget

from pura.record.audit import Audit
from pura.record.naming import Passage
from pura_audit.platform.i18n import filled, translate
from pura_audit.session.selection import Selection
from pura_audit.theme.theme import Theme
from pura_audit.widgets.text_layout import hidden_name
from pura_audit.workbench.text.text_canvas import MARGIN, TextCanvas


class TextView(TextCanvas):
    """Shows a text; its tokens can be selected, searched and walked along."""

    def __init__(self, selection: Selection, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(selection, theme, parent)
        self._fresh = False
        self._anchor = 0
        self._awaited: int | None = None  # a token that is wanted on screen once there are lines
        selection.audit_changed.connect(self._begin)
        selection.changed.connect(self._follow)
        selection.shown_from.connect(self._show_from)
        self.moved.connect(lambda: selection.see(*self.tokens_on_screen()))
        self.laid_out.connect(self._arrive)

    def show_text(self, text: str, audit: Audit | None) -> None:
        """Show a text; with an audit its tokens are shaded and can be selected."""
        super().show_text(text, audit)
        self._describe()

    def go_to_match(self, number: int) -> None:
        """Scroll to a found place and select its token."""
        if not self.matches:
            return
        place = self.matches[number % len(self.matches)]
        self._scroll_to(self._lines.of_character(place))
        token = self.token_of_character(place)
        if token is not None:
            self._selection.select_token(token)

    # Following and moving the selection

    def _begin(self) -> None:
        # A new result is read from its beginning, wherever its strongest token stands.
        self._fresh = True

    def _follow(self) -> None:
        self._describe()
        token = self._selection.token
        if self._fresh:
            self._fresh = False
        elif self._selection.bit is None and token is not None and token < self._starts.size:
            self._scroll_to(self._lines.of_character(int(self._starts[token])))
        self.viewport().update()

    def _arrive(self) -> None:
        if self._awaited is not None and not self.laying:
            self._show_from(self._awaited)
        self._selection.see(*self.tokens_on_screen())

    def _show_from(self, token: int) -> None:
        self._awaited = token if self.laying else None
        if self.laying:
            return
        line = self._lines.of_character(int(self._starts[token]))
        self.verticalScrollBar().setValue((line - 1) * self.line_height)

    def show_character(self, place: int) -> None:
        """Bring a character to the upper third of the screen."""
        line = self._lines.of_character(place)
        third = self.viewport().height() / 3
        self.verticalScrollBar().setValue(round(line * self.line_height - third))

    def _scroll_to(self, line: int) -> None:
        bar = self.verticalScrollBar()
        top = line * self.line_height
        if top < bar.value():
            bar.setValue(top)
        elif top + self.line_height > bar.value() + self.viewport().height():
            bar.setValue(top + self.line_height - self.viewport().height() + 8)

    def _describe(self) -> None:
        audit, token = self._selection.audit, self._selection.token
        # The selection is told of another row's audit before this view is.
        if audit is None or token is None or token >= self._levels.size:
            self.setAccessibleDescription("")
            return
        level = int(self._levels[token])
        word = (
            translate("Text", "carries no evidence")
            if level == 0
            else supporting(audit)
            if level > 0
            else translate("Text", "speaks against the payload")
            if audit.profile.foreign is None
            else translate("Text", "speaks against the mark")
        )
        start, end = int(self._starts[token]), int(self._ends[token])
        self.setAccessibleDescription(
            filled(
                translate("Text", "Token {n:text} of {all:text}, “{token:text}”, {word:text}"),
                n=token + 1,
                all=self._levels.size,
                token=self._safe[start:end],
                word=word,
            )
        )

    def token_of_character(self, place: int) -> int | None:
        """Return the token that holds a character; None without an audit."""
        if not self._starts.size:
            return None
        token = int(np.searchsorted(self._ends, place, side="right"))
        return min(token, self._starts.size - 1)

    def token_at(self, point: QPointF) -> int | None:
        """Return the token under a point of the viewport, or None."""
        place = self._character_at(point)
        return None if place is None else self.token_of_character(place)

    def _character_at(self, point: QPointF) -> int | None:
        number = int((point.y() - 4 + self.verticalScrollBar().value()) // self.line_height)
        if not 0 <= number < len(self._lines):
            return None
        shaped = self._shape(number)
        x = point.x() - MARGIN
        if x < -4 or x > shaped.line.naturalTextWidth() + 4:
            return None
        unit = shaped.line.xToCursor(x, QTextLine.CursorPosition.CursorOnCharacter)
        inside = unit if shaped.units is None else int(np.searchsorted(shaped.units, unit))
        return min(shaped.start + inside, max(shaped.start, shaped.end - 1))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Select the token under the pointer; what a copy takes begins here."""
        if event.button() != Qt.MouseButton.LeftButton:
            return
        token = self.token_at(event.position())
        if token is not None:
            self._selection.select_token(token)
        self._anchor = self._nearest(event.position())
        self._choose(self._anchor, self._anchor)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Name characters that are shown as signs; choose what a copy takes."""
        place = self._character_at(event.position())
        name = hidden_name(self._text[place]) if place is not None and self._text else None
        QToolTip.showText(event.globalPosition().toPoint(), name or "", self)
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._choose(self._anchor, self._nearest(event.position()))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Choose a word."""
        place = self._character_at(event.position())
        if place is not None and not self._text[place].isspace():
            start, end = place, place + 1
            while start and not self._text[start - 1].isspace():
                start -= 1
            while end < len(self._text) and not self._text[end].isspace():
                end += 1
            self._choose(start, end)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer to copy."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        copy = menu.addAction(translate("Text", "Copy"), self.copy)
        copy.setShortcut(QKeySequence.StandardKey.Copy)
        copy.setEnabled(self.chosen[0] < self.chosen[1])
        passage = menu.addAction(translate("Text", "Copy the passage"), self.copy_passage)
        passage.setEnabled(self._passage() is not None)
        menu.addAction(translate("Text", "Choose all"), lambda: self._choose(0, len(self._text)))
        menu.popup(event.globalPos())

    def copy(self) -> None:
        """Put what is chosen on the clipboard, as it is in the text."""
        start, end = self.chosen
        if start < end:
            QGuiApplication.clipboard().setText(self._text[start:end])

    def copy_passage(self) -> None:
        """Put the marked passage of the selected token on the clipboard."""
        if (passage := self._passage()) is not None:
            QGuiApplication.clipboard().setText(self._text[passage.start : passage.end])

    def _passage(self) -> Passage | None:
        token = self._selection.token
        inside = (p for _, p in self.passages if p.first_token <= (token or 0) <= p.last_token)
        return next(inside, None) if token is not None else None

    def _nearest(self, point: QPointF) -> int:
        """Return the place between two characters that is nearest to a point."""
        line = int((point.y() - 4 + self.verticalScrollBar().value()) // self.line_height)
        shaped = self._shape(max(0, min(line, len(self._lines) - 1)))
        unit = shaped.line.xToCursor(point.x() - MARGIN)
        inside = unit if shaped.units is None else int(np.searchsorted(shaped.units, unit))
        return min(shaped.start + inside, shaped.end)

    def _choose(self, anchor: int, place: int) -> None:
        self._anchor = anchor
        self.chosen = (min(anchor, place), max(anchor, place))
        self.viewport().update()

    def _extend(self, key: int) -> bool:
        """Choose more or less with the keys; say whether the key did that."""
        start, end = self.chosen
        place = start if end == self._anchor else end
        line = self._lines.of_character(min(place, max(0, len(self._text) - 1)))
        offset = place - self._lines.span(line)[0]
        match key:
            case Qt.Key.Key_Left:
                place -= 1
            case Qt.Key.Key_Right:
                place += 1
            case Qt.Key.Key_Home:
                place = 0
            case Qt.Key.Key_End:
                place = len(self._text)
            case Qt.Key.Key_Up | Qt.Key.Key_Down:
                there = line + (1 if key == Qt.Key.Key_Down else -1)
                if not 0 <= there < len(self._lines):
                    place = 0 if there < 0 else len(self._text)
                else:
                    first, last = self._lines.span(there)
                    place = min(first + offset, last)
            case _:
                return False
        self._choose(self._anchor, max(0, min(place, len(self._text))))
        self._scroll_to(self._lines.of_character(max(0, min(place, len(self._text)) - 1)))
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move from token to token, from line to line, to the ends; choose, copy, zoom."""
        token = self._selection.token
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
            return
        if event.matches(QKeySequence.StandardKey.SelectAll):
            self._choose(0, len(self._text))
            return
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            if self.chosen[0] == self.chosen[1] and token is not None and token < self._starts.size:
                self._choose(int(self._starts[token]), int(self._starts[token]))
            if self._extend(event.key()):
                return
        if event.matches(QKeySequence.StandardKey.ZoomIn):
            self.set_text_size(self._size + 1)
        elif event.matches(QKeySequence.StandardKey.ZoomOut):
            self.set_text_size(self._size - 1)
        elif not self._levels.size or token is None:
            super().keyPressEvent(event)
        else:
            target = self._target(event.key(), token)
            if target is None:
                event.ignore()
            else:
                self._selection.select_token(target)

    def _target(self, key: int, token: int) -> int | None:
        keys = Qt.Key
        page = max(1, self.viewport().height() // self.line_height - 1)
        match key:
            case keys.Key_Left:
                return token - 1
            case keys.Key_Right:
                return token + 1
            case keys.Key_Home:
                return 0
            case keys.Key_End:
                return int(self._levels.size) - 1
            case keys.Key_Up:
                return self._vertical(token, -1)
            case keys.Key_Down:
                return self._vertical(token, 1)
            case keys.Key_PageUp:
                return self._vertical(token, -page)
            case keys.Key_PageDown:
                return self._vertical(token, page)
        return None

    def _vertical(self, token: int, by: int) -> int:
        start = int(self._starts[token])
        here = self._lines.of_character(start)
        there = max(0, min(here + by, len(self._lines) - 1))
        step = 1 if by > 0 else -1
        while self._empty[there] and 0 < there < len(self._lines) - 1:
            there += step
        offset = start - self._lines.span(here)[0]
        first, end = self._lines.span(there)
        found = self.token_of_character(min(first + offset, max(first, end - 1)))
        return token if found is None else found

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom with Ctrl, else scroll."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.set_text_size(self._size + (1 if event.angleDelta().y() > 0 else -1))
        else:
            super().wheelEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Draw the ring."""
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Draw no ring any more."""
        super().focusOutEvent(event)
        self.viewport().update()


def supporting(audit: Audit | None) -> str:
    """Say what a blue token does; a mark by others carries no payload."""
    if audit is None or audit.profile.foreign is None:
        return translate("Text", "supports the payload")
    return translate("Text", "speaks for the mark")
