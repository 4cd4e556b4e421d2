"""The form for a profile of a mark by others: what the other program was started with."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QFileDialog, QFormLayout, QLineEdit, QWidget

from pura.keys.foreign import ForeignSettings
from pura.scheme.foreign import FOREIGN_NAMES, LEFT_HASH, MAX_WIDTH, SELF_HASH
from pura.usecases.environment import Environment
from pura.usecases.profiles import ProfileDone, create_foreign, read_foreign
from pura_audit.jobs.queue import Done, Failure, Outcome
from pura_audit.platform.i18n import short, translate
from pura_audit.session.choices import Inventory
from pura_audit.session.session import Session
from pura_audit.theme.theme import GAP
from pura_audit.widgets.form_dialog import (
    TriedDialog,
    ask_file,
    button_row,
    cancel_button,
    dialog_column,
    main_button,
    name_input,
    plain_button,
    spin_box,
)

_PROGRAMS: Final = {"gumbel-max": "vLLM", "synthid-text": "transformers", "kgw": "transformers"}
_ROWS: Final = {
    "gumbel-max": {"alpha"},
    "synthid-text": {"table_size", "table_seed"},
    "kgw": {"gamma", "seeding", "width"},
}
"""Rows of one scheme only."""


class ForeignForm(TriedDialog):
    """Asks for scheme, secret and settings; a settings file fills them in.

    Signals:
        wanted: What makes the profile, given the environment.
    """

    wanted = Signal(object)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        found = session.chosen.catalogue or Inventory()
        self._keys = found.keys
        self._models = list(found.models)
        title = translate("ForeignForm", "Profile of a mark by others")
        self.setWindowTitle(title)
        self.setMinimumWidth(560)
        layout = dialog_column(
            self,
            title,
            translate(
                "ForeignForm",
                "Enter what the program that writes the mark was started with, or take its "
                "settings file. Its key is sealed under a key of yours; keep no other copy here.",
            ),
            role="reading",
        )
        self._form = QFormLayout()
        self._form.setSpacing(GAP)
        self._form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self._context = spin_box(1, MAX_WIDTH, 4)
        self.inputs = self._make_inputs()
        for name, words in _titles().items():
            name_input(self.inputs[name], words)
            self._form.addRow(words, self.inputs[name])
        layout.addLayout(self._form)
        layout.addWidget(self.words)
        layout.addStretch(1)
        self.file = plain_button(translate("ForeignForm", "Settings file …"), self.ask_file)
        self.ok = main_button(translate("ForeignForm", "Make the profile"), self._want)
        layout.addLayout(button_row(cancel_button(self), self.ok, left=(self.file,)))
        self._box("scheme").currentIndexChanged.connect(lambda _: self._choose_rows())
        for name in ("name", "secret"):
            self._line(name).textChanged.connect(lambda _: self.check())
        self._choose_rows()
        self.check()

    def _make_inputs(self) -> dict[str, QWidget]:
        secret = QLineEdit()
        secret.setEchoMode(QLineEdit.EchoMode.Password)
        alpha, width = QLineEdit(), QLineEdit()
        alpha.setPlaceholderText(translate("ForeignForm", "one key only"))
        width.setPlaceholderText(translate("ForeignForm", "as many as the tokenizer has tokens"))
        scheme, seeding, key, model = QComboBox(), QComboBox(), QComboBox(), QComboBox()
        for name, program in _PROGRAMS.items():
            scheme.addItem(f"{FOREIGN_NAMES[name]} ({program})", name)
        seeding.addItems([LEFT_HASH, SELF_HASH])
        for one in self._keys:
            key.addItem(f"{one.label} ({one.fingerprint[:8]})")
        model.addItems([facts.name for facts in self._models])
        return {
            "name": QLineEdit(),
            "scheme": scheme,
            "secret": secret,
            "context_width": self._context,
            "alpha": alpha,
            "table_size": QLineEdit(str(1 << 16)),
            "table_seed": QLineEdit("0"),
            "gamma": QLineEdit(short(0.25)),
            "seeding": seeding,
            "width": width,
            "key": key,
            "model": model,
        }

    def _box(self, name: str) -> QComboBox:
        box = self.inputs[name]
        assert isinstance(box, QComboBox)
        return box

    def _line(self, name: str) -> QLineEdit:
        line = self.inputs[name]
        assert isinstance(line, QLineEdit)
        return line

    @property
    def scheme(self) -> str:
        """Which scheme is chosen."""
        return str(self._box("scheme").currentData())

    def _choose_rows(self) -> None:
        """Show what belongs to the scheme."""
        for scheme, names in _ROWS.items():
            for name in names:
                self._form.setRowVisible(self.inputs[name], scheme == self.scheme)
        several = translate("ForeignForm", "a number for each layer; not shown")
        single = translate("ForeignForm", "a number; not shown")
        hint = several if self.scheme == "synthid-text" else single
        self._line("secret").setPlaceholderText(hint)
        self._context.setValue(1 if self.scheme == "kgw" else 4)

    # From a file

    def ask_file(self) -> QFileDialog:
        """Ask for the settings file."""
        return ask_file(
            self,
            translate("ForeignForm", "Settings of the other program"),
            self.take,
            translate("ForeignForm", "Settings (*.json)"),
        )

    def take(self, path: Path) -> None:
        """Fill the form from a settings file."""

        def ended(outcome: Outcome[ForeignSettings]) -> None:
            self.rest()
            match outcome:
                case Done(settings):
                    self._fill(settings)
                    if not self._line("name").text():
                        self._line("name").setText(path.stem)
                case Failure():
                    self.words.say(outcome)

        self.begin()
        self._session.do(lambda _: read_foreign(path), ended, self)

    def _fill(self, settings: ForeignSettings) -> None:
        self._box("scheme").setCurrentIndex(self._box("scheme").findData(settings.scheme))
        self._line("secret").setText(" ".join(map(str, settings.secret)))
        for name, value in settings.settings.items():
            field = self.inputs.get(name)
            if isinstance(field, QComboBox):
                field.setCurrentText(str(value))
            elif isinstance(field, QLineEdit):
                field.setText("" if value is None else str(value))
        self._context.setValue(int(settings.settings["context_width"]))

    # What is asked for

    def check(self) -> None:
        """Enable the button where all that is needed is there."""
        filled_in = all(self._line(name).text().strip() for name in ("name", "secret"))
        here = bool(self._keys) and bool(self._models)
        self.ok.setEnabled(filled_in and here and not self.trying)
        if not here:
            self.words.say(translate("ForeignForm", "A key and a model's tokenizer are needed."))

    def at_fault(self, failure: Failure) -> QLineEdit:
        """Return the line of the secret where the settings cannot be right, else the name."""
        return self._line("name" if failure.code.startswith("profile-") else "secret")

    def forget(self) -> None:
        """Clear the secret; Qt's own copies cannot be overwritten."""
        self._line("secret").clear()

    def _want(self) -> None:
        key = self._keys[self._box("key").currentIndex()]
        settings, name = self._settings(), self._line("name").text().strip()
        model = self._models[self._box("model").currentIndex()].name
        width = _whole(self._line("width").text()) if self._line("width").text() else None

        def create(environment: Environment) -> ProfileDone:  # a partial would show the secret
            return create_foreign(
                environment, settings=settings, key=key.ref, name=name, model=model, width=width
            )

        self.begin()
        self.wanted.emit(create)

    def _settings(self) -> dict[str, Any]:
        """Return the settings as the other program has them."""
        words = re.split(r"[\s,;]+", self._line("secret").text().strip())
        numbers = [_whole(word) for word in words]
        context = self._context.value()
        match self.scheme:
            case "gumbel-max":
                alpha = self._line("alpha").text().strip()
                dual = {"algorithm": "dual_key_gumbel", "alpha": _decimal(alpha)}
                one = {"algorithm": "gumbel"}
                return {"key": numbers[0], "context_width": context, **(dual if alpha else one)}
            case "synthid-text":
                return {
                    "keys": numbers,
                    "ngram_len": context + 1,
                    "sampling_table_size": _whole(self._line("table_size").text()),
                    "sampling_table_seed": _whole(self._line("table_seed").text()),
                }
        return {
            "hashing_key": numbers[0],
            "context_width": context,
            "greenlist_ratio": _decimal(self._line("gamma").text()),
            "seeding_scheme": self._box("seeding").currentText(),
        }


def _titles() -> dict[str, str]:
    return {
        "name": translate("ForeignForm", "Name"),
        "scheme": translate("ForeignForm", "Scheme"),
        "secret": translate("ForeignForm", "Key of the other program"),
        "context_width": translate("ForeignForm", "Context, tokens"),
        "alpha": translate("ForeignForm", "Share of the second key"),
        "table_size": translate("ForeignForm", "Entries of the table"),
        "table_seed": translate("ForeignForm", "Seed of the table"),
        "gamma": translate("ForeignForm", "Share of green tokens"),
        "seeding": translate("ForeignForm", "Seeding"),
        "width": translate("ForeignForm", "Rows of the model's output"),
        "key": translate("ForeignForm", "Sealed under"),
        "model": translate("ForeignForm", "Tokenizer of"),
    }


def _whole(text: str) -> Any:
    """Return a whole number; anything else is refused by what reads the settings."""
    word = text.strip()
    return int(word) if re.fullmatch(r"[+-]?[0-9]{1,24}", word) else word


def _decimal(text: str) -> Any:
    """Return a number, written with a point or a comma; anything else is refused by the profile."""
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return text
