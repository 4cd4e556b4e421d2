"""What of the examined text a report shows: black out stretches, take back again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QPalette, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QVBoxLayout, QWidget

from pura.record.audit import Audit
from pura.report import ReportRequest
from pura.report.request import EXCERPT, FULL, OMITTED, REDACTED
from pura_audit.platform.i18n import filled, translate
from pura_audit.reports.groups import FormGroup
from pura_audit.theme import fonts
from pura_audit.theme.theme import GRID
from pura_audit.widgets.card import FlowLayout, label
from pura_audit.widgets.form_dialog import choice, plain_button
from pura_audit.widgets.text_layout import safe_text

Ranges = tuple[tuple[int, int], ...]
_STEPS: Final = 200  # that can be taken back
MOST: Final = 5000  # places that are blacked out at once


class RedactionView(QWidget):
    """The text, and what of it is blacked out.

    Signals:
        changed: Other stretches are blacked out.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = ""
        self.ranges: Ranges = ()
        self._before: list[Ranges] = []
        self._units = np.zeros(1, dtype=np.int64)
        self.view = _Text(self)
        self.view.selectionChanged.connect(self._allow)
        self.view.cursorPositionChanged.connect(self._allow)
        self.black = plain_button(translate("Report", "Black out"), self.hide_chosen)
        self.black.setToolTip(translate("Report", "Black out what is selected (Del)"))
        self.everywhere = plain_button(
            translate("Report", "Black out everywhere"), self.hide_everywhere
        )
        self.everywhere.setToolTip(
            translate("Report", "Black out what is selected wherever the text has it")
        )
        self.show_again = plain_button(translate("Report", "Show again"), self.show_chosen)
        self.undo_button = plain_button(translate("Report", "Undo"), self.undo)
        self.words = label("", "muted", wrap=True)
        row = QWidget()
        flow = FlowLayout(row)
        for button in (self.black, self.everywhere, self.show_again, self.undo_button):
            flow.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        for widget in (self.view, row, self.words):
            layout.addWidget(widget)
        self._show()

    def load(self, text: str, ranges: Iterable[tuple[int, int]] = ()) -> None:
        """Show another text with what is blacked out of it."""
        if text != self.text:
            self.text = text
            codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
            # Qt counts in units of 16 bits, the record in characters.
            self._units = np.concatenate(([0], np.cumsum(1 + (codes > 0xFFFF)))).astype(np.int64)
            self.view.setPlainText("\n".join(safe_text(line) for line in text.split("\n")))
        self._before.clear()
        self.ranges = merged(ranges, len(text))
        self._show()

    # Intentions

    def hide_chosen(self) -> None:
        """Black out what is selected."""
        start, end = self.chosen()
        if start < end:
            self._set((*self.ranges, (start, end)))

    def hide_everywhere(self) -> None:
        """Black out every place where the text says what is selected."""
        start, end = self.chosen()
        words = self.text[start:end]
        if not words.strip():
            return
        found = []
        place = self.text.find(words)
        while place >= 0:
            found.append((place, place + len(words)))
            place = self.text.find(words, place + len(words))
            if len(found) > MOST:
                self.words.setText(
                    translate("Report", "Too many places have these words. Select more of them.")
                )
                return
        self._set((*self.ranges, *found))

    def show_chosen(self) -> None:
        """Show what is selected again; without a selection the stretch under the cursor."""
        start, end = self.chosen()
        if start == end:
            self._set(tuple(r for r in self.ranges if not r[0] <= start <= r[1]))
            return
        kept = []
        for first, last in self.ranges:
            kept += [(first, min(last, start)), (max(first, end), last)]
        self._set(tuple(r for r in kept if r[0] < r[1]))

    def undo(self) -> None:
        """Take the last step back."""
        if self._before:
            self.ranges = self._before.pop()
            self._show()
            self.changed.emit()

    def chosen(self) -> tuple[int, int]:
        """Return what is selected, in characters of the text."""
        cursor = self.view.textCursor()
        ends = np.searchsorted(self._units, [cursor.selectionStart(), cursor.selectionEnd()])
        return int(ends[0]), int(ends[1])

    def select(self, start: int, end: int) -> None:
        """Select characters of the text."""
        cursor = self.view.textCursor()
        cursor.setPosition(int(self._units[start]))
        cursor.setPosition(int(self._units[end]), QTextCursor.MoveMode.KeepAnchor)
        self.view.setTextCursor(cursor)

    def _set(self, ranges: Iterable[tuple[int, int]]) -> None:
        found = merged(ranges, len(self.text))
        if found == self.ranges:
            return
        self._before.append(self.ranges)
        del self._before[:-_STEPS]
        self.ranges = found
        self._show()
        self.changed.emit()

    # What is shown

    def _show(self) -> None:
        ink = self.palette().color(QPalette.ColorRole.Text)
        marks = []
        for start, end in self.ranges:
            mark = QTextEdit.ExtraSelection()
            cursor = QTextCursor(self.view.document())
            cursor.setPosition(int(self._units[start]))
            cursor.setPosition(int(self._units[end]), QTextCursor.MoveMode.KeepAnchor)
            mark.cursor = cursor
            mark.format.setBackground(ink)
            mark.format.setForeground(ink)
            marks.append(mark)
        self.view.setExtraSelections(marks)
        count = sum(end - start for start, end in self.ranges)
        words = filled(
            translate(
                "Report",
                "{n:count} {n:plural(stretch is|stretches are)} blacked out, {black:count} of "
                "{all:count} characters.",
            ),
            n=len(self.ranges),
            black=count,
            all=len(self.text),
        )
        if not self.ranges:
            words = translate("Report", "Nothing is blacked out yet. Select words in the text.")
        self.words.setText(words)
        self.undo_button.setEnabled(bool(self._before))
        self._allow()

    def _allow(self) -> None:
        start, end = self.chosen()
        self.black.setEnabled(start < end)
        self.everywhere.setEnabled(bool(self.text[start:end].strip()))
        self.show_again.setEnabled(any(a <= end and start <= b for a, b in self.ranges))

    def changeEvent(self, event: QEvent) -> None:
        """Follow the colours."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._show()


class _Text(QPlainTextEdit):
    """The text, with a key for each thing that can be done to it."""

    def __init__(self, owner: RedactionView) -> None:
        super().__init__(owner)
        self._owner = owner
        self.setReadOnly(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setTabChangesFocus(True)
        self.setFont(fonts.face(fonts.BODY))
        self.setFixedHeight(220)
        self.setAccessibleName(translate("Report", "Text to black out"))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Del blacks out; what undoes elsewhere undoes here."""
        if event.key() == Qt.Key.Key_Delete:
            self._owner.hide_chosen()
        elif event.matches(QKeySequence.StandardKey.Undo):
            self._owner.undo()
        else:
            super().keyPressEvent(event)


