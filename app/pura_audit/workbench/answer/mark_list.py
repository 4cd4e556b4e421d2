"""The marks of a text that has several: number, payload, where and how much of the text."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from pura.record.audit import Audit
from pura.record.finding import said
from pura.record.naming import NamedMark, evidence_ratio, limits_words, whom_words
from pura_audit.platform.i18n import filled, language, translate
from pura_audit.session.selection import Selection
from pura_audit.theme import fonts
from pura_audit.theme.theme import BADGE, GAP, GRID, Theme, mark_pen, paint_badge
from pura_audit.widgets.card import ElidedLabel, label

COUNTED = "marks.counted"
"""The sentence that says how many marks there are; it stands above them."""

AT_LEAST = 3
"""Marks that are seen at once, however low the window is."""


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
        marks = audit.finding.marks
        several = len(marks) > 1
        self.setVisible(several)
        if not several:
            return
        counted = (one for one in audit.finding.beside if one.key == COUNTED)
        self.caption.setText(" ".join(said(counted, language())))
        labels = {key.fingerprint: key.label or key.fingerprint for key in audit.keys}
        for number, mark in enumerate(marks):
            key = labels.get(mark.key, mark.key) if len(audit.keys) > 1 else ""
            written = grouped(mark.payload.best)
            named = whom_words(audit.profile, mark.payload, written, language())
            words = [audit.finding.place(mark.passages[0], language())] if mark.passages else []
            if ratio := evidence_ratio(mark, language(), audit.lr_cap):
                words.append(filled(translate("Marks", "L {ratio:text}"), ratio=ratio))
            if key:
                words.append(filled(translate("Marks", "key {key:text}"), key=key))
            row = MarkRow(number, mark, named, " · ".join(words), self._theme)
            row.clicked.connect(lambda _=False, n=number: self._selection.select_mark(n))
            self.rows.append(row)
            self._column.addWidget(row)
        self._follow()

    def spare_height(self) -> int:
        """Return the height of the rows below the first three."""
        more = self.rows[AT_LEAST:]
        return sum(row.sizeHint().height() + self._column.spacing() for row in more)

    def _follow(self) -> None:
        chosen = self._selection.mark or 0
        for number, row in enumerate(self.rows):
            row.setChecked(number == chosen)


class MarkRow(QPushButton):
    """A mark: its number and line as in the text, its payload, and where it stands."""

    def __init__(self, number: int, mark: NamedMark, named: str, words: str, theme: Theme) -> None:
        super().__init__()
        self._number, self._theme = number, theme
        self.setProperty("role", "row")
        self.setCheckable(True)
        # Its words are shortened; it never makes the card wider.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.payload = ElidedLabel(named)
        self.payload.setProperty("role", "value")
        if mark.payload.identified and not mark.payload.fields:
            self.payload.setFont(fonts.mono(fonts.BODY, strong=True))
            self.payload.setProperty("face", "mono")
        if number == 0:
            self.payload.setObjectName("payload")
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
        self.setAccessibleName(filled(name, n=number + 1, payload=named, facts=words))
        limits = [limits_words(passage, language()) for passage in mark.passages]
        act = translate("Marks", "Show its bits, and where it begins")
        self.setToolTip("\n".join([act, *filter(None, limits)]))
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


def grouped(bits: str) -> str:
    """Write bits in groups of four."""
    return " ".join(bits[i : i + 4] for i in range(0, len(bits), 4))
