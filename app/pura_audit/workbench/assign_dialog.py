"""Assign a key and a profile to register entries of version 0.4.0 and earlier."""

from __future__ import annotations

from functools import partial
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from pura.keys import KeyRef
from pura.scheme import Profile
from pura.usecases.environment import Environment
from pura.usecases.registers import assign_issues, entry_range, issued_under
from pura_audit.jobs.queue import JobContext
from pura_audit.platform.i18n import filled, translate
from pura_audit.session.session import Session
from pura_audit.widgets.card import add_parts
from pura_audit.widgets.form_dialog import (
    LabelledField,
    MainButton,
    button_row,
    cancel_button,
    combo,
    dialog_column,
)
from pura_audit.widgets.working_dialog import WorkingDialog

WIDTH: Final = 520


class AssignDialog(WorkingDialog):
    """Assigns register entries without a key to a key and a profile.

    Args:
        session: The session with the keys and profiles to choose from.
        parent: The window that the dialog belongs to.

    Signals:
        assigned: Entries were assigned to a key.
    """

    assigned = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        choices = session.chosen
        self.setWindowTitle(translate("Assign", "Assign entries to a key"))
        self.resize(WIDTH, 0)
        profiles = list(choices.found.own_profiles)
        current = choices.profile
        self.profile = combo(
            [(index, choice.title) for index, choice in enumerate(profiles)],
            profiles.index(current) if current in profiles else None,
        )
        self._profiles = [choice.profile for choice in profiles]
        marking_key = None if current is None else choices.key_of(current.profile)
        self.key = combo(
            [(key.fingerprint, key.label) for key in choices.found.keys],
            None if marking_key is None else marking_key.fingerprint,
        )
        self._keys = {key.fingerprint: key.ref for key in choices.found.keys}
        self.epoch = QLineEdit()
        self.epoch.setPlaceholderText(translate("Assign", "From the date of each entry"))
        self._epoch = LabelledField(translate("Assign", "Epoch of the key"), self.epoch)
        self.rows = QLineEdit()
        self.rows.setPlaceholderText(translate("Assign", "All; or a range, for example 1-500"))
        self.submit = MainButton(translate("Assign", "Assign"), self._assign)
        self._lay_out()
        self.profile.currentIndexChanged.connect(lambda _: self._follow_profile())
        self.key.currentIndexChanged.connect(lambda _: self.refresh_buttons())
        self._follow_profile()

    def _lay_out(self) -> None:
        explanation = translate(
            "Assign",
            "Version 0.4.0 noted payloads without the key and the profile that they were issued "
            "under. Such entries name nobody. Assign only what you know to be issued under this "
            "key: the register notes who is named by it, and an assignment cannot be taken back.",
        )
        column = dialog_column(self, self.windowTitle(), explanation)
        add_parts(
            column,
            LabelledField(translate("Assign", "Key"), self.key),
            LabelledField(translate("Assign", "Profile"), self.profile),
            self._epoch,
            LabelledField(translate("Assign", "Entries"), self.rows),
            self.progress_row(),
            button_row(cancel_button(self), self.submit),
        )

    def _follow_profile(self) -> None:
        """Show the input of the epoch if the profile has epochs, and select the profile's key."""
        profile = self.chosen_profile
        self._epoch.setVisible(profile is not None and profile.key_epochs is not None)
        if profile is not None and profile.key in self._keys:
            self.key.setCurrentIndex(self.key.findData(profile.key))
        self.refresh_buttons()

    @property
    def chosen_profile(self) -> Profile | None:
        """The profile for the entries, or None."""
        index = self.profile.currentData()
        return None if index is None else self._profiles[index]

    @property
    def chosen_key(self) -> KeyRef | None:
        """The key for the entries, or None."""
        return self._keys.get(self.key.currentData())

    def refresh_buttons(self) -> None:
        """Enable the button if the input is complete."""
        inputs = {
            translate("Assign", "Key"): self.chosen_key,
            translate("Assign", "Profile"): self.chosen_profile,
        }
        self.submit.require(inputs, free=not self.busy)

    def _assign(self) -> None:
        key, profile = self.chosen_key, self.chosen_profile
        if key is None or profile is None:
            return
        work = partial(
            _assigned,
            environment=self.session.environment,
            key=key,
            profile=profile,
            epoch=self.epoch.text().strip(),
            rows=self.rows.text(),
        )
        self.begin(work, on_result=self._done)

    def _done(self, count: int) -> None:
        template = translate(
            "Assign", "{n:plural(One entry was|{n:count} entries were)} assigned to the key."
        )
        self.say(filled(template, n=count))
        self.assigned.emit()


def _assigned(
    _: JobContext,
    *,
    environment: Environment,
    key: KeyRef,
    profile: Profile,
    epoch: str,
    rows: str,
) -> int:
    first, last = entry_range(rows)
    series = issued_under(environment, key, profile, epoch)
    return assign_issues(environment, under=series, first=first, last=last)
