"""The first-run page: key, model, profile; each says its state and has one button."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QProgressBar, QPushButton, QWidget

from pura.model.fetch import builtin_model
from pura_audit.jobs.outcome import Progress
from pura_audit.keys.words import state_words
from pura_audit.platform.i18n import duration, filled, size, translate
from pura_audit.session.choices import Inventory
from pura_audit.theme.theme import GAP, GRID
from pura_audit.widgets.card import label, restyle

# Where the stages of an installation end, as ModelStore.install_builtin tells of them.
FETCHED: Final = 0.5
UNPACKED: Final = 0.6


class SetupRow:
    """One line of the page: sign, name, state, and a button with other ways behind it."""

    def __init__(self, name: str, action: str, other: str) -> None:
        self.sign = label("", "value")
        self.name = label(name, "value")
        self.state = label("", "muted", wrap=True)
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
        bundle_wanted: Take in a team bundle.
        complete: All is there, and the keyboard was here last.
    """

    cancel_wanted = Signal()
    bundle_wanted = Signal()
    complete = Signal()

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
        self.stage = label("", "muted", wrap=True)
        self.bundle = QPushButton(translate("Setup", "Or take in a team bundle …"))
        self.bundle.setProperty("role", "link")
        self.bundle.clicked.connect(self.bundle_wanted)
        self.cancel = QPushButton(translate("Setup", "Cancel"))
        self._lay_out()
        self.cancel.clicked.connect(self.cancel_wanted)
        self.busy(None)

    def _lay_out(self) -> None:
        # What comes and goes keeps its place, so that no button moves under the pointer.
        for row in (self.key, self.model, self.profile):
            _keep_place(row.button, row.other)
        self.words.setMinimumHeight(2 * self.words.fontMetrics().lineSpacing())
        self.words.setAlignment(Qt.AlignmentFlag.AlignTop)
        _keep_place(self.bar, self.stage, self.cancel, self.words)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(GAP)
        grid.setVerticalSpacing(GRID)
        grid.setColumnStretch(2, 1)
        for place, row in enumerate((self.key, self.model, self.profile)):
            row.sign.setFixedWidth(16)
            row.state.setMinimumWidth(150)
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
        grid.addWidget(self.bundle, 3, 0, 1, 5, Qt.AlignmentFlag.AlignLeft)
        grid.addLayout(progress, 4, 0, 1, 5)
        grid.addWidget(self.stage, 5, 0, 1, 5)
        grid.addWidget(self.words, 6, 0, 1, 5)

    def show_catalogue(self, found: Inventory | None) -> None:
        """Say what is there."""
        if found is None:
            return
        focus = self.window().focusWidget()  # a button that goes hands it to the next one
        here = focus is not None and self.isAncestorOf(focus)
        keyring = (
            filled(
                translate("Setup", "none yet · {place:text}"),
                place=state_words(found)[0],
            )
            if found.place is not None
            else translate("Setup", "none yet · no keyring here: in an encrypted file")
        )
        self.key.show(_there([key.label for key in found.keys], keyring), done=bool(found.keys))
        self.model.show(
            _there(
                [model.name for model in found.models],
                filled(
                    translate("Setup", "none yet · {size:text}, fetched once"),
                    size=size(builtin_model().download_bytes),
                ),
            ),
            done=bool(found.models),
        )
        self.profile.show(
            _there(
                [profile.title for profile in found.profiles],
                translate("Setup", "none yet · says how texts of the model are marked"),
            ),
            done=bool(found.profiles),
        )
        self.profile.button.setEnabled(bool(found.models))
        whole = bool(found.keys and found.models and found.profiles)
        self.setVisible(not whole)
        if whole and here:
            self.complete.emit()

    def busy(self, progress: Progress | None) -> None:
        """Show how far an installation is; None when there is none."""
        running = progress is not None
        for widget in (self.bar, self.stage, self.cancel):
            widget.setVisible(running)
        for button in (self.model.button, self.model.other):
            button.setEnabled(not running)
        if progress is not None:
            self.bar.setRange(0, progress.total)
            self.bar.setValue(progress.done)
            self.stage.setText(stage_words(progress))

    def say(self, words: str) -> None:
        """Say what went wrong; nothing when all is well."""
        self.words.setText(words)
        self.words.setVisible(bool(words))


def _keep_place(*widgets: QWidget) -> None:
    for widget in widgets:
        policy = widget.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        widget.setSizePolicy(policy)


def _there(names: Sequence[str], none: str) -> str:
    """Return the names of what is there, or why there is nothing."""
    return ", ".join(names) if names else none


def stage_words(progress: Progress) -> str:
    """Say what is done of an installation, how much of it, and how long it will take."""
    if not progress.total:
        return translate("Setup", "Looking for the model")
    share = progress.done / progress.total
    if share < FETCHED:
        whole = builtin_model().download_bytes
        words = translate("Setup", "1 of 3, fetching: {done:text} of {all:text}")
        parts = [filled(words, done=size(round(whole * share / FETCHED)), all=size(whole))]
    elif share < UNPACKED:
        parts = [translate("Setup", "2 of 3, checking what was fetched")]
    else:
        parts = [translate("Setup", "3 of 3, preparing it for this computer")]
    if progress.seconds_left is not None:
        left = translate("Busy", "{time:text} left")
        parts.append(filled(left, time=duration(progress.seconds_left)))
    return " · ".join(parts)
