"""Setting the program up: key, model and profile of the first run, and team bundles."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QFileDialog, QFrame, QGridLayout, QLineEdit, QWidget

from pura.keys import Place, Secret, State, passphrase_bytes
from pura.model.store import builtin_model
from pura.usecases.keys import SUFFIX, Bundle, create_bundle, open_bundle, take_bundle, unlock_files
from pura.usecases.models import add_model, install_model
from pura.usecases.profiles import create_profile, import_profile
from pura_audit.cases.forms import AskDialog
from pura_audit.jobs.queue import Failure, Job, JobContext, Outcome, Progress, Work, by_outcome
from pura_audit.platform.i18n import duration, filled, size, translate
from pura_audit.session.choices import Inventory
from pura_audit.session.session import Session
from pura_audit.stores.key_forms import KeyAct, PassphraseDialog, folder_passphrase
from pura_audit.stores.keys import state_words
from pura_audit.theme.theme import GAP, GRID
from pura_audit.widgets.card import add_parts, label, progress_bar, push_button, restyle, row_of
from pura_audit.widgets.form_dialog import (
    Host,
    ask_file,
    ask_folder,
    ask_target,
    button_row,
    cancel_button,
    dialog_column,
    main_button,
    name_input,
    opened,
)
from pura_audit.widgets.working_dialog import WorkingDialog

# Where the stages of an installation end, as ModelStore.install_builtin tells of them.
FETCHED: Final = 0.5
UNPACKED: Final = 0.6


class SetupRow:
    """One line of the page: sign, name, state, and a button with other ways behind it."""

    def __init__(self, name: str, action: str, other: str) -> None:
        self.sign = label("", "value")
        self.name = label(name, "value")
        self.state = label("", "muted", wrap=True)
        self.button = push_button(action)
        self.other = push_button(other, role="link")

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
        complete: All is there, and the keyboard was here last.
    """

    complete = Signal()

    def __init__(self) -> None:
        super().__init__()
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
        self.bar = progress_bar(translate("Setup", "Progress of the installation"))
        self.bar.setRange(0, 1000)
        self.stage = label("", "muted", wrap=True)
        self.bundle = push_button(translate("Setup", "Or take in a team bundle …"), role="link")
        self.cancel = push_button(translate("Setup", "Cancel"))
        self._lay_out()
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
            for at, part in enumerate((row.name, row.state, row.button, row.other), start=1):
                grid.addWidget(part, place, at)
            grid.setRowMinimumHeight(place, 36)
        progress = row_of((self.bar, 1), self.cancel, spacing=GAP)
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
        keyring = translate("Setup", "none yet · no keyring here: in an encrypted file")
        if found.place is not None:
            words = translate("Setup", "none yet · {place:text}")
            keyring = filled(words, place=state_words(found)[0])
        fetched = translate("Setup", "none yet · {size:text}, fetched once")
        fetched = filled(fetched, size=size(builtin_model().download_bytes))
        marked = translate("Setup", "none yet · says how texts of the model are marked")
        for row, names, none in (
            (self.key, [key.label for key in found.keys], keyring),
            (self.model, [model.name for model in found.models], fetched),
            (self.profile, [profile.title for profile in found.profiles], marked),
        ):
            row.show(", ".join(names) or none, done=bool(names))
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
        view.cancel.clicked.connect(self._cancel)
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


