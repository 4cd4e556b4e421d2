"""The small questions of the case browser: a name, a note, tags, a reason."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QStringListModel, Signal
from PySide6.QtWidgets import (
    QCompleter,
    QLineEdit,
    QWidget,
)

from pura_audit.widgets.fields import Words
from pura_audit.widgets.form_dialog import (
    FittedDialog,
    button_row,
    cancel_button,
    dialog_column,
    main_button,
)


class AskDialog(FittedDialog):
    """One or two fields and a button.

    Args:
        title: What is asked.
        words: Why, and what follows.
        action: What the button does.
        fields: Name and number of lines of each field; the first may not stay empty.
        texts: What stands in them at first.
        grave: It cannot be undone: the safe button is the default.

    Signals:
        given: What was typed, one text a field.
    """

    given = Signal(tuple)

    def __init__(
        self,
        title: str,
        words: str,
        action: str,
        fields: Sequence[tuple[str, int]],
        parent: QWidget | None = None,
        *,
        texts: Sequence[str] = (),
        grave: bool = False,
        may_be_empty: bool = False,
    ) -> None:
        super().__init__(parent)
        self._may_be_empty = may_be_empty
        self.setWindowTitle(title)
        self.setMinimumWidth(520)
        layout = dialog_column(self, title, words, role="reading")
        self.fields = [Words(name, lines=lines) for name, lines in fields]
        for field, text in zip(self.fields, texts, strict=False):
            field.set_text(text)
        for field in self.fields:
            layout.addWidget(field)
            field.edited.connect(self._check)
        self.ok = main_button(action, self._give, enter=not grave)
        cancel = cancel_button(self)
        cancel.setDefault(grave)
        layout.addStretch(1)
        layout.addLayout(button_row(cancel, self.ok))
        self._check()
        self.fields[0].widget.setFocus()

    def _check(self) -> None:
        fits = [field.check() for field in self.fields]  # each says what is wrong with it
        self.ok.setEnabled(all(fits) and (self._may_be_empty or bool(self.fields[0].text)))

    def _give(self) -> None:
        texts = tuple(field.text for field in self.fields)
        self.accept()
        self.given.emit(texts)


def suggest(field: Words, names: Sequence[str]) -> None:
    """Offer names while one types."""
    assert isinstance(field.widget, QLineEdit)
    known = QCompleter(QStringListModel(list(names)), field.widget)
    known.setCaseSensitivity(known.caseSensitivity().CaseInsensitive)
    field.widget.setCompleter(known)
