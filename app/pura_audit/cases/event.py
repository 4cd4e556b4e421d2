"""Put on record what happened to an item outside the program: the chain of custody."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from pura.caselog import Event
from pura_audit.cases.words import event_words
from pura_audit.look.theme import GAP, PADDING
from pura_audit.platform.i18n import translate
from pura_audit.widgets.card import label
from pura_audit.widgets.fields import Words, choice, pair
from pura_audit.widgets.fitting import FittedDialog


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
            list(event_words().items()),
            "item-received",
            self._check,
        )
        self.details = Words(translate("Cases", "From whom, how, where"), lines=3)
        self.handed = Words(translate("Cases", "Released by (may stay empty)"))
        self.taken = Words(translate("Cases", "Received by (may stay empty)"))
        self.digest = Words(translate("Cases", "Hash of the item (may stay empty)"))
        self.ok = QPushButton(translate("Cases", "Record"))
        self.ok.setProperty("role", "main")
        self.ok.setDefault(True)
        self.ok.clicked.connect(self._give)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(PADDING, PADDING, PADDING, PADDING)
        layout.setSpacing(GAP)
        layout.addWidget(label(title, "answer"))
        layout.addWidget(
            label(
                translate(
                    "Cases",
                    "Every handler and every transfer of the item belongs on record. An entry "
                    "cannot be changed later.",
                ),
                "muted",
                wrap=True,
            )
        )
        layout.addWidget(field)
        layout.addWidget(self.details)
        layout.addLayout(pair(self.handed, self.taken))
        layout.addWidget(self.digest)
        for words in (self.details, self.handed, self.taken, self.digest):
            words.edited.connect(self._check)
        cancel = QPushButton(translate("Cases", "Cancel"))
        cancel.setAutoDefault(False)
        cancel.clicked.connect(self.reject)
        layout.addStretch(1)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(cancel)
        row.addWidget(self.ok)
        layout.addLayout(row)
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
