"""The small questions of the case browser, and what happened to an item outside the program."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QStringListModel, Signal
from PySide6.QtWidgets import (
    QCompleter,
    QLineEdit,
    QWidget,
)

from pura.caselog import CUSTODY, action_words
from pura_audit.platform.i18n import language, translate
from pura_audit.widgets.form_dialog import (
    FittedDialog,
    Words,
    button_row,
    cancel_button,
    choice,
    dialog_column,
    main_button,
    pair,
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


class EventDialog(FittedDialog):
    """What happened, who handed the item over, who took it, its hash.

    Signals:
        given: What :func:`~pura.caselog.record_event` takes, by name.
    """

    given = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        title = translate("Cases", "Record an event")
        self.setWindowTitle(title)
        self.setMinimumWidth(560)
        field, self.kind = choice(
            translate("Cases", "What happened"),
            [(action, action_words(action, language())) for action in CUSTODY],
            "item-received",
            self._check,
        )
        self.details = Words(translate("Cases", "From whom, how, where"), lines=3)
        self.handed = Words(translate("Cases", "Released by (may stay empty)"))
        self.taken = Words(translate("Cases", "Received by (may stay empty)"))
        self.digest = Words(translate("Cases", "Hash of the item (may stay empty)"))
        self.ok = main_button(translate("Cases", "Record"), self._give)
        layout = dialog_column(
            self,
            title,
            translate(
                "Cases",
                "Every handler and every transfer of the item belongs on record. An entry "
                "cannot be changed later.",
            ),
        )
        layout.addWidget(field)
        layout.addWidget(self.details)
        layout.addLayout(pair(self.handed, self.taken))
        layout.addWidget(self.digest)
        for words in (self.details, self.handed, self.taken, self.digest):
            words.edited.connect(self._check)
        layout.addStretch(1)
        layout.addLayout(button_row(cancel_button(self), self.ok))
        self._check()
        self.details.widget.setFocus()

    def _check(self) -> None:
        fields = (self.details, self.handed, self.taken, self.digest)
        fits = [field.check() for field in fields]
        self.ok.setEnabled(all(fits) and bool(self.details.text))

    def _give(self) -> None:
        event = {
            "action": self.kind.currentData(),
            "details": self.details.text,
            "handed": self.handed.text,
            "taken": self.taken.text,
            "digest": self.digest.text,
        }
        self.accept()
        self.given.emit(event)
