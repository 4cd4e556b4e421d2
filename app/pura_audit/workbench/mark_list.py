"""The marks of a text that has several: number, payload, where and how much of the text."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from pura.base import numerals
from pura.record.audit import Audit, MarkFacts
from pura.record.plain import payload_words, undecided
from pura.words.sentences import fill
from pura_audit.look import fonts
from pura_audit.look.marks import BADGE, mark_pen, paint_badge
from pura_audit.look.theme import GAP, GRID, Theme
from pura_audit.platform.i18n import filled, language, translate
from pura_audit.session.selection import Selection
from pura_audit.widgets.card import label
from pura_audit.widgets.elided import ElidedLabel


class MarkList(QWidget):
    """One row a mark; a press selects it. Hidden where a text has one mark or none."""

    def __init__(self, selection: Selection, theme: Theme) -> None:
        super().__init__()
        self._selection, self._theme = selection, theme
        self.caption = label("", "muted", wrap=True)
        self.rows: list[MarkRow] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(GRID // 2)
        self._column.addWidget(self.caption)
        selection.mark_changed.connect(self._follow)
        theme.changed.connect(self.update)

    def show_audit(self, audit: Audit) -> None:
        """Show the marks of an audit."""
        for row in self.rows:
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        self.rows = []
        several = len(audit.marks) > 1
        self.setVisible(several)
        if not several:
            return
        said = next((s for s in audit.sentences if s.key == "marks.several"), None)
        self.caption.setText(fill(said, language()) if said is not None else "")
        labels = {key.fingerprint: key.label or key.fingerprint for key in audit.keys}
        for number, mark in enumerate(audit.marks):
            key = labels.get(mark.key, mark.key) if len(audit.keys) > 1 else ""
            named = payload_words(audit.profile, mark.fields, language())
            if number == 0 and (open_payloads := undecided(audit)):
                words = translate("Marks", "Not decided between {n:count} payloads")
                named = filled(words, n=open_payloads)
            row = MarkRow(number, mark, key, named, self._theme)
            row.clicked.connect(lambda _=False, n=number: self._selection.select_mark(n))
            self.rows.append(row)
            self._column.addWidget(row)
        self._follow()

    def _follow(self) -> None:
        chosen = self._selection.mark or 0
        for number, row in enumerate(self.rows):
            row.setChecked(number == chosen)


class MarkRow(QPushButton):
    """A mark: its number and line as in the text, its payload, and where it stands."""

    def __init__(self, number: int, mark: MarkFacts, key: str, named: str, theme: Theme) -> None:
        super().__init__()
        self._number, self._theme = number, theme
        self.setProperty("role", "row")
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.payload = ElidedLabel(named or grouped(mark.bits))
        self.payload.setProperty("role", "value")
        if not named:
            self.payload.setFont(fonts.mono(fonts.BODY, strong=True))
        if number == 0:
            self.payload.setObjectName("payload")
        words = _words(mark, key)
        facts = ElidedLabel(words)
        facts.setProperty("role", "small")
        facts.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        for part in (self.payload, facts):
            part.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        row = QHBoxLayout(self)
        row.setContentsMargins(2 * GRID + BADGE + GAP, 5, GAP, 5)
        row.addWidget(self.payload, 3)
        row.addWidget(facts, 2)
        name = translate("Marks", "Mark {n:text}, {payload:text}: {facts:text}")
        said = named or mark.bits
        self.setAccessibleName(filled(name, n=number + 1, payload=said, facts=words))
        self.setToolTip(translate("Marks", "Show its bits, and where it begins"))
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """Return the room of the line."""
        layout = self.layout()
        assert layout is not None
        return layout.sizeHint()

    def minimumSizeHint(self) -> QSize:
        """Return the least room: the words are shortened."""
        return QSize(200, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw number and line as they stand beside the text."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setPen(mark_pen(self._theme, self._number, 3 if self.isChecked() else 2))
        painter.drawLine(GRID, 7, GRID, self.height() - 7)
        box = QRectF(2 * GRID, (self.height() - BADGE) / 2, BADGE, BADGE)
        paint_badge(painter, self._theme, self._number, box)


def _words(mark: MarkFacts, key: str) -> str:
    where = translate(
        "Marks", "{share:text} of the positions, in {k:plural(one passage|{k:count} passages)}"
    )
    share = numerals.share(mark.share, language())
    parts = [filled(where, share=share, k=len(mark.passages))]
    if key:
        parts.append(filled(translate("Marks", "key {key:text}"), key=key))
    return " · ".join(parts)


def grouped(bits: str) -> str:
    """Write bits in groups of four."""
    return " ".join(bits[i : i + 4] for i in range(0, len(bits), 4))