def merged(ranges: Iterable[tuple[int, int]], size: int) -> Ranges:
    """Return ranges in order, inside the text, none touching another."""
    found: list[tuple[int, int]] = []
    for start, end in sorted((max(0, a), min(b, size)) for a, b in ranges):
        if start >= end:
            continue
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return tuple(found)


class TextGroup(FormGroup):
    """Whole, in excerpts, with parts blacked out, or not at all."""

    def __init__(self, base: ReportRequest) -> None:
        super().__init__(translate("Report", "Examined text"))
        self._audits: tuple[Audit, ...] = ()
        self._loaded: Audit | None = None
        self._given = (base.redactions, *base.further)
        self._ranges: dict[str, Ranges] = {}
        field, self.mode = choice(
            translate("Report", "The report shows"),
            [
                (FULL, translate("Report", "the whole text")),
                (EXCERPT, translate("Report", "excerpts around the passages")),
                (REDACTED, translate("Report", "the text with parts blacked out")),
                (OMITTED, translate("Report", "nothing of the text")),
            ],
            base.text,
            self._changed,
        )
        self.which_field, self.which = choice(
            translate("Report", "Text to black out"), [], "", self._chosen
        )
        self.explain = label("", "muted", wrap=True)
        self.caution = label("", "attention", wrap=True)
        self.redaction = RedactionView()
        self.redaction.changed.connect(self._redacted)
        for widget in (field, self.explain, self.which_field, self.redaction, self.caution):
            self.body.addWidget(widget)
        self._changed()

    def follow(self, audits: Sequence[Audit]) -> None:
        """Offer the texts of these audits; what was blacked out of another stays known."""
        if [id(one) for one in audits] == [id(one) for one in self._audits]:
            return
        shown = self._audit
        self._audits = tuple(audits)
        for audit, ranges in zip(audits, self._given, strict=False):
            self._ranges.setdefault(audit.id, ranges)
        self._given = ()
        self.which.blockSignals(True)
        self.which.clear()
        for place, audit in enumerate(audits, start=1):
            self.which.addItem(f"{place}. {audit.input.name}")
        places = [i for i, one in enumerate(audits) if one is shown]
        self.which.setCurrentIndex(places[0] if places else 0)
        self.which.blockSignals(False)
        self._load()
        self._say()

    @property
    def _audit(self) -> Audit | None:
        """The one whose text is on screen."""
        place = self.which.currentIndex()
        return self._audits[place] if 0 <= place < len(self._audits) else None

    def _load(self) -> None:
        audit = self._audit
        if audit is not None and self.mode.currentData() == REDACTED and audit is not self._loaded:
            self._loaded = audit
            self.redaction.load(audit.text or "", self._ranges.get(audit.id, ()))

    def _chosen(self) -> None:
        self._load()
        self._say()

    def _redacted(self) -> None:
        if self._loaded is not None:
            self._ranges[self._loaded.id] = self.redaction.ranges
        self._say()
        self.changed.emit()

    def _changed(self) -> None:
        self._load()
        self._say()
        self.changed.emit()

    def _say(self) -> None:
        mode = self.mode.currentData()
        self.tell(self.mode.currentText())
        self.explain.setText(
            {
                FULL: translate(
                    "Report", "The text and its tokens are in the report and its record."
                ),
                EXCERPT: translate(
                    "Report",
                    "Passages with some words around them; what is left out is in the file "
                    "nowhere.",
                ),
                REDACTED: translate(
                    "Report", "What is blacked out is in the file nowhere; its length can be seen."
                ),
                OMITTED: translate("Report", "The item is named by its file name and its SHA-256."),
            }[mode]
        )
        several = len(self._audits) > 1
        there = self._audit is not None and self._audit.text is not None
        self.redaction.setVisible(mode == REDACTED and there)
        self.which_field.setVisible(mode == REDACTED and several)
        words = ""
        if mode == REDACTED and not there:
            words = translate("Report", "This record holds no text; there is nothing to show.")
        elif mode == REDACTED and several and (whole := self._whole()):
            words = filled(
                translate(
                    "Report",
                    "In {n:count} {n:plural(text|texts)} nothing is blacked out; "
                    "{n:plural(it appears|they appear)} whole.",
                ),
                n=whole,
            )
        self.caution.setText(words)
        self.caution.setVisible(bool(words))

    def _whole(self) -> int:
        """Return how many texts have nothing blacked out."""
        return sum(not self._ranges.get(one.id) and bool(one.text) for one in self._audits)

    def into(self, request: ReportRequest) -> ReportRequest:
        """Return the request with this choice."""
        mode = self.mode.currentData()
        ranges = [self._ranges.get(one.id, ()) for one in self._audits]
        if mode != REDACTED or not ranges:
            return replace(request, text=mode, redactions=(), further=())
        return replace(request, text=mode, redactions=ranges[0], further=tuple(ranges[1:]))
