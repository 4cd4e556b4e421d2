"""Put on record what happened to an item outside the program: the chain of custody."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from pura.caselog import CUSTODY, Event, action_words
from pura_audit.platform.i18n import language, translate
from pura_audit.widgets.fields import Words, choice, pair
from pura_audit.widgets.form_dialog import (
    FittedDialog,
    button_row,
    cancel_button,
    dialog_column,
    main_button,
)


class EventDialog(FittedDialog):
    """What happened, who handed the item over, who took it, its hash.

    Signals:
        given: The Event.
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
        event = Event(
            action=self.kind.currentData(),
            details=self.details.text,
            handed=self.handed.text,
            taken=self.taken.text,
            digest=self.digest.text,
        )
        self.accept()
        self.given.emit(event)
