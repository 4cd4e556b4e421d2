"""The view of the text with mouse, keyboard, search and selection, and the document strip."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QAccessible,
    QColor,
    QContextMenuEvent,
    QFocusEvent,
    QGuiApplication,
    QHelpEvent,
    QImage,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QTextLine,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QMenu, QSizePolicy, QToolTip, QWidget

from pura.record.audit import Audit
from pura.record.naming import Passage
from pura_audit.platform.accessible import announce, set_role
from pura_audit.platform.i18n import filled, translate
from pura_audit.session.selection import Selection
from pura_audit.theme.theme import BADGE, Theme, mark_pen, mix, paint_badge
from pura_audit.widgets.text_layout import hidden_name
from pura_audit.workbench.text_canvas import MARGIN, STEPS, TextCanvas


class TextView(TextCanvas):
    """A view of a text with selection, search and keyboard navigation."""

    def __init__(self, selection: Selection, theme: Theme) -> None:
        super().__init__(selection, theme)
        set_role(self, QAccessible.Role.Document)
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
        """Scroll to a match and select its token."""
        if not self.matches:
            return
        character = self.matches[number % len(self.matches)]
        self._scroll_to(self._lines.of_character(character))
        token = self.token_of_character(character)
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

    def show_character(self, character: int) -> None:
        """Scroll a character to the upper third of the view."""
        line = self._lines.of_character(character)
        self._scroll_whole(line - self.viewport().height() / 3 / self.line_height)

    def _scroll_to(self, line: int) -> None:
        bar = self.verticalScrollBar()
        top = line * self.line_height
        if top < bar.value():
            bar.setValue(top)
        elif top + self.line_height > bar.value() + self.viewport().height():
            bar.setValue(top + self.line_height - self.viewport().height() + 4)

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

    def token_of_character(self, character: int) -> int | None:
        """Return the token that holds a character; None without an audit."""
        if not self._starts.size:
            return None
        token = int(np.searchsorted(self._ends, character, side="right"))
        return min(token, self._starts.size - 1)

    def token_at(self, point: QPointF) -> int | None:
        """Return the token under a point of the viewport, or None."""
        character = self._character_at(point)
        if character is None or self.is_excluded(character):
            return None
        return self.token_of_character(character)

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
        """Select the token under the pointer, and begin a selection to copy."""
        if event.button() != Qt.MouseButton.LeftButton:
            return
        token = self.token_at(event.position())
        if token is not None:
            self._selection.select_token(token)
        self._anchor = self._nearest(event.position())
        self._choose(self._anchor, self._anchor)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show the names of hidden characters, and extend the selection to copy."""
        character = self._character_at(event.position())
        name = hidden_name(self._text[character]) if character is not None and self._text else None
        if not name and character is not None and self.is_excluded(character):
            name = translate("Text", "Left out of the examined text by a rule")
        QToolTip.showText(event.globalPosition().toPoint(), name or "", self)
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._choose(self._anchor, self._nearest(event.position()))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Select a word to copy."""
        character = self._character_at(event.position())
        if character is not None and not self._text[character].isspace():
            start, end = character, character + 1
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
        """Copy the selection to the clipboard, in its original characters."""
        start, end = self.chosen
        if start < end:
            QGuiApplication.clipboard().setText(self._text[start:end])

    def copy_passage(self) -> None:
        """Copy the marked passage of the selected token to the clipboard."""
        if (passage := self._passage()) is not None:
            QGuiApplication.clipboard().setText(self._text[passage.start : passage.end])

    def _passage(self) -> Passage | None:
        token = self._selection.token
        inside = (p for _, p in self.passages if p.first_token <= (token or 0) <= p.last_token)
        return next(inside, None) if token is not None else None

    def _nearest(self, point: QPointF) -> int:
        """Return the position between two characters that is nearest to a point."""
        line = int((point.y() - 4 + self.verticalScrollBar().value()) // self.line_height)
        shaped = self._shape(max(0, min(line, len(self._lines) - 1)))
        unit = shaped.line.xToCursor(point.x() - MARGIN)
        inside = unit if shaped.units is None else int(np.searchsorted(shaped.units, unit))
        return min(shaped.start + inside, shaped.end)

    def _choose(self, anchor: int, character: int) -> None:
        self._anchor = anchor
        self.chosen = (min(anchor, character), max(anchor, character))
        self.viewport().update()

    def _extend(self, key: int) -> bool:
        """Extend or reduce the selection to copy; return whether the key did that."""
        start, end = self.chosen
        character = start if end == self._anchor else end
        line = self._lines.of_character(min(character, max(0, len(self._text) - 1)))
        offset = character - self._lines.span(line)[0]
        match key:
            case Qt.Key.Key_Left:
                character -= 1
            case Qt.Key.Key_Right:
                character += 1
            case Qt.Key.Key_Home:
                character = 0
            case Qt.Key.Key_End:
                character = len(self._text)
            case Qt.Key.Key_Up | Qt.Key.Key_Down:
                next_line = line + (1 if key == Qt.Key.Key_Down else -1)
                if not 0 <= next_line < len(self._lines):
                    character = 0 if next_line < 0 else len(self._text)
                else:
                    first, last = self._lines.span(next_line)
                    character = min(first + offset, last)
            case _:
                return False
        self._choose(self._anchor, max(0, min(character, len(self._text))))
        self._scroll_to(self._lines.of_character(max(0, min(character, len(self._text)) - 1)))
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move between tokens and lines, select, copy and zoom."""
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
                self._announce(event.key())

    def _announce(self, key: int) -> None:
        """Announce the token to screen readers; after a vertical step, the line."""
        across = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End)
        text, token = self.accessibleDescription(), self._selection.token
        if key not in across and token is not None:
            line = self._lines.of_character(int(self._starts[token]))
            text = self._safe[slice(*self._lines.span(line))]
        announce(self, text)

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

    def _vertical(self, token: int, steps: int) -> int:
        start = int(self._starts[token])
        line = self._lines.of_character(start)
        next_line = max(0, min(line + steps, len(self._lines) - 1))
        step = 1 if steps > 0 else -1
        while self._empty[next_line] and 0 < next_line < len(self._lines) - 1:
            next_line += step
        offset = start - self._lines.span(line)[0]
        first, end = self._lines.span(next_line)
        nearest = self.token_of_character(min(first + offset, max(first, end - 1)))
        return token if nearest is None else nearest

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom with Ctrl, or scroll."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.set_text_size(self._size + (1 if event.angleDelta().y() > 0 else -1))
        else:
            super().wheelEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Draw the focus ring."""
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Remove the focus ring."""
        super().focusOutEvent(event)
        self.viewport().update()


