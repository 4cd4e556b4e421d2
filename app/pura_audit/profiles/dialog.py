"""The profiles: what is stored, and all that can be done to it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QDialog, QWidget

from pura.audit.prepare import mismatches
from pura.scheme import Profile
from pura.scheme.foreign import FOREIGN_NAMES
from pura.usecases.environment import Environment
from pura.usecases.profiles import (
    ProfileDone,
    export_profile,
    import_profile,
    remove_profile,
    save_profile,
)
from pura_audit.platform.i18n import decimal, error_words, filled, translate
from pura_audit.platform.settings import imported_words, stored_words
from pura_audit.profiles.words import code_names
from pura_audit.session.choices import Inventory, ProfileChoice
from pura_audit.session.session import Session
from pura_audit.widgets.form_dialog import ask_file, ask_first, ask_target, opened
from pura_audit.widgets.working_dialog import StoreDialog


class ProfilesDialog(StoreDialog):
    """Table of the profiles."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self._rows: tuple[ProfileChoice, ...] = ()
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
        """Show what is stored."""
        chosen = self.selected.name if self.selected is not None else ""
        self._rows = (self.session.chosen.catalogue or Inventory()).profiles
        headers = (
            translate("Profiles", "Name"),
            translate("Profiles", "Payload"),
            translate("Profiles", "Code"),
            translate("Profiles", "Temperature"),
            translate("Profiles", "Fingerprint"),
            translate("Profiles", "Note"),
        )
        names = [row.name for row in self._rows]
        self.fill(
            headers,
            [_row(row) for row in self._rows],
            names.index(chosen) if chosen in names else 0,
        )

    @property
    def selected(self) -> ProfileChoice | None:
        """The profile of the chosen row."""
        return self._rows[self.place] if 0 <= self.place < len(self._rows) else None

    def refresh_buttons(self) -> None:
        """Enable what can be done now, and say whether the chosen profile fits what is in use."""
        one = self.selected
        lines = [self._fitness(one.profile), *stored_words(one.notes)] if one is not None else []
        self.detail.setText("\n".join(line for line in lines if line))
        foreign = one is not None and one.profile.foreign is not None
        for kind, button in self.buttons.items():
            here = one is not None or kind in ("new", "foreign", "import")
            # What a mark by others is set to, its own program says.
            button.setEnabled(not self.busy and here and not (foreign and kind == "edit"))

    def _fitness(self, profile: Profile) -> str:
        model = self.session.chosen.model
        facts = model
        if facts is None:
            return ""
        found = mismatches(
            profile,
            model=facts.name,
            vocab_size=facts.vocab_size,
            tokenizer=facts.tokenizer_fingerprint,
            keys=[key.fingerprint for key in self.session.chosen.keys],
        )
        if found:
            return "\n".join(map(error_words, found))
        if profile.model not in (None, facts.fingerprint):
            words = translate(
                "Profiles",
                "“{model:text}” is not the generating model, and would read it "
                "as a proxy: see Models, Fitness.",
            )
        else:
            words = translate("Profiles", "It fits the model “{model:text}” and the chosen keys.")
        return filled(words, model=facts.name)

    def edit(self, choice: ProfileChoice | None) -> QDialog:
        """Open the editor, for a new profile or for a stored one."""
        from pura_audit.profiles.editor import ProfileEditor

        editor = ProfileEditor(self.session, choice, self)
        editor.wanted.connect(self.save)
        return opened(editor)

    def ask_foreign(self) -> QDialog:
        """Open the form for a mark by others; it stays until the profile is made."""
        from pura_audit.profiles.foreign import ForeignForm

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
        """Ask where to."""
        one = self.selected
        if one is None:
            return None
        return ask_target(
            self,
            translate("Profiles", "Export the profile"),
            lambda path: self.hand_out(one.name, path),
            translate("Profiles", "Profiles (*.json)"),
            name=f"{one.name}.json",
            suffix="json",
        )

    def ask_remove(self) -> QDialog | None:
        """Ask before a profile goes."""
        one = self.selected
        if one is None:
            return None
        return ask_first(
            self,
            translate("Profiles", "Delete a profile"),
            filled(translate("Profiles", "Delete “{profile:text}”?"), profile=one.title),
            translate(
                "Profiles",
                "Texts that were marked with it cannot be read without it. "
                "Export it first if there may be such texts.",
            ),
            (translate("Profiles", "Delete"), lambda: self.remove(one.name)),
        )

    # What is done

    def save(self, name: str, profile: Profile, replace: bool) -> None:
        """Store a profile that was made in the editor."""
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
            words=lambda done: filled(
                translate("Profiles", "The profile “{profile:text}” was exported."),
                profile=done.name or "",
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


def _saved(done: ProfileDone) -> str:
    return filled(
        translate("Profiles", "The profile “{profile:text}” was saved."), profile=done.name or ""
    )


def _imported(done: ProfileDone) -> str:
    words = filled(
        translate("Profiles", "The profile “{profile:text}” was imported."), profile=done.name or ""
    )
    return " ".join((words, *imported_words(done.notes)))


def _row(choice: ProfileChoice) -> tuple[str, ...]:
    profile = choice.profile
    if profile.foreign is not None:
        name, note = FOREIGN_NAMES[profile.scheme], profile.note or ""
        return (choice.title, "–", name, "–", profile.fingerprint, note)
    bits = filled(translate("Profiles", "{n:count} bits"), n=profile.payload_bits)
    fields = ", ".join(field.name for field in profile.fields)
    return (
        choice.title,
        f"{bits}: {fields}" if fields else bits,
        code_names()[profile.code],
        decimal(profile.temperature, 2),
        profile.fingerprint,
        profile.note or "",
    )
