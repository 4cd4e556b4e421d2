"""Asks for a passphrase: once to open something, twice to choose a new one."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFormLayout,
    QLineEdit,
    QWidget,
)

from pura.keys import MIN_PASSPHRASE, Secret, passphrase_bytes
from pura_audit.jobs.queue import Failure
from pura_audit.keys.words import strength_words
from pura_audit.platform.i18n import translate
from pura_audit.theme.theme import GAP
from pura_audit.widgets.card import label
from pura_audit.widgets.form_dialog import (
    TriedDialog,
    button_row,
    cancel_button,
    dialog_column,
    main_button,
)


class PassphraseDialog(TriedDialog):
    """One field, or two that must agree.

    A new passphrase closes it. One that opens something may be wrong: the dialog stays until
    :meth:`ended` is told that it opened.

    Args:
        title: What is asked.
        words: Why, and what follows.
        new: A new passphrase is chosen.
        action: What the button does.

    Signals:
        given: The passphrase, as a Secret.
    """

    given = Signal(object)

    def __init__(
        self, title: str, words: str, action: str, parent: QWidget | None = None, *, new: bool
    ) -> None:
        super().__init__(parent)
        self._new = new
        self.setWindowTitle(title)
        self.setMinimumWidth(480)
        layout = dialog_column(self, title, words, role="reading")
        self.first = self._field(translate("Keys", "Passphrase"))
        self.again = self._field(translate("Keys", "Once more"))
        form = QFormLayout()
        form.setSpacing(GAP)
        form.addRow(translate("Keys", "Passphrase"), self.first)
        if new:
            form.addRow(translate("Keys", "Once more"), self.again)
        layout.addLayout(form)
        self.shown = QCheckBox(translate("Keys", "Show what I type"))
        self.shown.toggled.connect(self._show)
        layout.addWidget(self.shown)
        self.strength = label("", "muted", wrap=True)
        layout.addWidget(self.strength)
        self.strength.setVisible(new)
        layout.addWidget(self.words)
        self.ok = main_button(action, self._give)
        layout.addLayout(button_row(cancel_button(self), self.ok))
        self.check()

    def _field(self, name: str) -> QLineEdit:
        field = QLineEdit()
        field.setEchoMode(QLineEdit.EchoMode.Password)
        field.setAccessibleName(name)
        field.textChanged.connect(lambda _: self.check())
        return field

    def _show(self, shown: bool) -> None:
        modes = QLineEdit.EchoMode
        for field in (self.first, self.again):
            field.setEchoMode(modes.Normal if shown else modes.Password)

    def check(self) -> None:
        """Enable the button where there is a passphrase that can do."""
        if not self._new:
            self.ok.setEnabled(bool(self.first.text()) and not self.trying)
            return
        words, enough = strength_words(len(self.first.text()), MIN_PASSPHRASE)
        same = self.first.text() == self.again.text()
        if enough and self.again.text() and not same:
            words = translate("Keys", "The two are not the same yet.")
        self.strength.setText(words)
        self.ok.setEnabled(enough and same)

    def at_fault(self, failure: Failure) -> QLineEdit:
        """Return the line of the passphrase: nothing else can be wrong here."""
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
    """Return the dialog that asks for the passphrase of the folder of key files.

    Args:
        parent: What it stands above.
        new: There are no such files yet: the passphrase is chosen.
    """
    words = translate(
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
    return PassphraseDialog(title, words if new else "", action, parent, new=new)
