"""The forms of the key dialog, the use case behind each form, and the passphrase dialog."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TypeAlias

from PySide6.QtCore import QDate, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QWidget,
)

from pura.keys import MAX_NAME, MAX_NOTE, MIN_PASSPHRASE, Place, Secret, State, passphrase_bytes
from pura.keys.epochs import is_epoch
from pura.usecases.keys import (
    KeyDone,
    create_key,
    derive_key,
    export_key,
    import_key,
    note_key,
    rename_key,
)
from pura_audit.jobs.queue import Failure
from pura_audit.platform.i18n import filled, translate
from pura_audit.session.choices import Inventory
from pura_audit.theme.theme import GAP
from pura_audit.widgets.card import ElidedLabel, add_parts, column_of, label, row_of
from pura_audit.widgets.form_dialog import (
    MainButton,
    RetryDialog,
    ask_file,
    button_row,
    cancel_button,
    dialog_column,
    named_rows,
)


class KeyAct(StrEnum):
    """The buttons of the dialog."""

    NEW = "new"
    IMPORT = "import"
    DERIVE = "derive"
    EXPORT = "export"
    RENAME = "rename"
    NOTE = "note"
    DELETE = "delete"


KeyRequest: TypeAlias = partial[KeyDone]
"""A use case with its arguments; it waits while the user is asked for a passphrase."""


def needs_files(request: KeyRequest) -> bool:
    """Return whether the request stores the key in the folder of encrypted files."""
    return request.keywords.get("place") is Place.FILES


def needs_passphrase(request: KeyRequest) -> bool:
    """Return whether the request is an import that has no passphrase yet."""
    return request.func is import_key and request.keywords.get("passphrase") is None


def comes_again(request: KeyRequest) -> bool:
    """Return whether the request can be repeated: an export overwrites its passphrase."""
    return request.func is not export_key


def name_in(request: KeyRequest) -> str:
    """Return the name of the stored key that a request changes; empty for a new key."""
    if request.func in (create_key, import_key):
        return ""
    return str(request.keywords.get("master") or request.keywords.get("name", ""))


class KeyForm(RetryDialog):
    """The form of a key: its name, its note and its storage.

    Args:
        action: What the form is for: a new key, an import, a deployment key, a name or a note.
        inventory: The keys, models and profiles on this computer.
        name: Name of the key to change; empty for a new key.
        text: Initial content of the first line.

    Signals:
        wanted: The user submitted the form; carries the KeyRequest.
    """

    wanted = Signal(object)

    def __init__(
        self,
        action: KeyAct,
        inventory: Inventory,
        parent: QWidget | None = None,
        *,
        name: str = "",
        text: str = "",
    ) -> None:
        super().__init__(parent)
        self._act, self._name = action, name
        self._path: Path | None = None
        self.places: dict[Place | None, QRadioButton] = {}
        """The key None stands for a key of this session only."""
        title, introduction, button_text = _texts(action, name)
        self.setWindowTitle(title)
        self.setMinimumWidth(520)
        layout = dialog_column(self, title, introduction, role="reading")
        self._form = named_rows((), spacing=GAP, aligned=True)
        layout.addLayout(self._form)
        self.line = self._line(_line_name(action), text)
        if action is KeyAct.IMPORT:
            self._add_source()
        self.epoch = QCheckBox(translate("Keys", "The key of a day, a week or a month"))
        if action is KeyAct.DERIVE:
            self.epoch.toggled.connect(self._as_epoch)
            self._form.addRow("", self.epoch)
        self.note = QLineEdit()
        if action in (KeyAct.NEW, KeyAct.IMPORT, KeyAct.DERIVE):
            self.note = self._line(translate("Keys", "Note"), "", MAX_NOTE)
            self._add_places(inventory)
        add_parts(layout, self.words, None)
        self.ok = MainButton(button_text, self._want)
        layout.addLayout(button_row(cancel_button(self), self.ok))
        self.check()

    def _line(self, name: str, text: str, longest: int = MAX_NAME) -> QLineEdit:
        line = QLineEdit(text)
        line.setMaxLength(longest)
        line.setAccessibleName(name)
        line.textChanged.connect(lambda _: self.check())
        self._form.addRow(name, line)
        return line

    def _as_epoch(self, is_wanted: bool) -> None:
        """Ask for a day, week or month instead of a deployment; today is the suggestion."""
        example = translate("Keys", "2026-11-22, 2026-W47 or 2026-11")
        self.line.setPlaceholderText(example if is_wanted else "")
        if is_wanted and not is_epoch(self.line.text().strip()):
            self.line.setText(QDate.currentDate().toString(Qt.DateFormat.ISODate))
        self.check()

    def _add_source(self) -> None:
        self.typed = QLineEdit()
        self.typed.setEchoMode(QLineEdit.EchoMode.Password)
        self.typed.setPlaceholderText(translate("Keys", "64 hex digits or base64; not shown"))
        self.typed.setAccessibleName(translate("Keys", "Key"))
        self.typed.textChanged.connect(lambda _: self.check())
        self._form.addRow(translate("Keys", "Key"), self.typed)
        self.file = ElidedLabel("")
        self.file.setProperty("role", "muted")
        title = translate("Keys", "File of the key")
        self.choose = QPushButton(translate("Keys", "Choose a file …"))
        self.choose.clicked.connect(lambda: ask_file(self, title, self.take))
        row = row_of(self.choose, (self.file, 1), spacing=GAP)
        self._form.addRow(translate("Keys", "or file"), row)

    def _add_places(self, inventory: Inventory) -> None:
        ring = inventory.place is Place.KEYRING
        if ring:
            ring_button = QRadioButton(translate("Keys", "In this computer’s keyring"))
            ring_button.setToolTip(inventory.backend)
            self.places[Place.KEYRING] = ring_button
        self.places[Place.FILES] = QRadioButton(
            translate("Keys", "In an encrypted file, under a passphrase")
        )
        if self._act is not KeyAct.DERIVE:
            self.places[None] = QRadioButton(
                translate("Keys", "For this session only; it is gone when the window closes")
            )
        column = column_of()
        for button in self.places.values():
            button.setMinimumSize(button.sizeHint())
            column.addWidget(button)
        if len(self.places) > 1:
            self._form.addRow(translate("Keys", "Keep it"), column)
        usable = ring and inventory.keyring is State.READY
        self.places[Place.KEYRING if usable else Place.FILES].setChecked(True)

    def take(self, path: Path) -> None:
        """Take a file as the source."""
        self._path = path
        self.file.setText(path.name)
        self.typed.clear()
        if not self.line.text():
            self.line.setText(path.stem[:MAX_NAME])
        self.check()

    def check(self) -> None:
        """Enable the button if every input is valid."""
        if not hasattr(self, "ok"):
            return
        line = self.line.text().strip()
        needed: dict[str, object] = {_line_name(self._act): line or self._act is KeyAct.NOTE}
        if self._act is KeyAct.IMPORT:
            typed = self.typed.text()
            if typed and self._path is not None:
                self._path = None
                self.file.setText("")
            needed[self.typed.accessibleName()] = typed or self._path
        if self.epoch.isChecked():
            needed = {self.line.placeholderText(): is_epoch(line)}
        self.ok.require(needed, free=not self.trying)

    def at_fault(self, failure: Failure) -> QLineEdit:
        """Return the line that holds the wrong input: the key's or the name's."""
        if failure.code == "key-note" and self._act is not KeyAct.NOTE:
            return self.note
        is_name = failure.code in ("key-name", "key-exists")
        return self.line if is_name or self._act is not KeyAct.IMPORT else self.typed

    def forget(self) -> None:
        """Clear the key that was typed; Qt's own copies cannot be overwritten."""
        if self._act is KeyAct.IMPORT:
            self.typed.clear()

    def _want(self) -> None:
        request = self._request()
        self.begin()
        self.wanted.emit(request)

    def _request(self) -> KeyRequest:
        text, note = self.line.text().strip(), self.note.text().strip()
        storage = next((p for p, button in self.places.items() if button.isChecked()), None)
        session = bool(self.places) and storage is None
        match self._act:
            case KeyAct.RENAME:
                return partial(rename_key, name=self._name, new=text)
            case KeyAct.NOTE:
                return partial(note_key, name=self._name, note=text)
            case KeyAct.DERIVE:
                return partial(
                    derive_key,
                    master=self._name,
                    label=text,
                    epoch=self.epoch.isChecked(),
                    note=note,
                    place=storage,
                )
            case KeyAct.IMPORT:
                return partial(
                    import_key,
                    source=self._source(),
                    name=text,
                    note=note,
                    place=storage,
                    session=session,
                )
            case _:
                return partial(create_key, name=text, note=note, place=storage, session=session)

    def _source(self) -> Path | Secret:
        if self._path is not None:
            return self._path
        return Secret(bytearray(self.typed.text(), "utf-8", "replace"))