def supporting(audit: Audit | None) -> str:
    """Return the meaning of a blue token; third-party watermarks carry no payload."""
    if audit is None or audit.profile.foreign is None:
        return translate("Text", "supports the payload")
    return translate("Text", "speaks for the mark")


BAR: Final = 28  # pixels of the coloured bar
BRACKET: Final = 6  # width of the brackets left of the bar
FULL: Final = 60  # characters from which a line is as grey as any


class _Sums(NamedTuple):
    """Sums over the lines of a text, each float64 [N]."""

    filled: npt.NDArray[np.float64]
    evidence: npt.NDArray[np.float64]
    carriers: npt.NDArray[np.float64]
    marked: npt.NDArray[np.float64]


class DocumentStrip(QWidget):
    """A strip with every line of a text as a row of colour; a press scrolls there.

    Rows stand for lines, not for tokens, so that the frame of what is on screen is where the text
    is. Evidence is shaded inside the passages of marks only: the rest of a text says nothing, and a
    strip that is orange from end to end would say something.
    """

    def __init__(self, view: TextView, selection: Selection, theme: Theme) -> None:
        super().__init__()
        self._view, self._selection, self._theme = view, selection, theme
        self._rows: npt.NDArray[np.int8] | None = None
        self._sums: _Sums | None = None
        self._grey = np.empty(0)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        set_role(self, QAccessible.Role.Graphic)
        self.setAccessibleName(translate("Text", "The whole text"))
        view.laid_out.connect(self._forget)
        for signal in (view.moved, selection.changed, selection.mark_changed, theme.changed):
            signal.connect(self.update)

    def sizeHint(self) -> QSize:
        """Return the width of bar, brackets and numbers."""
        return QSize(BADGE + BRACKET + BAR + 2, 120)

    def _forget(self) -> None:
        self._rows = self._sums = None
        self.setAccessibleDescription(self._words())
        self.update()

    # What a row says

    def levels(self) -> npt.NDArray[np.int8]:
        """Return the shade of every row: -4 … 4 inside passages, 0 elsewhere; int8 [H]."""
        if self._rows is None or self._rows.size != self._height():
            self._rows = self._shades(self._height())
        return self._rows

    def _shades(self, height: int) -> npt.NDArray[np.int8]:
        if self._sums is None:
            self._sums = self._sum_lines()
        sums, lines = self._sums, self._sums.filled.size
        edges = np.linspace(0, lines, height + 1)
        first = np.minimum(np.floor(edges[:-1]).astype(np.int64), lines - 1)
        last = np.maximum(np.ceil(edges[1:] - 1e-9).astype(np.int64), first + 1)
        self._grey = _means(sums.filled, np.ones(lines), first, last)
        mean = _means(sums.evidence, sums.carriers, first, last)
        size = np.maximum(np.searchsorted(STEPS, np.abs(mean), side="right"), 1)
        level = np.where(mean < 0, -size, size)
        marked = _means(sums.marked, np.ones(lines), first, last) > 0
        return np.where(marked, level, 0).astype(np.int8)

    def _sum_lines(self) -> _Sums:
        """Return the sums over the tokens of each line, which do not depend on the height."""
        starts = self._view.line_starts()
        lines = starts.size - 1
        full = np.minimum(np.diff(starts), FULL) / FULL
        audit, token_starts = self._selection.audit, self._view.token_starts()
        if audit is None or not self._view.shading or not token_starts.size or not starts[-1]:
            return _Sums(full, *np.zeros((3, lines)))
        # Tokens stand in the order of the text: those of each line are a stretch.
        edges = np.searchsorted(token_starts, starts[:-1])
        line = np.repeat(np.arange(lines), np.diff(np.append(edges, token_starts.size)))
        inside = np.zeros(token_starts.size + 1, dtype=np.int64)
        for _, passage in self._view.passages:
            inside[passage.first_token] += 1
            inside[passage.last_token + 1] -= 1
        marked = np.cumsum(inside[:-1]) > 0
        carries = np.zeros(token_starts.size, dtype=bool)
        carries[audit.steps.token] = True
        evidence = np.where(marked, audit.tokens.log10_evidence, 0.0)
        token_sums = (evidence, marked & carries, marked)
        return _Sums(full, *(np.bincount(line, v, lines).astype(np.float64) for v in token_sums))

    def _words(self) -> str:
        count = len(self._view.passages)
        if not count:
            return translate("Text", "No passage is marked.")
        template = translate(
            "Text",
            "{n:plural(One passage is|{n:count} passages are)} marked; the first begins at "
            "{share:text} % of the text.",
        )
        begin = self._view.passages[0][1].start / max(1, int(self._view.line_starts()[-1]))
        return filled(template, n=count, share=round(100 * begin))

    # Painting

    def _bar(self) -> QRectF:
        return QRectF(BADGE + BRACKET, 0, BAR, self.height())

    def _height(self) -> int:
        return max(1, round(self.height() * self.devicePixelRatioF()))

    def _y(self, line: float) -> float:
        return line / max(1, self._view.line_starts().size - 1) * self.height()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw rows, brackets, search hits, the selected token and the frame."""
        bar, image = self._bar(), self._image()  # a fault in it must not leave a painter open
        painter = QPainter(self)
        painter.drawImage(bar, image)
        painter.setPen(QPen(self._theme.colour("line"), 1))
        painter.drawRect(bar.adjusted(0.5, 0.5, -0.5, -0.5))
        self._paint_brackets(painter)
        self._paint_places(painter)
        top, bottom = self._view.lines_on_screen()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._theme.colour("muted"), 1))
        if top <= 0 and bottom >= self._view.line_starts().size - 1:
            painter.end()  # all of it is on screen
            return
        upper = self._y(top)
        frame = QRectF(bar.left() - 2, upper, BAR + 4, max(8.0, self._y(bottom) - upper))
        frame.moveBottom(min(frame.bottom(), self.height() - 1))
        frame.setTop(max(1.0, frame.top()))
        painter.drawRoundedRect(frame, 3, 3)
        painter.end()

    def _image(self) -> QImage:
        levels, tokens = self.levels(), self._theme.tokens
        quiet = [mix(tokens.card, tokens.muted, 0.04 * step) for step in range(6)]
        colours = np.array([QColor(tokens.shade(level)).rgb() for level in range(-4, 5)])
        greys = np.array([QColor(colour).rgb() for colour in quiet])
        shade = np.rint(self._grey * 5).astype(np.int64)
        row = np.where(levels == 0, greys[shade], colours[levels.astype(np.int64) + 4])
        pixels = row.astype(np.uint32)
        image = QImage(pixels.tobytes(), 1, pixels.size, 4, QImage.Format.Format_RGB32)
        return image.copy()  # the bytes belong to this call

    def _paint_brackets(self, painter: QPainter) -> None:
        passages = self._view.passages if self._view.shading else ()
        starts = self._view.line_starts()
        if not passages or not starts[-1]:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        x = BADGE + BRACKET - 4
        several = max(number for number, _ in passages) > 0
        ends = np.array([(p.start, max(p.start, p.end - 1)) for _, p in passages])
        lines = np.searchsorted(starts, ends, side="right") - 1
        numbers = np.array([number for number, _ in passages])
        # A long text has a thousand passages on a few hundred pixels: what touches is one line.
        stretches = sorted(
            (top, bottom, number)
            for number in np.unique(numbers).tolist()
            for top, bottom in self._stretches(lines[numbers == number])
        )
        free = -1.0
        for top, bottom, number in stretches:
            bold = several and number == self._selection.mark
            painter.setPen(mark_pen(self._theme, number, 3 if bold else 2))
            painter.drawLine(x, top, x, bottom)
            if several and (top + bottom) / 2 - BADGE / 2 > free:
                badge_y = min(max(0.0, (top + bottom) / 2 - BADGE / 2), self.height() - BADGE)
                paint_badge(painter, self._theme, number, QRectF(0, badge_y, BADGE, BADGE))
                free = badge_y + BADGE

    def _stretches(self, lines: npt.NDArray[np.int64]) -> list[tuple[int, int]]:
        """Return from where to where passages lie, in pixels; 3 at least, what touches is one.

        Args:
            lines: int64 [P, 2], first and last line of every passage.
        """
        scale = self.height() / max(1, self._view.line_starts().size - 1)
        tops = np.rint(lines[:, 0] * scale).astype(np.int64)
        bottoms = np.maximum(np.rint((lines[:, 1] + 1) * scale).astype(np.int64), tops + 3)
        steps = np.zeros(int(bottoms.max()) + 2, dtype=np.int64)
        np.add.at(steps, tops, 1)
        np.add.at(steps, bottoms + 1, -1)
        edges = np.diff(np.concatenate(([0], np.cumsum(steps) > 0, [0])).astype(np.int64))
        starts, ends = np.flatnonzero(edges > 0), np.flatnonzero(edges < 0) - 1
        return list(zip(starts.tolist(), ends.tolist(), strict=True))

    def _paint_places(self, painter: QPainter) -> None:
        bar = self._bar()
        starts = self._view.line_starts()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        if self._view.matches:
            hits = np.searchsorted(starts, self._view.matches, side="right") - 0.5
            painter.setPen(QPen(self._theme.colour("repaired"), 2))
            for y in {round(self._y(line)) for line in hits.tolist()}:
                painter.drawLine(round(bar.right()) - 9, y, round(bar.right()) - 1, y)
        if (spans := self._view.differences.spans).size:
            differences = np.searchsorted(starts, spans[:, 0], side="right") - 0.5
            painter.setPen(QPen(self._theme.colour("text"), 2))
            for y in {round(self._y(line)) for line in differences.tolist()}:
                painter.drawLine(round(bar.left()) + 1, y, round(bar.left()) + 6, y)
        token, token_starts = self._selection.token, self._view.token_starts()
        if token is not None and token < token_starts.size:
            line = np.searchsorted(starts, token_starts[token], side="right") - 0.5
            painter.setPen(QPen(self._theme.colour("accent"), 2))
            y = round(self._y(float(line)))
            painter.drawLine(round(bar.left()) + 1, y, round(bar.right()) - 1, y)

    # Going there

    def _line_at(self, y: float) -> float:
        return y / max(1, self.height()) * (self._view.line_starts().size - 1)

    def _go(self, point: QPointF) -> None:
        self._view.show_middle(self._line_at(point.y()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Scroll to the part of the text under the pointer."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._go(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Scroll with the pointer."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._go(event.position())

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll the text."""
        QApplication.sendEvent(self._view.verticalScrollBar(), event)

    def event(self, event: QEvent) -> bool:
        """Show a tooltip for the part under the pointer."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self.words_at(event.pos().y()), self)
            return True
        return super().event(event)

    def words_at(self, y: float) -> str:
        """Return a description of the part of the text at a height of the strip."""
        starts = self._view.line_starts()
        character = int(starts[min(int(self._line_at(y)), starts.size - 2)])
        text = translate("Text", "{share:text} % of the text")
        text = filled(text, share=round(100 * character / max(1, int(starts[-1]))))
        end = int(starts[min(int(self._line_at(y)) + 1, starts.size - 1)])
        passages = (n for n, p in self._view.passages if p.start < end and character < p.end)
        number = next(passages, None)
        if number is None:
            return text
        return text + " · " + filled(translate("Text", "mark {n:text}"), n=number + 1)


def _means(
    figures: npt.NDArray[Any],
    weights: npt.NDArray[Any],
    first: npt.NDArray[np.int64],
    last: npt.NDArray[np.int64],
) -> npt.NDArray[np.float64]:
    """Return the sum of values over the sum of weights of each range of lines; 0 for none."""
    sums = np.concatenate(([0.0], np.cumsum(figures)))
    counts = np.concatenate(([0.0], np.cumsum(weights)))
    total, count = sums[last] - sums[first], counts[last] - counts[first]
    means: npt.NDArray[np.float64] = total / np.maximum(count, 1e-12)
    return means
