"""The first-run page: key, model, profile; each says its state and has one button."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QProgressBar, QPushButton, QWidget

from pura.model.fetch import builtin_model
from pura_audit.keys.words import state_words
from pura_audit.look.theme import GAP, GRID
from pura_audit.platform.i18n import filled, size, translate
from pura_audit.session.choices import Catalogue
from pura_audit.widgets.card import label, restyle
from pura_audit.widgets.elided import ElidedLabel


class SetupRow:
    """One line of the page: sign, name, state, and a button with other ways behind it."""

    def __init__(self, name: str, action: str, other: str) -> None:
        self.sign = label("", "value")
        self.name = label(name, "value")
        self.state = ElidedLabel("")
        self.state.setProperty("role", "muted")
        self.button = QPushButton(action)
        self.other = QPushButton(other)
        self.other.setProperty("role", "link")

    def show(self, words: str, *, done: bool) -> None:
        """Say the state; the button steps back once the line is done."""
        self.sign.setText("✓" if done else "–")
        restyle(self.sign, "role", "done" if done else "attention")
        self.state.setText(words)
        self.button.setVisible(not done)
        self.other.setVisible(not done)


class SetupView(QFrame):
    """Three lines.

    Signals:
        cancel_wanted: Stop the installation.
    """

    cancel_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.key = SetupRow(
            translate("Setup", "Key"),
            translate("Setup", "Create a key …"),
            translate("Setup", "Import …"),
        )
        self.model = SetupRow(
            translate("Setup", "Model"),
            translate("Setup", "Install the built-in model"),
            translate("Setup", "Use a folder …"),
        )
        self.profile = SetupRow(
            translate("Setup", "Profile"),
            translate("Setup", "Create a profile …"),
            translate("Setup", "Import …"),
        )
        self.words = label("", "attention", wrap=True)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setRange(0, 1000)
        self.bar.setAccessibleName(translate("Setup", "Progress of the installation"))
        self.cancel = QPushButton(translate("Setup", "Cancel"))
        self._lay_out()
        self.cancel.clicked.connect(self.cancel_wanted)
        self.busy(None)

    def _lay_out(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(GAP)
        grid.setVerticalSpacing(GRID)
        grid.setColumnStretch(2, 1)
        for place, row in enumerate((self.key, self.model, self.profile)):
            row.sign.setFixedWidth(16)
            row.state.setMinimumWidth(180)
            grid.addWidget(row.sign, place, 0, Qt.AlignmentFlag.AlignCenter)
            grid.addWidget(row.name, place, 1)
            grid.addWidget(row.state, place, 2)
            grid.addWidget(row.button, place, 3)
            grid.addWidget(row.other, place, 4)
            grid.setRowMinimumHeight(place, 36)
        progress = QHBoxLayout()
        progress.setSpacing(GAP)
        progress.addWidget(self.bar, 1)
        progress.addWidget(self.cancel)
        grid.addLayout(progress, 3, 0, 1, 5)
        grid.addWidget(self.words, 4, 0, 1, 5)

    def show_catalogue(self, found: Catalogue | None) -> None:
        """Say what is there."""
        if found is None:
            return
        keyring = (
            filled(
                translate("Setup", "none yet · kept in {place:text}"),
                place=state_words(found)[0],
            )
            if found.place is not None
            else translate("Setup", "none yet · no keyring here: in an encrypted file")
        )
        self.key.show(_there(len(found.keys), keyring), done=bool(found.keys))
        self.model.show(
            _there(
                len(found.models),
                filled(
                    translate("Setup", "none yet · {size:text}, fetched once"),
                    size=size(builtin_model().download_bytes),
                ),
            ),
            done=bool(found.models),
        )
        self.profile.show(
            _there(len(found.profiles), translate("Setup", "none yet · 36 bits for the model")),
            done=bool(found.profiles),
        )
        self.profile.button.setEnabled(bool(found.models))
        self.setVisible(not (found.keys and found.models and found.profiles))

    def busy(self, share: float | None) -> None:
        """Show how far an installation is; None when there is none."""
        running = share is not None
        self.bar.setVisible(running)
        self.cancel.setVisible(running)
        for row in (self.key, self.model, self.profile):
            row.button.setEnabled(not running)
            row.other.setEnabled(not running)
        if share is not None:
            self.bar.setValue(round(1000 * share))

    def say(self, words: str) -> None:
        """Say what went wrong; nothing when all is well."""
        self.words.setText(words)
        self.words.setVisible(bool(words))


def _there(count: int, none: str) -> str:
    if not count:
        return none
    return filled(translate("Setup", "{n:plural(one is|{n:count} are)} there"), n=count)