def _line_name(action: KeyAct) -> str:
    return {
        KeyAct.DERIVE: translate("Keys", "Deployment"),
        KeyAct.NOTE: translate("Keys", "Note"),
    }.get(action, translate("Keys", "Name"))


def _texts(action: KeyAct, name: str) -> tuple[str, str, str]:
    """Return the title, the introduction and the button text of a form."""
    match action:
        case KeyAct.NEW:
            return (
                translate("Keys", "New key"),
                translate("Keys", "A fresh key from the randomness of this computer."),
                translate("Keys", "Create"),
            )
        case KeyAct.IMPORT:
            return (
                translate("Keys", "Import a key"),
                translate("Keys", "In hex, in base64, or an encrypted key file of this program."),
                translate("Keys", "Import"),
            )
        case KeyAct.DERIVE:
            return (
                filled(translate("Keys", "Derive a key from “{key:text}”"), key=name),
                translate(
                    "Keys",
                    "The same master and the same label always give the same key. Whoever holds "
                    "the derived key can work out neither the master nor another one.",
                ),
                translate("Keys", "Derive"),
            )
        case KeyAct.RENAME:
            return (
                filled(translate("Keys", "Rename “{key:text}”"), key=name),
                translate("Keys", "The fingerprint stays the same."),
                translate("Keys", "Rename"),
            )
        case _:
            return (
                filled(translate("Keys", "Note on “{key:text}”"), key=name),
                "",
                translate("Keys", "Save"),
            )


