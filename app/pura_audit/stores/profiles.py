"""The dialog of the profiles, and the form for third-party watermarks."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QDialog, QFileDialog, QLineEdit, QWidget

from pura.detect.fitness import mismatches
from pura.scheme import Profile
from pura.scheme.foreign import (
    FOREIGN,
    FOREIGN_NAMES,
    LEFT_HASH,
    MAX_WIDTH,
    SELF_HASH,
    ForeignMark,
    ForeignSettings,
    KgwMark,
)
from pura.usecases.environment import Environment
from pura.usecases.profiles import (
    ProfileDone,
    create_foreign,
    export_profile,
    import_profile,
    read_foreign,
    remove_profile,
    save_profile,
)
from pura_audit.jobs.queue import Done, Failure, Outcome
from pura_audit.platform.i18n import decimal, error_words, filled, short, translate
from pura_audit.session.choices import ProfileChoice
from pura_audit.session.session import Session
from pura_audit.stores.profile_editor import ProfileEditor, code_names, use_words
from pura_audit.theme.theme import GAP
from pura_audit.widgets.card import add_parts
from pura_audit.widgets.form_dialog import (
    MainButton,
    RetryDialog,
    ask_file,
    ask_first,
    ask_target,
    button_row,
    cancel_button,
    combo,
    dialog_column,
    named_rows,
    opened,
    plain_button,
    spin_box,
    value_of,
)
from pura_audit.widgets.working_dialog import StoreDialog


class ProfilesDialog(StoreDialog[ProfileChoice]):
    """The table of the stored profiles."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self.state.setText(
            translate(
                "Profiles",
                "A profile is what generator and verifier share besides the key. It is not secret, "
                "and without it a mark cannot be read.",
            )
        )
        self.none.setText(translate("Profiles", "No profiles yet. Make one, or import one."))
        self.lay_out(
            translate("Profiles", "Profiles"),
            {
                "new": (translate("Profiles", "New …"), lambda: self.edit(None)),
                "foreign": (translate("Profiles", "Mark by others …"), self.ask_foreign),
                "edit": (translate("Profiles", "Edit …"), lambda: self.edit(self.selected)),
                "-import": (translate("Profiles", "Import …"), self.ask_import),
                "export": (translate("Profiles", "Export …"), self.ask_export),
                "-remove": (translate("Profiles", "Delete …"), self.ask_remove),
            },
        )
        session.chosen.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show the stored profiles."""
        headers = (
            translate("Profiles", "Name"),
            translate("Profiles", "Payload"),
            translate("Profiles", "Code"),
            translate("Profiles", "Temperature"),
            translate("Profiles", "Fingerprint"),
            translate("Profiles", "Note"),
        )
        self.fill(headers, self.session.chosen.found.profiles)

    def key(self, row: ProfileChoice) -> str:
        """Return the name of the profile's file."""
        return row.name

    def cells(self, row: ProfileChoice) -> Sequence[str]:
        """Return a row of the table."""
        profile = row.profile
        if profile.foreign is not None:
            name, note = FOREIGN_NAMES[profile.scheme], profile.note or ""
            return (row.title, "–", name, "–", profile.fingerprint, note)
        bits = filled(translate("Profiles", "{n:count} bits"), n=profile.payload_bits)
        fields = ", ".join(field.name for field in profile.fields)
        return (
            row.title,
            f"{bits}: {fields}" if fields else bits,
            code_names()[profile.code],
            decimal(profile.temperature, 2),
            profile.fingerprint,
            profile.note or "",
        )

    def refresh_buttons(self) -> None:
        """Enable the buttons for the selected profile, and show whether it fits model and keys."""
        choice = self.selected
        lines: list[str] = []
        if choice is not None:
            lines = [self._fitness(choice.profile), *note_words(choice.notes)]
            if choice.profile.foreign is None:
                lines.append(use_words(choice.profile))
        self.detail.setText("\n".join(line for line in lines if line))
        foreign = choice is not None and choice.profile.foreign is not None
        for kind, button in self.buttons.items():
            possible = choice is not None or kind in ("new", "foreign", "import")
            # What a mark by others is set to, its own program says.
            button.setEnabled(not self.busy and possible and not (foreign and kind == "edit"))

    def _fitness(self, profile: Profile) -> str:
        model = self.session.chosen.model
        facts = model
        if facts is None:
            return ""
        faults = mismatches(
            profile,
            model=facts.name,
            vocab_size=facts.vocab_size,
            tokenizer=facts.tokenizer_fingerprint,
            keys=[key.fingerprint for key in self.session.chosen.keys],
        )
        if faults:
            return "\n".join(map(error_words, faults))
        if profile.model not in (None, facts.fingerprint):
            text = translate(
                "Profiles",
                "“{model:text}” is not the generating model, and would read it "
                "as a proxy: see Models, Fitness.",
            )
        else:
            text = translate("Profiles", "It fits the model “{model:text}” and the chosen keys.")
        return filled(text, model=facts.name)

    def edit(self, choice: ProfileChoice | None) -> QDialog:
        """Open the editor for a new profile or a stored one."""
        editor = ProfileEditor(self.session, choice, self)
        editor.wanted.connect(self.save)
        return opened(editor)

    def ask_foreign(self) -> QDialog:
        """Open the form for a third-party watermark; it stays open until the profile is made."""
        form, environment = ForeignForm(self.session, self), self.session.environment

        def make(create: Callable[[Environment], ProfileDone]) -> None:
            self.session.do(lambda _: create(environment), form.ended, form, words=_saved)

        form.wanted.connect(make)
        return opened(form)

    def ask_import(self) -> QDialog:
        """Ask for a profile file."""
        return ask_file(
            self,
            translate("Profiles", "Import a profile"),
            self.take_in,
            translate("Profiles", "Profiles (*.json)"),
        )

    def ask_export(self) -> QDialog | None:
        """Ask for the file to export the selected profile to."""
        choice = self.selected
        if choice is None:
            return None
        return ask_target(
            self,
            translate("Profiles", "Export the profile"),
            lambda path: self.hand_out(choice.name, path),
            translate("Profiles", "Profiles (*.json)"),
            name=f"{choice.name}.json",
            suffix="json",
        )

    def ask_remove(self) -> QDialog | None:
        """Ask for confirmation before a profile is deleted."""
        choice = self.selected
        if choice is None:
            return None
        return ask_first(
            self,
            translate("Profiles", "Delete a profile"),
            filled(translate("Profiles", "Delete “{profile:text}”?"), profile=choice.title),
            translate(
                "Profiles",
                "Texts that were marked with it cannot be read without it. "
                "Export it first if there may be such texts.",
            ),
            (translate("Profiles", "Delete"), lambda: self.remove(choice.name)),
        )

    # What is done

    def save(self, name: str, profile: Profile, replace: bool) -> None:
        """Store a profile from the editor."""
        environment = self.session.environment
        self.begin(
            lambda _: save_profile(environment, name=name, profile=profile, replace=replace),
            words=_saved,
        )

    def take_in(self, path: Path) -> None:
        """Import a profile file."""
        environment = self.session.environment
        self.begin(lambda _: import_profile(environment, path=path), words=_imported)

    def hand_out(self, name: str, path: Path) -> None:
        """Write a profile to a file."""
        environment = self.session.environment
        self.begin(
            lambda _: export_profile(environment, name=name, path=path, replace=True),
            words=lambda outcome: filled(
                translate("Profiles", "The profile “{profile:text}” was exported."),
                profile=outcome.name or "",
            ),
        )

    def remove(self, name: str) -> None:
        """Delete a profile."""
        environment = self.session.environment
        self.begin(
            lambda _: remove_profile(environment, name=name),
            words=lambda _: filled(
                translate("Profiles", "The profile “{profile:text}” was deleted."),
                profile=name,
            ),
        )


