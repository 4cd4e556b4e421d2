"""The first-run page: key, model, profile; each says its state and has one button."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QProgressBar,
    QPushButton,
    QWidget,
)

from pura.model.store import builtin_model
from pura.usecases.models import add_model, install_model
from pura.usecases.profiles import create_profile, import_profile
from pura_audit.cases.ask import AskDialog
from pura_audit.jobs.context import Failure, Outcome, Progress
from pura_audit.jobs.queue import Job, Work
from pura_audit.keys.forms import KeyAct
from pura_audit.keys.words import state_words
from pura_audit.platform.i18n import duration, filled, size, translate
from pura_audit.session.choices import Inventory
from pura_audit.session.session import Session
from pura_audit.theme.theme import GAP, GRID
from pura_audit.widgets.ask_file import ask_file, ask_folder
from pura_audit.widgets.card import label, restyle
from pura_audit.widgets.form_dialog import opened

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


T = TypeVar("T")


class SetupActs(QObject):
    """Between the first-run page and the session.

    Signals:
        keys_wanted: Show the dialog of the keys and ask for this KeyAct.
    """

    keys_wanted = Signal(object)

    def __init__(self, view: SetupView, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self._install: Job | None = None
        self._progress: Progress | None = None
        self.show_in(view)
        session.chosen.changed.connect(self._refresh)
        session.install_wanted.connect(self.install_model)

    def show_in(self, view: SetupView) -> None:
        """Use this page from now on."""
        self._view = view
        for button, act in (
            (view.key.button, lambda: self.keys_wanted.emit(KeyAct.NEW)),
            (view.key.other, lambda: self.keys_wanted.emit(KeyAct.IMPORT)),
            (view.model.button, self.install_model),
            (view.model.other, self.ask_model),
            (view.profile.button, self.ask_profile),
            (view.profile.other, self.ask_profile_file),
        ):
            button.clicked.connect(lambda _=False, do=act: do())
        view.cancel_wanted.connect(self._cancel)
        view.busy(self._progress)
        self._refresh()

    def install_model(self) -> None:
        """Install the built-in model, unless one is on its way."""
        if self._session.jobs.installs.busy:
            return
        environment = self._session.environment
        self._add(
            lambda context: install_model(
                environment,
                progress=context.progress,
                checkpoint=context.checkpoint,
            )
        )

    def ask_model(self) -> QFileDialog:
        """Ask for the folder of a model."""
        environment = self._session.environment
        return ask_folder(
            self._window,
            translate("Setup", "Folder of a model"),
            lambda path: self._add(
                lambda context: add_model(
                    environment,
                    path=path,
                    progress=context.progress,
                    checkpoint=context.checkpoint,
                )
            ),
        )

    def ask_profile(self) -> AskDialog:
        """Ask for the name of a new profile."""
        dialog = AskDialog(
            translate("Setup", "Name of the profile, e.g. Internal"),
            "",
            translate("Keys", "Create"),
            [(translate("Setup", "Name"), 1)],
            self._window,
        )
        dialog.given.connect(lambda texts: self._create_profile(*texts))
        return opened(dialog)

    def ask_profile_file(self) -> QFileDialog:
        """Ask for the file of a profile."""
        environment = self._session.environment
        return ask_file(
            self._window,
            translate("Setup", "Profile from a file"),
            lambda path: self._begin(lambda _: import_profile(environment, path=path)),
            translate("Profiles", "Profiles (*.json)"),
            translate("Register", "All files (*)"),
        )

    def _create_profile(self, name: str) -> None:
        environment, model = self._session.environment, self._session.chosen.model
        chosen = model.name if model else None
        self._begin(lambda _: create_profile(environment, name=name.strip(), model=chosen))

    def _begin(self, work: Work[T]) -> None:
        self._view.say("")
        self._session.do(work, self._ended, self)

    def _add(self, work: Work[T]) -> None:
        """Fetch or add a model; keys and profiles can be seen to meanwhile."""
        self._view.say("")
        self._tell(Progress(step=0, name="install"))
        self._install = self._session.do(
            work, self._installed, self, progressed=self._tell, at="installs"
        )

    def _tell(self, progress: Progress | None) -> None:
        self._progress = progress
        self._view.busy(progress)

    def _cancel(self) -> None:
        if self._install is not None:
            self._install.cancel()

    def _installed(self, outcome: Outcome[object]) -> None:
        self._install = None
        self._tell(None)
        self._ended(outcome)

    def _ended(self, outcome: Outcome[object]) -> None:
        if isinstance(outcome, Failure):
            self._view.say(outcome.words)
        self._refresh()

    def _refresh(self) -> None:
        self._view.show_catalogue(self._session.chosen.catalogue)
