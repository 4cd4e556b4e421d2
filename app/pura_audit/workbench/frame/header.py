"""The header: key, model, profile, the device, and the one main button."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from pura.model.device import Device
from pura.scheme import Profile
from pura.scheme.foreign import FOREIGN_NAMES
from pura.words.sentences import say
from pura_audit.jobs.context import Failure
from pura_audit.platform.i18n import error_words, filled, language, number, translate
from pura_audit.session.session import Session
from pura_audit.theme.theme import GAP, GRID, Theme
from pura_audit.widgets.chips import Chip, DeviceBadge

HEIGHT = 56
TIGHT = 1180  # below this width the brand and the shortcut give way


class Header(QWidget):
    """Top of the window.

    Signals:
        audit_wanted: The main button.
        cancel_wanted: The button beside it.
        keys_wanted: Show the dialog of the keys.
        models_wanted: Show the dialog of the models.
        profiles_wanted: Show the dialog of the profiles.
    """

    audit_wanted = Signal()
    keys_wanted = Signal()
    models_wanted = Signal()
    profiles_wanted = Signal()
    cancel_wanted = Signal()

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("header")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedHeight(HEIGHT)
        self._session = session
        self._brand = brand = QLabel("PURA Audit")
        brand.setObjectName("brand")
        self.key = Chip(
            translate("Header", "Key"),
            several=translate("Header", "{n:text} keys"),
            manage=translate("Header", "Manage keys …"),
        )
        self.model = Chip(
            translate("Header", "Model"), manage=translate("Header", "Manage models …")
        )
        self.profile = Chip(
            translate("Header", "Profile"),
            several=translate("Header", "{n:text} profiles"),
            manage=translate("Header", "Manage profiles …"),
        )
        self.badge = DeviceBadge(theme)
        self.badge.show_device(translate("Header", "Finding the device"), "", gpu=False)
        self.cancel = QPushButton(translate("Header", "Cancel"))
        self.cancel.setToolTip(translate("Menu", "Cancel all audits"))
        self.audit = QPushButton(translate("Header", "Audit"))
        self.audit.setProperty("role", "main")
        self._lay_out(brand)
        self._wire()
        self.refresh()
        self._show_device()

    def _lay_out(self, brand: QLabel) -> None:
        row = self.row = QHBoxLayout(self)
        row.setContentsMargins(20, 0, GAP, 0)
        row.setSpacing(GRID)
        row.addWidget(brand)
        row.addSpacing(GRID * 2)
        for chip in (self.key, self.model, self.profile):
            row.addWidget(chip)
        row.addStretch(1)
        row.addWidget(self.badge)
        row.addSpacing(GRID)
        row.addWidget(self.cancel)
        row.addWidget(self.audit)

    def _wire(self) -> None:
        session = self._session
        self.audit.clicked.connect(self.audit_wanted)
        self.cancel.clicked.connect(self.cancel_wanted)
        self.key.several_chosen.connect(self._choose_keys)
        self.key.manage_wanted.connect(self.keys_wanted)
        self.model.manage_wanted.connect(self.models_wanted)
        self.profile.manage_wanted.connect(self.profiles_wanted)
        self.model.chosen.connect(self._choose_model)
        self.profile.chosen.connect(lambda place: self._choose_profiles([place]))
        self.profile.several_chosen.connect(self._choose_profiles)
        for signal in (
            session.chosen.changed,
            session.jobs.model.busy_changed,
            session.texts.item_changed,
            session.texts.current_changed,
            session.texts.queue.counted,
            session.texts.queue.dataChanged,
        ):
            signal.connect(self._told)
        session.chosen.device_changed.connect(self._show_device)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Say less where there is less room."""
        super().resizeEvent(event)
        if (event.oldSize().width() < TIGHT) != (self.width() < TIGHT):
            self.refresh()

    def _told(self, *_: object) -> None:
        self.refresh()

    def refresh(self) -> None:
        """Show what is chosen, and whether there is something to do."""
        session = self._session
        busy = session.jobs.model.busy
        self.cancel.setVisible(busy)
        due = len(session.audits.due())
        fits = not session.chosen.mismatches()
        self.audit.setEnabled(session.chosen.ready and due > 0 and fits)
        words = translate("Header", "Audit")
        words = f"{words} {number(due)}" if due > 1 else words
        tight = self.width() < TIGHT
        keys = translate("Header", "Ctrl+⏎")
        self.audit.setText(words if tight else f"{words}   {keys}")
        self._brand.setVisible(not tight)
        self.audit.setMinimumWidth(max(104, self.audit.sizeHint().width()))
        self.audit.setAccessibleName(words)
        self.audit.setToolTip(self._why_not(due))
        self._fill_chips()
        self.profile.set_attention(attention=not fits)

    def _choose_keys(self, places: Sequence[int]) -> None:
        found = self._session.chosen.catalogue
        if found is not None:
            self._session.chosen.choose_keys([found.keys[place] for place in places])

    def _choose_model(self, place: int) -> None:
        found = self._session.chosen.catalogue
        if found is not None:
            self._session.chosen.choose_model(found.models[place])

    def _choose_profiles(self, places: Sequence[int]) -> None:
        found = self._session.chosen.catalogue
        if found is not None:
            self._session.chosen.choose_profiles([found.profiles[place] for place in places])

    def _why_not(self, due: int) -> str:
        if not self._session.chosen.ready:
            return translate("Header", "Choose a key, a model and a profile first.")
        if found := self._session.chosen.mismatches():
            return "\n".join(map(error_words, found))
        if due == 0:
            return translate("Header", "Add a text first: paste it, open it or drop it here.")
        return translate("Header", "Audit (Ctrl+Return)")

    def _fill_chips(self) -> None:
        session, found = self._session, self._session.chosen.catalogue
        wait = translate("Header", "looking …")
        if found is None:
            for chip in (self.key, self.model, self.profile):
                chip.set_choices([], -1, wait, wait)
            return
        used, none = self._used(), translate("Header", "none")
        self.key.set_choices(
            [(k.label, _spaced(k.fingerprint)) for k in found.keys],
            [place for place, key in enumerate(found.keys) if key in session.chosen.keys],
            used[0] or none,
            translate("Header", "No key yet: make one under “Manage keys …”."),
            lacking=not used[0],
        )
        self.model.set_choices(
            [(m.name, _spaced(m.fingerprint)) for m in found.models],
            found.models.index(session.chosen.model)
            if session.chosen.model in found.models
            else -1,
            used[1] or none,
            translate("Header", "No model yet: install one under “Manage models …”."),
            lacking=not used[1],
        )
        self.profile.set_choices(
            [(p.title, _shape(p.profile)) for p in found.profiles],
            [
                place
                for place, choice in enumerate(found.profiles)
                if choice in session.chosen.profiles
            ],
            used[2] or none,
            translate("Header", "No profile yet: make one under “Manage profiles …”."),
            lacking=not used[2],
            # Beside a profile of PURA's there is nothing to add but marks by others.
            one=all(choice.profile.foreign is None for choice in found.profiles),
        )

    def _used(self) -> tuple[str, str, str]:
        """Say what stands in for a choice that is not made: what the text on screen goes by."""
        item = self._session.texts.current
        if item is None:
            return "", "", ""
        audit = item.audit
        if audit is None:  # a sample brings its own
            profile = item.profile
            return (
                item.key.label if item.key else "",
                "",
                profile.name or _shape(profile) if profile else "",
            )
        return (
            audit.key.label or _spaced(audit.key.fingerprint),
            audit.model.name,
            audit.profile.name or _shape(audit.profile),
        )

    def _show_device(self) -> None:
        device = self._session.chosen.device
        if isinstance(device, Failure):
            self.badge.show_device(
                translate("Header", "No device"),
                device.words,
                gpu=False,
                bad=True,
            )
        elif isinstance(device, Device):
            name = "CPU" if device.kind == "cpu" else device.name
            self.badge.show_device(
                f"{name} · {device.dtype}",
                f"{device.name}\n{say(device.reason, language())}",
                gpu=device.kind != "cpu",
            )


def _shape(profile: Profile) -> str:
    if profile.foreign is not None:
        return FOREIGN_NAMES[profile.scheme]
    return filled(translate("Header", "payload of {n:text} bits"), n=profile.payload_bits)


def _spaced(fingerprint: str) -> str:
    return " ".join(fingerprint[i : i + 4] for i in range(0, min(8, len(fingerprint)), 4))
