"""The keys: what is there, where it is kept, in what state that is, and all that can be done."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QWidget,
)

from pura.keys import SUFFIX, Place, Secret, State
from pura.usecases.keys import (
    KeyDone,
    delete_key,
    export_key,
    unlock_files,
    unlock_keyring,
)
from pura_audit.jobs.queue import Done, Failure, JobContext, Outcome, Work
from pura_audit.keys.forms import (
    KeyAct,
    KeyForm,
    KeyRequest,
    comes_again,
    name_in,
    needs_files,
    needs_passphrase,
)
from pura_audit.keys.passphrase import PassphraseDialog, folder_passphrase
from pura_audit.keys.words import kind_words, lost_words, place_words, state_words
from pura_audit.platform.i18n import filled, quoted, translate
from pura_audit.session.choices import Inventory, KeyChoice
from pura_audit.session.session import Session
from pura_audit.widgets.card import restyle
from pura_audit.widgets.form_dialog import TriedDialog, ask_first, ask_target, opened
from pura_audit.widgets.working_dialog import StoreDialog

T = TypeVar("T")

EXPOSED = 3  # warnings at a time, so that the table keeps its place


class KeysDialog(StoreDialog):
    """Table of the keys, with one button for everything that is done to them.

    Nothing is done here: requests go to the session, and the thread of the model answers.
    """

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self._forms: list[TriedDialog] = []
        self._rows: tuple[KeyChoice, ...] = ()
        self.none.setText(translate("Keys", "No keys yet. Create one or import one."))
        restyle(self.detail, "role", "attention")
        self.detail.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        words = {
            KeyAct.NEW: translate("Keys", "New …"),
            KeyAct.IMPORT: translate("Keys", "Import …"),
            f"-{KeyAct.DERIVE}": translate("Keys", "Derive …"),
            KeyAct.EXPORT: translate("Keys", "Export …"),
            KeyAct.RENAME: translate("Keys", "Rename …"),
            KeyAct.NOTE: translate("Keys", "Note …"),
            f"-{KeyAct.DELETE}": translate("Keys", "Delete …"),
        }
        acts = {
            act: (said, partial(self.ask, KeyAct(act.strip("-")))) for act, said in words.items()
        }
        self.lay_out(translate("Keys", "Keys"), {"unlock": ("", self._unlock), **acts})
        self.unlock = self.buttons["unlock"]
        session.chosen.changed.connect(self.refresh)
        self.refresh()

    # What is shown

    def refresh(self) -> None:
        """Show the store's state and the keys."""
        found = self.session.chosen.catalogue or Inventory()
        title, said, way_out = state_words(found)
        self.title.setText(title)
        self.title.setToolTip(found.backend if found.place is Place.KEYRING else "")
        self.state.setText(f"{said} {way_out}".strip())
        self.unlock.setText(
            translate("Keys", "Set up encrypted files …")
            if self._unset(found)
            else translate("Keys", "Unlock …")
        )
        self.unlock.setVisible(State.LOCKED in (found.keyring, found.files) or self._unset(found))
        self.detail.setText("\n".join(failure.words for failure in found.exposed[:EXPOSED]))
        self.detail.setVisible(bool(found.exposed))
        chosen = self.selected.fingerprint if self.selected is not None else ""
        self._rows = found.keys
        headers = (
            translate("Keys", "Name"),
            translate("Keys", "Fingerprint"),
            translate("Keys", "Created"),
            translate("Keys", "Kind"),
            translate("Keys", "Kept in"),
            translate("Keys", "Note"),
        )
        shown = [key.fingerprint for key in self._rows]
        self.fill(
            headers,
            [_row(key) for key in self._rows],
            shown.index(chosen) if chosen in shown else 0,
        )

    @property
    def selected(self) -> KeyChoice | None:
        """The key of the selected row."""
        return self._rows[self.place] if 0 <= self.place < len(self._rows) else None

    def refresh_buttons(self) -> None:
        """Enable what can be done now."""
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

    @staticmethod
    def _unset(found: Inventory) -> bool:
        return found.place is None

    # What is asked

    def ask(self, act: KeyAct) -> QDialog | None:
        """Ask what a request needs; returns the dialog that is open then."""
        self.say("")
        found, key = self.session.chosen.catalogue or Inventory(), self.selected
        if act in (KeyAct.NEW, KeyAct.IMPORT):
            return self._open(KeyForm(act, found, self))
        if key is None:
            return None
        if act is KeyAct.EXPORT:
            return self._ask_export(key)
        if act is KeyAct.DELETE:
            return self._ask_delete(key)
        text = {KeyAct.RENAME: key.label, KeyAct.NOTE: key.entry.note if key.entry else ""}
        return self._open(KeyForm(act, found, self, name=key.label, text=text.get(act, "")))

    def ask_import(self, source: Path) -> QDialog:
        """Ask what the import of a key file needs."""
        form = KeyForm(KeyAct.IMPORT, self.session.chosen.catalogue or Inventory(), self)
        form.take(source)
        return self._open(form)

    def _open(self, form: KeyForm) -> QDialog:
        form.wanted.connect(self.carry_out)
        return self._tried(form)

    def _tried(self, form: TriedDialog) -> QDialog:
        """Open a form that stays until what it asks for has worked; others may come above it."""
        self._forms.append(form)
        form.finished.connect(lambda _: self._forms.remove(form))
        return opened(form)

    @property
    def _top(self) -> QWidget:
        return self._forms[-1] if self._forms else self

    def _ask_export(self, key: KeyChoice) -> QDialog:
        words = filled(
            translate(
                "Keys",
                "Whoever has this file and its passphrase can forge marks of {key:text} and read "
                "every one. Keep file and passphrase in different places.",
            ),
            key=f"{quoted(key.label)} ({key.fingerprint})",
        )
        title = filled(translate("Keys", "Export “{key:text}”, encrypted"), key=key.label)
        action = translate("Keys", "Choose the file …")
        dialog = PassphraseDialog(title, words, action, self, new=True)
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
        dialog.rejected.connect(secret.wipe)

    def _ask_delete(self, key: KeyChoice) -> QDialog:
        items = self.session.texts.queue.items
        audits = sum(
            item.audit is not None and item.audit.key.fingerprint == key.fingerprint
            for item in items
        )
        named = f"{quoted(key.label)} ({key.fingerprint})"
        return ask_first(
            self,
            translate("Keys", "Delete a key"),
            filled(translate("Keys", "Delete {key:text}?"), key=named),
            lost_words(key, audits),
            (
                translate("Keys", "Delete for good"),
                lambda: self.carry_out(partial(delete_key, name=key.label)),
            ),
        )

    def _unlock(self) -> None:
        found = self.session.chosen.catalogue or Inventory()
        if found.place is Place.KEYRING and found.keyring is State.LOCKED:
            self._work(lambda _: unlock_keyring(self.session.environment), self._unlocked)
        else:
            self.ask_folder(None, new=self._unset(found))

    def ask_folder(self, request: KeyRequest | None, *, new: bool) -> QDialog:
        """Ask for the passphrase of the folder of key files, then go on with the request."""
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
        """Hand a request over; the passphrase of the files is asked for first where needed."""
        found = self.session.chosen.catalogue or Inventory()
        if needs_files(request) and found.files is not State.READY:
            self._rest()
            self.ask_folder(request, new=found.files is State.NO_BACKEND)
            return
        self._work(
            lambda _: request(self.session.environment),
            lambda outcome: self._answered(request, outcome),
        )

    def _open_folder(self, secret: Secret, request: KeyRequest | None) -> None:
        environment = self.session.environment
        if request is None:
            self._work(lambda _: unlock_files(environment, passphrase=secret), self._unlocked)
            return

        def work(_: JobContext) -> KeyDone:
            unlock_files(environment, passphrase=secret)
            return request(environment)

        self._work(work, lambda outcome: self._answered(request, outcome))

    def _work(self, work: Work[T], then: Callable[[Outcome[T]], None]) -> None:
        self.say("")
        self._job = self.session.do(work, then, self)
        self.refresh_buttons()

    def _unlocked(self, outcome: Outcome[None]) -> None:
        self._over(outcome)

    def _answered(self, request: KeyRequest, outcome: Outcome[KeyDone]) -> None:
        if not isinstance(outcome, Failure):
            self._over(outcome)
            return
        found = self.session.chosen.catalogue or Inventory()
        if outcome.code == "key-file-passphrase" and needs_passphrase(request):
            self._rest()
            self._ask_file(request)
        elif (
            outcome.code == "keyring-locked"
            and found.files is State.LOCKED
            and (found.place is Place.FILES or self._in_file(request))
        ):
            self._over(outcome)
            self.ask_folder(request if comes_again(request) else None, new=False)
        else:
            self._over(outcome)

    def _rest(self) -> None:
        """Something else is asked first: nothing runs, and the forms can be used again."""
        self._job = None
        self.refresh_buttons()
        for form in self._forms:
            form.rest()

    def _over(self, outcome: Outcome[object]) -> None:
        """Nothing runs any more: the forms close, or the uppermost says why it failed."""
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
            for key in self._rows
        )


def _row(key: KeyChoice) -> tuple[str, ...]:
    entry = key.entry
    spaced = " ".join(key.fingerprint[i : i + 4] for i in range(0, 16, 4))
    created = entry.created[:10] if entry is not None else "–"
    note = entry.note if entry is not None else ""
    return (key.label, spaced, created, kind_words(key), place_words(key), note)
