"""The small forms of the key dialog: a new key, an import, a deployment key, a name or a note."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from pura.keys import MAX_NAME, MAX_NOTE, Secret, State
from pura_audit.jobs.key_chores import SESSION, KeyChore
from pura_audit.jobs.messages import Catalogue
from pura_audit.look.theme import GAP, GRID
from pura_audit.platform.i18n import translate
from pura_audit.widgets.elided import ElidedLabel
from pura_audit.widgets.form_dialog import (
    FittedDialog,
    button_row,
    cancel_button,
    dialog_column,
    main_button,
)


class KeyForm(FittedDialog):
    """Lines to fill in, and where the key shall be kept.

    Args:
        kind: Of the chore that it makes: ``new-key``, ``import-key``, ``derive-key``,
            ``rename-key`` or ``note-key``.
        found: What is there.
        name: The key that it is about; empty for a key that is not there yet.
        text: What stands in the line at first.

    Signals:
        wanted: The KeyChore.
    """

    wanted = Signal(object)

    def __init__(
        self,
        kind: str,
        found: Catalogue,
        parent: QWidget | None = None,
        *,
        name: str = "",
        text: str = "",
    ) -> None:
        super().__init__(parent)
        self._kind, self._name = kind, name
        self._path: Path | None = None
        self.places: dict[str, QRadioButton] = {}
        title, words, action = _texts(kind, name)
        self.setWindowTitle(title)
        self.setMinimumWidth(520)
        layout = dialog_column(self, title, words, role="reading")
        self._form = QFormLayout()
        self._form.setSpacing(GAP)
        self._form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        layout.addLayout(self._form)
        self.line = self._line(_line_name(kind), text)
        if kind == "import-key":
            self._add_source()
        self.note = QLineEdit()
        if kind in ("new-key", "import-key", "derive-key"):
            self.note = self._line(translate("Keys", "Note"), "", MAX_NOTE)
            self._add_places(found)
        layout.addStretch(1)
        self.ok = main_button(action, self._want)
        layout.addLayout(button_row(cancel_button(self), self.ok))
        self._check()

    def _line(self, name: str, text: str, longest: int = MAX_NAME) -> QLineEdit:
        line = QLineEdit(text)
        line.setMaxLength(longest)
        line.setAccessibleName(name)
        line.textChanged.connect(lambda _: self._check())
        self._form.addRow(name, line)
        return line

    def _add_source(self) -> None:
        self.typed = QLineEdit()
        self.typed.setEchoMode(QLineEdit.EchoMode.Password)
        self.typed.setPlaceholderText(translate("Keys", "64 hex digits or base64; not shown"))
        self.typed.setAccessibleName(translate("Keys", "Key"))
        self.typed.textChanged.connect(lambda _: self._check())
        self._form.addRow(translate("Keys", "Key"), self.typed)
        self.file = ElidedLabel("")
        self.file.setProperty("role", "muted")
        self.choose = QPushButton(translate("Keys", "Choose a file …"))
        self.choose.clicked.connect(self._choose)
        row = QHBoxLayout()
        row.setSpacing(GAP)
        row.addWidget(self.choose)
        row.addWidget(self.file, 1)
        self._form.addRow(translate("Keys", "or file"), row)

    def _add_places(self, found: Catalogue) -> None:
        ring = found.backend not in ("", "none", "Encrypted key files")
        if ring:
            words = translate("Keys", "In the keyring (%1)").replace("%1", found.backend)
            self.places["keyring"] = QRadioButton(words)
        self.places["files"] = QRadioButton(
            translate("Keys", "In an encrypted file, under a passphrase")
        )
        if self._kind != "derive-key":
            self.places[SESSION] = QRadioButton(
                translate("Keys", "For this session only; it is gone when the window closes")
            )
        column = QVBoxLayout()
        column.setSpacing(GRID)
        for button in self.places.values():
            button.setMinimumSize(button.sizeHint())
            column.addWidget(button)
        if len(self.places) > 1:
            self._form.addRow(translate("Keys", "Keep it"), column)
        usable = ring and found.keyring is State.READY
        self.places[
            "keyring" if usable or (ring and "files" not in self.places) else "files"
        ].setChecked(True)

    def _choose(self) -> None:
        dialog = QFileDialog(self, translate("Keys", "File of the key"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda name: self.take(Path(name)))
        dialog.open()

    def take(self, path: Path) -> None:
        """Take a file as the source."""
        self._path = path
        self.file.setText(path.name)
        self.typed.clear()
        if not self.line.text():
            self.line.setText(path.stem[:MAX_NAME])
        self._check()

    def _check(self) -> None:
        if not hasattr(self, "ok"):
            return
        ready = bool(self.line.text().strip()) or self._kind == "note-key"
        if self._kind == "import-key":
            typed = bool(self.typed.text())
            if typed and self._path is not None:
                self._path = None
                self.file.setText("")
            ready = ready and (typed or self._path is not None)
        self.ok.setEnabled(ready)

    def _want(self) -> None:
        about = bool(self._name)
        typed = None
        if self._kind == "import-key" and self.typed.text():
            typed = Secret(bytearray(self.typed.text(), "utf-8", "replace"))
            self.typed.clear()
        place = next((p for p, button in self.places.items() if button.isChecked()), "")
        text = self.line.text().strip()
        self.accept()
        self.wanted.emit(
            KeyChore(
                kind=self._kind,
                name=self._name if about else text,
                text=text if about else "",
                note=self.note.text().strip(),
                place=place,
                path=self._path,
                typed=typed,
            )
        )


def _line_name(kind: str) -> str:
    return {
        "derive-key": translate("Keys", "Deployment"),
        "note-key": translate("Keys", "Note"),
    }.get(kind, translate("Keys", "Name"))


def _texts(kind: str, name: str) -> tuple[str, str, str]:
    """Return title, words and the button of a form."""
    match kind:
        case "new-key":
            return (
                translate("Keys", "New key"),
                translate("Keys", "A fresh key from the randomness of this computer."),
                translate("Keys", "Create"),
            )
        case "import-key":
            return (
                translate("Keys", "Import a key"),
                translate("Keys", "In hex, in base64, or an encrypted key file of this program."),
                translate("Keys", "Import"),
            )
        case "derive-key":
            return (
                translate("Keys", "Derive a key from “%1”").replace("%1", name),
                translate(
                    "Keys",
                    "The same master and the same label always give the same key. Whoever holds "
                    "the derived key can work out neither the master nor another one.",
                ),
                translate("Keys", "Derive"),
            )
        case "rename-key":
            return (
                translate("Keys", "Rename “%1”").replace("%1", name),
                translate("Keys", "The fingerprint stays the same."),
                translate("Keys", "Rename"),
            )
        case _:
            return (
                translate("Keys", "Note on “%1”").replace("%1", name),
                "",
                translate("Keys", "Save"),
            )
