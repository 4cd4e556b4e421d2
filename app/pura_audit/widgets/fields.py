"""Fields of the report's form: each with its name above and, where needed, what is wrong below."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFormLayout,
    QHBoxLayout,
    QLayout,
    QLineEdit,
    QPlainTextEdit,
    QSizePolicy,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from pura.report.request import MAX_FIELD
from pura_audit.platform.i18n import filled, translate
from pura_audit.theme.theme import GRID
from pura_audit.widgets.card import label

LINE: Final = 32  # height of a line, as high as a choice beside it


class LabelledField(QWidget):
    """A name, a field, and a line for what is wrong with it.

    Args:
        caption: The name.
        widget: The field.
        longest: Characters that it takes; 0 does not count.
    """

    def __init__(self, caption: str, widget: QWidget, *, longest: int = 0) -> None:
        super().__init__()
        self.widget = widget
        self._longest = longest
        widget.setAccessibleName(caption)
        for line in widget.findChildren(QLineEdit):
            line.setAccessibleName(caption)
        name = label(caption, "label", wrap=True)
        name.setBuddy(widget)
        self.wrong = label("", "attention", wrap=True)
        self.wrong.hide()
        # Room that is left over does not go between the name and its field.
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(3)
        for part in (name, widget, self.wrong):
            layout.addWidget(part)

    def complain(self, words: str) -> None:
        """Say below the field what is wrong; "" takes it back."""
        self.wrong.setText(words)
        self.wrong.setVisible(bool(words))
        self.widget.setAccessibleDescription(words)


class Words(LabelledField):
    """Words to be typed, on one line or on several.

    Signals:
        edited: They have changed.
    """

    edited = Signal()

    def __init__(self, caption: str, *, lines: int = 1, hint: str = "") -> None:
        self._box: QLineEdit | QPlainTextEdit
        if lines == 1:
            self._box = QLineEdit()
            self._box.setMinimumHeight(LINE)
            self._box.setMaxLength(32_000)  # too long is said, not cut
        else:
            self._box = QPlainTextEdit()
            self._box.setTabChangesFocus(True)
            self._box.setFixedHeight(20 + 17 * lines)
        self._box.setPlaceholderText(hint)
        super().__init__(caption, self._box, longest=MAX_FIELD)
        self._box.textChanged.connect(lambda *_: self.edited.emit())

    @property
    def text(self) -> str:
        """What stands in it, without blanks around."""
        box = self._box
        return (box.text() if isinstance(box, QLineEdit) else box.toPlainText()).strip()

    def set_text(self, text: str) -> None:
        """Put words in."""
        if isinstance(self._box, QLineEdit):
            self._box.setText(text)
            self._box.setCursorPosition(0)
        else:
            self._box.setPlainText(text)

    def set_hint(self, words: str) -> None:
        """Say what stands there when nothing is typed."""
        self._box.setPlaceholderText(words)

    def check(self) -> bool:
        """Say when it is too long; return whether it fits."""
        fits = len(self.text) <= self._longest
        words = translate(
            "Report", "This has {n:count} characters; a report takes {most:count}. Shorten it."
        )
        words = filled(words, n=len(self.text), most=self._longest)
        self.complain("" if fits else words)
        return fits


def choice(
    caption: str, rows: Sequence[tuple[str, str]], current: str, act: Callable[[], object]
) -> tuple[LabelledField, QComboBox]:
    """Return a field with a choice of values, and the box in it."""
    box = combo(rows, current)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(6)
    box.currentIndexChanged.connect(lambda _: act())
    return LabelledField(caption, box), box


def combo(rows: Iterable[tuple[object, str]], current: object = None) -> QComboBox:
    """Return a choice of values with their words; the current one is chosen, else the first."""
    box = QComboBox()
    for value, words in rows:
        box.addItem(words, value)
    box.setCurrentIndex(max(0, box.findData(current)))
    return box


def value_of(field: QWidget) -> Any:
    """Return what is typed or chosen; the line ends of a long text belong to it."""
    match field:
        case QComboBox():
            return field.currentData()
        case QSpinBox():
            return field.value()
        case QPlainTextEdit():
            return field.toPlainText()
        case QLineEdit():
            return field.text().strip()
    raise TypeError(type(field).__name__)


def named_rows(
    rows: Iterable[tuple[str, QWidget]], *, spacing: int = GRID, aligned: bool = False
) -> QFormLayout:
    """Return a form of fields with their names before them, as screen readers say them too."""
    form = QFormLayout()
    form.setSpacing(spacing)
    if aligned:
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    for words, field in rows:
        name_input(field, words)
        form.addRow(words, field)
    return form


def pair(first: QWidget, second: QWidget, *, shares: tuple[int, int] = (1, 1)) -> QLayout:
    """Put two fields beside each other."""
    row = QHBoxLayout()
    row.setSpacing(GRID)
    row.addWidget(first, shares[0], Qt.AlignmentFlag.AlignTop)
    row.addWidget(second, shares[1], Qt.AlignmentFlag.AlignTop)
    return row


def spin_box(low: int, high: int, value: int) -> QSpinBox:
    """Return a field for a whole number, its text as far from the edge as in other fields."""
    box = QSpinBox()
    box.setRange(low, high)
    box.setValue(value)
    box.lineEdit().setTextMargins(GRID, 0, 0, 0)
    return box


def name_input(widget: QWidget, words: str) -> None:
    """Give a widget its accessible name; a spin box has a line inside that is asked as well."""
    widget.setAccessibleName(words)
    for line in widget.findChildren(QLineEdit):
        line.setAccessibleName(words)