def _saved(outcome: ProfileDone) -> str:
    return filled(
        translate("Profiles", "The profile “{profile:text}” was saved."), profile=outcome.name or ""
    )


def note_words(notes: Sequence[str], *, imported: bool = False) -> list[str]:
    """Return remarks on the version of a profile file."""
    stored = translate(
        "Profiles",
        "Its file is of the first form (version 1): what it leaves out has the usual value. "
        "Edit and save it to bring it to the present form; its fingerprint stays.",
    )
    taken_in = translate(
        "Profiles",
        "Its file was of the first form (version 1) and is stored in the present one; what "
        "it left out has the usual value.",
    )
    sentences = {"version-1": taken_in if imported else stored}
    return [sentences[note] for note in notes]


def _imported(outcome: ProfileDone) -> str:
    text = filled(
        translate("Profiles", "The profile “{profile:text}” was imported."),
        profile=outcome.name or "",
    )
    return " ".join((text, *note_words(outcome.notes, imported=True)))


_DEFAULTS: Final[dict[str, dict[str, Any]]] = {
    name: {
        setting.name: "" if setting.default is MISSING else setting.default
        for setting in fields(kind)
    }
    for name, kind in FOREIGN.items()
}
_SCHEME_SETTINGS: Final = {
    name: [setting for setting in defaults if setting not in {f.name for f in fields(ForeignMark)}]
    for name, defaults in _DEFAULTS.items()
}
"""For each third-party scheme, the settings that only this scheme has."""