class BundleDialog(WorkingDialog):
    """Asks for the passphrase, shows the fingerprints, and takes the bundle in."""

    def __init__(self, session: Session, path: Path, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self._path = path
        self._secret: Secret | None = None
        self._asking: PassphraseDialog | None = None
        self.setWindowTitle(translate("Bundle", "Team bundle"))
        self.setMinimumWidth(520)
        column = dialog_column(
            self,
            path.name,
            translate(
                "Bundle",
                "It brings a key, a profile, and where they are used a policy, power tables and "
                "the register. You see what it holds before anything is taken in.",
            ),
        )
        self.passphrase = QLineEdit()
        self.passphrase.setEchoMode(QLineEdit.EchoMode.Password)
        name_input(self.passphrase, translate("Bundle", "Passphrase of the bundle"))
        self.passphrase.setPlaceholderText(translate("Bundle", "Passphrase of the bundle"))
        self.passphrase.textChanged.connect(lambda _: self.refresh_buttons())
        self.holds = label(wrap=True)
        self.holds.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.holds.hide()
        self.policy = QCheckBox(translate("Bundle", "Its policy may replace the one that is here"))
        self.policy.hide()
        words = translate("Bundle", "Install the built-in model too ({size:text}, fetched once)")
        self.model = QCheckBox(filled(words, size=size(builtin_model().download_bytes)))
        self.model.setChecked(True)
        self.model.hide()
        self.go = main_button(translate("Bundle", "Show what it holds"), self._go)
        foot = button_row(cancel_button(self), self.go)
        fields = (self.passphrase, self.holds, self.policy, self.model)
        add_parts(column, *fields, self.progress_row(), foot)
        self.finished.connect(lambda _: self._forget())
        self.refresh_buttons()

    def refresh_buttons(self) -> None:
        """Enable the button once there is a passphrase and nothing runs."""
        there = self._secret is not None or bool(self.passphrase.text())
        self.go.setEnabled(not self.busy and there)

    def _forget(self) -> None:
        if self._secret is not None and not self.busy:
            self._secret.wipe()

    def _go(self) -> None:
        if self._secret is not None:
            self._take(self._secret)
            return
        secret = Secret(passphrase_bytes(self.passphrase.text()))
        self.begin(
            lambda _: open_bundle(self._path, secret),
            then=lambda bundle: self._show(bundle, secret),
        )

    def _ended(self, failure: Failure | None) -> None:
        super()._ended(failure)
        if self._asking is not None:
            if failure is not None and failure.code == "folder-passphrase":
                self._asking.ended(failure)
            else:
                self._asking.accept()
        elif failure is not None and self._secret is None:
            self.passphrase.setFocus()
            self.passphrase.selectAll()

    def _show(self, bundle: Bundle, secret: Secret) -> None:
        self._secret = secret
        self.passphrase.clear()
        self.passphrase.hide()
        self.holds.setText("\n".join(bundle_lines(bundle)))
        self.holds.show()
        self.policy.setVisible(bundle.policy is not None)
        none = (
            not (self.session.chosen.catalogue or Inventory()).models
            and not self.session.jobs.installs.busy
        )
        self.model.setVisible(none and bundle.model in (None, builtin_model().fingerprint))
        self.say(translate("Bundle", "Compare the fingerprints with whoever made the bundle."))
        self.go.setText(translate("Bundle", "Take it in"))
        self.refresh_buttons()
        self.go.setFocus()  # else it goes on from the hidden field to “Cancel”, and Enter with it

    def _take(self, secret: Secret) -> None:
        found = self.session.chosen.catalogue or Inventory()
        if found.place is Place.KEYRING or found.files is State.READY:
            self._take_in(secret, None)
            return
        # Without a keyring its key goes into an encrypted file.
        self._asking = dialog = folder_passphrase(self, new=found.place is None)
        dialog.given.connect(lambda folder: self._take_in(secret, folder))
        dialog.finished.connect(lambda _: setattr(self, "_asking", None))
        opened(dialog)

    def _take_in(self, secret: Secret, folder: Secret | None) -> None:
        environment = self.session.environment
        # The secret is overwritten when it has been used; another try needs it again.
        lent, replaces = Secret(secret.copy()), self.policy.isChecked()

        def work(_: JobContext) -> Bundle:
            if folder is not None:
                unlock_files(environment, passphrase=folder)
            return take_bundle(
                environment, path=self._path, passphrase=lent, replace_policy=replaces
            )

        self.begin(
            work,
            words=lambda _: translate("Bundle", "The team bundle was taken in."),
            then=lambda _: self._taken(),
        )

    def _taken(self) -> None:
        if self.model.isVisible() and self.model.isChecked():
            self.session.install_wanted.emit()
        self.accept()


def bundle_lines(bundle: Bundle) -> list[str]:
    """Say what a bundle holds, a line each."""
    named = translate("Bundle", "{what:text} “{name:text}”, fingerprint {fingerprint:text}")
    lines = [
        filled(named, what=what, name=name, fingerprint=fingerprint)
        for what, name, fingerprint in (
            (translate("Setup", "Key"), bundle.key, bundle.key_fingerprint),
            (translate("Setup", "Profile"), bundle.profile, bundle.profile_fingerprint),
        )
    ]
    if bundle.policy is not None:
        words = translate("Bundle", "Policy {name:text}")
        lines.append(filled(words, name=bundle.policy))
    for fingerprint in bundle.power:
        words = translate("Bundle", "Power table {fingerprint:text}")
        lines.append(filled(words, fingerprint=fingerprint[:16]))
    if bundle.register_rows:
        words = translate("Bundle", "Register of {n:plural(one payload|{n:count} payloads)}")
        lines.append(filled(words, n=bundle.register_rows))
    return lines


def ask_bundle(host: Host) -> QFileDialog:
    """Ask for the file of a bundle, then show what it holds."""
    return ask_file(
        host.frame,
        translate("Bundle", "Team bundle"),
        lambda path: show_bundle(host, path),
        _names(),
        translate("Register", "All files (*)"),
    )


def show_bundle(host: Host, path: Path) -> BundleDialog:
    """Show what a bundle holds, and offer to take it in."""
    return opened(BundleDialog(host.session, path, host.frame))


def make_bundle(host: Host) -> PassphraseDialog | None:
    """Make a bundle of the key and the profile that are chosen."""
    session = host.session
    key, profile = session.chosen.key, session.chosen.profile
    if key is None or key.entry is None or profile is None:
        host.say(translate("Bundle", "Choose a stored key and a profile first."))
        return None
    dialog = PassphraseDialog(
        translate("Bundle", "Make a team bundle"),
        filled(
            translate(
                "Bundle",
                "Key “{key:text}”, profile “{profile:text}”, and what counts here of policy, power "
                "tables and register. Tell your colleague the passphrase by another way.",
            ),
            key=key.label,
            profile=profile.name,
        ),
        translate("Bundle", "Save …"),
        host.frame,
        new=True,
    )

    def save(secret: Secret) -> None:
        def chosen(path: Path) -> None:
            work = partial(
                create_bundle,
                session.environment,
                key=key.label,
                profile=profile.name,
                passphrase=secret,
                path=path,
                replace=True,
            )
            words = translate("Bundle", "The team bundle is saved. Compare the fingerprints later.")
            ended = by_outcome(lambda _: host.say(words), host.say)
            session.do(lambda _: work(), ended, host.frame)

        asked = ask_target(
            host.frame,
            translate("Bundle", "Save the team bundle"),
            chosen,
            _names(),
            name=f"{profile.name}{SUFFIX}",
            suffix=SUFFIX[1:],
        )
        asked.rejected.connect(secret.wipe)

    dialog.given.connect(save)
    return opened(dialog)


def _names() -> str:
    return translate("Bundle", "Team bundles (*.purateam)")
