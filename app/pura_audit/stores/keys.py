"""The dialog of the keys: the stored keys, the state of the key store, and its actions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QWidget,
)

from pura.keys import SUFFIX, KeyEntry, KeyRole, Place, Secret, State
from pura.usecases.keys import (
    KeyDone,
    delete_key,
    export_key,
    unlock_files,
    unlock_keyring,
)
from pura_audit.jobs.queue import Done, Failure, JobContext, Outcome, Work
from pura_audit.platform.i18n import filled, quoted, translate
from pura_audit.session.choices import Inventory, KeyChoice
from pura_audit.session.session import Session
from pura_audit.stores.key_forms import (
    KeyAct,
    KeyForm,
    KeyRequest,
    PassphraseDialog,
    comes_again,
    folder_passphrase,
    name_in,
    needs_files,
    needs_passphrase,
)
from pura_audit.widgets.card import restyle
from pura_audit.widgets.form_dialog import RetryDialog, ask_first, ask_target, opened
from pura_audit.widgets.working_dialog import StoreDialog


def state_words(inventory: Inventory) -> tuple[str, str, str]:
    """Return the name of the key store, a sentence about its state, and a hint."""
    if inventory.place is Place.KEYRING:
        return (translate("Keys", "This computer’s keyring"), *_keyring(inventory.keyring))
    if inventory.place is None:
        return (
            translate("Keys", "No keyring"),
            translate("Keys", "This computer offers no keyring."),
            translate(
                "Keys",
                "Keep keys in encrypted files under a passphrase, or for this session only.",
            ),
        )
    return (translate("Keys", "Encrypted key files"), *_folder(inventory.files))


def _keyring(state: State) -> tuple[str, str]:
    match state:
        case State.READY:
            return translate("Keys", "Ready. New keys are kept in it."), ""
        case State.LOCKED:
            return (
                translate("Keys", "Locked: no key can be read or stored."),
                translate("Keys", "Unlock it here, or log in to your desktop session again."),
            )
        case State.GONE:
            return (
                translate("Keys", "It does not answer any more."),
                translate("Keys", "Log in to your desktop session again, which starts it anew."),
            )
        case _:
            return (
                translate("Keys", "It refuses this program."),
                translate(
                    "Keys",
                    "Allow this program to use it, or ask whoever manages this computer. Keys can "
                    "be kept in encrypted files meanwhile.",
                ),
            )


def _folder(state: State) -> tuple[str, str]:
    match state:
        case State.READY:
            return translate("Keys", "Unlocked for this session. New keys are kept in them."), ""
        case State.LOCKED:
            return (
                translate("Keys", "Locked: no key can be read or stored."),
                translate("Keys", "Unlock them with their passphrase."),
            )
        case State.DAMAGED:
            return (
                translate("Keys", "The file that checks the passphrase is damaged."),
                translate("Keys", "Put the folder “keys” back from a backup."),
            )
        case _:
            return (
                translate("Keys", "The folder cannot be read."),
                translate("Keys", "Check its permissions."),
            )


def kind_words(choice: KeyChoice) -> str:
    """Return the purpose of a key."""
    entry = choice.entry
    if entry is None or entry.role is KeyRole.SINGLE:
        return translate("Keys", "Single")
    if entry.role is KeyRole.MASTER:
        return translate("Keys", "Master")
    return filled(translate("Keys", "Derived: {deployment:text}"), deployment=entry.deployment)


def place_words(choice: KeyChoice) -> str:
    """Return where a key is stored."""
    if choice.session or choice.entry is None:
        return translate("Keys", "This session only")
    if choice.entry.place.value == "files":
        return translate("Keys", "Encrypted file")
    return translate("Keys", "Keyring")


def lost_words(choice: KeyChoice, audits: int) -> str:
    """Return what can no longer be verified once a key is deleted, one sentence a line.

    Args:
        choice: The key.
        audits: How many texts on the list were audited with it.
    """
    lines = [
        translate("Keys", "Texts marked with it can no longer be examined on this computer."),
    ]
    entry, usage = choice.entry, choice.usage
    if entry is not None and entry.deployment:
        lines.append(_derived(entry))
    if usage is not None and usage.profiles:
        text = translate("Keys", "Profiles that belong to it: {names:text}.")
        lines.append(filled(text, names=_names(usage.profiles)))
    if usage is not None and usage.entries:
        text = translate("Keys", "Payloads in the register that fit these profiles: {n:count}.")
        lines.append(filled(text, n=usage.entries))
    if usage is not None and usage.derived:
        text = translate(
            "Keys", "Derived from it: {names:text}. They stay, but cannot be derived again."
        )
        lines.append(filled(text, names=_names(tuple(e.name for e in usage.derived))))
    if audits:
        text = translate("Keys", "Texts on the list that were audited with it: {n:count}.")
        lines.append(filled(text, n=audits))
    lines.append(translate("Keys", "Recorded audits stay readable; they cannot be repeated."))
    if entry is None or not entry.deployment:
        lines.append(translate("Keys", "Without an exported copy this cannot be undone."))
    return "\n\n".join(lines)


def _derived(entry: KeyEntry) -> str:
    text = translate(
        "Keys",
        "It serves the deployment “{deployment:text}”. Whoever holds the master key {master:text} "
        "can derive it again.",
    )
    return filled(text, deployment=entry.deployment, master=entry.master)


def _names(names: tuple[str, ...], limit: int = 6) -> str:
    listing = ", ".join(map(quoted, names[:limit]))
    left = len(names) - limit
    if left <= 0:
        return listing
    remainder = filled(translate("Keys", "and {n:count} more"), n=left)
    return f"{listing} {remainder}"


T = TypeVar("T")

EXPOSED = 3  # warnings at a time, so that the table keeps its place


class KeysDialog(StoreDialog[KeyChoice]):
    """The table of the keys, with a button for every action.

    The dialog only sends requests to the session; a worker thread carries them out.
    """

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self._forms: list[RetryDialog] = []
        self.none.setText(translate("Keys", "No keys yet. Create one or import one."))
        restyle(self.detail, "role", "attention")
        self.detail.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        labels = {
            KeyAct.NEW: translate("Keys", "New …"),
            KeyAct.IMPORT: translate("Keys", "Import …"),
            f"-{KeyAct.DERIVE}": translate("Keys", "Derive …"),
            KeyAct.EXPORT: translate("Keys", "Export …"),
            KeyAct.RENAME: translate("Keys", "Rename …"),
            KeyAct.NOTE: translate("Keys", "Note …"),
            f"-{KeyAct.DELETE}": translate("Keys", "Delete …"),
        }
        buttons = {
            action: (label, partial(self.ask, KeyAct(action.strip("-"))))
            for action, label in labels.items()
        }
        self.lay_out(translate("Keys", "Keys"), {"unlock": ("", self._unlock), **buttons})
        self.unlock = self.buttons["unlock"]
        session.chosen.changed.connect(self.refresh)
        self.refresh()

    # What is shown

    def refresh(self) -> None:
        """Show the state of the key store, and the keys."""
        inventory = self.session.chosen.found
        title, sentence, hint = state_words(inventory)
        self.title.setText(title)
        self.title.setToolTip(inventory.backend if inventory.place is Place.KEYRING else "")
        self.state.setText(f"{sentence} {hint}".strip())
        self.unlock.setText(
            translate("Keys", "Set up encrypted files …")
            if inventory.place is None
            else translate("Keys", "Unlock …")
        )
        self.unlock.setVisible(
            State.LOCKED in (inventory.keyring, inventory.files) or inventory.place is None
        )
        self.detail.setText("\n".join(failure.words for failure in inventory.exposed[:EXPOSED]))
        self.detail.setVisible(bool(inventory.exposed))
        headers = (
            translate("Keys", "Name"),
            translate("Keys", "Fingerprint"),
            translate("Keys", "Created"),
            translate("Keys", "Kind"),
            translate("Keys", "Kept in"),
            translate("Keys", "Note"),
        )
        self.fill(headers, inventory.keys)

    def key(self, row: KeyChoice) -> str:
        """Return the fingerprint of the key."""
        return row.fingerprint

    def cells(self, row: KeyChoice) -> Sequence[str]:
        """Return a row of the table."""
        entry = row.entry
        spaced = " ".join(row.fingerprint[i : i + 4] for i in range(0, 16, 4))
        created = entry.created[:10] if entry is not None else "–"
        note = entry.note if entry is not None else ""
        return (row.label, spaced, created, kind_words(row), place_words(row), note)

    def refresh_buttons(self) -> None:
        """Enable the buttons that apply to the selected row."""
        key = self.selected
        stored = key is not None and key.entry is not None
        able: dict[str, bool] = {
            KeyAct.RENAME: key is not None,
            KeyAct.DELETE: key is not None,
            KeyAct.EXPORT: stored,
            KeyAct.NOTE: stored,
            KeyAct.DERIVE: key is not None and key.entry is not None and not key.entry.deployment,
        }
        for kind, button in self.buttons.items():
            button.setEnabled(not self.busy and able.get(kind, True))

    # What is asked

    def ask(self, action: KeyAct) -> QDialog | None:
        """Open the dialog for an action; return it, or None if no key is selected."""
        self.say("")
        inventory, key = self.session.chosen.found, self.selected
        if action in (KeyAct.NEW, KeyAct.IMPORT):
            return self._open(KeyForm(action, inventory, self))
        if key is None:
            return None
        if action is KeyAct.EXPORT:
            return self._ask_export(key)
        if action is KeyAct.DELETE:
            return self._ask_delete(key)
        text = {KeyAct.RENAME: key.label, KeyAct.NOTE: key.entry.note if key.entry else ""}
        return self._open(
            KeyForm(action, inventory, self, name=key.label, text=text.get(action, ""))
        )

    def ask_import(self, source: Path) -> QDialog:
        """Open the import form with a key file already chosen."""
        form = KeyForm(KeyAct.IMPORT, self.session.chosen.found, self)
        form.take(source)
        return self._open(form)

    def _open(self, form: KeyForm) -> QDialog:
        form.wanted.connect(self.carry_out)
        return self._tried(form)

    def _tried(self, form: RetryDialog) -> QDialog:
        """Open a form that stays until its request succeeds; others may open above it."""
        self._forms.append(form)
        form.finished.connect(lambda _: self._forms.remove(form))
        return opened(form)

    @property
    def _top(self) -> QWidget:
        return self._forms[-1] if self._forms else self

    def _ask_export(self, key: KeyChoice) -> QDialog:
        warning = filled(
            translate(
                "Keys",
                "Whoever has this file and its passphrase can forge marks of {key:text} and read "
                "every one. Keep file and passphrase in different places.",
            ),
            key=f"{quoted(key.label)} ({key.fingerprint})",
        )
        title = filled(translate("Keys", "Export “{key:text}”, encrypted"), key=key.label)
        action = translate("Keys", "Choose the file …")
        dialog = PassphraseDialog(title, warning, action, self, new=True)
        dialog.given.connect(lambda secret: self._ask_target(key, secret))
        return opened(dialog)

    def _ask_target(self, key: KeyChoice, secret: Secret) -> None:
        dialog = ask_target(
            self,
            translate("Keys", "Write the encrypted key"),
            lambda path: self.carry_out(
                partial(export_key, name=key.label, passphrase=secret, path=path, replace=True)
            ),
            name=f"{key.fingerprint}{SUFFIX}",
            suffix=SUFFIX[1:],
        )
        # Qt holds methods by weak references, which a secret does not have.
        dialog.rejected.connect(partial(Secret.wipe, secret))

    def _ask_delete(self, key: KeyChoice) -> QDialog:
        queued = self.session.texts.queue.items
        audits = sum(
            queued_text.audit is not None and queued_text.audit.key.fingerprint == key.fingerprint
            for queued_text in queued
        )
        name = f"{quoted(key.label)} ({key.fingerprint})"
        return ask_first(
            self,
            translate("Keys", "Delete a key"),
            filled(translate("Keys", "Delete {key:text}?"), key=name),
            lost_words(key, audits),
            (
                translate("Keys", "Delete for good"),
                lambda: self.carry_out(partial(delete_key, name=key.label)),
            ),
        )

    def _unlock(self) -> None:
        inventory = self.session.chosen.found
        if inventory.place is Place.KEYRING and inventory.keyring is State.LOCKED:
            self._work(lambda _: unlock_keyring(self.session.environment), self._over)
        else:
            self.ask_folder(None, new=inventory.place is None)

    def ask_folder(self, request: KeyRequest | None, *, new: bool) -> QDialog:
        """Ask for the passphrase of the key files, then carry out the request."""
        dialog = folder_passphrase(self._top, new=new)
        dialog.given.connect(lambda secret: self._open_folder(secret, request))
        return opened(dialog) if new else self._tried(dialog)

    def _ask_file(self, request: KeyRequest) -> None:
        source = request.keywords["source"]
        name = source.name if isinstance(source, Path) else ""
        title = filled(translate("Keys", "Passphrase of {file:text}"), file=name)
        dialog = PassphraseDialog(title, "", translate("Keys", "Open"), self._top, new=False)
        dialog.given.connect(lambda secret: self.carry_out(partial(request, passphrase=secret)))
        self._tried(dialog)

    # What is done

    def carry_out(self, request: KeyRequest) -> None:
        """Carry out a request, after asking for the passphrase of the key files if necessary."""
        inventory = self.session.chosen.found
        if needs_files(request) and inventory.files is not State.READY:
            self._rest()
            self.ask_folder(request, new=inventory.files is State.NO_BACKEND)
            return
        self._work(
            lambda _: request(self.session.environment),
            lambda outcome: self._answered(request, outcome),
        )

    def _open_folder(self, secret: Secret, request: KeyRequest | None) -> None:
        environment = self.session.environment
        if request is None:
            self._work(lambda _: unlock_files(environment, passphrase=secret), self._over)
            return

        def work(_: JobContext) -> KeyDone:
            unlock_files(environment, passphrase=secret)
            return request(environment)

        self._work(work, lambda outcome: self._answered(request, outcome))

    def _work(self, work: Work[T], on_outcome: Callable[[Outcome[T]], None]) -> None:
        self.say("")
        self._job = self.session.do(work, on_outcome, self)
        self.refresh_buttons()

    def _answered(self, request: KeyRequest, outcome: Outcome[KeyDone]) -> None:
        if not isinstance(outcome, Failure):
            self._over(outcome)
            return
        inventory = self.session.chosen.found
        if outcome.code == "key-file-passphrase" and needs_passphrase(request):
            self._rest()
            self._ask_file(request)
        elif (
            outcome.code == "keyring-locked"
            and inventory.files is State.LOCKED
            and (inventory.place is Place.FILES or self._in_file(request))
        ):
            self._over(outcome)
            self.ask_folder(request if comes_again(request) else None, new=False)
        else:
            self._over(outcome)

    def _rest(self) -> None:
        """Make the forms usable again while another question is open."""
        self._job = None
        self.refresh_buttons()
        for form in self._forms:
            form.rest()

    def _over(self, outcome: Outcome[object]) -> None:
        """End a request: close the forms, or show the failure in the topmost one."""
        self._rest()
        if isinstance(outcome, Done):
            for form in tuple(reversed(self._forms)):
                form.ended(outcome)
        elif self._forms:
            self._forms[-1].ended(outcome)
        elif isinstance(outcome, Failure):
            self.say(outcome)

    def _in_file(self, request: KeyRequest) -> bool:
        name = name_in(request)
        return any(
            key.label == name and key.entry is not None and key.entry.place is Place.FILES
            for key in self.rows
        )
