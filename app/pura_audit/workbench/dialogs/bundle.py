"""Team bundles in the window: what one holds is shown before it is taken in; one is made."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QFileDialog, QLineEdit, QWidget

from pura.keys import Place, Secret, State, passphrase_bytes
from pura.model.store import builtin_model
from pura.usecases.keys import (
    SUFFIX,
    Bundle,
    create_bundle,
    open_bundle,
    take_bundle,
    unlock_files,
)
from pura_audit.jobs.context import Done, Failure, JobContext, Outcome
from pura_audit.keys.passphrase import PassphraseDialog, folder_passphrase
from pura_audit.platform.i18n import filled, size, translate
from pura_audit.session.choices import Inventory
from pura_audit.session.session import Session
from pura_audit.widgets.ask_file import ask_file, ask_target
from pura_audit.widgets.card import label
from pura_audit.widgets.fields import name_input
from pura_audit.widgets.form_dialog import (
    Host,
    button_row,
    cancel_button,
    dialog_column,
    main_button,
    opened,
)
from pura_audit.widgets.working_dialog import WorkingDialog


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
        self.holds = label("", "", wrap=True)
        self.holds.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.holds.hide()
        self.policy = QCheckBox(translate("Bundle", "Its policy may replace the one that is here"))
        self.policy.hide()
        words = translate("Bundle", "Install the built-in model too ({size:text}, fetched once)")
        self.model = QCheckBox(filled(words, size=size(builtin_model().download_bytes)))
        self.model.setChecked(True)
        self.model.hide()
        self.go = main_button(translate("Bundle", "Show what it holds"), self._go)
        for widget in (self.passphrase, self.holds, self.policy, self.model):
            column.addWidget(widget)
        column.addLayout(self.progress_row())
        column.addLayout(button_row(cancel_button(self), self.go))
        self.finished.connect(lambda _: self._forget())
        self.refresh_buttons()

    def refresh_buttons(self) -> None:
        """Enable the button once there is a passphrase and nothing runs."""
        self.go.setEnabled(not self.busy and (self._secret is not None or self._typed))

    @property
    def _typed(self) -> bool:
        return bool(self.passphrase.text())

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
        filled(
            named,
            what=translate("Setup", "Key"),
            name=bundle.key,
            fingerprint=bundle.key_fingerprint,
        ),
        filled(
            named,
            what=translate("Setup", "Profile"),
            name=bundle.profile,
            fingerprint=bundle.profile_fingerprint,
        ),
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

    def ended(outcome: Outcome[Bundle]) -> None:
        match outcome:
            case Done():
                host.say(
                    translate("Bundle", "The team bundle is saved. Compare the fingerprints later.")
                )
            case Failure():
                host.say(outcome.words)

    dialog.given.connect(save)
    return opened(dialog)


def _names() -> str:
    return translate("Bundle", "Team bundles (*.purateam)")