class PassphraseDialog(RetryDialog):
    """Ask for a passphrase in one field, or for a new one in two fields that must agree.

    The dialog closes once a new passphrase is chosen. An existing passphrase may be wrong: the
    dialog then stays open until
    :meth:`ended` is told that it opened.

    Args:
        title: Title of the dialog.
        explanation: Reason and consequences, shown below the title.
        new: Whether the user chooses a new passphrase.
        action: Text of the main button.

    Signals:
        given: The user submitted the passphrase; carries a Secret.
    """

    given = Signal(object)

    def __init__(
        self, title: str, explanation: str, action: str, parent: QWidget | None = None, *, new: bool
    ) -> None:
        super().__init__(parent)
        self._new = new
        self.setWindowTitle(title)
        self.setMinimumWidth(480)
        layout = dialog_column(self, title, explanation, role="reading")
        self.first, self.again = self._field(), self._field()
        rows = [(translate("Keys", "Passphrase"), self.first)]
        if new:
            rows.append((translate("Keys", "Once more"), self.again))
        layout.addLayout(named_rows(rows, spacing=GAP))
        self.shown = QCheckBox(translate("Keys", "Show what I type"))
        self.shown.toggled.connect(self._show)
        layout.addWidget(self.shown)
        self.strength = label("", "muted", wrap=True)
        layout.addWidget(self.strength)
        self.strength.setVisible(new)
        layout.addWidget(self.words)
        self.ok = MainButton(action, self._give)
        layout.addLayout(button_row(cancel_button(self), self.ok))
        self.check()

    def _field(self) -> QLineEdit:
        field = QLineEdit()
        field.setEchoMode(QLineEdit.EchoMode.Password)
        field.textChanged.connect(lambda _: self.check())
        return field

    def _show(self, visible: bool) -> None:
        modes = QLineEdit.EchoMode
        for field in (self.first, self.again):
            field.setEchoMode(modes.Normal if visible else modes.Password)

    def check(self) -> None:
        """Enable the button if the passphrase is long enough and both fields agree."""
        first, repeated = self.first.text(), self.again.text()
        text, enough = strength_words(len(first), MIN_PASSPHRASE)
        if enough and repeated and repeated != first:
            text = translate("Keys", "The two are not the same yet.")
        self.strength.setText(text)
        needed: dict[str, object] = {self.first.accessibleName(): enough if self._new else first}
        if self._new:
            needed[self.again.accessibleName()] = repeated == first != ""
        self.ok.require(needed, free=not self.trying)

    def at_fault(self, failure: Failure) -> QLineEdit:
        """Return the line of the passphrase, the only input."""
        return self.first

    def forget(self) -> None:
        """Clear the lines; Qt's own copies cannot be overwritten."""
        self.first.clear()
        self.again.clear()

    def _give(self) -> None:
        secret = Secret(passphrase_bytes(self.first.text()))
        if self._new:
            self.accept()
        else:
            self.begin()
        self.given.emit(secret)


def folder_passphrase(parent: QWidget, *, new: bool) -> PassphraseDialog:
    """Return the dialog that asks for the passphrase of the encrypted key files.

    Args:
        parent: The widget over which the dialog opens.
        new: Whether no key files exist yet, so that the user chooses the passphrase.
    """
    explanation = translate(
        "Keys",
        "Keys are kept in encrypted files under one passphrase, which is asked for once a "
        "session. Without it they are lost: nobody can reset it.",
    )
    title = (
        translate("Keys", "Passphrase for encrypted key files")
        if new
        else translate("Keys", "Passphrase of the encrypted key files")
    )
    action = translate("Keys", "Set up") if new else translate("Keys", "Unlock")
    return PassphraseDialog(title, explanation if new else "", action, parent, new=new)


def strength_words(size: int, minimum: int) -> tuple[str, bool]:
    """Return how strong a passphrase of this length is, and whether it is long enough."""
    if size < minimum:
        text = translate("Keys", "{n:text} of at least {least:text} characters")
        return filled(text, n=size, least=minimum), False
    if size < minimum + 8:
        return translate("Keys", "Long enough. Longer is better."), True
    return translate("Keys", "Good length."), True