class ForeignForm(RetryDialog):
    """Asks for scheme, secret and settings of a third-party watermark, or reads a settings file.

    Signals:
        wanted: The user submitted the form; carries a function that makes the profile.
    """

    wanted = Signal(object)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
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
        self._context = spin_box(1, MAX_WIDTH, 4)
        self.inputs = self._make_inputs()
        titles = _titles()
        rows = ((titles.get(name, name), field) for name, field in self.inputs.items())
        self._form = named_rows(rows, spacing=GAP, aligned=True)
        add_parts(layout, self._form, self.words, None)
        self.file = plain_button(translate("ForeignForm", "Settings file …"), self.ask_file)
        self.ok = MainButton(translate("ForeignForm", "Make the profile"), self._want)
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
        inventory = self._session.chosen.found
        special_fields = {
            "alpha": alpha,
            "gamma": QLineEdit(short(KgwMark.gamma)),
            "seeding": combo((hash_, hash_) for hash_ in (LEFT_HASH, SELF_HASH)),
            "list_width": width,
        }
        scheme_fields = {
            name: special_fields.get(name) or QLineEdit(str(_DEFAULTS[scheme][name]))
            for scheme, names in _SCHEME_SETTINGS.items()
            for name in names
        }
        return {
            "name": QLineEdit(),
            "scheme": combo(
                (name, f"{mark.title} ({mark.program})") for name, mark in FOREIGN.items()
            ),
            "secret": secret,
            "context_width": self._context,
            **scheme_fields,
            "key": combo(
                (key.ref, f"{key.label} ({key.fingerprint[:8]})") for key in inventory.keys
            ),
            "model": combo((model.name, model.name) for model in inventory.models),
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
        """Name of the selected scheme."""
        return str(value_of(self.inputs["scheme"]))

    def _choose_rows(self) -> None:
        """Show the inputs of the selected scheme."""
        for scheme, names in _SCHEME_SETTINGS.items():
            for name in names:
                self._form.setRowVisible(self.inputs[name], scheme == self.scheme)
        hints = {
            1: translate("ForeignForm", "a number; not shown"),
            2: translate("ForeignForm", "0x and digits, one key or two; not shown"),
        }
        several = translate("ForeignForm", "a number for each layer; not shown")
        hint = hints.get(FOREIGN[self.scheme].key_count, several)
        self._line("secret").setPlaceholderText(hint)
        self._context.setValue(_DEFAULTS[self.scheme]["context_width"])

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
        for name, setting in settings.settings.items():
            field = self.inputs.get(name)
            if isinstance(field, QComboBox):
                field.setCurrentText(str(setting))
            elif isinstance(field, QLineEdit):
                field.setText("" if setting is None else str(setting))
        self._context.setValue(int(settings.settings["context_width"]))

    # What is asked for

    def check(self) -> None:
        """Enable the button if every input is there."""
        inputs = {name: value_of(self.inputs[name]) for name in ("name", "secret", "key", "model")}
        self.ok.require({_titles()[name]: v for name, v in inputs.items()}, free=not self.trying)
        if not (inputs["key"] and inputs["model"]):
            self.words.say(translate("ForeignForm", "A key and a model's tokenizer are needed."))

    def at_fault(self, failure: Failure) -> QLineEdit:
        """Return the line that holds the wrong input: the secret's or the name's."""
        return self._line("name" if failure.code.startswith("profile-") else "secret")

    def forget(self) -> None:
        """Clear the secret; Qt's own copies cannot be overwritten."""
        self._line("secret").clear()

    def _want(self) -> None:
        inputs = {name: value_of(field) for name, field in self.inputs.items()}
        scheme_settings = {name: _typed(inputs[name]) for name in _SCHEME_SETTINGS[self.scheme]}
        settings = ForeignSettings(
            scheme=self.scheme,
            settings={"context_width": inputs["context_width"], **scheme_settings},
            secret=tuple(_typed(word) for word in re.split(r"[\s,;]+", inputs["secret"])),
        )

        def create(environment: Environment) -> ProfileDone:  # a partial would show the secret
            return create_foreign(
                environment,
                settings=settings,
                key=inputs["key"],
                name=inputs["name"],
                model=inputs["model"],
            )

        self.begin()
        self.wanted.emit(create)


def _titles() -> dict[str, str]:
    return {
        "name": translate("ForeignForm", "Name"),
        "scheme": translate("ForeignForm", "Scheme"),
        "secret": translate("ForeignForm", "Key of the other program"),
        "context_width": translate("ForeignForm", "Context, tokens"),
        "alpha": translate("ForeignForm", "Share of the second key"),
        "mixing": translate("ForeignForm", "Share of the first key"),
        "table_size": translate("ForeignForm", "Entries of the table"),
        "table_seed": translate("ForeignForm", "Seed of the table"),
        "gamma": translate("ForeignForm", "Share of green tokens"),
        "seeding": translate("ForeignForm", "Seeding"),
        "list_width": translate("ForeignForm", "Rows of the model's output"),
        "key": translate("ForeignForm", "Sealed under"),
        "model": translate("ForeignForm", "Tokenizer of"),
    }


def _typed(text: str) -> Any:
    """Return an input as a number if it is one, else as text; None if it is empty."""
    if re.fullmatch(r"[+-]?[0-9]{1,24}", text):
        return int(text)
    if re.fullmatch(r"0[xX][0-9a-fA-F]{1,16}", text):
        return int(text, 16)
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return text or None
